/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libuv: a handle whose handler changes with its connection's state. */
#include <uv.h>

#include "server.h"

struct connection {
	uv_poll_t handle;
	int fd, n_asked;
};

static struct connection connections[N_CLIENTS];

static void ask(uv_poll_t *handle, int status, int events);

static NOINLINE void answer(uv_poll_t *handle, int status, int events)
{
	struct connection *c = handle->data;

	(void)status;
	(void)events;
	check(c->n_asked > 0);
	uv_poll_start(handle, UV_READABLE, ask);
	give_byte(c->fd);
}

static NOINLINE void ask(uv_poll_t *handle, int status, int events)
{
	struct connection *c = handle->data;

	(void)status;
	(void)events;
	if (!take_byte(c->fd)) {
		uv_close((uv_handle_t *)handle, NULL);
		return;
	}
	c->n_asked++;
	uv_poll_start(handle, UV_WRITABLE, answer);
}

static void serve_fd(int i, int fd)
{
	struct connection *c = &connections[i];

	c->fd = fd;
	c->handle.data = c;
	check(!uv_poll_init(uv_default_loop(), &c->handle, fd));
	uv_poll_start(&c->handle, UV_READABLE, ask);
}

int main(void)
{
	closes = 1;
	start_clients(serve_fd);
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	join_clients();
	truth("begin", "ask", N_CLIENTS * N_REQUESTS);
	truth("end", "answer", N_CLIENTS * N_REQUESTS);
	truth("id", "handle", 0);
	return 0;
}
