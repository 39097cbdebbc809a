/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two assemblies of one unit become one: whose functions, variables and labels are whose, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "instrumenter/resident/resident_merge.h"

static const char end_of_plain[] = "\t.section\t.debug_info,\"\",@progbits\n.Ldebug_info0:\n\t.long\t1\n";

static struct vprof_text out, why;
static enum vprof_merge_how how;

static int merge(const char *plain, const char *probed)
{
	struct vprof_text a = VPROF_TEXT_INIT, b = VPROF_TEXT_INIT;
	int rc;

	vprof_text_clear(&out);
	vprof_text_clear(&why);
	vprof_text_add(&a, plain);
	vprof_text_add(&a, end_of_plain);
	vprof_text_add(&b, probed);
	rc = vprof_assembly_merge(&a, &b, how, &out, &why);
	vprof_text_release(&a);
	vprof_text_release(&b);
	return rc;
}

static void assert_has(const char *text)
{
	if (!strstr(out.s, text))
		fail_msg("not there: %s\nin:\n%s", text, out.s);
}

static void assert_lacks(const char *text)
{
	if (strstr(out.s, text))
		fail_msg("there: %s\nin:\n%s", text, out.s);
}

#define FUNCTION(linkage, name, body)                                                                                  \
	"\t.text\n\t" linkage "\t" name "\n\t.type\t" name ", @function\n" name ":\n.LFB1:\n" body "\t.size\t" name    \
	", .-" name "\n"

static void functions_get_names_of_their_own(void **state)
{
	(void)state;
	assert_int_equal(
		merge(FUNCTION(".globl", "_Z1fv", "\tret\n"), FUNCTION(".globl", "_Z1fv", "\tjmp\t.L2\n.L2:\n")), 0);
	assert_has("\n_Z1fv__vp:\n.Lvp_FB1:\n");
	assert_has("\tjmp\t.Lvp_2\n");
	assert_has("\t.size\t_Z1fv__vp, .-_Z1fv__vp\n");
	assert_lacks(".globl\t_Z1fv__vp");
	assert_has("\t.quad\t_Z1fv, _Z1fv__vp\n");
	assert_has("\t.quad\t-1, .Ldebug_info0\n");
}

/* What another unit may define, too, is called by its name; an address is that of the plain function. */
static void calls_and_addresses(void **state)
{
	static const char plain[] = FUNCTION(".weak", "_Z1wv", "\tret\n") FUNCTION(".local", "_ZL1sv", "\tret\n")
		FUNCTION(".globl", "_Z1fv", "\tret\n");
	static const char probed[] = FUNCTION(
		".weak", "_Z1wv",
		"\tret\n") "\t.type\t_ZL1sv, @function\n_ZL1sv:\n\tret\n" FUNCTION(".weak", "_Z4onlyv", "\tret\n")
		FUNCTION(
			".globl", "_Z1fv",
			"\tcall\t_Z1wv\n\tcall\t_ZL1sv\n\tjne\t_Z4onlyv\n\tleaq\t_ZL1sv(%rip), %rax\n\tcall\t*_ZL1sv(%rip)\n"
			"\tcall\tputs@PLT\n");

	(void)state;
	assert_int_equal(merge(plain, probed), 0);
	assert_has("\tcall\t_Z1wv\n");
	assert_has("\tcall\t_ZL1sv__vp\n");
	assert_has("\tjne\t_Z4onlyv__vp\n");
	assert_has("\tleaq\t_ZL1sv(%rip), %rax\n");
	assert_has("\tcall\t*_ZL1sv(%rip)\n");
	assert_has("\tcall\tputs@PLT\n");
	assert_lacks("_Z4onlyv, _Z4onlyv__vp");
}

