/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the threads of a random schedule do: servers of several stages, event loops, hand-overs that nothing records,
 * background work; and what they have in common: locks, conditions, barriers, queues. */
#ifndef SIMULATE_PROGRAMS_H
#define SIMULATE_PROGRAMS_H

#include "tests/simulate/schedule/interval.h"

#define SIM_FUNCTIONS 8
#define SIM_SITES 4
extern const char *const sim_site_names[SIM_SITES];

/* Makes the threads of a schedule; world_run lets them go. `size`: how many things happen, about. */
void programs_make(struct world *w, unsigned size);

#endif
