/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a drill-down is over, and what it leaves open. */
#ifndef VPROF_ENDING_H
#define VPROF_ENDING_H

#include "analysis/results/results.h"
#include "cli/drilldown/session.h"

/* How a drill-down ends whose next round would measure nothing new. ALL_MEASURED only when no factor above the
 * threshold could be broken down; NONE without memory. */
enum vprof_ending vprof_ending_of(const struct vprof_results *r, const struct vprof_session *s);

/* The ending in words, with the factors that could still be broken down and the command that goes on; heap text, ""
 * while the drill-down goes on. `r` NULL: the ending alone. NULL without memory. */
char *vprof_ending_tell(const struct vprof_results *r, const struct vprof_session *s);

#endif
