/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, their chunks and the records in them.
 *
 * A thread owns one chunk of the shared memory at a time and reserves units in it by adding to `next`. Signals:
 *  - a probe reserves with one instruction, so a handler's probe takes other units;
 *  - the slow path blocks signals; a probe that was interrupted between reservation and store finds, when it
 *    goes on, that its address lies in the spill zone (1 KiB at the chunk's end) of this chunk, or in a chunk
 *    that was full meanwhile;
 *  - a full chunk in which a reserved unit is still unwritten is kept pending and handed over later, so that
 *    nobody writes to a chunk that the collector may have given away.
 *
 * Without a free chunk records are dropped and counted; `next` then points into a sink that nobody reads, because
 * an interrupted probe may still store there.
 */
#define _GNU_SOURCE
#include "runtime/runtime.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POOL_THREADS 32
#define POOL_BLOCKS 2048
#define POPULATED_MAX 16384 /* chunks, 1 GiB; those behind are populated by their page faults */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
enum touched { UNTOUCHED, POPULATED, BARRED }; /* barred: see chunk_bar() */
#define COLLECTOR_NS 1000000000u
#define RETRY_EVERY 32 /* dropped records between two looks for a free chunk */

/* ThreadSanitizer sees the probes' stores, which are the program's code, but neither our atomics nor the collector: it
 * is told when memory passes from thread to thread. */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

__thread struct rt_thread *rt_self __attribute__((tls_model("initial-exec")));
static __thread uint64_t token_given __attribute__((tls_model("initial-exec"))); /* of a thread that attaches later */

static struct rt_thread first_block[POOL_THREADS];
static _Atomic(struct rt_thread *) blocks[POOL_BLOCKS] = { first_block };
static unsigned char sink[4][VP_CHUNK_BYTES] __attribute__((aligned(64))); /* each for one generation of processes */
static unsigned sink_turn;			 /* the one in use: a child of fork uses another than its parent */
static _Atomic uint8_t populated[POPULATED_MAX]; /* enum touched */
static _Atomic uint64_t full_since;		 /* ticks when no chunk was free, 0: some was */
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

static unsigned long chunk_data(const struct vp_chunk_header *c)
{
	return (unsigned long)c + sizeof(*c);
}

static unsigned long chunk_end(const struct vp_chunk_header *c)
{
	return (unsigned long)c + VP_CHUNK_BYTES;
}

/* Is a unit within [data, data + n_bytes) reserved but not yet written? */
static bool chunk_unfinished(const struct vp_chunk_header *c, uint32_t n_bytes)
{
	const struct vp_unit *u = (const struct vp_unit *)chunk_data(c);
	const struct vp_unit *end = u + n_bytes / VP_UNIT_BYTES;
	const struct vp_unit *i;
	unsigned n_zero = 0;

	for (i = u; i < end; i++)
		n_zero += i->w == 0 || i->t == 0;
	if (!n_zero)
		return false;
	while (u < end) { /* zeros are legal beyond a record's first unit */
		uint32_t n = u->w ? vp_record_units(u->w) : 0;

		if (!n || !u->t)
			return true;
		u += n;
	}
	return false;
}

static size_t chunk_number(const struct vp_chunk_header *c)
{
	return (size_t)((const unsigned char *)c - rt_process.chunks) / VP_CHUNK_BYTES;
}

static void chunk_hand_over(struct vp_chunk_header *c)
{
	size_t i = chunk_number(c);

	if (__tsan_release && rt_self && !rt_self->exit_rounds)
		__tsan_release(&rt_process.states[i]);
	atomic_store_explicit(&rt_process.states[i], VP_CHUNK_FULL, memory_order_release);
}

/* Hands over the pending chunks that are whole now; all of them when `all`. */
static void pending_flush(struct rt_thread *th, bool all)
{
	int n = 0;

	for (int i = 0; i < th->n_pending; i++) {
		if (all || !chunk_unfinished(th->pending[i], th->pending[i]->n_bytes))
			chunk_hand_over(th->pending[i]);
		else
			th->pending[n++] = th->pending[i];
	}
	th->n_pending = n;
}

static void chunk_retire(struct rt_thread *th)
{
	struct vp_chunk_header *c = th->chunk;
	unsigned long used;

	pending_flush(th, false);
	if (!c)
		return;
	th->chunk = NULL;
	used = th->probe.next < chunk_end(c) ? th->probe.next : chunk_end(c);
	c->n_bytes = (uint32_t)(used - chunk_data(c));
	if (!chunk_unfinished(c, c->n_bytes)) {
		chunk_hand_over(c);
		return;
	}
	if (th->n_pending == RT_PENDING) {
		chunk_hand_over(th->pending[0]);
		memmove(th->pending, th->pending + 1, (RT_PENDING - 1) * sizeof(th->pending[0]));
		th->n_pending--;
	}
	th->pending[th->n_pending++] = c;
}

static void sink_set(struct rt_thread *th)
{
	th->probe.limit = 0;
	th->probe.next = (unsigned long)sink[sink_turn];
}

/* One system call instead of a fault for each page when this process first writes to a chunk. Signals are blocked. */
static void chunk_populate(uint32_t i)
{
	int saved = errno;

	if (i >= POPULATED_MAX || atomic_load_explicit(&populated[i], memory_order_relaxed))
		return;
	atomic_store_explicit(&populated[i], POPULATED, memory_order_relaxed);
	syscall(SYS_madvise, rt_process.chunks + (size_t)i * VP_CHUNK_BYTES, (size_t)VP_CHUNK_BYTES,
		MADV_POPULATE_WRITE);
	errno = saved;
}

/* The lowest free one, not the next in turn: while the collector keeps up a few chunks serve again and again, whose
 * pages this process has touched and whose lines are in some cache. */
static struct vp_chunk_header *chunk_find(void)
{
	uint32_t n = rt_process.shm->n_chunks;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t free_state = VP_CHUNK_FREE;

		if (atomic_load_explicit(&rt_process.states[i], memory_order_relaxed) == VP_CHUNK_FREE &&
		    !(i < POPULATED_MAX && atomic_load_explicit(&populated[i], memory_order_relaxed) == BARRED) &&
		    atomic_compare_exchange_strong_explicit(&rt_process.states[i], &free_state, VP_CHUNK_TAKEN,
							    memory_order_acquire, memory_order_relaxed)) {
			if (__tsan_acquire && !(rt_self && rt_self->exit_rounds))
				__tsan_acquire(&rt_process.states[i]);
			chunk_populate(i);
			return (struct vp_chunk_header *)(rt_process.chunks + (size_t)i * VP_CHUNK_BYTES);
		}
	}
	return NULL;
}

