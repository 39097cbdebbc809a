#include "shapes.h"
struct planted planted_shaped = { "shaped", 0, 0 }, planted_twice_used = { "twice_used", 0, 0 },
	       planted_header_only = { "header_only", 0, 0 };
__attribute__((constructor, no_instrument_function)) static void link_shapes(void)
{
	planted_shaped.next = planted_all;
	planted_twice_used.next = &planted_shaped;
	planted_header_only.next = &planted_twice_used;
	planted_all = &planted_header_only;
}
COUNTER(other_unit) COUNTER(inlined) COUNTER(weak_one) static int inlined(int a)
{
	PLANTED(inlined) for (int i = 0; i < (a & 3); i++) a += i * 5;
	return a;
}
__attribute__((weak)) int weak_one(int a)
{
	PLANTED(weak_one) return inlined(a) + shaped(a);
}
int other_unit(int a)
{
	PLANTED(other_unit) return inlined(a) + twice_used(a) + weak_one(a);
}
int (*header_pointer(void))(int)
{
	return twice_used;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
