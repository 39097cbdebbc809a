/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures that are known between two bounds, in words. */
#ifndef VPROF_BOUND_WORDS_H
#define VPROF_BOUND_WORDS_H

#include "common/text.h"

/* Appends "41 .. 44 %", or "44 %" where both are the same. */
void vprof_bound_share_words(double low, double high, struct vprof_text *out);
/* Appends "4.9 .. 5.1 ms" likewise; "-" when not known. */
void vprof_bound_time_words(double low_ns, double high_ns, struct vprof_text *out);

#endif
