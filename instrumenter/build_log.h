/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a person needs to see of a build's output. */
#ifndef VPROF_BUILD_LOG_H
#define VPROF_BUILD_LOG_H

#include "common/error.h"
#include "common/text.h"

/* Appends about `max_lines` lines of `output` to `out`, indented by two spaces: from the first error on, or the last
 * lines when none looks like an error. At most 1,200 bytes. Every `from` becomes `to` (NULL: nothing replaced). */
void vprof_build_excerpt(struct vprof_text *out, const char *output, int max_lines, const char *from, const char *to);

/* What a program's output says about its failure. */
enum vprof_error_reason vprof_output_reason(const char *output);

#endif
