/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (p) scan_rows takes 5 us for each row; refresh_index takes a random time that has nothing to do with the rows. */
#ifndef SCAN_H
#define SCAN_H

#include "plant.h"

enum { REQUEST, SCAN_ROWS, REFRESH_INDEX, N_FACTORS };

struct query {
	uint64_t id;
	uint32_t n_rows;
	uint32_t ns[N_FACTORS]; /* how long each function shall take */
	struct plant_time took[N_FACTORS];
};

void run_query(struct query *q);

#endif
