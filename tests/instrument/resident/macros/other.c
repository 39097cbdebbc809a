/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The name of a static variable is used twice, so nobody knows which is which: the unit has twins of its text only. */
#include "planted.h"

#include "names.h"

COUNTER(count_one);
COUNTER(count_two);
COUNTER(work);
COUNTER(in_pool_too);

static __attribute__((noinline)) int twice(int n)
{
	PLANTED(in_pool_too)
	for (int i = 0; i < 3; i++)
		n += n & 1;
	return 2 * n + 1;
}

int count_one(int n)
{
	static int sum;

	PLANTED(count_one)
	for (int i = 0; i < 2; i++)
		sum += n;
	return sum;
}

int count_two(int n)
{
	static int sum;

	PLANTED(count_two)
	for (int i = 0; i < 2; i++)
		sum -= n;
	return sum;
}

int work(int n)
{
	PLANTED(work)
	return count_one(n) + count_two(twice(n));
}
