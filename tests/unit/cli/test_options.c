/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/options.h"

static struct {
	int flag;
	const char *text;
	long count;
	double share;
	struct vprof_operands operands;
} got;

static int parse(char **argv)
{
	static const struct vprof_usage usage = { .synopsis = "try [WORD]",
						  .purpose = "Tries.",
						  .example = "  vprof try",
						  .max_operands = 1,
						  .takes_command = 1 };
	const struct vprof_option options[] = {
		{ "flag", VPROF_OPTION_FLAG, &got.flag, NULL, "a flag" },
		{ "text", VPROF_OPTION_TEXT, &got.text, "TEXT", "a text" },
		{ "count", VPROF_OPTION_COUNT, &got.count, "N", "a count" },
		{ "share", VPROF_OPTION_SHARE, &got.share, "D", "a share" },
		{ "colour", VPROF_OPTION_TEXT, &got.text, "C", "a colour", 'c' },
		{ NULL },
	};
	int argc = 0;

	while (argv[argc])
		argc++;
	got.flag = 0;
	got.text = NULL;
	got.count = 0;
	got.share = 0;
	return vprof_options_parse(&usage, options, argc, argv, &got.operands);
}

#define PARSE(...) parse((char *[]){ (char[]){ "try" }, __VA_ARGS__, NULL })
#define S(s) ((char[]){ s })

static void values(void **state)
{
	(void)state;
	assert_int_equal(PARSE(S("--flag"), S("--text"), S("a"), S("word"), S("--count=7"), S("--share"), S("0.5")),
			 -1);
	assert_int_equal(got.flag, 1);
	assert_string_equal(got.text, "a");
	assert_int_equal(got.count, 7);
	assert_true(got.share == 0.5);
	assert_int_equal(got.operands.n_words, 1);
	assert_string_equal(got.operands.words[0], "word");
}

/* A letter stands for the option that has it, else for the only one that begins so. */
static void letters(void **state)
{
	(void)state;
	assert_int_equal(PARSE(S("-c"), S("red"), S("-f"), S("-s"), S("0.25")), -1);
	assert_string_equal(got.text, "red");
	assert_int_equal(got.flag, 1);
	assert_true(got.share == 0.25);
	assert_int_equal(got.count, 0);
	assert_int_equal(PARSE(S("-x")), 2);
}

static void commands(void **state)
{
	(void)state;
	assert_int_equal(PARSE(S("--"), S("make"), S("--flag")), -1);
	assert_int_equal(got.flag, 0);
	assert_int_equal(got.operands.n_command, 2);
	assert_string_equal(got.operands.command[1], "--flag");
}

static void usage_errors(void **state)
{
	(void)state;
	assert_int_equal(PARSE(S("--nothing")), 2);
	assert_int_equal(PARSE(S("a"), S("b")), 2);
	assert_int_equal(PARSE(S("--flag=1")), 2);
	assert_int_equal(PARSE(S("--text")), 2);
	assert_int_equal(PARSE(S("--count"), S("-1")), 2);
	assert_int_equal(PARSE(S("--count"), S("3x")), 2);
	assert_int_equal(PARSE(S("--count"), S("99999999999999999999")), 2);
	assert_int_equal(PARSE(S("--share"), S("1.5")), 2);
	assert_int_equal(PARSE(S("--share"), S("nan")), 2);
	assert_int_equal(PARSE(S("--")), 2);
	assert_int_equal(PARSE(S("--help")), 0);
}

static void check_shell(char **words, size_t n, const char *expected)
{
	char *line = vprof_options_shell(words, n);

	assert_string_equal(line, expected);
	free(line);
}

static void shell_lines(void **state)
{
	(void)state;
	check_shell((char *[]){ S("make -j2 && true") }, 1, "make -j2 && true");
	check_shell((char *[]){ S("make"), S("-j2"), S("CFLAGS=-O2 -g"), S("it's"), S("") }, 5,
		    "make -j2 'CFLAGS=-O2 -g' 'it'\\''s' ''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),	cmocka_unit_test(letters),     cmocka_unit_test(commands),
		cmocka_unit_test(usage_errors), cmocka_unit_test(shell_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
