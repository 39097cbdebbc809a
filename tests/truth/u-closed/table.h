/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (u) The cause is scan_block. Each query also calls mix, for 2 ns, so often that recording slows it by a tenth or
 * more, although most calls are only counted; and these calls cannot matter. Queries are long against what the
 * scheduler may take from one, and do their work however long that takes, so that CPU time compares runs. */
#ifndef TABLE_H
#define TABLE_H

#include "plant.h"

struct query {
	uint64_t id, key;
	uint32_t n_parts, scan_ns;
	long interruptions;
	struct plant_time latency, hashing, scanning;
};

void answer(struct query *q);

#endif
