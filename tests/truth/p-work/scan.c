/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan.h"

static NOINLINE void scan_rows(struct query *q)
{
	PLANT_SPIN(q->ns[SCAN_ROWS], q->took[SCAN_ROWS]);
}

static NOINLINE void refresh_index(struct query *q)
{
	PLANT_SPIN(q->ns[REFRESH_INDEX], q->took[REFRESH_INDEX]);
}

NOINLINE void run_query(struct query *q)
{
	PLANT_CALL(q->took[SCAN_ROWS], scan_rows(q));
	PLANT_CALL(q->took[REFRESH_INDEX], refresh_index(q));
}
