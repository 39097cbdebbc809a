/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "recorder.h"

static NOINLINE void format(struct request *r)
{
	PLANT_SPIN(r->ns[FORMAT], r->took[FORMAT]);
}

static NOINLINE void write_device(struct request *r)
{
	struct timespec ts = { 0, (long)r->ns[NANOSLEEP] };
	uint64_t from = PLANT_NOW();

	nanosleep(&ts, NULL);
	r->took[NANOSLEEP] += PLANT_NOW() - from;
}

NOINLINE void store_record(struct request *r)
{
	format(r);
	write_device(r);
}
