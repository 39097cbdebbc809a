/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All names come from macros. Static variables whose name is used once are one for both copies of their function. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "planted.h"

#include "names.h"

#define ALWAYS static inline __attribute__((always_inline))

COUNTER(allocate);
COUNTER(release);
COUNTER(refill);
COUNTER(grow);
COUNTER(walk);
COUNTER(dispatch);
COUNTER(compare);
COUNTER(first_of);
COUNTER(average);
COUNTER(always);
COUNTER(keep);
COUNTER(twice);
COUNTER(own);
COUNTER(say);
COUNTER(machine);

/* In another unit there is one of this name. */
static __attribute__((noinline)) int twice(int n)
{
	PLANTED(twice)
	for (int i = 0; i < 2; i++)
		n += n % 5;
	return 2 * n;
}

ALWAYS int always(int n)
{
	PLANTED(always)
	return n % 7 ? n : twice(n);
}

static int refill(struct pool *p)
{
	static int n_all;

	PLANTED(refill)
	for (int i = 0; i < 4; i++)
		p->n_free++;
	return p->n_refills = ++n_all;
}

static __attribute__((noinline)) int grow(struct pool *p, int by)
{
	static int n_all = 5; /* another one than that of refill */

	PLANTED(grow)
	n_all += by;
	p->n_free += n_all % 5 == 0;
	for (int i = 0; i < by; i++)
		if (refill(p) > 1000000)
			return -1;
	return always(by);
}

int allocate(struct pool *p, int n)
{
	PLANTED(allocate)
	while (p->n_free < n)
		if (grow(p, 1 + n / 8) < 0)
			return -1;
	p->n_free -= n;
	return always(p->n_refills);
}

void release(struct pool *p, int n)
{
	PLANTED(release)
	while (n-- > 0)
		p->n_free++;
}

int walk(int n, int (*visit)(int))
{
	PLANTED(walk)
	return n <= 0 ? 0 : visit(n) + walk(n - 1, visit);
}

/* A table of places in the code is each copy's own. */
int dispatch(int op, int value)
{
	static const void *const labels[] = { &&add, &&negate, &&square };

	PLANTED(dispatch)
	goto *labels[op % 3];
add:
	return value + always(value);
negate:
	return -value;
square:
	return value * value;
}

static int compare(const void *a, const void *b)
{
	int difference = *(const int *)a - *(const int *)b;

	PLANTED(compare)
	while (difference > 100)
		difference /= 2;
	return difference;
}

static int average(int n, ...)
{
	int sum = 0;
	va_list ap;

	PLANTED(average)
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(ap, int);
	va_end(ap);
	return sum / n;
}

struct both first_of(int n)
{
	int numbers[5] = { n, 3, n * 2, 1, -n };

	PLANTED(first_of)
	qsort(numbers, 5, sizeof *numbers, compare);
	return (struct both){ numbers[0], average(3, n, n + 1, n + 2), numbers[4] };
}

/* What it gives is asked for by address: that of a copy would be another. */
const void *keep(void)
{
	static const char key[] = "of the pool";

	PLANTED(keep)
	for (int i = 0; i < 2; i++)
		if (key[i] == 'x')
			return NULL;
	return key;
}

/* Strings, which each copy has under a number of its own. */
const char *say(int n)
{
	static char kept[16];
	static const char key[] = "of the word"; /* another one than that of keep */

	PLANTED(say)
	for (int i = 0; i < 3; i++)
		kept[i] = (char)('a' + (n + i) % 26);
	switch (n % 4) {
	case 0:
		return key;
	case 1:
		return strchr("or one", 'o');
	case 2:
		return kept;
	default:
		return "many";
	}
}

/* Two tables of places in the code, and one that leads to them. */
int machine(const unsigned char *code, int n)
{
	static const void *const base[] = { &&add, &&other, &&end };
	static const void *const others[] = { &&multiply, &&other, &&end };
	static const void *const *const tables[] = { base, others };
	int which = 0;

	PLANTED(machine)
	goto *tables[which][*code];
add:
	n += 3;
	goto *tables[which][*++code];
multiply:
	n *= 2;
	goto *tables[which][*++code];
other:
	which = !which;
	goto *tables[which][*++code];
end:
	return n;
}

/* Without a macro. */
int own(int n)
{
	PLANTED(own)
	return twice(n) + always(n);
}
