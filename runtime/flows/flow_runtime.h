/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of libvprof-flows.so share. It lives in another's process during a discovery run: it does not print,
 * exit, allocate with malloc or change errno, and what it cannot write it counts.
 *
 * A thread's state is its own; nothing is locked but the handing out of chunks. While a hook runs, `busy` keeps out
 * what a signal handler would do in between.
 */
#ifndef VPROF_FLOW_RUNTIME_H
#define VPROF_FLOW_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/flows/flow_hooks.h"
#include "trace/flows/flow_format.h"

/* In a hook or wrapper: the frame of the program's function that called it. The callbacks in between leave the frame
 * pointer alone. */
#define FLOW_FRAME (*(const uintptr_t *)__builtin_frame_address(0))
#define FLOW_EXPORT __attribute__((visibility("default")))

#define FLOW_WINDOW 128 /* accesses after a section in which a use is looked for */
#define FLOW_EVENT_WINDOWS                                                                                             \
	512 /* of so many accesses, in which the use of what was registered for an event is looked for */
#define FLOW_CANDIDATES 48u
#define FLOW_LATE 8u /* objects that were taken out of a structure and not used in that time */
#define FLOW_LINE_WORDS 4u
#define FLOW_PENDING 4u		  /* writes that were announced and may not have happened */
#define FLOW_RECENT 64u		  /* a thread's last writes outside sections */
#define FLOW_PUBLISHED 16u	  /* of these are published by an atomic store */
#define FLOW_OBSERVED 16u	  /* reads after an atomic load that may take over what was published */
#define FLOW_LINK_READS 24u	  /* of a handler, in which it may read whom its event is about */
#define FLOW_DELIVERED 64u	  /* events of one wait of which it is known which is in hand */
#define FLOW_TRANSFERS_AFTER 256u /* the last recorded event, of a thread */
#define FLOW_TAKERS 8u
#define FLOW_CHANGED 8u
#define FLOW_NEW_SECTIONS 500u	  /* with the same callers are watched for long */
#define FLOW_READ_WORDS 64u	  /* of the set of places that a section's pointers lead to */
#define FLOW_NEAR_LOCK_BYTES 256u /* pointers that lead this close to the lock ... */
#define FLOW_NEAR_BYTES 64u	  /* ... or to where they were read are the queue's own structure */

struct flow_write { /* that may not have happened yet */
	uintptr_t address, pc;
	size_t n;
	int age;	    /* callbacks since */
	uint64_t before;    /* of one that is announced: what lay there, as far as 8 bytes tell */
	uint64_t handed_on; /* by this section, under this lock; 0: by none */
	uintptr_t under;
};

struct flow_candidate { /* what a section handed out: does the thread use it afterwards? */
	uintptr_t low, high, lock;
	uint64_t section;
	uint64_t written; /* bit i: byte low + i was written by this thread since it entered the section */
	uintptr_t place;  /* of a pointer: where it was read; 0: not known */
	uintptr_t begin;  /* of the allocation that it leads into */
	uint64_t object;  /* that allocation; 0: not known, or it was not taken out */
	bool is_range, is_event, is_used, is_new; /* is_new: of a section that is */
	int windows;				  /* of an event: that passed since it was delivered */
};

struct flow_thread {
	/* what most accesses look at, side by side */
	bool busy, is_pointer_read;
	int depth;	       /* locks held */
	uint32_t n_records;    /* of the open section: records[0] is its head; 0: there is none */
	uint32_t n_observable; /* of an OBSERVE section: reads still to come */
	unsigned n_candidates, n_late, n_pending, n_changed;
	int window;			       /* accesses in which candidates are looked for */
	uint64_t n_recent, n_recent_published; /* ever */
	uint32_t watch;			       /* vprof_flow_hooks.watches that it is in step with */
	uint32_t n_blind_sections;	       /* at most its next so many are BLIND, ... */
	uint64_t blind_until;		       /* ... until so many writes, ever */
	uint32_t n_passed;		       /* sections and events that are not counted yet */
	bool has_passed, is_open, is_looking;  /* there were such; what keeps accesses looked at */
	bool is_new;			       /* the open section is one of the first with its callers */
	unsigned n_delivered;		       /* 0: it is read no more */
	unsigned hand_reads, hand_links;       /* reads that may still lead from it to others; offsets that did */
	uintptr_t delivered; /* the array in which the last events were delivered; 0: a library reads it */
	unsigned delivered_bytes, delivered_from, delivered_to; /* of one; what is read of one that is taken */
	uintptr_t observed;					/* last atomic load */
	/* lines of 64 bytes, by their numbers, where candidates, late ones, and what was registered for events lie;
	 * perhaps others, too */
	uint64_t candidate_lines[FLOW_LINE_WORDS], late_lines[FLOW_LINE_WORDS], delivered_lines[FLOW_LINE_WORDS];

