/* FLAGS: -std=c99 -pedantic-errors
 * BREAK: main,local_area,step
 * Functions in quote-included headers, one text included twice under different names. */
#include "part.h"

#define STEP step_up
#define BY 1
#include "step.inc"
#undef STEP
#undef BY
#define STEP step_down
#define BY -1
#include "step.inc"

int main(void)
{
	printf("%s %d %d\n", __FILE__, __LINE__, local_area(6, 7));
	return step_up(3) + step_down(3) + local_area(9, 9);
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
