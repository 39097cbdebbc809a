/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make with an archive, a nested directory whose sub-make runs only once, dependency files and -Werror. */
#include "replay_project.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char makefile[] = "CFLAGS = -O1 -g -Wall -Wextra -Werror -Iinclude -MMD -MP\n"
			       "OBJ = main.o src/util.o\n"
			       "all: prog copy\n"
			       "copy: prog\n\tcp prog copy\n"
			       "prog: .deps $(OBJ) lib/libx.a\n"
			       "\t$(CC) -o $@ $(OBJ) -Llib -lx deps/libdep.a\n"
			       "lib/libx.a: lib/x.o lib/y.o\n\tar rcs $@ $^\n"
			       ".deps:\n\t$(MAKE) -C deps && touch $@\n"
			       "%.o: %.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\n"
			       "-include $(OBJ:.o=.d)\n"
			       "clean:\n\trm -f prog copy .deps */*.[oad] *.[od]\n";

static void project_make(struct project *p)
{
	project_init(p, "make -j2");
	project_write(p, "Makefile", makefile);
	project_write(p, "deps/Makefile", "libdep.a: dep.o\n\tar rcs $@ $^\n");
	project_write(p, "deps/dep.c", "const char *dep(void) { return \"dep\"; }\n");
	project_write(p, "include/api.h",
		      "#define WORD \"word\"\nconst char *x(void);\nconst char *y(void);\n"
		      "const char *util(void);\nconst char *dep(void);\n");
	project_write(p, "lib/x.c", "#include \"api.h\"\nconst char *x(void) { return \"x\"; }\n");
	project_write(p, "lib/y.c", "#include \"api.h\"\nconst char *y(void) { return \"y\"; }\n");
	project_write(p, "src/util.c", "#include \"api.h\"\nconst char *util(void) { return __FILE__; }\n");
	project_write(p, "main.c",
		      "#include <stdio.h>\n#include \"api.h\"\nint main(void)\n{\n"
		      "\tprintf(\"main %s %s %s %s %s %s\\n\", __FILE__, WORD, x(), y(), util(), dep());\n"
		      "\treturn 0;\n}\n");
	project_observe(p);
}

static void rounds(void **state)
{
	struct project p;
	char *before, *log;

	(void)state;
	project_make(&p);
	assert_int_equal(p.facts->n_tus, 5);
	before = project_snapshot(&p, NULL);
	project_check_output(&p, "./prog", "main main.c word x y src/util.c dep\n");

	project_edit(&p, "main.c", "\"main ", "\"MAIN ");
	project_edit(&p, "lib/x.c", "\"x\"", "\"X\"");
	project_check_replay(&p, 2, 0);
	assert_int_equal(p.result.n_units, 5);
	project_check_output(&p, "./prog; ./copy",
			     "MAIN main.c word X y src/util.c dep\n"
			     "MAIN main.c word X y src/util.c dep\n");
	log = project_log(&p);
	assert_non_null(strstr(log, "compile main.o\n"));
	assert_non_null(strstr(log, "compile lib/x.o\n"));
	assert_null(strstr(log, "compile lib/y.o\n"));
	free(log);
	project_shell(&p, 0, "make -q");

	project_edit(&p, "deps/dep.c", "\"dep\"", "\"DEP\""); /* an archive that the build never remakes */
	project_check_replay(&p, 1, 0);
	project_check_output(&p, "./prog", "MAIN main.c word X y src/util.c DEP\n");

	project_edit(&p, "lib/x.c", NULL, NULL);
	project_check_replay(&p, 0, 1);
	project_check_output(&p, "./copy", "MAIN main.c word x y src/util.c DEP\n");
	project_check_replay(&p, 0, 0);

	project_edit(&p, "include/api.h", "\"word\"", "\"WORD\""); /* all that include it */
	project_check_replay(&p, 4, 0);
	project_check_output(&p, "./prog", "MAIN main.c WORD x y src/util.c DEP\n");

	project_edit(&p, "include/api.h", NULL, NULL);
	project_edit(&p, "deps/dep.c", NULL, NULL);
	project_edit(&p, "main.c", NULL, NULL);
	project_check_replay(&p, 0, 5);
	project_check_output(&p, "./prog", "main main.c word x y src/util.c dep\n");

	project_edit(&p, "main.c", "\"main ", "\"Main ");
	project_check_replay(&p, 1, 0);
	project_check_output(&p, "./prog", "Main main.c word x y src/util.c dep\n");

	assert_int_equal(vprof_restore(p.vprof, NULL, &p.err), 0);
	project_check_snapshot(&p, NULL, before);
	project_shell(&p, 0, "make -q");
	project_remove(&p);
	free(before);
}

