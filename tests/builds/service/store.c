/* Keys and their values. One key in eight has to be fetched from afar: that is the planted cause. It takes so long
 * that no busy machine delays other requests by as much. */
#define _POSIX_C_SOURCE 200809L
#include "service.h"

#include <assert.h>
#include <time.h>

static void refill(int key)
{
	struct timespec t = { 0, 10000000 + key % 3 * 1000000 };

	nanosleep(&t, NULL);
}

unsigned store_lookup(int key)
{
	assert(key >= 0);
	if (key % 8 == 0)
		refill(key);
	return mix(2166136261u, (unsigned)key);
}

const char *store_origin(void)
{
	return __FILE__;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
