/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the hosts' clocks are from one another, from the messages between them.
 *
 * No message arrives before it was sent. So each message from host A to host B bounds from above how far B's clock is
 * ahead of A's, and each from B to A from below. Of each stretch of the recording the tightest bounds count. Between
 * all of these must pass the line that tells how far the clock is ahead at each time: taken is the one that has most
 * room to both sides, or if others have half as much, of these the one that drifts least: a short exchange tells
 * nothing of the drift. The error is how far away any other line may be that passes, too.
 */
#ifndef VPROF_HOST_CLOCKS_H
#define VPROF_HOST_CLOCKS_H

#include <stdint.h>

#include "common/array.h"

struct vprof_host_message { /* ns, each by its own host's clock */
	uint32_t from, to;  /* hosts */
	uint64_t sent, received;
};

struct vprof_host_clock {
	double ahead_ns; /* of the clock to which all are brought, at `at` */
	double drift;	 /* ns for each ns: 1e-5 is 10 ppm */
	/* of ahead_ns at that time and of drift, at most; error_ns negative: bounds contradict each other by so much (a
	 * clock was set)
	 */
	double error_ns, drift_error;
	uint64_t at; /* of its own time */
	uint64_t n_messages;
	uint32_t via; /* host by whose messages it is known; VPROF_NONE: it is what the others are brought to, or none
			 came from it */
	uint8_t is_known; /* else nothing but its own time of day tells */
};

struct vprof_host_clocks {
	VPROF_ARRAY(struct vprof_host_clock)
	v; /* of each host; all are brought to the first one that exchanges messages */
};

/* OK or NOMEM; to be released in any case. O(messages + pairs of hosts squared). */
int vprof_host_clocks_settle(struct vprof_host_clocks *clocks, size_t n_hosts,
			     const struct vprof_host_message *messages, size_t n);
void vprof_host_clocks_release(struct vprof_host_clocks *clocks);

/* Over a stretch of the host's own time: error_ns and what the drift's adds, ns. */
double vprof_host_clock_error(const struct vprof_host_clock *clock, uint64_t from, uint64_t to);
/* A host's time as the common one; may be negative. */
double vprof_host_clock_common(const struct vprof_host_clocks *clocks, uint32_t host, uint64_t t);

#endif