/* A program that this process was before an exec left its chunks taken. A pid alone would not do: in another namespace
 * it may be a living process's. The collector finds the end of what was written, as in a dead process's. */
void rt_chunks_reclaim(void)
{
	uint32_t n = rt_process.shm->n_chunks;

	for (uint32_t i = 0; i < n && rt_process.pid_namespace; i++) {
		const volatile struct vp_chunk_header *c =
			(const volatile struct vp_chunk_header *)(rt_process.chunks + (size_t)i * VP_CHUNK_BYTES);
		uint32_t taken = VP_CHUNK_TAKEN;

		if (atomic_load_explicit(&rt_process.states[i], memory_order_acquire) == VP_CHUNK_TAKEN &&
		    c->magic == VP_CHUNK_MAGIC && c->pid == rt_process.pid &&
		    c->pid_namespace == rt_process.pid_namespace)
			atomic_compare_exchange_strong_explicit(&rt_process.states[i], &taken, VP_CHUNK_FULL,
								memory_order_release, memory_order_relaxed);
	}
}

/* Nothing is recorded any more: probes find their gates closed as frames are left, wrappers pass through. */
static void recording_ended(struct rt_thread *th)
{
	th->probe.gate = 0;
	atomic_store_explicit(&rt_process.active, 0, memory_order_relaxed);
}

/* The ring was full for a second, and the collector does not exist: it was killed, nobody will ever make room. */
static void collector_check(void)
{
	uint64_t now = rt_now(), since = atomic_load_explicit(&full_since, memory_order_relaxed);
	int saved = errno;

	if (!since)
		atomic_store_explicit(&full_since, now, memory_order_relaxed);
	else if (now > since && (now - since) / (COLLECTOR_NS / RT_IO_NS) >= rt_process.io_ticks &&
		 syscall(SYS_kill, rt_process.shm->collector_pid, 0) < 0 && errno == ESRCH)
		atomic_store_explicit(&rt_process.shm->stopped, 1, memory_order_relaxed);
	errno = saved;
}

