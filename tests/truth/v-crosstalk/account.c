/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waited for whom, between two bounds. A lock passes from one holder to the next between the end of the one's work
 * and its reading after the release, and the time until the next release is the next holder's, also before it had the
 * lock (docs/design/critical-path.md, "Holders"). As long as it is not sure that the next holder worked for its request
 * already, the time may be any type's. A waiter from which the kernel took the CPU between its reading and the begin of
 * its wait waited for less. That is 200 ns of an acquire; where a thread is preempted once in a millisecond, 0.2 of a
 * run's 1,000 acquires are hit, and more than HIT_MAX of them in less than 1 of 10,000 runs. So of the waits of a pair
 * in which the kernel took the CPU at all, the HIT_MAX longest are not sure. */
#include <stdio.h>
#include <stdlib.h>

#include "store.h"

static const char *const types[] = { "search", "confirm", "home", "keeper_main" };
static const char *const locks[] = { "item_lock", "order_lock" };

#define HIT_MAX 4

struct bounds {
	double low, high, hit[HIT_MAX]; /* hit: the longest, by falling length */
	size_t n_waits;
};

static struct bounds pairs[N_TYPES][N_TYPES][N_LOCKS];

static int section_order(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	return x->held.before < y->held.before ? -1 : x->held.before > y->held.before;
}

/* All sections of a lock, by time. */
static struct sections merge(const struct worker *workers, const struct keeper *keeper, enum lock lock)
{
	struct sections all;
	size_t n = lock == ORDERS ? keeper->sections.n : 0;

	for (int i = 0; i < N_WORKERS; i++)
		n += workers[i].sections[lock].n;
	sections_make(&all, n + 1);
	for (int i = 0; i < N_WORKERS; i++)
		for (size_t k = 0; k < workers[i].sections[lock].n; k++)
			all.v[all.n++] = workers[i].sections[lock].v[k];
	for (size_t k = 0; lock == ORDERS && k < keeper->sections.n; k++)
		all.v[all.n++] = keeper->sections.v[k];
	qsort(all.v, all.n, sizeof *all.v, section_order);
	return all;
}

static uint64_t between(uint64_t from, uint64_t to, const struct acquire *a)
{
	from = from > a->from ? from : a->from;
	to = to < a->to ? to : a->to;
	return from < to ? to - from : 0;
}

static void add_hit(struct bounds *b, double ticks)
{
	for (int i = 0; i < HIT_MAX; i++)
		if (ticks > b->hit[i]) {
			double other = b->hit[i];

			b->hit[i] = ticks;
			ticks = other;
		}
}

static void add_wait(enum type type, enum lock lock, const struct acquire *a, const struct sections *all)
{
	uint64_t done = a->from; /* the holder before, at the earliest */
	size_t i = 0;

	while (i < all->n && all->v[i].held.after <= a->from)
		i++;
	for (; i < all->n && all->v[i].held.before < a->to; i++) {
		const struct section *s = &all->v[i];
		uint64_t since = s->since > s->held.before ? s->since : s->held.before;

		struct bounds *b = &pairs[type][s->type][lock];

		b->low += (double)between(since, s->held.to, a);
		b->high += (double)between(done, s->held.after, a);
		b->n_waits++;
		if (a->interruptions)
			add_hit(b, (double)between(since, s->held.to, a));
		for (int other = 0; other < N_TYPES; other++)
			if (other != (int)s->type)
				pairs[type][other][lock].high += (double)between(done, s->since, a);
		done = s->held.to > done ? s->held.to : done;
	}
}

static void write_pairs(FILE *f)
{
	const char *separator = "";

	for (int waiter = 0; waiter < KEEPER; waiter++)
		for (int holder = 0; holder < N_TYPES; holder++)
			for (int lock = 0; lock < N_LOCKS; lock++) {
				const struct bounds *b = &pairs[waiter][holder][lock];
				double low = b->low;

				for (int i = 0; i < HIT_MAX; i++)
					low -= b->hit[i];
				fprintf(f,
					"%s{\"waiter\": \"%s\", \"holder\": \"%s\", \"lock\": \"%s\", \"low_ns\": %.0f, "
					"\"high_ns\": %.0f, \"n_waits\": %zu}",
					separator, types[waiter], types[holder], locks[lock], low / plant_ticks_per_ns,
					b->high / plant_ticks_per_ns, b->n_waits);
				separator = ",\n  ";
			}
}

int account_write(const struct worker *workers, const struct keeper *keeper)
{
	const char *out = getenv("TRUTH_OUT");
	size_t n[N_TYPES] = { 0 };
	double total[N_TYPES] = { 0 };
	FILE *f = fopen(out && *out ? out : "truth.json", "w");

	if (!f) {
		perror("truth.json");
		return 1;
	}
	for (int lock = 0; lock < N_LOCKS; lock++) {
		struct sections all = merge(workers, keeper, lock);

		for (int i = 0; i < N_WORKERS; i++)
			for (size_t k = 0; k < workers[i].n; k++)
				if (workers[i].requests[k].acquires[lock].to)
					add_wait(workers[i].requests[k].type, lock,
						 &workers[i].requests[k].acquires[lock], &all);
		free(all.v);
	}
	for (int i = 0; i < N_WORKERS; i++)
		for (size_t k = 0; k < workers[i].n; k++) {
			n[workers[i].requests[k].type]++;
			total[workers[i].requests[k].type] +=
				(double)(workers[i].requests[k].to - workers[i].requests[k].from) / plant_ticks_per_ns;
		}
	fputs("{\"types\": [", f);
	for (int i = 0; i < KEEPER; i++)
		fprintf(f, "%s{\"name\": \"%s\", \"n\": %zu, \"total_ns\": %.0f}", i ? ", " : "", types[i], n[i],
			total[i]);
	fputs("],\n \"pairs\": [", f);
	write_pairs(f);
	fputs("]}\n", f);
	return fclose(f) ? 1 : 0;
}
