/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOKENS 1500

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "convert", -1, 0 },
	[LOAD_TEXT] = { "load_text", REQUEST, 0 },
	[PARSE] = { "parse", REQUEST, 0 },
	[RENDER_TREE] = { "render_tree", REQUEST, 0 },
	[NEXT_TOKEN] = { "next_token", PARSE, TRUTH_PLANTED | TRUTH_SAMPLED },
};

static void fill_document(struct document *d, uint64_t id, uint64_t *random)
{
	d->id = id;
	d->n_tokens = plant_uniform(random, 150, MAX_TOKENS);
	d->token_ns = plant_uniform(random, 500, 950);
	d->ns[LOAD_TEXT] = plant_uniform(random, 50000, 450000);
	d->ns[RENDER_TREE] = plant_uniform(random, 50000, 650000);
	d->tokens = malloc(d->n_tokens * sizeof *d->tokens);
	if (!d->tokens) {
		perror("tokens");
		exit(1);
	}
	memset(d->tokens, 1, d->n_tokens * sizeof *d->tokens); /* no page is to be fetched while it is measured */
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 700);
	struct truth_answer answer = { .interval = "document", .has_untimed = 1 };
	struct document *documents = calloc(o.n, sizeof *documents);
	struct truth truth;

	if (!documents) {
		perror("documents");
		return 1;
	}
	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++)
		fill_document(&documents[i], i + 1, &o.random);
	for (size_t i = 0; i < o.n; i++) {
		struct document *d = &documents[i];

		d->interruptions = -PLANT_INTERRUPTIONS();
		PLANT_CALL(d->took[REQUEST], convert(d));
		d->interruptions += PLANT_INTERRUPTIONS();
		truth_add(&truth, d->took);
	}
	account_for_sampling(&truth, documents);
	for (size_t i = 0; i < o.n; i++)
		free(documents[i].tokens);
	free(documents);
	return truth_write(&truth, &answer);
}
