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
	PLANT_CALL(m->took[ROUTE], route(m));
	PLANT_CALL(m->took[ENCODE_BODY], encode_body(m));
	PLANT_CALL(m->took[CHECKSUM_BODY], checksum_body(m));
	PLANT_CALL(m->took[JOURNAL], journal_message(m));
}
