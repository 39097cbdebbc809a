/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof init --watch: what a recorded load shows of a program's requests. */
#ifndef VPROF_WATCH_H
#define VPROF_WATCH_H

#include "annotate/discover/watched.h"
#include "common/hash/string_set.h"

struct vprof_watch {
	struct vprof_watched seen; /* texts belong to `strings` */
	int is_found;		   /* else `why_not` */
	const char *why_not;
	struct vprof_strings strings;
};

/* The interval is the function that a person named when the run was recorded (vprof record --interval). OK or NOMEM. */
int vprof_watch_name(struct vprof_watch *w, const char *function, const char *run, struct vprof_error *err);

/* trace: recorded with stacks and transfers. OK, also when nothing was found; INPUT, NOMEM. Release in any case. */
int vprof_watch_read(struct vprof_watch *w, const char *trace, const struct vprof_facts *facts,
		     struct vprof_error *err);
void vprof_watch_release(struct vprof_watch *w);

#endif
