#include "../planted.h"
COUNTER(from_library) COUNTER(library_inner) COUNTER(library_hidden) static int library_inner(int a)
{
	PLANTED(library_inner) for (int i = 0; i < 3; i++) a += i;
	return a;
}
__attribute__((visibility("hidden"))) int library_hidden(int a)
{
	PLANTED(library_hidden) return library_inner(a) + 1;
}
int from_library(int a);
int from_library(int a)
{
	PLANTED(from_library) return library_inner(a) + library_hidden(a);
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
