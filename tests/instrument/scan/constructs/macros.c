// Calls and bodies through macros.
int f(int), g(int), puts(const char *);
#define ID(x) (x)
#define CALL_F(x) f(x)
#define F f
#define BODY(name) int name(int a) { return f(a) + 1; }
#define STRING(x) (puts(#x), (x))
#define BOTH(x) (sizeof(x) + (x))
#define PASTE(x) g_##x
#define LOG(fmt, ...) (g(0), f2(fmt, ##__VA_ARGS__))
int f2(const char *, ...);
int g_1(int);
BODY(made)
// expect function made reason= `after=int name(int a) {` exits=1 editable=0
// expect call made f text= wrappable=0 reason=macro
BODY(made_too)
// expect function made_too reason=
int use(int n)
{
	int sum = ID(f(n));
	// expect call use f `text=f(n)` wrappable=1
	sum += CALL_F(n + 1);
	// expect call use f `text=CALL_F(n + 1)` wrappable=1
	sum += F(7);
	// expect call use f `text=F(7)` wrappable=1
	sum += STRING(g(1));
	// expect call use g `text=g(1)` wrappable=0 reason=stringified
	sum += BOTH(g(2));
	// expect call use g `text=g(2)` wrappable=0 reason=unevaluated count=1
	sum += ID(g(ID(3) + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20));
	// expect call use g wrappable=1 `text=g(ID(3) + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20)`
	sum += PASTE(1)(2);
	// expect call use g_1 `text=PASTE(1)(2)` wrappable=1
	LOG("%d", g(5));
	// expect call use g `text=g(5)` wrappable=1
	// expect call use f2 wrappable=0 reason=macro
	return sum;
}
#define RETURN(x) return (x)
int ends(int n)
{
	if (n)
		RETURN(f(n));
	return ID(n);
}
// expect function ends exits=2 editable=1
/* SPDX-License-Identifier: GPL-3.0-or-later */
