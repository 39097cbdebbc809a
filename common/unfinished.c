/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slots with room for a path each, so that the handler reads no memory that a thread may give back. A slot is read only
 * as SET, and once the handler CLAIMED it nobody fills it anew. */
#include "common/unfinished.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define SLOTS_MAX 64
#define PATH_BYTES 4096

enum { FREE, FILLING, SET, CLAIMED };

static struct slot {
	atomic_int state;
	char path[PATH_BYTES];
} slots[SLOTS_MAX];

static void on_signal(int number)
{
	for (int i = 0; i < SLOTS_MAX; i++) {
		int set = SET;

		if (atomic_compare_exchange_strong(&slots[i].state, &set, CLAIMED))
			unlink(slots[i].path);
	}
	signal(number, SIG_DFL);
	raise(number); /* comes when this handler returns */
}

void vprof_unfinished_guard(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (!sigaction(ending[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(ending[i], &action, NULL);
}

int vprof_unfinished_enter(const char *path)
{
	size_t n = strlen(path) + 1;

	for (int i = 0; i < SLOTS_MAX && n <= PATH_BYTES; i++) {
		int is_free = FREE;

		if (!atomic_compare_exchange_strong(&slots[i].state, &is_free, FILLING))
			continue;
		memcpy(slots[i].path, path, n);
		atomic_store(&slots[i].state, SET);
		return i;
	}
	return -1;
}

void vprof_unfinished_leave(int slot)
{
	int set = SET;

	if (slot >= 0)
		atomic_compare_exchange_strong(&slots[slot].state, &set, FREE);
}
