/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "instrumenter/restore/file_type.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum vprof_file_type vprof_file_type(const char *path)
{
	unsigned char head[18] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), type;
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);

	if (fd >= 0)
		close(fd);
	if (n >= 8 && !memcmp(head, "!<arch>\n", 8))
		return VPROF_FILE_ARCHIVE;
	if (n >= 8 && !memcmp(head, "!<thin>\n", 8))
		return VPROF_FILE_THIN;
	if (n < 18 || memcmp(head, ELFMAG, SELFMAG))
		return VPROF_FILE_OTHER;
	type = head[EI_DATA] == ELFDATA2MSB ? head[16] << 8 | head[17] : head[17] << 8 | head[16];
	return type == ET_EXEC || type == ET_DYN ? VPROF_FILE_PROGRAM :
	       type == ET_REL			 ? VPROF_FILE_RELOCATABLE :
						   VPROF_FILE_OTHER;
}
