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

/* The compiler calls it by another name here, so that the linker puts no other in its place. */
int in_library(int n)
{
	PLANTED(in_library)
	if (n > 3)
		return in_library(n / 3) + helper(n);
	return helper(n) + helper(n / 2);
}
