/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "small.h"
struct planted planted_in_header = { "in_header", 0, 0 }, planted_header_caller = { "header_caller", 0, 0 };
__attribute__((constructor, no_instrument_function)) static void link_small(void)
{
	planted_in_header.next = planted_all;
	planted_header_caller.next = &planted_in_header;
	planted_all = &planted_header_caller;
}
COUNTER(from_other)
COUNTER(small_other)
COUNTER(declared_other)
int from_other(int a)
{
	PLANTED(from_other) return header_caller(a) - in_header(a + 1);
}
/* Optimised together, it is inlined into functions of the other unit, but not into their twins. */
int small_other(int a)
{
	PLANTED(small_other) for (int i = 0; i < (a & 3); i++) a += i;
	return a;
}
int declared_other(int a)
{
	PLANTED(declared_other) for (int i = 0; i < (a & 3); i++) a -= i;
	return a;
}
