/* Inline functions of both units, with a static variable that is one. */
#ifndef FORMS_H
#define FORMS_H

extern struct planted counted_inline_calls; /* counts for both units */
inline int counted_inline(int a)
{
	static int all = 1;
	__atomic_fetch_add(&counted_inline_calls.n, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		all += a & 1;
	return all;
}
int other_unit(int a);

#endif
/* SPDX-License-Identifier: GPL-3.0-or-later */