static void units_store(unsigned long address, const struct vp_unit *u, unsigned n)
{
	volatile uint64_t *to = (volatile uint64_t *)address;

	to[1] = u[0].w;
	for (unsigned i = 1; i < n; i++) {
		to[2 * i] = u[i].t;
		to[2 * i + 1] = u[i].w;
	}
	__atomic_store_n(to, u[0].t, __ATOMIC_RELEASE);
}

/* In the new chunk, signals blocked. */
static void units_append(struct rt_thread *th, const struct vp_unit *u, unsigned n)
{
	units_store(th->probe.next, u, n);
	th->probe.next += n * VP_UNIT_BYTES;
}

/* Takes a new chunk and begins it. Signals are blocked. */
static bool chunk_take(struct rt_thread *th)
{
	struct vp_chunk_header *c;

	chunk_retire(th);
	sink_set(th);
	if (atomic_load_explicit(&rt_process.shm->stopped, memory_order_relaxed))
		return false;
	c = chunk_find();
	if (!c) {
		collector_check();
		return false;
	}
	if (RT_UNLIKELY(atomic_load_explicit(&full_since, memory_order_relaxed)))
		atomic_store_explicit(&full_since, 0, memory_order_relaxed);
	c->magic = VP_CHUNK_MAGIC;
	c->n_bytes = 0;
	c->pid_namespace = rt_process.pid_namespace;
	__atomic_store_n(&c->pid, rt_process.pid, __ATOMIC_RELEASE); /* never without its namespace */
	c->tid = th->tid;
	c->thread_seq = th->thread_seq;
	c->chunk_seq = th->chunk_seq++;
	c->process_seq = rt_process.seq;
	c->parent_seq = rt_process.parent_seq;
	th->chunk = c;
	if (rt_window_closed(th))
		th->probe.stretch += UINT64_C(1) << 32; /* the next call of each function looks at the window */
	th->probe.next = chunk_data(c);
	th->probe.limit = chunk_end(c) - RT_SPILL_BYTES;
	if (!th->started) {
		struct vp_unit start[2] = { { th->start_ticks, VP_W(VP_KIND_START, 0) }, { th->token, th->tid } };

		units_append(th, start, 2);
		th->started = true;
	}
	if (th->n_dropped) {
		struct vp_unit dropped = { rt_now(), VP_W(VP_KIND_DROPPED, th->n_dropped) };

		units_append(th, &dropped, 1);
		th->n_dropped = 0;
		th->n_retries = 0;
	}
	return true;
}

static void drop(struct rt_thread *th)
{
	if (atomic_load_explicit(&th->state, memory_order_relaxed) != RT_THREAD_LIVE)
		return;
	th->n_dropped++;
	atomic_fetch_add_explicit(&rt_process.shm->n_dropped, 1, memory_order_relaxed);
	if (atomic_load_explicit(&rt_process.shm->stopped, memory_order_relaxed))
		recording_ended(th);
}

/* With no chunk: is it time to look for one? Keeps `next` inside the sink. */
static bool retry_due(struct rt_thread *th)
{
	th->probe.next = (unsigned long)sink[sink_turn];
	return atomic_load_explicit(&th->state, memory_order_relaxed) == RT_THREAD_LIVE &&
	       th->n_retries++ % RETRY_EVERY == 0;
}

static bool chunk_holds(const struct vp_chunk_header *c, unsigned long address, unsigned long n_bytes)
{
	return c && address >= chunk_data(c) && address + n_bytes <= chunk_end(c);
}

/* Was this place reserved before the fork that made this process? Then the parent writes that record. It lies in a
 * chunk that this process may not write to (see chunk_bar()), or in the sink that the parent used. */
static bool is_parents(unsigned long address)
{
	unsigned long in_chunks = address - (unsigned long)rt_process.chunks, in_sink = address - (unsigned long)sink;
	size_t i = in_chunks / VP_CHUNK_BYTES;

	if (in_sink < sizeof(sink))
		return in_sink / sizeof(sink[0]) != sink_turn;
	return i < POPULATED_MAX && i < rt_process.shm->n_chunks &&
	       atomic_load_explicit(&populated[i], memory_order_relaxed) == BARRED;
}

