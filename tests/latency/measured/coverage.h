/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of measured calls, which are seen: by calling context, by length. What IntroPerf's section 5.3 asks. */
#ifndef VPROF_MEASURED_COVERAGE_H
#define VPROF_MEASURED_COVERAGE_H

#include "measured_run.h"

/* Sets context, depth and is_recorded of each call. A context is the measured functions around the call in its thread,
 * outermost first, without those of which has_frame[code] is 0. */
void coverage_find_contexts(struct measured_run *run, const unsigned char *has_frame, uint32_t n_codes);

/* Prints, of calls with is_recorded whose function has a frame:
 *
 *   contexts     the part of all calling contexts of which a call was seen; of the slowest 1 % and 0.1 % by their mean,
 *                and by their slowest call
 *   calls        the part of all calls that was seen, of the slowest 1 % and 0.1 % of all calls of all functions
 *   in contexts  of the slowest 1 % and 0.1 % of each context's calls, all together: contexts with 100 (1,000) or more;
 *                and of those among them that took 100 us or more
 *   by length    of calls in classes of their time */
void coverage_print(const struct measured_run *run, const unsigned char *has_frame);

#endif
