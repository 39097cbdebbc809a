/* Functions in a header that several units include;. */
#ifndef PART_H
#define PART_H
#include <stdio.h>
static inline int local_area(int a, int b) { int area = a * b; if (area > 50) return 50; printf("area\n"); return area; }
#endif
/* SPDX-License-Identifier: GPL-3.0-or-later */
