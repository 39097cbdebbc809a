/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quick, but deep: what is specific is not told by depth alone. */
#include "message.h"

static NOINLINE char digit(uint64_t n)
{
	return (char)('0' + n % 10);
}

static NOINLINE void write_number(char *to, uint64_t n)
{
	for (int i = 9; i >= 0; i--, n /= 10)
		to[i] = digit(n);
}

static NOINLINE void write_entry(struct message *m)
{
	write_number(m->note, m->id);
}

NOINLINE void journal_message(struct message *m)
{
	write_entry(m);
}
