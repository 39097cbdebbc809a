/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units of work that no loop waits for. */
#ifndef VPROF_DISCOVER_UNITS_H
#define VPROF_DISCOVER_UNITS_H

#include "annotate/discover/ranking.h"

/* What a program begins and commits or ends by name. */
void vprof_observe_units(struct vprof_ranking *r);
/* Work that threads do one after the other. */
void vprof_observe_turns(struct vprof_ranking *r);
/* Names, where nothing else was observed. Call it last. */
void vprof_observe_names(struct vprof_ranking *r);

#endif
