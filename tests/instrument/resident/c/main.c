#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "planted.h"
#include "shapes.h"
PLANTED_MAIN
COUNTER(inlined)
COUNTER(inlines_it)
COUNTER(deep)
COUNTER(deeper)
COUNTER(deepest) COUNTER(recursive) COUNTER(variadic) COUNTER(computed) COUNTER(partly) COUNTER(pointed)
	COUNTER(with_static) COUNTER(constant_argument) COUNTER(unused_argument) COUNTER(jumps) COUNTER(jumped_over)
		COUNTER(old_style) COUNTER(names_itself) COUNTER(worker) COUNTER(in_threads) COUNTER(at_exit)
			COUNTER(always) COUNTER(struct_result) COUNTER(mutual_a) COUNTER(mutual_b) COUNTER(by_macro)
				COUNTER(through_table) COUNTER(same_name_as_field) COUNTER(tail) COUNTER(tail_target)
					COUNTER(big_stack) COUNTER(conditional) COUNTER(with_define)
						COUNTER(declared_inside) COUNTER(constructed) COUNTER(qsort_order)
							COUNTER(split_brace)

								static int inlined(int a)
{
	PLANTED(inlined) for (int i = 0; i < (a & 3); i++) a ^= i;
	return a + 1;
}
static int inlines_it(int a)
{
	PLANTED(inlines_it) return inlined(a) + inlined(a + 1);
}
static int deepest(int a)
{
	PLANTED(deepest) while (a > 100) a /= 2;
	return a;
}
static int deeper(int a)
{
	PLANTED(deeper) return deepest(a) + deepest(a * 3);
}
int deep(int a)
{
	PLANTED(deep) return deeper(a) - deeper(a + 7);
}
int recursive(int n)
{
	PLANTED(recursive) return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}
