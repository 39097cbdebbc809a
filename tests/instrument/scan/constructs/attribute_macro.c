// A project that defines attributes away would compile the probe's cleanup away, silently.
#define __attribute__(x)
int f(int a) { return a; }
// expect function f reason=attribute_macro
/* SPDX-License-Identifier: GPL-3.0-or-later */
