/* FLAGS: -std=c99 -pedantic-errors
 * BREAK: main,numbers,text,results
 * Everyday C: early returns, calls within calls, conditions, loops, varargs, structures by value. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct point { int x, y; double weight[4]; };

static int add(int a, int b) { return a + b; }
static int twice(int a){return add(a,a);}
static inline int at_least(int a, int b) { return a > b ? a : b; }

static struct point make_point(int x, int y)
{
	struct point p;
	memset(&p, 0, sizeof p);
	p.x = x;
	p.y = y;
	return p;
}

static int sum(int n, ...)
{
	va_list ap;
	int total = 0;

	va_start(ap, n);
	while (n-- > 0)
		total += va_arg(ap, int);
	va_end(ap);
	return total;
}

static int classify(int n)
{
	switch (n) {
	case 0: return -1;
	case 1:
	case 2: return at_least(n, 2);
	default:
		if (n > 100)
			return 100;
		else if (n > 10) return 10;
	}
	for (;;) {
		if (n-- < 5)
			break;
	}
	return n;
}

static int long_way(int n)
#define NOTHING
{
	if (n <= 1)
		goto out;
	return n * twice(n - 1);
out:
	return 1;
}
#undef NOTHING

static void numbers(void)
{
	int i, a[4] = { 1, 2, 3, 4 };

	for (i = 0; i < 20; i += 3)
		printf("%d ", classify(i));
	printf("%d %d\n", sum(4, a[0], a[1], a[2], a[3]), long_way(5) + sum(0));
	printf("%d %lu\n", add(twice(abs(-3)), atoi("4")), (unsigned long)sizeof(twice(1)));
	printf("%d\n", make_point(4, 5).y + make_point(1, 2).x);
}

static const char *text(char *buffer, size_t n)
{
	int k = snprintf(buffer, n, "%s-%d", "text", twice(21));

	return k > 0 ? buffer : strerror(k);
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int results(int argc)
{
	int v[] = { 5, 3, 9, 1 }, (*operation)(int, int) = argc > 100 ? at_least : add;
	char *end;
	double d;

	qsort(v, 4, sizeof *v, by_value);
	d = strtod("2.5e1", &end);
	fprintf(stdout, "%d %d %d %.1f%s|", v[0], v[3], operation(v[1], v[2]), d, end), fputs("comma\n", stdout);
	if (puts("if") < 0) return 1; else if (!puts("else")) return 2;
	do puts("do"); while (operation(1, -1) && puts("never"));
	return time(NULL) > 1000 && fflush(stdout) == 0 ? 7 : 8;
}

int main(int argc, char **argv)
{
	char buffer[64];

	numbers();
	puts(text(buffer, sizeof buffer));
	printf("%s\n", text(buffer, sizeof buffer));
	return argv[0] ? results(argc) : 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
