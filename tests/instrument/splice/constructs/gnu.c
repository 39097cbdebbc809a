/* FLAGS: -std=gnu99 -Wno-pedantic
 * BREAK: main,labels,nested,jump,literals,run_dispatch,escape
 * GNU C: local labels, computed goto, statement expressions, nested functions, compound literals, alloca, setjmp. */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf escape_to;

static int labels(int n)
{
	__label__ found, missing;
	if (n > 3)
		goto found;
	goto missing;
found:
	return puts("found") >= 0;
missing:
	return 0;
}

static int run_dispatch(const char *code)
{
	static void *table[] = { &&op_add, &&op_print, &&op_end };
	int value = 0;

	goto *table[*code++ - '0'];
op_add:
	value += ({ int v = labels(value); v + 1; });
	goto *table[*code++ - '0'];
op_print:
	printf("value %d\n", value);
	goto *table[*code++ - '0'];
op_end:
	return value;
}

static int nested(int n)
{
	int add(int m) { if (m < 0) return 0; return n + m; }

	return add(1) + ({ __typeof__(n) m = n; switch (m) { case 1 ... 5: m = labels(m); break; default: m = 9; } m; });
}

struct pair { int a, b; };

static int literals(const struct pair *p, const int *v)
{
	char *copy = alloca(8), sized[p->a + 1];

	strcpy(copy, "alloca");
	memset(sized, 0, sizeof sized);
	return printf("%s %d %d %zu\n", copy, p->b, v[1], sizeof sized);
}

static void escape(int n)
{
	if (n)
		longjmp(escape_to, n);
	puts("not reached");
}

static int jump(void)
{
	volatile int tries = 0;
	int n = setjmp(escape_to);

	if (n)
		printf("back %d\n", n);
	if (tries++ < 3)
		escape(tries);
	return tries;
}

static void wrong(int n) { printf("wrong %d\n", n); exit(n); }

static int no_other_way(int n)
{
	switch (n) {
	case 1:
		return 2;
	default:
		wrong(n), __builtin_unreachable();
		break;
	}
}

static void __attribute__((noreturn)) leave(int n) { fflush(stdout); exit(n); }

int main(void)
{
	const struct pair *kept = &(struct pair){ 3, 4 };
	int n = literals(&(struct pair){ .a = 1, .b = 2 }, (int[]){ 5, 6 }) + literals(kept, (int[2]){ 7, 8 });

	printf("%d %d %d\n", run_dispatch("0001012"), nested(no_other_way(1) + 1), nested(10));
	printf("%d %d\n", jump(), n ?: puts("elvis"));
	leave(17);
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