static void restore_again_and_again(void **state)
{
	struct project p;
	char *before;
	size_t n;

	(void)state;
	project_make(&p);
	before = project_snapshot(&p, NULL);
	assert_int_equal(vprof_restore(p.vprof, &n, &p.err), 0); /* nothing was replaced yet */
	assert_int_equal(n, 0);
	project_edit(&p, "lib/y.c", "\"y\"", "\"Y\"");
	project_check_replay(&p, 1, 0);
	project_shell(&p, 0, "mkdir .vprof/runs && echo kept > .vprof/session.json");
	assert_int_equal(vprof_restore(p.vprof, &n, &p.err), 0);
	assert_int_equal(n, 4); /* lib/y.o, lib/libx.a, prog, copy */
	project_check_snapshot(&p, NULL, before);
	assert_int_equal(vprof_restore(p.vprof, &n, &p.err), 0);
	assert_int_equal(n, 0);
	project_check_output(&p, "ls .vprof",
			     "build.log\ncompile_commands.json\nfacts.db\ninit-build.log\ninit-command\n"
			     "link_commands.json\nruns\nsession.json\n");
	project_check_snapshot(&p, NULL, before);
	project_remove(&p);
	free(before);
}

static void failing_compile(void **state)
{
	struct project p;
	char *before;

	(void)state;
	project_make(&p);
	before = project_snapshot(&p, NULL);
	project_edit(&p, "lib/x.c", "return", "return broken +");
	project_edit(&p, "main.c", "\"main ", "\"MAIN ");
	assert_int_equal(project_replay(&p), VPROF_ERR_BUILD);
	assert_non_null(strstr(p.err.message, "lib/x.c"));
	assert_non_null(strstr(p.err.message, "broken"));
	assert_non_null(strstr(p.err.message, "build.log"));
	assert_non_null(strstr(p.err.message, "vprof restore"));
	assert_null(strstr(p.err.message, ".vprof/src"));
	project_check_snapshot(&p, NULL, before); /* nothing was replaced, also not main.o */
	project_edit(&p, "lib/x.c", "\"x\"", "\"X\"");
	project_check_replay(&p, 2, 0);
	project_check_output(&p, "./prog", "MAIN main.c word X y src/util.c dep\n");
	assert_int_equal(vprof_restore(p.vprof, NULL, &p.err), 0);
	project_check_snapshot(&p, NULL, before);
	project_remove(&p);
	free(before);
}

static void failing_link(void **state)
{
	struct project p;
	char *before;

	(void)state;
	project_make(&p);
	before = project_snapshot(&p, NULL);
	project_edit(&p, "lib/x.c", "const char *x(", "extern int nowhere(void);\nconst char *x(");
	project_edit(&p, "main.c", "return 0", "extern int nowhere(void);\n\treturn nowhere()");
	assert_int_equal(project_replay(&p), VPROF_ERR_BUILD);
	assert_non_null(strstr(p.err.message, "nowhere"));
	assert_non_null(strstr(p.err.message, "vprof restore"));
	assert_int_equal(vprof_restore(p.vprof, NULL, &p.err), 0);
	project_check_snapshot(&p, NULL, before);
	project_remove(&p);
	free(before);
}

