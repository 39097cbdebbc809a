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
int from_other(int a)
{
	PLANTED(from_other) return header_caller(a) - in_header(a + 1);
}
