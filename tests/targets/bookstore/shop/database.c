/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shop.h"

#define QUERY_MAX 2048

MYSQL *database_connect(void)
{
	const char *port = getenv("SHOP_DATABASE_PORT");
	MYSQL *database = mysql_init(NULL);

	if (database && port &&
	    mysql_real_connect(database, "127.0.0.1", "root", "", "shop", (unsigned)atoi(port), NULL, 0))
		return database;
	fprintf(stderr, "shop: %s\n", !port ? "SHOP_DATABASE_PORT is not set" : database ? mysql_error(database) : "");
	if (database)
		mysql_close(database);
	return NULL;
}

/* Here the interaction is the database server's. */
static MYSQL_RES *await_answer(struct interaction *x)
{
	return mysql_read_query_result(x->database) ? NULL : mysql_store_result(x->database);
}

static MYSQL_RES *query(struct interaction *x, const char *text, size_t n_bytes)
{
	MYSQL_RES *rows = mysql_send_query(x->database, text, n_bytes) ? NULL : await_answer(x);

	if (mysql_errno(x->database)) {
		fprintf(stderr, "shop: %s: %s: %s\n", x->page->name, mysql_error(x->database), text);
		x->failed = 1;
	}
	return rows;
}

static MYSQL_RES *vask(struct interaction *x, const char *format, va_list arguments)
{
	char text[QUERY_MAX];
	int n = vsnprintf(text, sizeof text, format, arguments);

	if (n < 0 || (size_t)n >= sizeof text) {
		x->failed = 1;
		return NULL;
	}
	return query(x, text, (size_t)n);
}

MYSQL_RES *ask(struct interaction *x, const char *format, ...)
{
	va_list arguments;
	MYSQL_RES *rows;

	va_start(arguments, format);
	rows = vask(x, format, arguments);
	va_end(arguments);
	return rows;
}

unsigned list(struct interaction *x, const char *format, ...)
{
	unsigned n_rows = 0;
	va_list arguments;
	MYSQL_RES *rows;
	MYSQL_ROW row;

	va_start(arguments, format);
	rows = vask(x, format, arguments);
	va_end(arguments);
	while (rows && (row = mysql_fetch_row(rows))) {
		for (unsigned i = 0; i < mysql_num_fields(rows); i++)
			add(x, "%s%s", i ? ", " : "<li>", row[i] ? row[i] : "-");
		add(x, "\n");
		n_rows++;
	}
	if (rows)
		mysql_free_result(rows);
	return n_rows;
}

unsigned long number(struct interaction *x, const char *format, ...)
{
	unsigned long found = 0;
	va_list arguments;
	MYSQL_RES *rows;
	MYSQL_ROW row;

	va_start(arguments, format);
	rows = vask(x, format, arguments);
	va_end(arguments);
	if (rows && (row = mysql_fetch_row(rows)) && row[0])
		found = strtoul(row[0], NULL, 10);
	if (rows)
		mysql_free_result(rows);
	return found;
}
