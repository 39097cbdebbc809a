/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_interval RUN FUNCTION [TOP]: calls of FUNCTION as intervals, inferred from stacks, against those that probes
 * measured in the same run (a folder of .vprof/runs, recorded with vprof run --stacks --every-call). First the calls:
 * how many were measured, and which of them were inferred, by number, time and among the slowest 1 %; an inferred one
 * may be several. Then, of those that are one each, mean and standard deviation, measured and between the inferred
 * bounds, and a line for each measured function in them, those with most of the variance first:
 *
 *   share        its variance / that of the calls, measured; low, high: the bounds
 *   mean         ns in a call, likewise
 *   held         m: the mean lies between its bounds; s: the share does
 *
 * A function with several contexts in a call has bounds of its mean only. One that is in no stack was inlined, or so
 * short that it was never seen: it is told with what it has. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/latency/call_sums.h"
#include "analysis/latency/inferred_calls.h"
#include "measured_run.h"

struct truth {
	const char *name;
	double mean_ns, var_ns2;
};

static struct measured_run run;
/* by thread and begin; is_seen: 1 it was inferred, 2 with others in one */
static VPROF_ARRAY(struct measured_call) intervals;
static double *times;		   /* [intervals] of one function */
static size_t n_single, n_several; /* inferred calls: of one measured call each; of several */

static const char *name_of(uint32_t code)
{
	const struct vprof_probe *p = vprof_plan_probe(run.plan, code);

	return p ? p->name : "?";
}

/* The outermost ones. */
static void find_intervals(const char *name)
{
	uint64_t until = 0;
	uint32_t tid = 0;

	for (size_t i = 0; i < run.calls.n; i++) {
		const struct measured_call *c = &run.calls.v[i];

		if (strcmp(name_of(c->code), name) != 0 || (c->tid == tid && c->t0 < until))
			continue;
		*VPROF_PUSH(&intervals) = *c;
		tid = c->tid;
		until = c->t1;
	}
}

/* The interval that is under way in the thread at a time, within the clocks' error; VPROF_NONE: none is. */
static size_t interval_at(uint32_t tid, uint64_t t)
{
	size_t low = 0, high = intervals.n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct measured_call *i = &intervals.v[mid];

		if (i->tid < tid || (i->tid == tid && i->t0 <= t))
			low = mid + 1;
		else
			high = mid;
	}
	if (low && intervals.v[low - 1].tid == tid && t <= intervals.v[low - 1].t1 + run.error_ns)
		return low - 1;
	return low < intervals.n && intervals.v[low].tid == tid && intervals.v[low].t0 <= t + run.error_ns ? low :
													     VPROF_NONE;
}

/* The interval of the thread that holds a call; VPROF_NONE: none does. */
static size_t interval_of(const struct measured_call *c)
{
	size_t low = 0, high = intervals.n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct measured_call *i = &intervals.v[mid];

		if (i->tid < c->tid || (i->tid == c->tid && i->t0 <= c->t0))
			low = mid + 1;
		else
			high = mid;
	}
	return low && intervals.v[low - 1].tid == c->tid && c->t1 <= intervals.v[low - 1].t1 ? low - 1 : VPROF_NONE;
}

static struct truth sum_up(const char *name)
{
	struct truth t = { .name = name };

	for (size_t i = 0; i < intervals.n; i++)
		t.mean_ns += intervals.v[i].is_seen == 1 ? times[i] / (double)n_single : 0;
	for (size_t i = 0; i < intervals.n; i++)
		t.var_ns2 += intervals.v[i].is_seen == 1 ?
				     (times[i] - t.mean_ns) * (times[i] - t.mean_ns) / (double)(n_single - 1) :
				     0;
	return t;
}

