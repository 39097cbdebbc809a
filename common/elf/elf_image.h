/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program or library as it lies in a process's memory: where it was loaded, and which build it is. Memory of another
 * process is hostile input: every size is checked. */
#ifndef VPROF_ELF_IMAGE_H
#define VPROF_ELF_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define VPROF_ELF_IMAGE_ID 129 /* hexadecimal digits of the longest build id, and the end */

/* Reads all n bytes, or returns something other than 0. */
typedef int vprof_elf_read_memory(const void *memory, uint64_t address, void *to, size_t n);

/* The 64-bit ELF file whose first page is mapped at `base`: 1, or 0 when there is none. *bias: added to the file's
 * addresses; hex: its build id, "" without one. */
int vprof_elf_image_read(vprof_elf_read_memory *read, const void *memory, uint64_t base, uint64_t *bias,
			 char hex[VPROF_ELF_IMAGE_ID]);

/* The first note with this name and type in the file mapped at `base`, if its content is n bytes: 1, `content` and
 * where it lies; 0: there is none. */
int vprof_elf_image_note(vprof_elf_read_memory *read, const void *memory, uint64_t base, const char *name,
			 uint32_t type, void *content, size_t n, uint64_t *address);

#endif
