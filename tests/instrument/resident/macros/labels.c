/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The address of a label is kept from one call to the next: it leads into one of two copies, so there is only one. */
#include "planted.h"

COUNTER(resume);

__attribute__((noinline)) int resume(const void **at, int n)
{
	PLANTED(resume)
	if (*at)
		goto **at;
	for (int i = 0; i < 2; i++)
		n += i;
	*at = &&second;
	return n;
second:
	*at = &&third;
	return 2 * n;
third:
	*at = 0;
	return 3 * n;
}
