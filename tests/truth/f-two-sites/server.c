/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks.h"

static NOINLINE void sort_rows(struct request *r)
{
	PLANT_SPIN(r->ns[SORT_ROWS], r->took[SORT_ROWS]);
}

static NOINLINE void answer_query(struct request *r)
{
	search_index(r);
	load_page(r);
	sort_rows(r);
}

NOINLINE void handle_request(struct request *r)
{
	answer_query(r);
}