/* Which of the measured ones the inferred calls are; those that are several each, or none, are taken out of them. */
static void match(struct vprof_latency_history *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->threads.n; i++) {
		const struct vprof_latency_thread *t = &h->threads.v[i];
		const struct vprof_latency_event *e = &h->events.v[t->first_event];
		size_t first = t->n_events ? interval_at(t->tid, e[0].t) : VPROF_NONE;
		size_t last = t->n_events ? interval_at(t->tid, e[t->n_events - 1].t) : VPROF_NONE;
		int is_known = first != VPROF_NONE && last != VPROF_NONE;
		int is_one = is_known && first == last && !t->begin_is_cut && !t->end_is_cut &&
			     !intervals.v[first].is_seen;

		n_several += is_known && first != last;
		for (size_t k = first; is_known && k <= last; k++)
			intervals.v[k].is_seen = is_one ? 1 : 2;
		if (is_one)
			h->threads.v[n++] = *t;
	}
	h->threads.n = n_single = n;
}

static int slower(const void *a, const void *b)
{
	const struct measured_call *c = a, *d = b;
	uint64_t x = c->t1 - c->t0, y = d->t1 - d->t0;

	return x != y ? (x > y ? -1 : 1) : 0;
}

static void print_seen(const char *name, const struct vprof_inferred_calls *calls)
{
	struct measured_call *order = malloc((intervals.n + 1) * sizeof *order);
	size_t n = 0, n_slow = (intervals.n + 99) / 100, n_slow_seen = 0;
	double all = 0, seen = 0;

	memcpy(order, intervals.v, intervals.n * sizeof *order);
	qsort(order, intervals.n, sizeof *order, slower);
	for (size_t i = 0; i < intervals.n; i++) {
		double ns = (double)(order[i].t1 - order[i].t0);

		all += ns;
		seen += order[i].is_seen ? ns : 0;
		n += order[i].is_seen != 0;
		n_slow_seen += i < n_slow && order[i].is_seen;
	}
	printf("%s: %zu calls measured, %" PRIu64 " inferred (%" PRIu64
	       " left out as perhaps several, %zu are several)\n",
	       name, intervals.n, calls->n_calls, calls->n_unsure, n_several);
	printf("within inferred ones: %.1f %% of the calls, %.1f %% of their time, %.1f %% of the slowest 1 %%\n",
	       100 * (double)n / (double)intervals.n, 100 * seen / all, 100 * (double)n_slow_seen / (double)n_slow);
	free(order);
}

/* Calls first .. end are of one function: of those within one another the outermost count. */
static struct truth account(size_t first, size_t end)
{
	uint64_t until = 0;
	uint32_t tid = 0;

	memset(times, 0, intervals.n * sizeof *times);
	for (size_t i = first; i < end; i++) {
		const struct measured_call *c = &run.calls.v[i];
		size_t at = interval_of(c);

		if (at == VPROF_NONE || (c->tid == tid && c->t0 < until))
			continue;
		times[at] += (double)(c->t1 - c->t0);
		tid = c->tid;
		until = c->t1;
	}
	return sum_up(name_of(run.calls.v[first].code));
}

static int by_variance(const void *a, const void *b)
{
	const struct truth *x = a, *y = b;

	return x->var_ns2 != y->var_ns2 ? (x->var_ns2 > y->var_ns2 ? -1 : 1) : strcmp(x->name, y->name);
}

/* The contexts of a function that lie in none of its own; their number. *only: the last one. */
static size_t contexts_of(const struct vprof_call_sums *s, const char *name, double *low, double *high, uint32_t *only)
{
	size_t n = 0;

	*low = *high = 0;
	for (uint32_t x = 2; x < s->tree.nodes.n; x++) {
		uint32_t up = s->tree.nodes.v[x].parent;

		if (strcmp(s->history->functions.v[s->tree.nodes.v[x].function].name, name) != 0)
			continue;
		while (up > 1 && strcmp(s->history->functions.v[s->tree.nodes.v[up].function].name, name) != 0)
			up = s->tree.nodes.v[up].parent;
		if (up > 1)
			continue;
		*low += s->contexts[x].low_ns;
		*high += s->contexts[x].high_ns;
		*only = x;
		n++;
	}
	return n;
}

