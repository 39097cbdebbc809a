/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

#include <time.h>

static const char *const names[N_FACTORS] = { "preempted", "match_rules", "(processor time)" };

static double processor_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 700);
	struct truth_answer answer = { .a = "preempted", .needs_switches = 1 };
	double latency = 0, preempted = 0;
	struct truth truth;

	truth_open(&truth, N_FACTORS, names, o.n);
	rival_start(o.random);
	for (size_t i = 0; i < o.n; i++) {
		struct request r = { .id = i + 1 };
		uint64_t begin, end;
		double before, ran;

		r.parse_steps = plant_uniform(&o.random, 20000, 60000);
		r.match_steps = plant_uniform(&o.random, 1400000, 1600000);
		before = processor_ns();
		begin = PLANT_NOW();
		handle_request(&r);
		end = PLANT_NOW();
		ran = (processor_ns() - before) * plant_ticks_per_ns;
		r.took[PROCESSOR_TIME] = (uint64_t)ran < end - begin ? (uint64_t)ran : end - begin;
		r.took[PREEMPTED] = end - begin - r.took[PROCESSOR_TIME];
		latency += (double)(end - begin);
		preempted += (double)r.took[PREEMPTED];
		truth_add(&truth, end - begin, r.took);
	}
	rival_stop();
	answer.share = truth_share(&truth, PREEMPTED);
	answer.preempted_share = preempted / latency;
	answer.also[0] = (struct truth_factor){ "match_rules", truth_share(&truth, MATCH_RULES), 0 };
	return truth_write(&truth, &answer);
}
