/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/variance/probe_cost.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "analysis/stats/bootstrap.h"

/* What the nominal cost of a program's records really is, before anything was measured: from nothing, where the CPU
 * waits for the program, to half more than in a loop of empty calls. */
#define SCALE_EXPECTED 0.75
#define SCALE_SD 0.375
#define OTHER_PART 0.01 /* of the mean: probes whose gates are closed and calls that are not inlined slow it, too */
#define SCALE_MAX 8.0	/* beyond, it is not the records */
#define NORMAL_95 1.96
#define OUTSIDE_MIN 30	 /* intervals outside the windows, below which they are no comparison */
#define RUNS_DIFFER 0.05 /* of the mean: two runs of one program, by what else the machine does */

static int is_call(const struct vprof_node *n)
{
	return n->kind == VPROF_NODE_FUNCTION || n->kind == VPROF_NODE_SITE || n->kind == VPROF_NODE_POINTER;
}

static int is_sampled(const struct vprof_node *n)
{
	return is_call(n) && n->n_timed < n->n_calls;
}

/* Children come after their parents. What a node passes on to its parent is what all of its calls take. A chosen call
 * of a hot function stands for others with all that was recorded in it, so in its own time and beneath each call counts
 * as recorded; in the time of what called it the skipped ones are. */
static void fill_nodes(struct vprof_results *r)
{
	double n = r->n_complete ? (double)r->n_complete : 1;

	for (size_t i = 0; i < r->n_nodes; i++)
		r->nodes[i].probe_ns = 0;
	for (size_t i = r->n_nodes; i-- > 1;) {
		struct vprof_node *node = &r->nodes[i], *parent = &r->nodes[node->parent];
		double calls = is_call(node) ? (double)node->n_calls / n : 0;
		double timed = is_call(node) ? (double)node->n_timed / n : 0;
		double beneath = node->probe_ns, outside = beneath + calls * r->record_ns;

		if (is_sampled(node) && !is_sampled(parent))
			outside = beneath * timed / calls +
				  (timed + (calls - timed) * VPROF_COST_COUNTED_PART) * r->record_ns;
		if (node->kind != VPROF_NODE_BODY)
			parent->probe_ns += outside;
		node->probe_ns = beneath + calls * r->record_inside_ns;
	}
}

/* A body holds what its siblings' records add outside of them. */
static void fill_bodies(struct vprof_results *r)
{
	for (size_t i = 1; i < r->n_nodes; i++) {
		struct vprof_node *body = &r->nodes[i];
		const struct vprof_node *parent = &r->nodes[body->parent];

		if (body->kind != VPROF_NODE_BODY)
			continue;
		body->probe_ns = parent->probe_ns;
		for (uint32_t c = parent->first_child; c < parent->first_child + parent->n_children; c++)
			if (c != i)
				body->probe_ns -= r->nodes[c].probe_ns;
		if (body->probe_ns < 0)
			body->probe_ns = 0;
	}
}

/* an estimate and its 95 % bounds, ns */
struct estimate {
	double ns, low, high;
};

/* Running mean and sum of squared deviations of means of intervals (Welford). */
struct means {
	double n, mean, squares;
};

static void add_mean(struct means *m, const double *ns, size_t n)
{
	double sum = 0, delta;

	for (size_t i = 0; i < n; i++)
		sum += ns[i] / (double)n;
	delta = sum - m->mean;
	m->mean += delta / ++m->n;
	m->squares += delta * (sum - m->mean);
}

/* Standard deviation of the means of runs; 0 with one run. */
static double runs_sd(const struct vprof_interval_attributes *a)
{
	struct means m = { 0 };

	for (size_t run = 0; run < a->n_runs; run++)
		add_mean(&m, a->ns + a->run_first[run], a->run_first[run + 1] - a->run_first[run]);
	return m.n > 1 ? sqrt(m.squares / (m.n - 1)) : 0;
}

