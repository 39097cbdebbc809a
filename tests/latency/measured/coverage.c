/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coverage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 4096
#define LONG_NS 100000

struct context {
	uint64_t n, n_seen, total_ns, slowest_ns;
};

struct part {
	uint64_t n, n_seen;
};

static int by_begin(const void *a, const void *b)
{
	const struct measured_call *x = *(struct measured_call *const *)a, *y = *(struct measured_call *const *)b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	return x->t1 != y->t1 ? (x->t1 > y->t1 ? -1 : 1) : 0;
}

static uint64_t length(const struct measured_call *c)
{
	return c->t1 - c->t0;
}

static int slower(const void *a, const void *b)
{
	const struct measured_call *x = *(struct measured_call *const *)a, *y = *(struct measured_call *const *)b;

	if (length(x) != length(y))
		return length(x) > length(y) ? -1 : 1;
	return by_begin(a, b);
}

static int by_context(const void *a, const void *b)
{
	const struct measured_call *x = *(struct measured_call *const *)a, *y = *(struct measured_call *const *)b;

	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return slower(a, b);
}

static int slower_mean(const void *a, const void *b)
{
	const struct context *x = a, *y = b;
	double d = (double)x->total_ns / (double)x->n, e = (double)y->total_ns / (double)y->n;

	return d != e ? (d > e ? -1 : 1) : 0;
}

static int slower_call(const void *a, const void *b)
{
	const struct context *x = a, *y = b;

	return x->slowest_ns != y->slowest_ns ? (x->slowest_ns > y->slowest_ns ? -1 : 1) : 0;
}

static struct measured_call **make_order(const struct measured_run *run)
{
	struct measured_call **order = malloc((run->calls.n + 1) * sizeof *order);

	for (size_t i = 0; i < run->calls.n; i++)
		order[i] = &run->calls.v[i];
	return order;
}

/* Does it lie in time of which everything was recorded? */
static int lies_in_window(const struct measured_run *run, const struct measured_call *c)
{
	const struct vprof_latency_history *h = &run->input.history;
	size_t low = 0, high = h->windows.n;

	if (!high)
		return 1;
	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (h->windows.v[middle].begin <= c->t0)
			low = middle;
		else
			high = middle;
	}
	return h->windows.v[low].begin <= c->t0 && c->t1 <= h->windows.v[low].end;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

void coverage_find_contexts(struct measured_run *run, const unsigned char *has_frame, uint32_t n_codes)
{
	struct measured_call **order = make_order(run), *stack[DEPTH_MAX];
	size_t depth = 0;

	qsort(order, run->calls.n, sizeof *order, by_begin);
	for (size_t i = 0; i < run->calls.n; i++) {
		struct measured_call *c = order[i];

		c->is_recorded = (uint32_t)lies_in_window(run, c);
		while (depth && (stack[depth - 1]->tid != c->tid || stack[depth - 1]->t1 <= c->t0))
			depth--;
		c->context = depth ? stack[depth - 1]->context : 1;
		c->depth = 0;
		for (size_t k = 0; k < depth; k++)
			c->depth += stack[k]->code == c->code;
		if (c->code < n_codes && has_frame[c->code])
			c->context = mix(c->context, c->code);
		if (depth < DEPTH_MAX)
			stack[depth++] = c;
	}
	free(order);
}

static double percent(uint64_t n, uint64_t of)
{
	return of ? 100 * (double)n / (double)of : NAN;
}

static size_t slowest(size_t n, unsigned divisor)
{
	return (n + divisor - 1) / divisor;
}

static struct part seen_contexts(const struct context *v, size_t n)
{
	struct part p = { .n = n };

	for (size_t i = 0; i < n; i++)
		p.n_seen += v[i].n_seen > 0;
	return p;
}

static struct part seen_calls(struct measured_call **v, size_t n)
{
	struct part p = { .n = n };

	for (size_t i = 0; i < n; i++)
		p.n_seen += v[i]->is_seen != 0;
	return p;
}

static void print_parts(const char *what, struct part all, struct part slow, struct part slower_still)
{
	printf("%-38s %9" PRIu64 " %7.2f %7.2f (of %" PRIu64 ") %7.2f (of %" PRIu64 ")\n", what, all.n,
	       percent(all.n_seen, all.n), percent(slow.n_seen, slow.n), slow.n,
	       percent(slower_still.n_seen, slower_still.n), slower_still.n);
}

