/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What init learns from a build, or from a compilation database, and how it fails. */
#include "replay_project.h"

#include <cjson/cJSON.h>

static cJSON *database(struct project *p)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	char *path = vprof_path_join(p->vprof, "compile_commands.json");
	cJSON *json;

	assert_int_equal(vprof_file_read(path, &text, NULL), 0);
	json = cJSON_Parse(text.s);
	assert_non_null(json);
	vprof_text_release(&text);
	free(path);
	return json;
}

/* "file output: arguments", paths relative to the root, argv[0] left out. */
static void check_entry(struct project *p, const cJSON *json, int i, const char *expected)
{
	const cJSON *entry = cJSON_GetArrayItem(json, i), *word;
	struct vprof_text text = VPROF_TEXT_INIT;
	size_t n = strlen(p->root) + 1;

	assert_non_null(entry);
	vprof_text_addf(&text, "%s %s:", cJSON_GetObjectItem(entry, "file")->valuestring + n,
			cJSON_GetObjectItem(entry, "output")->valuestring + n);
	cJSON_ArrayForEach(word,
			   cJSON_GetObjectItem(entry, "arguments")) if (word !=
									cJSON_GetObjectItem(entry, "arguments")->child)
		vprof_text_addf(&text, " %s", word->valuestring);
	assert_string_equal(text.s, expected);
	vprof_text_release(&text);
}

static void build_is_observed(void **state)
{
	struct project p;
	cJSON *json;

	(void)state;
	project_init(&p, "PATH=$PWD/bin:$PATH ./build.sh");
	project_write(&p, "a.c", "int main(void) { return 0; }\n");
	project_write(&p, "sub/b.c", "int b;\n");
	project_write(&p, "s.S", "\n");
	project_write(&p, "conftest.c", "int c;\n");
	project_write(&p, "opts.rsp", "-O1 '-DWORDS=\"two words\"'\n");
	project_write(&p, "bin/mycc", "#!/bin/sh\nexec gcc \"$@\"\n");
	project_write(&p, "bin/gcc", "#!/bin/sh\nexec /usr/bin/gcc \"$@\"\n"); /* a compiler that runs a compiler */
	project_write(&p, "build.sh",
		      "#!/bin/sh\nset -e\n"
		      "gcc -c a.c sub/b.c -DX=\\\"x\\\"\n" /* two sources */
		      "gcc -E a.c >/dev/null; gcc -S a.c; gcc -MM a.c; gcc -fsyntax-only a.c\n"
		      "gcc -c conftest.c; gcc -c s.S; gcc -c a.c -o /dev/null\n"
		      "gcc -c broken.c 2>/dev/null || true\n"
		      "gcc @opts.rsp -MD a.c sub/b.c -o prog -lm\n"
		      "cd sub && mycc -shared -fPIC b.c -o ../libb.so\n");
	project_shell(&p, 0, "chmod +x build.sh bin/*");
	if (vprof_observe_build(p.build, p.root, p.vprof, NULL, &p.err))
		fail_msg("%s", p.err.message);
	json = database(&p);
	assert_int_equal(cJSON_GetArraySize(json), 5);
	check_entry(&p, json, 0, "a.c a.o: -c a.c -DX=\"x\" -o a.o");
	check_entry(&p, json, 1, "sub/b.c b.o: -c sub/b.c -DX=\"x\" -o b.o");
	check_entry(&p, json, 2, "a.c prog: -O1 -DWORDS=\"two words\" -MD a.c sub/b.c -o prog -lm");
	check_entry(&p, json, 3, "sub/b.c prog: -O1 -DWORDS=\"two words\" -MD a.c sub/b.c -o prog -lm");
	check_entry(&p, json, 4, "sub/b.c libb.so: -shared -fPIC b.c -o ../libb.so");
	project_check_output(&p, "grep -c '\"output\"' .vprof/link_commands.json", "2\n");
	cJSON_Delete(json);
	project_remove(&p);
}

/* Clang's precompiled headers, in every way to name them, become the headers; sources that the build removes are told.
 */
