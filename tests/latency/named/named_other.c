/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linked into the program, and once more as a library. */
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE void NAMED(void)
{
	nanosleep(&(struct timespec){ 0, 200000 }, NULL);
	__asm__ volatile("");
}

void ENTRY(void);
void ENTRY(void)
{
	NAMED();
	__asm__ volatile("");
}
