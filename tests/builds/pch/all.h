/* All headers in one. */
#ifndef ALL_H
#define ALL_H
#include "service.h"

static inline unsigned mix_twice(unsigned hash, unsigned value)
{
	return mix(mix(hash, value), value >> 16);
}
#endif
/* SPDX-License-Identifier: GPL-3.0-or-later */
