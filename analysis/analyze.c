/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of an analysis, in order. Everything that a step found out lives in struct analysis until the end. */
#include "analysis/analyze.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>

#include "analysis/causes/causes.h"
#include "analysis/variance/confidence.h"
#include "analysis/variance/contributions.h"
#include "analysis/examples.h"
#include "analysis/join/knot_parts.h"
#include "analysis/join/views/views.h"
#include "analysis/latency/input/latency_input.h"
#include "analysis/stats/load_share.h"
#include "analysis/source/draw.h"
#include "analysis/variance/factors.h"
#include "analysis/stats/latency.h"
#include "analysis/stats/latency_shape.h"
#include "analysis/stats/live_effect.h"
#include "common/parallel.h"
#include "analysis/variance/cost_bounds.h"
#include "analysis/results/results_json.h"
#include "analysis/source/source.h"
#include "analysis/transactions/context_types.h"
#include "analysis/transactions/crosstalk.h"
#include "analysis/common_frames.h"
#include "analysis/variance/variance_tree.h"
#include "analysis/variance/tree_fill.h"
#include "analysis/warnings.h"
#include "common/files.h"

struct analysis {
	const struct vprof_analyze_options *o;
	struct vprof_results *r;
	struct vprof_source *sources; /* [n_sources] */
	size_t n_sources, n_open, n_intervals;
	struct vprof_tree *tree;
	struct vprof_interval_name counts; /* of the interval under analysis, over all sources */
	struct vprof_wake_counts wakes;
	int is_there; /* the interval is in some trace */
	uint64_t n_warmup;
	struct vprof_interval_attributes attributes;
	struct vprof_term_list terms;
	struct vprof_cost_scale cost_scale;
	struct vprof_changed_modules changed;
	struct vprof_call_paths call_paths;
};

static void progress(const struct analysis *a, const char *step, double done)
{
	if (a->o->progress)
		a->o->progress(a->o->progress_arg, step, done);
}

static void read_progress(void *arg, double done)
{
	const struct analysis *a = arg;

	progress(a, "read", ((double)a->n_open + done) / (double)a->n_sources);
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

static void add_counts(struct vprof_interval_name *to, const struct vprof_interval_name *from)
{
	to->name = from->name;
	to->n_complete += from->n_complete;
	to->n_open += from->n_open;
	to->n_restarted += from->n_restarted;
	to->n_ambiguous += from->n_ambiguous;
	to->n_ends_only += from->n_ends_only;
	to->n_stray += from->n_stray;
}

/* How often the interval `name` is in all traces. */
static struct vprof_interval_name count_name(const struct analysis *a, uint64_t name)
{
	struct vprof_interval_name sum = { .name = name };

	for (size_t s = 0; s < a->n_sources; s++)
		for (size_t i = 0; i < a->sources[s].intervals->names.n; i++)
			if (a->sources[s].intervals->names.v[i].name == name)
				add_counts(&sum, &a->sources[s].intervals->names.v[i]);
	return sum;
}

/* The interval asked for, or the one with the most complete instances. */
static int choose_interval(struct analysis *a)
{
	const char *name = a->o->interval ? a->o->interval : "";

	for (size_t s = 0; s < a->n_sources; s++) {
		const struct vprof_source *source = &a->sources[s];

		for (size_t i = 0; i < source->intervals->names.n; i++) {
			uint64_t hash = source->intervals->names.v[i].name;
			const char *text = vprof_timeline_string(source->timeline, hash);
			struct vprof_interval_name counts;

			if (a->o->interval && (!text || strcmp(text, a->o->interval)))
				continue;
			counts = count_name(a, hash);
			if (a->is_there && counts.n_complete <= a->counts.n_complete)
				continue;
			a->counts = counts;
			a->is_there = 1;
			name = a->o->interval ? name : text ? text : "interval";
		}
	}
	a->r->interval = vprof_results_string(a->r, name);
	return a->r->interval ? 0 : VPROF_ERR_NOMEM;
}

/* Leaves those of the type that was asked for. OK or NOMEM. */
static int keep_type(struct analysis *a, struct vprof_source *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->chosen.n; i++) {
		const struct vprof_instance *inst = &s->intervals->instances.v[s->chosen.v[i]];
		const char *name = vprof_type_name(a->r, s->timeline, inst->type_kind, inst->type);

		if (!name)
			return VPROF_ERR_NOMEM;
		if (!strcmp(name, a->o->type))
			s->chosen.v[n++] = s->chosen.v[i];
	}
	s->chosen.n = n;
	return VPROF_OK;
}