static void variables_are_the_first_ones(void **state)
{
	static const char variables[] = "\t.data\n\t.globl\tshared\n\t.size\tshared, 4\nshared:\n\t.long\t5\n"
					"\t.local\t_ZL5local\n\t.comm\t_ZL5local,8,8\n"
					"\t.section\t.rodata\n_ZL5table.0:\n\t.long\t%s\n"
					"\t.section\t.init_array,\"aw\"\n\t.quad\t_Z1fv\n";
	char probed[1000];

	(void)state;
	strcpy(probed, FUNCTION(".globl", "_Z1fv", "\tmovl\tshared(%rip), %eax\n\tmovl\t_ZL5table.0(%rip), %eax\n"));
	strcat(probed, variables);
	assert_int_equal(merge(variables, probed), 0);
	assert_null(strstr(strstr(out.s, "shared:") + 1, "shared:"));
	assert_null(strstr(strstr(out.s, ".comm\t_ZL5local") + 1, ".comm\t_ZL5local"));
	assert_has("\tmovl\tshared(%rip), %eax\n");
	assert_has("_ZL5table.0__vp:\n");
	assert_has("\tmovl\t_ZL5table.0__vp(%rip), %eax\n");
	assert_null(strstr(strstr(out.s, ".init_array") + 1, ".init_array"));
}

/* The table of a class that only one half needs is that half's own. */
static void tables_of_classes(void **state)
{
	static const char table[] =
		"\t.section\t.data.rel.ro.local,\"aw\"\n\t.size\t_ZTVN1aE, 8\n_ZTVN1aE:\n\t.quad\t_Z1fv\n";

	(void)state;
	assert_int_equal(merge("", table), 0);
	assert_has("_ZTVN1aE:\n\t.quad\t_Z1fv\n");
	assert_int_equal(merge(table, table), 0);
	assert_null(strstr(strstr(out.s, "_ZTVN1aE:") + 1, "_ZTVN1aE:"));
}

static void assert_refused(const char *plain, const char *probed, const char *reason)
{
	assert_int_equal(merge(plain, probed), 1);
	if (!strstr(why.s, reason))
		fail_msg("%s", why.s);
}

static void what_is_not_certain_is_refused(void **state)
{
	(void)state;
	assert_refused("", "\t.local\t_ZL1n\n\t.comm\t_ZL1n,4,4\n", "only one of the two");
	assert_refused("\t.data\nn.0:\n\t.long\t1\n", "\t.data\nn.0:\n\t.long\t1\n", "only one of the two");
	assert_refused("\t.data\n\t.size\t_ZL1n, 4\n_ZL1n:\n\t.long\t1\n",
		       "\t.data\n\t.size\t_ZL1n, 1\n_ZL1n:\n\t.byte\t1\n", "two sizes");
	assert_refused(FUNCTION(".local", "_Z4taskv.actor", "\tret\n"), FUNCTION(".local", "_Z4taskv.actor", "\tret\n"),
		       "coroutine");
	assert_refused("", "", "no assembly");
}

/* What C's functions keep: the compiler numbers the names, in either assembly as it comes. */
static void static_variables_of_c(void **state)
{
	static const char plain[] =
		FUNCTION(".globl", "f",
			 "\tincl\tsum.1(%rip)\n") "\t.local\tsum.1\n\t.comm\tsum.1,4,4\n"
						  "\t.section\t.rodata\n\t.size\tkey.0, 2\nkey.0:\n\t.string\t\"k\"\n";
	static const char probed[] = FUNCTION(
		".globl", "f",
		"\tincl\tsum.0(%rip)\n\tleaq\tkey.2(%rip), %rax\n\tmovl\tCSWTCH.1(%rip), %eax\n"
		"\tjmp\t*places.3(,%rax,8)\n.L2:\n") "\t.local\tsum.0\n\t.comm\tsum.0,4,4\n"
						     "\t.section\t.rodata\n\t.size\tkey.2, 2\nkey.2:\n\t.string\t\"k\"\n"
						     "\t.size\tCSWTCH.1, 4\nCSWTCH.1:\n\t.long\t1\n"
						     "\t.size\tplaces.3, 8\nplaces.3:\n\t.quad\t.L2\n";
	char places[1500];

	(void)state;
	strcpy(places, plain);
	strcat(places, "\t.size\tplaces.3, 8\nplaces.3:\n\t.quad\t.L2\n");
	assert_int_equal(merge(places, probed), 0);
	assert_has("\tincl\tsum.1(%rip)\n");
	assert_lacks("sum.0");
	assert_has("\tleaq\tkey.0(%rip), %rax\n");
	assert_lacks("key.2");
	assert_has("CSWTCH.1__vp:\n");
	assert_has("\tjmp\t*places.3__vp(,%rax,8)\n");
	assert_has("places.3__vp:\n\t.quad\t.Lvp_2\n");
}

