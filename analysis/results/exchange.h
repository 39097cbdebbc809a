/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the processes of one analysis (ranks) tell one another: one step, in which each gives bytes and gets those of
 * all.
 *
 * Every rank goes through the same gathers in the same order. One that fails tells so in its next gather; that one then
 * fails on all ranks, with the message of the first rank that failed, and no gather may follow. So nobody waits for
 * ever. Ranks run the same program on machines of one kind: bytes go as they lie in memory.
 */
#ifndef VPROF_EXCHANGE_H
#define VPROF_EXCHANGE_H

#include <stddef.h>

#include "common/error.h"

/* Moves the bytes: MPI does (analysis/results/mpi/), or whatever a test has. */
struct vprof_transport {
	int rank, n_ranks;
	/* all[n_bytes * n_ranks] gets every rank's mine[n_bytes], by rank. OK or an error. */
	int (*all_gather)(struct vprof_transport *t, const void *mine, size_t n_bytes, void *all);
	/* bytes[n_bytes] of rank `from` to all ranks. OK or an error. */
	int (*broadcast)(struct vprof_transport *t, void *bytes, size_t n_bytes, int from);
	void *arg;
};

struct vprof_exchange {
	struct vprof_transport *transport;
	int has_failed;
	struct vprof_error failure; /* then: of the first rank that failed */
};

struct vprof_gathered {
	unsigned char *bytes; /* of all ranks, one after another */
	size_t *first;	      /* [n_ranks + 1] where those of each begin, a multiple of 8 */
};

/* NULL is an exchange of one rank. */
int vprof_exchange_rank(const struct vprof_exchange *x);
int vprof_exchange_ranks(const struct vprof_exchange *x);

/* `ret` is what this rank's work before came to, `err` its message (may be NULL). Returns 0 when no rank has failed,
 * with their bytes in `all`, to be released in any case; `all` may be NULL when nobody gives any. */
int vprof_exchange_gather(struct vprof_exchange *x, int ret, const struct vprof_error *err, const void *mine,
			  size_t n_bytes, struct vprof_gathered *all);
void vprof_gathered_release(struct vprof_gathered *all);

#endif
