#include "document.h"

static NOINLINE void load_text(struct document *d)
{
	PLANT_SPIN(d->ns[LOAD_TEXT], d->took[LOAD_TEXT]);
}

static NOINLINE void next_token(struct document *d, uint32_t i)
{
	PLANT_SPIN(i % 8 == 3 ? 5 * d->token_ns : d->token_ns, d->took[NEXT_TOKEN]);
}

static NOINLINE void parse(struct document *d)
{
	for (uint32_t i = 0; i < d->n_tokens; i++)
		next_token(d, i);
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
