/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that have no twin, since they have a static variable, and what they call: that is inlined elsewhere, and
 * has to be counted wherever it runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include "planted.h"
#include "small.h"
PLANTED_MAIN
struct pair {
	int x, y;
};
COUNTER(tiny);
COUNTER(plain_caller);
COUNTER(static_caller);
COUNTER(nested_caller);
COUNTER(macro_caller);
COUNTER(by_macro);
COUNTER(bracketed);
COUNTER(bracket_caller);
COUNTER(declared);
COUNTER(declaring_caller);
COUNTER(in_comment);
COUNTER(comment_caller);
COUNTER(pointed);
COUNTER(pointing_caller);
COUNTER(fielded);
COUNTER(field_caller);
COUNTER(result);
COUNTER(result_caller);
COUNTER(variadic);
COUNTER(variadic_caller);
COUNTER(old_style);
COUNTER(old_caller);
COUNTER(leaves);
COUNTER(leaving_caller);
COUNTER(sized);
COUNTER(sizing_caller);
COUNTER(first_of_line);
COUNTER(second_of_line);
COUNTER(third_of_line);
COUNTER(split);
COUNTER(always);
COUNTER(always_user);
COUNTER(handed);
COUNTER(handing_caller);
COUNTER(chained);
COUNTER(chain);
COUNTER(chain_caller);
COUNTER(constructed);
COUNTER(typed);
COUNTER(by_parameter);
COUNTER(parameter_caller);
COUNTER(calls_left_out);
COUNTER(cloned);
COUNTER(clone_caller);
COUNTER(calls_clone);
COUNTER(calls_other);
COUNTER(declares_other);

