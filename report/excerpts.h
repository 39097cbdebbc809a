/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The source lines in which factors sit, with the calls marked whose time is measured.
 *
 * Only regular files beneath the project's root are read, whatever the results name.
 */
#ifndef VPROF_EXCERPTS_H
#define VPROF_EXCERPTS_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "analysis/results/results.h"
#include "common/facts/facts.h"

/* A list of {file, path, name, line, node, is_changed, lines: [[number, text], ...], marks: [[line, node], ...]} for
 * the places of the first factors. `line` is the function's, or the call's of an external one; `node` the first of the
 * results' nodes there; is_changed: the file is younger than `run_time`. NULL without memory. */
cJSON *vprof_excerpts(const struct vprof_results *r, const struct vprof_facts *facts, const char *root,
		      int64_t run_time);

#endif
