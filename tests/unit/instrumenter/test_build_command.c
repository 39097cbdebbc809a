/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiler command lines taken apart, shell words, and what is shown of a build's output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "instrumenter/build_command.h"
#include "instrumenter/build_log.h"

static void parse(struct vprof_command *c, const char *text)
{
	size_t n;
	char **words = vprof_words_split(text, &n);

	assert_non_null(words);
	assert_int_equal(vprof_command_parse(c, (const char *const *)words, n, NULL), 0);
	vprof_words_free(words);
}

static void check(const char *text, enum vprof_compile_step step, const char *output, const char *source,
		  size_t n_sources, size_t n_inputs)
{
	struct vprof_command c;

	parse(&c, text);
	assert_int_equal(c.step, step);
	if (output)
		assert_string_equal(c.output, output);
	else
		assert_null(c.output);
	assert_int_equal(c.n_sources, n_sources);
	assert_int_equal(c.n_inputs, n_inputs);
	if (n_sources)
		assert_string_equal(c.argv[c.sources[0]], source);
	vprof_command_release(&c);
}

static void commands(void **state)
{
	struct vprof_command none;

	(void)state;
	check("gcc -c -o a.o a.c", VPROF_STEP_COMPILE, "a.o", "a.c", 1, 0);
	check("ccache distcc g++-12 -I inc.c -D x.c -oa.o -include y.c -MF d.c a.cc -c", VPROF_STEP_COMPILE, "a.o",
	      "a.cc", 1, 0);
	check("cc a.c b.c c.o libd.a -lm -o prog", VPROF_STEP_LINK, "prog", "a.c", 2, 2);
	check("clang --output=x -c -x c file.inc -x none t.s", VPROF_STEP_COMPILE, "x", "file.inc", 1, 1);
	check("gcc -x assembler-with-cpp -c a.c", VPROF_STEP_COMPILE, NULL, NULL, 0, 1);
	check("gcc -E a.c", VPROF_STEP_OTHER, NULL, "a.c", 1, 0);
	check("gcc -MM a.c", VPROF_STEP_OTHER, NULL, "a.c", 1, 0);
	check("gcc --version", VPROF_STEP_OTHER, NULL, NULL, 0, 0);
	check("gcc -c -MMD -MT a.c -Wl,a.c -Xlinker b.c main.c", VPROF_STEP_COMPILE, NULL, "main.c", 1, 0);
	assert_int_equal(vprof_command_parse(&none, NULL, 0, NULL), VPROF_ERR_INPUT);
	vprof_command_release(&none);
}

static void compilers(void **state)
{
	static const char *const yes[] = {
		"gcc", "/usr/bin/cc",	    "g++",	"clang-19", "x86_64-linux-gnu-gcc-12", "c++",
		"c99", "arm-none-eabi-g++", "gcc-12.2", "clang++"
	};
	static const char *const no[] = { "ld", "gcc-ar", "gcc-ranlib-12", "cc1", "collect2", "sh", "ccache", "",
					  "-",	"12" };

	(void)state;
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		if (!vprof_is_compiler(yes[i]))
			fail_msg("%s", yes[i]);
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		if (vprof_is_compiler(no[i]))
			fail_msg("%s", no[i]);
	assert_true(vprof_is_compiler_prefix("/usr/bin/ccache"));
}

static void words(void **state)
{
	static const char *const expected[] = { "a", "b c", "d\"e", "", "f'g\\n", "h i", "x" };
	size_t n;
	char **w = vprof_words_split(" a 'b c'\t\"d\\\"e\" '' \"f'g\\n\" h\\ i \\\nx ", &n);

	(void)state;
	assert_non_null(w);
	assert_int_equal(n, 7);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(w[i], expected[i]);
	vprof_words_free(w);
	assert_null(vprof_words_split("a 'b", &n));
	w = vprof_words_split("  ", &n);
	assert_int_equal(n, 0);
	vprof_words_free(w);
}

static void excerpt(void **state)
{
	struct vprof_text out = VPROF_TEXT_INIT;

	(void)state;
	vprof_build_excerpt(&out, "cc a.c\n/s/a.c: In function 'f':\n/s/a.c:1: error: no\nnext\nlast\n", 3, "/s/",
			    "/root/");
	assert_string_equal(out.s, "  /root/a.c: In function 'f':\n  /root/a.c:1: error: no\n  next\n");
	vprof_text_clear(&out);
	vprof_build_excerpt(&out, "one\ntwo\nthree\n", 2, NULL, NULL);
	assert_string_equal(out.s, "  two\n  three\n");
	vprof_text_clear(&out);
	vprof_build_excerpt(&out, "", 2, NULL, NULL);
	assert_string_equal(out.s, "");
	vprof_text_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(commands), cmocka_unit_test(compilers),
					    cmocka_unit_test(words), cmocka_unit_test(excerpt) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
