/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads and devices outside what was to be recorded that matter to it. The recording follows whoever woke one of its
 * threads, and whoever woke those: a journal thread of the file system for which all wait, or a shell that was typed
 * into. */
#ifndef VPROF_WAITS_FOREIGN_H
#define VPROF_WAITS_FOREIGN_H

#include "analysis/waits/reasons.h"

#define VPROF_WAITS_FOREIGN_SHARE 0.01 /* of the recording that somebody who matters must have waited for a thread */

/* Fills is_kept[n entities]: 1 for all that are not foreign, and for those others for which one that is kept
 * waited for VPROF_WAITS_FOREIGN_SHARE of the recording or longer. OK or NOMEM. O(entities + reasons). */
int vprof_waits_keep_relevant(unsigned char *is_kept, const struct vprof_waits_history *history,
			      const struct vprof_waits_reasons *reasons);

#endif
