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
	rt_hot_end(th);
	rt_thread_exit(th);
	mask = rt_signals_block();
	rt_chunks_hand_over(th);
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

static void thread_begin(struct rt_thread *th, uint64_t token)
{
	uint64_t stretch = th->probe.stretch;

	/* All but `state`, by which others see that it is taken, and the counters of hot calls. */
	memset(&th->probe, 0, sizeof(th->probe));
	memset(&th->tid, 0, offsetof(struct rt_thread, hot) - offsetof(struct rt_thread, tid));
	th->probe.stretch = stretch;
	th->probe.gate = 1; /* bit of the context without a measured frame */
	th->probe.ticks = rt_process.ticks;
	th->probe.api = &rt_api;
	th->tid = (uint32_t)syscall(SYS_gettid);
	th->thread_seq = atomic_fetch_add(&rt_process.shm->next_thread_seq, 1);
	th->start_ticks = rt_now();
	th->token = token;
	rt_hot_start(th);
	rt_chunk_take(th);
}

/* ThreadSanitizer may begin its thread inside of ours, and must not be told anything before that. */
void rt_attach_new(uint64_t token)
{
	if (__tsan_acquire)
		token_given = token;
	else
		rt_attach(token);
}

struct rt_thread *rt_attach(uint64_t token)
{
	struct rt_thread *th = rt_self;
	int saved = errno;
	int none = 0;
	uint64_t mask;

	if (th || !rt_active())
		return th && atomic_load_explicit(&th->state, memory_order_relaxed) == RT_THREAD_LIVE ? th : NULL;
	mask = rt_signals_block();
	th = pool_take();
	if (th) {
		thread_begin(th, token ? token : token_given);
		token_given = 0;
		rt_self = th;
		if (atomic_compare_exchange_strong(&exit_key_state, &none, 1))
			atomic_store(&exit_key_state, pthread_key_create(&exit_key, thread_exit) == 0 ? 2 : 0);
		if (atomic_load(&exit_key_state) == 2)
			pthread_setspecific(exit_key, th);
	}
	rt_signals_restore(mask);
	errno = saved;
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
	th->tid = (uint32_t)syscall(SYS_gettid);
	th->thread_seq = atomic_fetch_add(&rt_process.shm->next_thread_seq, 1);
	th->start_ticks = rt_now();
	th->token = th->fork_token;
	rt_chunk_take(th);
}
