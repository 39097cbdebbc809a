/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that claim to be text: names and paths come from other people's sources and traces. */
#ifndef VPROF_UTF8_H
#define VPROF_UTF8_H

#include <stddef.h>

#include "common/text.h"

#define VPROF_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Bytes of the well-formed UTF-8 sequence at s, which ends with a NUL: 1 to 4. 0 when it is malformed: overlong, a
 * surrogate, cut, beyond U+10FFFF. */
size_t vprof_utf8_length(const char *s);

/* Is all of s well-formed? */
int vprof_utf8_is_valid(const char *s);

/* Appends s with a U+FFFD for each byte that is no UTF-8; NULL is "". */
void vprof_text_add_utf8(struct vprof_text *t, const char *s);

#endif
