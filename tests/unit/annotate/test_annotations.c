/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof.json's reader: the model it makes of a good file, its message for every kind of wrong file, and that no
 * cut or damaged file does it harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "annotate/check/annotation_keys.h"
#include "annotate/check/annotations.h"
#include "common/json_places.h"
#include "common/files.h"

static char dir[] = "/tmp/vprof-annotations-XXXXXX";
static char file[64];

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(file, sizeof file, "%s/vprof.json", dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return vprof_dir_remove(dir, NULL);
}

static int read_bytes(const char *text, size_t n, struct vprof_annotations **a, struct vprof_error *err)
{
	assert_int_equal(vprof_file_write(file, text, n, NULL), 0);
	err->message[0] = 0;
	return vprof_annotations_read(a, file, err);
}

static const char good[] =
	"{\n"
	"  \"$schema\": \"vprof.schema.json\", \"_note\": [1, {\"x\": null}],\n"
	"  \"build\": \"make -j2\", \"run\": \"\", \"directory\": \"sub/../server\",\n"
	"  \"compile_commands\": \"cc.json\",\n"
	"  \"intervals\": [{\n"
	"    \"name\": \"request\", \"_why\": \"it serves\",\n"
	"    \"begin\":  {\"function\": \"readQuery\", \"at\": \"entry\", \"id\": \"conn\"},\n"
	"    \"end\":    {\"function\": \"writeTo\", \"at\": \"exit\", \"id\": \"c->conn\", \"if\": \"$return == C_OK\"},\n"
	"    \"resume\": [{\"function\": \"task\", \"id\": \"t->conn\"},\n"
	"               {\"function\": \"task2\", \"id\": \"t->conn\"}],\n"
	"    \"type\": {\"function\": \"call\", \"value\": \"c->name\"},\n"
	"    \"work\": {\"function\": \"scan\", \"at\": \"exit\", \"name\": \"rows\", \"value\": \"$return\"}\n"
	"  }],\n"
	"  \"sync\": [{\"acquire\": \"LWLockAcquire\", \"release\": \"LWLockRelease\", \"object\": \"lock\", \"mode\": \"m\"}],\n"
	"  \"queues\": [{\"enqueue\": \"cq_push\", \"item\": \"item\"}, {\"dequeue\": \"cq_pop\", \"item\": \"$return\"}],\n"
	"  \"roots\": [\"main\"], \"measure_first\": [\"serve\", \"look\"], \"exclude\": [\"ev_*\", \"memcpy\"]\n"
	"}\n";

static void test_good_file(void **state)
{
	static const enum vprof_hook_kind kinds[] = { VPROF_HOOK_BEGIN,	  VPROF_HOOK_RESUME,  VPROF_HOOK_RESUME,
						      VPROF_HOOK_END,	  VPROF_HOOK_TYPE,    VPROF_HOOK_WORK,
						      VPROF_HOOK_ACQUIRE, VPROF_HOOK_RELEASE, VPROF_HOOK_ENQUEUE,
						      VPROF_HOOK_DEQUEUE };
	struct vprof_annotations *a;
	struct vprof_error err;
	char path[128];
	size_t i;

	(void)state;
	assert_int_equal(read_bytes(good, strlen(good), &a, &err), 0);
	assert_string_equal(a->build, "make -j2");
	assert_null(a->run);
	snprintf(path, sizeof path, "%s/server", dir);
	assert_string_equal(a->directory, path);
	snprintf(path, sizeof path, "%s/cc.json", dir);
	assert_string_equal(a->compile_commands, path);
	assert_int_equal(a->n_hooks, 10);
	for (i = 0; i < 10; i++)
		assert_int_equal(a->hooks[i].kind, kinds[i]);
	assert_string_equal(a->hooks[0].function, "readQuery");
	assert_string_equal(a->hooks[0].function_place.key, "intervals[0].begin.function");
	assert_int_equal(a->hooks[0].function_place.line, 7);
	assert_false(a->hooks[0].at_exit);
	assert_null(a->hooks[0].condition.text);
	assert_int_equal(a->hooks[2].function_place.line, 10);
	assert_string_equal(a->hooks[2].value.place.key, "intervals[0].resume[1].id");
	assert_true(a->hooks[3].at_exit);
	assert_string_equal(a->hooks[3].condition.text, "$return == C_OK");
	assert_string_equal(a->hooks[4].name, "request");
	assert_string_equal(a->hooks[5].name, "rows");
	assert_string_equal(a->hooks[6].mode.text, "m");
	assert_string_equal(a->hooks[7].function, "LWLockRelease");
	assert_false(a->hooks[8].at_exit);
	assert_true(a->hooks[9].at_exit);
	assert_int_equal(a->n_intervals, 1);
	assert_string_equal(a->roots[0], "main");
	assert_int_equal(a->n_measure_first, 2);
	assert_string_equal(a->measure_first[1], "look");
	assert_int_equal(a->n_exclude, 2);
	vprof_annotations_free(a);
}