static int choose_instances(struct analysis *a)
{
	struct vprof_results *r = a->r;

	for (struct vprof_source *s = a->sources; s < a->sources + a->n_sources; s++) {
		uint64_t n;

		s->plan = a->o->plan;
		if (vprof_source_choose(s, a->counts.name, a->is_there, a->o->warmup_share, a->n_intervals,
					r->duration_ns) ||
		    (a->o->type && keep_type(a, s)))
			return VPROF_ERR_NOMEM;
		n = r->n_outside + s->n_outside;
		if (s->n_outside)
			r->outside_mean_ns = ((r->n_outside ? r->outside_mean_ns * (double)r->n_outside : 0) +
					      s->outside_mean_ns * (double)s->n_outside) /
					     (double)n;
		r->n_outside = n;
		r->n_lossy += s->n_lossy;
		r->live.n_straddling += s->n_straddling;
		r->duration_ns += s->duration_ns;
		a->n_warmup += s->n_warmup;
		a->n_intervals += s->chosen.n;
	}
	if (a->n_intervals >= VPROF_NONE)
		return VPROF_ERR_NOMEM;
	if (a->o->most_intervals) {
		r->n_not_drawn = vprof_sources_draw(a->sources, a->n_sources, a->n_intervals, a->o->most_intervals);
		a->n_intervals -= r->n_not_drawn;
	}
	/* Of a look at a part it would be the same, but for its time. */
	for (struct vprof_source *s = a->sources; !r->n_not_drawn && s < a->sources + a->n_sources; s++)
		if (s->plans.is_live && vprof_live_effect_estimate(&r->live, s->latencies.v, s->latencies.n))
			return VPROF_ERR_NOMEM;
	return 0;
}

static void paths_progress(void *arg, double done)
{
	progress(arg, "paths", done);
}

static int walk_paths(struct analysis *a, struct vprof_error *err)
{
	struct vprof_tree_intervals *of_source = calloc(a->n_sources, sizeof *of_source);
	const struct vprof_team team = { .exchange = a->o->exchange };
	size_t from, to;
	int ret = of_source ? vprof_tree_new(&a->tree, a->sources[0].timeline, a->o->plan, err) : VPROF_ERR_NOMEM;

	vprof_team_own(&team, a->n_intervals, &from, &to);
	for (size_t i = 0; i < a->n_sources && !ret; i++) {
		struct vprof_source *s = &a->sources[i];

		if (i && vprof_tree_add_source(a->tree, s->timeline))
			ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the variance tree");
		if (!ret && s->first < to && from < s->first + s->chosen.n)
			ret = vprof_source_connect(s, err);
		of_source[i] = (struct vprof_tree_intervals){ s->edges, s->chosen.v, s->chosen.n };
	}
	if (!ret) {
		a->tree->team = team;
		ret = vprof_tree_fill(a->tree, of_source, a->o->n_threads, paths_progress, a);
		if (ret)
			vprof_error_set(err, ret, "not enough memory for %zu intervals: record a shorter run",
					a->n_intervals);
	}
	free(of_source);
	if (!ret && vprof_tree_number(a->tree))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the variance tree");
	if (!ret && a->tree->is_full && a->o->exchange)
		ret = vprof_error_set(err, VPROF_ERR_INPUT,
				      "the variance tree is too large to be split among ranks: analyse "
				      "without --mpi, or measure fewer functions");
	return ret;
}

