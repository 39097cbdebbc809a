/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gateway.h"

#include <sys/timerfd.h>
#include <unistd.h>

static NOINLINE void parse(struct connection *conn)
{
	PLANT_SPIN(conn->ns[PARSE], conn->took[PARSE]);
}

static NOINLINE void match_route(struct connection *conn)
{
	PLANT_SPIN(conn->ns[MATCH_ROUTE], conn->took[MATCH_ROUTE]);
}

static NOINLINE void expand_row(struct connection *conn)
{
	PLANT_SPIN(conn->ns[EXPAND_ROW], conn->took[EXPAND_ROW]);
}

static NOINLINE void encode(struct connection *conn)
{
	PLANT_SPIN(conn->ns[ENCODE], conn->took[ENCODE]);
}

static void send_or_stop(int fd)
{
	char byte = 1;

	if (write(fd, &byte, 1) != 1)
		loop_stop();
}

NOINLINE void on_request(struct connection *conn)
{
	IN_CALLBACK(uint64_t begin = PLANT_NOW());

	IN_CALLBACK(conn->first = begin);
	PLANT_CALL(conn->took[PARSE], parse(conn));
	PLANT_CALL(conn->took[MATCH_ROUTE], match_route(conn));
	send_or_stop(conn->pipe_in);
	IN_CALLBACK(conn->took[ON_REQUEST].low = PLANT_NOW() - begin);
}

NOINLINE void on_lookup(struct connection *conn)
{
	IN_CALLBACK(uint64_t begin = PLANT_NOW());
	struct itimerspec once = { .it_value.tv_nsec = TIMER_NS };
	char byte;

	if (read(conn->lookup.fd, &byte, 1) != 1)
		loop_stop();
	PLANT_CALL(conn->took[EXPAND_ROW], expand_row(conn));
	if (timerfd_settime(conn->timer.fd, 0, &once, NULL))
		loop_stop();
	IN_CALLBACK(conn->took[ON_LOOKUP].low = PLANT_NOW() - begin);
}

NOINLINE void on_timer(struct connection *conn)
{
	IN_CALLBACK(uint64_t begin = PLANT_NOW());
	uint64_t n;

	if (read(conn->timer.fd, &n, sizeof n) != sizeof n)
		loop_stop();
	PLANT_CALL(conn->took[ENCODE], encode(conn));
	IN_CALLBACK(conn->took[REQUEST].low = PLANT_NOW() - conn->first);
	IN_CALLBACK(conn->took[ON_TIMER].low = PLANT_NOW() - begin);
}
