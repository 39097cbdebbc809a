/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latencies of intervals that overlap count each: the share is an upper bound of the time in which any was under way.
 */
#include "analysis/stats/load_share.h"

#include <math.h>

/* the program computed ten times as long as any interval was under way */
#define BUSY_TIMES 10

/* CPU time of the threads that recorded anything, from their first record to their last. */
static double busy_ticks(const struct vprof_timeline *timeline)
{
	double sum = 0;

	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct vprof_thread_timeline *thr = &timeline->threads[i];
		double on = (double)(thr->t_last - thr->t_first);

		for (size_t k = 0; k < thr->off_cpu.n; k++) {
			const struct vprof_off_cpu *off = &thr->off_cpu.v[k];
			uint64_t from = off->t0 > thr->t_first ? off->t0 : thr->t_first;
			uint64_t to = off->t1 < thr->t_last ? off->t1 : thr->t_last;

			on -= to > from ? (double)(to - from) : 0;
		}
		sum += on > 0 ? on : 0;
	}
	return sum;
}

void vprof_load_share_fill(struct vprof_results *r, const struct vprof_source *sources, size_t n_sources)
{
	double busy_ns = 0, covered_ns = (double)vprof_results_n_all(r) * r->mean_ns;

	r->covered_share = r->busy_share = NAN;
	if (!(r->duration_ns > 0))
		return;
	for (const struct vprof_source *s = sources; s < sources + n_sources; s++)
		busy_ns += s->timeline->has_switches ? busy_ticks(s->timeline) * s->timeline->ns_per_tick : NAN;
	if (r->n_outside)
		covered_ns += (double)r->n_outside * r->outside_mean_ns;
	r->covered_share = covered_ns / r->duration_ns;
	r->busy_share = busy_ns / r->duration_ns;
}

int vprof_load_share_is_sliver(const struct vprof_results *r)
{
	if (!(r->covered_share < VPROF_SLIVER))
		return 0;
	return !isfinite(r->busy_share) || r->busy_share > BUSY_TIMES * r->covered_share;
}
