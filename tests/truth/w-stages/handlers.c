/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stages.h"

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;
struct plant_log disk_log;

/* Busy for what the request takes in the stage. */
#define BUSY(r, stage)                                                                                                 \
	do {                                                                                                           \
		struct plant_time took_ = { 0, 0, 0 };                                                                 \
		PLANT_SPIN((r)->ns[stage], took_);                                                                     \
	} while (0)

#define HAND_ON(r, stage, next)                                                                                        \
	do {                                                                                                           \
		(r)->portions[stage].to = PLANT_NOW();                                                                 \
		stage_enqueue(&stages[next], r);                                                                       \
		(r)->portions[stage].after = PLANT_NOW();                                                              \
	} while (0)

static NOINLINE void parse_header(struct request *r)
{
	BUSY(r, PARSE);
}

static NOINLINE void read_page(struct request *r)
{
	PLANT_STRETCH(&disk_log, r->ns[DISK]);
}

static NOINLINE void write_page(struct request *r)
{
	BUSY(r, SEND);
}

NOINLINE void submit_request(struct request *r)
{
	r->portions[SUBMIT].from = PLANT_NOW();
	BUSY(r, SUBMIT);
	HAND_ON(r, SUBMIT, PARSE);
}

NOINLINE void handle_parse(struct request *r)
{
	r->portions[PARSE].from = PLANT_NOW();
	parse_header(r);
	HAND_ON(r, PARSE, CACHE);
}

NOINLINE void handle_cache(struct request *r)
{
	r->portions[CACHE].from = PLANT_NOW();
	BUSY(r, CACHE);
	if (r->is_miss)
		HAND_ON(r, CACHE, DISK);
	else
		HAND_ON(r, CACHE, SEND);
}

NOINLINE void handle_disk(struct request *r)
{
	r->portions[DISK].from = PLANT_NOW();
	pthread_mutex_lock(&store_lock);
	PLANT_LOG(&disk_log, read_page(r); pthread_mutex_unlock(&store_lock));
	HAND_ON(r, DISK, SEND);
}

NOINLINE void handle_send(struct request *r)
{
	r->portions[SEND].from = PLANT_NOW();
	r->sending.interruptions = -PLANT_INTERRUPTIONS();
	r->sending.from = PLANT_NOW();
	pthread_mutex_lock(&store_lock);
	r->sending.to = PLANT_NOW();
	r->sending.interruptions += PLANT_INTERRUPTIONS();
	write_page(r);
	pthread_mutex_unlock(&store_lock);
	r->portions[SEND].to = PLANT_NOW();
}