/* Units whose reserved address is not below the limit. */
static bool write_slow(struct rt_thread *th, unsigned long address, const struct vp_unit *u, unsigned n)
{
	unsigned long n_bytes = n * VP_UNIT_BYTES;
	bool written = true;
	uint64_t mask;
	int i;

	if (RT_UNLIKELY(is_parents(address)))
		return false;
	if (!th->chunk && !th->n_pending && !retry_due(th)) {
		drop(th);
		return false;
	}
	mask = rt_signals_block();
	for (i = 0; i < th->n_pending; i++)
		if (chunk_holds(th->pending[i], address, n_bytes))
			break;
	if (i < th->n_pending) {
		units_store(address, u, n);
	} else if (chunk_holds(th->chunk, address, n_bytes)) {
		units_store(address, u, n);
		if (th->probe.next >= th->probe.limit)
			chunk_take(th);
	} else if ((th->chunk && th->probe.next + n_bytes <= th->probe.limit) || chunk_take(th)) {
		units_append(th, u, n);
	} else {
		drop(th);
		written = false;
	}
	rt_signals_restore(mask);
	return written;
}

void rt_full(struct vp_thread *thread, unsigned long address, vp_u64 t, vp_u64 w)
{
	struct vp_unit unit = { t, w };

	write_slow((struct rt_thread *)thread, address, &unit, 1);
}

bool rt_write(struct rt_thread *th, const struct vp_unit *units, unsigned n)
{
	unsigned long address;

#if defined(__x86_64__)
	address = n * VP_UNIT_BYTES;
	__asm__ volatile("xaddq %0, %1" : "+r"(address), "+m"(th->probe.next) : : "cc", "memory");
#else
	address = __atomic_fetch_add(&th->probe.next, n * VP_UNIT_BYTES, __ATOMIC_RELAXED);
#endif
	if (RT_UNLIKELY(address >= th->probe.limit))
		return write_slow(th, address, units, n);
	units_store(address, units, n);
	return true;
}

/* No call of memcpy, which may be a sanitizer's. */
static void bytes_store(volatile uint64_t *to, const unsigned char *bytes, size_t n_bytes)
{
	uint64_t word;
	size_t i = 0;

	for (; i + sizeof(word) <= n_bytes; i += sizeof(word)) {
		__builtin_memcpy(&word, bytes + i, sizeof(word));
		*to++ = word;
	}
	for (word = 0; i < n_bytes; i++)
		word |= (uint64_t)bytes[i] << i % sizeof(word) * 8;
	if (n_bytes % sizeof(word))
		*to = word;
}

bool rt_write_long(struct rt_thread *th, const struct vp_unit *head, unsigned n_head, const void *bytes, size_t n_bytes)
{
	size_t n_total = n_head * VP_UNIT_BYTES + (n_bytes + VP_UNIT_BYTES - 1) / VP_UNIT_BYTES * VP_UNIT_BYTES;
	bool written = false;
	uint64_t mask;

	if (!th->chunk && !retry_due(th)) {
		drop(th);
		return false;
	}
	mask = rt_signals_block();
	if (!th->chunk || th->probe.next + n_total > th->probe.limit)
		chunk_take(th);
	if (th->chunk) {
		volatile uint64_t *to = (volatile uint64_t *)th->probe.next;

		th->probe.next += n_total;
		to[1] = head[0].w;
		for (unsigned i = 1; i < n_head; i++) {
			to[2 * i] = head[i].t;
			to[2 * i + 1] = head[i].w;
		}
		bytes_store(to + 2 * n_head, bytes, n_bytes);
		__atomic_store_n(to, head[0].t, __ATOMIC_RELEASE);
		written = true;
	} else {
		drop(th);
	}
	rt_signals_restore(mask);
	return written;
}

/* Threads. */

/* Runs in every round of the thread's destructors and does its work in the last, so that probes in the others'
 * destructors still record. */
