/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, 0 },
	[PARSE_REQUEST] = { "parse_request", REQUEST, 0 },
	[MATCH_RULES] = { "match_rules", REQUEST, TRUTH_PLANTED },
	[PREEMPTED] = { "preempted", MATCH_RULES, TRUTH_PLANTED | TRUTH_PREEMPTED },
};

/* The kernel charges a thread with part of the interrupt that takes its processor away. */
#define CHARGED_NS 10000

/* The time of a request in which others had the processor: its latency less its CPU time, and the kernel's own account
 * of how long it waited for a processor. What a hypervisor took is in one of them and not in the other, so the truth
 * lies between both. parse_request is so short that it has none of it. */
static struct plant_time preempted(struct plant_time latency, double cpu_ns, double delay_ns, long interruptions)
{
	double cpu = cpu_ns * plant_ticks_per_ns, charged = (double)interruptions * CHARGED_NS * plant_ticks_per_ns;
	double least = (double)latency.low - cpu, most = (double)latency.high - cpu + charged;
	double delay = delay_ns * plant_ticks_per_ns;

	if (delay_ns >= 0 && delay < least)
		least = delay;
	if (delay > most)
		most = delay;
	return (struct plant_time){ least > 0 ? (uint64_t)least : 0, most > 0 ? (uint64_t)most : 0, 0 };
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 300);
	struct truth_answer answer = { .interval = "request", .has_preempted = 1 };
	struct truth truth;

	truth_open(&truth, N_FACTORS, columns, o.n);
	rival_start(o.random);
	for (size_t i = 0; i < o.n; i++) {
		struct request r = { .id = i + 1 };
		double cpu_ns, delay_ns;
		long interruptions;

		r.parse_steps = plant_uniform(&o.random, 1000, 3000);
		r.match_steps = plant_uniform(&o.random, 1400000, 1600000);
		interruptions = PLANT_INTERRUPTIONS();
		delay_ns = plant_delay_ns();
		cpu_ns = plant_cpu_ns();
		PLANT_CALL(r.took[REQUEST], handle_request(&r));
		cpu_ns = plant_cpu_ns() - cpu_ns;
		delay_ns = delay_ns < 0 ? -1 : plant_delay_ns() - delay_ns;
		r.took[REQUEST].low = r.took[PARSE_REQUEST].high + r.took[MATCH_RULES].high;
		r.took[PREEMPTED] = preempted(r.took[REQUEST], cpu_ns, delay_ns, PLANT_INTERRUPTIONS() - interruptions);
		truth.cpu_ns += cpu_ns;
		truth_add(&truth, r.took);
	}
	rival_stop();
	return truth_write(&truth, &answer);
}
