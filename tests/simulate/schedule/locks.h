/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What threads wait on and are woken by, as in libc, and the records that the runtime's wrappers write of it
 * (docs/design/wake-edges.md): the ticket protocol step by step, with time between the steps.
 *
 * Each wait keeps the release that really ended it.
 */
#ifndef SIMULATE_LOCKS_H
#define SIMULATE_LOCKS_H

#include "tests/simulate/schedule/records.h"

#define SIM_WAIT_TICKS 12 /* shorter spins, joins and I/O are not recorded */

/* on the stack of the thread that waits */
struct sim_waiter {
	struct sim_waiter *next;
	struct sim_thread *th;
	struct sim_release *woken_by;
	bool is_listed, reads;
	uint32_t wait; /* index + 1, of futexes */
};

struct sim_object {
	uint32_t arrivals, waiting, seq; /* its slot */
	uint64_t address[SIM_PROCESSES]; /* where each process sees it */
	bool is_shared;
	struct sim_waiter *waiters, **last_waiter;
	struct sim_holds *holds; /* NULL: never released, or not held by one thread at a time */
};

enum sim_lock_kind { SIM_MUTEX, SIM_RWLOCK, SIM_SPIN, SIM_SEMAPHORE, SIM_ANNOTATED, SIM_LOCK_KINDS };

struct sim_lock {
	struct sim_object object;
	struct sim_object hook; /* of the annotated functions around it */
	enum sim_lock_kind kind;
	unsigned order;
	struct sim_thread *owner;
	int n_readers;
	struct sim_release *last, *last_by_writer, *last_hook; /* release */
	struct sim_release *leaving;			       /* the annotated release function that is running */
};

/* of a condition: who was counted may go */
struct sim_token {
	struct sim_token *next;
	struct sim_release *release;
	uint32_t upto; /* ticket */
	int n_left;    /* -1: any number */
};

struct sim_cond {
	struct sim_object object;
	struct sim_token *tokens, **last_token;
};

struct sim_barrier {
	struct sim_object object;
	unsigned n, n_here;
};

struct sim_once {
	struct sim_object object;
	int state; /* 0, 1: under way, 2: done */
};

struct sim_futex {
	struct sim_object object;
};

void sim_object_init(struct sim_object *o, struct world *w, bool is_shared, uint32_t process);

/* False: `until` came first. `reads`: read-write locks only. */
bool sim_lock_take(struct sim_thread *th, struct sim_lock *l, bool reads, uint64_t until);
void sim_lock_release(struct sim_thread *th, struct sim_lock *l, bool reads);

/* Returns the wait's index + 1, which world_wait_join takes. *woken: not by `until`. */
uint32_t sim_cond_wait(struct sim_thread *th, struct sim_cond *c, struct sim_lock *mutex, uint64_t until, bool *woken);
void sim_cond_signal(struct sim_thread *th, struct sim_cond *c, bool all);

void sim_barrier_wait(struct sim_thread *th, struct sim_barrier *b);
void sim_once_run(struct sim_thread *th, struct sim_once *o, void (*init)(struct sim_thread *th));
bool sim_futex_wait(struct sim_thread *th, struct sim_futex *f, uint64_t until);
void sim_futex_wake(struct sim_thread *th, struct sim_futex *f, unsigned n);

struct sim_thread *sim_thread_create(struct sim_thread *th, void (*program)(struct sim_thread *), void *arg);
void sim_thread_join(struct sim_thread *th, struct sim_thread *child);
void sim_thread_exit(struct sim_thread *th); /* the last call of a program */

/* Nobody ends it: a sleep, or a disk, for which the thread also works in the kernel. */
void sim_block(struct sim_thread *th, uint8_t kind, uint8_t call, uint64_t ticks);

const char *sim_call_name(uint8_t call);

#endif
