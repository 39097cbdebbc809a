/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls from the order of their ends, as they are recorded, to preorder: that of their begins, callers first. */
#ifndef VPROF_PREORDER_H
#define VPROF_PREORDER_H

#include "analysis/timeline/call_index.h"

/* storage, used again; zero-initialised */
struct vprof_preorder {
	VPROF_ARRAY(struct vprof_call) calls;
	VPROF_ARRAY(uint32_t) scratch;
};

/* Linear in n. Overlaps that cannot be (damaged times) are cut so that calls nest. *out belongs to `p`. OK or NOMEM. */
int vprof_preorder_build(struct vprof_preorder *p, const struct vprof_call *ended, size_t n,
			 const struct vprof_call **out);
void vprof_preorder_release(struct vprof_preorder *p);

#endif
