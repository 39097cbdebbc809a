/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values as a person reads them: durations, shares, counts, and names cut to a number of columns. */
#ifndef VPROF_FORMAT_VALUE_H
#define VPROF_FORMAT_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "common/text.h"

struct vprof_value {
	char s[48];
};

struct vprof_value vprof_format_duration(double ns);   /* "1.92 ms"; "-" when not finite */
struct vprof_value vprof_format_percent(double share); /* 0.713 -> "71 %"; "0.4 %" when small; "-" when not finite */
/* A share that would go, as the change of the variance: 0.95 -> "-95 %", -0.03 -> "+3 %". */
struct vprof_value vprof_format_change(double share);
struct vprof_value vprof_format_at_most(double share); /* the same, rounded up: for an upper bound */
struct vprof_value vprof_format_count(uint64_t n);     /* "41,190" */
struct vprof_value vprof_format_bytes(uint64_t n);     /* "1.2 GB", "412 MB", "3 kB" */

/* Columns of valid UTF-8 text, one for each code point. */
size_t vprof_format_columns(const char *s);

/* Appends `s` with control characters and malformed UTF-8 replaced by '?'. */
void vprof_format_clean(struct vprof_text *out, const char *s);

/* Appends `s` (cleaned), cut to `columns`: at its end, or in its middle when `middle`; "…" marks the cut. Pads with
 * blanks to `pad` columns. */
void vprof_format_cut(struct vprof_text *out, const char *s, size_t columns, int middle, size_t pad);

/* Appends percentages as "66 .. 75", padded to `columns`; only blanks where there are no bounds. */
void vprof_format_range(struct vprof_text *out, double low, double high, size_t columns);

/* Appends one more item to a line of items: "mean 1 ms · blocked 3 %". */
void vprof_format_item(struct vprof_text *line, const char *item);

/* Appends `s` (cleaned) broken at blanks into lines of `width` columns; lines after the first begin with `indent`
 * blanks; `column` is where the first line starts. Ends with a newline. */
void vprof_format_wrap(struct vprof_text *out, const char *s, size_t column, size_t indent, size_t width);

/* Figures between two bounds. Appends "41 .. 44 %", or "44 %" where both are the same; shares below 0 and above 1 as 0
 * and 1. */
void vprof_bound_share_words(double low, double high, struct vprof_text *out);
/* Appends "4.9 .. 5.1 ms" likewise; "-" when not known. */
void vprof_bound_time_words(double low_ns, double high_ns, struct vprof_text *out);

#endif
