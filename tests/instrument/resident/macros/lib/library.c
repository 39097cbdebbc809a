/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../planted.h"

#include "../names.h"

COUNTER(in_library);
COUNTER(helper);

static __attribute__((noinline)) int helper(int n)
{
	static int most;

	PLANTED(helper)
	for (int i = 0; i < 2; i++)
		most = n > most ? n : most - i;
	return most;
}

int in_library(int n)
{
	PLANTED(in_library)
	return helper(n) + helper(n / 2);
}
