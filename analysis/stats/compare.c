/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Percentiles of a replicate need the order of all latencies, but that order is the data's: a latency that is drawn w
 * times occurs w times at its place. So the data are sorted once, and a replicate walks down from the largest. */
#include "analysis/stats/compare.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/bootstrap.h"
#include "analysis/timeline/intervals.h"
#include "analysis/timeline/window_list.h"

const char *const vprof_figure_names[] = { "mean", "variance", "sd", "p50", "p90", "p99" };

#define P99_BOUNDS_MIN 368 /* 0.99^368 < 0.025 */

struct sample {
	const double *ns;
	size_t n, block_length, n_blocks;
	size_t *order;		/* places by descending latency */
	double *mean, *squares; /* of each block: mean, and sum of squares about it */
	size_t *size;
};

void vprof_latencies_release(struct vprof_latencies *l)
{
	free(l->ns);
	*l = (struct vprof_latencies){ 0 };
}

static int gather(struct vprof_latencies *l, const struct vprof_intervals *intervals,
		  const struct vprof_timeline *timeline, const struct vprof_window_list *windows, const char *name)
{
	l->ns = malloc((intervals->instances.n + 1) * sizeof *l->ns);
	if (!l->ns)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < intervals->instances.n; i++) {
		const struct vprof_instance *inst = &intervals->instances.v[i];
		const char *text = vprof_timeline_string(timeline, inst->name);

		if (inst->state == VPROF_INSTANCE_COMPLETE && !inst->is_lossy && text && !strcmp(text, name) &&
		    vprof_window_list_contains(windows, inst->begin))
			l->ns[l->n++] = (double)(inst->end - inst->begin) * timeline->ns_per_tick;
	}
	return VPROF_OK;
}

int vprof_latencies_read(struct vprof_latencies *l, const char *trace_dir, const char *interval,
			 struct vprof_error *err)
{
	struct vprof_window_list windows = { 0 };
	struct vprof_intervals *intervals = NULL;
	struct vprof_timeline *timeline = NULL;
	struct vprof_trace *trace = NULL;
	int ret;

	*l = (struct vprof_latencies){ 0 };
	ret = vprof_trace_open(&trace, trace_dir, err);
	if (!ret)
		ret = vprof_timeline_build(&timeline, trace, 0, NULL, NULL, err);
	if (!ret)
		ret = vprof_intervals_build(&intervals, timeline, err);
	if (!ret && (vprof_window_list_read(&windows, trace) || gather(l, intervals, timeline, &windows, interval)))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals of %s", trace_dir);
	vprof_window_list_release(&windows);
	vprof_intervals_free(intervals);
	vprof_timeline_free(timeline);
	vprof_trace_free(trace);
	if (ret)
		vprof_latencies_release(l);
	return ret;
}

static void release(struct sample *s)
{
	free(s->order);
	free(s->mean);
	free(s->squares);
	free(s->size);
}

static int prepare(struct sample *s, const struct vprof_latencies *l)
{
	*s = (struct sample){ .ns = l->ns, .n = l->n, .block_length = vprof_bootstrap_block_length(l->ns, l->n) };
	if (!s->block_length)
		return VPROF_ERR_NOMEM;
	s->n_blocks = (l->n + s->block_length - 1) / s->block_length;
	s->order = malloc(l->n * sizeof *s->order);
	s->mean = calloc(s->n_blocks, sizeof *s->mean);
	s->squares = calloc(s->n_blocks, sizeof *s->squares);
	s->size = calloc(s->n_blocks, sizeof *s->size);
	if (!s->order || !s->mean || !s->squares || !s->size)
		return VPROF_ERR_NOMEM;
	gsl_sort_index(s->order, l->ns, 1, l->n);
	for (size_t i = 0; i < l->n / 2; i++) {
		size_t other = s->order[i];

		s->order[i] = s->order[l->n - 1 - i];
		s->order[l->n - 1 - i] = other;
	}
	for (size_t i = 0; i < l->n; i++) { /* Welford */
		size_t b = i / s->block_length;
		double d = l->ns[i] - s->mean[b];

		s->mean[b] += d / (double)++s->size[b];
		s->squares[b] += d * (l->ns[i] - s->mean[b]);
	}
	return VPROF_OK;
}

