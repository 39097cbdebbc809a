/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gather is two or three steps of the transport: how each rank fares and how much it has, then the bytes rank by
 * rank; after a failure the messages instead. */
#include "analysis/results/exchange.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct head {
	int64_t ret;
	uint64_t n_bytes;
};

int vprof_exchange_rank(const struct vprof_exchange *x)
{
	return x ? x->transport->rank : 0;
}

int vprof_exchange_ranks(const struct vprof_exchange *x)
{
	return x ? x->transport->n_ranks : 1;
}

static int lost(struct vprof_exchange *x)
{
	x->has_failed = 1;
	return vprof_error_set(&x->failure, VPROF_ERR_FAILED,
			       "the connection between the ranks of this analysis failed");
}

static int learn_failure(struct vprof_exchange *x, int first, int ret, const struct vprof_error *err)
{
	struct vprof_transport *t = x->transport;
	struct vprof_error message = { "" };

	x->has_failed = 1;
	if (t->rank == first && err && err->message[0])
		message = *err;
	else if (t->rank == first)
		vprof_error_set(&message, ret,
				ret == VPROF_ERR_NOMEM ? "not enough memory" : "its part of the analysis failed");
	if (t->broadcast(t, &message, sizeof message, first))
		return lost(x);
	message.message[sizeof message.message - 1] = '\0';
	return vprof_error_set(&x->failure, ret, "rank %d of %d: %.900s", first, t->n_ranks, message.message);
}

static int spread(struct vprof_transport *t, const void *mine, const struct head *heads, struct vprof_gathered *all)
{
	for (int i = 0; i < t->n_ranks; i++) {
		unsigned char *at = all->bytes + all->first[i];

		if (!heads[i].n_bytes)
			continue;
		if (i == t->rank)
			memcpy(at, mine, heads[i].n_bytes);
		if (t->broadcast(t, at, heads[i].n_bytes, i))
			return VPROF_ERR_FAILED;
	}
	return 0;
}

/* Room for all; a rank without it fails, and so do all, in the gather that follows. */
static int make_room(struct vprof_gathered *all, const struct head *heads, int n_ranks)
{
	all->first = calloc((size_t)n_ranks + 1, sizeof *all->first);
	if (!all->first)
		return VPROF_ERR_NOMEM;
	for (int i = 0; i < n_ranks; i++)
		all->first[i + 1] = all->first[i] + (size_t)((heads[i].n_bytes + 7) & ~UINT64_C(7));
	all->bytes = calloc(1, all->first[n_ranks] + 1);
	return all->bytes ? 0 : VPROF_ERR_NOMEM;
}

/* How all ranks fare: 0, or the first one's error, whose message all then have. */
static int compare_notes(struct vprof_exchange *x, int ret, const struct vprof_error *err, size_t n_bytes,
			 struct head *heads)
{
	struct vprof_transport *t = x->transport;
	struct head head = { ret, n_bytes };

	if (t->all_gather(t, &head, sizeof head, heads))
		return lost(x);
	for (int i = 0; i < t->n_ranks; i++)
		if (heads[i].ret)
			return learn_failure(x, i, (int)heads[i].ret, err);
	return 0;
}

int vprof_exchange_gather(struct vprof_exchange *x, int ret, const struct vprof_error *err, const void *mine,
			  size_t n_bytes, struct vprof_gathered *all)
{
	struct vprof_gathered none = { 0 };
	struct head *heads;

	if (all)
		*all = none;
	if (!x || x->has_failed)
		return ret ? ret : x ? VPROF_ERR_FAILED : 0;
	heads = calloc((size_t)x->transport->n_ranks, sizeof *heads);
	if (!heads)
		return lost(x);
	ret = compare_notes(x, ret, err, n_bytes, heads);
	if (!ret && all) {
		int room = make_room(all, heads, x->transport->n_ranks);
		struct head *again = calloc((size_t)x->transport->n_ranks, sizeof *again);

		ret = again ? compare_notes(x, room, NULL, 0, again) : lost(x);
		free(again);
		if (!ret && spread(x->transport, mine, heads, all))
			ret = lost(x);
	}
	free(heads);
	return ret;
}

void vprof_gathered_release(struct vprof_gathered *all)
{
	free(all->bytes);
	free(all->first);
	*all = (struct vprof_gathered){ 0 };
}
