/* One request: parse, execute, reply. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server.h"

static void execute_get(const struct request *r, char *reply, size_t size)
{
	uint32_t quantity, price;

	if (cache_get(r->first, reply, size))
		return;
	if (store_get(r->first, &quantity, &price))
		snprintf(reply, size, "%" PRIu32 " %" PRIu32 "\n", quantity, price);
	else
		snprintf(reply, size, "none\n");
	cache_put(r->first, reply);
}

static void execute_put(const struct request *r, char *reply, size_t size)
{
	snprintf(reply, size, store_put(r->first, r->quantity, r->price) ? "error out of memory\n" : "ok\n");
	cache_forget(r->first);
}

static void execute_request(const struct request *r, char *reply, size_t size)
{
	switch (r->command) {
	case COMMAND_PUT:
		execute_put(r, reply, size);
		break;
	case COMMAND_GET:
		execute_get(r, reply, size);
		break;
	case COMMAND_SUM:
		snprintf(reply, size, "%" PRIu64 "\n", store_sum(r->first, r->last));
		break;
	case COMMAND_BAD:
		snprintf(reply, size, "error bad request\n");
		break;
	}
}

int handle_request(struct connection *conn, const char *line)
{
	char reply[LINE_MAX_BYTES];
	struct request r;

	parse_request(&r, line);
	execute_request(&r, reply, sizeof reply);
	return net_send(conn, reply, strlen(reply));
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