static void thread_exit(void *arg)
{
	struct rt_thread *th = arg;
	uint64_t mask;

	if (__tsan_release && !th->exit_rounds) { /* in the last round the thread is gone for it */
		__tsan_release(th);
		if (th->chunk)
			__tsan_release(&rt_process.states[chunk_number(th->chunk)]);
	}
	if (++th->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(exit_key, th) == 0)
		return;
	if (__tsan_release)
		th->in_stack = UINTPTR_MAX; /* the unwinder calls pthread_once, which is the sanitizer's */
	rt_hot_end(th);
	rt_thread_exit(th);
	mask = rt_signals_block();
	chunk_retire(th);
	pending_flush(th, true);
	th->probe.gate = 0;
	th->probe.top = NULL;
	sink_set(th);
	atomic_store_explicit(&th->state, RT_THREAD_EXITED, memory_order_release);
	rt_signals_restore(mask);
}

static bool thread_claim(struct rt_thread *th)
{
	uint32_t state = atomic_load_explicit(&th->state, memory_order_acquire);

	if (state == RT_THREAD_LIVE)
		return false;
	/* Others' destructors may still run probes on an exited thread: wait until the kernel has forgotten it. */
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
	chunk_take(th);
}

/* ThreadSanitizer may begin its thread inside of ours: not before that may it be told anything. */
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

/* In the child: other threads are gone, their chunks are the parent's, and no page of the chunks is mapped. */
void rt_threads_forget(const struct rt_thread *keep)
{
	for (uint32_t i = 0; i < POPULATED_MAX; i++)
		if (atomic_load_explicit(&populated[i], memory_order_relaxed) == POPULATED)
			atomic_store_explicit(&populated[i], UNTOUCHED, memory_order_relaxed);
	sink_turn = (sink_turn + 1) % (sizeof(sink) / sizeof(sink[0]));
	for (int b = 0; b < POOL_BLOCKS; b++) {
		struct rt_thread *block = atomic_load(&blocks[b]);

		if (!block)
			return;
		for (int i = 0; i < POOL_THREADS; i++)
			if (&block[i] != keep)
				atomic_store(&block[i].state, RT_THREAD_FREE);
	}
}

/* A handler that interrupted a probe between reservation and store may fork. The parent writes that unit; the child
 * would too, perhaps when the chunk is another's by then. So the child gets memory of its own in the chunk's place, and
 * never takes that chunk. */
static void chunk_bar(struct vp_chunk_header *c)
{
	size_t i = chunk_number(c);

	if (i >= POPULATED_MAX)
		return;
	atomic_store_explicit(&populated[i], BARRED, memory_order_relaxed);
	syscall(SYS_mmap, c, (size_t)VP_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0L);
}

void rt_thread_forks(struct rt_thread *th)
{
	unsigned long end;

	th->fork_unfinished = 0;
	for (int i = 0; i < th->n_pending; i++)
		th->fork_unfinished |= (uint32_t)chunk_unfinished(th->pending[i], th->pending[i]->n_bytes) << i;
	if (!th->chunk)
		return;
	end = th->probe.next < chunk_end(th->chunk) ? th->probe.next : chunk_end(th->chunk);
	if (chunk_unfinished(th->chunk, (uint32_t)(end - chunk_data(th->chunk))))
		th->fork_unfinished |= 1u << RT_PENDING;
}

/* The forking thread goes on in the child under a new number; its open frames and gate stay. Signals are blocked. */
void rt_thread_forked(struct rt_thread *th)
{
	for (int i = 0; i < th->n_pending; i++)
		if (th->fork_unfinished >> i & 1)
			chunk_bar(th->pending[i]);
	if (th->chunk && th->fork_unfinished >> RT_PENDING)
		chunk_bar(th->chunk);
	th->chunk = NULL;
	th->n_pending = 0;
	th->chunk_seq = 0;
	th->started = false;
	th->n_dropped = th->n_retries = 0;
	rt_hot_unskip(th, rt_now());
	rt_hot_forget(th);
	memset(th->n_stacks, 0, sizeof(th->n_stacks));
	th->tid = (uint32_t)syscall(SYS_gettid);
	th->thread_seq = atomic_fetch_add(&rt_process.shm->next_thread_seq, 1);
	th->start_ticks = rt_now();
	th->token = th->fork_token;
	chunk_take(th);
}
