/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block that several shares have items of is summed by the first of them in its row, by each later one in the head of
 * that share; heads are added to the rows in the order of shares. */
#include "analysis/results/reduce.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/parallel.h"

struct reducing {
	const struct vprof_team *team;
	const struct vprof_reduction *of;
	size_t n_shares;
	struct vprof_share shares[VPROF_SHARES_MAX];
};

static size_t count_shares(size_t n_bytes)
{
	size_t n = VPROF_SHARES_MAX;

	while (n > 1 && (n - 1) * n_bytes > VPROF_SHARES_BYTES)
		n /= 2;
	return n;
}

/* First of n items in share i of n_shares; that of share n_shares is n. */
static size_t share_from(size_t n, size_t i, size_t n_shares)
{
	return (size_t)((unsigned __int128)n * i / n_shares);
}

void vprof_team_own(const struct vprof_team *team, size_t n, size_t *from, size_t *to)
{
	size_t rank = (size_t)vprof_exchange_rank(team->exchange),
	       n_ranks = (size_t)vprof_exchange_ranks(team->exchange);

	*from = share_from(n, VPROF_SHARES_MAX * rank / n_ranks, VPROF_SHARES_MAX);
	*to = share_from(n, VPROF_SHARES_MAX * (rank + 1) / n_ranks, VPROF_SHARES_MAX);
}

static int is_taken(const struct vprof_share *share)
{
	return share->from < share->to;
}

double *vprof_share_row(const struct vprof_share *share, size_t block)
{
	const struct vprof_reduction *r = share->reduction;

	if (share->head && block == vprof_block_of(r, share->from))
		return share->head;
	return r->rows + block * r->width;
}

static int begin_share(struct reducing *r, size_t i, size_t own_from, size_t own_to, void *sums)
{
	struct vprof_share *share = &r->shares[i];
	const struct vprof_reduction *of = r->of;
	size_t from = share_from(of->n_items, i, r->n_shares), to = share_from(of->n_items, i + 1, r->n_shares);

	share->reduction = of;
	share->from = from > own_from ? from : own_from;
	share->to = to < own_to ? to : own_to;
	share->to = share->to > share->from ? share->to : share->from;
	share->sums = i ? vprof_calloc_aligned(of->n_bytes + 1, 1) : sums;
	if (of->n_blocks && is_taken(share) && share->from &&
	    vprof_block_of(of, share->from - 1) == vprof_block_of(of, share->from)) {
		share->head = vprof_calloc_aligned(of->width, sizeof *share->head);
		if (!share->head)
			return VPROF_ERR_NOMEM;
	}
	return share->sums ? 0 : VPROF_ERR_NOMEM;
}

static int begin(struct reducing *r, void *sums)
{
	size_t own_from, own_to;
	int ret = 0;

	vprof_team_own(r->team, r->of->n_items, &own_from, &own_to);
	for (size_t i = 0; i < r->n_shares; i++)
		ret = begin_share(r, i, own_from, own_to, sums) ? VPROF_ERR_NOMEM : ret;
	return ret;
}

static int add_share(void *arg, int worker, size_t item)
{
	const struct reducing *r = arg;

	return is_taken(&r->shares[item]) ? r->of->add(r->of->arg, worker, &r->shares[item]) : 0;
}

static int take_sums(struct reducing *r, const struct vprof_gathered *all, int n_ranks)
{
	size_t n_bytes = r->of->n_bytes;
	unsigned char is_there[VPROF_SHARES_MAX] = { 0 };

	for (int rank = 0; rank < n_ranks; rank++) {
		for (size_t at = all->first[rank]; at + sizeof(uint64_t) + n_bytes <= all->first[rank + 1];
		     at += sizeof(uint64_t) + n_bytes) {
			uint64_t i;

			memcpy(&i, all->bytes + at, sizeof i);
			if (i >= r->n_shares)
				break;
			if (is_there[i])
				r->of->join(r->shares[i].sums, all->bytes + at + sizeof i, n_bytes);
			else
				memcpy(r->shares[i].sums, all->bytes + at + sizeof i, n_bytes);
			is_there[i] = 1;
		}
	}
	return 0;
}

/* All shares' sums to all ranks: of each share its number and its sums. A share that several ranks took parts of is
 * joined in the order of ranks. */
static int exchange_sums(struct reducing *r, int ret)
{
	size_t n_bytes = r->of->n_bytes, n_mine = 0, at = 0;
	struct vprof_gathered all = { 0 };
	unsigned char *mine;

	for (size_t i = 0; i < r->n_shares; i++)
		n_mine += (size_t)is_taken(&r->shares[i]);
	mine = ret ? NULL : malloc(n_mine * (sizeof(uint64_t) + n_bytes) + 1);
	if (!mine && !ret)
		ret = VPROF_ERR_NOMEM;
	for (uint64_t i = 0; i < r->n_shares && !ret; i++) {
		if (!is_taken(&r->shares[i]))
			continue;
		memcpy(mine + at, &i, sizeof i);
		memcpy(mine + at + sizeof i, r->shares[i].sums, n_bytes);
		at += sizeof i + n_bytes;
	}
	ret = vprof_exchange_gather(r->team->exchange, ret, NULL, mine, at, &all);
	if (!ret)
		ret = take_sums(r, &all, vprof_exchange_ranks(r->team->exchange));
	vprof_gathered_release(&all);
	free(mine);
	return ret;
}

