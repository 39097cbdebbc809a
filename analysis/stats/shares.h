/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fixed division of the intervals for sums that several threads, or several machines, take.
 *
 * Sums of doubles depend on their order, so the intervals are cut into shares whose number depends on what is summed
 * alone, never on who sums it; shares are joined pairwise, neighbours first. The number is a power of two and a share
 * of fewer is two shares of more, so whoever takes a run of whole shares at VPROF_SHARES_MAX takes whole shares at any
 * number that can be cut so.
 */
#ifndef VPROF_SHARES_H
#define VPROF_SHARES_H

#include <stddef.h>

#define VPROF_SHARES_MAX 64
#define VPROF_SHARES_BYTES ((size_t)48 << 20) /* of all sums beyond the first share's */

/* Shares for sums of n_bytes each. */
static inline size_t vprof_shares_count(size_t n_bytes)
{
	size_t n = VPROF_SHARES_MAX;

	while (n > 1 && (n - 1) * n_bytes > VPROF_SHARES_BYTES)
		n /= 2;
	return n;
}

/* First of n intervals in share i of n_shares; that of share n_shares is n. */
static inline size_t vprof_share_from(size_t n, size_t i, size_t n_shares)
{
	return (size_t)((unsigned __int128)n * i / n_shares);
}

/* join(arg, to, from) adds the sums of share `from` to those of `to`; in the end share 0 has all. */
static inline void vprof_shares_join(size_t n_shares, void (*join)(void *arg, size_t to, size_t from), void *arg)
{
	for (size_t step = 1; step < n_shares; step *= 2)
		for (size_t i = 0; i + step < n_shares; i += 2 * step)
			join(arg, i, i + step);
}

#endif