static const char two_sums[] = "\t.local\tsum.0\n\t.comm\tsum.0,4,4\n\t.local\tsum.1\n\t.comm\tsum.1,4,4\n";
static const char one_key[] = "\t.section\t.rodata\n\t.size\tkey.0, 2\nkey.0:\n\t.string\t\"k\"\n";
static const char same_keys[] = "\t.section\t.rodata\n\t.size\tkey.0, 2\nkey.0:\n\t.string\t\"k\"\n"
				"\t.size\tkey.1, 2\nkey.1:\n\t.string\t\"k\"\n";
static const char table[] = "\t.data\n\t.size\tplaces.0, 8\nplaces.0:\n\t.quad\t.L2\n";

/* Two functions have one called `sum`: the sizes tell which is which. */
static void static_variables_of_two_sizes(void **state)
{
	static const char plain[] = FUNCTION(".globl", "f", "\taddl\t$1, sum.0(%rip)\n") FUNCTION(
		".globl", "g",
		"\tsubl\t$1, sum.1(%rip)\n") "\t.local\tsum.0\n\t.comm\tsum.0,4,4\n\t.local\tsum.1\n\t.comm\tsum.1,8,8\n";
	static const char probed[] = FUNCTION(".globl", "f", "\tincl\tsum.1(%rip)\n") FUNCTION(
		".globl", "g",
		"\tdecl\tsum.0(%rip)\n") "\t.local\tsum.1\n\t.comm\tsum.1,4,4\n\t.local\tsum.0\n\t.comm\tsum.0,8,8\n";
	static const char one[] = "\t.local\tsum.0\n\t.comm\tsum.0,4,4\n";

	(void)state;
	assert_int_equal(merge(plain, probed), 0);
	assert_has("\tincl\tsum.0(%rip)\n");
	assert_has("\tdecl\tsum.1(%rip)\n");
	assert_refused(plain, one, "only one of the two"); /* where is the other one? */
	assert_refused(one, plain, "only one of the two");
}

/* A function that calls itself where the linker may put another in its place: the call leads to the twin, an address is
 * the plain one's, also if the plain one is not called by that name. */
static void aliases_of_functions(void **state)
{
	static const char plain[] = FUNCTION(".globl", "f", "\tcall\tf.localalias\n") "\t.set\tf.localalias,f\n";
	static const char probed[] = FUNCTION(
		".globl", "f", "\tcall\tf.localalias\n\tleaq\tf.localalias(%rip), %rax\n") "\t.set\tf.localalias,f\n";

	(void)state;
	assert_int_equal(merge(plain, probed), 0);
	assert_has("\tcall\tf.localalias__vp\n");
	assert_has("\tleaq\tf.localalias(%rip), %rax\n");
	assert_has("\t.set\tf.localalias,f\n");
	assert_has("\t.set\tf.localalias__vp,f__vp\n");
	assert_int_equal(merge(FUNCTION(".globl", "f", "\tret\n"), probed), 0);
	assert_has("\t.set\tf.localalias,f\n");
}

/* Two functions have one called `key` that holds the same, and none is missing: the order tells which is which. */
static void constants_of_one_content(void **state)
{
	static const char probed[] = FUNCTION(".globl", "f", "\tleaq\tkey.7(%rip), %rax\n") FUNCTION(
		".globl", "g",
		"\tleaq\tkey.8(%rip), %rax\n") "\t.section\t.rodata\n\t.size\tkey.8, 2\nkey.8:\n\t.string\t\"k\"\n"
					       "\t.size\tkey.7, 2\nkey.7:\n\t.string\t\"k\"\n";
	char plain[1500];

	(void)state;
	how = VPROF_MERGE_C;
	strcpy(plain, FUNCTION(".globl", "f", "\tleaq\tkey.1(%rip), %rdx\n")
			      FUNCTION(".globl", "g", "\tleaq\tkey.0(%rip), %rdx\n"));
	strcat(plain, same_keys);
	assert_int_equal(merge(plain, probed), 0);
	assert_has("\tleaq\tkey.1(%rip), %rax\n");
	assert_has("\tleaq\tkey.0(%rip), %rax\n");
	how = VPROF_MERGE_CXX;
}

