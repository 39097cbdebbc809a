/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that claim to be text: names and paths come from other people's sources and traces. */
#ifndef VPROF_UTF8_H
#define VPROF_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed UTF-8 sequence at s, which ends with a NUL: 1 to 4. 0 when it is malformed: overlong, a surrogate, cut,
 * beyond U+10FFFF. */
size_t vprof_utf8_length(const char *s);

#endif