static void print_lengths(struct measured_call **v, size_t n)
{
	static const uint64_t limits[] = { 10000, 30000, 100000, 300000, 1000000, 3000000, 10000000, UINT64_MAX };
	size_t at = n;

	printf("calls by length:");
	for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
		size_t from = at;
		struct part p;

		while (at && length(v[at - 1]) < limits[k])
			at--;
		p = seen_calls(v + at, from - at);
		if (limits[k] != UINT64_MAX)
			printf(" <%" PRIu64 "us", limits[k] / 1000);
		else
			printf(" longer");
		printf(" %.1f%% of %" PRIu64 ";", percent(p.n_seen, p.n), p.n);
	}
	printf("\n");
}

static void count(struct part *p, const struct measured_call *c)
{
	p->n++;
	p->n_seen += c->is_seen != 0;
}

struct slow_parts {
	struct part all, slow, slower; /* of those with 100 (1,000) calls or more, the slowest 1 % (0.1 %) */
	struct part all_long, slow_long, slower_long; /* ... of LONG_NS or more */
};

/* v: of one context, slowest first. Adds it. */
static void add_context(struct measured_call **v, size_t n, struct context *c, struct slow_parts *parts)
{
	*c = (struct context){ .n = n, .slowest_ns = length(v[0]) };
	for (size_t i = 0; i < n; i++) {
		int is_slow = n >= 100 && i < slowest(n, 100), is_slower = n >= 1000 && i < slowest(n, 1000);
		int is_long = length(v[i]) >= LONG_NS;

		c->n_seen += v[i]->is_seen != 0;
		c->total_ns += length(v[i]);
		count(&parts->all, v[i]);
		if (is_slow)
			count(&parts->slow, v[i]);
		if (is_slower)
			count(&parts->slower, v[i]);
		if (is_long)
			count(&parts->all_long, v[i]);
		if (is_long && is_slow)
			count(&parts->slow_long, v[i]);
		if (is_long && is_slower)
			count(&parts->slower_long, v[i]);
	}
}

static void print_contexts(struct measured_call **v, size_t n)
{
	struct context *contexts = malloc((n + 1) * sizeof *contexts);
	struct slow_parts parts = { 0 };
	size_t n_contexts = 0;

	qsort(v, n, sizeof *v, by_context);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && v[end]->context == v[i]->context;)
			end++;
		add_context(v + i, end - i, &contexts[n_contexts++], &parts);
	}
	qsort(contexts, n_contexts, sizeof *contexts, slower_mean);
	print_parts("contexts, by their mean", seen_contexts(contexts, n_contexts),
		    seen_contexts(contexts, slowest(n_contexts, 100)),
		    seen_contexts(contexts, slowest(n_contexts, 1000)));
	qsort(contexts, n_contexts, sizeof *contexts, slower_call);
	print_parts("contexts, by their slowest call", seen_contexts(contexts, n_contexts),
		    seen_contexts(contexts, slowest(n_contexts, 100)),
		    seen_contexts(contexts, slowest(n_contexts, 1000)));
	print_parts("calls in contexts, each one's slowest", parts.all, parts.slow, parts.slower);
	print_parts("... that took 100 us or more", parts.all_long, parts.slow_long, parts.slower_long);
	free(contexts);
}

void coverage_print(const struct measured_run *run, const unsigned char *has_frame)
{
	struct measured_call **order = make_order(run);
	size_t n = 0, n_elsewhere = 0;

	for (size_t i = 0; i < run->calls.n; i++) {
		if (!has_frame[order[i]->code])
			continue;
		if (order[i]->is_recorded)
			order[n++] = order[i];
		else
			n_elsewhere++;
	}
	printf("\n%-38s %9s %7s %7s %19s\n", "seen, %", "number", "all", "1 %", "0.1 %");
	qsort(order, n, sizeof *order, slower);
	print_parts("calls, of all functions", seen_calls(order, n), seen_calls(order, slowest(n, 100)),
		    seen_calls(order, slowest(n, 1000)));
	print_lengths(order, n);
	print_contexts(order, n);
	if (n_elsewhere)
		printf("%zu calls do not lie in a window as a whole\n", n_elsewhere);
	free(order);
}