/* Two functions have one called `methods`, of one size: what they begin with tells which is which. */
static void static_variables_of_two_contents(void **state)
{
	static const char plain[] = FUNCTION(".globl", "f", "\tmovl\tmethods.0(%rip), %eax\n") FUNCTION(
		".globl", "g",
		"\tmovl\tmethods.1(%rip), %eax\n") "\t.section\t.data.rel.ro,\"aw\"\n"
						   "\t.size\tmethods.0, 16\nmethods.0:\n\t.quad\ta\n\t.quad\t.LC3\n"
						   "\t.size\tmethods.1, 16\nmethods.1:\n\t.quad\ta\n\t.quad\t.LC4\n"
						   "\t.section\t.rodata.str1.1\n.LC3:\n\t.string\t\"x\"\n.LC4:\n\t.string\t\"y\"\n";
	static const char probed[] = FUNCTION(".globl", "f", "\tmovl\tmethods.8(%rip), %edx\n") FUNCTION(
		".globl", "g",
		"\tmovl\tmethods.7(%rip), %edx\n") "\t.section\t.rodata.str1.1\n.LC9:\n\t.string\t\"y\"\n.LC5:\n\t.string\t\"x\"\n"
						   "\t.section\t.data.rel.ro,\"aw\"\n"
						   "\t.size\tmethods.7, 16\nmethods.7:\n\t.quad\ta\n\t.quad\t.LC9\n"
						   "\t.size\tmethods.8, 16\nmethods.8:\n\t.quad\ta\n\t.quad\t.LC5\n";
	static const char other[] = FUNCTION(".globl", "f", "\tmovl\tmethods.8(%rip), %edx\n") FUNCTION(
		".globl", "g",
		"\tmovl\tmethods.7(%rip), %edx\n") "\t.section\t.rodata.str1.1\n.LC9:\n\t.string\t\"y\"\n.LC5:\n\t.string\t\"z\"\n"
						   "\t.section\t.data.rel.ro,\"aw\"\n"
						   "\t.size\tmethods.7, 16\nmethods.7:\n\t.quad\ta\n\t.quad\t.LC9\n"
						   "\t.size\tmethods.8, 16\nmethods.8:\n\t.quad\ta\n\t.quad\t.LC5\n";

	(void)state;
	how = VPROF_MERGE_C;
	assert_int_equal(merge(plain, probed), 0);
	assert_has("\tmovl\tmethods.0(%rip), %edx\n");
	assert_has("\tmovl\tmethods.1(%rip), %edx\n");
	assert_refused(plain, other, "only one of the two"); /* methods.8 leads to another string */
	how = VPROF_MERGE_CXX;
}

static void static_variables_that_may_be_others(void **state)
{
	(void)state;
	how = VPROF_MERGE_C;
	assert_refused(two_sums, two_sums, "only one of the two");
	assert_refused(same_keys, one_key, "only one of the two");
	assert_refused(one_key, same_keys, "only one of the two");
	assert_refused("\t.local\tsum.0\n\t.comm\tsum.0,4,4\n", two_sums, "only one of the two");
	assert_refused("\t.local\tsum.0\n\t.comm\tsum.0,4,4\n", "\t.local\tsum.0\n\t.comm\tsum.0,8,8\n",
		       "only one of the two");
	assert_refused(table, table, "only one of the two");
	how = VPROF_MERGE_CXX;
}

