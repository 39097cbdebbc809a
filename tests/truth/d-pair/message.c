/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "message.h"

static NOINLINE void encode_body(struct message *m)
{
	PLANT_SPIN(m->ns[ENCODE_BODY] + 220 * m->size, m->took[ENCODE_BODY]);
}

static NOINLINE void checksum_body(struct message *m)
{
	PLANT_SPIN(m->ns[CHECKSUM_BODY] + 200 * m->size, m->took[CHECKSUM_BODY]);
}

static NOINLINE void route(struct message *m)
{
	PLANT_SPIN(m->ns[ROUTE], m->took[ROUTE]);
}

NOINLINE void handle_message(struct message *m)
{
	route(m);
	encode_body(m);
	checksum_body(m);
	journal_message(m);
}
