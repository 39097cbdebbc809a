/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "document.h"

static NOINLINE void load_text(struct document *d)
{
	PLANT_SPIN(d->ns[LOAD_TEXT], d->took[LOAD_TEXT]);
}

static NOINLINE void next_token(struct document *d, uint32_t i)
{
	uint64_t spun = 0;

	PLANT_SPIN(i % 8 == 3 ? 5 * d->token_ns : d->token_ns, spun);
}

static NOINLINE void parse(struct document *d)
{
	for (uint32_t i = 0; i < d->n_tokens; i++) {
		uint64_t from = PLANT_NOW();

		next_token(d, i);
		d->took[NEXT_TOKEN] += PLANT_NOW() - from - plant_clock_ticks;
	}
}

static NOINLINE void render_tree(struct document *d)
{
	PLANT_SPIN(d->ns[RENDER_TREE], d->took[RENDER_TREE]);
}

NOINLINE void convert(struct document *d)
{
	load_text(d);
	parse(d);
	render_tree(d);
}
