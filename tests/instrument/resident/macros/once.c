/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that does not compile twice. */
#include "planted.h"

COUNTER(once);

int once(int n)
{
	PLANTED(once)
	_Static_assert(__COUNTER__ == 0, "this stands here once");
	for (int i = 0; i < 3; i++)
		n -= n % 3;
	return n;
}
