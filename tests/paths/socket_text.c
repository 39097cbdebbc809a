/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "socket_text.h"

#define NAT 200		     /* the process at whose address others' are seen */
#define STREAMS_APART 100000 /* bytes: more than a test sends over one */

static const char *keep(struct socket_text *s, const char *name)
{
	const char *kept = vprof_strings_keep(&s->names, name);

	assert_non_null(kept);
	return kept;
}

static uint32_t host_of(struct socket_text *s, const char *name)
{
	const char **host;

	name = keep(s, name);
	for (uint32_t i = 0; i < s->history.hosts.n; i++)
		if (s->history.hosts.v[i] == name)
			return i;
	host = VPROF_PUSH(&s->history.hosts);
	*host = name;
	return (uint32_t)(s->history.hosts.n - 1);
}

static uint32_t process_of(struct socket_text *s, const char *name)
{
	struct vprof_socket_process *p;

	name = keep(s, name);
	for (uint32_t i = 0; i < s->history.processes.n; i++)
		if (s->history.processes.v[i].name == name)
			return i;
	p = VPROF_PUSH(&s->history.processes);
	*p = (struct vprof_socket_process){ host_of(s, "h1"), 1000 + (uint32_t)s->history.processes.n, name };
	return (uint32_t)(s->history.processes.n - 1);
}

static uint32_t thread_of(struct socket_text *s, const char *name)
{
	char process[64];
	struct vprof_socket_thread *t;
	uint32_t of;

	name = keep(s, name);
	for (uint32_t i = 0; i < s->history.threads.n; i++)
		if (s->history.threads.v[i].name == name)
			return i;
	snprintf(process, sizeof process, "%.*s", (int)strcspn(name, "."), name);
	of = process_of(s, process);
	t = VPROF_PUSH(&s->history.threads);
	*t = (struct vprof_socket_thread){ of, 2000 + (uint32_t)s->history.threads.n, name };
	return (uint32_t)(s->history.threads.n - 1);
}

static struct socket_text_connection *find(const struct socket_text *s, const char *name)
{
	for (size_t i = s->connections.n; i-- > 0;)
		if (!strcmp(s->connections.v[i].name, name))
			return &s->connections.v[i];
	fail_msg("no connection %s", name);
	return NULL;
}

static struct vprof_socket_address address(uint32_t process, uint16_t port)
{
	struct vprof_socket_address a = { .bytes = { [10] = 0xff, [11] = 0xff, [12] = 10 }, .port = port };

	a.bytes[15] = (uint8_t)(process + 1);
	return a;
}

static uint32_t add_end(struct socket_text *s, const struct socket_text_connection *c, int is_server, uint16_t port,
			int is_later)
{
	uint32_t process = is_server ? c->server : c->client;
	struct vprof_socket *end;

	if (process == VPROF_NONE)
		return VPROF_NONE;
	end = VPROF_PUSH(&s->history.sockets);
	*end = (struct vprof_socket){
		.host = s->history.processes.v[process].host,
		.kind = VPROF_SOCKET_TCP,
		.role = is_later  ? VPROF_ROLE_UNKNOWN :
			is_server ? VPROF_ROLE_SERVER :
				    VPROF_ROLE_CLIENT,
		.cookie = s->history.sockets.n,
		.local = is_server ? address(c->server, 80) : address(c->client, port),
		.remote = is_server ? address(c->client, port) : address(c->server, 80),
		.path = "",
	};
	return (uint32_t)(s->history.sockets.n - 1);
}

static void make_pair(struct socket_text *s, const uint32_t *ends)
{
	for (int i = 0; i < 2; i++) {
		struct vprof_socket *end = &s->history.sockets.v[ends[i]];

		end->kind = VPROF_SOCKET_UNIX;
		end->role = VPROF_ROLE_UNKNOWN;
		end->peer = s->history.sockets.v[ends[!i]].cookie;
	}
}

static void add_connection(struct socket_text *s, char *words)
{
	char name[32], client[32], server[32], *port_word = strstr(words, " port ");
	uint16_t port = port_word ? (uint16_t)atoi(port_word + 6) : (uint16_t)(20000 + s->next_port++);
	struct socket_text_connection *c = VPROF_PUSH(&s->connections);

	assert_int_equal(sscanf(words, "%31s %31s %31s", name, client, server), 3);
	c->name = keep(s, name);
	c->client = strcmp(client, "-") ? process_of(s, client) : VPROF_NONE;
	c->server = strcmp(server, "-") ? process_of(s, server) : VPROF_NONE;
	for (int is_server = 0; is_server < 2; is_server++)
		c->ends[is_server] = add_end(s, c, is_server, port, strstr(words, " later") != NULL);
	if (strstr(words, " nat"))
		s->history.sockets.v[c->ends[1]].remote = address(NAT, port);
	if (strstr(words, " pair"))
		make_pair(s, c->ends);
}

