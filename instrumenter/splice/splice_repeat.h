/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VPROF_SPLICE_REPEAT_H
#define VPROF_SPLICE_REPEAT_H

#include "common/facts/facts.h"
#include "common/text.h"

/* Are all conditions of the preprocessor that the text opens closed in it, and does it mean the same when it stands
 * there twice? */
int vprof_text_can_repeat(const struct vprof_facts *facts, const char *text, size_t n);

/* The number that the compiler gives to the line of an offset. */
unsigned long vprof_text_line_at(const struct vprof_text *text, size_t offset);

#endif