	uint32_t tid;
	uintptr_t stack_low, stack_high;
	bool is_inner; /* the open section is that of a lock beneath one of which enough is known */
	uintptr_t locks[VPROF_FLOW_LOCKS];
	uint32_t n_accesses;			 /* of the open section */
	uint64_t pointers_read[FLOW_READ_WORDS]; /* where they lead to, by a hash: perhaps others, too */
	uintptr_t nested[VPROF_FLOW_LOCKS];	 /* the last ones that were taken beneath the section's */
	unsigned n_nested;
	struct flow_write pending[FLOW_PENDING];
	struct flow_candidate candidates[FLOW_CANDIDATES];
	struct flow_candidate late[FLOW_LATE]; /* after the window */
	struct flow_write recent[FLOW_RECENT];
	bool waits_by_epoll, is_array_read;
	bool is_first_use;	       /* nothing of what was registered was used since they were delivered */
	uintptr_t takers[FLOW_TAKERS]; /* where the thread made such a first use */
	unsigned n_takers;	       /* ever */
	uint64_t delivered_sections[FLOW_DELIVERED];  /* 0: not watched */
	uintptr_t delivered_lows[FLOW_DELIVERED];     /* 0: only a number was registered */
	uintptr_t delivered_pointers[FLOW_DELIVERED]; /* 0: taken, or a number */
	int delivered_fds[FLOW_DELIVERED];	      /* of numbers; -1: taken */
	bool delivered_outputs[FLOW_DELIVERED];
	uint8_t delivered_links[FLOW_DELIVERED]; /* offsets that were read of what a library was given */
	unsigned n_transfers_after;		 /* the last event that is recorded */
	uint64_t hand;				 /* section of the event whose handler runs; 0: none */
	uintptr_t hand_low;			 /* what was registered for it */
	uintptr_t changed[FLOW_CHANGED]; /* by inline assembly's atomic instructions last; not stored to since */
	uint64_t observed_value;
	struct vprof_flow_chunk *chunk;
	struct flow_thread *next;
	struct vprof_flow_record records[VPROF_FLOW_ENTRY_RECORDS];
};

extern __thread struct flow_thread *flow_self __attribute__((tls_model("initial-exec")));

/* The calling thread's state, or NULL: recording is off, or it ends. */
struct flow_thread *flow_thread(void);
static inline bool flow_holds(const struct flow_thread *t, uintptr_t lock)
{
	for (int i = 0; i < t->depth && i < (int)VPROF_FLOW_LOCKS; i++)
		if (t->locks[i] == lock)
			return true;
	return false;
}
static inline bool flow_on_stack(const struct flow_thread *t, uintptr_t address)
{
	return address >= t->stack_low && address < t->stack_high;
}

/* Do the first or the last of n bytes lie on one of these lines of 64? Of others it may be said, too. */
static inline bool flow_on_lines(const uint64_t *lines, uintptr_t address, size_t n)
{
	uintptr_t first = address / 64, last = (address + n - 1) / 64;

	return ((lines[first / 64 % FLOW_LINE_WORDS] >> first % 64) |
		(lines[last / 64 % FLOW_LINE_WORDS] >> last % 64)) &
	       1;
}
static inline void flow_lines_add(uint64_t *lines, uintptr_t address)
{
	lines[address / 64 / 64 % FLOW_LINE_WORDS] |= UINT64_C(1) << address / 64 % 64;
}

/* flow_log.c */
extern struct vprof_flow_header *flow_header; /* NULL: nothing is recorded */
uint64_t flow_next_section(void);
uint64_t flow_next_mapping(void);
/* Writes an entry; false: counted as unwritten. */
bool flow_log(struct flow_thread *t, const struct vprof_flow_record *records, uint32_t n);
void flow_module(const void *inside);
static inline void flow_count_of(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}
static inline void flow_count(uint64_t *counter)
{
	flow_count_of(counter, 1);
}

/* flow_section.c */
/* pc, frame: of the caller of the lock function */
void flow_section_begin(struct flow_thread *t, uintptr_t lock, unsigned flags, uintptr_t pc, uintptr_t frame);
void flow_section_end(struct flow_thread *t, uintptr_t pc, uintptr_t frame);
void flow_sections_forked(void); /* in the child */
/* The stack, as records of the open section: its innermost frames, or as many. */
void flow_frames(struct flow_thread *t, unsigned flags, uintptr_t pc, uintptr_t frame);
void flow_frames_most(struct flow_thread *t, unsigned flags, uintptr_t pc, uintptr_t frame, int most);
/* A section that is full and goes on, as that of a lock that is held for ever: it is written, without what it took
 * over, and its locks count no more, so that sections under others begin. Before a lock is taken or an atomic access.
 */
