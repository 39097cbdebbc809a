/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: each gets its structure from a pool when it begins or records for the first time, and gives it back when it
 * ends. Nothing is allocated but the pool's blocks, by mmap. */
#define _GNU_SOURCE
#include "runtime/chunk.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POOL_THREADS 32
#define POOL_BLOCKS 2048

__thread struct rt_thread *rt_self __attribute__((tls_model("initial-exec")));
_Atomic uint32_t rt_session RT_HOT_DATA;
static __thread uint64_t token_given __attribute__((tls_model("initial-exec"))); /* of a thread that attaches later */

static struct rt_thread first_block[POOL_THREADS];
static _Atomic(struct rt_thread *) blocks[POOL_BLOCKS] = { first_block };
static pthread_key_t exit_key;
static _Atomic int exit_key_state; /* 0: none, 1: being made, 2: made */

uint64_t rt_signals_block(void)
{
	uint64_t mask =
		~((UINT64_C(1) << (SIGSEGV - 1)) | (UINT64_C(1) << (SIGBUS - 1)) | (UINT64_C(1) << (SIGFPE - 1)) |
		  (UINT64_C(1) << (SIGILL - 1)) | (UINT64_C(1) << (SIGTRAP - 1)));
	uint64_t old = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, sizeof(mask));
	return old;
}

void rt_signals_restore(uint64_t mask)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

/* Runs in every round of the thread's destructors and does its work in the last, so that probes in the others'
 * destructors still record. */
static void thread_exit(void *arg)
{
	struct rt_thread *th = arg;
	uint64_t mask;

	if (__tsan_release && !th->exit_rounds) { /* in the last round the thread is gone for it */
		__tsan_release(th);
		if (th->chunk)
			rt_chunk_tell_tsan(th->chunk);
	}
	if (++th->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(exit_key, th) == 0)
		return;
	if (__tsan_release)
		th->in_stack = UINTPTR_MAX; /* the unwinder calls pthread_once, which is the sanitizer's */
	if (rt_thread_is_current(th)) {
		rt_hot_end(th);
		rt_thread_exit(th);
	}
	mask = rt_signals_block();
	if (rt_thread_is_current(th))
		rt_chunks_hand_over(th);
	else
		rt_thread_rest(th, 0);
	th->probe.gate = 0;
	th->probe.top = NULL;
	atomic_store_explicit(&th->state, RT_THREAD_EXITED, memory_order_release);
	rt_signals_restore(mask);
}

static bool thread_claim(struct rt_thread *th)
{
	uint32_t state = atomic_load_explicit(&th->state, memory_order_acquire);

	if (state == RT_THREAD_LIVE)
		return false;
	/* Other destructors may still run probes on an exited thread: its structure is free when the kernel has
	 * forgotten it. */
	if (state == RT_THREAD_EXITED && syscall(SYS_tgkill, rt_process.pid, th->tid, 0) == 0)
		return false;
	if (!atomic_compare_exchange_strong(&th->state, &state, RT_THREAD_LIVE))
		return false;
	if (__tsan_acquire)
		__tsan_acquire(th);
	return true;
}

static struct rt_thread *pool_take(void)
{
	size_t bytes = sizeof(first_block);

	for (int b = 0; b < POOL_BLOCKS; b++) {
		struct rt_thread *block = atomic_load_explicit(&blocks[b], memory_order_acquire);

		if (!block) {
			struct rt_thread *none = NULL;
			void *fresh = (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
						      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);

			if (fresh == MAP_FAILED)
				return NULL;
			if (!atomic_compare_exchange_strong(&blocks[b], &none, fresh))
				syscall(SYS_munmap, fresh, bytes);
			block = atomic_load_explicit(&blocks[b], memory_order_acquire);
		}
		for (int i = 0; i < POOL_THREADS; i++)
			if (thread_claim(&block[i]))
				return &block[i];
	}
	return NULL;
}

/* Where a thread that rests reserves: above any address, so that a unit that a signal handler's visit finds reserved
 * goes the slow way. */
#define NOWHERE (UINT64_MAX / 2 + 1)
#define STACK_MAX_BYTES (UINT64_C(1) << 30)

extern void *__libc_stack_end __attribute__((weak));

static vp_u64 resting_ticks(void)
{
	return rt_now();
}

/* Where the calling thread's stack ends at the latest: libc keeps a thread's control block above it. */
static uintptr_t stack_end(uintptr_t here)
{
	uintptr_t control = (uintptr_t)pthread_self();

	if (control > here && control - here < STACK_MAX_BYTES)
		return control;
	return &__libc_stack_end && (uintptr_t)__libc_stack_end > here ? (uintptr_t)__libc_stack_end : here;
}

/* They are skipped calls from now on, whose end restores the gate of what is outside of all measured frames. Only
 * frames that can be the thread's own are touched: behind pthread_exit some are gone. */
void rt_scopes_settle(struct vp_scope *top)
{
	uintptr_t at = (uintptr_t)__builtin_frame_address(0), end = stack_end(at);

	while ((uintptr_t)top > at && (uintptr_t)top < end && (uintptr_t)top % _Alignof(struct vp_scope) == 0) {
		struct vp_scope *outer = top->outer;

		at = (uintptr_t)top;
		top->code = (top->code & VP_CODE_MASK) | VP_SKIPPED;
		top->start = top->gate = 1;
		top->outer = NULL;
		top = outer;
	}
}

/* All but `state`, by which others see that the structure is taken, what is known of stacks, and the counters of hot
 * calls. */
