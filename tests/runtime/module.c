/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared library with probes of its own: one thread-local pointer for it, the gate shared with the program. */
int module_call(int x);

int __attribute__((noinline)) module_call(int x)
{
	VP_FUNCTION(0x203, 0x8UL, 1)
	return x + 1;
}