/* `$` begins an immediate operand and is no part of the name (code that is not position-independent). */
static void immediate_operands(void **state)
{
	(void)state;
	assert_int_equal(
		merge(FUNCTION(".globl", "f", "\tret\n") "\t.section\t.rodata\n.LC0:\n\t.string\t\"a\"\n",
		      FUNCTION(
			      ".globl", "f",
			      "\tmovl\t$.LC0, %eax\n\tmovl\t$CSWTCH.1+4, %eax\n\tmovl\t$-8, %eax\n") "\t.section\t.rodata\n.LC0:\n\t.string\t\"b\"\nCSWTCH.1:\n\t.long\t1\n"),
		0);
	assert_has("\tmovl\t$.Lvp_C0, %eax\n");
	assert_has("\tmovl\t$CSWTCH.1__vp+4, %eax\n");
	assert_has("\tmovl\t$-8, %eax\n");
}

/* A table of labels is each copy's own, and so is what leads to it. */
static void what_leads_to_labels(void **state)
{
	static const char tables[] =
		"\t.section\t.data.rel.ro.local,\"aw\"\n\t.size\tbase.1, 8\nbase.1:\n\t.quad\t.L2\n"
		"\t.size\ttables.0, 8\ntables.0:\n\t.quad\tbase.1\n";
	static const char end[] = "\t.section\t.data.rel.ro.local,\"aw\"\n\t.size\tbase.1, 8\nbase.1:\n\t.quad\t.L2\n"
				  "\t.data\n\t.size\tend.0, 8\nend.0:\n\t.quad\tbase.1+8\n";

	(void)state;
	assert_int_equal(merge(tables, tables), 0);
	assert_has("tables.0__vp:\n\t.quad\tbase.1__vp\n");
	assert_refused(end, end, "only one of the two");
}

/* The linker may take another unit's function; in C++ that is the same one. */
static void weak_functions(void **state)
{
	static const char weak[] = FUNCTION(".weak", "hook", "\tret\n");
	static const char alias[] = FUNCTION(".globl", "own_hook", "\tret\n") "\t.weak\thook\n\t.set\thook,own_hook\n";

	(void)state;
	how = VPROF_MERGE_C;
	assert_int_equal(merge(weak, weak), 0);
	assert_has("hook:\n.Lvp_weak_hook:\n");
	assert_has("\t.quad\t.Lvp_weak_hook, hook__vp\n");
	assert_int_equal(merge(alias, alias), 0);
	assert_lacks("hook, hook__vp");
	how = VPROF_MERGE_CXX;
	assert_int_equal(merge(weak, weak), 0);
	assert_has("hook, hook__vp");
}

static void the_larger_alignment(void **state)
{
	static const char less[] =
		"\t.data\n\t.align 4\n\t.size\tbuf, 8\nbuf:\n\t.quad\t1\n\t.size\tnext, 1\nnext:\n\t.byte\t1\n";
	static const char more[] =
		"\t.data\n\t.align 16\n\t.size\tbuf, 8\nbuf:\n\t.quad\t1\n\t.size\tnext, 1\nnext:\n\t.byte\t1\n";

	(void)state;
	assert_int_equal(merge(less, more), 0);
	assert_has("\t.balign\t16\nbuf:\n");
	assert_int_equal(merge("\t.local\tsum.1\n\t.comm\tsum.1,32,8\n", "\t.local\tsum.0\n\t.comm\tsum.0,32,16\n"), 0);
	assert_has("\t.comm\tsum.1,32,16\n");
	assert_int_equal(merge(more, less), 0);
	assert_lacks("\t.balign\t4\n");
	assert_lacks("\t.balign\t16\n");
}

/* What stands between functions is there once. */
static void statements_outside_functions(void **state)
{
	static const char set[] = "#APP\n\t.pushsection set,\"a\"\n\t.quad 7\n\t.popsection\n#NO_APP\n";
	char text[1000];

	(void)state;
	strcpy(text, set);
	strcat(text, FUNCTION(".globl", "f", "#APP\n\tcpuid\n#NO_APP\n"));
	assert_int_equal(merge(text, text), 0);
	assert_null(strstr(strstr(out.s, ".quad 7") + 1, ".quad 7"));
	assert_non_null(strstr(strstr(out.s, "cpuid") + 1, "cpuid"));
}

