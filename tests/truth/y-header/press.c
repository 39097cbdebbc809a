/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "courier.h"

#include <stdlib.h>
#include <sys/socket.h>

static NOINLINE void press_sheet(struct order *o, struct plant_log *sheets)
{
	PLANT_STRETCH(sheets, o->ns[PRESS_SHEET]);
}

static NOINLINE void press_order(const char *message, struct order *o, struct plant_log *sheets)
{
	o->resumed.high = PLANT_NOW();
	(void)message; /* what it is for is all that matters here */
	PLANT_LOG(sheets, PLANT_CALL(o->took[PRESS_SHEET], press_sheet(o, sheets)));
	plant_log_last(sheets, &o->took[PRESS_SHEET]);
	o->at.to = PLANT_NOW();
}

int press_all(int from, struct order *orders, size_t n, struct plant_log *sheets)
{
	char message[MESSAGE_MAX];

	while (recv(from, message, sizeof message, 0) == MESSAGE_MAX) {
		size_t place = strtoul(message + sizeof "POST /" - 1, NULL, 10);
		struct order *o = place < n ? &orders[place] : NULL;

		if (!o)
			return 1;
		o->resumed.low = PLANT_NOW();
		press_order(message, o, sheets);
		o->at.after = PLANT_NOW();
	}
	return 0;
}