static int fill_switches(struct analysis *a)
{
	for (const struct vprof_source *s = a->sources; s < a->sources + a->n_sources; s++) {
		const char *why = s->trace->header.no_switches;

		a->r->n_switches += s->timeline->n_switches;
		a->r->n_switches_lost += s->timeline->n_switches_lost;
		if (s->timeline->has_switches)
			continue;
		a->r->no_switches =
			vprof_results_string(a->r, *why ? why : "the trace has no records of context switches");
		if (!a->r->no_switches)
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static void fill_counts(struct analysis *a)
{
	struct vprof_results *r = a->r;

	for (const struct vprof_source *s = a->sources; s < a->sources + a->n_sources; s++) {
		r->n_records += s->timeline->n_records;
		r->n_dropped += s->trace->n_dropped;
		r->n_bytes_ignored += s->trace->n_bytes_ignored + s->timeline->n_bytes_ignored;
		r->n_calls_sampled += s->timeline->n_sampled;
		a->wakes.n_waits += s->wakes.n_waits;
		a->wakes.n_matched += s->wakes.n_matched;
		a->wakes.n_by_time += s->wakes.n_by_time;
		a->wakes.n_channel_undecided += s->wakes.n_channel_undecided;
		a->wakes.n_unmatched += s->wakes.n_unmatched;
	}
	r->n_waits = a->wakes.n_waits;
	r->n_waits_matched = a->wakes.n_matched;
	r->n_waits_by_time = a->wakes.n_by_time;
	r->n_waits_undecided = a->wakes.n_channel_undecided;
	r->n_waits_unmatched = a->wakes.n_unmatched;
	r->n_complete = a->n_intervals;
	for (const struct vprof_source *s = a->sources; s < a->sources + a->n_sources; s++)
		r->n_runs += s->chosen.n > 0;
	r->n_cut = a->counts.n_open + a->counts.n_ends_only;
	r->n_restarted = a->counts.n_restarted;
	r->n_ambiguous = a->counts.n_ambiguous;
}

/* What the plan of these runs left out. */
static int fill_closed(struct analysis *a)
{
	const struct vprof_plan *plan = a->o->plan;
	struct vprof_results *r = a->r;

	r->closed = calloc((plan ? plan->n_closed : 0) + 1, sizeof *r->closed);
	if (!r->closed)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; plan && i < plan->n_closed; i++) {
		struct vprof_closed *c = &r->closed[r->n_closed++];

		*c = plan->closed[i];
		c->name = vprof_results_string(r, c->name);
		c->file = vprof_results_string(r, c->file);
		c->caller = vprof_results_string(r, c->caller);
		c->display = vprof_results_string(r, c->display);
		c->run = vprof_results_string(r, c->run);
		if (!c->name || !c->file || !c->caller || !c->display || !c->run)
			return VPROF_ERR_NOMEM;
	}
	return 0;
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
		r->io_share = r->nodes[0].io_ns / mean;
		r->running_share = 1 - r->queued_share - r->blocked_share - r->io_share;
		if (a->tree->has_switches) {
			r->kernel_share = r->nodes[0].kernel_ns / mean;
			r->preempted_share = r->nodes[0].preempted_ns / mean;
			r->preempted_by_own = a->tree->preempted_ticks ?
						      (double)a->tree->by_own_ticks / (double)a->tree->preempted_ticks :
						      0;
			r->running_share -= r->preempted_share + r->kernel_share;
		}
		if (r->running_share < 0)
			r->running_share = 0;
	}
}

/* What the intervals' times say beyond the variance tree, and how sure all of it is. */
static int judge(struct analysis *a, struct vprof_error *err)
{
	uint8_t *is_slow = calloc(a->n_intervals + 1, 1);
	struct vprof_work_model model;
	int ret = is_slow ? 0 : VPROF_ERR_NOMEM;

	if (!ret)
		vprof_tail_choose(a->r, &a->attributes, a->o->slower_than_ns, is_slow);
	if (!ret)
		ret = vprof_contributions_fill(a->r, a->tree, is_slow);
	if (!ret)
		ret = vprof_work_fill(a->r, &a->attributes, &model);
	if (!ret)
		ret = vprof_confidence_fill(a->r, a->tree, &a->attributes, is_slow, &model, &a->terms);
	if (!ret) {
		vprof_probe_cost_fill(a->r, a->sources[0].trace->header.record_ns,
				      a->sources[0].trace->header.record_inside_ns);
		vprof_contributions_add_recording(a->r);
		ret = vprof_cost_bounds_widen(a->r, a->tree, &a->cost_scale);
	}
	free(is_slow);
	return ret ? vprof_error_set(
			     err, ret,
			     "not enough memory for the confidence intervals of %zu intervals: record a shorter run",
			     a->n_intervals) :
		     0;
}

