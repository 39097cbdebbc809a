/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that are under way when a recording window opens: what of them lies behind that is recorded, however they end.
 *
 * The target opens and closes the windows itself, where the collector would, and records when it did. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define OUTER 0x201 /* with INNER in it, in each case in its own way */
#define INNER 0x202
#define LEAF 0x203
#define N_WINDOWS 32
#define NEVER 0x204 /* from begin to end in a pause */

enum way { RETURN, CLOSED_AGAIN, JUMP, SIGNAL, FORK, WAIT, MANY_WINDOWS, N_WAYS };

static volatile int sink_value;
static struct vp_shm *shm;
static jmp_buf back;

static void mark(const char *what)
{
	vprof_work(what, (int64_t)vp_ticks(vp_self));
}

static void window_close(void)
{
	static uint32_t n_pauses;

	shm->closed = ++n_pauses;
}

static void window_open(void)
{
	shm->closed = 0;
}

static void __attribute__((noinline)) leaf(void)
{
	VP_FUNCTION(0x203, 0x8UL, 1)
	sink_value++;
}

static void __attribute__((noinline)) never(void)
{
	VP_FUNCTION(0x204, 0x4UL, 1)
	sink_value++;
}

static void on_signal(int number)
{
	(void)number;
	window_open();
	leaf();
}

static void __attribute__((noinline)) inner(enum way way)
{
	VP_FUNCTION(0x202, 0x4UL, 3)
	pid_t child;

	if (way == WAIT)
		usleep(10); /* a wait in a pause: recorded with what is around it */
	if (way == SIGNAL)
		raise(SIGUSR1);
	else
		window_open();
	leaf();
	if (way == CLOSED_AGAIN)
		window_close();
	for (uint32_t i = 0; way == MANY_WINDOWS && i < N_WINDOWS; i++) {
		window_close();
		window_open();
	}
	if (way == JUMP)
		longjmp(back, 1);
	if (way != FORK)
		return;
	child = fork();
	if (child)
		waitpid(child, NULL, 0);
	else
		sink_value = -1; /* the child returns through both frames, too */
}

static void __attribute__((noinline)) outer(enum way way)
{
	VP_ROOT(0x201, ~0UL, 2)
	never();
	if (!setjmp(back))
		inner(way);
}

static void *thread(void *arg)
{
	(void)arg;
	vp_attach();
	for (int way = 0; way < N_WAYS; way++) {
		window_close();
		mark("pause");
		outer((enum way)way);
		if (sink_value < 0)
			_exit(0);
		if (way == CLOSED_AGAIN)
			window_open();
		mark("over");
	}
	return NULL;
}

static int target(void)
{
	pthread_t id;

	shm = session_shm(getenv("VPROF_SHM"));
	signal(SIGUSR1, on_signal);
	if (pthread_create(&id, NULL, thread, NULL))
		return 1;
	pthread_join(id, NULL);
	return 0;
}

struct findings {
	uint64_t pause, over; /* hashes */
	int way;
	uint32_t thread_seq;
	uint64_t since;
	int n[N_WAYS][3], n_child[3], n_never, n_early, n_outside;
	uint64_t inner_t0, inner_t1;
};

static void take(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct findings *f = arg;
	bool is_sample = VP_CODE(u->w) == VP_KIND_SAMPLE;
	uint32_t code = is_sample ? VP_CODE(u[1].w) : VP_CODE(u->w);
	uint64_t t1 = u->t + (is_sample ? u[1].t : VP_PAYLOAD(u->w));

	(void)n;
	if (VP_CODE(u->w) == VP_KIND_WORK && u[1].t == f->pause) {
		f->way++;
		f->thread_seq = th->thread_seq;
		f->since = u[1].w;
		return;
	}
	f->n_never += code == NEVER;
	if (code != OUTER && code != INNER && code != LEAF)
		return;
	if (th->thread_seq != f->thread_seq) {
		f->n_child[code - OUTER]++;
		return;
	}
	f->n[f->way][code - OUTER]++;
	f->n_early += u->t < f->since;
	if (code == INNER) {
		f->inner_t0 = u->t;
		f->inner_t1 = t1;
	} else if (code == OUTER) {
		f->n_outside += u->t > f->inner_t0 || t1 < f->inner_t1;
	}
}

static uint64_t hash(const char *name)
{
	return vprof_hash(VPROF_HASH_SEED, name, strlen(name));
}

int main(int argc, char **argv)
{
	static struct findings f;
	struct session s;

	if (argc > 1 && strcmp(argv[1], "target") == 0)
		return target();
	f.way = -1;
	f.pause = hash("pause");
	f.over = hash("over");
	if (session_run(&s, "target", 16u << 20, 1))
		exit(1);
	session_each(&s, take, &f);
	for (int way = 0; way < N_WAYS; way++) {
		int n_leaf = way == SIGNAL ? 2 : 1;

		CHECK(f.n[way][0] == 1 && f.n[way][1] == 1 && f.n[way][2] == n_leaf,
		      "case %d: outer %d, inner %d and leaf %d times", way, f.n[way][0], f.n[way][1], f.n[way][2]);
	}
	CHECK(f.n_child[0] == 1 && f.n_child[1] == 1 && f.n_child[2] == 0, "the child: %d, %d, %d", f.n_child[0],
	      f.n_child[1], f.n_child[2]);
	CHECK(f.n_never == 0, "%d calls in a pause", f.n_never);
	CHECK(f.n_early == 0, "%d begin before their pause", f.n_early);
	CHECK(f.n_outside == 0, "%d inner calls are not within the outer one", f.n_outside);
	session_end(&s);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
