/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `vprof doctor --facts`: every function that cannot be instrumented, with its reason, by file and by unit. */
#ifndef VPROF_FACTS_LIST_H
#define VPROF_FACTS_LIST_H

#include <cjson/cJSON.h>

#include "common/facts/facts.h"

/* Prints counts by reason, then each file with its functions, then units that the scan could not read whole. */
int vprof_facts_list_print(const struct vprof_facts *facts, struct vprof_error *err);

/* The same for programs (docs/facts.md has the keys). NULL when out of memory. */
cJSON *vprof_facts_list_json(const struct vprof_facts *facts);

#endif