static int read_sources(struct analysis *a, struct vprof_error *err)
{
	const struct vprof_analyze_options *o = a->o;
	int ret = 0;

	a->sources = calloc(a->n_sources, sizeof *a->sources);
	if (!a->sources)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for %zu traces", a->n_sources);
	for (; a->n_open < a->n_sources && !ret; a->n_open++) {
		a->sources[a->n_open].enrich = vprof_tiers_without_probes_add;
		ret = vprof_source_open(&a->sources[a->n_open],
					o->n_trace_dirs ? o->trace_dirs[a->n_open] : o->trace_dir, o->n_threads,
					read_progress, a, err);
	}
	if (!ret && (fill_closed(a) || fill_switches(a) || choose_interval(a)))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals");
	if (!ret && vprof_call_paths_find(&a->call_paths, a->sources, a->n_sources))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the trace's call paths");
	if (!ret && o->by_context)
		ret = vprof_context_types_set(a->r, a->sources, a->n_sources, &a->call_paths, a->counts.name, err);
	if (!ret && choose_instances(a))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals");
	if (!ret && o->type && !a->n_intervals)
		ret = vprof_error_set(
			err, VPROF_ERR_MISSING,
			"no complete interval %s is of type \"%s\": vprof report --view types tells which there "
			"are%s",
			a->r->interval, o->type,
			o->by_context ? ", and with --by context: vprof report transactions --by context" : "");
	if (!ret)
		fill_counts(a);
	return ret;
}

static int add_warnings(struct analysis *a, struct vprof_error *err)
{
	struct vprof_findings findings = { .counts = a->is_there ? &a->counts : NULL,
					   .wakes = &a->wakes,
					   .tree = a->tree,
					   .wanted = a->o->interval,
					   .n_warmup = a->n_warmup,
					   .attributes = &a->attributes,
					   .changed = &a->changed,
					   .min_intervals = a->o->min_intervals ? a->o->min_intervals : 30 };

	for (size_t i = 0; i < a->n_sources; i++) {
		findings.is_cut |= a->sources[i].trace->is_cut;
		findings.n_kernel_lost += a->sources[i].trace->header.n_kernel_lost;
	}
	return vprof_warnings_add(a->r, &findings, err);
}

/* A number for what was read. */
static uint64_t digest(const struct analysis *a)
{
	uint64_t sum = vprof_mix(a->n_intervals ^ a->counts.name);

	for (size_t i = 0; i < a->n_open; i++) {
		const struct vprof_trace *trace = a->sources[i].trace;
		const unsigned char *header = (const unsigned char *)&trace->header;

		for (size_t k = 0; k < sizeof trace->header; k++)
			sum = vprof_mix(sum + header[k]);
		sum = vprof_mix(sum ^ a->sources[i].timeline->n_records);
		sum = vprof_mix(sum ^ a->sources[i].timeline->t_last);
	}
	return sum;
}

/* Not all ranks may have read the same, or may be asked for the same. */
static int compare_sources(struct analysis *a, int ret, struct vprof_error *err)
{
	struct {
		uint64_t traces, min_intervals, most_intervals, type;
		int64_t version, k, by_context;
		double threshold, slower_than_ns, warmup_share;
	} mine = { 0,
		   a->o->min_intervals,
		   a->o->most_intervals,
		   a->o->type ? vprof_hash(VPROF_HASH_SEED, a->o->type, strlen(a->o->type)) : 0,
		   VPROF_RESULTS_VERSION,
		   a->o->k,
		   a->o->by_context,
		   a->o->threshold,
		   a->o->slower_than_ns,
		   a->o->warmup_share };
	struct vprof_gathered all;

	if (!a->o->exchange)
		return ret;
	mine.traces = ret ? 0 : digest(a);
	ret = vprof_exchange_gather(a->o->exchange, ret, err, &mine, sizeof mine, &all);
	for (int i = 0; i < vprof_exchange_ranks(a->o->exchange) && !ret; i++)
		if (all.first[i + 1] - all.first[i] != sizeof mine ||
		    memcmp(all.bytes + all.first[i] + sizeof mine.traces, &mine.min_intervals,
			   sizeof mine - sizeof mine.traces))
			ret = vprof_error_set(
				err, VPROF_ERR_INPUT,
				"rank %d has different options, or a different version of vprof, than rank %d: "
				"start all ranks with one command",
				i, vprof_exchange_rank(a->o->exchange));
	for (int i = 0; i < vprof_exchange_ranks(a->o->exchange) && !ret; i++)
		if (memcmp(all.bytes + all.first[i], &mine.traces, sizeof mine.traces))
			ret = vprof_error_set(
				err, VPROF_ERR_INPUT,
				"rank %d reads different traces than rank %d under the same names: give all ranks "
				"the same folders, on shared storage",
				i, vprof_exchange_rank(a->o->exchange));
	vprof_gathered_release(&all);
	return ret;
}

