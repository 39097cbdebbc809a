/* FLAGS: -std=c99 -pedantic-errors
 * BREAK: main,run,get_width,DEFINED
 * Functions whose bodies are macros, macro arguments, stringified arguments, twins from one text. */
#include <stdio.h>

static int n_calls;

static int next(int n) { n_calls++; return n + 1; }

#define GETTER(name, value)                    \
	static int get_##name(void)            \
	{                                      \
		if (value > 100)               \
			return 100;            \
		return next(value);            \
	}
GETTER(width, 5)
GETTER(height, 500)

#define DEFINED(name) int name(int n) { return next(n) + next(next(n)); }
static DEFINED(first)
static DEFINED(second)

#define SHOW(expression) printf("%s = %d\n", #expression, (expression))
#define TWICE(statement) do { statement; statement; } while (0)
#define IF(condition) if (condition)
#define BEGIN {
#define END }
#define RETURN_IF(condition, value) do { if (condition) return (value); } while (0)

static int hidden(int n) BEGIN
	return next(n);
END

static int checked(int n)
{
	RETURN_IF(n < 0, next(n));
	RETURN_IF(n > 10, puts("large"));
	return 0;
}

static int run(int n)
{
	SHOW(next(n));
	SHOW(next(next(n)) + hidden(2));
	TWICE(puts("twice"));
	IF (puts("if") >= 0) return n;
	return 1;
}

int main(void)
{
	SHOW(get_width());
	SHOW(get_height());
	SHOW(first(1) + second(2));
	printf("%d %d %d\n", run(3), checked(-4), checked(40) >= 0);
	printf("%d\n", n_calls);
	return n_calls;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
