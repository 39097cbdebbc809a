/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks.h"

static NOINLINE void sort_rows(struct request *r)
{
	PLANT_SPIN(r->ns[SORT_ROWS], r->took[SORT_ROWS]);
}

static NOINLINE void answer_query(struct request *r)
{
	PLANT_CALL(r->took[SEARCH_INDEX], search_index(r));
	PLANT_CALL(r->took[LOAD_PAGE], load_page(r));
	PLANT_CALL(r->took[SORT_ROWS], sort_rows(r));
}

NOINLINE void handle_request(struct request *r)
{
	PLANT_CALL(r->took[ANSWER_QUERY], answer_query(r));
}
