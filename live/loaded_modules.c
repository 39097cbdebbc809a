/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/loaded_modules.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "trace/format.h"

#define N_HEADERS_MAX 64
#define NOTES_MAX 4096

void vprof_loaded_modules_release(struct vprof_loaded_modules *l)
{
	VPROF_ARRAY_RELEASE(&l->v);
}

/* The build id in a note section's bytes as hexadecimal digits; 0: there is none. */
static int id_in_notes(const unsigned char *notes, size_t n, char *hex)
{
	Elf64_Nhdr head;

	while (n >= sizeof head) {
		size_t name, all;

		memcpy(&head, notes, sizeof head);
		name = sizeof head + (((size_t)head.n_namesz + 3) & ~(size_t)3);
		all = name + (((size_t)head.n_descsz + 3) & ~(size_t)3);
		if (name + head.n_descsz > n)
			break;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(notes + sizeof head, "GNU", 4) &&
		    head.n_descsz && head.n_descsz <= VP_BUILD_ID_MAX) {
			for (size_t i = 0; i < head.n_descsz; i++)
				snprintf(hex + 2 * i, 3, "%02x", notes[name + i]);
			return 1;
		}
		if (all >= n)
			break;
		notes += all;
		n -= all;
	}
	return 0;
}

/* What the ELF file mapped at `base` is. 0 or 1: there is one. *bias: added to its addresses; hex: its build id or "".
 */
static int read_image(const struct vprof_process_memory *m, uint64_t base, uint64_t *bias, char *hex)
{
	Elf64_Phdr headers[N_HEADERS_MAX];
	unsigned char notes[NOTES_MAX];
	Elf64_Ehdr elf;
	uint64_t lowest = UINT64_MAX;

	hex[0] = 0;
	if (vprof_process_memory_read(m, base, &elf, sizeof elf, NULL) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof *headers || !elf.e_phnum ||
	    elf.e_phnum > N_HEADERS_MAX ||
	    vprof_process_memory_read(m, base + elf.e_phoff, headers, elf.e_phnum * sizeof *headers, NULL))
		return 0;
	for (int i = 0; i < elf.e_phnum; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr - headers[i].p_offset < lowest)
			lowest = headers[i].p_vaddr - headers[i].p_offset;
	if (lowest == UINT64_MAX)
		return 0;
	*bias = base - lowest;
	for (int i = 0; i < elf.e_phnum && !hex[0]; i++)
		if (headers[i].p_type == PT_NOTE && headers[i].p_filesz <= sizeof notes &&
		    !vprof_process_memory_read(m, *bias + headers[i].p_vaddr, notes, headers[i].p_filesz, NULL))
			id_in_notes(notes, headers[i].p_filesz, hex);
	return 1;
}

static int add(struct vprof_loaded_modules *l, const struct vprof_process_memory *m, const struct vprof_probe_map *map,
	       const char *path, uint64_t base)
{
	char hex[2 * VP_BUILD_ID_MAX + 1];
	struct vprof_loaded_module *slot;
	int at_path = 0;
	uint64_t bias;

	if (!read_image(m, base, &bias, hex))
		return VPROF_OK;
	for (size_t i = 0; i < map->n_modules; i++) {
		const struct vprof_probe_module *module = &map->modules[i];
		int is_path = !strcmp(module->path, path);

		at_path |= is_path;
		if (strcmp(module->build_id, hex) || (!*hex && !is_path))
			continue;
		slot = VPROF_PUSH(&l->v);
		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = (struct vprof_loaded_module){ (uint32_t)i, bias };
		return VPROF_OK;
	}
	l->n_foreign += at_path;
	return VPROF_OK;
}

int vprof_loaded_modules_read(struct vprof_loaded_modules *l, const struct vprof_process_memory *m,
			      const struct vprof_probe_map *map, struct vprof_error *err)
{
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
		unsigned long long base, offset, inode;
		int at = 0;
		char *end;

		if (sscanf(line, "%llx-%*x %*s %llx %*s %llu %n", &base, &offset, &inode, &at) != 3 || offset || !inode ||
		    !at)
			continue;
		end = strchr(line + at, '\n');
		if (end)
			*end = 0;
		rc = add(l, m, map, line + at, base);
	}
	fclose(maps);
	return rc ? vprof_error_no_memory(err) : VPROF_OK;
}
