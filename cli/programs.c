/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ELF headers are read by hand: three fields are wanted, and a damaged file is only one that says nothing. */
#define _GNU_SOURCE
#include "cli/programs.h"

#include <cjson/cJSON.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/files.h"
#include "common/text.h"

static int read_at(int fd, void *to, size_t size, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, to, size, (off_t)at) == (ssize_t)size ? 0 : -1;
}

static int has_section(int fd, const Elf64_Ehdr *h, uint32_t type)
{
	Elf64_Shdr section;

	for (unsigned i = 0; i < h->e_shnum; i++)
		if (!read_at(fd, &section, sizeof section, h->e_shoff + (uint64_t)i * sizeof section) &&
		    section.sh_type == type)
			return 1;
	return 0;
}

static int has_segment(int fd, const Elf64_Ehdr *h, uint32_t type)
{
	Elf64_Phdr segment;

	for (unsigned i = 0; i < h->e_phnum; i++)
		if (!read_at(fd, &segment, sizeof segment, h->e_phoff + (uint64_t)i * sizeof segment) &&
		    segment.p_type == type)
			return 1;
	return 0;
}

/* 0 when the file is a program or a shared library. */
static int inspect(struct vprof_program *program)
{
	int fd = open(program->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	Elf64_Ehdr h;
	int rc = -1;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !read_at(fd, &h, sizeof h, 0) &&
	    !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_ident[EI_CLASS] == ELFCLASS64 &&
	    (h.e_type == ET_EXEC || h.e_type == ET_DYN)) {
		rc = 0;
		program->gains_rights = (st.st_mode & S_ISUID) || (st.st_mode & S_ISGID && st.st_mode & S_IXGRP) ||
					fgetxattr(fd, "security.capability", NULL, 0) > 0;
		program->is_stripped = h.e_shentsize == sizeof(Elf64_Shdr) && !has_section(fd, &h, SHT_SYMTAB);
		program->is_static = h.e_phentsize == sizeof(Elf64_Phdr) && !has_segment(fd, &h, PT_INTERP) &&
				     (h.e_type == ET_EXEC || h.e_entry);
	}
	close(fd);
	return rc;
}

static int is_known(const struct vprof_programs *programs, const char *path)
{
	for (size_t i = 0; i < programs->n; i++)
		if (!strcmp(programs->items[i].path, path))
			return 1;
	return 0;
}

void vprof_programs_read(const struct vprof_project *p, struct vprof_programs *programs)
{
	char *path = vprof_path_join(p->vprof_dir, "link_commands.json");
	struct vprof_text text = VPROF_TEXT_INIT;
	cJSON *list = path && !vprof_file_read(path, &text, NULL) && text.len ?
			      cJSON_ParseWithLength(text.s, text.len) :
			      NULL;
	const cJSON *command;

	memset(programs, 0, sizeof *programs);
	if (list)
		programs->items = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *programs->items);
	cJSON_ArrayForEach(command, list)
	{
		const char *output = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(command, "output"));
		struct vprof_program *program = programs->items ? &programs->items[programs->n] : NULL;

		if (!program || !output || is_known(programs, output))
			continue;
		memset(program, 0, sizeof *program);
		program->path = strdup(output);
		if (program->path && !inspect(program))
			programs->n++;
		else
			free(program->path);
	}
	cJSON_Delete(list);
	vprof_text_release(&text);
	free(path);
}

void vprof_programs_release(struct vprof_programs *programs)
{
	for (size_t i = 0; i < programs->n; i++)
		free(programs->items[i].path);
	free(programs->items);
	memset(programs, 0, sizeof *programs);
}
