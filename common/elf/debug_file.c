/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The separate debug file of a program, where gdb looks for it, too. libdwfl's own search ends at a debuginfod server;
 * a profiler that opens connections unasked is none that one may run everywhere. */
#define _GNU_SOURCE
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/elf/elf_private.h"

/* CRC-32 as .gnu_debuglink has it. */
static int checksum(int fd, uint32_t *crc)
{
	unsigned char block[16384];
	off_t at = 0;
	ssize_t n;

	*crc = UINT32_MAX;
	while ((n = pread(fd, block, sizeof block, at)) > 0) {
		at += n;
		for (ssize_t i = 0; i < n; i++) {
			*crc ^= block[i];
			for (int k = 0; k < 8; k++)
				*crc = *crc >> 1 ^ (*crc & 1 ? UINT32_C(0xedb88320) : 0);
		}
	}
	*crc = ~*crc;
	return n < 0 ? -1 : 0;
}

/* Was `fd` split off this program? Told by the build id, without one by the checksum (NULL: not known). */
static int belongs(const struct vprof_elf *elf, int fd, const uint32_t *link_crc)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(elf->headers, &id);
	int same = 0;
	uint32_t crc;

	if (n > 0) {
		Elf *other = elf_begin(fd, ELF_C_READ, NULL);
		const void *other_id;

		same = other && dwelf_elf_gnu_build_id(other, &other_id) == n && !memcmp(id, other_id, (size_t)n);
		elf_end(other);
	} else if (link_crc) {
		same = !checksum(fd, &crc) && crc == *link_crc;
	}
	return same;
}

/* Takes ownership of `path`; the opened file, or -1. */
static int try_file(const struct vprof_elf *elf, char *path, const uint32_t *link_crc, char **found)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat st, own;

	if (fd >= 0 && (fstat(fd, &st) || fstat(elf->fd, &own) || !S_ISREG(st.st_mode) ||
			(st.st_dev == own.st_dev && st.st_ino == own.st_ino) || !belongs(elf, fd, link_crc))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		*found = path;
	else
		free(path);
	return fd;
}

static char *path_of_id(const struct vprof_elf *elf)
{
	const unsigned char *id;
	ssize_t n = dwelf_elf_gnu_build_id(elf->headers, (const void **)&id);
	char digits[2 * 64 + 1], *path;

	if (n < 2 || n > 64)
		return NULL;
	for (ssize_t i = 0; i < n; i++)
		snprintf(digits + 2 * i, 3, "%02x", id[i]);
	return asprintf(&path, "%s/.build-id/%.2s/%s.debug", elf->debug_dir, digits, digits + 2) < 0 ? NULL : path;
}

static char *path_of_link(const char *before, const char *folder, const char *between, const char *link)
{
	char *path;

	return asprintf(&path, "%s%s%s/%s", before, folder, between, link) < 0 ? NULL : path;
}

/* (Position-independent programs have no soname; libc has a loader and an entry point as programs do.) */
static int is_library(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		GElf_Dyn entry;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
			if (entry.d_tag == DT_SONAME)
				return 1;
	}
	return 0;
}

int vprof_debug_file_find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *path,
			  const char *link, GElf_Word link_crc, char **found)
{
	struct vprof_elf *elf = *user;
	int fd = try_file(elf, path_of_id(elf), NULL, found);
	char *folder, *slash;
	uint32_t crc = link_crc;

	(void)module, (void)name, (void)base, (void)path;
	elf->is_packaged = fd >= 0 && !strcmp(elf->debug_dir, VPROF_SYSTEM_DEBUG_DIR) && is_library(elf->headers);
	if (fd >= 0 || !link || !*link || strchr(link, '/'))
		return fd;
	folder = realpath(elf->path, NULL);
	if (!folder)
		return -1;
	slash = strrchr(folder, '/');
	*slash = 0;
	fd = try_file(elf, path_of_link("", folder, "", link), &crc, found);
	if (fd < 0)
		fd = try_file(elf, path_of_link("", folder, "/.debug", link), &crc, found);
	if (fd < 0)
		fd = try_file(elf, path_of_link(elf->debug_dir, folder, "", link), &crc, found);
	free(folder);
	return fd;
}
