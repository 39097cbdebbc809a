/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/programs.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/elf/elf_symbols.h"
#include "common/files.h"
#include "common/text.h"

/* 0 when the file is a program or a shared library. */
static int inspect(struct vprof_program *program)
{
	int fd = open(program->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct vprof_elf *elf = NULL;
	struct stat st;
	int rc = -1;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && !vprof_elf_open(&elf, program->path, NULL, NULL)) {
		rc = 0;
		program->gains_rights = (st.st_mode & S_ISUID) || (st.st_mode & S_ISGID && st.st_mode & S_IXGRP) ||
					fgetxattr(fd, "security.capability", NULL, 0) > 0;
		program->is_stripped = !vprof_elf_has_symbols(elf);
		program->is_static = vprof_elf_is_static(elf);
	}
	vprof_elf_free(elf);
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