void flow_give_up_full(struct flow_thread *t);
/* A lock beneath others is taken or released. */
void flow_nested(struct flow_thread *t, uintptr_t lock, bool is_released, uintptr_t pc, uintptr_t frame);
/* A record of the open section, or NULL when it is full. */
struct vprof_flow_record *flow_record(struct flow_thread *t, enum vprof_flow_kind kind);
/* Of a record that was read in the open section. */
void flow_pointer_read(struct flow_thread *t, uint64_t value);
/* malloc gave it: a pointer that the open section read before may have led to what lay there until now. */
void flow_allocated(struct flow_thread *t, uintptr_t address, size_t n);
void flow_settle(struct flow_thread *t); /* writes that must have happened by now */

/* flow_watch.c: are accesses looked at? */
extern struct vprof_flow_hooks vprof_flow_hooks; /* its `watches` says so */
static inline bool flow_is_watching(void)
{
	return __atomic_load_n(&vprof_flow_hooks.watches, __ATOMIC_RELAXED) & 1;
}
/* A section is recorded: they are, from here on and for a while. is_new: one of the first FLOW_NEW_SECTIONS with the
 * same callers, or what one of these took over will be used late. */
void flow_watch_recorded(bool is_new);
/* Events or transfers are going to be recorded: the thread is in step before they are. */
void flow_watch_events(struct flow_thread *t);
/* A lock's section that is recorded begins: before flow_watch_recorded. */
void flow_watch_opened(struct flow_thread *t);
/* The thread looks, or no longer, for the use of what a section took over. */
void flow_watch_looks(struct flow_thread *t, bool is);
/* There is no open section any more. */
void flow_watch_closed(struct flow_thread *t);
/* So many sections or events of which enough are known. */
void flow_watch_passed(struct flow_thread *t, uint32_t n);
void flow_watch_count(struct flow_thread *t); /* those of the thread that were not counted yet */
/* Flags of a section that the thread begins: VPROF_FLOW_BLIND or 0. */
unsigned flow_watch_blind(struct flow_thread *t);
void flow_watch_begin(struct flow_thread *t);  /* a new thread */
void flow_watch_forked(struct flow_thread *t); /* in the child; NULL: it is not known */
void flow_watch_forget(struct flow_thread *t);
/* Is the thread in step, or has it missed accesses? */
static inline bool flow_has_missed(const struct flow_thread *t)
{
	return t->watch != __atomic_load_n(&vprof_flow_hooks.watches, __ATOMIC_RELAXED);
}
/* Before the thread's state is used, with `busy` set: where it has missed accesses, what it was looking for is dropped.
 */
static inline void flow_watch_catch_up(struct flow_thread *t)
{
	if (flow_has_missed(t))
		flow_watch_forget(t);
}
/* The same where it is not set yet. */
static inline void flow_watch_catch_up_first(struct flow_thread *t)
{
	if (!flow_has_missed(t))
		return;
	t->busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	flow_watch_forget(t);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = false;
}

/* flow_use.c */
/* What the section took over, which is looked for after it. */
void flow_candidates_take(struct flow_thread *t);
void flow_candidate_add(struct flow_thread *t, uintptr_t low, uintptr_t high, bool is_range); /* of the open section */
/* Of what was registered for an event. */
void flow_candidate_add_event(struct flow_thread *t, uintptr_t low, uintptr_t high, uintptr_t lock, uint64_t section);
/* The lines on which they lie, and perhaps others. */
void flow_lines_find(uint64_t *lines, const struct flow_candidate *candidates, unsigned n);
void flow_use(struct flow_thread *t, uintptr_t address, size_t n, bool is_write, uintptr_t pc);
/* Those of this lock, which is taken again, are decided; 0: all. */
void flow_candidates_end(struct flow_thread *t, uintptr_t lock);
/* How the thread begins to use what it took over; pc 0: it only wrote there. */
void flow_use_write(struct flow_thread *t, const struct flow_candidate *c, uintptr_t pc);
/* Bit i: byte low + i is in it. */
uint64_t flow_bytes_of(uintptr_t address, size_t n, uintptr_t low);

