/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --fail-if says: "p99 > +5%, variance > +20%". */
#ifndef VPROF_CONDITIONS_H
#define VPROF_CONDITIONS_H

#include <stddef.h>

#include "analysis/stats/compare.h"

#define VPROF_CONDITIONS_MAX 16

struct vprof_condition {
	enum vprof_figure figure;
	int is_above; /* fails when the change is above the limit, else when it is below */
	double limit; /* 0.05 is +5 % */
};

enum vprof_verdict_of_change {
	VPROF_CHANGE_PASSES,	   /* no part of the interval lies beyond the limit */
	VPROF_CHANGE_FAILS,	   /* all of it does */
	VPROF_CHANGE_INCONCLUSIVE, /* the limit lies within it, or it is not known */
};

/* How many conditions `text` holds, or 0 with *wrong pointing to what cannot be read. */
size_t vprof_conditions_parse(const char *text, struct vprof_condition conditions[VPROF_CONDITIONS_MAX],
			      const char **wrong);

enum vprof_verdict_of_change vprof_condition_judge(const struct vprof_condition *c, const struct vprof_change *change);

#endif
