/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "document.h"

static const char *const names[N_FACTORS] = { "next_token", "load_text", "render_tree" };

static void fill_document(struct document *d, uint64_t id, uint64_t *random)
{
	*d = (struct document){ .id = id };
	d->n_tokens = plant_uniform(random, 150, 1500);
	d->token_ns = plant_uniform(random, 350, 650);
	d->ns[LOAD_TEXT] = plant_uniform(random, 50000, 450000);
	d->ns[RENDER_TREE] = plant_uniform(random, 50000, 650000);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 2000);
	struct truth_answer answer = { .a = "next_token", .accept = { "parse" }, .is_sampled = 1 };
	struct truth truth;

	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct document d;
		uint64_t begin;

		fill_document(&d, i + 1, &o.random);
		begin = PLANT_NOW();
		convert(&d);
		truth_add(&truth, PLANT_NOW() - begin, d.took);
	}
	answer.share = truth_share(&truth, NEXT_TOKEN);
	return truth_write(&truth, &answer);
}
