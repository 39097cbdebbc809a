/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stats/live_effect.h"

#include <math.h>
#include <stdlib.h>

#define N_REPLICATES 1000
#define SEED UINT64_C(0x2545f4914f6cdd1d)
#define P99_MIN 100
#define N_FIGURES 3

struct turn {
	size_t turn;
	int is_baseline;
	double n, sum, squares; /* of what is above `centre` */
	uint32_t times;		/* drawn in this replicate */
};

struct sample { /* of the replicate's latencies, descending */
	double ns;
	uint32_t turn; /* index */
};

struct effect {
	struct turn *turns; /* those of plans first */
	size_t n_turns, n_plans;
	struct sample *samples;
	size_t n;
	double centre;
};

static int latency_order(const void *a, const void *b)
{
	const struct vprof_turn_latency *x = a, *y = b;

	if (x->is_baseline != y->is_baseline)
		return x->is_baseline - y->is_baseline;
	return x->turn < y->turn ? -1 : x->turn > y->turn;
}

static int sample_order(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

/* v: by kind, then turn. */
static void gather(struct effect *e, const struct vprof_turn_latency *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		e->centre += (v[i].ns - e->centre) / (double)(i + 1);
	for (size_t i = 0; i < n; i++) {
		struct turn *t;

		if (!i || latency_order(&v[i - 1], &v[i])) {
			e->turns[e->n_turns++] = (struct turn){ .turn = v[i].turn, .is_baseline = v[i].is_baseline };
			e->n_plans += !v[i].is_baseline;
		}
		t = &e->turns[e->n_turns - 1];
		t->n++;
		t->sum += v[i].ns - e->centre;
		t->squares += (v[i].ns - e->centre) * (v[i].ns - e->centre);
		e->samples[e->n++] = (struct sample){ v[i].ns, (uint32_t)(e->n_turns - 1) };
	}
	qsort(e->samples, e->n, sizeof *e->samples, sample_order);
}

static double p99_of(const struct effect *e, size_t from, size_t to, double n)
{
	double above = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct sample *s = &e->samples[i];

		if (s->turn < from || s->turn >= to)
			continue;
		above += e->turns[s->turn].times;
		if (above > 0.01 * n)
			return s->ns;
	}
	return NAN;
}

/* Mean, variance, p99 of the turns [from, to), each as often as it was drawn. */
static void figures_of(const struct effect *e, size_t from, size_t to, double figures[N_FIGURES])
{
	double n = 0, sum = 0, squares = 0;

	for (size_t i = from; i < to; i++) {
		n += e->turns[i].times * e->turns[i].n;
		sum += e->turns[i].times * e->turns[i].sum;
		squares += e->turns[i].times * e->turns[i].squares;
	}
	figures[0] = n > 0 ? e->centre + sum / n : NAN;
	figures[1] = n > 1 ? (squares - sum * sum / n) / (n - 1) : NAN;
	figures[2] = n >= P99_MIN ? p99_of(e, from, to, n) : NAN;
}

static void changes_of(const struct effect *e, double changes[N_FIGURES])
{
	double with[N_FIGURES], without[N_FIGURES];

	figures_of(e, 0, e->n_plans, with);
	figures_of(e, e->n_plans, e->n_turns, without);
	for (int i = 0; i < N_FIGURES; i++)
		changes[i] = without[i] > 0 ? with[i] / without[i] - 1 : NAN;
}

static void draw(struct effect *e, size_t from, size_t to, uint64_t *random)
{
	for (size_t i = from; i < to; i++)
		e->turns[i].times = 0;
	for (size_t i = from; i < to; i++) {
		*random ^= *random << 13;
		*random ^= *random >> 7;
		*random ^= *random << 17;
		e->turns[from + (size_t)((*random >> 11) % (to - from))].times++;
	}
}

static int number_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* 95 % of the replicates that have the figure, if nearly all do. */
static void bound(double *replicates, struct vprof_live_change *change)
{
	size_t n = 0;

	for (size_t i = 0; i < N_REPLICATES; i++)
		if (isfinite(replicates[i]))
			replicates[n++] = replicates[i];
	if (n < N_REPLICATES * 9 / 10)
		return;
	qsort(replicates, n, sizeof *replicates, number_order);
	change->low = replicates[n / 40];
	change->high = replicates[n - 1 - n / 40];
}

static int estimate(struct effect *e, struct vprof_live_effect *out)
{
	struct vprof_live_change *const changes[N_FIGURES] = { &out->mean, &out->variance, &out->p99 };
	double *replicates = calloc((size_t)N_FIGURES * N_REPLICATES, sizeof *replicates), now[N_FIGURES];
	uint64_t random = SEED;

	if (!replicates)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < e->n_turns; i++)
		e->turns[i].times = 1;
	changes_of(e, now);
	for (int k = 0; k < N_FIGURES; k++)
		*changes[k] = (struct vprof_live_change){ now[k], NAN, NAN };
	if (e->n_plans >= VPROF_LIVE_TURNS_MIN && e->n_turns - e->n_plans >= VPROF_LIVE_TURNS_MIN) {
		for (size_t i = 0; i < N_REPLICATES; i++) {
			draw(e, 0, e->n_plans, &random);
			draw(e, e->n_plans, e->n_turns, &random);
			changes_of(e, now);
			for (int k = 0; k < N_FIGURES; k++)
				replicates[k * N_REPLICATES + i] = now[k];
		}
		for (int k = 0; k < N_FIGURES; k++)
			bound(replicates + (size_t)k * N_REPLICATES, changes[k]);
	}
	out->n_turns = e->n_plans;
	out->n_baselines = e->n_turns - e->n_plans;
	free(replicates);
	return VPROF_OK;
}

int vprof_live_effect_estimate(struct vprof_live_effect *out, const struct vprof_turn_latency *v, size_t n)
{
	struct vprof_turn_latency *sorted = malloc((n + 1) * sizeof *sorted);
	struct effect e = { calloc(n + 1, sizeof(struct turn)), 0, 0, calloc(n + 1, sizeof(struct sample)), 0, 0 };
	int rc = sorted && e.turns && e.samples ? VPROF_OK : VPROF_ERR_NOMEM;

	if (!rc && n) {
		memcpy(sorted, v, n * sizeof *v);
		qsort(sorted, n, sizeof *sorted, latency_order);
		gather(&e, sorted, n);
		rc = estimate(&e, out);
	}
	free(sorted);
	free(e.turns);
	free(e.samples);
	return rc;
}
