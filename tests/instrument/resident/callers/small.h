/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMALL_H
#define SMALL_H
#include "planted.h"
extern struct planted planted_in_header, planted_header_caller;
static inline int in_header(int a)
{
	PLANTED(in_header) for (int i = 0; i < (a & 3); i++) a += i;
	return a;
}
static inline int header_caller(int a)
{
	static int calls;
	PLANTED(header_caller)
	return in_header(a) + calls++;
}
int from_other(int a);
int small_other(int a);
#endif
