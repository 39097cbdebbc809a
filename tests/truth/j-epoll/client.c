/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gateway.h"

#include <string.h>
#include <unistd.h>

static void fill_request(struct connection *conn, uint64_t *random)
{
	memset(conn->took, 0, sizeof conn->took);
	conn->ns[EXPAND_ROW] = plant_uniform(random, 100000, 2100000);
	conn->ns[PARSE] = plant_uniform(random, 50000, 650000);
	conn->ns[MATCH_ROUTE] = plant_uniform(random, 20000, 220000);
	conn->ns[ENCODE] = plant_uniform(random, 50000, 650000);
}

void *client_main(void *arg)
{
	struct client *client = arg;
	char byte = 1;

	for (size_t i = 0; i < client->n; i++) {
		struct connection *conn = &client->connections[plant_uniform(&client->random, 0, N_CONNECTIONS)];

		fill_request(conn, &client->random);
		if (write(conn->client_fd, &byte, 1) != 1 || read(conn->client_fd, &byte, 1) != 1)
			break;
		IN_HANDLER(sem_wait(&conn->accounted));
		truth_add_from(client->truth, conn->took, conn->begin);
	}
	close(client->connections[0].client_fd);
	return NULL;
}
