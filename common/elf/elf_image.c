/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/elf/elf_image.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define N_HEADERS_MAX 64
#define NOTES_MAX 4096
#define ID_BYTES_MAX ((VPROF_ELF_IMAGE_ID - 1) / 2)

static void id_in_notes(const unsigned char *notes, size_t n, size_t align, char *hex)
{
	size_t pad = align == 8 ? 7 : 3;
	Elf64_Nhdr head;

	while (n >= sizeof head) {
		size_t name, all;

		memcpy(&head, notes, sizeof head);
		name = (sizeof head + head.n_namesz + pad) & ~pad;
		all = (name + head.n_descsz + pad) & ~pad;
		if (name + head.n_descsz > n)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(notes + sizeof head, "GNU", 4) &&
		    head.n_descsz && head.n_descsz <= ID_BYTES_MAX) {
			for (size_t i = 0; i < head.n_descsz; i++)
				snprintf(hex + 2 * i, 3, "%02x", notes[name + i]);
			return;
		}
		if (all >= n)
			return;
		notes += all;
		n -= all;
	}
}

int vprof_elf_image_read(vprof_elf_read_memory *read, const void *memory, uint64_t base, uint64_t *bias,
			 char hex[VPROF_ELF_IMAGE_ID])
{
	Elf64_Phdr headers[N_HEADERS_MAX];
	unsigned char notes[NOTES_MAX];
	uint64_t lowest = UINT64_MAX;
	Elf64_Ehdr elf;

	hex[0] = 0;
	if (read(memory, base, &elf, sizeof elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof *headers || !elf.e_phnum ||
	    elf.e_phnum > N_HEADERS_MAX || read(memory, base + elf.e_phoff, headers, elf.e_phnum * sizeof *headers))
		return 0;
	for (int i = 0; i < elf.e_phnum; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr - headers[i].p_offset < lowest)
			lowest = headers[i].p_vaddr - headers[i].p_offset;
	if (lowest == UINT64_MAX)
		return 0;
	*bias = base - lowest;
	for (int i = 0; i < elf.e_phnum && !hex[0]; i++)
		if (headers[i].p_type == PT_NOTE && headers[i].p_filesz <= sizeof notes &&
		    !read(memory, *bias + headers[i].p_vaddr, notes, headers[i].p_filesz))
			id_in_notes(notes, headers[i].p_filesz, headers[i].p_align, hex);
	return 1;
}