/* Needs nothing of the tree, and nothing of it is needed for the tree. */
static int gather_attributes(void *arg)
{
	struct analysis *a = arg;

	if (vprof_interval_attributes_gather(&a->attributes, a->sources, a->n_sources, a->r) ||
	    vprof_latency_fill(a->r, &a->attributes, NULL))
		return VPROF_ERR_NOMEM;
	return vprof_latency_shape_fill(a->r, &a->attributes);
}

/* Unmapping takes long. What is still read of the traces, for a few examples, is mapped again. */
static int unmap_traces(void *arg)
{
	struct analysis *a = arg;

	for (size_t i = 0; i < a->n_sources; i++)
		vprof_trace_unmap(a->sources[i].trace);
	return 0;
}

/* While the traces are mapped, since calls are read again. */
static int find_crosstalk(struct analysis *a, struct vprof_error *err)
{
	const struct vprof_crosstalk_input input = { .sources = a->sources,
						     .n_sources = a->n_sources,
						     .n_intervals = a->n_intervals,
						     .name = a->counts.name,
						     .plan = a->o->plan,
						     .attributes = &a->attributes,
						     .call_paths = &a->call_paths,
						     .is_named = a->o->by_context,
						     .team = a->tree->team };

	return vprof_crosstalk_fill(a->r, &input, err);
}

/* From the walked paths to the judgement. */
static int evaluate(struct analysis *a, struct vprof_error *err)
{
	int ret;

	progress(a, "tree", 0);
	if (vprof_probe_cost_take_out(a->r, a->tree, &a->attributes,
				      a->o->baseline_mean_ns > 0 ? a->o->baseline_preempted_ns : NAN, &a->cost_scale))
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the variance tree");
	ret = vprof_tree_results(a->tree, a->r, err);
	if (ret)
		return ret;
	fill_shares(a);
	progress(a, "factors", 0);
	ret = vprof_factors_select(a->r, a->o->plan, &a->terms, err);
	if (!ret && vprof_causes_find(a->r, a->tree, a->o->plan))
		ret = vprof_error_set(
			err, VPROF_ERR_NOMEM,
			"not enough memory for the causes: record a shorter run, or measure fewer functions");
	return ret ? ret : judge(a, err);
}

/* What the stacks that were taken meanwhile add. A trace without stacks, or with some that contradict themselves, adds
 * nothing. */
static int look_at_stacks(struct analysis *a, struct vprof_error *err)
{
	struct vprof_source *source = &a->sources[0];
	struct vprof_latency_input input;
	int ret;

	if (!source->trace->n_kernel || !(source->trace->header.kernel_kinds & VP_KERNEL_STACKS))
		return VPROF_OK;
	ret = vprof_latency_input_read(&input, source->trace, err);
	if (!ret)
		ret = vprof_layers_fill(a->r, source, a->o->plan, &input.history, err);
	if (!ret)
		ret = vprof_samples_of_contexts_fill(a->r, source, &a->call_paths, &input.history, err);
	vprof_latency_input_release(&input);
	return ret == VPROF_ERR_NOMEM ? vprof_error_no_memory(err) : VPROF_OK;
}

