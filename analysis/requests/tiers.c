/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/tiers.h"

#include <arpa/inet.h>
#include <stdio.h>

#define NAME_BYTES 256

static void tell_address(const struct vprof_socket_address *a, char *to, size_t size)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!memcmp(a->bytes, mapped, sizeof mapped))
		inet_ntop(AF_INET, a->bytes + sizeof mapped, to, (socklen_t)size);
	else
		inet_ntop(AF_INET6, a->bytes, to, (socklen_t)size);
}

void vprof_tiers_tell_address(const struct vprof_socket_address *a, char *to, size_t size)
{
	char address[INET6_ADDRSTRLEN];

	tell_address(a, address, sizeof address);
	snprintf(to, size, strchr(address, ':') ? "[%s]:%u" : "%s:%u", address, a->port);
}

/* Programs of the same name and port in several places are told apart by host, or by address where a host has several
 * network namespaces. */
static void name_tier(char *to, const struct vprof_socket_history *h, const struct vprof_connection *c,
		      uint32_t server_thread, int has_networks)
{
	const struct vprof_socket *end = &h->sockets.v[c->server != VPROF_NONE ? c->server : c->client];
	const struct vprof_socket_address *a = c->server != VPROF_NONE ? &end->local : &end->remote;
	char address[INET6_ADDRSTRLEN] = "", place[NAME_BYTES / 2] = "", port[64];
	const char *program = "";

	if (end->kind == VPROF_SOCKET_TCP)
		tell_address(a, address, sizeof address);
	if (server_thread == VPROF_NONE) {
		if (end->kind == VPROF_SOCKET_TCP)
			vprof_tiers_tell_address(a, to, NAME_BYTES);
		else
			snprintf(to, NAME_BYTES, "%s", *end->path ? end->path : "Unix socket");
		return;
	}
	program = h->processes.v[h->threads.v[server_thread].process].name;
	if (h->hosts.n > 1)
		snprintf(place, sizeof place, "@%s", h->hosts.v[end->host]);
	else if (has_networks && *address)
		snprintf(place, sizeof place, "@%s", address);
	if (end->kind == VPROF_SOCKET_TCP)
		snprintf(port, sizeof port, ":%u", a->port);
	else
		snprintf(port, sizeof port, "%s%s", *end->path ? ":" : "", end->path);
	snprintf(to, NAME_BYTES, "%s%s%s", program, place, port);
}

static int has_networks(const struct vprof_socket_history *h)
{
	for (size_t i = 1; i < h->sockets.n; i++)
		if (h->sockets.v[i].network != h->sockets.v[0].network)
			return 1;
	return 0;
}

/* The thread that took the first request of each connection that was recorded. */
static uint32_t *first_servers(const struct vprof_connections *c, const struct vprof_exchanges *x)
{
	uint32_t *threads = malloc((c->v.n + 1) * sizeof *threads);

	if (!threads)
		return NULL;
	memset(threads, 0xff, c->v.n * sizeof *threads); /* VPROF_NONE */
	for (size_t i = x->v.n; i-- > 0;) {
		const struct vprof_exchange *e = &x->v.v[i];
		uint32_t thread = e->server.request_thread != VPROF_NONE ? e->server.request_thread :
									   e->server.reply_thread;

		threads[e->connection] = thread != VPROF_NONE ? thread : threads[e->connection];
	}
	return threads;
}

int vprof_tiers_find(struct vprof_tiers *t, const struct vprof_socket_history *h, const struct vprof_connections *c,
		     const struct vprof_exchanges *x)
{
	uint32_t *threads = first_servers(c, x);
	int several = has_networks(h), ret = threads ? VPROF_OK : VPROF_ERR_NOMEM;

	memset(t, 0, sizeof *t);
	if (!ret && VPROF_RESERVE(&t->of_connection, c->v.n + 1))
		ret = VPROF_ERR_NOMEM;
	for (size_t i = 0; i < c->v.n && !ret; i++) {
		char name[NAME_BYTES];
		uint32_t tier;

		name_tier(name, h, &c->v.v[i], threads[i], several);
		tier = vprof_strings_number(&t->names, name);
		if (tier == VPROF_NONE)
			ret = VPROF_ERR_NOMEM;
		else if (tier == t->is_recorded.n && !VPROF_PUSH(&t->is_recorded))
			ret = VPROF_ERR_NOMEM;
		if (ret)
			break;
		t->is_recorded.v[tier] |= threads[i] != VPROF_NONE;
		t->of_connection.v[t->of_connection.n++] = tier;
	}
	free(threads);
	return ret;
}

void vprof_tiers_release(struct vprof_tiers *t)
{
	VPROF_ARRAY_RELEASE(&t->of_connection);
	VPROF_ARRAY_RELEASE(&t->is_recorded);
	vprof_strings_release(&t->names);
}