static void headers_and_lost_sources(void **state)
{
	struct vprof_text notes = VPROF_TEXT_INIT;
	struct project p;
	cJSON *json;

	(void)state;
	project_init(&p, "cp bin/cc gcc; PATH=$PWD:$PATH ./build.sh");
	project_write(&p, "all.h", "int all;\n");
	project_write(&p, "other.h", "int other;\n");
	project_write(&p, "a.c", "int a;\n");
	project_write(&p, "bin/cc", "#!/bin/sh\nfor word; do\n  [ \"$o\" = -o ] && : >\"$word\"\n  o=$word\ndone\n");
	project_write(&p, "build.sh",
		      "#!/bin/sh\nset -e\n"
		      "gcc -x c-header all.h -o all.h.pch; gcc -x c-header other.h -o made.pch\n"
		      "gcc -O1 -include-pch all.h.pch -c a.c -o 1.o\n"
		      "gcc -Xclang -include-pch -Xclang all.h.pch -Xclang -include -Xclang all.h -c a.c -o 2.o\n"
		      "gcc -Xclang -include-pch -Xclang made.pch -c a.c -o 3.o\n"
		      "gcc -include-pch lost.pch -c a.c -o 4.o\n"
		      "cp a.c gone.c; gcc -c gone.c -o gone.o; rm gone.c\n");
	project_shell(&p, 0, "chmod +x build.sh bin/*");
	if (vprof_observe_build(p.build, p.root, p.vprof, &notes, &p.err))
		fail_msg("%s", p.err.message);
	json = database(&p);
	assert_int_equal(cJSON_GetArraySize(json), 4);
	check_entry(&p, json, 0, "a.c 1.o: -include all.h -O1 -c a.c -o 1.o");
	check_entry(&p, json, 1, "a.c 2.o: -include all.h -c a.c -o 2.o");
	project_check_output(&p, "grep -c '/other.h\"' .vprof/compile_commands.json", "1\n");
	check_entry(&p, json, 3, "a.c 4.o: -include-pch lost.pch -c a.c -o 4.o");
	assert_int_equal(strncmp(notes.s, "gone.c no longer exists after the build", 39), 0);
	cJSON_Delete(json);
	vprof_text_release(&notes);
	project_remove(&p);
}

static void build_fails(void **state)
{
	struct project p;

	(void)state;
	project_init(&p, "gcc -c a.c");
	project_write(&p, "a.c", "int f(void) { return wrong; }\n");
	assert_int_equal(vprof_observe_build(p.build, p.root, p.vprof, NULL, &p.err), VPROF_ERR_BUILD);
	assert_non_null(strstr(p.err.message, "a.c:1"));
	assert_non_null(strstr(p.err.message, "init-build.log"));
	assert_int_equal(vprof_observe_build("true", p.root, p.vprof, NULL, &p.err), VPROF_ERR_INPUT);
	assert_non_null(strstr(p.err.message, "clean first"));
	assert_int_equal(vprof_observe_build("true", "/nowhere", p.vprof, NULL, &p.err), VPROF_ERR_INPUT);
	project_remove(&p);
}

/* The build goes on where bear, which stops being reached, made it stop; twice, and no more. Of a.c's compiler only the
 * start is known. */
static void bear_is_not_reached(void **state)
{
	struct vprof_text notes = VPROF_TEXT_INIT;
	struct project p;
	cJSON *json;

	(void)state;
	project_init(&p, "PATH=$PWD/bin:$PATH ./build.sh");
	project_write(&p, "a.c", "int a;\n");
	project_write(&p, "b.c", "int b;\n");
	project_write(&p, "bin/gcc", "#!/bin/sh\n/usr/bin/gcc \"$@\"\n[ -e b.o ] || kill -9 $PPID\n");
	project_write(&p, "build.sh",
		      "#!/bin/sh\nfail() { echo 'wrapper: failed with: gRPC call failed: timeout' >&2; exit 1; }\n"
		      "echo >>started\n"
		      "[ -e a.o ] || gcc -c a.c || fail\n"
		      "[ -e b.o ] || /usr/bin/gcc -c b.c\n"
		      "[ -e never ] && fail\n"
		      "touch never\n");
	project_shell(&p, 0, "chmod +x build.sh bin/gcc");
	if (vprof_observe_build(p.build, p.root, p.vprof, &notes, &p.err))
		fail_msg("%s", p.err.message);
	json = database(&p);
	assert_int_equal(cJSON_GetArraySize(json), 2);
	check_entry(&p, json, 0, "a.c a.o: -c a.c -o a.o");
	check_entry(&p, json, 1, "b.c b.o: -c b.c -o b.o");
	assert_non_null(strstr(notes.s, "was lost once"));
	project_check_output(&p, "wc -l <started", "2\n");
	assert_int_equal(vprof_observe_build(p.build, p.root, p.vprof, NULL, &p.err), VPROF_ERR_BUILD);
	assert_non_null(strstr(p.err.message, "if that does not help, run vprof doctor"));
	project_check_output(&p, "wc -l <started", "5\n");
	cJSON_Delete(json);
	vprof_text_release(&notes);
	project_remove(&p);
}

