/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which requests an export contains, and the times of their visits. */
#ifndef VPROF_CHOSEN_REQUESTS_H
#define VPROF_CHOSEN_REQUESTS_H

#include "common/array.h"
#include "report/export/export.h"

struct vprof_chosen_requests {
	VPROF_ARRAY(uint32_t) v; /* in results->requests, by time */
};

/* Those that are whole and not ambiguous; with a limit the slowest of them. Sets e->n_left_out. OK or NOMEM; to be
 * released in any case. */
int vprof_chosen_requests_find(struct vprof_chosen_requests *c, struct vprof_export *e);
void vprof_chosen_requests_release(struct vprof_chosen_requests *c);

/* Where it was served, or else as its caller saw it: ns since 1970. */
uint64_t vprof_visit_begin(const struct vprof_requests_results *r, const struct vprof_requests_visit *v);
uint64_t vprof_visit_end(const struct vprof_requests_results *r, const struct vprof_requests_visit *v);
/* As its caller saw it. */
uint64_t vprof_call_begin(const struct vprof_requests_results *r, const struct vprof_requests_visit *v);
uint64_t vprof_call_end(const struct vprof_requests_results *r, const struct vprof_requests_visit *v);

#endif
