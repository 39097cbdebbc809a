/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a project stands and what comes next, from what is in its folder alone: nothing is built, scanned or run. */
#ifndef VPROF_STANDING_H
#define VPROF_STANDING_H

#include "cli/drilldown/session.h"
#include "cli/project.h"
#include "cli/standing/run_list.h"

enum vprof_stage {
	VPROF_STAGE_NOTHING,	 /* neither vprof.json nor .vprof */
	VPROF_STAGE_RECORDED,	 /* recordings only, no vprof.json */
	VPROF_STAGE_DAMAGED,	 /* vprof.json or the session cannot be read */
	VPROF_STAGE_DRAFTED,	 /* vprof.json lacks an interval or a command to run */
	VPROF_STAGE_ANNOTATED,	 /* no drill-down has begun */
	VPROF_STAGE_INTERRUPTED, /* in the middle of a round */
	VPROF_STAGE_DRILLING,	 /* a round is done, the next one measures more */
	VPROF_STAGE_ENDED,	 /* the drill-down is over */
	VPROF_STAGE_COUNT
};

/* "nothing", "recorded", ..., as in JSON. */
extern const char *const vprof_stage_names[VPROF_STAGE_COUNT];

#define VPROF_NEXT_MAX 5

struct vprof_next_step {
	char command[160]; /* to be typed as it is */
	const char *why;
};

struct vprof_standing {
	enum vprof_stage stage;
	char *sentence;			  /* the stage in words, without an end */
	char *stale;			  /* what changed since it was measured, or scanned; "" */
	char *damage;			  /* of DAMAGED: what and where, and what to do; "" */
	char holder[80];		  /* the command that works here now; "" when it is not known */
	int is_busy;			  /* a command works here now */
	int has_probes;			  /* objects or binaries are built with probes */
	size_t n_open;			  /* causes of the last results that a person has said nothing of */
	const struct vprof_run_entry *at; /* in runs: the last one with results; NULL: none */
	struct vprof_run_list runs;
	struct vprof_next_step next[VPROF_NEXT_MAX];
	size_t n_next;
};

/* OK, NOMEM, or FAILED where the runs cannot be read; to be released in any case. */
int vprof_standing_read(struct vprof_standing *out, const struct vprof_project *p, struct vprof_error *err);
void vprof_standing_release(struct vprof_standing *s);

#endif
