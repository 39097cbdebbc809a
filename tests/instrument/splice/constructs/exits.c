/* FLAGS: -std=c99 -pedantic-errors
 * BREAK: main,pick,measure
 * Annotations evaluated where functions are left: every form of return. */
#include <stdio.h>
#include <stdlib.h>

struct item { int id; const char *kind; };
struct pair { struct item *a; long n; };

static struct item items[3] = { { 1, "one" }, { 2, "two" }, { 3, "three" } };

static struct item *pick(int n)
{
	if (n < 0) return NULL;
	else if (n > 2) return(NULL);
	for (int i = 0; i < 3; i++)
		if (i == n)
			return &items[i];
	return puts("none"), NULL;
}

static int handle(struct item *item, int depth)
{
	switch (item ? item->id : 0) {
	case 0: return -1;
	case 1: return depth > 2 ? 1 : handle(item, depth + 1);
	case 2: { return printf("two\n"); }
	default: break;
	}
	do return item->id; while (0);
}

static void note(struct item *item)
{
	if (!item) return;
	else if (item->id == 2) { puts("note two"); return; }
	for (;;) {
		if (item->id == 3)
			goto out;
		return;
	}
out:
	puts("note three");
}

static void empty(int n) { (void)n; }

static struct pair measure(struct item *item, int n)
{
	struct pair p = { item, n };
	if (n > 1) return (struct pair){ item, labs(-7L) };
	return p;
}

static int (*choose(int n))(int)
{
	if (n)
		return abs;
	if (n < -5)
		return 0;
	return NULL;
}

int main(void)
{
	int total = 0;

	for (int i = -1; i < 4; i++) {
		struct item *item = pick(i);

		total += handle(item, 0);
		note(item);
		empty(i);
		total += (int)measure(item, i).n;
	}
	printf("%d %d\n", total, choose(1)(-4));
	return choose(0) ? 1 : total;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
