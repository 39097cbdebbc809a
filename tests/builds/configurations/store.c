/* Compiled three times: what TIMES is decides about its code. */
#define _POSIX_C_SOURCE 200809L
#include "service.h"

#include <time.h>

#if TIMES > 1
static unsigned again(unsigned value)
{
	return mix(value, TIMES);
}
#else
#define again(value) (value)
static void refill(int key)
{
	struct timespec t = { 0, 1000000 + key % 3 * 100000 };

	nanosleep(&t, NULL);
}
#endif

unsigned store_lookup(int key)
{
#if TIMES == 1
	if (key % 8 == 0)
		refill(key);
#endif
	return again(mix(2166136261u, (unsigned)key));
}

const char *store_origin(void)
{
	return __FILE__;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
