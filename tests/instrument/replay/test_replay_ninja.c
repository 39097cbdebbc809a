/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CMake with Ninja, built in a subfolder: an executable, a static and a shared library. Ninja compares an object's time
 * with its log of dependencies, so that a replaced object must not look newer than the log says.
 */
#include "replay_project.h"

static const char cmake_lists[] = "cmake_minimum_required(VERSION 3.20)\nproject(example C)\n"
				  "set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\n"
				  "include_directories(include)\n"
				  "add_library(one STATIC lib/one.c)\nadd_library(two SHARED lib/two.c)\n"
				  "add_executable(prog main.c)\ntarget_link_libraries(prog one two)\n";

static void project_cmake(struct project *p)
{
	project_init(p, "cmake --build build");
	project_write(p, "CMakeLists.txt", cmake_lists);
	project_write(p, "include/api.h", "const char *one(void);\nconst char *two(void);\n");
	project_write(p, "lib/one.c", "#include \"api.h\"\nconst char *one(void) { return \"one\"; }\n");
	project_write(p, "lib/two.c", "#include \"api.h\"\nconst char *two(void) { return \"two\"; }\n");
	project_write(p, "main.c",
		      "#include <stdio.h>\n#include \"api.h\"\nint main(void)\n{\n"
		      "\tprintf(\"main %s %s\\n\", one(), two());\n\treturn 0;\n}\n");
	project_shell(p, 0, "cmake -S . -B build -G Ninja");
}

static void check_idle(struct project *p)
{
	project_check_output(p, "ninja -C build -n | tail -1", "ninja: no work to do.\n");
}

static void rounds(struct project *p)
{
	char *before = project_snapshot(p, ".ninja_");

	check_idle(p);
	project_check_output(p, "build/prog", "main one two\n");
	project_edit(p, "main.c", "\"main ", "\"MAIN ");
	project_edit(p, "lib/two.c", "\"two\"", "\"TWO\"");
	project_check_replay(p, 2, 0);
	project_check_output(p, "build/prog", "MAIN one TWO\n");
	check_idle(p);

	project_edit(p, "lib/one.c", "\"one\"", "\"ONE\"");
	project_check_replay(p, 1, 0);
	project_check_output(p, "build/prog", "MAIN ONE TWO\n");
	check_idle(p);

	project_edit(p, "lib/two.c", NULL, NULL);
	project_check_replay(p, 0, 1);
	project_check_output(p, "build/prog", "MAIN ONE two\n");
	project_check_replay(p, 0, 0);

	/* interrupted while linking: the original stands there, nothing is to be compiled */
	project_shell(p, 0,
		      "sed -i 's/\"relinking\":.*/\"relinking\": true,/' .vprof/state.json && "
		      "cp -p .vprof/original$PWD/build/prog build/prog");
	project_check_replay(p, 0, 0);
	project_check_output(p, "build/prog", "MAIN ONE two\n");

	project_edit(p, "lib/one.c", "\"one\"", "broken");
	assert_int_equal(project_replay(p), VPROF_ERR_BUILD);
	assert_non_null(strstr(p->err.message, "lib/one.c:2"));
	project_check_output(p, "build/prog", "MAIN ONE two\n");

	assert_int_equal(vprof_restore(p->vprof, NULL, &p->err), 0);
	project_check_snapshot(p, ".ninja_", before);
	check_idle(p);
	project_check_output(p, "build/prog", "main one two\n");
	free(before);
}

static void observed(void **state)
{
	struct project p;

	(void)state;
	project_cmake(&p);
	project_observe(&p);
	assert_int_equal(p.facts->n_tus, 3); /* none of CMake's own tests */
	rounds(&p);
	project_remove(&p);
}

static void imported(void **state)
{
	struct project p;
	char path[128];

	(void)state;
	project_cmake(&p);
	project_shell(&p, 0, p.build);
	snprintf(path, sizeof path, "%s/build/compile_commands.json", p.root);
	if (vprof_import_build(path, p.vprof, &p.err))
		fail_msg("%s", p.err.message);
	project_facts(&p);
	assert_int_equal(p.facts->n_tus, 3);
	rounds(&p);
	project_remove(&p);
}

/* The program gen writes a large header that main.c reads: linking gen anew makes the build compile main.c's original
 * again. */
static void generator(struct project *p, int is_imported)
{
	char path[128];

	project_init(p, "cmake --build build");
	project_write(
		p, "CMakeLists.txt",
		"cmake_minimum_required(VERSION 3.20)\nproject(example C)\nset(CMAKE_EXPORT_COMPILE_COMMANDS ON)\n"
		"add_executable(gen gen.c)\n"
		"add_custom_command(OUTPUT word.h COMMAND gen > word.h DEPENDS gen)\n"
		"include_directories(${CMAKE_CURRENT_BINARY_DIR})\nadd_executable(prog main.c other.c word.h)\n");
	project_write(p, "gen.c",
		      "#include <stdio.h>\nint main(void)\n{\n\tfor (int i = 0; i < 20000; i++)\n"
		      "\t\tputs(\"/* one line of many, so that there are more than a million bytes of them */\");\n"
		      "\tputs(\"#define WORD \\\"word\\\"\");\n\treturn 0;\n}\n");
	project_write(p, "main.c",
		      "#include <stdio.h>\n#include \"word.h\"\nconst char *other(void);\nint main(void)\n{\n"
		      "\tprintf(\"main %s %s\\n\", WORD, other());\n\treturn 0;\n}\n");
	project_write(p, "other.c", "const char *other(void) { return \"other\"; }\n");
	project_shell(p, 0, "cmake -S . -B build -G Ninja");
	if (is_imported) {
		project_shell(p, 0, p->build);
		snprintf(path, sizeof path, "%s/build/compile_commands.json", p->root);
		if (vprof_import_build(path, p->vprof, &p->err))
			fail_msg("%s", p->err.message);
		project_facts(p);
	} else {
		project_observe(p);
	}
	project_edit(p, "gen.c", "#include <stdio.h>", "#include <stdio.h> ");
	project_edit(p, "main.c", "\"main ", "\"MAIN ");
	project_edit(p, "other.c", "\"other\"", "\"OTHER\"");
	if (project_replay(p))
		fail_msg("%s", p->err.message);
	project_check_output(p, "build/prog", "MAIN word OTHER\n");
	assert_int_equal(vprof_restore(p->vprof, NULL, &p->err), 0);
	check_idle(p);
	project_remove(p);
}

static void a_generator_is_linked_anew(void **state)
{
	struct project p;

	(void)state;
	generator(&p, 0);
	generator(&p, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(observed), cmocka_unit_test(imported),
					    cmocka_unit_test(a_generator_is_linked_anew) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
