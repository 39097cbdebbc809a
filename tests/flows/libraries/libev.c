/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libev: two watchers of one connection, which have only their `data` in common. */
#include <ev.h>

#include "server.h"

struct connection {
	ev_io asks, answers;
	int n_asked;
};

static struct connection connections[N_CLIENTS];

static NOINLINE void ask(struct ev_loop *loop, ev_io *w, int what)
{
	struct connection *c = w->data;

	(void)what;
	if (!take_byte(w->fd)) {
		ev_io_stop(loop, w);
		return;
	}
	c->n_asked++;
	ev_io_start(loop, &c->answers);
}

static NOINLINE void answer(struct ev_loop *loop, ev_io *w, int what)
{
	struct connection *c = w->data;

	(void)what;
	check(c->n_asked > 0);
	ev_io_stop(loop, w);
	give_byte(w->fd);
}

static void serve_fd(int i, int fd)
{
	struct connection *c = &connections[i];

	ev_io_init(&c->asks, ask, fd, EV_READ);
	ev_io_init(&c->answers, answer, fd, EV_WRITE);
	c->asks.data = c->answers.data = c;
	ev_io_start(EV_DEFAULT, &c->asks);
}

int main(void)
{
	closes = 1;
	start_clients(serve_fd);
	ev_run(EV_DEFAULT, 0);
	join_clients();
	truth("begin", "ask", N_CLIENTS * N_REQUESTS);
	truth("end", "answer", N_CLIENTS * N_REQUESTS);
	truth("id", "w->data", 0);
	return 0;
}
