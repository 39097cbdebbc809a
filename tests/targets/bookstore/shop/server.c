/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HTTP/1.1 as far as clients and proxies of the load need it: GET, without a body, on connections that stay open. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shop.h"

#define HEAD_MAX 8192

void add(struct interaction *x, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(x->body + x->n_bytes, BODY_MAX - x->n_bytes, format, arguments);
	va_end(arguments);
	if (n > 0)
		x->n_bytes += (size_t)n < BODY_MAX - x->n_bytes ? (size_t)n : BODY_MAX - x->n_bytes - 1;
}

/* A head that ends with an empty line, without what may come after it: its length, 0: the connection is over. */
static size_t receive_head(int fd, char *head)
{
	size_t n = 0;

	while (n < HEAD_MAX - 1) {
		ssize_t got = recv(fd, head + n, HEAD_MAX - 1 - n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		n += (size_t)got;
		head[n] = 0;
		if (strstr(head, "\r\n\r\n"))
			return n;
	}
	return 0;
}

static unsigned long parameter(const char *query, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = query; p; p = strchr(p, '&')) {
		p += *p == '&' || *p == '?';
		if (!strncmp(p, name, n) && p[n] == '=')
			return strtoul(p + n + 1, NULL, 10);
	}
	return 0;
}

/* "GET /best_sellers?subject=7 HTTP/1.1" */
static int read_request(char *head, struct interaction *x)
{
	char *end = strstr(head, " HTTP/"), *query;

	if (strncmp(head, "GET /", 5) || !end)
		return 0;
	*end = 0;
	query = strchr(head, '?');
	if (query)
		*query++ = 0;
	for (size_t i = 0; i < n_pages; i++)
		if (!strcmp(head + 5, pages[i].name))
			x->page = &pages[i];
	x->customer = parameter(query, "customer");
	x->item = parameter(query, "item");
	x->subject = parameter(query, "subject");
	x->cart = parameter(query, "cart");
	x->word = parameter(query, "word");
	return x->page != NULL;
}

static int send_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, data, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return 0;
		data += sent;
		n -= (size_t)sent;
	}
	return 1;
}

/* One interaction, from its request to its page. */
static int serve_interaction(struct interaction *x, int fd)
{
	char page[BODY_MAX + 256];
	int n;

	x->n_bytes = 0;
	x->failed = 0;
	add(x, "<html><title>%s</title>\n", x->page->name);
	x->page->serve(x);
	add(x, "</html>\n");
	n = snprintf(page, sizeof page, "HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %zu\r\n\r\n%s",
		     x->failed ? "500 Failed" : "200 OK", x->n_bytes, x->body);
	return send_all(fd, page, (size_t)n);
}

static void serve_connection(int fd, struct interaction *x)
{
	char head[HEAD_MAX];

	while (receive_head(fd, head)) {
		x->page = NULL;
		if (!read_request(head, x) ? !send_all(fd, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 38) :
					     !serve_interaction(x, fd))
			return;
	}
}

void *serve_connections(void *listener)
{
	struct interaction x = { .database = database_connect(), .body = malloc(BODY_MAX) };
	int fd, on = 1;

	if (!x.database || !x.body)
		exit(1);
	while ((fd = accept(*(int *)listener, NULL, NULL)) >= 0 || errno == EINTR || errno == ECONNABORTED) {
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		serve_connection(fd, &x);
		close(fd);
	}
	return NULL;
}
