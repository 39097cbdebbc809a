/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which waits limit throughput, in a sentence; what to be careful about; what usually helps. The words that the text
 * report and the page have in common. */
#ifndef VPROF_WAITS_ANSWER_H
#define VPROF_WAITS_ANSWER_H

#include "analysis/results/waits_members.h"
#include "common/text.h"
#include "report/answer.h"
#include "report/format_value.h"

/* The sentence, with its full stop, and the warnings. Failed memory shows in their texts. */
void vprof_waits_answer(const struct vprof_waits_results *r, struct vprof_answer *answer);

/* A time as a share of the recording. */
struct vprof_value vprof_waits_share(const struct vprof_waits_results *r, double ns);

/* Part of the waiting time that has no known waker; 0 without waits. */
double vprof_waits_unknown_part(const struct vprof_waits_results *r);

/* What usually helps against a knot or a sink; static. */
const char *vprof_waits_remedy(const struct vprof_waits_results *r, const struct vprof_waits_group *g);

/* Is there nothing that limits throughput in the recording? */
int vprof_waits_is_empty(const struct vprof_waits_results *r);

/* Is the replay true enough for the gains estimated with it to be told? */
int vprof_waits_is_faithful(const struct vprof_waits_results *r);

int vprof_waits_has_kind(const struct vprof_waits_results *r, const struct vprof_waits_group *g,
			 enum vprof_waits_party_kind kind);

#endif
