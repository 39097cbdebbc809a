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

/* What the kernel and the clock say of a call, without the readings themselves. */
struct account {
	double cpu_ns, delay_ns;   /* delay_ns: that of the readings included; below 0: not known */
	long interruptions, apart; /* during the call; during the readings around it */
};

/* The CPU time is read outermost: the kernel looks then whether this thread has used up its slice, and may preempt it.
 */
static void handle_with_account(struct request *r, struct account *a)
{
	double cpu_ns = plant_cpu_ns(), delay_ns;
	long outer = PLANT_INTERRUPTIONS(), inner;

	delay_ns = plant_delay_ns();
	inner = PLANT_INTERRUPTIONS();
	PLANT_CALL(r->took[REQUEST], handle_request(r));
	a->interruptions = PLANT_INTERRUPTIONS() - inner;
	a->delay_ns = delay_ns < 0 ? -1 : plant_delay_ns() - delay_ns;
	a->apart = PLANT_INTERRUPTIONS() - outer - a->interruptions;
	a->cpu_ns = plant_cpu_ns() - cpu_ns;
}

/* The time of a request in which others had the processor: its latency less its CPU time, and the kernel's own account
 * of how long it waited for a processor. What a hypervisor took is in one of them and not in the other, so the truth
 * lies between both. parse_request is so short that it has none of it. */
static struct plant_time preempted(struct plant_time latency, const struct account *a)
{
	double cpu = a->cpu_ns * plant_ticks_per_ns,
	       charged = (double)a->interruptions * CHARGED_NS * plant_ticks_per_ns;
	double least = (double)latency.low - cpu, most = (double)latency.high - cpu + charged;
	double delay =
		a->apart ? 0 : a->delay_ns * plant_ticks_per_ns; /* of what is apart, unknown how much is the call's */

	if (delay >= 0 && delay < least)
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
		struct account account;

		r.parse_steps = plant_uniform(&o.random, 1000, 3000);
		r.match_steps = plant_uniform(&o.random, 1400000, 1600000);
		handle_with_account(&r, &account);
		r.took[REQUEST].low = r.took[PARSE_REQUEST].high + r.took[MATCH_RULES].high;
		r.took[PREEMPTED] = preempted(r.took[REQUEST], &account);
		truth.cpu_ns += account.cpu_ns;
		truth_add(&truth, r.took);
	}
	rival_stop();
	return truth_write(&truth, &answer);
}
