/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A static program's unwinder takes a lock, for its exceptions and for our stack samples alike. Waiting for it within a
 * sample is no wait of the program's; waiting for a sample that holds it is. The lock is this test's: the linker puts a
 * function around the unwinder's look-up of frames (--wrap), which takes it as libgcc takes its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int is_locked;

/* in the next sample */
static _Thread_local enum { NOTHING, WAIT_FOR_HOLDER, BE_WAITED_FOR, JUMP_AWAY } in_sample;
static sigjmp_buf back;

/* The lock's holder goes on when somebody sleeps until its release: glibc then keeps 2 in it. */
static void hold_until_waited_for(void)
{
	is_locked = 1;
	while (__atomic_load_n(&lock.__data.__lock, __ATOMIC_ACQUIRE) != 2)
		sched_yield();
}

#ifdef VPROF_TEST_STATIC /* the judge, which nobody links so */
#define __real__Unwind_Find_FDE(pc, bases) NULL
#else
extern const void *__real__Unwind_Find_FDE(void *pc, void *bases);
#endif
extern const void *__wrap__Unwind_Find_FDE(void *pc, void *bases);
const void *__wrap__Unwind_Find_FDE(void *pc, void *bases)
{
	int what = in_sample;

	(void)pc; /* the static judge has no unwinder to ask */
	(void)bases;
	in_sample = NOTHING;
	if (what == JUMP_AWAY) /* as the handler of a fault in the unwinder may */
		siglongjmp(back, 1);
	if (what) {
		pthread_mutex_lock(&lock);
		if (what == BE_WAITED_FOR)
			hold_until_waited_for();
		pthread_mutex_unlock(&lock);
	}
	return __real__Unwind_Find_FDE(pc, bases);
}

static void *hold(void *arg)
{
	pthread_mutex_lock(&lock);
	hold_until_waited_for();
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *wait_for_sample(void *arg)
{
	while (!is_locked)
		sched_yield();
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static pthread_t start(void *(*run)(void *))
{
	pthread_t id;

	is_locked = 0;
	if (pthread_create(&id, NULL, run, NULL))
		exit(2);
	while (run == hold && !is_locked)
		sched_yield();
	return id;
}

static int target(void)
{
	pthread_t id = start(hold);

	in_sample = WAIT_FOR_HOLDER;
	vprof_begin("request", 1);
	if (in_sample)
		return 3;
	pthread_join(id, NULL);

	id = start(hold);
	pthread_mutex_lock(&lock); /* the program itself */
	pthread_mutex_unlock(&lock);
	pthread_join(id, NULL);

	id = start(wait_for_sample);
	in_sample = BE_WAITED_FOR;
	vprof_end("request", 1);
	pthread_join(id, NULL);

	in_sample = JUMP_AWAY;
	if (!sigsetjmp(back, 1))
		vprof_begin("request", 2);
	id = start(hold);
	pthread_mutex_lock(&lock); /* the program itself again */
	pthread_mutex_unlock(&lock);
	pthread_join(id, NULL);
	return 0;
}

struct found {
	int n_waits[5], n_wakes[5]; /* for mutexes, by thread_seq - 1 */
};

static void take(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct found *f = arg;

	(void)n;
	if (th->thread_seq > 5 || (VP_PAYLOAD(u->w) & 0xff) != VP_WAIT_MUTEX)
		return;
	f->n_waits[th->thread_seq - 1] += VP_CODE(u->w) == VP_KIND_WAIT;
	f->n_wakes[th->thread_seq - 1] += VP_CODE(u->w) == VP_KIND_WAKE;
}

int main(int argc, char **argv)
{
	struct found f = { .n_waits = { 0 } };
	struct session s;

	(void)argv;
	if (argc > 2)
		return target();
	if (session_run(&s, "target", 8u << 20, 10))
		exit(1);
	session_each(&s, take, &f);
	CHECK(f.n_waits[0] == 2 && f.n_wakes[0] == 1, "the main thread: %d waits, %d wakes", f.n_waits[0],
	      f.n_wakes[0]);
	CHECK(f.n_waits[1] == 0 && f.n_wakes[1] == 0, "the holder during a sample: %d waits, %d wakes", f.n_waits[1],
	      f.n_wakes[1]);
	CHECK(f.n_waits[2] == 0 && f.n_wakes[2] == 1, "the holder during a call: %d waits, %d wakes", f.n_waits[2],
	      f.n_wakes[2]);
	CHECK(f.n_waits[3] == 1 && f.n_wakes[3] == 0, "who waits for a sample: %d waits, %d wakes", f.n_waits[3],
	      f.n_wakes[3]);
	CHECK(f.n_waits[4] == 0 && f.n_wakes[4] == 1, "the holder after a jump out of a sample: %d waits, %d wakes",
	      f.n_waits[4], f.n_wakes[4]);
	session_end(&s);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
