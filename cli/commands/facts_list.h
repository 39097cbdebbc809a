/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `vprof doctor --facts`: every function that cannot be instrumented, with its reason, by file and by unit; and what
 * the resident build, if there is one, left out. */
#ifndef VPROF_FACTS_LIST_H
#define VPROF_FACTS_LIST_H

#include <cjson/cJSON.h>

#include "common/facts/facts.h"
#include "instrumenter/resident/resident_map.h"

/* Prints counts by reason, then each file with its functions, then units that the scan could not read whole, then what
 * `resident` (NULL: there is no such build) left out. */
int vprof_facts_list_print(const struct vprof_facts *facts, const struct vprof_resident *resident,
			   struct vprof_error *err);

/* The same for programs (docs/facts.md has the keys). NULL when out of memory. */
cJSON *vprof_facts_list_json(const struct vprof_facts *facts, const struct vprof_resident *resident);

#endif
