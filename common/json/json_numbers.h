/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers and texts of JSON, as cJSON prints and reads them, some ten times as fast: a result may have a hundred
 * million bytes of them.
 *
 * A number is printed with 15 digits where these are read as the same double, or one that differs in its last bit, and
 * with 17 otherwise. What is read is the double nearest to the text.
 */
#ifndef VPROF_JSON_NUMBERS_H
#define VPROF_JSON_NUMBERS_H

#include <stddef.h>

#include "common/text.h"

#define VPROF_JSON_NUMBER_BYTES 32

/* Writes x, which is finite, without a NUL. Returns how many bytes. */
size_t vprof_json_number_print(char out[VPROF_JSON_NUMBER_BYTES], double x);

/* x, or null where it is not finite. */
void vprof_json_add_double(struct vprof_text *t, double x);

/* s in quotation marks, with what JSON escapes. NULL: "". */
void vprof_json_add_quoted(struct vprof_text *t, const char *s);

/* The number at the beginning of a NUL-terminated text, whose end is told; NULL: none that JSON knows. */
const char *vprof_json_number_scan(const char *text, double *x);

#endif