/* Each connection's numbers begin elsewhere. */
static uint64_t base_of(const struct socket_text *s, const struct socket_text_connection *c)
{
	return s->base + (uint64_t)(c - s->connections.v) * STREAMS_APART;
}

static void add_transfer(struct socket_text *s, uint64_t from, uint64_t to, const char *thread, char direction,
			 const char *name, uint32_t n_bytes, uint32_t waited)
{
	struct socket_text_connection *c = find(s, name);
	uint32_t who = thread_of(s, thread), process = s->history.threads.v[who].process;
	int is_server = c->client == c->server ? direction == '<' : process == c->server,
	    up = is_server != (direction == '>');
	struct vprof_transfer *t = VPROF_PUSH(&s->history.transfers);

	assert_true(is_server || process == c->client);
	*t = (struct vprof_transfer){
		from,  to, base_of(s, c) + c->sent[is_server][up], n_bytes, c->ends[is_server], who, direction == '>',
		waited
	};
	c->sent[is_server][up] += n_bytes;
}

static void add_event(struct socket_text *s, const char *line)
{
	unsigned long long from, to;
	char times[40], thread[32], what, object[32];
	unsigned int n_bytes = 0, waited = 0;
	int n = sscanf(line, "%39s %31s %c %31s %u waited %u", times, thread, &what, object, &n_bytes, &waited);

	if (n < 4 || sscanf(times, "%llu-%llu", &from, &to) < 1)
		fail_msg("what is \"%s\"?", line);
	to = strchr(times, '-') ? to : from;
	if (what == '<' || what == '>') {
		assert_true(n == 5 || n == 6);
		add_transfer(s, from, to, thread, what, object, n_bytes, waited);
	} else if (what == '*') {
		uint32_t interval = (uint32_t)atoi(object);
		struct vprof_work_span *span = VPROF_PUSH(&s->history.spans);

		*span = (struct vprof_work_span){ from, to, thread_of(s, thread), interval };
		s->history.n_intervals = interval < s->history.n_intervals ? s->history.n_intervals : interval + 1;
	} else if (what == '!') {
		uint32_t put_by = thread_of(s, thread), taken_by = thread_of(s, object);
		struct vprof_item_handed_on *item = VPROF_PUSH(&s->history.items);

		*item = (struct vprof_item_handed_on){ from, to, put_by, taken_by };
	} else {
		uint32_t waker = thread_of(s, thread), wakee = thread_of(s, object);
		struct vprof_thread_wake *w = VPROF_PUSH(&s->history.wakes);

		assert_true(what == '~' || what == '+');
		*w = (struct vprof_thread_wake){ from, waker, wakee, what == '+', n_bytes };
	}
}

static void add_call(struct socket_text *s, const char *words)
{
	char client[32], name[32], server[32];
	unsigned long long t;

	assert_int_equal(sscanf(words, "%llu %31s %31s %31s", &t, client, name, server), 4);
	add_transfer(s, t, t, client, '>', name, 5, 0);
	add_transfer(s, t + 1, t + 1, server, '<', name, 5, 0);
	add_transfer(s, t + 2, t + 2, server, '>', name, 5, 0);
	add_transfer(s, t + 3, t + 3, client, '<', name, 5, 0);
}

static void read_line(struct socket_text *s, char *line)
{
	char name[32], word[32];
	unsigned long long n;

	if (!strncmp(line, "conn ", 5)) {
		add_connection(s, line + 5);
	} else if (sscanf(line, "host %31s %31s", name, word) == 2) {
		uint32_t host = host_of(s, word), n_processes = (uint32_t)s->history.processes.n;

		assert_int_equal(process_of(s, name), n_processes); /* its connections would be of h1 */
		s->history.processes.v[process_of(s, name)].host = host;
	} else if (sscanf(line, "lost %llu", &n) == 1) {
		s->history.n_lost = n;
	} else if (sscanf(line, "ask %31s %llu", name, &n) == 2) {
		s->history.sockets.v[find(s, name)->ends[0]].connect_ns = n;
	} else if (sscanf(line, "skip %31s %31s %llu", name, word, &n) == 3) {
		struct socket_text_connection *c = find(s, name);

		c->sent[0][!strcmp(word, "up")] += n;
		c->sent[1][!strcmp(word, "up")] += n;
	} else if (sscanf(line, "shift %31s %llu", name, &n) == 2) {
		struct socket_text_connection *c = find(s, name);

		c->sent[0][0] += n;
		c->sent[0][1] += n;
	} else if (!strncmp(line, "call ", 5)) {
		add_call(s, line + 5);
	} else {
		add_event(s, line);
	}
}

