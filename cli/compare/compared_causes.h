/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The causes of two sides beside each other, told by their keys, which are the same in every run. */
#ifndef VPROF_COMPARED_CAUSES_H
#define VPROF_COMPARED_CAUSES_H

#include <cjson/cJSON.h>

#include "cli/compare/comparison.h"

/* Up to `top` causes of either side on stdout, those of the base first, each in its sentence with its standard
 * deviation on both sides: the root of the mean variance over the runs in which it is a cause. Its change is a share of
 * the base's mean variance, with 95 % bounds where there are several runs of each side (of causes near the threshold,
 * which all of them passed, too narrow ones); it is not given where one of the runs lacks the cause, which may be below
 * the threshold there, part of another, or not measured. */
void vprof_compared_causes_print(const struct vprof_comparison *c, size_t top);

/* The same as {key, name, sentence, base_sd_ns, new_sd_ns, change, low, high}; null: no cause there, no bounds. */
void vprof_compared_causes_add(cJSON *list, const struct vprof_comparison *c);

#endif
