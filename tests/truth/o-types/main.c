/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

#include <stdio.h>
#include <stdlib.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, 0 },
	[DECODE_BODY] = { "decode_body", REQUEST, TRUTH_PLANTED },
	[APPLY_CHANGE] = { "apply_change", REQUEST, TRUTH_PLANTED },
};

static void fill_request(struct request *r, uint64_t id, uint64_t *random)
{
	*r = (struct request){ .id = id };
	r->is_write = plant_uniform(random, 0, 10) < 3;
	r->ns[DECODE_BODY] = plant_uniform(random, 150000, 250000) + (r->is_write ? 700000 : 0);
	r->ns[APPLY_CHANGE] = plant_uniform(random, 100000, 600000);
}

/* n_t (mean_t - mean)^2 of one type, as part of the variance. */
static double between_of(const struct truth *t, const uint32_t *kind, uint32_t wanted)
{
	double mean = truth_mean_ns(t, REQUEST) * plant_ticks_per_ns, sum = 0, squares = 0, n = 0;

	for (size_t i = 0; i < t->n; i++) {
		double d = truth_value(t, i, REQUEST) - mean;

		squares += d * d;
		sum += kind[i] == wanted ? d : 0;
		n += kind[i] == wanted;
	}
	return sum * sum / n / squares;
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 500);
	struct truth_answer answer = { .interval = "request" };
	uint32_t *kind = calloc(o.n, sizeof *kind);
	struct truth truth;

	if (!kind) {
		perror("requests");
		return 1;
	}
	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r;

		fill_request(&r, i + 1, &o.random);
		kind[i] = (uint32_t)r.is_write;
		PLANT_CALL(r.took[REQUEST], handle_request(&r));
		truth_add(&truth, r.took);
	}
	answer.figures[0] =
		(struct truth_figure){ NULL, NULL, "between_types", 1, truth_between(&truth, REQUEST, kind, 2), 0, 0 };
	answer.figures[1] =
		(struct truth_figure){ "types", "read", "between_share", 1, between_of(&truth, kind, 0), 0, 0 };
	answer.figures[2] =
		(struct truth_figure){ "types", "write", "between_share", 1, between_of(&truth, kind, 1), 0, 0 };
	answer.figures[3] = (struct truth_figure){
		"factors", "decode_body", "between_share", 1, truth_between(&truth, DECODE_BODY, kind, 2), 0
	};
	answer.figures[4] = (struct truth_figure){
		"factors", "apply_change", "between_share", 1, truth_between(&truth, APPLY_CHANGE, kind, 2), 0
	};
	free(kind);
	return truth_write(&truth, &answer);
}
