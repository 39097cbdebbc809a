/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What test_harmless_step.c steps through, instruction by instruction: every path of a probe, and the wrappers. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

#include "annotate/vprof.h"
#include "tests/runtime/harmless/step.h"

static struct step_shared *step_shared;

static volatile int sink_value;

static void __attribute__((noinline)) leaf(void)
{
	VP_FUNCTION(0x163, 0xffffffffffffffffUL, 2)
	sink_value++;
}

static void __attribute__((noinline)) call(void)
{
	VP_FUNCTION(0x162, 0xffffffffffffffffUL, 3)
	leaf();
}

static void __attribute__((noinline)) root(void)
{
	VP_ROOT(0x164, 0xffffffffffffffffUL, 4)
	(__extension__({ VP_SITE(0x800165, 0x10UL, 5) sink_value++; }));
}

static void handler_calls(void)
{
	VP_FUNCTION(0x166, 0xffffffffffffffffUL, 6)
	sink_value++;
}

static void outer(void (*inside)(void))
{
	VP_FUNCTION(0x161, 0xffffffffffffffffUL, 1)
	inside();
}

static void __attribute__((noinline)) fill_one(void)
{
	VP_FUNCTION(0x167, 0xffffffffffffffffUL, 7)
}

static void fill(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		fill_one();
	step_shared->n_filled += n;
}

/* Gate and list of open frames, as this module sees them. */
static void state(uint64_t *gate, const void **top)
{
	*gate = vp_self->gate;
	*top = vp_self->top;
}

/* Up to the last unit before the chunk's spill zone: the passage's records change chunks. */
static void almost_full(void)
{
	fill(1);
	while (vp_self->limit && vp_self->next + 16 < vp_self->limit)
		fill(1);
}

static void hooks(void)
{
	vprof_begin("step", 7);
	vprof_type("kind");
	vprof_work("rows", 3);
	vprof_enqueue(&sink_value);
	vprof_end("step", 7);
}

static void acquire(int *object)
{
	VP_ACQUIRE(1, object, "acquire")
	sink_value++;
}

static void release(int *object)
{
	VP_RELEASE(2, object)
	sink_value++;
}

static void hooked(void)
{
	static int object;

	acquire(&object);
	release(&object);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static int ends[2];

static void locks_prepare(void)
{
	if (ends[1])
		return;
	pthread_spin_init(&spin, 0);
	sem_init(&sem, 0, 1);
	if (pipe(ends))
		ends[1] = 0;
}

static void locks(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
	sem_wait(&sem);
	sem_post(&sem);
}

/* Another thread holds the lock, and releases it when the debugger sees that the worker is blocked. */
static pthread_t holder;
static _Atomic int holding;

static void *hold(void *arg)
{
	for (;;) {
		while (!step_shared->contend)
			usleep(200);
		pthread_mutex_lock(&contended);
		step_shared->contend = 0;
		holding = 1;
		while (!step_shared->release)
			usleep(100);
		step_shared->release = 0;
		pthread_mutex_unlock(&contended);
	}
	return arg;
}

static void contend_prepare(void)
{
	if (!holder)
		pthread_create(&holder, NULL, hold, NULL);
	holding = 0;
	step_shared->contend = 1;
	while (!holding)
		sched_yield();
}

static void contend(void)
{
	call();
	pthread_mutex_lock(&contended);
	pthread_mutex_unlock(&contended);
	call();
}

static void io(void)
{
	char c = 0;
	struct iovec v = { &c, 1 };

	if (write(ends[1], &c, 1) != 1 || read(ends[0], &c, 1) != 1 || writev(ends[1], &v, 1) != 1 ||
	    readv(ends[0], &v, 1) != 1)
		_exit(9);
}

static void delimit(uint64_t i)
{
	VP_DO_DEQUEUE(i);
}

/* No jump out of a lock's call, and no fork where the child would wait for another thread or eat its parent's bytes. */
static const struct step_passage passages[] = {
	{ .name = "call", .in_library = 1, .run = call, .n_frames = 2, .forks = 1, .jumps = 1 },
	{ .name = "root", .in_library = 1, .run = root, .n_frames = 2, .n_others = 1, .forks = 1, .jumps = 1 },
	{ .name = "full", .in_library = 1, .prepare = almost_full, .run = call, .n_frames = 2, .forks = 1, .jumps = 1 },
	{ .name = "first", .in_library = 1, .run = call, .n_frames = 2, .forks = 1, .jumps = 1, .own_thread = 1 },
	{ .name = "hooks", .in_library = 1, .run = hooks, .n_others = 5, .forks = 1, .jumps = 1 },
	{ .name = "hooked", .in_library = 1, .run = hooked, .forks = 1, .jumps = 1 },
	{ .name = "locks", .prepare = locks_prepare, .run = locks, .forks = 1 },
	{ .name = "contended", .prepare = contend_prepare, .run = contend, .n_frames = 4, .contends = 1 },
	{ .name = "io", .prepare = locks_prepare, .run = io },
};

__attribute__((visibility("default"))) const struct step_code step_code = {
	passages, sizeof(passages) / sizeof(passages[0]), &step_shared, outer, handler_calls, fill, delimit, state,
};
