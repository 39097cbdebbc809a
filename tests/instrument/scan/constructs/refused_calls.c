// Calls that the statement-expression form would break.
#include <alloca.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>
struct pair { int a[2]; };
struct pair pair(void);
int take(const int *), plain(int);
void never(void) __attribute__((noreturn));
jmp_buf place;
int uses(int n)
{
	take((int[]){ 1, 2 });
	// expect call uses take wrappable=0 reason=compound_literal
	char *room = alloca(10);
	// expect call uses alloca count=0
	if (setjmp(place))
		// expect call uses setjmp count=0
		return 1;
	if (vfork())
		// expect call uses vfork wrappable=0 reason=returns_twice
		return 2;
	if (n == 3)
		never();
	// expect call uses never wrappable=0 reason=noreturn
	if (n == 4)
		exit(1);
	// expect call uses exit wrappable=0 reason=noreturn
	int third = pair().a[1];
	// expect call uses pair wrappable=0 reason=array_result
	n += sizeof(plain(1)) + __builtin_expect(n, 0);
	// expect call uses plain text=plain(1) count=0
	// expect call uses __builtin_expect count=0
	int bound[plain(2)];
	// expect call uses plain `text=plain(2)` wrappable=0 reason=constant
	__typeof__(plain(3)) copy = 0;
	// expect call uses plain `text=plain(3)` count=0
	__asm__("" : : "r"(plain(4)));
	// expect call uses plain `text=plain(4)` wrappable=0 reason=asm
	plain(({ plain(6); goto out; out: plain(5); }));
	// expect call uses plain wrappable=0 reason=label
	// expect call uses plain `text=plain(6)` wrappable=1
	return room[0] + third + bound[0] + copy;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