#define MARK(rest) "{\"intervals\": [{\"name\": \"r\",\n \"begin\": {" rest "}}]}"
#define FB "\"function\": \"f\", "

static const struct {
	const char *text, *message; /* without "PATH:" in front of each line */
} wrong[] = {
	{ "", "1:1: the file is empty" },
	{ "{\"intervals\": [\n  {\"name\": \"x\"},\n]}", "3:1: unexpected ']' where a value was expected" },
	{ "{\"intervals\": [],\n}", "2:1: unexpected '}' where the next key, in double quotes (no comma after the last "
				    "member) was expected" },
	{ "{\"intervals\": []", "1:17: the file ends where ',' or '}' was expected; is it cut off?" },
	{ "{ // hello\n}", "1:3: comments are not JSON; put the remark under a key that starts with \"_\"" },
	{ "{'intervals': []}", "1:2: strings need double quotes (\")" },
	{ "{\"intervals: []}", "1:2: this string has no closing quote" },
	{ "{\"intervals\": [\"a\nb\"]}",
	  "1:18: a string must not span lines; write \\n, or is the closing quote missing?" },
	{ "{\"intervals\": [],\n\"intervals\": []}", "2:1: key \"intervals\" appears twice in this object; keep one" },
	{ "{\"intervals\": 012}", "1:16: unexpected '1' where ',' or '}' was expected" },
	{ "{\"intervals\": \"\\q\"}", "1:16: unknown escape in a string; a backslash is written \\\\" },
	{ "{\"a\": \"\xff\"}", "1:8: this is not UTF-8; save the file as UTF-8" },
	{ "[]", "1: (top): this is an array; write an object: {\"intervals\": [...]}" },
	{ "{}", "1: (top): key \"intervals\" is missing; give an array of intervals (empty when the code itself is "
		"annotated with vprof.h)" },
	{ "{\"intervals\": {}}",
	  "1: intervals: this is an object; write an array of intervals (empty when the code itself "
	  "is annotated with vprof.h)" },
	{ "{\"intervals\": [],\n\"quues\": []}", "2: quues: unknown key; did you mean \"queues\"?" },
	{ "{\"intervals\": [],\n\"xyzzy\": []}",
	  "2: xyzzy: unknown key; known here: build, run, directory, "
	  "compile_commands, intervals, sync, queues, roots, measure_first, exclude" },
	{ MARK("\"functon\": \"f\", \"id\": \"1\""),
	  "2: intervals[0].begin.functon: unknown key; did you mean \"function\"?\n"
	  "2: intervals[0].begin: key \"function\" is missing; give the name of a function" },
	{ MARK("\"function\": \"f\""),
	  "2: intervals[0].begin: key \"id\" is missing; give a C expression, pointer or "
	  "integer, that is the same at begin and end (\"1\" if only one runs at a time)" },
	{ MARK(FB "\"id\": 1"), "2: intervals[0].begin.id: this is a number; write a C expression, pointer or integer, "
				"that is the same at begin and end (\"1\" if only one runs at a time)" },
	{ MARK(FB "\"id\": \"1\", \"at\": \"end\""),
	  "2: intervals[0].begin.at: \"end\" is not known; write \"entry\" or "
	  "\"exit\"" },
	{ MARK(FB "\"id\": \"$return\""),
	  "2: intervals[0].begin.id: $return exists only at exit; add \"at\": \"exit\"" },
	{ MARK(FB "\"id\": \"$received\""),
	  "2: intervals[0].begin.id: $received is an id of resume, suspend and end only: the interval that what the "
	  "thread received was sent for" },
	{ MARK(FB "\"id\": \"$traceparent\""),
	  "2: intervals[0].begin.id: $traceparent(TEXT) is an id of begin, resume, suspend and end only: TEXT is what "
	  "the header says" },
	{ MARK(FB "\"id\": \"f(a\""), "2: intervals[0].begin.id: a bracket is not closed" },
	{ MARK(FB "\"id\": \"a) + (b\""), "2: intervals[0].begin.id: brackets do not match" },
	{ MARK(FB "\"id\": \"a, b\""), "2: intervals[0].begin.id: a comma at the top level; put the expression in "
				       "parentheses" },
	{ MARK(FB "\"id\": \"a; b\""),
	  "2: intervals[0].begin.id: this is more than one expression; leave out the ';'" },
	{ MARK(FB "\"id\": \"a // b\""),
	  "2: intervals[0].begin.id: an expression must not contain comments; use a key that "
	  "starts with \"_\"" },
	{ MARK(FB "\"id\": \"a\\n+b\""), "2: intervals[0].begin.id: an expression must stay on one line" },
	{ MARK(FB "\"id\": \" \""), "2: intervals[0].begin.id: the expression is empty" },
	{ MARK(FB "\"id\": \"s[0] == 'x\""), "2: intervals[0].begin.id: a quote is not closed" },
	{ MARK("\"function\": \"f()\", \"id\": \"1\""),
	  "2: intervals[0].begin.function: leave out the \"()\": only the "
	  "name is wanted" },
	{ "{\"intervals\": [{\"name\": \"r\"},\n{\"name\": \"r\"}]}",
	  "2: intervals[1].name: interval \"r\" is defined twice; rename one, or give the first one arrays for \"begin\" and \"end\"" },
	{ "{\"intervals\": [{\"name\": \"a\\\"b\"}]}",
	  "1: intervals[0].name: a name must not contain quotes, backslashes or "
	  "control characters; use letters and digits" },
	{ "{\"intervals\": [{\"name\": \"\"}]}",
	  "1: intervals[0].name: the name is empty; give one, like \"request\"" },
	{ "{\"intervals\": [], \"sync\": [{\"object\": \"l\"}]}",
	  "1: sync[0]: key \"acquire\" or \"release\" is missing; "
	  "name the function" },
	{ "{\"intervals\": [], \"sync\": [{\"acquire\": \"f\", \"object\": \"$return\"}]}",
	  "1: sync[0].object: $return is not available here: acquire is recorded when the function is entered; use its parameters" },
	{ "{\"intervals\": [], \"queues\": [{\"enqueue\": \"f\", \"dequeue\": \"g\", \"item\": \"i\"}]}",
	  "1: queues[0]: "
	  "write \"enqueue\" and \"dequeue\" as two objects: their items are different expressions" },
	{ "{\"intervals\": [], \"queues\": [{\"dequeue\": \"g\", \"at\": \"entry\", \"item\": \"$return\"}]}",
	  "1: "
	  "queues[0].item: $return exists only at exit; add \"at\": \"exit\"" },
	{ "{\"intervals\": [], \"roots\": [\"main\",\n 3]}",
	  "2: roots[1]: this is a number; write a function's name in "
	  "double quotes" },
	{ "{\"intervals\": [3]}", "1: intervals[0]: this is a number; write an object" },
	{ "{\"intervals\": [], \"build\": [\"make\"]}", "1: build: this is an array; write the command that builds the "
							"program, like \"make -j2\"" },
	{ "{\"intervals\": [], \"directory\": \"\"}", "1: directory: the path is empty; leave out the key instead" },
};

