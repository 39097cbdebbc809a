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

	PLANT_CALL(r->took[NANOSLEEP], nanosleep(&ts, NULL));
	r->took[NANOSLEEP].low = r->took[NANOSLEEP].high; /* it cannot be measured from within */
}

NOINLINE void store_record(struct request *r)
{
	PLANT_CALL(r->took[FORMAT], format(r));
	PLANT_CALL(r->took[WRITE_DEVICE], write_device(r));
}
