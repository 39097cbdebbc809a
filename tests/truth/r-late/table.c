/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void parse(struct request *r)
{
	PLANT_SPIN(r->ns[PARSE], r->took[PARSE]);
}

static NOINLINE void write_row(struct request *r)
{
	PLANT_SPIN(r->ns[WRITE_ROW], r->took[WRITE_ROW]);
}

static NOINLINE void update_table(struct request *r)
{
	r->interruptions = -PLANT_INTERRUPTIONS();
	r->wait_from = PLANT_NOW();
	pthread_mutex_lock(&table_lock);
	r->wait_to = PLANT_NOW();
	r->interruptions += PLANT_INTERRUPTIONS();
	PLANT_CALL(r->took[WRITE_ROW], write_row(r));
	pthread_mutex_unlock(&table_lock);
}

static NOINLINE void reply(struct request *r)
{
	PLANT_SPIN(r->ns[REPLY], r->took[REPLY]);
}

NOINLINE void handle_request(struct request *r)
{
	PLANT_CALL(r->took[PARSE], parse(r));
	PLANT_CALL(r->took[UPDATE_TABLE], update_table(r));
	PLANT_CALL(r->took[REPLY], reply(r));
}
