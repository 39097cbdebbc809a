/* SPDX-License-Identifier: GPL-3.0-or-later */
/* .vprof/live/control: what a person asks of a live session that records, from `vprof top` (docs/cli.md).
 *
 * A request is one message of text, and so is its answer; then the connection ends. The socket belongs to the session's
 * user with mode 0600. Invariant: the session takes requests of its own user and root alone, by what the kernel says of
 * the one who asks; and no client can make it wait.
 */
#ifndef VPROF_LIVE_CHANNEL_H
#define VPROF_LIVE_CHANNEL_H

#include <stddef.h>

#include "common/error.h"

#define VPROF_REQUEST_BYTES 4096 /* of a request or answer, with its NUL */

struct vprof_live_channel;

/* The session's side. The folder is made; a socket that a killed session left there is replaced. */
int vprof_live_channel_open(struct vprof_live_channel **out, const char *vprof_dir, struct vprof_error *err);
void vprof_live_channel_close(struct vprof_live_channel *c); /* NULL: nothing */
/* 1: a request is in `text`, and is to be answered before the next call. Never waits. */
int vprof_live_channel_take(struct vprof_live_channel *c, char text[VPROF_REQUEST_BYTES]);
/* Cut to VPROF_REQUEST_BYTES. */
void vprof_live_channel_answer(struct vprof_live_channel *c, const char *text);

/* The other side: sends a request. *fd is to be polled with vprof_live_request_look(), and closed. MISSING when no
 * session takes requests here, FAILED when it is another user's. */
int vprof_live_request_send(int *fd, const char *vprof_dir, const char *text, struct vprof_error *err);
/* 1: the answer is in `text`. 0: not yet. MISSING: the session ended, or did not take it. */
int vprof_live_request_look(int fd, char text[VPROF_REQUEST_BYTES]);

#endif
