/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which interval each thread works for, the marks that say so, and work that is handed from thread to thread. */
#ifndef SIMULATE_INTERVAL_H
#define SIMULATE_INTERVAL_H

#include "tests/simulate/schedule/locks.h"

enum sim_queue_kind { SIM_QUEUE_ANNOTATED, SIM_QUEUE_SILENT, SIM_QUEUE_CHANNEL, SIM_QUEUE_KINDS };

struct sim_item {
	struct sim_item *next;
	struct sim_work *work;
	struct sim_release *release; /* of a message: whoever sent it */
	uint64_t amount;
};

/* A queue behind a mutex and a condition, annotated or not; or a pipe that one thread at a time reads from. */
struct sim_queue {
	enum sim_queue_kind kind;
	struct sim_lock mutex;
	struct sim_cond filled;
	bool tells_false_wakes, polls;
	struct sim_item *items, **last_item;
	/* channel */
	uint64_t key;
	bool is_sending;
	struct sim_thread *reader;
	uint64_t freed_item; /* an address that may be reused, 0: none */
};

struct sim_instance *interval_begin(struct sim_thread *th, const char *name);
/* Begins the same id again, which drops the earlier interval, unless other threads are working for that. */
struct sim_instance *interval_restart(struct sim_thread *th, struct sim_instance *i);
void interval_resume(struct sim_thread *th, struct sim_instance *i, struct sim_work *cause);
void interval_suspend(struct sim_thread *th);
void interval_end(struct sim_thread *th, struct sim_instance *i, struct sim_work *cause);
/* The thread, already working for the interval, takes what was handed over for it before. */
void interval_inside(struct sim_thread *th, struct sim_work *work);

static inline struct sim_instance *interval_of(const struct sim_thread *th)
{
	return th->segment ? th->segment->instance : NULL;
}

void sim_queue_init(struct sim_queue *q, struct world *w, enum sim_queue_kind kind, bool is_shared, uint32_t process);
/* Hands over `i`, which the thread works for, or has received as `before`. */
void sim_queue_put(struct sim_thread *th, struct sim_queue *q, struct sim_instance *i, struct sim_work *before);
/* With `told` false the thread does not say yet that it has got the item: sim_queue_tell does. Not of a channel. */
struct sim_work *sim_queue_take(struct sim_thread *th, struct sim_queue *q, bool told);
void sim_queue_tell(struct sim_thread *th, struct sim_queue *q, struct sim_work *work);
bool sim_queue_is_empty(const struct sim_queue *q);

#endif
