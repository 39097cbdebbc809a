/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns: requests whose trees visit the same tiers in the same order (vPath, figures 10, 12 and 13). */
#ifndef VPROF_REQUESTS_PATH_PATTERNS_H
#define VPROF_REQUESTS_PATH_PATTERNS_H

#include "analysis/requests/request_trees.h"
#include "analysis/requests/tiers.h"
#include "common/text.h"

struct vprof_path_pattern {
	uint64_t hash;
	uint32_t example; /* the first of its requests */
	uint64_t n_requests;
};

struct vprof_path_patterns {
	VPROF_ARRAY(struct vprof_path_pattern) v; /* most requests first */
	VPROF_ARRAY(uint32_t) of_request;	  /* VPROF_NONE: of one that is left out */
};

/* Of the requests with is_used set. OK or NOMEM; to be released in any case. O(nodes). */
int vprof_path_patterns_find(struct vprof_path_patterns *p, const struct vprof_exchanges *x,
			     const struct vprof_request_trees *t, const struct vprof_tiers *tiers,
			     const unsigned char *is_used);
void vprof_path_patterns_release(struct vprof_path_patterns *p);

#define VPROF_PATH_LINE 400 /* bytes */

/* Appends a request's path: "a > b x 3", "a > (b, c > d x 2)"; what comes after n_bytes is left out ("..."). */
void vprof_path_tell(struct vprof_text *to, uint32_t request, size_t n_bytes, const struct vprof_exchanges *x,
		     const struct vprof_request_trees *t, const struct vprof_tiers *tiers);

#endif
