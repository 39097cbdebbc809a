/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Short-lived threads, merged (wPerf, section 3.3): a thread that is made for one task does not become faster when the
 * application does, there are only more of them. All that one creator made under one name become one virtual thread
 * for the whole recording: running while any of them runs, runnable while any could, else blocked. A blocked stretch
 * was ended by whatever made one of them run again: its creator, when that was a new thread; or what woke one of them.
 */
#ifndef VPROF_WAITS_SHORT_LIVED_H
#define VPROF_WAITS_SHORT_LIVED_H

#include "analysis/waits/history/history.h"

/* Short-lived are threads that were made during the recording, whose creator is known, that lived for `share` of the
 * recording or less, and that are not the only ones of their creator and name. Appends the virtual threads to the
 * entities; the merged ones have no segments any more, and are nobody's waker and in no request. OK or NOMEM.
 * O(n log n) for n segments of short-lived threads. */
int vprof_waits_merge_short_lived(struct vprof_waits_history *history, double share, struct vprof_error *err);

#endif
