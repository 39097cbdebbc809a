/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index.h"

static NOINLINE void parse_field(struct request *q, int i)
{
	for (uint32_t k = 0; k < 16; k++)
		q->fields[i] = q->fields[i] * 31 + k;
}

static NOINLINE void look_up(struct request *q)
{
	PLANT_CALL(q->waited, pthread_mutex_lock(&index_lock));
	q->waited.low = q->waited.high;
	q->fields[0]++;
	pthread_mutex_unlock(&index_lock);
}

NOINLINE void serve(struct request *q)
{
	for (int i = 0; i < N_FIELDS; i++)
		parse_field(q, i);
	if (q->needs_index)
		look_up(q);
}
