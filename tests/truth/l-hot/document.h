/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (l) The cause is next_token, called up to some thousand times in a request and for about a microsecond: most of its
 * calls are not timed. Every eighth takes five times as long, in step with any sampling that is not random. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "plant.h"

enum { REQUEST, LOAD_TEXT, PARSE, RENDER_TREE, NEXT_TOKEN, N_FACTORS };

/* ticks of one call of next_token, from within and from without */
struct token {
	uint32_t low, high;
};

struct document {
	uint64_t id;
	uint32_t n_tokens;
	uint32_t token_ns; /* of a short one */
	struct token *tokens;
	uint32_t ns[N_FACTORS]; /* how long the others shall take */
	struct plant_time took[N_FACTORS];
	long interruptions; /* how often the kernel took the processor away */
};

void convert(struct document *d);

/* What sampling may make of next_token's variance: into the truth, a row of which each document is. */
void account_for_sampling(struct truth *t, const struct document *documents);

#endif