/* Standard error of the mean latency within runs: from the means of blocks that contain most of their correlation. */
static double mean_error(const struct vprof_interval_attributes *a)
{
	size_t length = vprof_bootstrap_block_length(a->ns, a->n);
	struct means m = { 0 };

	for (size_t b = 0; length && b < a->n / length; b++)
		add_mean(&m, a->ns + b * length, length);
	return m.n > 1 ? sqrt(m.squares / (m.n - 1) / m.n) : NAN;
}

/* what is known of the mean latency besides its value, ns */
struct mean_facts {
	double error_ns;   /* its standard error, from within the runs; NaN: unknown */
	double runs_sd_ns; /* standard deviation of the runs' means, scaled to normal quantiles; 0 with one run */
	size_t n_runs;
	double more_preempted_ns; /* than in the run without probes */
};

/* With n runs the standard deviation of their means has n - 1 degrees of freedom. */
static struct mean_facts mean_facts(const struct vprof_interval_attributes *a, double more_preempted_ns)
{
	struct mean_facts m = { mean_error(a), runs_sd(a), a->n_runs, more_preempted_ns };

	if (m.runs_sd_ns > 0)
		m.runs_sd_ns *= gsl_cdf_tdist_Pinv(0.975, (double)m.n_runs - 1) / NORMAL_95;
	return m;
}

/* The difference of means to a run, or a part of the run, without records, and without what this one was preempted more
 * than the other run; its standard error. Windows of the same run tell better, but probes whose gates are closed slow
 * those, too. The run without records is a single one: it differs from another by as much as the runs with records do
 * from one another, and where there is only one of these, by RUNS_DIFFER. */
static enum vprof_effect_by measure(const struct vprof_results *r, const struct mean_facts *m, double *ns,
				    double *sd_ns)
{
	double error_ns = m->error_ns;
	double n = (double)vprof_results_n_all(r), windows = r->mean_ns - r->outside_mean_ns,
	       baseline = r->mean_ns - r->baseline_mean_ns - m->more_preempted_ns;
	double windows_sd = error_ns * sqrt(1 + n / (double)(r->n_outside ? r->n_outside : 1));
	double runs_differ = fmax(RUNS_DIFFER * r->mean_ns, m->runs_sd_ns * sqrt(1 + 1 / (double)m->n_runs));
	double baseline_sd =
		hypot(hypot(error_ns, (r->baseline_high - r->baseline_low) / (2 * NORMAL_95)), runs_differ);
	int has_windows = r->n_outside >= OUTSIDE_MIN && isfinite(windows) && windows_sd > 0,
	    has_baseline = isfinite(baseline) && baseline_sd > 0;

	if (has_windows && !(has_baseline && baseline - windows > NORMAL_95 * (windows_sd + baseline_sd))) {
		*ns = windows;
		*sd_ns = windows_sd;
		return VPROF_EFFECT_BY_WINDOWS;
	}
	*ns = baseline;
	*sd_ns = baseline_sd;
	return has_baseline ? VPROF_EFFECT_BY_BASELINE : VPROF_EFFECT_BY_RECORDS;
}

/* What is expected and what was measured, weighted by their precision where they agree; else what was measured. A run
 * that was faster than the one without probes ran under another load: that tells nothing. */
static struct estimate judge(struct vprof_results *r, double nominal_ns, const struct mean_facts *m)
{
	double expected = SCALE_EXPECTED * nominal_ns, sd = SCALE_SD * nominal_ns + OTHER_PART * r->mean_ns, ns, ns_sd;

	r->effect_by = measure(r, m, &ns, &ns_sd);
	if (r->effect_by == VPROF_EFFECT_BY_RECORDS || ns - expected < -NORMAL_95 * (sd + ns_sd)) {
		r->effect_by = VPROF_EFFECT_BY_RECORDS;
		sd = SCALE_SD * nominal_ns;
	} else if (ns - expected > NORMAL_95 * (sd + ns_sd)) {
		expected = ns;
		sd = ns_sd;
	} else {
		double weight = sd * sd / (sd * sd + ns_sd * ns_sd);

		expected += weight * (ns - expected);
		sd *= sqrt(1 - weight);
	}
	expected = fmax(0, expected);
	return (struct estimate){ expected, fmax(0, expected - NORMAL_95 * sd), expected + NORMAL_95 * sd };
}