static void bear_is_missing(void **state)
{
	struct project p;
	char *path = strdup(getenv("PATH"));

	(void)state;
	project_init(&p, "true");
	setenv("PATH", p.root, 1);
	assert_int_equal(vprof_observe_build(p.build, p.root, p.vprof, NULL, &p.err), VPROF_ERR_MISSING);
	setenv("PATH", path, 1);
	assert_non_null(strstr(p.err.message, "apt install bear"));
	project_remove(&p);
	free(path);
}

static int import(struct project *p, const char *text)
{
	char *path = vprof_path_join(p->root, "db.json");
	int rc;

	project_write(p, "db.json", text);
	rc = vprof_import_build(path, p->vprof, &p->err);
	free(path);
	return rc;
}

static void database_is_imported(void **state)
{
	struct project p;
	cJSON *json;

	(void)state;
	project_init(&p, "true");
	project_write(&p, "a.c", "int main(void) { return 0; }\n");
	project_write(&p, "sub/b.c", "int b;\n");
	assert_int_equal(
		import(&p, "[{\"directory\":\".\",\"file\":\"a.c\",\"command\":\"ccache gcc -D 'A=\\\"x y\\\"' "
			   "-c a.c\"},"
			   "{\"directory\":\"sub\",\"file\":\"b.c\",\"arguments\":[\"cc\",\"-c\",\"b.c\",\"-ob.o\"]},"
			   "{\"directory\":\".\",\"file\":\"gone.c\",\"command\":\"cc -c gone.c\"}]"),
		0);
	json = database(&p);
	assert_int_equal(cJSON_GetArraySize(json), 2);
	check_entry(&p, json, 0, "a.c a.o: gcc -D A=\"x y\" -c a.c -o a.o");
	check_entry(&p, json, 1, "sub/b.c sub/b.o: -c b.c -ob.o");
	cJSON_Delete(json);

	assert_int_equal(import(&p, "{\"directory\":1}"), VPROF_ERR_INPUT);
	assert_int_equal(import(&p, "[{\"directory\":\".\",\"file\":\"a.c\"}]"), VPROF_ERR_INPUT);
	assert_int_equal(import(&p, "[{\"directory\":\".\",\"file\":\"a.c\",\"command\":\"cc 'a.c\"}]"),
			 VPROF_ERR_INPUT);
	assert_int_equal(import(&p, "[{\"directory\":\".\",\"file\":\"a.c\",\"arguments\":[1]}]"), VPROF_ERR_INPUT);
	assert_int_equal(import(&p, "[{\"directory\":\".\",\"file\":\"a.c\",\"arguments\":[]}]"), VPROF_ERR_INPUT);
	project_shell(&p, 0, "gcc a.c -o prog");
	assert_int_equal(import(&p, "[{\"directory\":\".\",\"file\":\"a.c\",\"command\":\"cc -c a.c -o prog\"}]"),
			 VPROF_ERR_INPUT);
	assert_non_null(strstr(p.err.message, "vprof init --"));
	project_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_is_observed), cmocka_unit_test(headers_and_lost_sources),
		cmocka_unit_test(build_fails),	     cmocka_unit_test(bear_is_not_reached),
		cmocka_unit_test(bear_is_missing),   cmocka_unit_test(database_is_imported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
