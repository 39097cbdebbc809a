/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A round in a line: what was opened, what was learnt, and how sure that is. */
#ifndef VPROF_ROUND_LINE_H
#define VPROF_ROUND_LINE_H

#include "analysis/results/results.h"
#include "cli/drilldown/session.h"

/* What the round before measured: how far the session's lists went then. */
struct vprof_measured {
	int is_known;
	size_t n_broken_down, n_closed, n_every_call;
};

struct vprof_measured vprof_measured_now(const struct vprof_session *s);

/* On stderr, of the last round, which is analysed. `seconds`: that it took. */
void vprof_round_line(const struct vprof_session *s, const struct vprof_results *r, const struct vprof_measured *before,
		      double seconds);

#endif
