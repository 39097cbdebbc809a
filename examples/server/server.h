/* A small order server: text lines over TCP, one thread for each connection, orders in memory, a journal on disk.
 *
 *   PUT <id> <quantity> <price>    stores an order            "ok"
 *   GET <id>                       one order                  "<quantity> <price>" or "none"
 *   SUM <first> <last>             value of a range of ids    "<sum>"
 */
#ifndef SERVER_H
#define SERVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_MAX_BYTES 256

/* parse.c */
enum command { COMMAND_PUT, COMMAND_GET, COMMAND_SUM, COMMAND_BAD };
extern const char *const command_names[];

struct request {
	enum command command;
	uint32_t first, last; /* ids; GET and PUT use the first */
	uint32_t quantity, price;
};

void parse_request(struct request *r, const char *line);

/* net.c */
struct connection {
	int fd;
	pthread_t thread;
	char in[4096];
	size_t n_in;
	struct connection *next;
};

int net_listen(uint16_t *port); /* 0 in *port: any free one */
void net_accept_loop(int listen_fd, const int *stop);
int net_send(struct connection *conn, const char *text, size_t n);

/* request.c */
int handle_request(struct connection *conn, const char *line); /* nonzero: the client is gone */

/* store.c: all orders; `store_lock` protects them and the journal. */
struct order {
	uint32_t id, quantity, price;
	struct order *next;
};

extern pthread_mutex_t store_lock;

int store_open(size_t n_orders);
void store_close(void);
int store_put(uint32_t id, uint32_t quantity, uint32_t price);
int store_get(uint32_t id, uint32_t *quantity, uint32_t *price);
uint64_t store_sum(uint32_t first, uint32_t last);
void store_each(void (*visit)(const struct order *order, void *arg), void *arg); /* call with store_lock held */

/* journal.c */
int journal_open(const char *folder);
void journal_append(uint32_t id, uint32_t quantity, uint32_t price); /* call with store_lock held */
void journal_close(void);

/* cache.c: replies to recent GETs, one cache for each thread. */
int cache_get(uint32_t id, char *reply, size_t size);
void cache_put(uint32_t id, const char *reply);
void cache_forget(uint32_t id);

#endif
/* SPDX-License-Identifier: GPL-3.0-or-later */