int variadic(int n, ...)
{
	va_list list;
	int sum = 0;
	PLANTED(variadic)
	va_start(list, n);
	while (n--)
		sum += va_arg(list, int);
	va_end(list);
	return sum;
}
static int computed(int op, int a)
{
	static const void *const labels[] = { &&one, &&two, &&three };
	PLANTED(computed)
	goto *labels[op % 3];
one:
	return inlined(a);
two:
	return a * 2;
three:
	return deeper(a);
}
static int partly(const int *p)
{
	int sum = 0;
	PLANTED(partly)
	if (!p)
		return 0;
	for (int i = 0; i < 10; i++)
		sum += p[i] + recursive(3) + inlines_it(i);
	return sum + (int)strlen("abc");
}
static int pointed(int a)
{
	PLANTED(pointed) for (int i = 0; i < 3; i++) a += inlined(i);
	return a;
}
static int with_static(int a)
{
	static int calls;
	PLANTED(with_static) calls++;
	return inlined(a) + calls;
}
static __attribute__((noinline)) int constant_argument(int a, int mode)
{
	PLANTED(constant_argument) for (int i = 0; i < mode; i++) a += i * mode;
	return a;
}
static __attribute__((noinline)) int unused_argument(int a, const struct pair *p, int unused)
{
	PLANTED(unused_argument) for (int i = 0; i < a; i++) a -= p->x > i;
	(void)unused;
	return a + p->y;
}
static jmp_buf back;
static int jumped_over(int a)
{
	PLANTED(jumped_over) if (a > 2) longjmp(back, a);
	return a;
}
static int jumps(int a)
{
	PLANTED(jumps) if (setjmp(back)) return 5;
	return jumped_over(a);
}
static int old_style(a, b)
int a;
char b;
{
	PLANTED(old_style) while (a > b) a -= 3;
	return a;
}
static const char *names_itself(int a)
{
	PLANTED(names_itself) assert(a >= 0);
	for (; a > 3; a--)
		;
	return __func__;
}
static int in_threads(int a)
{
	PLANTED(in_threads) for (int i = 0; i < 10; i++) a += inlined(i);
	return a;
}
static void *worker(void *arg)
{
	long sum = 0;
	PLANTED(worker) for (int i = 0; i < 1000; i++) sum += in_threads(i);
	*(long *)arg = sum;
	return NULL;
}
static void at_exit(void)
{
	PLANTED(at_exit) printf("at exit\n");
}
static inline __attribute__((always_inline)) int always(int a)
{
	PLANTED(always) for (int i = 0; i < 2; i++) a += i * a;
	return a;
}
static struct pair struct_result(int a)
{
	struct pair p = { a, inlined(a) };
	PLANTED(struct_result) for (int i = 0; i < 4; i++) p.x += i;
	return p;
}
static int mutual_b(int n);
static int mutual_a(int n)
{
	PLANTED(mutual_a) return n <= 0 ? 1 : mutual_b(n - 1);
}
static int mutual_b(int n)
{
	PLANTED(mutual_b) return n <= 0 ? 2 : mutual_a(n - 1);
}
#define CALL(f, x) f(x)
static int by_macro(int a)
{
	PLANTED(by_macro) for (int i = 0; i < 2; i++) a += i;
	return a;
}
static int through_table(int a)
{
	PLANTED(through_table) return CALL(by_macro, a) + inlined(a);
}
struct with_field {
	int (*pointed)(int);
	int (*same_name_as_field)(int);
};
static int same_name_as_field(int a)
{
	PLANTED(same_name_as_field) for (int i = 0; i < 2; i++) a -= i;
	return a;
}
static int tail_target(int a)
{
	PLANTED(tail_target) while (a > 50) a -= 7;
	return a;
}
static int tail(int a)
{
	struct with_field w = { pointed, same_name_as_field };
	PLANTED(tail) return a & 1 ? tail_target(a) : w.same_name_as_field(a) + same_name_as_field(a);
}
static int big_stack(int a)
{
	char text[300];
	PLANTED(big_stack) snprintf(text, sizeof text, "%g %d", a / 3.0, inlined(a));
	return (int)strlen(text);
}
static int conditional(int a)
{
	PLANTED(conditional)
#if defined(__x86_64__) && __x86_64__
	for (int i = 0; i < 3; i++)
		a += inlined(i);
#else
	a++;
#endif
	return a;
}
static int with_define(int a)
{
#define LOCAL_STEP 3
	PLANTED(with_define)
	for (int i = 0; i < LOCAL_STEP; i++)
		a += i;
#undef LOCAL_STEP
	return a;
}
static int declared_inside(int a)
{
	extern int recursive(int n);
	PLANTED(declared_inside)
	return recursive(a & 3);
}
__attribute__((constructor)) static void constructed(void)
{
	PLANTED(constructed) recursive(4);
}
static int qsort_order(const void *a, const void *b)
{
	PLANTED(qsort_order) for (int i = 0; i < 1; i++);
	return *(const int *)a - *(const int *)b;
}
#ifdef __x86_64__
static int split_brace(int a)
{
#else
static long split_brace(long a)
{
#endif
	PLANTED(split_brace)
	return inlined(a);
}

static int (*volatile table[3])(int) = { pointed, through_table, recursive };

int main(void)
{
	int array[10] = { 3, 1, 2 }, sum = 0;
	struct pair p = { 2, 3 };
	pthread_t threads[4];
	long sums[4];

	atexit(planted_write);
	atexit(at_exit);
	for (int i = 0; i < 100; i++) {
		sum += inlines_it(i) + deep(i * 50) + recursive(i % 6) + variadic(3, 1, 2, i) + computed(i, i) +
		       partly(i & 1 ? array : NULL);
		sum += table[i % 3](i % 5) + with_static(i) + constant_argument(i, 4) + unused_argument(i % 5, &p, 7) +
		       jumps(i % 5);
		sum += old_style(i, 'a') + (int)strlen(names_itself(i)) + always(i) + struct_result(i).x +
		       mutual_a(i % 9) + tail(i);
		sum += big_stack(i) + conditional(i) + with_define(i) + declared_inside(i) + split_brace(i) +
		       shaped(i) + twice_used(i);
		sum += from_library(i) + other_unit(i) + header_pointer()(i);
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, worker, &sums[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		sum += (int)sums[i];
	}
	qsort(array, 10, sizeof *array, qsort_order);
	printf("%d %d %s\n", sum, array[9], names_itself(1));
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
