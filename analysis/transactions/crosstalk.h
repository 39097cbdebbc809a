/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crosstalk (Whodunit, EuroSys 2007, section 6): how long intervals of one type waited for what threads did for
 * intervals of another, by lock, with what the holders ran meanwhile. docs/design/transactions.md has the method.
 *
 * This is the entry to the room analysis/transactions. It walks the pieces that the variance tree is made of, so that
 * the waiting time of all pairs sums to the tree's waits for other threads and queue delays, tick by tick.
 */
#ifndef VPROF_CROSSTALK_H
#define VPROF_CROSSTALK_H

#include "analysis/transactions/crosstalk_input.h"

/* Fills `crosstalk` and `parties` of the results. Neither threads nor ranks change a digit. OK, NOMEM, or what another
 * rank failed with. */
int vprof_crosstalk_fill(struct vprof_results *r, const struct vprof_crosstalk_input *input, struct vprof_error *err);

#endif
