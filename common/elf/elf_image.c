/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/elf/elf_image.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define N_HEADERS_MAX 64
#define NOTES_MAX 4096
#define ID_BYTES_MAX ((VPROF_ELF_IMAGE_ID - 1) / 2)

/* The content of the first note with this name and type: its offset, and *n_content bytes. n: there is none. */
static size_t find_note(const unsigned char *notes, size_t n, size_t align, const char *name, uint32_t type,
			size_t *n_content)
{
	size_t pad = align == 8 ? 7 : 3, at = 0, n_name = strlen(name) + 1;
	Elf64_Nhdr head;

	while (n - at >= sizeof head) {
		size_t content, all;

		memcpy(&head, notes + at, sizeof head);
		content = (sizeof head + head.n_namesz + pad) & ~pad;
		all = (content + head.n_descsz + pad) & ~pad;
		if (content + head.n_descsz > n - at)
			break;
		if (head.n_type == type && head.n_namesz == n_name && !memcmp(notes + at + sizeof head, name, n_name)) {
			*n_content = head.n_descsz;
			return at + content;
		}
		if (all >= n - at)
			break;
		at += all;
	}
	return n;
}

static void id_in_notes(const unsigned char *notes, size_t n, size_t align, char *hex)
{
	size_t n_id = 0, at = find_note(notes, n, align, "GNU", NT_GNU_BUILD_ID, &n_id);

	if (at == n || n_id > ID_BYTES_MAX)
		return;
	for (size_t i = 0; i < n_id; i++)
		snprintf(hex + 2 * i, 3, "%02x", notes[at + i]);
}

/* 0: no 64-bit ELF file. */
static int read_headers(vprof_elf_read_memory *read, const void *memory, uint64_t base, Elf64_Phdr *headers,
			uint64_t *bias)
{
	uint64_t lowest = UINT64_MAX;
	Elf64_Ehdr elf;

	if (read(memory, base, &elf, sizeof elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof *headers || !elf.e_phnum ||
	    elf.e_phnum > N_HEADERS_MAX || read(memory, base + elf.e_phoff, headers, elf.e_phnum * sizeof *headers))
		return 0;
	for (int i = 0; i < elf.e_phnum; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr - headers[i].p_offset < lowest)
			lowest = headers[i].p_vaddr - headers[i].p_offset;
	*bias = base - lowest;
	return lowest == UINT64_MAX ? 0 : elf.e_phnum;
}

static int read_notes(vprof_elf_read_memory *read, const void *memory, uint64_t bias, const Elf64_Phdr *header,
		      unsigned char *notes)
{
	return header->p_type == PT_NOTE && header->p_filesz <= NOTES_MAX &&
	       !read(memory, bias + header->p_vaddr, notes, header->p_filesz);
}

int vprof_elf_image_read(vprof_elf_read_memory *read, const void *memory, uint64_t base, uint64_t *bias,
			 char hex[VPROF_ELF_IMAGE_ID])
{
	Elf64_Phdr headers[N_HEADERS_MAX];
	unsigned char notes[NOTES_MAX];
	int n;

	hex[0] = 0;
	n = read_headers(read, memory, base, headers, bias);
	for (int i = 0; i < n && !hex[0]; i++)
		if (read_notes(read, memory, *bias, &headers[i], notes))
			id_in_notes(notes, headers[i].p_filesz, headers[i].p_align, hex);
	return n > 0;
}

int vprof_elf_image_note(vprof_elf_read_memory *read, const void *memory, uint64_t base, const char *name,
			 uint32_t type, void *content, size_t n, uint64_t *address)
{
	Elf64_Phdr headers[N_HEADERS_MAX];
	unsigned char notes[NOTES_MAX];
	uint64_t bias;
	int n_headers = read_headers(read, memory, base, headers, &bias);

	for (int i = 0; i < n_headers; i++) {
		size_t n_notes = headers[i].p_filesz, n_content = 0, at;

		if (!read_notes(read, memory, bias, &headers[i], notes))
			continue;
		at = find_note(notes, n_notes, headers[i].p_align, name, type, &n_content);
		if (at == n_notes || n_content != n)
			continue;
		memcpy(content, notes + at, n);
		*address = bias + headers[i].p_vaddr + at;
		return 1;
	}
	return 0;
}
