/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (w) A staged server, as SEDA's: each stage is a thread with a queue. A request is parsed and looked up in the cache;
 * a hit is sent at once, a miss is read from the disk first, under a lock that sending takes, too. So there are two
 * contexts, and hits wait for misses: how long each stage took, and what was queued, is in the program's own readings.
 */
#ifndef STAGES_H
#define STAGES_H

#include <pthread.h>

#include "plant.h"

enum stage_name { SUBMIT, PARSE, CACHE, DISK, SEND, N_STAGES };

/* What a stage did for a request until it handed it on: readings around and inside of the handler, and around the
 * enqueue; of the last stage, the handler's end. */
struct portion {
	uint64_t before, from, to, after;
};

/* ticks: around the acquire, and how often the kernel took the CPU meanwhile */
struct acquire {
	uint64_t from, to;
	long interruptions;
};

struct request {
	uint64_t id;
	int is_miss;
	uint32_t ns[N_STAGES];
	struct portion portions[N_STAGES];
	struct acquire sending;
	struct request *next;
};

struct stage {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct request *first, *last;
	int is_closed;
	void (*handle)(struct request *r);
	enum stage_name name;
};

extern struct stage stages[N_STAGES]; /* [SUBMIT] is the client's own thread */
extern struct plant_log disk_log;     /* when the store's lock was held for the disk */

void stage_enqueue(struct stage *s, struct request *r);
struct request *stage_dequeue(struct stage *s); /* NULL: it is closed and empty */
void stage_start(struct stage *s, enum stage_name name, void (*handle)(struct request *r));
void stage_finish(struct stage *s);

void submit_request(struct request *r);
void handle_parse(struct request *r);
void handle_cache(struct request *r);
void handle_disk(struct request *r);
void handle_send(struct request *r);

/* Writes TRUTH_OUT; main's exit status. */
int account_write(const struct request *requests, size_t n);

#endif
