/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (l) The cause is next_token, called up to some thousand times in a request and for half a microsecond: most of its
 * calls are not timed. Every eighth takes five times as long, in step with any sampling that is not random. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "plant.h"

enum { NEXT_TOKEN, LOAD_TEXT, RENDER_TREE, N_FACTORS };

struct document {
	uint64_t id;
	uint32_t n_tokens;
	uint32_t token_ns;	  /* of a short one */
	uint32_t ns[N_FACTORS];	  /* how long the others shall take */
	uint64_t took[N_FACTORS]; /* ticks that it took */
};

void convert(struct document *d);

#endif
