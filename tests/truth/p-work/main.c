/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[N_FACTORS] = { "scan_rows", "refresh_index" };

static void fill_query(struct query *q, uint64_t id, uint64_t *random)
{
	*q = (struct query){ .id = id };
	q->n_rows = plant_uniform(random, 1, 200);
	q->ns[SCAN_ROWS] = 5000 * q->n_rows + plant_uniform(random, 0, 100000);
	q->ns[REFRESH_INDEX] = plant_uniform(random, 50000, 750000);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 1200);
	struct truth_answer answer = { .a = "scan_rows" };
	uint32_t *n_rows = calloc(o.n, sizeof *n_rows);
	struct truth truth;

	if (!n_rows) {
		perror("queries");
		return 1;
	}
	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct query q;
		uint64_t begin;

		fill_query(&q, i + 1, &o.random);
		n_rows[i] = q.n_rows;
		begin = PLANT_NOW();
		run_query(&q);
		truth_add(&truth, PLANT_NOW() - begin, q.took);
	}
	answer.share = truth_share(&truth, SCAN_ROWS);
	answer.also[0] = (struct truth_factor){ "refresh_index", truth_share(&truth, REFRESH_INDEX), 0 };
	answer.figures[0] = (struct truth_figure){ NULL, NULL, "work_share", 1, truth_explained(&truth, -1, n_rows) };
	answer.figures[1] = (struct truth_figure){ "work", "rows", "share", 1, truth_explained(&truth, -1, n_rows) };
	answer.figures[2] = (struct truth_figure){ "work", "rows", "ns_per_unit", truth_slope_ns(&truth, n_rows), 1 };
	answer.figures[3] = (struct truth_figure){ "factors", "scan_rows", "work_share", 1,
						   truth_explained(&truth, SCAN_ROWS, n_rows) };
	answer.figures[4] = (struct truth_figure){ "factors", "refresh_index", "work_share", 1,
						   truth_explained(&truth, REFRESH_INDEX, n_rows) };
	free(n_rows);
	return truth_write(&truth, &answer);
}
