/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/loaded_modules.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/elf/elf_image.h"

void vprof_loaded_modules_release(struct vprof_loaded_modules *l)
{
	VPROF_ARRAY_RELEASE(&l->v);
}

static int read_memory(const void *memory, uint64_t address, void *to, size_t n)
{
	return vprof_process_memory_read(memory, address, to, n, NULL);
}

/* Also that of a file which was replaced since it was loaded. */
static int is_path_of(const struct vprof_probe_module *module, const char *path)
{
	size_t n = strlen(module->path);

	return !strncmp(module->path, path, n) && (!path[n] || !strcmp(path + n, " (deleted)"));
}

static int add(struct vprof_loaded_modules *l, const struct vprof_process_memory *m, const struct vprof_probe_map *map,
	       const char *path, uint64_t base)
{
	char hex[VPROF_ELF_IMAGE_ID];
	struct vprof_loaded_module *slot;
	int at_path = 0;
	uint64_t bias;

	if (!vprof_elf_image_read(read_memory, m, base, &bias, hex))
		return VPROF_OK;
	for (size_t i = 0; i < map->n_modules; i++) {
		const struct vprof_probe_module *module = &map->modules[i];
		int is_path = is_path_of(module, path);

		at_path |= is_path;
		if (strcmp(module->build_id, hex) || (!*hex && !is_path))
			continue;
		slot = VPROF_PUSH(&l->v);
		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = (struct vprof_loaded_module){ (uint32_t)i, bias, base };
		return VPROF_OK;
	}
	l->n_foreign += at_path;
	return VPROF_OK;
}

int vprof_loaded_module_is_there(const struct vprof_loaded_module *l, const struct vprof_process_memory *m,
				 const struct vprof_probe_map *map)
{
	char hex[VPROF_ELF_IMAGE_ID];
	uint64_t bias;

	return vprof_elf_image_read(read_memory, m, l->base, &bias, hex) && bias == l->bias &&
	       !strcmp(hex, map->modules[l->module].build_id);
}

struct mapping { /* a line of /proc/PID/maps */
	unsigned long long base, offset, inode;
	char rights[8], device[24];
};

/* Returns the path in the line, which loses its end; NULL: nothing that is mapped from a file. */
static char *read_mapping(struct mapping *m, char *line)
{
	int at = 0;

	if (sscanf(line, "%llx-%*x %7s %llx %23s %llu %n", &m->base, m->rights, &m->offset, m->device, &m->inode,
		   &at) != 5 ||
	    !m->inode || !at)
		return NULL;
	line[strcspn(line, "\n")] = 0;
	return line + at;
}

/* A module begins where the start of its file is mapped, if code of the file follows: a program may also map its own
 * file as data, to read its symbols. */
int vprof_loaded_modules_read(struct vprof_loaded_modules *l, const struct vprof_process_memory *m,
			      const struct vprof_probe_map *map, struct vprof_error *err)
{
	struct mapping first = { .inode = 0 }, next;
	char name[64], line[PATH_MAX + 256];
	FILE *maps;
	int rc = VPROF_OK;

	*l = (struct vprof_loaded_modules){ .n_foreign = 0 };
	snprintf(name, sizeof name, "/proc/%d/maps", (int)m->pid);
	maps = fopen(name, "re");
	if (!maps)
		return vprof_error_set(err, errno == ENOENT ? VPROF_ERR_MISSING : VPROF_ERR_FAILED,
				       "cannot read %s: %s", name, strerror(errno));
	while (!rc && fgets(line, sizeof line, maps)) {
		char *path = read_mapping(&next, line);

		if (!path)
			continue;
		if (!next.offset || next.inode != first.inode || strcmp(next.device, first.device))
			first = next;
		if (next.rights[2] != 'x' || first.offset)
			continue;
		rc = add(l, m, map, path, first.base);
		first.inode = 0;
	}
	fclose(maps);
	return rc ? vprof_error_no_memory(err) : VPROF_OK;
}