static double slowed(const struct vprof_results *r, double ns)
{
	return ns / fmax(r->mean_ns - ns, 0.01 * r->mean_ns);
}

static struct estimate fill_effect(struct vprof_results *r, double nominal_ns, const struct mean_facts *m)
{
	struct estimate e = judge(r, nominal_ns, m);

	r->effect = slowed(r, e.ns);
	r->effect_low = slowed(r, e.low);
	r->effect_high = slowed(r, e.high);
	return e;
}

static double scale_of(double ns, double nominal_ns)
{
	return fmin(fmax(0, ns / nominal_ns), SCALE_MAX);
}

int vprof_probe_cost_take_out(struct vprof_results *r, struct vprof_tree *tree,
			      const struct vprof_interval_attributes *attributes, double baseline_preempted_ns,
			      struct vprof_cost_scale *scale)
{
	double nominal = vprof_tree_cost_ns(tree), more_preempted = 0;
	struct mean_facts mean;
	struct estimate e;

	*scale = (struct vprof_cost_scale){ NAN, NAN, NAN };
	r->cost_scale = NAN;
	if (!tree->has_cost || !r->n_complete)
		return 0;
	if (tree->has_switches && isfinite(baseline_preempted_ns))
		more_preempted = (double)tree->preempted_ticks * tree->ns_per_tick / (double)tree->n_intervals -
				 baseline_preempted_ns;
	mean = mean_facts(attributes, more_preempted);
	e = fill_effect(r, nominal, &mean);
	*scale = (struct vprof_cost_scale){ 0, 0, 0 };
	if (nominal > 0) {
		scale->value = scale_of(e.ns, nominal);
		scale->low = scale_of(fmin(e.low, nominal), nominal);
		scale->low = fmax(0, fmin(scale->low, scale->value - VPROF_SCALE_ERROR));
		scale->high = fmax(scale_of(e.high, nominal), scale->value + VPROF_SCALE_ERROR);
	}
	if (vprof_tree_calibrate(tree, scale->value))
		return VPROF_ERR_NOMEM;
	scale->value = r->cost_scale = tree->cost_scale;
	r->probe_ns = r->cost_scale * nominal;
	r->probe_low_ns = scale->low * nominal;
	r->probe_high_ns = fmin(scale->high * nominal, r->mean_ns);
	return 0;
}

void vprof_probe_cost_fill(struct vprof_results *r, double record_ns, double record_inside_ns)
{
	int known = record_ns > 0 && isfinite(record_ns), is_out = isfinite(r->cost_scale);

	r->record_ns = known ? record_ns : VPROF_RECORD_NS;
	r->record_inside_ns = known ? record_inside_ns : VPROF_RECORD_INSIDE_NS;
	fill_nodes(r);
	for (size_t i = 0; i < r->n_nodes && is_out; i++)
		r->nodes[i].probe_ns *= r->cost_scale;
	fill_bodies(r);
	if (!is_out) {
		const struct mean_facts unknown = { .error_ns = NAN, .n_runs = 1 };
		struct estimate e = fill_effect(r, r->n_nodes ? r->nodes[0].probe_ns : 0, &unknown);

		r->probe_ns = r->n_nodes ? r->nodes[0].probe_ns : 0;
		r->probe_low_ns = fmin(e.low, r->probe_ns);
		r->probe_high_ns = fmax(e.high, r->probe_ns);
	}
	for (size_t f = 0; f < r->n_factors; f++) {
		struct vprof_factor *factor = &r->factors[f];

		factor->probe_ns = 0;
		for (size_t i = 0; i < factor->n_nodes && factor->kind == VPROF_FACTOR_VARIANCE; i++)
			factor->probe_ns += r->nodes[factor->nodes[i]].probe_ns;
		for (size_t i = 0; i < factor->n_nodes && factor->kind == VPROF_FACTOR_COVARIANCE; i++) {
			const struct vprof_covariance *c = &r->covariances[factor->nodes[i]];

			factor->probe_ns += r->nodes[c->a].probe_ns + r->nodes[c->b].probe_ns;
		}
	}
}