static void print_function(const struct truth *t, double var_ns2, const struct vprof_call_sums *s, size_t held[4])
{
	double low, high, share = t->var_ns2 / var_ns2, error = (double)run.error_ns;
	uint32_t only = 0;
	size_t n = contexts_of(s, t->name, &low, &high, &only);
	const struct vprof_call_context *c = &s->contexts[only];
	int mean, shares;

	if (!n) {
		printf("%-28.28s %7.3f  in no stack   %12.0f\n", t->name, share, t->mean_ns);
		return;
	}
	mean = low <= t->mean_ns + error && t->mean_ns <= high + error;
	held[0] += (size_t)mean;
	held[1]++;
	if (n > 1) {
		printf("%-28.28s %7.3f  %zu contexts  %12.0f %12.0f .. %-12.0f %s\n", t->name, share, n, t->mean_ns,
		       low, high, mean ? "m" : "-");
		return;
	}
	shares = c->share_low <= share + 0.005 && share <= c->share_high + 0.005;
	held[2] += (size_t)shares;
	held[3]++;
	printf("%-28.28s %7.3f %5.3f .. %-6.3f %12.0f %12.0f .. %-12.0f %s%s\n", t->name, share, c->share_low,
	       c->share_high, t->mean_ns, low, high, mean ? "m" : "-", shares ? "s" : "-");
}

static void compare(const char *name, const struct vprof_call_sums *s, size_t top)
{
	VPROF_ARRAY(struct truth) truths = { NULL, 0, 0 };
	size_t held[4] = { 0 };
	struct truth all;

	for (size_t i = 0; i < intervals.n; i++)
		times[i] = (double)(intervals.v[i].t1 - intervals.v[i].t0);
	all = sum_up(name);
	printf("of %" PRIu64
	       " that are one call each: mean %.0f ns, inferred %.0f .. %.0f; sd %.0f, inferred %.0f .. %.0f\n",
	       s->n_calls, all.mean_ns, s->contexts[1].low_ns, s->contexts[1].high_ns, sqrt(all.var_ns2),
	       s->contexts[1].sd_low_ns, s->contexts[1].sd_high_ns);
	for (size_t i = 0, end; i < run.calls.n; i = end) {
		for (end = i; end < run.calls.n && run.calls.v[end].code == run.calls.v[i].code;)
			end++;
		if (strcmp(name_of(run.calls.v[i].code), name) != 0)
			*VPROF_PUSH(&truths) = account(i, end);
	}
	qsort(truths.v, truths.n, sizeof *truths.v, by_variance);
	printf("%-28s %7s %-15s %12s %-28s %s\n", "function", "share", "low .. high", "mean", "low .. high", "held");
	for (size_t i = 0; i < truths.n && i < top; i++)
		if (truths.v[i].mean_ns > 0)
			print_function(&truths.v[i], all.var_ns2, s, held);
	printf("held: %zu of %zu means, %zu of %zu shares\n", held[0], held[1], held[2], held[3]);
}

int main(int argc, char **argv)
{
	struct vprof_inferred_calls calls;
	struct vprof_call_sums sums = { .n_calls = 0 };
	struct vprof_error err = { "" };

	if (argc < 3)
		return 2;
	measured_run_read(&run, argv[1]);
	find_intervals(argv[2]);
	times = calloc(intervals.n + 1, sizeof *times);
	if (vprof_inferred_calls_gather(&calls, &run.tree, argv[2], NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	if (intervals.n < 2) {
		printf("%s: %zu calls were measured\n", argv[2], intervals.n);
		return 0;
	}
	match(&calls.history);
	print_seen(argv[2], &calls);
	if (n_single > 1 && vprof_call_sums_build(&sums, &calls.history, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	if (n_single > 1)
		compare(argv[2], &sums, argc > 3 ? (size_t)atol(argv[3]) : 20);
	return 0;
}
