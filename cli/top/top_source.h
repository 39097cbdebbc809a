/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The source of what `vprof top` has chosen: where it is, and its file's lines. */
#ifndef VPROF_TOP_SOURCE_H
#define VPROF_TOP_SOURCE_H

#include "cli/live/top_view.h"
#include "cli/project.h"

struct vprof_top_source {
	char *title;  /* "src/parse.c:120  parse_line" */
	char **lines; /* cleaned, tabs spread */
	size_t n;
	size_t line; /* of the definition or call, from 1 */
};

/* MISSING: no source is known for it, or it cannot be read. Release it in any case. */
int vprof_top_source_read(struct vprof_top_source *s, const struct vprof_project *p, const struct vprof_top *top,
			  enum vprof_top_list list, size_t row, struct vprof_error *err);
void vprof_top_source_release(struct vprof_top_source *s);

#endif