void socket_text_find(struct socket_text *s, const char *text)
{
	char *copy = strdup(text), *rest = copy;
	struct vprof_error err = { "" };

	memset(s, 0, sizeof *s);
	s->base = UINT64_C(0xfffffff0); /* 32-bit numbers pass zero soon */
	host_of(s, "h1");
	for (char *line; (line = strsep(&rest, "\n"));) {
		line += strspn(line, " \t");
		if (*line)
			read_line(s, line);
	}
	free(copy);
	if (vprof_requests_find(&s->found, &s->history, &err))
		fail_msg("%s", err.message);
}

void socket_text_release(struct socket_text *s)
{
	vprof_requests_release(&s->found);
	vprof_socket_history_release(&s->history);
	vprof_strings_release(&s->names);
	VPROF_ARRAY_RELEASE(&s->connections);
}

static uint32_t number_of(const struct socket_text *s, const struct socket_text_connection *c)
{
	return s->found.connections.of_socket.v[c->ends[c->ends[0] == VPROF_NONE]];
}

uint32_t socket_text_exchange(const struct socket_text *s, const char *connection, uint32_t n)
{
	uint32_t number = number_of(s, find(s, connection));

	for (uint32_t i = 0; i < s->found.exchanges.v.n; i++)
		if (s->found.exchanges.v.v[i].connection == number && !n--)
			return i;
	return VPROF_NONE;
}

static void name_exchange(const struct socket_text *s, uint32_t exchange, char *to, size_t size)
{
	uint32_t number = s->found.exchanges.v.v[exchange].connection, n = 0;

	while (exchange > n && s->found.exchanges.v.v[exchange - n - 1].connection == number)
		n++;
	for (size_t i = 0; i < s->connections.n; i++)
		if (number_of(s, &s->connections.v[i]) == number)
			snprintf(to, size, "%s.%u", s->connections.v[i].name, n);
}

const char *socket_text_link(const struct socket_text *s, const char *connection, uint32_t n)
{
	static const char *const hows[VPROF_LINK_HOWS] = {
		[VPROF_LINK_NONE] = "none",	      [VPROF_LINK_ORIGIN] = "origin",
		[VPROF_LINK_OUTSIDE] = "outside",     [VPROF_LINK_THREAD] = "thread",
		[VPROF_LINK_REPLY] = "reply",	      [VPROF_LINK_RECEIVED] = "received",
		[VPROF_LINK_WOKEN] = "woken",	      [VPROF_LINK_CREATED] = "created",
		[VPROF_LINK_KEPT] = "kept",	      [VPROF_LINK_ONLY] = "only",
		[VPROF_LINK_AMBIGUOUS] = "ambiguous", [VPROF_LINK_MATCHED] = "matched",
		[VPROF_LINK_ORDER] = "order",	      [VPROF_LINK_LENGTH] = "length",
		[VPROF_LINK_QUEUED] = "queued",	      [VPROF_LINK_HANDED] = "handed",
		[VPROF_LINK_MARKED] = "marked",
	};
	static char text[96];
	uint32_t exchange = socket_text_exchange(s, connection, n);
	const struct vprof_link *link;

	if (exchange == VPROF_NONE)
		return "no exchange";
	link = &s->found.causality.links.v[exchange];
	text[0] = 0;
	if (link->parent != VPROF_NONE) {
		name_exchange(s, link->parent, text, 64);
		strcat(text, " ");
	}
	strcat(text, hows[link->how]);
	return text;
}

static void tell_tree(const struct socket_text *s, uint32_t exchange, char *to, size_t size)
{
	const struct vprof_request_trees *t = &s->found.trees;
	uint32_t from = t->first_call.v[exchange], end = t->first_call.v[exchange + 1];

	name_exchange(s, exchange, to, size);
	for (uint32_t i = from; i < end; i++) {
		size_t n = strlen(to);

		snprintf(to + n, size - n, "%s", i == from ? "(" : " ");
		n = strlen(to);
		tell_tree(s, t->calls.v[i], to + n, size - n);
	}
	if (from < end)
		strncat(to, ")", size - strlen(to) - 1);
}

const char *socket_text_tree(const struct socket_text *s, size_t request)
{
	static char text[512];

	if (request >= s->found.trees.requests.n)
		return "no request";
	tell_tree(s, s->found.trees.requests.v[request].root, text, sizeof text);
	return text;
}
