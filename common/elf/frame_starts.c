/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The binary search table of .eh_frame_hdr: pairs of where a function begins and where its unwind information lies,
 * both relative to the section, sorted (Linux Standard Base, "The .eh_frame_hdr section"). Linkers write one form of it
 * only: 4 bytes each, signed, relative to the section; other forms are not read.
 */
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "common/elf/elf_private.h"
#include "common/search.h"

#define VERSION 1
#define COUNT_UDATA4 0x03
#define TABLE_SDATA4_DATAREL 0x3b

struct header { /* with the usual 4 bytes of the pointer to .eh_frame */
	uint8_t version, pointer_form, count_form, table_form;
	int32_t pointer;
	uint32_t n;
};

struct entry {
	int32_t start, information;
};

static int find_segment(const struct vprof_elf *elf, GElf_Phdr *found)
{
	size_t n;

	if (!elf->headers || elf_getphdrnum(elf->headers, &n))
		return 0;
	for (size_t i = 0; i < n && i < 64; i++)
		if (gelf_getphdr(elf->headers, (int)i, found) && found->p_type == PT_GNU_EH_FRAME)
			return 1;
	return 0;
}

/* The entry's begin as an address; UINT64_MAX: cannot be read. */
static uint64_t start_of(const struct vprof_elf *elf, const GElf_Phdr *segment, size_t i)
{
	struct entry e;
	off_t at = (off_t)(segment->p_offset + sizeof(struct header) + i * sizeof e);

	return pread(elf->fd, &e, sizeof e, at) == sizeof e ? segment->p_vaddr + (uint64_t)(int64_t)e.start :
							      UINT64_MAX;
}

/* The table of a file, and the number of the entry around an address, from 1; 0: there is none. */
static size_t find_entry(const struct vprof_elf *elf, uint64_t address, GElf_Phdr *segment)
{
	struct header h;

	if (!find_segment(elf, segment) || segment->p_filesz < sizeof h || segment->p_offset > INT64_MAX / 2 ||
	    pread(elf->fd, &h, sizeof h, (off_t)segment->p_offset) != sizeof h)
		return 0;
	if (h.version != VERSION || h.count_form != COUNT_UDATA4 || h.table_form != TABLE_SDATA4_DATAREL ||
	    (h.pointer_form & 15) != 11 || h.n > (segment->p_filesz - sizeof h) / sizeof(struct entry))
		return 0;
	return VPROF_BISECT(h.n, i, start_of(elf, segment, i) <= address);
}

uint64_t vprof_elf_frame_start(const struct vprof_elf *elf, uint64_t address)
{
	GElf_Phdr segment;
	size_t n = find_entry(elf, address, &segment);
	uint64_t start = n ? start_of(elf, &segment, n - 1) : 0;

	return start == UINT64_MAX ? 0 : start;
}

int vprof_elf_read_at(const struct vprof_elf *elf, uint64_t address, void *to, size_t n)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(elf->headers, &count))
		return 0;
	for (size_t i = 0; i < count && i < 64; i++)
		if (gelf_getphdr(elf->headers, (int)i, &p) && p.p_type == PT_LOAD && address >= p.p_vaddr &&
		    address - p.p_vaddr <= p.p_filesz && n <= p.p_filesz - (address - p.p_vaddr) &&
		    p.p_offset < INT64_MAX / 2)
			return pread(elf->fd, to, n, (off_t)(p.p_offset + (address - p.p_vaddr))) == (ssize_t)n;
	return 0;
}

#define CIE_MAX 16
#define AT_AUGMENTATION 9 /* in a CIE: behind length, 0, version */

/* A function's entry (FDE) points back to what it has in common with others (CIE), the begin of which goes to
 * cie[CIE_MAX + 1]. 0: it cannot be read. */
static int read_cie(const struct vprof_elf *elf, uint64_t address, char *cie)
{
	GElf_Phdr segment;
	struct entry e;
	uint32_t head[2];
	size_t n = find_entry(elf, address, &segment);
	uint64_t fde;

	if (!n || pread(elf->fd, &e, sizeof e,
			(off_t)(segment.p_offset + sizeof(struct header) + (n - 1) * sizeof e)) != sizeof e)
		return 0;
	fde = segment.p_vaddr + (uint64_t)(int64_t)e.information;
	cie[CIE_MAX] = 0;
	return vprof_elf_read_at(elf, fde, head, sizeof head) && head[0] != UINT32_MAX && head[1] &&
	       vprof_elf_read_at(elf, fde + 4 - head[1], cie, CIE_MAX);
}

/* The augmentation has an L if there are tables of handlers. */
int vprof_elf_frame_catches(const struct vprof_elf *elf, uint64_t address)
{
	char cie[CIE_MAX + 1];

	return !read_cie(elf, address, cie) || strchr(cie + AT_AUGMENTATION, 'L') != NULL;
}

/* ... and an S if its caller did not call it. */
int vprof_elf_frame_is_signal(const struct vprof_elf *elf, uint64_t address)
{
	char cie[CIE_MAX + 1];

	return read_cie(elf, address, cie) && strchr(cie + AT_AUGMENTATION, 'S') != NULL;
}
