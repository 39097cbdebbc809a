/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands that compile and link in one step, and build scripts that compile everything anew each time. */
#include "replay_project.h"

static void write_sources(struct project *p)
{
	project_write(p, "a.c",
		      "#include <stdio.h>\nconst char *b(void);\nint main(void)\n{\n"
		      "\tprintf(\"a %s %s\\n\", b(), __FILE__);\n\treturn 0;\n}\n");
	project_write(p, "b.c", "const char *b(void) { return \"b\"; }\n");
}

static void rounds(struct project *p, size_t n_first, size_t n_second)
{
	char *before = project_snapshot(p, NULL);

	project_check_output(p, "./prog", "a b a.c\n");
	project_edit(p, "a.c", "\"a ", "\"A ");
	project_check_replay(p, n_first, 0);
	project_check_output(p, "./prog", "A b a.c\n");
	project_edit(p, "b.c", "\"b\"", "\"B\"");
	project_check_replay(p, n_second, 0);
	project_check_output(p, "./prog", "A B a.c\n");
	project_check_replay(p, 0, 0);
	project_check_output(p, "./prog", "A B a.c\n");
	project_edit(p, "a.c", "return 0", "return broken");
	assert_int_equal(project_replay(p), VPROF_ERR_BUILD);
	assert_non_null(strstr(p->err.message, "a.c:6"));
	project_check_output(p, "./prog", "A B a.c\n");
	project_edit(p, "a.c", NULL, NULL);
	if (project_replay(p))
		fail_msg("%s", p->err.message);
	project_check_output(p, "./prog", "a B a.c\n");
	assert_int_equal(vprof_restore(p->vprof, NULL, &p->err), 0);
	project_check_snapshot(p, NULL, before);
	free(before);
}

static void by_make(void **state)
{
	struct project p;

	(void)state;
	project_init(&p, "make");
	write_sources(&p);
	project_write(&p, "Makefile", "prog: a.c b.c\n\tgcc -O1 -MMD a.c b.c -o prog -lm\n");
	project_observe(&p);
	assert_int_equal(p.facts->n_tus, 2);
	rounds(&p, 1, 1);
	project_shell(&p, 0, "make -q");
	project_remove(&p);
}

static void by_script(void **state)
{
	struct project p;

	(void)state;
	project_init(&p, "gcc -O1 -g a.c b.c -o prog -lpthread");
	write_sources(&p);
	project_observe(&p);
	rounds(&p, 1, 1);
	project_remove(&p);
}

/* Objects and an archive, all made anew by each run of the script. */
static void script_with_objects(void **state)
{
	struct project p;
	char *log;

	(void)state;
	project_init(&p, "gcc -c a.c && gcc -O2 -c b.c -o obj/b.o && ar rcs libb.a obj/b.o && gcc a.o -L. -lb -o prog");
	write_sources(&p);
	project_write(&p, "obj/keep", "");
	project_observe(&p);
	rounds(&p, 1, 1);
	project_edit(&p, "b.c", "\"b\"", "\"B\"");
	project_check_replay(&p, 1, 0);
	log = project_log(&p);
	assert_non_null(strstr(log, "linking without it"));
	free(log);
	project_check_output(&p, "./prog", "a B a.c\n");
	project_remove(&p);
}

/* A program linked in one step from a source and an object made earlier. */
static void source_and_object(void **state)
{
	struct project p;

	(void)state;
	project_init(&p, "make");
	write_sources(&p);
	project_write(&p, "Makefile", "prog: a.c b.o\n\tgcc -O1 a.c b.o -o prog\n");
	project_observe(&p);
	rounds(&p, 1, 2); /* b.o, and prog again with it */
	project_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_make),
		cmocka_unit_test(by_script),
		cmocka_unit_test(script_with_objects),
		cmocka_unit_test(source_and_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
