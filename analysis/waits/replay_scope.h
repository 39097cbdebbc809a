/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who must be replayed for the course of some threads to be right. As long as threads compete for CPUs, that is all of
 * them; where each gets a CPU after as long as it took in the recording, only those that one waits for, directly or
 * not, and those that use the same devices.
 */
#ifndef VPROF_REPLAY_SCOPE_H
#define VPROF_REPLAY_SCOPE_H

#include "analysis/waits/program.h"
#include "analysis/waits/reasons.h"

/* Sets `matters` [n entities] to 1 for each thread whose course that of the threads that count depends on: they
 * themselves, whom the others wait for (a thread that counts does not wait for one that does not), who made them, and
 * who gives requests to a device that one of them uses. More than that is no error. OK or NOMEM.
 * O(reasons + requests). */
int vprof_waits_replay_scope(unsigned char *matters, const struct vprof_waits_program *program,
			     const struct vprof_waits_reasons *reasons, const unsigned char *counts);

#endif
