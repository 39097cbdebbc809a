/* SPDX-License-Identifier: Apache-2.0 */
/* The ring's chunks, as the threads of this process take and hand them over. See chunk.h. */
#define _GNU_SOURCE
#include "runtime/chunk.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POPULATED_MAX 16384 /* chunks, 1 GiB; those behind are populated by their page faults */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
enum touched { UNTOUCHED, POPULATED, BARRED }; /* barred: see chunk_bar() */
#define COLLECTOR_NS 1000000000u

static unsigned sink_turn;			 /* the sink in use: a child of fork uses another than its parent */
static _Atomic uint8_t populated[POPULATED_MAX]; /* enum touched */
static _Atomic uint64_t full_since;		 /* ticks when no chunk was free, 0: some was */

/* Is a unit within [data, data + n_bytes) reserved but not yet written? */
static bool chunk_unfinished(const struct vp_chunk_header *c, uint32_t n_bytes)
{
	const struct vp_unit *u = (const struct vp_unit *)rt_chunk_data(c);
	const struct vp_unit *end = u + n_bytes / VP_UNIT_BYTES;

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

	if (RT_UNLIKELY(i >= rt_process.shm->n_chunks)) /* of a session that was left this very moment */
		return;
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
	used = th->probe.next < rt_chunk_end(c) ? th->probe.next : rt_chunk_end(c);
	c->n_bytes = (uint32_t)(used - rt_chunk_data(c));
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

void rt_chunks_hand_over(struct rt_thread *th)
{
	chunk_retire(th);
	pending_flush(th, true);
	rt_sink_use(th);
}

void rt_chunk_tell_tsan(const struct vp_chunk_header *c)
{
	__tsan_release(&rt_process.states[chunk_number(c)]);
}

void rt_sink_use(struct rt_thread *th)
{
	th->probe.limit = 0;
	th->probe.next = (unsigned long)rt_process.sinks + sink_turn * VP_CHUNK_BYTES;
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

/* The kernel has noted who of the collector's threads lives; its pid is asked only where the kernel would not: it may
 * be another's in another pid namespace. */
static bool collector_is_dead(void)
{
	uint32_t owner = atomic_load_explicit(&rt_process.shm->owner, memory_order_relaxed);

	if (owner)
		return owner & VP_OWNER_DIED;
	return syscall(SYS_kill, rt_process.shm->collector_pid, 0) < 0 && errno == ESRCH;
}

/* The ring was full for a second, and the collector does not exist: it was killed, nobody will ever make room. */
static void collector_check(void)
{
	uint64_t now = rt_now(), since = atomic_load_explicit(&full_since, memory_order_relaxed);
	int saved = errno;

	if (!since)
		atomic_store_explicit(&full_since, now, memory_order_relaxed);
	else if (now > since && (now - since) / (COLLECTOR_NS / RT_IO_NS) >= rt_process.io_ticks && collector_is_dead())
		atomic_store_explicit(&rt_process.shm->stopped, 1, memory_order_relaxed);
	errno = saved;
}

bool rt_chunk_take(struct rt_thread *th)
{
	struct vp_chunk_header *c;

	chunk_retire(th);
	rt_sink_use(th);
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
	th->probe.next = rt_chunk_data(c);
	th->probe.limit = rt_chunk_end(c) - RT_SPILL_BYTES;
	atomic_thread_fence(memory_order_seq_cst);
	if (RT_UNLIKELY(!rt_thread_is_current(th))) /* left meanwhile: rt_threads_limit() came before */
		th->probe.limit = 0;
	if (!th->started) {
		struct vp_unit start[2] = { { th->start_ticks, VP_W(VP_KIND_START, 0) }, { th->token, th->tid } };

		rt_units_append(th, start, 2);
		th->started = true;
	}
	if (th->n_dropped) {
		struct vp_unit dropped = { rt_now(), VP_W(VP_KIND_DROPPED, th->n_dropped) };

		rt_units_append(th, &dropped, 1);
		th->n_dropped = 0;
		th->n_retries = 0;
	}
	return true;
}

/* Forks. */

/* It lies in a chunk that this process may not write to (see chunk_bar()), or in the sink that the parent used. */
bool rt_chunk_is_parents(unsigned long address)
{
	unsigned long in_sinks = address - (unsigned long)rt_process.sinks;
	size_t i = (address - (unsigned long)rt_process.chunks) / VP_CHUNK_BYTES;

	if (in_sinks < RT_SINKS * VP_CHUNK_BYTES)
		return in_sinks / VP_CHUNK_BYTES != sink_turn;
	return i < POPULATED_MAX && i < rt_process.shm->n_chunks &&
	       atomic_load_explicit(&populated[i], memory_order_relaxed) == BARRED;
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

void rt_chunks_fork(struct rt_thread *th)
{
	unsigned long end;

	th->fork_unfinished = 0;
	for (int i = 0; i < th->n_pending; i++)
		th->fork_unfinished |= (uint32_t)chunk_unfinished(th->pending[i], th->pending[i]->n_bytes) << i;
	if (!th->chunk)
		return;
	end = th->probe.next < rt_chunk_end(th->chunk) ? th->probe.next : rt_chunk_end(th->chunk);
	if (chunk_unfinished(th->chunk, (uint32_t)(end - rt_chunk_data(th->chunk))))
		th->fork_unfinished |= 1u << RT_PENDING;
}

/* No page of the chunks is mapped in the child. */
void rt_chunks_inherit(void)
{
	for (uint32_t i = 0; i < POPULATED_MAX; i++)
		if (atomic_load_explicit(&populated[i], memory_order_relaxed) == POPULATED)
			atomic_store_explicit(&populated[i], UNTOUCHED, memory_order_relaxed);
	sink_turn = (sink_turn + 1) % RT_SINKS;
}

void rt_chunks_join(void)
{
	for (uint32_t i = 0; i < POPULATED_MAX; i++)
		if (atomic_load_explicit(&populated[i], memory_order_relaxed) != UNTOUCHED)
			atomic_store_explicit(&populated[i], UNTOUCHED, memory_order_relaxed);
	atomic_store_explicit(&full_since, 0, memory_order_relaxed);
}

void rt_chunks_forked(struct rt_thread *th)
{
	for (int i = 0; i < th->n_pending; i++)
		if (th->fork_unfinished >> i & 1)
			chunk_bar(th->pending[i]);
	if (th->chunk && th->fork_unfinished >> RT_PENDING)
		chunk_bar(th->chunk);
	th->chunk = NULL;
	th->n_pending = 0;
	th->chunk_seq = 0;
}
