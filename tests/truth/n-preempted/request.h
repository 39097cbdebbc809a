/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (n) The cause is the scheduler: a rival on the same processor preempts requests that all do about the same work. */
#ifndef REQUEST_H
#define REQUEST_H

#include "plant.h"

enum { REQUEST, PARSE_REQUEST, MATCH_RULES, PREEMPTED_PARSE, PREEMPTED_MATCH, N_FACTORS };

struct request {
	uint64_t id;
	uint32_t parse_ns, match_ns;
	struct plant_time took[N_FACTORS];
	uint64_t parse_gaps, match_gaps; /* between readings of the clock in them */
	uint64_t from, to;
};

void handle_request(struct request *r);
void match_rules(struct request *r);

/* In a process of its own; pins both to one processor. Its log tells when it surely ran. */
const struct plant_log *rival_start(uint64_t seed);
void rival_stop(void);

#endif
