#ifndef SHAPES_H
#define SHAPES_H
#include "planted.h"
struct pair {
	int x, y;
};
extern struct planted planted_shaped, planted_twice_used, planted_header_only;
static inline int header_only(int a)
{
	PLANTED(header_only) for (int i = 0; i < (a & 3); i++) a += i;
	return a;
}
static inline int shaped(int a)
{
	PLANTED(shaped) return header_only(a) + header_only(a + 1);
}
static inline int twice_used(int a)
{
	PLANTED(twice_used) while (a > 20) a -= 6;
	return a;
}
int from_library(int a);
int other_unit(int a);
int (*header_pointer(void))(int);
#endif
/* SPDX-License-Identifier: GPL-3.0-or-later */
