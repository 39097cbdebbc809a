/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (f) decompress is called in two subtrees. Neither place alone is the largest factor; together they are. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "plant.h"

enum {
	REQUEST,
	ANSWER_QUERY,
	SEARCH_INDEX,
	LOAD_PAGE,
	SORT_ROWS,
	DECOMPRESS_PAGE,
	DECOMPRESS_INDEX,
	MATCH_KEY,
	N_FACTORS
};

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
};

void handle_request(struct request *r);
void load_page(struct request *r);
void search_index(struct request *r);
void decompress(struct request *r, int place);

#endif
