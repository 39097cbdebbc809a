#include <stdio.h>
#include <string.h>

#include "server.h"

#define N_ENTRIES 256u

struct entry {
	uint32_t id;
	int is_used;
	char reply[32];
};

static _Thread_local struct entry entries[N_ENTRIES];

static struct entry *entry_of(uint32_t id)
{
	return &entries[id % N_ENTRIES];
}

int cache_get(uint32_t id, char *reply, size_t size)
{
	const struct entry *e = entry_of(id);

	if (!e->is_used || e->id != id)
		return 0;
	snprintf(reply, size, "%s", e->reply);
	return 1;
}

void cache_put(uint32_t id, const char *reply)
{
	struct entry *e = entry_of(id);

	if (strlen(reply) >= sizeof e->reply)
		return;
	e->id = id;
	e->is_used = 1;
	strcpy(e->reply, reply);
}

void cache_forget(uint32_t id)
{
	struct entry *e = entry_of(id);

	if (e->id == id)
		e->is_used = 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
