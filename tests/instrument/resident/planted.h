/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that begins with PLANTED(name) counts its executions; planted_write() writes all counts to ./planted. The
 * counters are volatile, so that no compiler computes a call away. */
#ifndef PLANTED_H
#define PLANTED_H

#include <stdio.h>

struct planted {
	const char *name;
	volatile long n;
	struct planted *next;
};

#ifdef __cplusplus
extern "C" {
#endif
extern struct planted *planted_all;
#ifdef __cplusplus
}
#endif

/* Each counter links itself in when the program starts, so that no function has a static variable of its own. */
#define COUNTER(name)                                                                                                  \
	static struct planted planted_##name = { #name, 0, 0 };                                                        \
	__attribute__((constructor, no_instrument_function)) static void planted_link_##name(void)                     \
	{                                                                                                              \
		planted_##name.next = planted_all;                                                                     \
		planted_all = &planted_##name;                                                                         \
	}
#define PLANTED(name) __atomic_fetch_add(&planted_##name.n, 1, __ATOMIC_RELAXED);

#define PLANTED_MAIN                                                                                                   \
	struct planted *planted_all;                                                                                   \
	__attribute__((no_instrument_function)) static void planted_write(void)                                        \
	{                                                                                                              \
		FILE *to = fopen("planted", "w");                                                                      \
		for (struct planted *p = planted_all; to && p; p = p->next)                                            \
			fprintf(to, "%s %ld\n", p->name, p->n);                                                        \
		if (to)                                                                                                \
			fclose(to);                                                                                    \
	}

#endif
