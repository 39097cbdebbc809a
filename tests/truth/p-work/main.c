/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "run_query", -1, 0 },
	[SCAN_ROWS] = { "scan_rows", REQUEST, TRUTH_PLANTED },
	[REFRESH_INDEX] = { "refresh_index", REQUEST, TRUTH_PLANTED },
};

static void fill_query(struct query *q, uint64_t id, uint64_t *random)
{
	*q = (struct query){ .id = id };
	q->n_rows = plant_uniform(random, 1, 200);
	q->ns[SCAN_ROWS] = 5000 * q->n_rows + plant_uniform(random, 0, 100000);
	q->ns[REFRESH_INDEX] = plant_uniform(random, 50000, 750000);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 500);
	struct truth_answer answer = { .interval = "query" };
	uint32_t *n_rows = calloc(o.n, sizeof *n_rows);
	struct truth truth;

	if (!n_rows) {
		perror("queries");
		return 1;
	}
	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct query q;

		fill_query(&q, i + 1, &o.random);
		n_rows[i] = q.n_rows;
		PLANT_CALL(q.took[REQUEST], run_query(&q));
		truth_add(&truth, q.took);
	}
	answer.figures[0] =
		(struct truth_figure){ NULL, NULL, "work_share", 1, truth_explained(&truth, REQUEST, n_rows), 0, 0 };
	answer.figures[1] =
		(struct truth_figure){ "work", "rows", "share", 1, truth_explained(&truth, REQUEST, n_rows), 0, 0 };
	answer.figures[2] =
		(struct truth_figure){ "work", "rows", "ns_per_unit", truth_slope_ns(&truth, n_rows), 1, 0, 0 };
	answer.figures[3] = (struct truth_figure){
		"factors", "scan_rows", "work_share", 1, truth_explained(&truth, SCAN_ROWS, n_rows), 0
	};
	answer.figures[4] = (struct truth_figure){
		"factors", "refresh_index", "work_share", 1, truth_explained(&truth, REFRESH_INDEX, n_rows), 0
	};
	free(n_rows);
	return truth_write(&truth, &answer);
}
