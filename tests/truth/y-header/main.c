/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "courier.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "order", -1, 0 },
	[QUEUED] = { "queued", REQUEST, TRUTH_PLANTED | TRUTH_WAIT },
	[PRESS_ORDER] = { "press_order", REQUEST, 0 },
	[PRESS_SHEET] = { "press_sheet", PRESS_ORDER, TRUTH_PLANTED },
	[OTHERS_SHEETS] = { "press_sheet", QUEUED, TRUTH_PLANTED | TRUTH_BLAME },
};

static uint64_t trace_of(size_t place)
{
	return 0x9e3779b97f4a7c15ULL * (place + 1);
}

static uint64_t id_of(const struct truth *t, size_t row)
{
	(void)t;
	return trace_of(row);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A Unix socket with an address, which no file stands for. */
static socklen_t address_of(struct sockaddr_un *at)
{
	int n;

	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "vprof-truth-couriers-%ld", (long)getpid());
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* The delay is from the suspension, before the order is sent, to its resumption in the press; what the press did
 * meanwhile is to blame. */
static void add_order(struct truth *t, struct order *o, const struct plant_log *sheets)
{
	struct plant_time least = plant_log_overlap(sheets, o->sent.high, o->resumed.low);

	o->took[REQUEST] = (struct plant_time){ o->at.to - o->at.from, o->at.after - o->at.before };
	o->took[QUEUED] = (struct plant_time){ o->resumed.low > o->sent.high ? o->resumed.low - o->sent.high : 0,
					       o->resumed.high - o->sent.low };
	o->took[PRESS_ORDER] = (struct plant_time){ o->at.to - o->resumed.high, o->at.after - o->resumed.low };
	o->took[OTHERS_SHEETS] = plant_log_overlap(sheets, o->sent.low, o->resumed.high);
	o->took[OTHERS_SHEETS].low = least.low;
	o->took[QUEUED].away = plant_away_waiting(o->took[QUEUED].high, o->took[OTHERS_SHEETS]);
	truth_add(t, o->took);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 700);
	struct truth_answer answer = { .interval = "order" };
	struct plant_log *sheets = plant_share(sizeof *sheets);
	struct order *orders = plant_share(o.n * sizeof *orders);
	int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0), to, status;
	struct sockaddr_un at;
	socklen_t n_bytes = address_of(&at);
	struct truth truth;
	pid_t press;

	if (listener < 0 || bind(listener, (struct sockaddr *)&at, n_bytes) || listen(listener, 1))
		die("couriers");
	for (size_t i = 0; i < o.n; i++) {
		snprintf(orders[i].message, MESSAGE_MAX,
			 "POST /%zu HTTP/1.1\r\ntraceparent: 00-%016llx%016llx-00f067aa0ba902b7-01\r\n\r\n", i,
			 0x4bf92f3577b34da6ULL, (unsigned long long)trace_of(i));
		orders[i].ns[PRESS_SHEET] = plant_uniform(&o.random, 100000, 700000);
	}
	sheets->capacity = o.n;
	sheets->stretches = plant_share(o.n * sizeof *sheets->stretches);
	press = fork();
	if (press == 0)
		exit(press_all(accept(listener, NULL, NULL), orders, o.n, sheets));
	to = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (press < 0 || to < 0 || connect(to, (struct sockaddr *)&at, n_bytes))
		die("couriers");
	send_all(to, orders, o.n, o.random);
	close(to);
	if (waitpid(press, &status, 0) != press || status)
		return 1;
	truth_open(&truth, N_FACTORS, columns, o.n);
	truth.id_of = id_of;
	for (size_t i = 0; i < o.n; i++)
		add_order(&truth, &orders[i], sheets);
	return truth_write(&truth, &answer);
}