/* Of all shares of this rank, the heads and the rows of blocks that begin in them: for each whether it is a head, its
 * block, and the sums. Returns how many. */
static size_t list_rows(const struct reducing *r, double *to)
{
	const struct vprof_reduction *of = r->of;
	size_t n = 0;

	for (const struct vprof_share *share = r->shares; share < r->shares + r->n_shares; share++) {
		size_t first, last;

		if (!is_taken(share))
			continue;
		first = vprof_block_of(of, share->from);
		last = vprof_block_of(of, share->to - 1);
		for (size_t block = first; block <= last; block++, n++, to += 2 + of->width) {
			to[0] = share->head && block == first;
			to[1] = (double)block;
			memcpy(to + 2, vprof_share_row(share, block), of->width * sizeof *to);
		}
	}
	return n;
}

/* Rows first, then the heads: ranks are in the order of their items. */
static int exchange_rows(struct reducing *r, int ret)
{
	const struct vprof_reduction *of = r->of;
	size_t record = 2 + of->width, n_mine = 0;
	struct vprof_gathered all = { 0 };
	double *mine = calloc((of->n_blocks + r->n_shares) * record + 1, sizeof *mine);

	ret = mine ? ret : VPROF_ERR_NOMEM;
	if (!ret)
		n_mine = list_rows(r, mine);
	ret = vprof_exchange_gather(r->team->exchange, ret, NULL, mine, n_mine * record * sizeof *mine, &all);
	for (int heads = 0; heads < 2 && !ret; heads++) {
		for (size_t at = 0; at + record * sizeof *mine <= all.first[vprof_exchange_ranks(r->team->exchange)];
		     at += record * sizeof *mine) {
			const double *from = (const void *)(all.bytes + at);
			double *row = of->rows + (size_t)from[1] * of->width;

			if (heads && from[0] > 0)
				vprof_join_doubles(row, from + 2, of->width * sizeof *row);
			else if (!heads && from[0] <= 0)
				memcpy(row, from + 2, of->width * sizeof *row);
		}
	}
	vprof_gathered_release(&all);
	free(mine);
	return ret;
}

static void add_heads(const struct reducing *r)
{
	for (size_t i = 0; i < r->n_shares; i++) {
		const struct vprof_share *share = &r->shares[i];

		if (share->head)
			vprof_join_doubles(r->of->rows + vprof_block_of(r->of, share->from) * r->of->width, share->head,
					   r->of->width * sizeof *share->head);
	}
}

static void join_shares(const struct reducing *r)
{
	for (size_t step = 1; step < r->n_shares; step *= 2)
		for (size_t i = 0; i + step < r->n_shares; i += 2 * step)
			r->of->join(r->shares[i].sums, r->shares[i + step].sums, r->of->n_bytes);
}

int vprof_reduce(const struct vprof_team *team, const struct vprof_reduction *reduction, void *sums)
{
	struct reducing r = { .team = team, .of = reduction, .n_shares = count_shares(reduction->n_bytes_share) };
	int ret = begin(&r, sums);

	if (!ret)
		ret = vprof_parallel_run(team->n_threads, r.n_shares, add_share, &r);
	if (team->exchange && reduction->n_blocks)
		ret = exchange_rows(&r, ret);
	else if (!ret && reduction->n_blocks)
		add_heads(&r);
	if (team->exchange)
		ret = exchange_sums(&r, ret);
	if (!ret)
		join_shares(&r);
	for (size_t i = 0; i < r.n_shares; i++) {
		free(i ? r.shares[i].sums : NULL);
		free(r.shares[i].head);
	}
	return ret;
}

void vprof_join_doubles(void *to, const void *from, size_t n_bytes)
{
	for (size_t k = 0; k < n_bytes / sizeof(double); k++)
		((double *)to)[k] += ((const double *)from)[k];
}

int vprof_collect(const struct vprof_team *team, int ret, const void *bytes, size_t n_bytes,
		  int (*take)(void *arg, const void *bytes, size_t n_bytes, int is_own), void *arg)
{
	struct vprof_gathered all = { 0 };

	if (!team->exchange)
		return ret ? ret : take(arg, bytes, n_bytes, 1);
	ret = vprof_exchange_gather(team->exchange, ret, NULL, bytes, n_bytes, &all);
	for (int i = 0; i < vprof_exchange_ranks(team->exchange) && !ret; i++)
		ret = take(arg, all.bytes + all.first[i], all.first[i + 1] - all.first[i],
			   i == vprof_exchange_rank(team->exchange));
	vprof_gathered_release(&all);
	return ret;
}
