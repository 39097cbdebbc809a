/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attributes in OTLP's JSON encoding: {"key": ..., "value": ...}, with a comma before all but the first. */
#ifndef VPROF_OTLP_ATTRIBUTES_H
#define VPROF_OTLP_ATTRIBUTES_H

#include <stdint.h>
#include <stdio.h>

void vprof_otlp_text(FILE *to, const char *key, const char *value, int is_first);
/* 64-bit integers are strings in this encoding. */
void vprof_otlp_count(FILE *to, const char *key, uint64_t value, int is_first);
void vprof_otlp_number(FILE *to, const char *key, double value, int is_first); /* finite */

#endif