static void what_may_not_be_there_twice(void **state)
{
	static const char in_set[] = "\t.section\tmyset,\"a\"\n\t.size\tentry, 8\nentry:\n\t.quad\t7\n";
	static const char indirect[] =
		"\t.globl\tchosen\n\t.type\tchosen, @gnu_indirect_function\n\t.set\tchosen,choose\n";

	(void)state;
	assert_refused("", in_set, "section of the program's own");
	assert_int_equal(merge(in_set, in_set), 0);
	assert_refused(indirect, indirect, "chosen when");
}

/* A static function that only the second keeps refers to what is not linked. */
static void kept_functions(void **state)
{
	static const char plain[] = FUNCTION(".globl", "f", "\tcall\tputs@PLT\n");
	static const char probed[] = FUNCTION(".globl", "f", "\tcall\tputs@PLT\n")
		FUNCTION(".local", "g", "\tcall\tnot_built@PLT\n");

	(void)state;
	how = VPROF_MERGE_C_KEPT;
	assert_int_equal(merge(plain, probed), VPROF_MERGE_REFERS_FURTHER);
	assert_non_null(strstr(why.s, "not_built"));
	assert_int_equal(merge(plain, plain), 0);
	how = VPROF_MERGE_C;
	assert_int_equal(merge(plain, probed), 0);
	how = VPROF_MERGE_CXX;
}

/* The parts of a function stay in two sections; tables of exceptions and strings keep their text. */
static void sections(void **state)
{
	static const char probed[] = FUNCTION(
		".globl", "_Z1fv",
		"\t.section\t.text.unlikely\n_Z1fv.cold:\n\tret\n\t.section\t.gcc_except_table\n.LLSDA1:\n\t.byte\t0xff\n") "\t.section\t.rodata._Z1fv.str1.1,\"aMSG\",@progbits,1,_Z1fv,comdat\n.LC0:\n\t.string\t\"see .LC0: %s \\\" shared\"\n";

	(void)state;
	assert_int_equal(merge(FUNCTION(".globl", "_Z1fv", "\tret\n"), probed), 0);
	assert_has("\t.section\t.text.unlikely.vp_cold,\"ax\",@progbits\n_Z1fv.cold__vp:\n");
	assert_has(".Lvp_LSDA1:\n\t.byte\t0xff\n");
	assert_has("\t.section\t.rodata\n.Lvp_C0:\n\t.string\t\"see .LC0: %s \\\" shared\"\n");
}

#define ENTRY "\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n"
#define WITH_ENTRY(name, body)                                                                                         \
	FUNCTION(".globl", name,                                                                                       \
		 "\t.section\t__patchable_function_entries,\"awo\",@progbits," name                                    \
		 "\n\t.align 8\n\t.quad\t.LPFE1\n\t.text\n.LPFE1:\n" ENTRY body)
#define SITE "#APP\n\t.pushsection vp_live,\"aw\"\n17:\t.8byte 0, 0\n\t.popsection\n#NO_APP\n"

/* Does the function of that name begin with an entry, behind its labels? */
static void assert_entry(const char *name, int expected)
{
	const char *at = strstr(out.s, name);

	assert_non_null(at);
	at = strstr(at, ".LPFE1:\n") + strlen(".LPFE1:\n");
	if ((strncmp(at, ENTRY, strlen(ENTRY)) == 0) != expected)
		fail_msg("%s:%.80s", name, at);
	assert_null(strstr(out.s, "__patchable"));
}

