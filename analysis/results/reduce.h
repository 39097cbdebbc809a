/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over all items (intervals) of an analysis, taken by several threads and by several processes (ranks): one
 * operation, so that analyses need to know of neither.
 *
 * Sums of doubles depend on their order. So the items are cut into shares, whose number depends on the size of the sums
 * alone and never on who takes them, and shares are joined pairwise, neighbours first: for any number of threads and
 * ranks the result is the same, bit for bit. The number of shares is a power of two, and a share of fewer is two shares
 * of more; a rank takes a run of whole shares at VPROF_SHARES_MAX. Where sums are so large that there are fewer shares
 * than ranks, several ranks take parts of one share, and the last digits may depend on the number of ranks.
 *
 * Use: describe the reduction (how to add a share, how to join two), then vprof_reduce(). All ranks must go through the
 * same reductions in the same order; a failure on one of them fails the next reduction on all (exchange.h).
 */
#ifndef VPROF_REDUCE_H
#define VPROF_REDUCE_H

#include "analysis/results/exchange.h"
#include "common/search.h"

#define VPROF_SHARES_MAX 64
#define VPROF_SHARES_BYTES ((size_t)48 << 20) /* of all sums beyond the first share's */

/* who takes part; zero-initialised: one thread of this process */
struct vprof_team {
	struct vprof_exchange *exchange; /* with the other ranks; NULL: there are none */
	int n_threads;
};

/* Items [*from, *to) of n are this rank's. */
void vprof_team_own(const struct vprof_team *team, size_t n, size_t *from, size_t *to);

struct vprof_share {
	size_t from, to; /* the items of it that this rank takes: at least one */
	void *sums;	 /* [n_bytes] zero at first, 8-byte aligned, on cache lines of their own */
	const struct vprof_reduction *reduction;
	double *head; /* [width] row of the block that began in an earlier share; NULL: the share begins with a block */
};

struct vprof_reduction {
	size_t n_items;
	size_t n_bytes;	      /* of a share's sums: a multiple of 8, without pointers */
	size_t n_bytes_share; /* all memory that a share needs, the sums included: decides how many shares there are */
	/* Adds items [share->from, share->to) to share->sums and, when there are blocks, to their rows. Called by
	 * several threads at once for different shares; worker < n_threads tells the threads apart. OK or an error. */
	int (*add)(void *arg, int worker, const struct vprof_share *share);
	/* Adds the sums `from` to those of `to`. */
	void (*join)(void *to, const void *from, size_t n_bytes);
	void *arg;

	/* Beside the sums, a row of doubles for each of n_blocks blocks of items: rows[n_blocks * width], row-major,
	 * zeroed by the caller. n_blocks 0: none. Block of item i: vprof_block_of(). block_first[n_blocks]: items with
	 * which the blocks begin, ascending, the first 0; NULL: they are equal. */
	size_t n_blocks, width;
	const size_t *block_first;
	double *rows;
};

/* Takes all items, and leaves their sums in sums[n_bytes], which the caller has zeroed (they are those of the first
 * share), and in the reduction's rows: on every rank. OK, NOMEM, what `add` failed with, or the failure of another
 * rank. */
int vprof_reduce(const struct vprof_team *team, const struct vprof_reduction *reduction, void *sums);

static inline size_t vprof_block_of(const struct vprof_reduction *r, size_t item)
{
	return r->block_first ? VPROF_BISECT(r->n_blocks, k, r->block_first[k] <= item) - 1 :
				item * r->n_blocks / r->n_items;
}

/* Where the share adds what belongs to a block of its items. */
double *vprof_share_row(const struct vprof_share *share, size_t block);

/* A join for sums that are doubles. */
void vprof_join_doubles(void *to, const void *from, size_t n_bytes);

/* Every rank contributes bytes[n_bytes] without pointers, 8-byte aligned, and gets those of all: take() is called for
 * each rank's in the order of ranks, is_own for those of this one. `ret` is what the work before came to; nothing is
 * taken unless it is 0 on all ranks. OK, what take() failed with, `ret`, or the failure of another rank. */
int vprof_collect(const struct vprof_team *team, int ret, const void *bytes, size_t n_bytes,
		  int (*take)(void *arg, const void *bytes, size_t n_bytes, int is_own), void *arg);

#endif
