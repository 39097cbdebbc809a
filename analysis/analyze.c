/* The steps of an analysis, in order. Everything that a step found out lives in struct analysis until the end. */
#include "analysis/analyze.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>

#include "analysis/confidence.h"
#include "analysis/contributions.h"
#include "analysis/critical_path.h"
#include "analysis/examples.h"
#include "analysis/factors.h"
#include "analysis/latency.h"
#include "analysis/latency_shape.h"
#include "analysis/parallel.h"
#include "analysis/probe_cost.h"
#include "analysis/spine.h"
#include "analysis/symbols.h"
#include "analysis/variance_tree.h"
#include "analysis/wakes.h"
#include "analysis/warnings.h"
#include "analysis/window_list.h"
#include "common/files.h"

struct analysis {
	const struct vprof_analyze_options *o;
	struct vprof_results *r;
	struct vprof_trace *trace;
	struct vprof_timeline *timeline;
	struct vprof_intervals *intervals;
	struct vprof_wake_counts wakes;
	struct vprof_path *path;
	struct vprof_tree *tree;
	const struct vprof_interval_name *counts; /* of the interval under analysis, NULL: not in the trace */
	VPROF_ARRAY(uint32_t) chosen;		  /* complete instances outside the warm-up */
	uint64_t n_warmup, start; /* start: of the trace */
	struct vprof_window_list windows;
	struct vprof_traits traits;
	struct vprof_term_list terms;
};

static void progress(const struct analysis *a, const char *step, double done)
{
	if (a->o->progress)
		a->o->progress(a->o->progress_arg, step, done);
}

static void read_progress(void *arg, double done)
{
	progress(arg, "read", done);
}

/* ".../runs/0007/trace" to "0007". */
static const char *run_name(struct vprof_results *r, const char *trace_dir)
{
	size_t end = strlen(trace_dir), start;
	char name[256];

	for (int part = 0; part < 2; part++) {
		while (end && trace_dir[end - 1] == '/')
			end--;
		for (start = end; start && trace_dir[start - 1] != '/'; start--)
			;
		if (part == 0)
			end = start;
	}
	snprintf(name, sizeof name, "%.*s", (int)(end - start), trace_dir + start);
	return vprof_results_string(r, name);
}

/* The interval asked for, or the one with the most complete instances. */
static int choose_interval(struct analysis *a)
{
	const char *name = a->o->interval ? a->o->interval : "";
	const struct vprof_interval_name *best = NULL;

	for (size_t i = 0; i < a->intervals->names.n; i++) {
		const struct vprof_interval_name *n = &a->intervals->names.v[i];
		const char *text = vprof_timeline_string(a->timeline, n->name);

		if (a->o->interval ? text && !strcmp(text, a->o->interval) :
				     !best || n->n_complete > best->n_complete)
			best = n;
	}
	a->counts = best;
	if (best && !a->o->interval) {
		name = vprof_timeline_string(a->timeline, best->name);
		name = name ? name : "interval";
	}
	a->r->interval = vprof_results_string(a->r, name);
	return a->r->interval ? 0 : VPROF_ERR_NOMEM;
}

/* Complete, but some of its calls may not have been recorded: only its latency counts, for comparison. */
static void count_outside(struct vprof_results *r, const struct vprof_instance *inst, double ns_per_tick)
{
	double ns = (double)(inst->end - inst->begin) * ns_per_tick;

	r->n_outside++;
	if (r->n_outside == 1)
		r->outside_mean_ns = 0;
	r->outside_mean_ns += (ns - r->outside_mean_ns) / (double)r->n_outside;
}

static int choose_instances(struct analysis *a)
{
	const struct vp_file_header *h = &a->trace->header;
	uint64_t start = h->start_ticks && h->start_ticks < a->timeline->t_first ? h->start_ticks : a->timeline->t_first;
	uint64_t stop = h->end_ticks > a->timeline->t_last ? h->end_ticks : a->timeline->t_last;
	double warmup = a->o->warmup_share > 0 && a->o->warmup_share < 1 ? a->o->warmup_share : 0;
	uint64_t from = start + (uint64_t)((double)(stop - start) * warmup);

	a->start = start;
	a->r->duration_ns = (double)(stop - start) * a->timeline->ns_per_tick;
	if (vprof_window_list_read(&a->windows, a->trace))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < a->intervals->instances.n && a->counts; i++) {
		const struct vprof_instance *inst = &a->intervals->instances.v[i];

		if (inst->name != a->counts->name || inst->state != VPROF_INSTANCE_COMPLETE)
			continue;
		if (inst->begin < from) {
			a->n_warmup++;
		} else if (inst->is_lossy) {
			a->r->n_lossy++;
		} else if (!vprof_window_list_holds(&a->windows, inst->begin)) {
			count_outside(a->r, inst, a->timeline->ns_per_tick);
		} else {
			uint32_t *slot = VPROF_PUSH(&a->chosen);

			if (!slot)
				return VPROF_ERR_NOMEM;
			*slot = (uint32_t)i;
		}
	}
	return 0;
}