/* flow_late.c */
void flow_late_add(struct flow_thread *t, const struct flow_candidate *c);
void flow_late_end(struct flow_thread *t, uintptr_t lock); /* as flow_candidates_end */
void flow_late_use(struct flow_thread *t, uintptr_t address, size_t n, bool is_write, uintptr_t pc);
void flow_late_handed_on(struct flow_thread *t, uint64_t value); /* a pointer that the thread stores for others */
static inline bool flow_may_be_late(const struct flow_thread *t, uintptr_t address, size_t n)
{
	return flow_on_lines(t->late_lines, address, n);
}

/* flow_access.c, flow_atomic.c */
void flow_read(uintptr_t address, size_t n, uintptr_t pc);
void flow_write(uintptr_t address, size_t n, uintptr_t pc);
void flow_copy(uintptr_t to, uintptr_t from, size_t n, uintptr_t pc);
void flow_publish(uintptr_t address, size_t n, uint64_t value, int order, uintptr_t pc);
void flow_observe(uintptr_t address, size_t n, uint64_t value, int order, uintptr_t pc);
void flow_publish_at(struct flow_thread *t, uintptr_t address, size_t n, uint64_t value, uintptr_t pc, uintptr_t frame);
void flow_changed(uintptr_t address);
/* A plain store of what inline assembly changed before: as an atomic one with release order. */
bool flow_releases_changed(struct flow_thread *t, uintptr_t address);
/* One write, whose value is read now or given. */
void flow_write_record(struct flow_thread *t, uintptr_t address, size_t n, uint64_t value, unsigned flags,
		       uintptr_t pc);
/* A read within an OBSERVE section. */
void flow_observed_read(struct flow_thread *t, uintptr_t address, size_t n, uintptr_t pc, uintptr_t frame);

/* flow_events.c */
/* The key of an epoll instance, which stands for it as a lock's address does for the lock: no address is so large. */
#define FLOW_EVENT_KEY (UINT64_C(0xe) << 60)
/* A read since the thread last waited for events. */
void flow_event_read(struct flow_thread *t, uintptr_t address, size_t n, uintptr_t pc);
/* Can a read be one that flow_event_read looks for? */
static inline bool flow_may_be_event(const struct flow_thread *t, uintptr_t address, size_t n)
{
	return t->hand_reads ||
	       (t->n_delivered &&
		(flow_on_lines(t->delivered_lines, address, n) ||
		 (t->delivered && address - t->delivered < (uintptr_t)t->n_delivered * t->delivered_bytes)));
}

/* What is registered with a library, which gives the kernel the descriptor's number only. */
void flow_handler_registered(int fd, uintptr_t what, uintptr_t pc, uintptr_t frame);
/* Are no more events recorded, since enough are? What is in hand, or was delivered, still is followed. */
bool flow_events_enough(void);
static inline bool flow_events_over(const struct flow_thread *t)
{
	return flow_events_enough() &&
	       !(t && (t->hand || t->n_delivered) && t->n_transfers_after < FLOW_TRANSFERS_AFTER);
}
void flow_events_forked(void); /* in the child */
/* Who receives or sends on a descriptor handles its event, if that was delivered and is in nobody's hand yet. */
void flow_event_transfer(struct flow_thread *t, int fd, bool is_sent);

/* flow_handlers.c */
struct flow_handler {
	uintptr_t what, call; /* 0: none */
	unsigned library;
};
struct flow_handler flow_handler_of(int fd, bool is_output);
void flow_handlers_drop(int fd); /* it is closed */

/* flow_transfers.c */
bool flow_descriptor_is_registered(int fd);
void flow_descriptor_registered(int fd);

/* flow_objects.c */
/* An allocation of n bytes. serial: what flow_object_at said of it before it was resized in its place; 0: a new one. */
void flow_object_begins(uintptr_t begin, size_t n, uint64_t serial);
void flow_object_ends(uintptr_t begin);
/* Does a pointer lead to an allocation of its own, in which `place` does not lie? false: not known, too. */
bool flow_is_other_object(uintptr_t value, uintptr_t place);
/* Tells the allocation that begins there from earlier and later ones; 0: not known. */
uint64_t flow_object_at(uintptr_t begin);
/* The same of the allocation in whose first bytes the address lies. */
uint64_t flow_object_of(uintptr_t address, uintptr_t *begin);

/* flow_mapping.c */
/* Mappings that processes can share and that this process's file lacks; all of them. */
void flow_mappings_write(struct flow_thread *t, bool all);
void flow_unmapped(const void *address, size_t n); /* before it is */

/* flow_locks.c */
void flow_own_acquired(uintptr_t lock, uintptr_t pc);
void flow_own_releasing(uintptr_t lock, uintptr_t pc);
void flow_acquired(const void *lock, uintptr_t pc, uintptr_t frame);
void flow_releasing(const void *lock, uintptr_t pc, uintptr_t frame);

#endif