static void weighted_percentiles(const struct sample *s, const double *weights, double total, double *values)
{
	static const struct {
		enum vprof_figure figure;
		double p;
	} wanted[] = {
		{ VPROF_FIGURE_P99, 0.99 },
		{ VPROF_FIGURE_P90, 0.90 },
		{ VPROF_FIGURE_P50, 0.50 },
	};
	double above = 0; /* how many lie above place i */
	size_t i = 0;

	for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
		double from_top = (1 - wanted[k].p) * (total - 1), whole = floor(from_top + 1e-9);
		double part = from_top - whole > 1e-9 ? from_top - whole : 0, upper;

		while (i + 1 < s->n && above + weights[s->order[i] / s->block_length] <= whole)
			above += weights[s->order[i++] / s->block_length];
		upper = s->ns[s->order[i]];
		values[wanted[k].figure] = upper;
		if (part > 0) { /* the next below may be the same latency, drawn again */
			size_t j = i;
			double next = above + weights[s->order[j] / s->block_length];

			while (j + 1 < s->n && next <= whole + 1)
				next += weights[s->order[++j] / s->block_length];
			values[wanted[k].figure] += part * (s->ns[s->order[j]] - upper);
		}
	}
}

static void evaluate(void *arg, const double *weights, double *values)
{
	const struct sample *s = arg;
	double n = 0, mean = 0, squares = 0;

	/* Chan, Golub, LeVeque: blocks with their weights, combined pairwise */
	for (size_t b = 0; b < s->n_blocks; b++) {
		double add = weights[b] * (double)s->size[b], d = s->mean[b] - mean;

		if (!(add > 0))
			continue;
		squares += weights[b] * s->squares[b] + d * d * n * add / (n + add);
		n += add;
		mean += d * add / n;
	}
	values[VPROF_FIGURE_MEAN] = mean;
	values[VPROF_FIGURE_VARIANCE] = n > 1 ? squares / (n - 1) : NAN;
	values[VPROF_FIGURE_SD] = sqrt(values[VPROF_FIGURE_VARIANCE]);
	weighted_percentiles(s, weights, n, values);
}

size_t vprof_compare_needed(enum vprof_figure figure)
{
	return figure == VPROF_FIGURE_P99 ? P99_BOUNDS_MIN : VPROF_BOUNDS_MIN;
}

/* Turns NEW's values into changes against BASE's. */
static void divide(struct vprof_bootstrap_values *new, const struct vprof_bootstrap_values *base)
{
	for (size_t i = 0; i < new->n_statistics; i++) {
		const double *was = &base->point[i];

		new->errors[i] = vprof_bootstrap_error_of_difference(&new->errors[i], 1 / *was, &base->errors[i],
								     new->point[i] / (*was * *was));
		new->point[i] = *was > 0 ? new->point[i] / *was - 1 : NAN;
	}
	for (size_t i = 0; i < new->n_statistics *new->n_replicates; i++)
		new->replicates[i] = base->replicates[i] > 0 ? new->replicates[i] / base->replicates[i] - 1 : NAN;
	if (base->n_blocks < new->n_blocks)
		new->n_blocks = base->n_blocks;
}

int vprof_compare(const struct vprof_latencies *base, const struct vprof_latencies *new,
		  struct vprof_change changes[VPROF_FIGURE_COUNT], struct vprof_error *err)
{
	struct vprof_bootstrap_values values[2] = { { 0 } };
	struct sample samples[2] = { { 0 } };
	int ret = 0;

	if (base->n < 2 || new->n < 2)
		return vprof_error_set(err, VPROF_ERR_INCONCLUSIVE,
				       "there are %zu complete intervals in one run and %zu in the "
				       "other: too few to compare. Make longer runs",
				       base->n, new->n);
	for (int i = 0; i < 2 && !ret; i++) {
		struct vprof_bootstrap b = { .n_statistics = VPROF_FIGURE_COUNT,
					     .seed = 1 + (uint64_t)i,
					     .evaluate = evaluate,
					     .arg = &samples[i] };

		ret = prepare(&samples[i], i ? new : base);
		b.n_blocks = samples[i].n_blocks;
		if (!ret && b.n_blocks >= 2)
			ret = vprof_bootstrap_run(&b, &values[i]);
		else if (!ret)
			ret = VPROF_ERR_INCONCLUSIVE;
	}
	for (size_t i = 0; i < VPROF_FIGURE_COUNT && !ret; i++)
		changes[i] = (struct vprof_change){ .base = values[0].point[i], .new = values[1].point[i] };
	if (!ret)
		divide(&values[1], &values[0]);
	for (size_t i = 0; i < VPROF_FIGURE_COUNT && !ret; i++) {
		size_t least = vprof_compare_needed((enum vprof_figure)i);

		changes[i].change = values[1].point[i];
		changes[i].low = changes[i].high = NAN;
		if (base->n >= least && new->n >= least)
			vprof_bootstrap_bounds_within(&values[1], i, -1, INFINITY, &changes[i].low, &changes[i].high);
	}
	for (int i = 0; i < 2; i++) {
		release(&samples[i]);
		vprof_bootstrap_release(&values[i]);
	}
	if (ret == VPROF_ERR_INCONCLUSIVE)
		vprof_error_set(err, ret, "too few intervals to compare. Make longer runs");
	else if (ret)
		vprof_error_set(err, ret, "not enough memory to compare %zu with %zu intervals", base->n, new->n);
	return ret;
}
