/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "common/elf/file_type.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

static int is_thin_archive(int fd)
{
	static const char magic[8] = "!<thin>\n"; /* (libelf knows only the other kind) */
	char head[sizeof magic];

	return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head && !memcmp(head, magic, sizeof magic);
}

static enum vprof_file_type type_of(int fd)
{
	enum vprof_file_type type = VPROF_FILE_OTHER;
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	GElf_Ehdr header;

	if (elf && elf_kind(elf) == ELF_K_AR)
		type = VPROF_FILE_ARCHIVE;
	else if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header))
		type = header.e_type == ET_EXEC || header.e_type == ET_DYN ? VPROF_FILE_PROGRAM :
		       header.e_type == ET_REL				   ? VPROF_FILE_RELOCATABLE :
									     VPROF_FILE_OTHER;
	elf_end(elf);
	return type == VPROF_FILE_OTHER && is_thin_archive(fd) ? VPROF_FILE_THIN : type;
}

enum vprof_file_type vprof_file_type(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	enum vprof_file_type type = fd < 0 ? VPROF_FILE_OTHER : type_of(fd);

	if (fd >= 0)
		close(fd);
	return type;
}