static void thread_clear(struct rt_thread *th)
{
	uint64_t stretch = th->probe.stretch;
	int exit_rounds = th->exit_rounds;

	memset(&th->probe, 0, sizeof(th->probe));
	memset(&th->in_stack, 0, offsetof(struct rt_thread, paths) - offsetof(struct rt_thread, in_stack));
	th->exit_rounds = exit_rounds;
	th->probe.stretch = stretch;
	th->probe.api = &rt_api;
	th->tid = (uint32_t)syscall(SYS_gettid);
}

void rt_thread_rest(struct rt_thread *th, uint64_t gate)
{
	static const unsigned open;

	if (!th->exit_rounds)
		rt_scopes_settle(th->probe.top);
	/* in this order: a debugger may stop it anywhere, and its probes go the slow way until all is done */
	th->probe.limit = 0;
	th->session = RT_RESTING;
	thread_clear(th);
	th->probe.gate = gate;
	th->probe.next = NOWHERE;
	th->probe.ticks = resting_ticks;
	th->probe.hot = th->hot;
	th->probe.closed = &open;
	th->probe.hot_after = INT_MAX;
	th->probe.rests = 1;
}

static void thread_begin(struct rt_thread *th, uint64_t token)
{
	uint32_t session = atomic_load(&rt_session);

	if (!session) /* it has just been left */
		return;
	thread_clear(th);
	th->session = session;
	th->probe.gate = 1; /* bit of the context without a measured frame */
	th->probe.ticks = rt_process.ticks;
	th->thread_seq = atomic_fetch_add(&rt_process.shm->next_thread_seq, 1);
	th->start_ticks = rt_now();
	th->token = token;
	rt_hot_start(th);
	rt_paths_forget(th);
	rt_chunk_take(th);
}

void rt_threads_limit(void)
{
	for (int b = 0; b < POOL_BLOCKS; b++) {
		struct rt_thread *block = atomic_load_explicit(&blocks[b], memory_order_acquire);

		for (int i = 0; block && i < POOL_THREADS; i++)
			__atomic_store_n(&block[i].probe.limit, 0, __ATOMIC_RELAXED);
		if (!block)
			break;
	}
}

/* ThreadSanitizer may begin its thread inside of ours, and must not be told anything before that. */
void rt_attach_new(uint64_t token)
{
	token_given = token; /* also for a handler that comes first */
	if (__tsan_acquire)
		return;
	rt_attach(token);
	token_given = 0;
}

static bool is_live(const struct rt_thread *th)
{
	return atomic_load_explicit(&th->state, memory_order_relaxed) == RT_THREAD_LIVE;
}

/* Its structure, new. */
static struct rt_thread *thread_register(void)
{
	struct rt_thread *th = pool_take();
	int none = 0;

	if (!th)
		return NULL;
	th->probe.top = NULL;
	th->exit_rounds = 0;
	rt_self = th;
	if (atomic_compare_exchange_strong(&exit_key_state, &none, 1))
		atomic_store(&exit_key_state, pthread_key_create(&exit_key, thread_exit) == 0 ? 2 : 0);
	if (atomic_load(&exit_key_state) == 2)
		pthread_setspecific(exit_key, th);
	return th;
}

struct rt_thread *rt_attach(uint64_t token)
{
	struct rt_thread *th = rt_self;
	bool is_new = false;
	int saved = errno;
	uint64_t mask;

	if (th && !is_live(th))
		return NULL;
	if (th && rt_thread_is_current(th))
		return th;
	if ((!th || th->probe.rests) && !rt_active())
		return NULL;
	mask = rt_signals_block();
	th = rt_self; /* a handler may have been first */
	if (!th) {
		th = thread_register();
		is_new = true;
	}
	if (th && (is_new || !rt_thread_is_current(th))) {
		rt_thread_rest(th, ~UINT64_C(0)); /* what it knows is another session's */
		if (rt_active()) {
			thread_begin(th, token ? token : token_given);
			token_given = 0;
		}
	}
	th = th && rt_thread_is_current(th) ? th : NULL;
	rt_signals_restore(mask);
	errno = saved;
	return th;
}

struct rt_thread *rt_attach_resting(void)
{
	struct rt_thread *th = rt_self;
	bool is_new = false;
	uint64_t mask;

	if (th && !is_live(th))
		return NULL;
	if (th && th->probe.rests)
		return th;
	mask = rt_signals_block();
	th = rt_self; /* likewise; it may even take part in a session now */
	if (!th) {
		th = thread_register();
		is_new = true;
	}
	if (th && (is_new || !rt_thread_is_current(th)))
		rt_thread_rest(th, ~UINT64_C(0));
	rt_signals_restore(mask);
	return th;
}

/* In the child of a fork: the other threads are gone, and their chunks are the parent's. */
void rt_threads_forget(const struct rt_thread *keep)
{
	rt_chunks_inherit();
	for (int b = 0; b < POOL_BLOCKS; b++) {
		struct rt_thread *block = atomic_load(&blocks[b]);

		if (!block)
			return;
		for (int i = 0; i < POOL_THREADS; i++)
			if (&block[i] != keep)
				atomic_store(&block[i].state, RT_THREAD_FREE);
	}
}

/* The forking thread goes on in the child under a new number; its open frames and gate stay. Signals are blocked. */
void rt_thread_forked(struct rt_thread *th)
{
	rt_chunks_forked(th);
	th->started = false;
	th->n_dropped = th->n_retries = 0;
	rt_hot_unskip(th, rt_now());
	rt_hot_forget(th);
	memset(th->n_stacks, 0, sizeof(th->n_stacks));
	th->known_name = (struct rt_known_name){ 0 };
	th->tid = (uint32_t)syscall(SYS_gettid);
	th->thread_seq = atomic_fetch_add(&rt_process.shm->next_thread_seq, 1);
	th->start_ticks = rt_now();
	th->token = th->fork_token;
	rt_chunk_take(th);
}
