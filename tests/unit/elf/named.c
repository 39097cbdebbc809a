/* Functions to be named: marks are addresses in them, which no symbol table needs to have.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#define MARK(name) __asm__ volatile(".globl " #name "\n" #name ":\n\tnop")

volatile int sink;

static inline __attribute__((always_inline)) void innermost(int x)
{
	sink += x;
	MARK(mark_innermost);
	sink--;
}

static inline __attribute__((always_inline)) void middle(int x)
{
	innermost(x + 1);
	MARK(mark_middle);
	sink++;
}

__attribute__((noinline)) void outer_function(int x)
{
	middle(x);
	sink -= x;
}

static __attribute__((noinline)) void local_function(int x)
{
	sink += x;
	MARK(mark_local);
	sink--;
}

int named_entry(int x)
{
	outer_function(x);
	local_function(x);
	return sink;
}

int main(int argc, char **argv)
{
	(void)argv;
	return named_entry(argc) == 99;
}
