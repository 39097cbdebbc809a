/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replies that are complete only when their connection ends.
 *
 * Where nothing else tells how long a reply is, a client knows that it has all of it by the end of the stream, and acts
 * then: an event loop receives the bytes, works for others, receives the end, and passes the reply on. Whether a
 * program waits for ends is told by what is sent right after either: most of it follows ends, also where these come
 * later than the bytes. (Where both come at once, a program that does not wait looks the same.)
 */
#ifndef VPROF_REQUESTS_REPLY_ENDS_H
#define VPROF_REQUESTS_REPLY_ENDS_H

#include "analysis/requests/agreement.h"

/* Marks in at_end[exchanges] the calls of event loops whose reply is complete with the end of its connection. Replies
 * that are received at once are judged by those, others by others, for each program that is called. The history must be
 * sorted, and the agreement know which threads are synchronous. OK or NOMEM. O(transfers). */
int vprof_reply_ends_find(unsigned char *at_end, const struct vprof_socket_history *h,
			  const struct vprof_connections *connections, const struct vprof_exchanges *x,
			  const struct vprof_agreement *a);

#endif
