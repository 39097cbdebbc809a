/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timed calls of hot functions, which stand for others that were only counted (docs/format.md, SAMPLE). */
#ifndef VPROF_TIMELINE_SAMPLES_H
#define VPROF_TIMELINE_SAMPLES_H

#include "analysis/timeline/thread_timeline.h"

/* The sample of a call with is_sampled; NULL when damage parted them. */
const struct vprof_sampled *vprof_thread_timeline_sampled(const struct vprof_thread_timeline *thr,
							  const struct vprof_call *call);

/* Records of hot functions, in record order; then sorted once. OK or NOMEM. */
int vprof_samples_add(struct vprof_thread_timeline *thr, uint64_t t0, uint64_t duration, uint32_t code,
		      uint64_t payload);
void vprof_samples_count(struct vprof_thread_timeline *thr, uint32_t code, uint32_t n);
int vprof_samples_sort(struct vprof_thread_timeline *thr);

#endif
