/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The probes of a resident build (docs/design/live.md): C functions are written a second time, with a probe, as their
 * twins; what cannot have a twin has a resident probe in its body. */
#ifndef VPROF_SPLICE_LIVE_H
#define VPROF_SPLICE_LIVE_H

#include "common/facts/facts.h"
#include "common/plan.h"
#include "instrumenter/splice/splice_edit.h"

/* What a twin is called: its function's name, and this behind it. */
#define VPROF_TWIN_SUFFIX "__vp"

/* The text around a call of each form; code (and what else the probe takes) goes between the first two strings. */
extern const char *const vprof_site_text[][3];

/* Adds the edits of all probes of the plan. Reads the files of functions that may have twins. */
int vprof_splice_live(struct vprof_edits *edits, const struct vprof_facts *facts, const struct vprof_plan *plan,
		      struct vprof_error *err);

#endif