/* The user cleans, or builds anew, between two rounds: the objects are made first, and saved again when they differ. */
static void user_builds_meanwhile(void **state)
{
	struct project p;
	char *before;

	(void)state;
	project_make(&p);
	project_edit(&p, "main.c", "\"main ", "\"MAIN ");
	project_check_replay(&p, 1, 0);
	project_shell(&p, 0, "make clean");
	project_check_replay(&p, 1, 0);
	project_check_output(&p, "./prog", "MAIN main.c word x y src/util.c dep\n");

	project_write(&p, "main.c",
		      "#include <stdio.h>\n#include \"api.h\"\nint main(void)\n{\n"
		      "\tputs(\"main again\");\n\treturn 0;\n}\n");
	project_shell(&p, 0, "make clean && make");
	before = project_snapshot(&p, NULL);
	project_check_output(&p, "./prog", "main again\n");
	project_facts(&p);
	project_edit(&p, "main.c", "\"main ", "\"MAIN ");
	project_check_replay(&p, 1, 0);
	project_check_output(&p, "./prog", "MAIN again\n");
	assert_int_equal(vprof_restore(p.vprof, NULL, &p.err), 0);
	project_check_snapshot(&p, NULL, before);
	project_shell(&p, 0, "make -q");
	project_remove(&p);
	free(before);
}

/* One object was built anew by the user: restore gives that one back, and make links it. */
static void user_builds_one(void **state)
{
	struct project p;

	(void)state;
	project_make(&p);
	project_edit(&p, "main.c", "\"main ", "\"MAIN ");
	project_edit(&p, "lib/y.c", "\"y\"", "\"Y\"");
	project_check_replay(&p, 2, 0);
	project_write(&p, "lib/y.c", "#include \"api.h\"\nconst char *y(void) { return \"why\"; }\n");
	project_shell(&p, 0, "make");
	project_check_output(&p, "./prog", "MAIN main.c word x why src/util.c dep\n");
	project_facts(&p);
	project_edit(&p, "lib/y.c", "\"why\"", "\"WHY\"");
	project_check_replay(&p, 1, 0);
	project_check_output(&p, "./prog", "MAIN main.c word x WHY src/util.c dep\n");
	assert_int_equal(vprof_restore(p.vprof, NULL, &p.err), 0);
	project_shell(&p, 0, "make");
	project_check_output(&p, "./prog", "main main.c word x why src/util.c dep\n");
	project_remove(&p);
}

/* Without link commands (an imported database) what is newer than the objects is linked again. */
static void unknown_links(void **state)
{
	struct project p;
	char *before;

	(void)state;
	project_make(&p);
	project_shell(&p, 0, "rm .vprof/link_commands.json");
	before = project_snapshot(&p, NULL);
	project_edit(&p, "deps/dep.c", "\"dep\"", "\"DEP\"");
	project_check_replay(&p, 1, 0);
	project_check_output(&p, "./prog", "main main.c word x y src/util.c DEP\n");
	assert_int_equal(vprof_restore(p.vprof, NULL, &p.err), 0);
	project_check_snapshot(&p, NULL, before);
	project_remove(&p);
	free(before);
}

/* Ctrl-C while the compiler runs: nothing was replaced. It reads a pipe that nothing is written to; opening that for
 * writing waits until the compiler has opened it. */
static void interrupted(void **state)
{
	struct project p;
	char *before, pipe_path[256];
	pid_t child;
	int status, pipe_end;

	(void)state;
	project_make(&p);
	before = project_snapshot(&p, NULL);
	snprintf(pipe_path, sizeof pipe_path, "%s/src/lib/pipe.h", p.vprof);
	project_edit(&p, "main.c", "\"main ", "\"MAIN ");
	project_edit(&p, "lib/x.c", "\"api.h\"", "\"api.h\"\n#include \"pipe.h\"");
	project_shell(&p, 0, "mkfifo .vprof/src/lib/pipe.h");
	child = fork();
	if (!child)
		_exit(project_replay(&p) == VPROF_ERR_FAILED && strstr(p.err.message, "interrupted") ? 7 : 8);
	pipe_end = open(pipe_path, O_WRONLY | O_CLOEXEC);
	assert_true(pipe_end >= 0);
	kill(child, SIGINT);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(pipe_end);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	/* nothing is left but what the next replay can take: whole objects */
	project_shell(&p, 1, "ls .vprof/tmp | grep -v '^[0-9a-f]\\{16\\}$'");
	project_shell(&p, 0, "for d in .vprof/tmp/*; do [ ! -e $d ] || [ -s $d/main.o ]; done");
	project_check_snapshot(&p, NULL, before);
	project_edit(&p, "lib/x.c", NULL, NULL);
	project_check_replay(&p, 1, 0);
	project_shell(&p, 2, "ls .vprof/tmp");
	project_check_output(&p, "./prog", "MAIN main.c word x y src/util.c dep\n");
	project_remove(&p);
	free(before);
}

