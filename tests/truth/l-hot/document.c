/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "document.h"

#define LONG_TOKEN 50 /* microseconds that no token takes by itself */

static NOINLINE void load_text(struct document *d)
{
	PLANT_SPIN(d->ns[LOAD_TEXT], d->took[LOAD_TEXT]);
}

static NOINLINE void next_token(struct document *d, uint32_t i)
{
	struct plant_time spun = { 0, 0 };

	PLANT_SPIN(i % 8 == 3 ? 5 * d->token_ns : d->token_ns, spun);
	d->tokens[i].low = (uint32_t)spun.low;
}

static NOINLINE void parse(struct document *d)
{
	uint64_t begin = PLANT_NOW();

	for (uint32_t i = 0; i < d->n_tokens; i++) {
		struct plant_time one = { 0, 0 };

		PLANT_CALL(one, next_token(d, i));
		d->tokens[i].high = (uint32_t)(one.high - plant_clock_ticks);
		d->took[PARSE].away += one.high > LONG_TOKEN * plant_away_ticks ? one.high : 0;
	}
	d->took[PARSE].low = PLANT_NOW() - begin;
}

static NOINLINE void render_tree(struct document *d)
{
	PLANT_SPIN(d->ns[RENDER_TREE], d->took[RENDER_TREE]);
}

NOINLINE void convert(struct document *d)
{
	PLANT_CALL(d->took[LOAD_TEXT], load_text(d));
	PLANT_CALL(d->took[PARSE], parse(d));
	PLANT_CALL(d->took[RENDER_TREE], render_tree(d));
}
