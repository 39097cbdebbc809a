/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where this program's own functions lead: each notes the places of its calls as it runs, and of each pair of them it
 * is known whether one can follow the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "common/elf/code_flow.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { STRAIGHT_1, STRAIGHT_2, LOOP_1, LOOP_2, EITHER_1, EITHER_2, JUMPED_1, JUMPED_2, LAST_1, N_MARKS };

extern const char __executable_start[];

static uint64_t marks[N_MARKS];
static jmp_buf back;
static volatile int sum, twice = 2;

static NOINLINE void mark(int i)
{
	marks[i] = (uint64_t)((uintptr_t)__builtin_return_address(0) - (uintptr_t)__executable_start);
	sum += i; /* nothing is a tail call */
}

static NOINLINE void straight(void)
{
	mark(STRAIGHT_1);
	sum++;
	mark(STRAIGHT_2);
	sum++;
}

static NOINLINE void loop(int n)
{
	for (int i = 0; i < n; i++) {
		mark(LOOP_1);
		sum++;
		mark(LOOP_2);
		sum++;
	}
}

static NOINLINE void either(int x)
{
	if (x) {
		mark(EITHER_1);
		sum += 2;
	} else {
		mark(EITHER_2);
		sum += 3;
	}
}

static NOINLINE void jumped(void)
{
	mark(JUMPED_1);
	if (!setjmp(back)) {
		mark(JUMPED_2);
		longjmp(back, 1);
	}
	sum++;
}

static NOINLINE void last(void)
{
	mark(LAST_1);
	sum++;
	straight(); /* may be a jump to another function */
}

static struct vprof_elf *elf;
static struct vprof_code_flow *flow;

static int may(int from, int to)
{
	return vprof_code_flow_may(flow, (struct vprof_code_place){ marks[from], 0 },
				   (struct vprof_code_place){ marks[to], 0 });
}

static int open_self(void **state)
{
	(void)state;
	straight();
	loop(twice);
	either(0);
	either(1);
	jumped();
	last();
	assert_int_equal(vprof_elf_open(&elf, "/proc/self/exe", NULL, NULL), 0);
	flow = vprof_code_flow_new(elf);
	return 0;
}

static int close_self(void **state)
{
	(void)state;
	vprof_code_flow_free(flow);
	vprof_elf_free(elf);
	return 0;
}

static void skip_without_flow(void)
{
	print_message("skipped: what is impossible: there is no libcapstone for this machine's code\n");
	skip();
}

/* What is possible is never denied, with libcapstone or without. */
static void test_possible(void **state)
{
	(void)state;
	assert_true(may(STRAIGHT_1, STRAIGHT_2));
	assert_true(may(LOOP_1, LOOP_1));
	assert_true(may(LOOP_1, LOOP_2));
	assert_true(may(LOOP_2, LOOP_1));
	assert_true(may(JUMPED_1, JUMPED_2));
	assert_true(may(JUMPED_2, JUMPED_2)); /* as far as is known: it calls setjmp */
}

static void test_impossible(void **state)
{
	(void)state;
	if (!flow)
		skip_without_flow();
	assert_false(may(STRAIGHT_2, STRAIGHT_1));
	assert_false(may(STRAIGHT_1, STRAIGHT_1));
	assert_false(may(EITHER_1, EITHER_2));
	assert_false(may(EITHER_2, EITHER_1));
	assert_false(may(LAST_1, LAST_1));
}

#ifdef __x86_64__
/* Functions that end with a jump to another one: chain -> jumper -> landing; pointed -> wherever the slot says. */
#define FUNCTION(name, code)                                                                                           \
	".type " name ", @function\n" name ":\n.cfi_startproc\n" code "\n.cfi_endproc\n.size " name ", . - " name "\n"
__asm__(".text\n" FUNCTION("landing", "nop; ret") FUNCTION("elsewhere", "nop; ret")
		FUNCTION("jumper", "nop; jmp landing") FUNCTION("chain", "nop; jmp jumper")
			FUNCTION("pointed", "nop; jmp *slot(%rip)") ".data\nslot: .quad 0\n.text\n");
extern const char landing[], elsewhere[], jumper[], chain[], pointed[];

static uint64_t in_file(const char *function)
{
	return (uint64_t)(function - __executable_start);
}

static int become(const char *from, const char *to)
{
	return vprof_code_flow_may_become(flow, (struct vprof_code_place){ in_file(from), 1 }, to ? in_file(to) : 0);
}

/* A call that ends with a jump goes on as the function that it jumps to. */
static void test_replaced(void **state)
{
	(void)state;
	assert_true(become(jumper, landing));
	assert_true(become(chain, landing));
	assert_true(become(pointed, elsewhere));
	assert_true(become(pointed, NULL));
	assert_true(vprof_code_flow_may_become(NULL, (struct vprof_code_place){ in_file(landing), 1 }, 0));
	if (!flow)
		skip_without_flow();
	assert_false(become(landing, elsewhere));
	assert_false(become(jumper, elsewhere));
	assert_false(become(chain, elsewhere));
	assert_false(become(chain, NULL));
}
#endif

/* What is no place of the code, or none of the same function. */
static void test_strange(void **state)
{
	struct vprof_code_place a = { marks[STRAIGHT_1], 0 }, wrong = { marks[STRAIGHT_1] + 1, 0 }, none = { 0, 0 };
	struct vprof_code_place far = { UINT64_MAX - 5, 0 };

	(void)state;
	assert_true(vprof_code_flow_may(flow, a, wrong));
	assert_true(vprof_code_flow_may(flow, wrong, a));
	assert_true(vprof_code_flow_may(flow, none, a));
	assert_true(vprof_code_flow_may(flow, a, none));
	assert_true(vprof_code_flow_may(flow, far, far));
	assert_true(vprof_code_flow_may(NULL, a, a));
}

/* Damaged code is not known. Every byte of a copy's code is turned over in turn of 64: nothing breaks. */
static void test_damaged(void **state)
{
	char path[] = "/tmp/vprof-code-flow-XXXXXX", bytes[1 << 16];
	FILE *from = fopen("/proc/self/exe", "re");
	int fd = mkstemp(path);
	size_t n, at = 0;

	(void)state;
	assert_non_null(from);
	assert_true(fd >= 0);
	while ((n = fread(bytes, 1, sizeof bytes, from)) > 0) {
		for (size_t i = 0; i < n; i++, at++)
			if (at > 8192 && at % 64 == 7)
				bytes[i] = (char)~bytes[i];
		assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	}
	fclose(from);
	close(fd);
	if (!vprof_elf_open(&elf, path, NULL, NULL)) {
		struct vprof_code_flow *damaged = vprof_code_flow_new(elf);

		for (int i = 0; i < N_MARKS; i++)
			for (int k = 0; k < N_MARKS; k++)
				vprof_code_flow_may(damaged, (struct vprof_code_place){ marks[i], 0 },
						    (struct vprof_code_place){ marks[k], 1 });
		vprof_code_flow_free(damaged);
		vprof_elf_free(elf);
		elf = NULL;
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_possible, open_self, close_self),
		cmocka_unit_test_setup_teardown(test_impossible, open_self, close_self),
		cmocka_unit_test_setup_teardown(test_strange, open_self, close_self),
#ifdef __x86_64__
		cmocka_unit_test_setup_teardown(test_replaced, open_self, close_self),
#endif
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