static void damaged_state(void **state)
{
	struct project p;
	char *before;

	(void)state;
	project_make(&p);
	before = project_snapshot(&p, NULL);
	project_edit(&p, "main.c", "\"main ", "\"MAIN ");
	project_check_replay(&p, 1, 0);
	project_shell(
		&p, 0,
		"cp .vprof/original.json o; echo '{\"version\":1,\"objects\":[{\"path\":3}]}' > .vprof/state.json");
	assert_int_equal(project_replay(&p), VPROF_ERR_CORRUPT);
	assert_non_null(strstr(p.err.message, "vprof restore"));
	project_shell(&p, 0, "sed -i 's,\"path\":.*,\"path\": \"/etc/../etc/passwd\"\\,,' .vprof/original.json");
	assert_int_equal(vprof_restore(p.vprof, NULL, &p.err), VPROF_ERR_CORRUPT);
	project_shell(&p, 0, "mv o .vprof/original.json; d=.vprof/original$PWD; cp $d/prog p; echo >> $d/prog");
	assert_int_equal(vprof_restore(p.vprof, NULL, &p.err), VPROF_ERR_FAILED); /* the others are back */
	assert_non_null(strstr(p.err.message, "prog"));
	project_shell(&p, 0, "mv p .vprof/original$PWD/prog");
	assert_int_equal(vprof_restore(p.vprof, NULL, &p.err), 0);
	project_check_snapshot(&p, NULL, before);
	project_remove(&p);
	free(before);
}

/* ccache knows the object of a unit that read words.h over the shadow tree's link; words.h is edited then. */
static void ccache_with_a_base_folder(void **state)
{
	struct project p;

	(void)state;
	project_init(&p, "make");
	if (system("command -v ccache >/dev/null")) {
		project_remove(&p);
		print_message("skipped: ccache: there is none (./setup installs it)\n");
		skip();
	}
	project_write(&p, "Makefile",
		      "CC = ccache gcc\nprog: main.o\n\t$(CC) -o $@ $^\nmain.o: main.c words.h other.h\n");
	project_write(&p, "words.h", "#define WORD \"word\"\n");
	project_write(&p, "other.h", "#define OTHER \"other\"\n");
	project_write(&p, "main.c",
		      "#include <stdio.h>\n#include \"words.h\"\n#include \"other.h\"\n"
		      "int main(void)\n{\n\tputs(WORD \" \" OTHER);\n\treturn 0;\n}\n");
	setenv("CCACHE_DIR", p.vprof, 1);
	setenv("CCACHE_BASEDIR", p.root, 1);
	setenv("CCACHE_NOHASHDIR", "1", 1);
	/* files this young are not looked up else */
	setenv("CCACHE_SLOPPINESS", "include_file_mtime,include_file_ctime", 1);
	project_observe(&p);
	project_edit(&p, "other.h", "\"other\"", "\"OTHER\"");
	project_check_replay(&p, 1, 0);
	project_check_output(&p, "./prog", "word OTHER\n");
	project_edit(&p, "words.h", "\"word\"", "\"WORD\"");
	project_check_replay(&p, 1, 0);
	project_check_output(&p, "./prog", "WORD OTHER\n");
	unsetenv("CCACHE_DIR");
	unsetenv("CCACHE_BASEDIR");
	unsetenv("CCACHE_NOHASHDIR");
	unsetenv("CCACHE_SLOPPINESS");
	project_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds),
		cmocka_unit_test(restore_again_and_again),
		cmocka_unit_test(failing_compile),
		cmocka_unit_test(failing_link),
		cmocka_unit_test(user_builds_meanwhile),
		cmocka_unit_test(user_builds_one),
		cmocka_unit_test(unknown_links),
		cmocka_unit_test(damaged_state),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(ccache_with_a_base_folder),
	};

	signal(SIGINT, SIG_DFL); /* ignored by what a shell runs in the background */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
