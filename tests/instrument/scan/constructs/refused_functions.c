// Functions that cannot hold a probe, and why.
int outside(int);
__attribute__((no_instrument_function)) int quiet(int a) { return outside(a); }
// expect function quiet reason=no_instrument
// expect call quiet outside wrappable=0 reason=caller
__attribute__((naked)) void bare(void) { __asm__("ret"); }
// expect function bare reason=naked
static int real_one(void) { return 1; }
static int (*choose(void))(void) { return real_one; }
// expect function choose reason=ifunc returns=__auto_type kind=scalar
int chosen(void) __attribute__((ifunc("choose")));
__attribute__((target("general-regs-only"))) int plain_registers(int a) { return a; }
// expect function plain_registers reason=target
int labels(int n)
{
	/* first */ __label__ a, b;
	__label__ c;
	if (n)
		goto a;
a:
b:
c:
	return n;
}
// expect function labels reason= `after=__label__ c;`
int digraph(int n) <% return n; %>
// expect function digraph reason=brace_mismatch
/* SPDX-License-Identifier: GPL-3.0-or-later */
