/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each stage took of the requests of a context, between two bounds: from the first reading inside of the handler
 * to the one before the enqueue, and from the one before the handler to the one after the enqueue. What is left of the
 * latency was queued. A hit waits at the store's lock for the disk alone. A waiter from which the kernel took the CPU
 * between its reading and the begin of its wait waited for less; more than HIT_MAX of 1,000 acquires are hit so in less
 * than 1 of 10,000 runs (v-crosstalk/account.c), so of the waits in which that may be, the HIT_MAX longest are not
 * sure. */
#include <stdio.h>
#include <stdlib.h>

#include "stages.h"

#define HIT_MAX 4

struct bounds {
	double low, high;
};

struct context {
	size_t n, n_waits;
	struct bounds latency, portions[N_STAGES], waits;
	double hit[HIT_MAX]; /* the longest, by falling length */
};

static double ns(uint64_t to, uint64_t from)
{
	return to > from ? (double)(to - from) / plant_ticks_per_ns : 0;
}

static void add_wait(struct context *c, const struct acquire *a)
{
	struct plant_time held = plant_log_overlap(&disk_log, a->from, a->to);
	double low = (double)held.low / plant_ticks_per_ns;

	c->n_waits += held.high > 0;
	c->waits.low += low;
	c->waits.high += (double)held.high / plant_ticks_per_ns;
	for (int i = 0; i < HIT_MAX && a->interruptions; i++)
		if (low > c->hit[i]) {
			double other = c->hit[i];

			c->hit[i] = low;
			low = other;
		}
}

static void add_request(struct context *c, const struct request *r)
{
	c->n++;
	c->latency.low += ns(r->portions[SEND].to, r->portions[SUBMIT].from);
	c->latency.high += ns(r->portions[SEND].after, r->portions[SUBMIT].before);
	for (int i = 0; i < N_STAGES; i++) {
		const struct portion *p = &r->portions[i];

		if (!p->before)
			continue;
		c->portions[i].low += ns(p->to, p->from);
		c->portions[i].high += ns(p->after, p->before);
	}
	if (!r->is_miss)
		add_wait(c, &r->sending);
}

static void write_context(FILE *f, const char *name, const struct context *c)
{
	static const char *const names[] = { "submit_request", "handle_parse", "handle_cache", "handle_disk",
					     "handle_send" };
	const char *separator = "";
	double low = c->waits.low;

	fprintf(f, "\"%s\": {\"n\": %zu, \"low_ns\": %.0f, \"high_ns\": %.0f, \"stages\": {", name, c->n,
		c->latency.low, c->latency.high);
	for (int i = 0; i < N_STAGES; i++) {
		if (!(c->portions[i].high > 0))
			continue;
		fprintf(f, "%s\"%s\": [%.0f, %.0f]", separator, names[i], c->portions[i].low, c->portions[i].high);
		separator = ", ";
	}
	for (int i = 0; i < HIT_MAX; i++)
		low -= c->hit[i];
	fprintf(f, "}, \"n_waits\": %zu, \"waits\": [%.0f, %.0f]}", c->n_waits, low, c->waits.high);
}

int account_write(const struct request *requests, size_t n)
{
	const char *out = getenv("TRUTH_OUT");
	FILE *f = fopen(out && *out ? out : "truth.json", "w");
	struct context hit = { 0 }, miss = { 0 };

	if (!f) {
		perror("truth.json");
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		add_request(requests[i].is_miss ? &miss : &hit, &requests[i]);
	fputs("{", f);
	write_context(f, "hit", &hit);
	fputs(",\n ", f);
	write_context(f, "miss", &miss);
	fputs("}\n", f);
	return fclose(f) ? 1 : 0;
}
