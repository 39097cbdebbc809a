/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bookstore after TPC-W's, in C: an HTTP server whose fourteen pages are functions of their own, each of which asks a
 * MariaDB server over TCP. tests/targets/bookstore/README says what the two tiers are measured for. */
#ifndef SHOP_H
#define SHOP_H

#include <mysql.h>
#include <stddef.h>

struct page;

/* One request, by a thread of its own. What it was asked for are numbers; 0: not given. */
struct interaction {
	const struct page *page;
	MYSQL *database;
	unsigned long customer, item, subject, cart, order, word;
	char *body; /* BODY_MAX */
	size_t n_bytes;
	int failed;
};

#define BODY_MAX ((size_t)1 << 16)
#define N_SUBJECTS 24

struct page {
	const char *name; /* in its address, and the type of its requests */
	void (*serve)(struct interaction *x);
};

extern const struct page pages[];
extern const size_t n_pages;

/* Connects to the server that SHOP_DATABASE_PORT says; NULL: cannot. */
MYSQL *database_connect(void);
/* Asks, and waits for the answer; NULL when there is none to be freed (an update, or a failure: x->failed). */
MYSQL_RES *ask(struct interaction *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Asks, and adds the answer to the page, a line for each row. Number of rows. */
unsigned list(struct interaction *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Asks for one number; 0: no row. */
unsigned long number(struct interaction *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

void add(struct interaction *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Serves the connections of a listening socket, one after the other, until the process ends. */
void *serve_connections(void *listener);

#endif
