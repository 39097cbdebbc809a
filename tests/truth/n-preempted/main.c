/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

#include <stdio.h>
#include <stdlib.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, 0 },
	[PARSE_REQUEST] = { "parse_request", REQUEST, 0 },
	[MATCH_RULES] = { "match_rules", REQUEST, TRUTH_PLANTED },
	[PREEMPTED_PARSE] = { "preempted", PARSE_REQUEST, TRUTH_PLANTED | TRUTH_PREEMPTED },
	[PREEMPTED_MATCH] = { "preempted", MATCH_RULES, TRUTH_PLANTED | TRUTH_PREEMPTED },
};

/* What the kernel and the clock say of a call, without the readings themselves. */
struct account {
	double cpu_ns, delay_ns;   /* delay_ns: that of the readings included; below 0: not known, or not needed */
	long interruptions, apart; /* during the call; during the readings around it */
};

/* The CPU time is read outermost: the kernel looks then whether this thread has used up its slice, and may preempt it.
 */
static void handle_with_account(struct request *r, struct account *a)
{
	double cpu_ns = plant_cpu_ns(), delay_ns;
	long outer = PLANT_INTERRUPTIONS(), inner;

	delay_ns = plant_is_cpu_exact() ? -1 : plant_delay_ns();
	inner = PLANT_INTERRUPTIONS();
	r->from = PLANT_NOW();
	PLANT_CALL(r->took[REQUEST], handle_request(r));
	r->to = PLANT_NOW();
	a->interruptions = PLANT_INTERRUPTIONS() - inner;
	a->delay_ns = delay_ns < 0 ? -1 : plant_delay_ns() - delay_ns;
	a->apart = PLANT_INTERRUPTIONS() - outer - a->interruptions;
	a->cpu_ns = plant_cpu_ns() - cpu_ns;
}

/* The gaps between readings in a function: of its loop, and of the pairs around that, between which it may just as well
 * be preempted. */
static uint64_t gaps_of(const struct plant_time *took, uint64_t of_loop)
{
	uint64_t around = took->high - took->low;

	return of_loop + (around > plant_away_ticks ? around : 0);
}

/* The time of a request in which others had the processor: at least its latency less its CPU time, as perf counts that
 * within the switches; at most the gaps between readings of the clock, to which the interrupt that led to a switch, the
 * switch and a hypervisor belong. Where the CPU time is the scheduler's account, it may be less by what that says of
 * how long the thread waited for a processor. */
static struct plant_time preempted(const struct request *r, const struct account *a)
{
	struct plant_time latency = r->took[REQUEST];
	double cpu = a->cpu_ns * plant_ticks_per_ns, least = (double)latency.low - cpu,
	       most = (double)latency.high - cpu;
	double delay =
		a->apart ? 0 : a->delay_ns * plant_ticks_per_ns; /* of what is apart, unknown how much is the call's */

	if (delay >= 0 && delay < least)
		least = delay;
	if (delay > most)
		most = delay;
	if (a->interruptions && (double)(r->parse_gaps + r->match_gaps) > most)
		most = (double)(r->parse_gaps + r->match_gaps);
	return (struct plant_time){ least > 0 ? (uint64_t)least : 0, most > 0 ? (uint64_t)most : 0, 0 };
}

/* Of that the part of a function: no more than its own gaps, no less than what the other's gaps leave. */
static struct plant_time part_of(struct plant_time all, uint64_t own_gaps, uint64_t other_gaps)
{
	struct plant_time part = { all.low > other_gaps ? all.low - other_gaps : 0, all.high, 0 };

	if (own_gaps < part.high)
		part.high = own_gaps > part.low ? own_gaps : part.low;
	return part;
}

static void add_request(struct truth *t, struct request *r, const struct account *account,
			const struct plant_log *rival)
{
	struct plant_time all;
	uint64_t planted = plant_log_overlap(rival, r->from, r->to).low, gaps;

	r->took[REQUEST].low = r->took[PARSE_REQUEST].high + r->took[MATCH_RULES].high;
	r->parse_gaps = gaps_of(&r->took[PARSE_REQUEST], r->parse_gaps);
	r->match_gaps = gaps_of(&r->took[MATCH_RULES], r->match_gaps);
	all = preempted(r, account);
	r->took[PREEMPTED_PARSE] = part_of(all, r->parse_gaps, r->match_gaps);
	r->took[PREEMPTED_MATCH] = part_of(all, r->match_gaps, r->parse_gaps);
	gaps = r->parse_gaps + r->match_gaps;
	r->took[REQUEST].away = gaps > planted ? gaps - planted : 0; /* others than the rival, whom nobody planted */
	t->cpu_ns += account->cpu_ns;
	truth_add(t, r->took);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 300);
	struct truth_answer answer = { .interval = "request", .has_preempted = 1 };
	struct request *requests = calloc(o.n, sizeof *requests);
	struct account *accounts = calloc(o.n, sizeof *accounts);
	const struct plant_log *rival;
	struct truth truth;

	if (!requests || !accounts) {
		perror("matcher");
		return 1;
	}
	truth_open(&truth, N_FACTORS, columns, o.n);
	rival = rival_start(o.random);
	for (size_t i = 0; i < o.n; i++) {
		struct request *r = &requests[i];

		r->id = i + 1;
		r->parse_ns = plant_uniform(&o.random, 1000, 3000);
		r->match_ns = plant_uniform(&o.random, 1400000, 1600000);
		handle_with_account(r, &accounts[i]);
	}
	rival_stop();
	for (size_t i = 0; i < o.n; i++)
		add_request(&truth, &requests[i], &accounts[i], rival);
	free(requests);
	free(accounts);
	return truth_write(&truth, &answer);
}