static void paths_progress(void *arg, double done)
{
	progress(arg, "paths", done);
}

static int walk_paths(struct analysis *a, struct vprof_error *err)
{
	int ret = vprof_path_new(&a->path, a->timeline, a->intervals, err);

	if (!ret)
		ret = vprof_tree_new(&a->tree, a->timeline, a->o->plan, err);
	if (ret)
		return ret;
	ret = vprof_tree_fill(a->tree, a->path, a->chosen.v, a->chosen.n, a->o->n_threads, paths_progress, a);
	if (ret)
		return vprof_error_set(err, ret, "not enough memory for %zu intervals: record a shorter run", a->chosen.n);
	if (vprof_tree_number(a->tree))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the variance tree");
	return ret;
}

static int fill_switches(struct analysis *a)
{
	const char *why = a->trace->header.no_switches;

	a->r->n_switches = a->timeline->n_switches;
	a->r->n_switches_lost = a->timeline->n_switches_lost;
	if (!a->timeline->has_switches)
		a->r->no_switches = vprof_results_string(a->r, *why ? why : "the trace does not tell when threads lost a "
									     "processor");
	return a->r->no_switches ? 0 : VPROF_ERR_NOMEM;
}

static void fill_counts(struct analysis *a)
{
	struct vprof_results *r = a->r;

	r->n_records = a->timeline->n_records;
	r->n_dropped = a->trace->n_dropped;
	r->n_bytes_ignored = a->trace->n_bytes_ignored + a->timeline->n_bytes_ignored;
	r->n_calls_sampled = a->timeline->n_sampled;
	r->n_waits = a->wakes.n_waits;
	r->n_waits_matched = a->wakes.n_matched;
	r->n_waits_by_time = a->wakes.n_by_time;
	r->n_waits_undecided = a->wakes.n_channel_undecided;
	r->n_waits_unmatched = a->wakes.n_unmatched;
	r->n_complete = a->chosen.n;
	if (!a->counts)
		return;
	r->n_cut = a->counts->n_open + a->counts->n_ends_only;
	r->n_restarted = a->counts->n_restarted;
	r->n_ambiguous = a->counts->n_ambiguous;
}

static void fill_shares(const struct analysis *a)
{
	struct vprof_results *r = a->r;
	double mean = r->nodes[0].mean_ns;

	for (uint32_t i = r->nodes[0].first_child; i < r->nodes[0].first_child + r->nodes[0].n_children; i++)
		if (r->nodes[i].kind == VPROF_NODE_QUEUED && mean > 0)
			r->queued_share += r->nodes[i].mean_ns / mean;
	if (mean > 0) {
		r->blocked_share = r->nodes[0].blocked_ns / mean;
		r->running_share = 1 - r->queued_share - r->blocked_share;
		if (a->timeline->has_switches) {
			r->preempted_share = r->nodes[0].preempted_ns / mean;
			r->preempted_by_own = a->tree->preempted_ticks ? (double)a->tree->by_own_ticks /
									  (double)a->tree->preempted_ticks : 0;
			r->running_share -= r->preempted_share;
		}
		if (r->running_share < 0)
			r->running_share = 0;
	}
}

/* What the intervals' times say beyond the variance tree, and how sure all of it is. */
static int judge(struct analysis *a, struct vprof_error *err)
{
	uint8_t *is_slow = calloc(a->chosen.n + 1, 1);
	struct vprof_work_model model;
	int ret = is_slow ? 0 : VPROF_ERR_NOMEM;

	if (!ret)
		vprof_tail_choose(a->r, &a->traits, a->o->slower_than_ns, is_slow);
	if (!ret)
		ret = vprof_contributions_fill(a->r, a->tree, is_slow);
	if (!ret)
		ret = vprof_work_fill(a->r, a->timeline, &a->traits, &model);
	if (!ret)
		ret = vprof_confidence_fill(a->r, a->tree, &a->traits, is_slow, &model, &a->terms);
	if (!ret)
		vprof_probe_cost_fill(a->r, a->trace->header.record_ns, a->trace->header.record_inside_ns);
	free(is_slow);
	return ret ? vprof_error_set(err, ret, "not enough memory to judge the results of %zu intervals: record a shorter run",
				     a->chosen.n) : 0;
}

