/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "hosts.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

static NOINLINE void look_up(const struct asked *asked, struct plant_log *log)
{
	PLANT_STRETCH(log, asked->look_up_ns);
}

static NOINLINE void rebuild_page(const struct asked *asked, struct plant_log *log)
{
	struct timespec ts = { 0, (long)asked->rebuild_ns };

	log->stretches[0].from = PLANT_NOW();
	nanosleep(&ts, NULL);
	log->stretches[0].to = PLANT_NOW();
}

static NOINLINE void serve(const struct asked *asked, int front)
{
	struct told told = { .id = asked->id };
	struct plant_log looked_up = { 0, 1, &told.look_up }, rebuilt = { 0, 1, &told.rebuild };

	PLANT_LOG(&looked_up, look_up(asked, &looked_up));
	PLANT_LOG(&rebuilt, rebuild_page(asked, &rebuilt));
	if (send(front, &told, sizeof told, MSG_NOSIGNAL) != sizeof told)
		exit(1);
}

void run_store(int front)
{
	struct asked asked;

	while (recvfrom(front, &asked, sizeof asked, MSG_WAITALL, NULL, NULL) == sizeof asked)
		serve(&asked, front);
}