static int tiny(int a)
{
	PLANTED(tiny) for (int i = 0; i < (a & 3); i++) a ^= i;
	return a + 1;
}
static int plain_caller(int a)
{
	PLANTED(plain_caller) return tiny(a) + tiny(a + 1);
}
static int static_caller(int a)
{
	static int calls;
	PLANTED(static_caller) calls++;
	return tiny(a) + calls;
}
static int nested_caller(int a)
{
	static int calls;
	PLANTED(nested_caller)
	return tiny(tiny(tiny /* a space, and a line */
			 (a) +
			 __LINE__)) +
	       calls++;
}
static int by_macro(int a)
{
	PLANTED(by_macro) while (a > 9) a -= 4;
	return a;
}
#define BY_MACRO(a) (by_macro(a) + tiny(a))
#define CALL(f, a) f(a)
static int macro_caller(int a)
{
	static int calls;
	PLANTED(macro_caller)
	return BY_MACRO(a) + CALL(by_macro, a + 1) + calls++;
}
static int by_parameter(int a)
{
	PLANTED(by_parameter) while (a > 9) a -= 3;
	return a;
}
#define CALL_IN_BRACKETS(f, a) (f)(a)
static int parameter_caller(int a)
{
	static int calls;
	PLANTED(parameter_caller)
	return CALL_IN_BRACKETS(by_parameter, a) + calls++;
}
static int bracketed(int a)
{
	PLANTED(bracketed) while (a > 9) a -= 5;
	return a;
}
static int bracket_caller(int a)
{
	static int calls;
	PLANTED(bracket_caller)
	return (bracketed)(a) + bracketed(a) + calls++;
}
int declared(int a)
{
	PLANTED(declared) while (a > 9) a -= 6;
	return a;
}
static int declaring_caller(int a)
{
	extern int declared(int n);
	static int calls;
	PLANTED(declaring_caller)
	return declared(a) + calls++;
}
static int in_comment(int a)
{
	PLANTED(in_comment) while (a > 9) a -= 7;
	return a;
}
static int comment_caller(int a)
{
	static int calls;
	/* not in_comment(a): it is called below */
	PLANTED(comment_caller)
	return in_comment(a) + (int)strlen("in_comment(a)") + calls++;
}
static int pointed(int a)
{
	PLANTED(pointed) while (a > 9) a -= 8;
	return a;
}
static int pointing_caller(int a)
{
	static int (*volatile kept)(int);
	PLANTED(pointing_caller)
	kept = pointed;
	return pointed(a) + kept(a) + (kept == pointed) + (kept == &pointed);
}
struct with_field {
	int (*fielded)(int);
};
static int fielded(int a)
{
	PLANTED(fielded) while (a > 9) a -= 9;
	return a;
}
static int field_caller(int a)
{
	static volatile struct with_field w = { fielded };
	PLANTED(field_caller)
	return w.fielded(a) + fielded(a);
}
static struct pair result(int a)
{
	struct pair p = { a, 2 };
	PLANTED(result) while (p.x > 5) p.x -= p.y;
	return p;
}
static int result_caller(int a)
{
	static int calls;
	PLANTED(result_caller)
	return result(a).x + calls++;
}
static int variadic(int n, ...)
{
	va_list list;
	double sum = 0;
	PLANTED(variadic)
	va_start(list, n);
	while (n--)
		sum += va_arg(list, double);
	va_end(list);
	return (int)sum;
}
static int variadic_caller(int a)
{
	static int calls;
	PLANTED(variadic_caller)
	return variadic(2, a / 2.0, 1.5) + variadic(0) + calls++;
}
static int old_style(a, b)
int a;
char b;
{
	PLANTED(old_style) while (a > b) a -= 3;
	return a;
}
static int old_caller(int a)
{
	static int calls;
	PLANTED(old_caller)
	return old_style(a, 'a') + calls++;
}
static jmp_buf back;
static __attribute__((noreturn)) void leaves(int a)
{
	PLANTED(leaves) longjmp(back, a + 1);
}
static int leaving_caller(int a)
{
	static volatile int calls;
	PLANTED(leaving_caller)
	calls++;
	if (setjmp(back))
		return calls;
	leaves(a);
}
static long sized(int a)
{
	PLANTED(sized) while (a > 9) a -= 2;
	return a;
}
static int sizing_caller(int a)
{
	static int calls;
	static char text[sizeof(sized(0))];
	PLANTED(sizing_caller)
	text[0] = (char)a;
	return (int)sized(a) + (int)sizeof text + text[0] + calls++;
}
static int typed(int a)
{
	static int calls;
	__typeof__(sized(0)) sum = sized(a);
	PLANTED(typed)
	return (int)sum + calls++;
}
/* clang-format off */
static int first_of_line(int a) { static int n; PLANTED(first_of_line) return tiny(a) + n++; } static int second_of_line(int a) { static int n; PLANTED(second_of_line) return first_of_line(tiny(a)) + n++; }static int third_of_line(int a) { PLANTED(third_of_line) return second_of_line(a) + tiny(a) + __LINE__; }
/* clang-format on */
#ifdef __x86_64__
static int split(int a)
{
#else
static long split(long a)
{
#endif
	static int calls;
	PLANTED(split)
	return tiny(a) + calls++;
}
static inline __attribute__((always_inline)) int always(int a)
{
	PLANTED(always) for (int i = 0; i < 2; i++) a += tiny(a);
	return a;
}
static int always_user(int a)
{
	PLANTED(always_user) return always(a) + tiny(a);
}
static int handed(int a)
{
	PLANTED(handed) while (a > 9) a -= 2;
	return a;
}
static inline int hands(int (*f)(int), int a)
{
	for (int i = 0; i < 2; i++)
		a += f(a);
	return a;
}
static int handing_caller(int a)
{
	static int calls;
	PLANTED(handing_caller)
	return hands(handed, a) + handed(a) + calls++;
}
static int chained(int a)
{
	PLANTED(chained) while (a > 9) a -= 3;
	return a;
}
static int chain(int a)
{
	PLANTED(chain) return chained(a) + chained(a + 2);
}
static int chain_caller(int a)
{
	static int calls;
	PLANTED(chain_caller)
	return chain(a) + calls++;
}
/* Without an entry of its own, since it is left out. */
static __attribute__((noinline)) int left_out(int a)
{
	return a + 1;
}
static int calls_left_out(int a)
{
	PLANTED(calls_left_out) while (a > 9) a -= left_out(a);
	return left_out(a);
}
/* The compiler makes a clone of it, which has no entry of its own. */
static __attribute__((noinline)) int cloned(int a, const struct pair *p, int unused)
{
	PLANTED(cloned) for (int i = 0; i < (a & 3); i++) a -= p->x > i;
	(void)unused;
	return a + p->y;
}
static int clone_caller(int a)
{
	static struct pair p = { 1, 2 };
	PLANTED(clone_caller)
	p.x = a;
	return cloned(a, &p, 1) + cloned(a + 1, &p, 2);
}
static int calls_clone(int a)
{
	struct pair p = { a, 3 };
	PLANTED(calls_clone) return cloned(a, &p, 1) + tiny(a);
}
static int calls_other(int a)
{
	PLANTED(calls_other) return small_other(a) + small_other(small_other(a + 1)) + tiny(a);
}
static int declares_other(int a)
{
	int declared_other(int n);
	PLANTED(declares_other) return declared_other(a) + tiny(a);
}
static int constructed_sum;
__attribute__((constructor)) static void constructed(void)
{
	PLANTED(constructed) constructed_sum = tiny(4);
}

int main(void)
{
	int sum = constructed_sum;

	for (int i = 0; i < 50; i++) {
		sum += plain_caller(i) + static_caller(i) + nested_caller(i) + macro_caller(i) + bracket_caller(i) +
		       declaring_caller(i) + comment_caller(i) + pointing_caller(i) + field_caller(i);
		sum += result_caller(i) + variadic_caller(i) + old_caller(i) + leaving_caller(i) + sizing_caller(i) +
		       typed(i) + third_of_line(i) + split(i) + always_user(i) + handing_caller(i) + chain_caller(i);
		sum += tiny(i) + chain(i) + by_macro(i) + in_header(i) + header_caller(i) + from_other(i) +
		       parameter_caller(i) + calls_left_out(i) + clone_caller(i) + calls_clone(i) + calls_other(i) +
		       declares_other(i);
	}
	printf("%d %d %s\n", sum, __LINE__, __func__);
	planted_write();
	return 0;
}
