/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In a container the paths of /proc/self/cgroup may be the host's, and the group is the root of what is mounted: so
 * limits are looked for at the path, at all that it lies in, and at the root. What a group uses counts its page cache,
 * too, so there may be more room than this tells. */
#include "common/memory_room.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 8192

/* The first number of a file; 0: there is none ("max"). */
static int read_number(const char *path, uint64_t *n)
{
	FILE *f = fopen(path, "re");
	int is_there = f && fscanf(f, "%" SCNu64, n) == 1;

	if (f)
		fclose(f);
	return is_there;
}

static uint64_t available(const char *root)
{
	char path[PATH_BYTES], line[256];
	uint64_t kib = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/proc/meminfo", root);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %" SCNu64, &kib) != 1)
		;
	if (f)
		fclose(f);
	return kib < UINT64_MAX >> 10 ? kib << 10 : 0;
}

struct version {
	const char *folder, *limit, *usage;
};

static const struct version versions[] = {
	{ "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes" },
	{ "/sys/fs/cgroup", "memory.max", "memory.current" },
};

/* Of the group at `at`, and of those that it lies in. */
static uint64_t least_of_groups(const char *root, const struct version *v, char *at, uint64_t room)
{
	for (;;) {
		char limit[PATH_BYTES], usage[PATH_BYTES], *last;
		uint64_t most, used;

		if (snprintf(limit, sizeof limit, "%s%s%s/%s", root, v->folder, at, v->limit) < (int)sizeof limit &&
		    snprintf(usage, sizeof usage, "%s%s%s/%s", root, v->folder, at, v->usage) < (int)sizeof usage &&
		    read_number(limit, &most) && read_number(usage, &used)) {
			most = most > used ? most - used : 0;
			room = most < room ? most : room;
		}
		last = strrchr(at, '/');
		if (!last)
			return room;
		*last = '\0';
	}
}

uint64_t vprof_memory_room(const char *root)
{
	char path[PATH_BYTES], line[PATH_BYTES];
	uint64_t room = available(root);
	FILE *f;

	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) { /* "4:memory:/group", "0::/group" */
		char *controllers = strchr(line, ':'), *at = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!at)
			continue;
		*at++ = '\0';
		at[strcspn(at, "\n")] = '\0';
		if (!strcmp(controllers + 1, "memory"))
			room = least_of_groups(root, &versions[0], at, room);
		else if (!controllers[1])
			room = least_of_groups(root, &versions[1], at, room);
	}
	if (f)
		fclose(f);
	return room;
}
