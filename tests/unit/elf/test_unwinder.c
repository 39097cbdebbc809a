/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where stacks end: by this process's own mappings, with stacks made by hand. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/auxv.h>

#include "common/elf/unwinder.h"

#define MOST 16

static struct vprof_unwinder *open_own(void)
{
	static char maps[1 << 20];
	FILE *f = fopen("/proc/self/maps", "r");
	size_t n = f ? fread(maps, 1, sizeof maps, f) : 0;

	if (f)
		fclose(f);
	return vprof_unwinder_new(maps, n);
}

static struct vprof_unwound unwind(struct vprof_unwinder *u, uint64_t ip, const uint64_t *memory, size_t n_bytes)
{
	const struct vprof_stack_copy copy = {
		.ip = ip, .sp = 0x7ff000000000, .memory = (const unsigned char *)memory, .n_bytes = n_bytes
	};
	uint64_t addresses[MOST];
	size_t places[MOST];

	return vprof_unwinder_unwind(u, &copy, addresses, places, MOST);
}

/* The dynamic linker's first function was called by nobody, and has no unwind tables: a stack that ends there is whole.
 */
static void test_begin_of_process(void **state)
{
	uint64_t linker = getauxval(AT_BASE), memory[8] = { 0 };
	struct vprof_unwinder *u = open_own();
	struct vprof_unwound found;

	(void)state;
	assert_non_null(u);
	if (linker) {
		const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)linker;

		found = unwind(u, linker + header->e_entry + 4, memory, sizeof memory);
		assert_int_equal(found.n, 1);
		assert_int_equal(found.is_cut, 0);
	}
	vprof_unwinder_free(u);
}

static void test_cut(void **state)
{
	uint64_t memory[8] = { 0 };
	struct vprof_unwinder *u = open_own();
	struct vprof_unwound found;

	(void)state;
	assert_non_null(u);
	found = unwind(u, (uint64_t)(uintptr_t)unwind, memory, 0); /* its return address was not copied */
	assert_int_equal(found.is_cut, 1);
	assert_int_equal(found.n_wanted, sizeof *memory);
	found = unwind(u, 0x1000, memory, sizeof memory); /* in no file */
	assert_int_equal(found.is_cut, 1);
	assert_int_equal(found.is_unknown, 1);
	assert_int_equal(found.n_wanted, 0);
	vprof_unwinder_free(u);
}

/* At the first instruction of a function that `unwind` called: bp is still its caller's, here the place of an older
 * frame. addresses[MOST]. */
static struct vprof_unwound unwind_entry(struct vprof_unwinder *u, const void *entry, uint64_t *addresses)
{
	const uint64_t sp = 0x7ff000000000;
	const uint64_t memory[8] = { (uint64_t)(uintptr_t)unwind + 1,  0, 0, 0, sp + 48,
				     (uint64_t)(uintptr_t)open_own + 1 };
	const struct vprof_stack_copy copy = { .ip = (uint64_t)(uintptr_t)entry,
					       .sp = sp,
					       .bp = sp + 32,
					       .memory = (const unsigned char *)memory,
					       .n_bytes = sizeof memory };
	size_t places[MOST];

	return vprof_unwinder_unwind(u, &copy, addresses, places, MOST);
}

/* In the first instruction of a function of the kernel's page, bp is its caller's, whatever that keeps in it: here the
 * place of an older frame. Whoever follows it misses those in between. */
static void test_vdso(void **state)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *entry = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
	uint64_t addresses[MOST] = { 0 };
	struct vprof_unwinder *u = open_own();

	(void)state;
	assert_non_null(u);
	if (entry) {
		assert_true(unwind_entry(u, entry, addresses).n >= 2);
		assert_int_equal(addresses[1], (uint64_t)(uintptr_t)unwind + 1);
	}
	vprof_unwinder_free(u);
	if (vdso)
		dlclose(vdso);
}

/* Assembly that says nothing of its stack. */
__asm__(".text\n.type vprof_test_untabled, @function\nvprof_test_untabled:\n\tnop\n\tnop\n\tret\n"
	".size vprof_test_untabled, . - vprof_test_untabled\n");
extern const char vprof_test_untabled[];

/* Its frame pointer is its caller's, as above: what that leads to is no frame of which anything is known. */
static void test_untabled(void **state)
{
	uint64_t addresses[MOST] = { 0 };
	struct vprof_unwinder *u = open_own();
	struct vprof_unwound found;

	(void)state;
	assert_non_null(u);
	for (int i = 0; i < 2; i++) { /* and as it is known from then on */
		found = unwind_entry(u, vprof_test_untabled, addresses);
		assert_int_equal(found.n, 1);
		assert_int_equal(found.is_cut, 1);
		assert_int_equal(found.is_placed, 0);
		assert_int_equal(found.is_unknown, 0);
		assert_int_equal(found.n_wanted, 0);
	}
	vprof_unwinder_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begin_of_process),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_untabled),
	};

#ifndef __x86_64__
	printf("skipped: stacks are unwound on x86-64 only\n");
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
