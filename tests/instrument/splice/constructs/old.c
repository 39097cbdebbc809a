/* FLAGS: -std=c89 -pedantic-errors -Wno-old-style-definition
 * BREAK: main,add,show
 * K&R definitions, implicit int is gone but the rest of C89 holds: no mixed declarations, no // comments. */
#include <stdio.h>
#include <stdlib.h>

static int add(a, b)
	int a;
	int b;
{
	register int sum;
	sum = a + b;
	return(sum);
}

static void show(format, value) char *format; long value; {
	char line[80];
	int n;

	n = sprintf(line, format, value);
	if (n < 0) { return; }
	puts(line);
	exit(add((int)value, labs(-3L) > 2 ? 1 : 0));
}

int main(argc, argv)
int argc;
char *argv[];
{
	(void)argv;
	show("<%ld>", (long)add(argc, 40));
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
