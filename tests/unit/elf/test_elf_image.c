/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs as they lie in another process's memory, which may hold anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "common/elf/elf_image.h"

#define BASE UINT64_C(0x7f0000001000)
#define N_BYTES 1024
#define NOTES_AT 256

struct memory {
	unsigned char bytes[N_BYTES];
};

static int read_memory(const void *memory, uint64_t address, void *to, size_t n)
{
	const struct memory *m = memory;

	if (address < BASE || address - BASE > N_BYTES || n > N_BYTES - (address - BASE))
		return -1;
	memcpy(to, m->bytes + (address - BASE), n);
	return 0;
}

static size_t put_note(struct memory *m, size_t at, const char *name, uint32_t type, const void *content, uint32_t n)
{
	Elf64_Nhdr head = { (uint32_t)strlen(name) + 1, n, type };

	memcpy(m->bytes + at, &head, sizeof head);
	at += sizeof head;
	memcpy(m->bytes + at, name, head.n_namesz);
	at += (head.n_namesz + 3) & ~3u;
	memcpy(m->bytes + at, content, n);
	return at + ((n + 3) & ~3u);
}

/* A build id, a note of another type, and the one that is looked for. */
static void make(struct memory *m, int64_t wanted)
{
	Elf64_Ehdr elf = { .e_phoff = sizeof elf, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 };
	Elf64_Phdr headers[2] = { { .p_type = PT_LOAD, .p_vaddr = 0x1000 },
				  { .p_type = PT_NOTE, .p_vaddr = 0x1000 + NOTES_AT, .p_align = 4 } };
	size_t end = NOTES_AT;

	memset(m, 0, sizeof *m);
	memcpy(elf.e_ident, ELFMAG, SELFMAG);
	elf.e_ident[EI_CLASS] = ELFCLASS64;
	end = put_note(m, end, "GNU", NT_GNU_BUILD_ID, "\x12\x34\xab", 3);
	end = put_note(m, end, "vprof", 7, "other", 5);
	end = put_note(m, end, "vprof", 1, &wanted, sizeof wanted);
	headers[1].p_filesz = end - NOTES_AT;
	memcpy(m->bytes, &elf, sizeof elf);
	memcpy(m->bytes + sizeof elf, headers, sizeof headers);
}

static void notes_are_found(void **state)
{
	char hex[VPROF_ELF_IMAGE_ID];
	uint64_t bias, address;
	int64_t content = 0;
	struct memory m;

	(void)state;
	make(&m, -4711);
	assert_int_equal(vprof_elf_image_read(read_memory, &m, BASE, &bias, hex), 1);
	assert_string_equal(hex, "1234ab");
	assert_true(bias == BASE - 0x1000);
	assert_int_equal(vprof_elf_image_note(read_memory, &m, BASE, "vprof", 1, &content, sizeof content, &address),
			 1);
	assert_int_equal(content, -4711);
	assert_memory_equal(m.bytes + (address - BASE), &content, sizeof content);
	assert_int_equal(vprof_elf_image_note(read_memory, &m, BASE, "vprof", 2, &content, sizeof content, &address),
			 0);
	assert_int_equal(vprof_elf_image_note(read_memory, &m, BASE, "vprof", 1, &content, 4, &address), 0);
	assert_int_equal(
		vprof_elf_image_note(read_memory, &m, BASE + 1, "vprof", 1, &content, sizeof content, &address), 0);
}

/* Whatever a process holds: nothing is read beyond what was read from it. */
static void damage_is_survived(void **state)
{
	char hex[VPROF_ELF_IMAGE_ID];
	uint64_t bias, address;
	int64_t content;
	struct memory m;

	(void)state;
	srand(1);
	for (int i = 0; i < 100000; i++) {
		make(&m, i);
		for (int k = 0; k <= i % 4; k++)
			m.bytes[rand() % (NOTES_AT + 96)] = (unsigned char)(rand() % 2 ? 0xff : rand());
		vprof_elf_image_read(read_memory, &m, BASE, &bias, hex);
		assert_true(strlen(hex) < VPROF_ELF_IMAGE_ID);
		vprof_elf_image_note(read_memory, &m, BASE, "vprof", 1, &content, sizeof content, &address);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_are_found),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