/* What can be looked at interval by interval. */
static int picture(struct analysis *a, struct vprof_error *err)
{
	int ret = vprof_latency_shape_fill(a->r, &a->traits, a->o->n_threads);

	if (!ret)
		ret = vprof_examples_fill(a->r, a->timeline, a->intervals, a->path, a->o->plan, a->chosen.v, a->chosen.n,
					  a->traits.slowest, a->start);
	return ret ? vprof_error_set(err, ret, "not enough memory to choose examples among %zu intervals", a->chosen.n) : 0;
}

static int find_spine(struct analysis *a, struct vprof_error *err)
{
	struct vprof_symbols *symbols = vprof_symbols_new(a->timeline);
	int ret;

	if (!symbols)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the symbols");
	ret = vprof_spine_find(a->r, a->timeline, symbols, err);
	vprof_symbols_free(symbols);
	return ret;
}

static int take_steps(struct analysis *a, struct vprof_error *err)
{
	struct vprof_findings findings;
	int ret;

	progress(a, "read", 0);
	ret = vprof_timeline_build(&a->timeline, a->trace, a->o->n_threads, read_progress, a, err);
	if (ret)
		return ret;
	progress(a, "wakes", 0);
	ret = vprof_wakes_match(a->timeline, &a->wakes, err);
	if (!ret)
		ret = vprof_intervals_build(&a->intervals, a->timeline, err);
	if (ret)
		return ret;
	if (fill_switches(a) || choose_interval(a) || choose_instances(a))
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals");
	fill_counts(a);
	ret = walk_paths(a, err);
	if (ret)
		return ret;
	progress(a, "tree", 0);
	if (vprof_traits_gather(&a->traits, a->timeline, a->intervals, a->chosen.v, a->chosen.n, a->start, a->r))
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the latencies of %zu intervals", a->chosen.n);
	ret = vprof_latency_fill(a->r, &a->traits, err);
	if (!ret)
		ret = vprof_tree_results(a->tree, a->r, err);
	if (ret)
		return ret;
	fill_shares(a);
	progress(a, "factors", 0);
	ret = vprof_factors_select(a->r, a->o->plan, &a->terms, err);
	if (!ret)
		ret = judge(a, err);
	if (!ret)
		ret = picture(a, err);
	if (!ret)
		ret = find_spine(a, err);
	if (ret)
		return ret;
	findings = (struct vprof_findings){ a->trace, a->timeline, a->counts, &a->wakes, a->tree,
					    a->o->interval, a->o->min_intervals ? a->o->min_intervals : 30, a->n_warmup,
					    &a->traits };
	progress(a, "factors", 1);
	return vprof_warnings_add(a->r, &findings, err);
}

#define TRACE_PARTS 16

static int release_part(void *arg, int worker, size_t item)
{
	struct analysis *a = arg;

	(void)worker;
	if (item < TRACE_PARTS) {
		if (a->trace)
			vprof_trace_let_go(a->trace, item, TRACE_PARTS);
		return 0;
	}
	vprof_tree_free(a->tree);
	vprof_path_free(a->path);
	vprof_intervals_free(a->intervals);
	vprof_window_list_release(&a->windows);
	VPROF_ARRAY_RELEASE(&a->chosen);
	vprof_traits_release(&a->traits);
	VPROF_ARRAY_RELEASE(&a->terms.terms);
	return 0;
}

int vprof_analyze(struct vprof_results **out, const struct vprof_analyze_options *options, struct vprof_error *err)
{
	struct analysis a = { .o = options };
	int ret;

	gsl_set_error_handler_off(); /* it would abort; what can fail is checked */
	*out = NULL;
	a.r = vprof_results_new();
	if (!a.r)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the results");
	a.r->k = options->k > 0 ? options->k : 3;
	a.r->threshold = options->threshold > 0 ? options->threshold : 0.02;
	a.r->baseline_low = a.r->baseline_high = NAN;
	a.r->baseline_mean_ns = a.r->outside_mean_ns = a.r->preempted_share = a.r->preempted_by_own = NAN;
	a.r->run = run_name(a.r, options->trace_dir);
	ret = vprof_trace_open(&a.trace, options->trace_dir, err);
	if (!ret)
		ret = take_steps(&a, err);
	if (!ret) {
		*out = a.r;
		a.r = NULL;
	}
	vprof_parallel_run(vprof_parallel_count(options->n_threads), TRACE_PARTS + 1, release_part, &a);
	vprof_timeline_free(a.timeline);
	vprof_trace_free(a.trace);
	vprof_results_free(a.r);
	return ret;
}
