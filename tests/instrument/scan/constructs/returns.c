// How return types are spelled for a variable.
struct point { int x, y; };
typedef struct { long v; } boxed;
enum color { RED };
struct point origin(void) { struct point p = { 0, 0 }; return p; }
// expect function origin kind=record `returns=struct point`
boxed box(void) { boxed b = { 1 }; return b; }
// expect function box kind=record returns=boxed
const char *text(void) { return ""; }
// expect function text kind=scalar `returns=const char *`
enum color color(void) { return RED; }
// expect function color kind=scalar `returns=enum color`
int (*array(void))[3] { return 0; }
// expect function array returns=__auto_type
_Bool flag(void) { return 1; }
// expect function flag returns=_Bool `signature=bool (void)`
void nothing(void) {}
// expect function nothing kind=void exits=0
/* SPDX-License-Identifier: GPL-3.0-or-later */
