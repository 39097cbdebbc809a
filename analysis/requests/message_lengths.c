/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/message_lengths.h"

#include <math.h>

#define NEVER 0.01 /* as if what was never seen had been seen this often */

enum what { REQUESTS, CALLS, BOTH, ALL, WHATS };

static uint64_t key_of(uint32_t program, int is_reply, enum what what, uint64_t visit_bytes, uint64_t call_bytes)
{
	uint64_t key = vprof_mix((uint64_t)program * 2 * WHATS + (uint64_t)is_reply * WHATS + what);

	if (what == REQUESTS || what == BOTH)
		key = vprof_mix(key ^ (visit_bytes + 1));
	if (what == CALLS || what == BOTH)
		key = vprof_mix(key ^ (call_bytes + 1) << 32);
	return key;
}

static const struct vprof_length_count *find(const struct vprof_message_lengths *l, uint64_t key)
{
	size_t at;

	if (!l->counts.n)
		return NULL;
	VPROF_HASH_EACH(&l->index, key, at, i)
	{
		if (l->counts.v[i].key == key)
			return &l->counts.v[i];
	}
	return NULL;
}

static int count(struct vprof_message_lengths *l, uint64_t key)
{
	struct vprof_length_count *added;
	size_t at;

	if (vprof_hash_index_room(&l->index, 1))
		return VPROF_ERR_NOMEM;
	VPROF_HASH_EACH(&l->index, key, at, i)
	{
		if (l->counts.v[i].key == key) {
			l->counts.v[i].n++;
			return VPROF_OK;
		}
	}
	added = VPROF_PUSH(&l->counts);
	if (!added)
		return VPROF_ERR_NOMEM;
	*added = (struct vprof_length_count){ key, 1 };
	vprof_hash_index_put(&l->index, at, key, (uint32_t)(l->counts.n - 1));
	return VPROF_OK;
}

void vprof_message_lengths_release(struct vprof_message_lengths *l)
{
	vprof_hash_index_release(&l->index);
	VPROF_ARRAY_RELEASE(&l->counts);
}

static uint64_t bytes_of(const struct vprof_message_lengths *l, uint32_t exchange, int is_reply)
{
	return is_reply ? l->x->v.v[exchange].reply_bytes : l->x->v.v[exchange].request_bytes;
}

int vprof_message_lengths_add(struct vprof_message_lengths *l, uint32_t program, uint32_t visit, uint32_t call)
{
	int ret = VPROF_OK;

	for (int is_reply = 0; is_reply < 2; is_reply++)
		for (int what = 0; what < WHATS && !ret; what++)
			ret = count(l, key_of(program, is_reply, (enum what)what, bytes_of(l, visit, is_reply),
					      bytes_of(l, call, is_reply)));
	return ret;
}

double vprof_message_lengths_fit(const struct vprof_message_lengths *l, uint32_t program, uint32_t visit, uint32_t call,
				 int is_known)
{
	double fit = 0;

	for (int is_reply = 0; is_reply < 2; is_reply++) {
		double n[WHATS];

		for (int what = 0; what < WHATS; what++) {
			const struct vprof_length_count *c =
				find(l, key_of(program, is_reply, (enum what)what, bytes_of(l, visit, is_reply),
					       bytes_of(l, call, is_reply)));

			n[what] = c ? (double)c->n - is_known : 0;
		}
		/* of lengths that were never seen, or once only, nothing is known */
		if (n[REQUESTS] > 0 && n[CALLS] > 0)
			fit += log((n[BOTH] + NEVER) * (n[ALL] + 1) / ((n[REQUESTS] + 1) * (n[CALLS] + 1)));
	}
	return fit;
}
