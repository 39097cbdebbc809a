/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

pthread_mutex_t item_lock = PTHREAD_MUTEX_INITIALIZER, order_lock = PTHREAD_MUTEX_INITIALIZER;

/* A section of the critical kind: from a reading before it to one after the lock was released. */
#define SECTION(sections, r, work, lock)                                                                               \
	do {                                                                                                           \
		struct section *section_ = &(sections)->v[(sections)->n++];                                            \
		section_->type = (r)->type;                                                                            \
		section_->since = (r)->begun;                                                                          \
		section_->held.before = PLANT_NOW();                                                                   \
		work;                                                                                                  \
		pthread_mutex_unlock(lock);                                                                            \
		section_->held.after = PLANT_NOW();                                                                    \
	} while (0)

#define ACQUIRE(a, lock)                                                                                               \
	do {                                                                                                           \
		(a)->interruptions = -PLANT_INTERRUPTIONS();                                                           \
		(a)->from = PLANT_NOW();                                                                               \
		pthread_mutex_lock(lock);                                                                              \
		(a)->to = PLANT_NOW();                                                                                 \
		(a)->interruptions += PLANT_INTERRUPTIONS();                                                           \
	} while (0)

/* Busy; its own readings are the section's surely held part. */
#define BUSY(section, ns)                                                                                              \
	do {                                                                                                           \
		struct plant_time took_ = { 0, 0, 0 };                                                                 \
		(section)->held.from = PLANT_NOW();                                                                    \
		PLANT_SPIN(ns, took_);                                                                                 \
		(section)->held.to = PLANT_NOW();                                                                      \
	} while (0)

static NOINLINE void parse(struct request *r)
{
	struct plant_time took = { 0, 0, 0 };

	PLANT_SPIN(r->parse_ns, took);
}

static NOINLINE void sort_items(struct section *s, struct request *r)
{
	BUSY(s, r->items_ns);
}

static NOINLINE void write_items(struct section *s, struct request *r)
{
	BUSY(s, r->items_ns);
}

static NOINLINE void write_orders(struct section *s, struct request *r)
{
	BUSY(s, r->orders_ns);
}

static NOINLINE void read_orders(struct section *s, struct request *r)
{
	BUSY(s, r->orders_ns);
}

static NOINLINE void search_items(struct worker *w, struct request *r)
{
	ACQUIRE(&r->acquires[ITEMS], &item_lock);
	SECTION(&w->sections[ITEMS], r, sort_items(section_, r), &item_lock);
}

static NOINLINE void confirm_items(struct worker *w, struct request *r)
{
	ACQUIRE(&r->acquires[ITEMS], &item_lock);
	SECTION(&w->sections[ITEMS], r, write_items(section_, r), &item_lock);
}

static NOINLINE void confirm_orders(struct worker *w, struct request *r)
{
	ACQUIRE(&r->acquires[ORDERS], &order_lock);
	SECTION(&w->sections[ORDERS], r, write_orders(section_, r), &order_lock);
}

static NOINLINE void show_orders(struct worker *w, struct request *r)
{
	ACQUIRE(&r->acquires[ORDERS], &order_lock);
	SECTION(&w->sections[ORDERS], r, read_orders(section_, r), &order_lock);
}

NOINLINE void handle_request(struct worker *w, struct request *r)
{
	r->begun = PLANT_NOW();
	parse(r);
	switch (r->type) {
	case SEARCH:
		search_items(w, r);
		break;
	case CONFIRM:
		confirm_items(w, r);
		confirm_orders(w, r);
		break;
	default:
		show_orders(w, r);
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	for (size_t i = 0; i < w->n; i++) {
		w->requests[i].from = PLANT_NOW();
		handle_request(w, &w->requests[i]);
		w->requests[i].to = PLANT_NOW();
	}
	return NULL;
}

void sections_make(struct sections *s, size_t capacity)
{
	*s = (struct sections){ .capacity = capacity, .v = calloc(capacity, sizeof *s->v) };
	if (!s->v) {
		perror("sections");
		exit(1);
	}
}

void worker_start(struct worker *w)
{
	for (int i = 0; i < N_LOCKS; i++)
		sections_make(&w->sections[i], w->n);
	if (pthread_create(&w->thread, NULL, worker_main, w)) {
		fputs("cannot start a worker\n", stderr);
		exit(1);
	}
}
