/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which instructions of inline assembly are told, and that all else stays as it is. That the calls change nothing is
 * shown by programs (tests/flows/cases/own_assembly.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "instrumenter/flow_assembly.h"

/* Instructions found in the whole text of n bytes, which may be zero. */
static size_t edit_all(const char *text, size_t n, struct vprof_text *out)
{
	struct vprof_text in = VPROF_TEXT_INIT;
	size_t found;

	vprof_text_clear(out);
	vprof_text_append(&in, text, n);
	assert_int_equal(in.failed, 0);
	found = vprof_flow_assembly_edit(&in, out);
	vprof_text_release(&in);
	return found;
}

/* Instructions found in one block; the edited text is left in `out`. */
static size_t edited(const char *statements, struct vprof_text *out)
{
	struct vprof_text in = VPROF_TEXT_INIT;
	size_t n;

	vprof_text_clear(out);
	vprof_text_addf(&in, "f:\n\tmovl $1, %%eax\n#APP\n# 3 \"a.c\" 1\n%s\n# 0 \"\" 2\n#NO_APP\n\tret\n", statements);
	n = vprof_flow_assembly_edit(&in, out);
	assert_non_null(strstr(out->s, "#APP\n# 3 \"a.c\" 1\n"));
	assert_non_null(strstr(out->s, "#NO_APP\n\tret\n"));
	vprof_text_release(&in);
	return n;
}

static void what_is_locked_is_told(void **state)
{
	static const char *const cases[] = { "\tlock xchgl %eax, (%rdx)",
					     "\t\tlock\t\t\t\n\txchgb\t%al,(%rdx)\t\n",
					     "\tlock; cmpxchgl %ecx, 8(%rdx)\n\tsetz %al",
					     "1:\tlock; decl counter(%rip)\n\tjnz 1b",
					     "\txchg %rax, (%rdi,%rcx,8)",
					     "\txchgq (%rdi), %rax",
					     "\tlock btsl $3, (%rdi) # a comment; lock incl (%rsi)",
					     "\tlock xaddq %r12, (%r13)" };
	struct vprof_text out = VPROF_TEXT_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(edited(cases[i], &out), 1);
		assert_non_null(strstr(out.s, "call vp_flow_asm_before"));
		assert_non_null(strstr(out.s, "call vp_flow_asm_after"));
	}
	vprof_text_release(&out);
}

static void what_others_cannot_see_is_left(void **state)
{
	static const char *const cases[] = { "\tlock; addl $0,0(%rsp)",
					     "\tlock incl -8(%rbp)",
					     "\tlock incl %fs:8",
					     "\txchg %rax, %rbx",
					     "\tlock cmpxchg16b (%rdi)",
					     "\tmovl %eax, (%rdi)",
					     "\tincl (%rdi)",
					     "\tmfence",
					     "\tcmpxchgl %ecx, (%rdx)",
					     "\t.string \"lock; incl (%rdi)\"" };
	struct vprof_text out = VPROF_TEXT_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(edited(cases[i], &out), 0);
		assert_null(strstr(out.s, "vp_flow_asm"));
	}
	assert_int_equal(edit_all("\tlock incl (%rdi)\n", sizeof "\tlock incl (%rdi)\n" - 1, &out),
			 0); /* the compiler's own is told by it */
	vprof_text_release(&out);
}

static void size_and_register_are_passed(void **state)
{
	static const struct {
		const char *statement;
		unsigned n_bytes, kind, reg;
	} cases[] = { { "\tlock xchgb %cl, (%rdx)", 1, VPROF_FLOW_ASM_XCHG, 2 },
		      { "\txchg %r9w, (%rdx)", 2, VPROF_FLOW_ASM_XCHG, 8 },
		      { "\tlock cmpxchg %r15, (%rdx)", 8, VPROF_FLOW_ASM_CMPXCHG, 14 },
		      { "\tlock xaddl %eax, (%rdx)", 4, VPROF_FLOW_ASM_XADD, 0 },
		      { "\tlock incq (%rdx)", 8, VPROF_FLOW_ASM_OTHER, VPROF_FLOW_ASM_NO_REGISTER } };
	struct vprof_text out = VPROF_TEXT_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char wanted[64];

		snprintf(wanted, sizeof wanted, "pushq $%u\n",
			 cases[i].n_bytes | cases[i].kind << 8 | cases[i].reg << 16);
		assert_int_equal(edited(cases[i].statement, &out), 1);
		assert_non_null(strstr(out.s, wanted));
		assert_non_null(strstr(out.s, "leaq (%rdx), %rax\n"));
	}
	vprof_text_release(&out);
}

static void text_that_is_not_understood_stays(void **state)
{
	static const char intel[] = "\t.intel_syntax noprefix\n#APP\n\tlock inc DWORD PTR [rdi]\n#NO_APP\n";
	static const char open[] = "#APP\n\tlock incl (%rdi)\n";
	struct vprof_text out = VPROF_TEXT_INIT;

	(void)state;
	assert_int_equal(edit_all(intel, sizeof intel - 1, &out), 0);
	assert_string_equal(out.s, intel);
	assert_int_equal(edit_all(open, sizeof open - 1, &out), 0);
	assert_string_equal(out.s, open);
	vprof_text_release(&out);
}

/* clang tells what a byte of a location list is, and of some it knows no name: "# " and zero bytes. */
static void zero_bytes_end_nothing(void **state)
{
	static const char zeros[] = "\t.byte\t0 # \0\0\n#APP\n\tlock incl (%rdi)\n#NO_APP\n\tret # \0";
	struct vprof_text out = VPROF_TEXT_INIT;

	(void)state;
	assert_int_equal(edit_all(zeros, sizeof zeros - 1, &out), 1);
	assert_int_equal(strlen(out.s), out.len);
	assert_ptr_equal(strstr(out.s, "\t.byte\t0 #   \n#APP\n"), out.s);
	assert_non_null(strstr(out.s, "#NO_APP\n\tret #  "));
	vprof_text_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_locked_is_told),
					    cmocka_unit_test(what_others_cannot_see_is_left),
					    cmocka_unit_test(size_and_register_are_passed),
					    cmocka_unit_test(text_that_is_not_understood_stays),
					    cmocka_unit_test(zero_bytes_end_nothing) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
