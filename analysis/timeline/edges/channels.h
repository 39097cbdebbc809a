/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data through channels (pipes, FIFOs, socket pairs, eventfds, message queues): which SEND a RECEIVE took its data
 * from.
 *
 * Channels are first in, first out: the n-th unit sent is the n-th received, so counting units in order of time matches
 * sends with receives. Where calls of several threads overlapped so that the match depends on their unknown order, and
 * where more comes out than went in (a writer was not recorded), there is no match.
 *
 * A wait for data is then exact: the thread that sent the first unit ended it, unless it was sent before the wait
 * began; then the call was slow for another reason and has no waker. Data that no thread waited for still tells where
 * work came from: sends and receives become queue events of the timeline (vprof_queue_event, is_message).
 */
#ifndef VPROF_CHANNELS_H
#define VPROF_CHANNELS_H

#include "analysis/timeline/timeline.h"

enum vprof_channel_answer {
	VPROF_CHANNEL_WOKEN,
	VPROF_CHANNEL_NO_WAIT,
	VPROF_CHANNEL_UNDECIDED,
	VPROF_CHANNEL_OUTSIDE, /* another host sends, which is not in the trace */
};

struct vprof_channels;

/* Also adds queue events to the timeline's threads, sorted among the existing ones. NULL: out of memory. */
struct vprof_channels *vprof_channels_new(struct vprof_timeline *timeline);
void vprof_channels_free(struct vprof_channels *channels);

/* Who ended wait w of a thread, which has VP_FLAG_CHANNEL. The waits must still be in record order. */
enum vprof_channel_answer vprof_channels_waker(const struct vprof_channels *channels, uint32_t thread, size_t wait,
					       uint32_t *waker, uint64_t *wake_t);

#endif
