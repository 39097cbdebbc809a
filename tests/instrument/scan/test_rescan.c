/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A second scan parses only what changed, keeps ids where it can, and forgets what is gone. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/facts/facts.h"
#include "common/files.h"

static char folder[] = "/tmp/vprof-rescan-XXXXXX";

static void put(const char *name, const char *content)
{
	struct vprof_error err = { "" };
	char *path = vprof_path_join(folder, name);

	if (vprof_file_write(path, content, strlen(content), &err))
		fail_msg("%s", err.message);
	free(path);
}

static void put_database(int with_b, const char *flags)
{
	struct vprof_text json = VPROF_TEXT_INIT;

	vprof_text_addf(&json, "[{\"directory\":\"%s\",\"file\":\"a.c\",\"command\":\"gcc %s -c a.c -o a.o\"}", folder,
			flags);
	if (with_b)
		vprof_text_addf(&json,
				",{\"directory\":\"%s\",\"file\":\"b.c\",\"arguments\":[\"gcc\",\"-c\",\"b.c\"]}",
				folder);
	vprof_text_add(&json, "]");
	put("compile_commands.json", json.s);
	vprof_text_release(&json);
}

/* Exit status; the number of units parsed goes to `parsed`. */
static int scan(int *parsed)
{
	struct vprof_text command = VPROF_TEXT_INIT;
	char line[512] = "";
	char *found;
	FILE *out;
	int status;

	vprof_text_addf(&command, "%s --root %s --facts %s/facts.db --jobs 2 %s/compile_commands.json 2>&1", SCANNER,
			folder, folder, folder);
	out = popen(command.s, "r");
	assert_non_null(out);
	while (fgets(line, sizeof line, out))
		;
	status = pclose(out);
	found = strstr(line, "\"parsed\":");
	*parsed = found ? atoi(found + 9) : -1;
	vprof_text_release(&command);
	return WEXITSTATUS(status);
}

static struct vprof_facts *open_facts(void)
{
	struct vprof_error err = { "" };
	struct vprof_facts *f = NULL;
	char *path = vprof_path_join(folder, "facts.db");

	if (vprof_facts_open(&f, path, &err))
		fail_msg("%s", err.message);
	free(path);
	return f;
}

static uint32_t id_of(const char *name)
{
	struct vprof_facts *f = open_facts();
	uint32_t index = 0, id;

	id = vprof_facts_find(f, name, NULL, &index, 1) == 1 ? f->functions[index].id : 0;
	vprof_facts_free(f);
	return id;
}

static void test_rescan(void **state)
{
	uint32_t in_header, in_a, in_b;
	struct vprof_error err = { "" };
	struct vprof_facts *f;
	int parsed;

	(void)state;
	put("h.h", "static inline int shared(int a) { return a; }\n");
	put("a.c", "#include \"h.h\"\nint in_a(int n) { return shared(n); }\n");
	put("b.c", "#include \"h.h\"\nint in_b(int n) { return shared(n); }\nint gone(void) { return 1; }\n");
	put_database(1, "-O2");
	assert_int_equal(scan(&parsed), 0);
	assert_int_equal(parsed, 2);
	in_header = id_of("shared");
	in_a = id_of("in_a");
	in_b = id_of("in_b");
	assert_true(in_header && in_a && in_b && id_of("gone"));

	assert_int_equal(scan(&parsed), 0); /* nothing changed */
	assert_int_equal(parsed, 0);
	f = open_facts();
	assert_int_equal(vprof_facts_check_fresh(f, &err), 0);

	put("b.c", "#include \"h.h\"\nint in_b(int n) { return shared(n) + 1; }\n"); /* one source */
	assert_int_equal(vprof_facts_check_fresh(f, &err), VPROF_ERR_STALE);
	assert_non_null(strstr(err.message, "b.c"));
	vprof_facts_free(f);
	assert_int_equal(scan(&parsed), 0);
	assert_int_equal(parsed, 1);
	assert_int_equal(id_of("shared"), in_header);
	assert_int_equal(id_of("in_a"), in_a);
	assert_int_equal(id_of("in_b"), in_b); /* same place and name: same id */
	assert_int_equal(id_of("gone"), 0);

	put("h.h", "/* moved */ static inline int shared(int a) { return a; }\n"); /* a header: both */
	assert_int_equal(scan(&parsed), 0);
	assert_int_equal(parsed, 2);
	assert_true(id_of("shared") > in_header); /* elsewhere: a new id, never an old one */
	assert_int_equal(id_of("in_a"), in_a);

	put_database(1, "-O1"); /* a changed command */
	assert_int_equal(scan(&parsed), 0);
	assert_int_equal(parsed, 1);

	put_database(0, "-O1"); /* a unit that is no more */
	assert_int_equal(scan(&parsed), 0);
	assert_int_equal(parsed, 0);
	assert_int_equal(id_of("in_b"), 0);
	assert_int_equal(id_of("in_a"), in_a);
}

static void test_bad_input(void **state)
{
	int parsed;

	(void)state;
	put("compile_commands.json", "{ broken");
	assert_int_equal(scan(&parsed), 1);
	put("compile_commands.json", "[]");
	assert_int_equal(scan(&parsed), 1);
	put_database(0, "-O1");
	put("facts.db", "this is somebody's diary, and not to be overwritten");
	assert_int_equal(scan(&parsed), 1);
	assert_int_equal(WEXITSTATUS(system(SCANNER " --jobs none 2>/dev/null")), 2);
	assert_int_equal(WEXITSTATUS(system(SCANNER " 2>/dev/null")), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rescan), cmocka_unit_test(test_bad_input) };
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	vprof_dir_remove(folder, NULL);
	return failed;
}
