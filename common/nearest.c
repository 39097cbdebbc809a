/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/nearest.h"

#include <string.h>

/* Optimal string alignment distance (insert, delete, replace, swap neighbours); above `limit` it says limit + 1. */
static size_t distance(const char *a, size_t n, const char *b, size_t m, size_t limit)
{
	size_t rows[3][VPROF_NEAREST_BYTES + 2], *old = rows[0], *last = rows[1], *now = rows[2], *spare;

	if ((n > m ? n - m : m - n) > limit)
		return limit + 1;
	for (size_t j = 0; j <= m; j++)
		last[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t least = now[0] = i;

		for (size_t j = 1; j <= m; j++) {
			size_t cost = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < cost)
				cost = last[j] + 1;
			if (now[j - 1] + 1 < cost)
				cost = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && old[j - 2] + 1 < cost)
				cost = old[j - 2] + 1;
			now[j] = cost;
			if (cost < least)
				least = cost;
		}
		if (least > limit)
			return limit + 1;
		spare = old;
		old = last;
		last = now;
		now = spare;
	}
	return last[m];
}

void vprof_nearest_begin(struct vprof_nearest *nearest, const char *wanted, size_t limit)
{
	size_t n = strlen(wanted);

	*nearest = (struct vprof_nearest){ .wanted = wanted, .n = n, .limit = limit ? limit : n / 3 + 1 };
}

void vprof_nearest_offer(struct vprof_nearest *nearest, const char *known)
{
	size_t m = strlen(known), d;

	if (!nearest->n || nearest->n > VPROF_NEAREST_BYTES || m > VPROF_NEAREST_BYTES)
		return;
	d = distance(nearest->wanted, nearest->n, known, m, nearest->limit);
	if (d > nearest->limit || (nearest->best && d == nearest->limit))
		return;
	nearest->best = known;
	nearest->limit = d;
}
