/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/source/source.h"

#include "analysis/source/outlasting.h"
#include "analysis/timeline/calls.h"
#include "analysis/timeline/edges/received.h"

#define CALLS_BYTES ((size_t)4 << 20) /* kept of calls that were read again */

int vprof_source_open(struct vprof_source *s, const char *trace_dir, int n_threads,
		      void (*progress)(void *arg, double done), void *arg, struct vprof_error *err)
{
	int ret = vprof_trace_open(&s->trace, trace_dir, err);

	if (!ret)
		ret = vprof_timeline_build(&s->timeline, s->trace, n_threads, progress, arg, err);
	if (!ret)
		ret = vprof_wakes_match(s->timeline, &s->wakes, err);
	if (!ret && s->enrich)
		ret = s->enrich(s, err);
	if (!ret)
		ret = vprof_received_find(s->timeline, err);
	if (!ret)
		ret = vprof_intervals_build(&s->intervals, s->timeline, err);
	if (!ret && (vprof_window_list_read(&s->windows, s->trace) || vprof_plan_list_read(&s->plans, s->trace)))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals");
	if (!ret && vprof_outlasting_find(s->timeline, &s->plans))
		ret = vprof_error_no_memory(err);
	return ret;
}

/* Complete, but some of its calls may not have been recorded: only its latency counts, for comparison. */
static void count_outside(struct vprof_source *s, const struct vprof_instance *inst)
{
	double ns = (double)(inst->end - inst->begin) * s->timeline->ns_per_tick;

	s->n_outside++;
	s->outside_mean_ns += (ns - s->outside_mean_ns) / (double)s->n_outside;
}

/* Under an earlier plan the probe set another gate for what it calls, so a call that began then lacks calls within it.
 */
static int is_changed(const struct vprof_plan *plan, uint32_t code)
{
	const struct vprof_probe *probe = plan ? vprof_plan_probe(plan, code) : NULL;

	return probe && probe->is_changed;
}

/* From when on no thread is in a call that began before the plan first came into force and lacks calls within it.
 * Whether an interval counts must not depend on what it waited for, so all that begin earlier are left out. */
static int find_settled(const struct vprof_source *s, uint32_t number, uint64_t *settled)
{
	uint64_t first = vprof_plan_list_first(&s->plans, number);
	struct vprof_calls *calls = vprof_calls_new(s->timeline->n_threads, CALLS_BYTES);
	const struct vprof_call *v;
	int ret = calls ? 0 : VPROF_ERR_NOMEM;
	size_t n;

	*settled = 0;
	for (uint32_t i = 0; i < s->timeline->n_threads && !ret && first; i++) {
		ret = vprof_calls_open(calls, i, &s->timeline->threads[i].calls, first, &v, &n);
		for (size_t k = 0; k < n && !ret; k++)
			if (is_changed(s->plan, v[k].code) && v[k].t1 > *settled)
				*settled = v[k].t1;
	}
	vprof_calls_free(calls);
	return ret;
}

static int add_latency(struct vprof_source *s, const struct vprof_instance *inst, size_t turn, int is_baseline)
{
	struct vprof_turn_latency *latency = VPROF_PUSH(&s->latencies);

	if (!latency)
		return VPROF_ERR_NOMEM;
	*latency = (struct vprof_turn_latency){ turn, (double)(inst->end - inst->begin) * s->timeline->ns_per_tick,
						is_baseline };
	return 0;
}

static int choose(struct vprof_source *s, size_t i)
{
	uint32_t *slot = VPROF_PUSH(&s->chosen);

	if (!slot)
		return VPROF_ERR_NOMEM;
	*slot = (uint32_t)i;
	return 0;
}

/* Of a live session: the interval counts if probes were as this plan has them from its begin to its end. */
static int choose_live(struct vprof_source *s, size_t i, uint32_t number, uint64_t settled)
{
	const struct vprof_instance *inst = &s->intervals->instances.v[i];
	uint32_t in_force;
	size_t turn;

	switch (vprof_plan_list_side(&s->plans, inst->process_seq, inst->begin, inst->end, &in_force, &turn)) {
	case VPROF_PLAN_STRADDLES:
		s->n_straddling++;
		return 0;
	case VPROF_PLAN_BASELINE:
		count_outside(s, inst);
		return add_latency(s, inst, turn, 1);
	case VPROF_PLAN_MEASURED:
		if ((number && in_force != number) || inst->begin < settled ||
		    !vprof_window_list_contains(&s->windows, inst->begin))
			return 0;
		return add_latency(s, inst, turn, 0) || choose(s, i) ? VPROF_ERR_NOMEM : 0;
	default:
		return 0;
	}
}

int vprof_source_choose(struct vprof_source *s, uint64_t name, int is_there, double warmup_share, size_t first,
			double from_ns)
{
	const struct vp_file_header *h = &s->trace->header;
	uint64_t start = h->start_ticks && h->start_ticks < s->timeline->t_first ? h->start_ticks :
										   s->timeline->t_first;
	uint64_t stop = h->end_ticks > s->timeline->t_last ? h->end_ticks : s->timeline->t_last;
	double warmup = warmup_share > 0 && warmup_share < 1 ? warmup_share : 0;
	uint64_t from = start + (uint64_t)((double)(stop - start) * warmup), settled = 0;
	uint32_t number = s->plan ? s->plan->number : 0;

	if (number && find_settled(s, number, &settled))
		return VPROF_ERR_NOMEM;
	s->first = first;
	s->from_ns = from_ns;
	s->start = start;
	s->duration_ns = (double)(stop - start) * s->timeline->ns_per_tick;
	for (size_t i = 0; i < s->intervals->names.n && is_there; i++)
		if (s->intervals->names.v[i].name == name)
			s->counts = &s->intervals->names.v[i];
	for (size_t i = 0; i < s->intervals->instances.n && s->counts; i++) {
		const struct vprof_instance *inst = &s->intervals->instances.v[i];

		if (inst->name != name || inst->state != VPROF_INSTANCE_COMPLETE)
			continue;
		if (inst->begin < from) {
			s->n_warmup++;
		} else if (inst->is_lossy) {
			s->n_lossy++;
		} else if (s->plans.is_live) {
			if (choose_live(s, i, number, settled))
				return VPROF_ERR_NOMEM;
		} else if (!vprof_window_list_contains(&s->windows, inst->begin)) {
			count_outside(s, inst);
		} else if (choose(s, i)) {
			return VPROF_ERR_NOMEM;
		}
	}
	return 0;
}

int vprof_source_connect(struct vprof_source *s, struct vprof_error *err)
{
	return s->edges ? 0 : vprof_edges_new(&s->edges, s->timeline, s->intervals, err);
}

void vprof_source_release(struct vprof_source *s)
{
	vprof_edges_free(s->edges);
	vprof_intervals_free(s->intervals);
	vprof_timeline_free(s->timeline);
	vprof_window_list_release(&s->windows);
	vprof_plan_list_release(&s->plans);
	VPROF_ARRAY_RELEASE(&s->latencies);
	VPROF_ARRAY_RELEASE(&s->chosen);
	vprof_trace_free(s->trace);
	*s = (struct vprof_source){ 0 };
}