static int take_steps(struct analysis *a, struct vprof_error *err)
{
	struct vprof_background background;
	int n_workers = vprof_parallel_count(a->o->n_threads), ret, ret_attributes;

	progress(a, "read", 0);
	ret = compare_sources(a, read_sources(a, err), err);
	if (ret)
		return ret;
	vprof_background_begin(&background, n_workers, gather_attributes, a);
	ret = walk_paths(a, err);
	ret_attributes = vprof_background_end(&background);
	if (!ret && ret_attributes)
		ret = vprof_error_set(err, ret_attributes, "not enough memory for the latencies of %zu intervals",
				      a->n_intervals);
	ret = ret ? ret : find_crosstalk(a, err);
	if (ret)
		return ret;
	vprof_background_begin(&background, n_workers, unmap_traces, a);
	ret = evaluate(a, err);
	vprof_background_end(&background);
	vprof_knot_parts_clear(a->r);
	if (!ret && !vprof_exchange_rank(a->o->exchange)) {
		/* which can be looked at one by one */
		if (vprof_examples_fill(a->r, a->sources, a->n_sources, a->o->plan, &a->attributes))
			ret = vprof_error_set(err, VPROF_ERR_NOMEM,
					      "not enough memory to choose examples among %zu intervals",
					      a->n_intervals);
		if (!ret && a->n_sources == 1) /* knots are of one run */
			ret = vprof_knots_fill(a->r, &a->sources[0], &a->attributes, a->o->n_threads, err);
		if (!ret && a->n_sources == 1)
			ret = look_at_stacks(a, err);
		if (!ret && a->n_sources == 1)
			ret = vprof_tiers_fill(a->r, &a->sources[0], a->o->n_threads, err);
		if (!ret)
			ret = vprof_common_frames_find(a->r, a->sources, a->n_sources, a->o->earlier, &a->changed, err);
	}
	if (ret)
		return ret;
	progress(a, "factors", 1);
	vprof_load_share_fill(a->r, a->sources, a->n_sources);
	ret = add_warnings(a, err);
	vprof_causes_judge(a->r);
	return ret;
}

/* The last gather: all ranks have come to the same. A failure on another rank comes with its message. */
static int agree(const struct analysis *a, int ret, struct vprof_error *err)
{
	struct vprof_exchange *x = a->o->exchange;

	if (!x)
		return ret;
	if (!x->has_failed)
		ret = vprof_exchange_gather(x, ret, err, NULL, 0, NULL);
	if (ret && x->has_failed && err)
		*err = x->failure;
	return ret;
}

int vprof_analyze(struct vprof_results **out, const struct vprof_analyze_options *options, struct vprof_error *err)
{
	struct analysis a = { .o = options, .n_sources = options->n_trace_dirs ? options->n_trace_dirs : 1 };
	int ret;

	gsl_set_error_handler_off(); /* it would abort; what can fail is checked */
	*out = NULL;
	a.r = vprof_results_new();
	if (!a.r)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the results");
	a.r->k = options->k > 0 ? options->k : 3;
	a.r->threshold = options->threshold > 0 ? options->threshold : 0.02;
	a.r->baseline_mean_ns = options->baseline_mean_ns > 0 ? options->baseline_mean_ns : NAN;
	a.r->baseline_low = options->baseline_mean_ns > 0 ? options->baseline_low : NAN;
	a.r->baseline_high = options->baseline_mean_ns > 0 ? options->baseline_high : NAN;
	a.r->cost_scale = a.r->outside_mean_ns = a.r->kernel_share = a.r->preempted_share = a.r->preempted_by_own = NAN;
	a.r->run = run_name(a.r, options->n_trace_dirs ? options->trace_dirs[0] : options->trace_dir);
	ret = agree(&a, take_steps(&a, err), err);
	if (!ret) {
		*out = a.r;
		a.r = NULL;
	}
	vprof_tree_free(a.tree); /* by one thread: several that unmap wait for each other */
	vprof_interval_attributes_release(&a.attributes);
	VPROF_ARRAY_RELEASE(&a.terms.terms);
	vprof_call_paths_release(&a.call_paths);
	for (size_t i = 0; i < a.n_sources && a.sources; i++)
		vprof_source_release(&a.sources[i]);
	free(a.sources);
	vprof_results_free(a.r);
	return ret;
}