/* Opening it must make no difference: its twin holds no site, and goes on to no other function. */
static void entries_that_are_spared(void **state)
{
	static const char plain[] = WITH_ENTRY("_Z4leafv", "\tnop\n\tret\n") WITH_ENTRY("_Z6probedv", "\tret\n")
		WITH_ENTRY("_Z6callerv", "\tret\n") WITH_ENTRY("_Z4tailv", "\tret\n")
			WITH_ENTRY("_Z7pointerv", "\tret\n") WITH_ENTRY("_Z4onlyv", "\tret\n")
				WITH_ENTRY("jumps", "\tret\n") WITH_ENTRY("_Z4movev", "\tret\n")
					WITH_ENTRY("_Z6probedv.isra.0", "\tret\n") WITH_ENTRY("_ZN1aC2Ev", "\tret\n")
						WITH_ENTRY("_Z5thunkv", "\tret\n");
	static const char probed[] = FUNCTION(".globl", "_Z4leafv", ".L2:\n\tjne\t.L2\n\tret\n") FUNCTION(
		".globl", "_Z6probedv", SITE "\tret\n") FUNCTION(".globl", "_Z6callerv", "\tcall\t_Z4leafv\n\tret\n")
		FUNCTION(".globl", "_Z4tailv", "\tjmp\t_Z4leafv\n") FUNCTION(".globl", "_Z7pointerv", "\tjmp\t*%rax\n")
			FUNCTION(".globl", "jumps", "\tret\n") FUNCTION(
				".globl", "_Z4movev",
				"\tret\n\t.section\t.text.unlikely\n_Z4movev.cold:\n" SITE "\tret\n")
				FUNCTION(".globl", "_ZN1aC1Ev",
					 SITE "\tret\n") "\t.set\t_ZN1aC2Ev,_ZN1aC1Ev\n" FUNCTION(".globl", "_Z5thunkv",
												  "\tjmp\t.LTHUNK0\n");

	(void)state;
	assert_int_equal(merge(plain, probed), 0);
	assert_entry("\n_Z4leafv:", 0);
	assert_has(".LPFE1:\n\tnop\n\tret\n"); /* its own, which is none of the entry's */
	assert_entry("\n_Z6probedv:", 1);
	assert_entry("\n_Z6callerv:", 1);
	assert_entry("\n_Z4tailv:", 1);
	assert_entry("\n_Z7pointerv:", 1);
	assert_entry("\n_Z4onlyv:", 1); /* another unit may have its twin */
	assert_entry("\njumps:", 0);
	assert_entry("\n_Z4movev:", 1);
	assert_entry("\n_Z6probedv.isra.0:", 0);
	assert_entry("\n_ZN1aC2Ev:", 1);
	assert_entry("\n_Z5thunkv:", 1);
}

static void entries_of_a_c_unit(void **state)
{
	struct vprof_text in = VPROF_TEXT_INIT;

	(void)state;
	vprof_text_clear(&out);
	vprof_text_add(&in, WITH_ENTRY("f", "\tret\n") WITH_ENTRY("left_out", "\tcall\tf\n\tret\n"));
	vprof_text_add(&in, WITH_ENTRY("f.constprop.0", "\tret\n") WITH_ENTRY("g", "\tret\n"));
	vprof_text_add(&in, FUNCTION(".local", "f__vp", "\tret\n") FUNCTION(".local", "g__vp", "\tret\n"));
	assert_int_equal(vprof_assembly_spare(&in, &out), 0);
	assert_entry("\nf:", 1);
	assert_entry("\nleft_out:", 0);
	assert_entry("\nf.constprop.0:", 0);
	assert_entry("\ng:", 1);
	assert_has("\nf__vp:\n.LFB1:\n\tret\n");
	vprof_text_release(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_get_names_of_their_own),
		cmocka_unit_test(calls_and_addresses),
		cmocka_unit_test(variables_are_the_first_ones),
		cmocka_unit_test(what_is_not_certain_is_refused),
		cmocka_unit_test(static_variables_of_c),
		cmocka_unit_test(static_variables_of_two_sizes),
		cmocka_unit_test(aliases_of_functions),
		cmocka_unit_test(constants_of_one_content),
		cmocka_unit_test(static_variables_of_two_contents),
		cmocka_unit_test(immediate_operands),
		cmocka_unit_test(what_leads_to_labels),
		cmocka_unit_test(weak_functions),
		cmocka_unit_test(the_larger_alignment),
		cmocka_unit_test(statements_outside_functions),
		cmocka_unit_test(what_may_not_be_there_twice),
		cmocka_unit_test(kept_functions),
		cmocka_unit_test(static_variables_that_may_be_others),
		cmocka_unit_test(sections),
		cmocka_unit_test(tables_of_classes),
		cmocka_unit_test(entries_that_are_spared),
		cmocka_unit_test(entries_of_a_c_unit),
	};

	vprof_text_init(&out);
	vprof_text_init(&why);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
