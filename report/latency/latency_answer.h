/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What functions cost, or cost more than before, in a sentence; what to be careful about. The words that the text
 * report and the page have in common. */
#ifndef VPROF_LATENCY_ANSWER_H
#define VPROF_LATENCY_ANSWER_H

#include "analysis/results/latency_results.h"
#include "common/text.h"
#include "report/answer.h"

enum vprof_latency_outcome {
	VPROF_LATENCY_ANSWERED,
	VPROF_LATENCY_SAME,	/* of two runs: nothing takes longer */
	VPROF_LATENCY_UNDECIDED /* the bounds are too wide, or there is nothing to tell */
};

enum vprof_latency_outcome vprof_latency_outcome(const struct vprof_latency_results *r);

/* The sentence, with its full stop, and the warnings with what to do. Failed memory shows in their texts. */
void vprof_latency_answer(const struct vprof_latency_results *r, struct vprof_answer *answer);

/* Appends how many events were left out of the inference for their stacks, by the reason; 0: none, and nothing is
 * appended. */
int vprof_latency_left_out_words(const struct vprof_latency_side *s, struct vprof_text *out);

/* Appends a path's functions, outermost first, without those that start programs and threads; in the middle "..." for
 * what exceeds `most` functions (0: all are shown). */
void vprof_latency_path_words(const struct vprof_latency_results *r, const struct vprof_latency_path_result *p,
			      size_t most, struct vprof_text *out);

/* What a path tells of the context at the end of so many of its steps: ", with all that it calls," and the like; ""
 * where it calls nothing that was seen. */
const char *vprof_latency_extent(const struct vprof_latency_results *r, const struct vprof_latency_path_result *p,
				 size_t n);

/* All that new cost, without idle time, ns per unit. */
double vprof_latency_cost(const struct vprof_latency_results *r, int side);

#endif