static void test_wrong_files(void **state)
{
	struct vprof_annotations *a;
	struct vprof_error err;
	char expected[4096], *end;
	const char *line;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_int_equal(read_bytes(wrong[i].text, strlen(wrong[i].text), &a, &err), VPROF_ERR_INPUT);
		assert_null(a);
		end = expected;
		for (line = wrong[i].message; *line; line += strcspn(line, "\n"), line += *line == '\n')
			end += sprintf(end, "%s%s:%.*s", end > expected ? "\n" : "", file, (int)strcspn(line, "\n"),
				       line);
		assert_string_equal(err.message, expected);
	}
}

static void test_missing_file(void **state)
{
	struct vprof_annotations *a;
	struct vprof_error err;

	(void)state;
	assert_int_equal(vprof_annotations_read(&a, "/nonexistent/vprof.json", &err), VPROF_ERR_MISSING);
	assert_string_equal(err.message, "/nonexistent/vprof.json: not found; `vprof init` drafts one");
}

/* Every prefix, and every byte replaced by a few nasty ones: an error or a model, never a crash. */
static void test_damaged_files(void **state)
{
	static const char nasty[] = "\"{}[],:\\\0\n\xf0-9u";
	struct vprof_annotations *a;
	struct vprof_error err;
	char text[sizeof good];
	size_t i, j;

	(void)state;
	for (i = 0; i < strlen(good) - 2; i++)
		assert_int_equal(read_bytes(good, i, &a, &err), VPROF_ERR_INPUT);
	for (i = 0; i < strlen(good); i += 3) {
		for (j = 0; j < sizeof nasty - 1; j++) {
			memcpy(text, good, sizeof good);
			text[i] = nasty[j];
			if (!read_bytes(text, strlen(good), &a, &err))
				vprof_annotations_free(a);
			else
				assert_true(err.message[0] != 0);
		}
	}
	memset(text, '[', sizeof text);
	assert_int_equal(read_bytes(text, sizeof text, &a, &err), VPROF_ERR_INPUT);
	assert_non_null(strstr(err.message, "nested too deeply"));
}

