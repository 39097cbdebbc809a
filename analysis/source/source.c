/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/source/source.h"

int vprof_source_open(struct vprof_source *s, const char *trace_dir, int n_threads,
		      void (*progress)(void *arg, double done), void *arg, struct vprof_error *err)
{
	int ret = vprof_trace_open(&s->trace, trace_dir, err);

	if (!ret)
		ret = vprof_timeline_build(&s->timeline, s->trace, n_threads, progress, arg, err);
	if (!ret)
		ret = vprof_wakes_match(s->timeline, &s->wakes, err);
	if (!ret)
		ret = vprof_intervals_build(&s->intervals, s->timeline, err);
	if (!ret && vprof_window_list_read(&s->windows, s->trace))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals");
	return ret;
}

/* Complete, but some of its calls may not have been recorded: only its latency counts, for comparison. */
static void count_outside(struct vprof_source *s, const struct vprof_instance *inst)
{
	double ns = (double)(inst->end - inst->begin) * s->timeline->ns_per_tick;

	s->n_outside++;
	s->outside_mean_ns += (ns - s->outside_mean_ns) / (double)s->n_outside;
}

int vprof_source_choose(struct vprof_source *s, uint64_t name, int is_there, double warmup_share, size_t first,
			double from_ns)
{
	const struct vp_file_header *h = &s->trace->header;
	uint64_t start = h->start_ticks && h->start_ticks < s->timeline->t_first ? h->start_ticks :
										   s->timeline->t_first;
	uint64_t stop = h->end_ticks > s->timeline->t_last ? h->end_ticks : s->timeline->t_last;
	double warmup = warmup_share > 0 && warmup_share < 1 ? warmup_share : 0;
	uint64_t from = start + (uint64_t)((double)(stop - start) * warmup);

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
		} else if (!vprof_window_list_contains(&s->windows, inst->begin)) {
			count_outside(s, inst);
		} else {
			uint32_t *slot = VPROF_PUSH(&s->chosen);

			if (!slot)
				return VPROF_ERR_NOMEM;
			*slot = (uint32_t)i;
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
	VPROF_ARRAY_RELEASE(&s->chosen);
	vprof_trace_free(s->trace);
	*s = (struct vprof_source){ 0 };
}
