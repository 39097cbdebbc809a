/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

static NOINLINE uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

static NOINLINE void hash_key(struct query *q)
{
	for (uint32_t i = 0; i < q->n_parts; i++)
		q->key = mix(q->key + i);
}

static NOINLINE void scan_block(struct query *q)
{
	PLANT_WORK(q->scan_ns, q->scanning);
}

NOINLINE void answer(struct query *q)
{
	PLANT_CALL(q->hashing, hash_key(q));
	PLANT_CALL(q->scanning, scan_block(q));
}