static const struct vprof_json *schema_object(const struct vprof_json *schema, enum vprof_key_object kind)
{
	if (kind == VPROF_KEYS_TOP)
		return schema;
	return vprof_json_get(vprof_json_get(schema, "$defs"), vprof_annotation_objects[kind].name);
}

static void test_schema_has_the_same_keys(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_arena arena = { 0 };
	struct vprof_json *schema;
	struct vprof_error err;
	int kind;

	(void)state;
	assert_int_equal(vprof_file_read(VPROF_SOURCE_DIR "/annotate/vprof.schema.json", &text, &err), 0);
	assert_int_equal(vprof_json_parse(&schema, &arena, "schema", text.s, text.len, &err), 0);
	for (kind = 0; kind < VPROF_KEYS_N; kind++) {
		const struct vprof_annotation_object *known = &vprof_annotation_objects[kind];
		const struct vprof_json *object = schema_object(schema, (enum vprof_key_object)kind), *one;
		size_t i, n_required = 0;

		assert_non_null(object);
		assert_int_equal(vprof_json_get(object, "properties")->n, known->n_keys);
		for (i = 0; i < known->n_keys; i++) {
			assert_non_null(vprof_json_get(vprof_json_get(object, "properties"), known->keys[i].name));
			n_required += (size_t)known->keys[i].required;
			one = known->keys[i].required ? vprof_json_get(object, "required")->first : NULL;
			while (one && strcmp(one->string, known->keys[i].name))
				one = one->next;
			assert_int_equal(one != NULL, known->keys[i].required);
		}
		if (vprof_json_get(object, "required"))
			assert_int_equal(vprof_json_get(object, "required")->n, n_required);
	}
	vprof_arena_release(&arena);
	vprof_text_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_file),
		cmocka_unit_test(test_wrong_files),
		cmocka_unit_test(test_missing_file),
		cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_schema_has_the_same_keys),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
