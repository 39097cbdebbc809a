/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which intervals' figures are known. Of some nobody can tell whom they waited for (truth.h, is_unknowable), or records
 * of theirs were lost without a record that tells. Whole analyses have figures of all their intervals, so each is
 * compared twice: as it is, and as if exactly these intervals had another name. The simulated machine alone decides
 * which they are, before anything is analysed.
 */
#ifndef SIMULATE_KNOWN_H
#define SIMULATE_KNOWN_H

#include "tests/simulate/figures.h"

#define KNOWN_LEFT_OUT_MOST 0.06L /* of all intervals; it is 0.044 of the first 3,000 schedules */

/* Calls truth_prepare(), and sets is_apart and is_figured of the intervals. */
void known_choose(struct world *w);
bool known_has_apart(const struct world *w);
/* Adds those that are figured, in this order: the same for the same schedule, whatever the analysis found. */
void known_add(struct figures *f, struct world *w);
/* False: more were left out than KNOWN_LEFT_OUT_MOST; of few intervals nothing is said. */
bool known_are_most(const uint64_t *coverage);

#endif
