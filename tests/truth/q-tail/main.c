/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

#include <stdio.h>
#include <stdlib.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, 0 },
	[PARSE_REQUEST] = { "parse_request", REQUEST, TRUTH_PLANTED },
	[LOOKUP_KEY] = { "lookup_key", REQUEST, TRUTH_PLANTED },
	[COMPACT_LOG] = { "compact_log", REQUEST, TRUTH_PLANTED },
	[SEND_REPLY] = { "send_reply", REQUEST, TRUTH_PLANTED },
};

static void fill_request(struct request *r, uint64_t id, uint64_t *random)
{
	int is_slow = id % 100 == 57;

	*r = (struct request){ .id = id };
	r->ns[PARSE_REQUEST] = plant_uniform(random, 20000, 60000);
	r->ns[LOOKUP_KEY] = plant_uniform(random, 100000, 400000);
	r->ns[COMPACT_LOG] = is_slow ? plant_uniform(random, 12000000, 16000000) : plant_uniform(random, 5000, 15000);
	r->ns[SEND_REPLY] = plant_uniform(random, 20000, 60000) + (is_slow ? 3000000 : 0);
}

/* Mean time without a processor of all requests, of the slowest hundredth (slow) and of the others (rest):
 * contributions tell it apart. */
static double preempted_ns(const struct truth *t, const double *cpu_ns, double *slow, double *rest)
{
	double all = 0, n_slow = 0, tail = truth_tail_from(t);

	*slow = *rest = 0;
	for (size_t i = 0; i < t->n; i++) {
		double lost = truth_value(t, i, REQUEST) / plant_ticks_per_ns - cpu_ns[i];

		lost = lost > 0 ? lost : 0;
		all += lost / (double)t->n;
		if (truth_value(t, i, REQUEST) >= tail) {
			*slow += lost;
			n_slow++;
		} else {
			*rest += lost;
		}
	}
	*slow /= n_slow;
	*rest /= (double)t->n - n_slow;
	return all;
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 1500);
	struct truth_answer answer = { .interval = "request" };
	struct truth truth;
	double *cpu_ns = calloc(o.n, sizeof *cpu_ns), gap, mean, preempted, slow, rest;

	if (!cpu_ns) {
		perror("requests");
		return 1;
	}

	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r;

		fill_request(&r, i + 1, &o.random);
		cpu_ns[i] = plant_cpu_ns();
		PLANT_CALL(r.took[REQUEST], handle_request(&r));
		cpu_ns[i] = plant_cpu_ns() - cpu_ns[i];
		truth_add(&truth, r.took);
	}
	gap = truth_tail_ns(&truth, REQUEST) - truth_rest_ns(&truth, REQUEST);
	mean = truth_mean_ns(&truth, REQUEST);
	preempted = preempted_ns(&truth, cpu_ns, &slow, &rest);
	for (int i = 1; i < N_FACTORS; i++) {
		answer.figures[2 * i - 2] =
			(struct truth_figure){ "contributions",
					       columns[i].name,
					       "gap_ns",
					       gap,
					       (truth_tail_ns(&truth, i) - truth_rest_ns(&truth, i)) / gap,
					       slow / gap,
					       rest / gap };
		answer.figures[2 * i - 1] = (struct truth_figure){
			"contributions", columns[i].name, "mean_ns", mean, truth_mean_ns(&truth, i) / mean,
			preempted / mean
		};
	}
	answer.figures[8] = (struct truth_figure){ NULL, NULL, "tail_ns", truth_tail_ns(&truth, REQUEST), 1, 0, 0 };
	answer.figures[9] = (struct truth_figure){ NULL, NULL, "rest_ns", truth_rest_ns(&truth, REQUEST), 1, 0, 0 };
	free(cpu_ns);
	return truth_write(&truth, &answer);
}
