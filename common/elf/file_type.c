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

static int ends_with(const char *s, const char *suffix)
{
	size_t n = s ? strlen(s) : 0, k = strlen(suffix);

	return n >= k && !memcmp(s + n - k, suffix, k);
}

static int uses_undefined(Elf *elf, const char *suffix)
{
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
		GElf_Shdr header;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; i < (int)(data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT)); i++) {
			GElf_Sym symbol;

			if (gelf_getsym(data, i, &symbol) && symbol.st_shndx == SHN_UNDEF &&
			    ends_with(elf_strptr(elf, header.sh_link, symbol.st_name), suffix))
				return 1;
		}
	}
	return 0;
}

int vprof_elf_has_undefined(const char *path, const char *suffix)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), found = 0;
	Elf *elf = fd < 0 || elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);

	if (elf && elf_kind(elf) == ELF_K_ELF)
		found = uses_undefined(elf, suffix);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return found;
}
