/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that records: its structure, and how it gets one. */
#ifndef VPROF_RUNTIME_THREAD_H
#define VPROF_RUNTIME_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VP_PROBE_TYPES_ONLY
#include "runtime/paths.h"
#include "runtime/probe.h"
#include "trace/format.h"

#define RT_LIKELY(x) __builtin_expect(!!(x), 1)
#define RT_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* What nearly every record needs lies together, in few pages of code and one of data: a server's own work evicts them
 * from the TLB between two records, and to find a page again takes longer than to write a record. */
#define RT_HOT __attribute__((hot))
#ifdef VPROF_STATIC
#define RT_HOT_DATA
#else
#define RT_HOT_DATA __attribute__((section("rt_hot")))
#endif
#define RT_PENDING 4 /* chunks with a unit that an interrupted probe has yet to write */
#define RT_SPINS 8   /* nested annotated spin waits */
#define RT_KNOWN_NAME_MAX 23

enum rt_thread_state { RT_THREAD_FREE = 0, RT_THREAD_LIVE = 1, RT_THREAD_EXITED = 2 };

struct rt_spin {
	uint64_t object, start;
	uint32_t ticket;
};

/* The name of the thread's first interval. */
struct rt_known_name {
	uint64_t hash;	/* 0: none, or the session may not know it yet */
	bool is_filled; /* or is being filled */
	char text[RT_KNOWN_NAME_MAX];
};

/* What each record reads is in the first two cache lines, and in the same page what marks read. */
struct rt_thread {
	_Alignas(4096) struct vp_thread probe; /* first: probe.h knows no more */
	_Atomic uint32_t state;		       /* enum rt_thread_state */
	uint32_t session;		       /* in which it records, of rt_session; RT_RESTING: in none */
	uintptr_t in_stack;		       /* the frame that walks a stack, 0: none */
	int n_hot;			       /* of `hot` whose calls are being skipped */
	uint32_t n_begun;		       /* intervals, as far as they are counted */
	uint32_t n_stacks[4];		       /* by enum vp_stack */
	struct rt_known_name known_name;
	uint32_t tid, thread_seq, chunk_seq;
	struct vp_chunk_header *chunk; /* null: no room, or none taken yet */
	struct vp_chunk_header *pending[RT_PENDING];
	int n_pending;
	int exit_rounds; /* of the key's destructor */
	bool started;	 /* START is written */
	uint64_t start_ticks, token;
	uint64_t n_dropped, n_retries;
	struct rt_spin spins[RT_SPINS];
	int n_spins;
	uint64_t fork_token;
	uint32_t fork_unfinished; /* bits: which pending chunk, and above them the current one */
	uint64_t random, hot_ticks;
	uint64_t hot_first;			      /* counters of earlier stretches are not this thread's */
	_Alignas(64) struct rt_paths paths;	      /* from here on: not cleared for another thread */
	_Alignas(64) struct vp_hot hot[VP_HOT_SLOTS]; /* see rt_hot_start() */
};
extern __thread struct rt_thread *rt_self __attribute__((tls_model("initial-exec")));

#define RT_RESTING UINT32_MAX
extern _Atomic uint32_t rt_session; /* the number of the session in which this process takes part; 0: none */

static inline bool rt_thread_is_current(const struct rt_thread *th)
{
	return th->session == atomic_load_explicit(&rt_session, memory_order_relaxed);
}

struct rt_thread *rt_attach(uint64_t token); /* the calling thread; null when dormant, exited or out of memory */
/* The calling thread of a process that rests; null when exited or out of memory. */
struct rt_thread *rt_attach_resting(void);
/* The calling thread, signals blocked, takes no part in a session any more: what it has open is not recorded. A gate of
 * 0 is for sessions whose probes may still be open. */
void rt_thread_rest(struct rt_thread *th, uint64_t gate);
void rt_threads_limit(void); /* no thread's next record fits into its chunk */
/* The frames from `top` outward, all of the calling thread, are recorded by nobody and open no gate of theirs. */
void rt_scopes_settle(struct vp_scope *top);
void rt_attach_new(uint64_t token); /* a thread that begins */

/* The calling thread, or null where rt_attach() returns it. */
static inline struct rt_thread *rt_thread(void)
{
	struct rt_thread *th = rt_self;

	if (RT_LIKELY(th && atomic_load_explicit(&th->state, memory_order_relaxed) == RT_THREAD_LIVE &&
		      rt_thread_is_current(th)))
		return th;
	return rt_attach(0);
}

/* In the child of a fork, signals blocked: first the other threads, which are gone, then the one that goes on. */
void rt_threads_forget(const struct rt_thread *keep);
void rt_thread_forked(struct rt_thread *th);

/* Blocks all signals but those that a fault raises at once. Returns the mask before, for rt_signals_restore(). */
uint64_t rt_signals_block(void);
void rt_signals_restore(uint64_t mask);

#endif
