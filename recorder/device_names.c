/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/device_names.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 255u
#define IFF_LOOPBACK_BIT 8u

static int read_line(const char *folder, const char *name, const char *file, char *line, int size)
{
	char path[512];
	FILE *f;
	int ok;

	snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
	f = fopen(path, "re");
	ok = f && fgets(line, size, f);
	if (f)
		fclose(f);
	return ok;
}

static void add(struct vprof_gather *table, uint32_t number, enum vp_source source, uint32_t flags, uint64_t speed,
		const char *name)
{
	struct vp_unit u[2 + (NAME_MAX_BYTES + 15) / 16];
	size_t n = strlen(name) < NAME_MAX_BYTES ? strlen(name) : NAME_MAX_BYTES;

	memset(u, 0, sizeof u);
	u[0] = (struct vp_unit){ number,
				 VP_W(VP_KIND_KERNEL_DEVICE, n | (uint64_t)source << 8 | (uint64_t)flags << 12) };
	u[1].t = speed;
	memcpy(u + 2, name, n);
	vprof_gather_add(table, u, vp_record_units(u[0].w));
}

static size_t add_disks(struct vprof_gather *table)
{
	static const char folder[] = "/sys/block";
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		unsigned int major, minor;
		char line[64];

		if (entry->d_name[0] == '.' || !read_line(folder, entry->d_name, "dev", line, sizeof line) ||
		    sscanf(line, "%u:%u", &major, &minor) != 2 || !(major << 20 | minor))
			continue;
		add(table, major << 20 | minor, VP_SOURCE_BLOCK, 0, 0, entry->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

static size_t add_interfaces(struct vprof_gather *table)
{
	static const char folder[] = "/sys/class/net";
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		unsigned int index, flags = 0;
		long megabits = 0;
		char line[64];

		if (entry->d_name[0] == '.' || !read_line(folder, entry->d_name, "ifindex", line, sizeof line) ||
		    sscanf(line, "%u", &index) != 1 || !index)
			continue;
		if (read_line(folder, entry->d_name, "flags", line, sizeof line))
			sscanf(line, "%x", &flags);
		if (!read_line(folder, entry->d_name, "speed", line, sizeof line) ||
		    sscanf(line, "%ld", &megabits) != 1 || megabits < 0) /* -1: unknown */
			megabits = 0;
		add(table, index, VP_SOURCE_NET, flags & IFF_LOOPBACK_BIT ? VP_DEVICE_LOOPBACK : 0,
		    (uint64_t)megabits * 1000000u, entry->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

size_t vprof_devices_add(struct vprof_gather *table)
{
	return add_disks(table) + add_interfaces(table);
}
