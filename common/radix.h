/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting by a 64-bit key, in time that grows with n alone. */
#ifndef VPROF_RADIX_H
#define VPROF_RADIX_H

#include <stddef.h>
#include <stdint.h>

struct vprof_keyed {
	uint64_t key;
	uint32_t item;
};

/* By rising key, equal ones in their order. OK or NOMEM: `v` is as it was, or partly sorted. */
int vprof_radix_sort(struct vprof_keyed *v, size_t n);

/* The key that would be v[k] if all were sorted; k < n. They change their order. O(n). */
uint64_t vprof_radix_nth(uint64_t *v, size_t n, size_t k);

/* A key that falls as x rises; x is no NaN and not negative. */
static inline uint64_t vprof_falling_key(double x)
{
	union {
		double x;
		uint64_t bits;
	} u = { .x = x };

	return ~u.bits;
}

#endif
