/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (n) The cause is the scheduler: a rival on the same processor preempts requests that all do about the same work. */
#ifndef REQUEST_H
#define REQUEST_H

#include "plant.h"

enum { REQUEST, PARSE_REQUEST, MATCH_RULES, PREEMPTED, N_FACTORS };

struct request {
	uint64_t id;
	uint32_t parse_steps, match_steps;
	struct plant_time took[N_FACTORS];
	uint64_t result;
};

/* Work that takes CPU time, however long others have the CPU meanwhile. */
#define WORK(r, n)                                                                                                     \
	do {                                                                                                           \
		for (uint32_t work_i_ = 0; work_i_ < (n); work_i_++) {                                                 \
			(r)->result = (r)->result * 6364136223846793005u + 1;                                          \
			__asm__ volatile("" : "+m"((r)->result));                                                      \
		}                                                                                                      \
	} while (0)

void handle_request(struct request *r);
void match_rules(struct request *r);

void rival_start(uint64_t seed); /* in a process of its own; pins both to one processor */
void rival_stop(void);

#endif
