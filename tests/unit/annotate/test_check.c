/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof_annotations_check on small real sources: every finding, word for word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "annotate/check/check.h"
#include "common/files.h"
#include "made_facts.h"

static char dir[] = "/tmp/vprof-check-XXXXXX";

static const char server_c[] =
	"#include <stddef.h>\n"
	"#define SOCKET(c) ((c)->sock->fd)\n"
	"struct sock { int fd; };\n"
	"enum op { GET, SET };\n"
	"typedef struct conn { struct sock *sock; char name[16]; enum op op; unsigned bits : 3; double cost; } conn;\n"
	"static int limit; void nothing(int);\n"
	"#ifdef VPROF_SCAN\n"
	"static int seen_by_scan;\n"
	"#endif\n"
	"void handle(conn *c, int n)\n"
	"{\n"
	"\tlimit = n + FLAG; (void)c;\n"
	"}\n"
	"int answer(conn *c) { return c->op; }\n"
	"conn *pop(void) { return NULL; }\n"
	"static int twin(int a) { return a; }\n"
	"__attribute__((naked)) void raw(void) { }\n"
	"int main(void) { handle(pop(), twin(answer(pop()))); raw(); return limit; }\n";
static const char other_c[] = "static int twin(int a) { return a + 1; }\nint use(int a) { return twin(a); }\n";
static const char thing_cc[] = "struct Thing { int id; int run(int n); };\n"
			       "int Thing::run(int n) { return id + n; }\n"
			       "int twice(int &r) { return 2 * r; }\n";

static struct vprof_facts *facts;

static void add_functions(struct made *m)
{
	const char *conn_n = "[{\"name\":\"c\",\"type\":\"conn *\"},{\"name\":\"n\",\"type\":\"int\"}]";
	const char *a = "[{\"name\":\"a\",\"type\":\"int\"}]";
	int id;

	made_file(m, "server.c", server_c, "c");
	made_function(m, &(struct made_function){ "handle", "void", "void", conn_n, "void (struct conn *, int)" });
	made_function(m, &(struct made_function){ "answer", "int", "scalar", "[{\"name\":\"c\",\"type\":\"conn *\"}]",
						  "int (conn *)" });
	made_function(m, &(struct made_function){ "pop", "conn *", "scalar", "[]", "conn *(void)" });
	made_function(m, &(struct made_function){ "twin", "int", "scalar", a, "int (int)", .is_static = 1 });
	made_function(m,
		      &(struct made_function){ "raw", "void", "void", "[]", "void (void)", .not_instrumentable = 1 });
	id = made_function(m, &(struct made_function){ "main", "int", "scalar", "[]", "int (void)" });
	made_call(m, id, "fdatasync", "direct", "", 0, "[\"3\"]");
	made_file(m, "other.c", other_c, "c");
	made_function(m, &(struct made_function){ "twin", "int", "scalar", a, "int (int)" });
	made_file(m, "thing.cc", thing_cc, "c++");
	made_function(m, &(struct made_function){ "run", "int", "scalar", "[{\"name\":\"n\",\"type\":\"int\"}]",
						  "int (int)", .display = "Thing::run" });
	made_function(m, &(struct made_function){ "twice", "int", "scalar", "[{\"name\":\"r\",\"type\":\"int &\"}]",
						  "int (int &)" });
}

static int set_up(void **state)
{
	struct vprof_error err = { "" };
	struct made m;
	char path[128];

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	made_open(&m, dir);
	add_functions(&m);
	made_close(&m);
	snprintf(path, sizeof path, "%s/facts.db", dir);
	if (vprof_facts_open(&facts, path, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	vprof_facts_free(facts);
	return vprof_dir_remove(dir, NULL);
}

/* Reads `json`, checks it, and writes "E key: message" lines (E, W or o) without those of severity ok when not asked.
 */
static int check(const char *json, struct vprof_text *lines, int with_ok)
{
	struct vprof_annotations *a;
	struct vprof_findings findings;
	struct vprof_error err = { "" };
	char path[128];
	size_t i;
	int rc;

	vprof_text_init(lines);
	snprintf(path, sizeof path, "%s/vprof.json", dir);
	assert_int_equal(vprof_file_write(path, json, strlen(json), NULL), 0);
	rc = vprof_annotations_read(&a, path, &err);
	if (rc)
		fail_msg("%s", err.message);
	rc = vprof_annotations_check(a, facts, &findings, &err);
	for (i = 0; !rc && i < findings.n; i++)
		if (with_ok || findings.items[i].severity)
			vprof_text_addf(lines, "%c %d %s: %s\n", "oWE"[findings.items[i].severity],
					findings.items[i].place.line, findings.items[i].place.key,
					findings.items[i].message);
	if (rc)
		vprof_text_add(lines, err.message);
	vprof_findings_release(&findings);
	vprof_annotations_free(a);
	return rc;
}

/* cmocka cuts long strings: print the first line that differs. */
static void assert_text(const char *found, const char *wanted)
{
	size_t i = 0, line = 0;

	for (; found[i] && found[i] == wanted[i]; i++)
		if (found[i] == '\n')
			line = i + 1;
	if (found[i] != wanted[i])
		fail_msg("found  %.*s\nwanted %.*s", (int)strcspn(found + line, "\n"), found + line,
			 (int)strcspn(wanted + line, "\n"), wanted + line);
}

static void expect(const char *json, const char *wanted)
{
	struct vprof_text lines;

	assert_int_equal(check(json, &lines, 0), 0);
	assert_text(lines.s, wanted);
	vprof_text_release(&lines);
}

static void test_good(void **state)
{
	struct vprof_text lines;

	(void)state;
	assert_int_equal(
		check("{\"intervals\": [{\"name\": \"r\",\n"
		      "\"begin\": {\"function\": \"handle\", \"id\": \"c->sock\", \"if\": \"n > FLAG && seen_by_scan == 0\"},\n"
		      "\"end\": {\"function\": \"answer\", \"at\": \"exit\", \"id\": \"SOCKET(c)\", \"if\": \"$return == GET\"},\n"
		      "\"type\": [{\"function\": \"handle\", \"value\": \"c->name\"}, {\"function\": \"handle\", \"value\": \"c->op\"}],\n"
		      "\"work\": {\"function\": \"handle\", \"name\": \"b\", \"value\": \"c->bits\"}}],\n"
		      "\"queues\": [{\"dequeue\": \"pop\", \"item\": \"$return\"}, {\"enqueue\": \"handle\", \"item\": \"c\"}, {\"dequeue\": \"twice\", \"item\": \"$return\"}],\n"
		      "\"sync\": [{\"acquire\": \"Thing::run\", \"release\": \"twin@other.c\", \"object\": \"1\"}, {\"acquire\": \"twice\", \"object\": \"&r\"}]}",
		      &lines, 1),
		0);
	assert_text(lines.s, "o 2 intervals[0].begin.function: begin at entry of handle (server.c:11)\n"
			     "o 2 intervals[0].begin.id: 'c->sock' is struct sock *\n"
			     "o 2 intervals[0].begin.if: 'n > FLAG && seen_by_scan == 0' is a condition\n"
			     "o 3 intervals[0].end.function: end at exit of answer (server.c:14)\n"
			     "o 3 intervals[0].end.id: 'SOCKET(c)' is int\n"
			     "o 3 intervals[0].end.if: '$return == GET' is a condition\n"
			     "o 4 intervals[0].type[0].function: type at entry of handle (server.c:11)\n"
			     "o 4 intervals[0].type[1].function: type at entry of handle (server.c:11)\n"
			     "o 4 intervals[0].type[0].value: 'c->name' is char *\n"
			     "o 4 intervals[0].type[1].value: 'c->op' is enum op\n"
			     "o 5 intervals[0].work.function: work at entry of handle (server.c:11)\n"
			     "o 5 intervals[0].work.value: 'c->bits' is unsigned int\n"
			     "o 6 queues[0].dequeue: dequeue at exit of pop (server.c:15)\n"
			     "o 6 queues[1].enqueue: enqueue at entry of handle (server.c:11)\n"
			     "o 6 queues[2].dequeue: dequeue at exit of twice (thing.cc:3)\n"
			     "o 6 queues[0].item: '$return' is struct conn *\n"
			     "o 6 queues[1].item: 'c' is conn *\n"
			     "o 6 queues[2].item: '$return' is int\n"
			     "o 7 sync[0].acquire: acquire at entry of Thing::run (thing.cc:2)\n"
			     "o 7 sync[0].release: release at entry of twin (other.c:1)\n"
			     "o 7 sync[1].acquire: acquire at entry of twice (thing.cc:3)\n"
			     "o 7 sync[0].object: '1' is int\n"
			     "o 7 sync[1].object: '&r' is int *\n");
	vprof_text_release(&lines);
}

#define IN_HANDLE "in handle (server.c:11); parameters: c (conn *), n (int)"
#define TYPE(value)                                                                                                    \
	"{\"intervals\": [{\"name\": \"r\", \"type\": {\"function\": \"handle\", \"value\": \"" value "\"}}]}"
#define BEGIN(function, id)                                                                                            \
	"{\"intervals\": [{\"name\": \"r\",\n\"begin\": {\"function\": \"" function "\", \"id\": \"" id                \
	"\"}, \"end\": {\"function\": \"main\", \"id\": \"1\"}}]}"

static void test_wrong_expressions(void **state)
{
	(void)state;
	expect(BEGIN("handle", "clint"), "E 2 intervals[0].begin.id: 'clint' undeclared " IN_HANDLE "\n");
	expect(BEGIN("handle", "limt"),
	       "E 2 intervals[0].begin.id: 'limt' undeclared " IN_HANDLE " (did you mean 'limit'?)\n");
	expect(BEGIN("handle", "c->sok"),
	       "E 2 intervals[0].begin.id: no member named 'sok' in 'struct conn'; did you mean 'sock'?, " IN_HANDLE
	       "\n");
	expect(BEGIN("handle", "*c"),
	       "E 2 intervals[0].begin.id: '*c' is conn; a pointer or an integer is needed here\n");
	expect(BEGIN("handle", "c->cost"),
	       "E 2 intervals[0].begin.id: 'c->cost' is double; a pointer or an integer is needed here\n");
	expect(BEGIN("handle", "nothing(n)"),
	       "E 2 intervals[0].begin.id: 'nothing(n)' has no value (void), " IN_HANDLE "\n");
	expect(BEGIN("handle", "raw()"), "E 2 intervals[0].begin.id: function 'raw' undeclared " IN_HANDLE "\n");
	expect(BEGIN("handle", "c +"), "E 2 intervals[0].begin.id: expected expression, " IN_HANDLE "\n");
	expect(BEGIN("handle", "int"), "E 2 intervals[0].begin.id: expected expression, " IN_HANDLE "\n");
	expect(BEGIN("pop", "c"), "E 2 intervals[0].begin.id: 'c' undeclared in pop (server.c:15); no parameters\n");
	expect(TYPE("c->sock"),
	       "E 1 intervals[0].type.value: 'c->sock' is struct sock *; a string (char *) or an integer is needed here\n");
	expect("{\"intervals\": [{\"name\": \"r\", \"work\": {\"function\": \"handle\", \"name\": \"x\", \"value\": \"c->name\"}}]}",
	       "E 1 intervals[0].work.value: 'c->name' is char *; an integer is needed here; cast it, as in (long)(...)\n");
	expect("{\"intervals\": [{\"name\": \"r\", \"type\": {\"function\": \"handle\", \"at\": \"exit\", \"value\": \"$return\"}}]}",
	       "E 1 intervals[0].type.value: $return: handle returns void; use a parameter\n");
	expect("{\"intervals\": [{\"name\": \"r\", \"type\": {\"function\": \"twice\", \"at\": \"exit\", \"value\": \"$return->n\"}}]}",
	       "E 1 intervals[0].type.value: member reference type 'typeof(int)' (aka 'int') is not a pointer, in twice (thing.cc:3); parameters: r (int &)\n");
	expect("{\"intervals\": [{\"name\": \"r\", \"type\": {\"function\": \"pop\", \"at\": \"exit\", \"value\": \"1\", \"if\": "
	       "\"$return->name + 1.0\"}}]}",
	       "E 1 intervals[0].type.if: invalid operands to binary expression ('char[16]' and 'double'), in pop "
	       "(server.c:15); no parameters\n");
}

static void test_wrong_functions(void **state)
{
	(void)state;
	expect(BEGIN("hande", "1"),
	       "E 2 intervals[0].begin.function: no function \"hande\" in the sources; did you mean \"handle\"?\n");
	expect(BEGIN("fdatasync", "1"),
	       "E 2 intervals[0].begin.function: \"fdatasync\" is called but has no body in the "
	       "project; annotate the function that calls it\n");
	expect(BEGIN("twin", "a"),
	       "E 2 intervals[0].begin.function: \"twin\" names 2 functions: server.c:16, other.c:1; add the "
	       "file, like \"twin@server.c\"\n");
	expect(BEGIN("twin@none.c", "a"),
	       "E 2 intervals[0].begin.function: \"twin\" exists, but in no file whose path ends with "
	       "\"none.c\"\n");
	expect(BEGIN("twin@server.c", "a"), "");
	expect(BEGIN("raw", "1"),
	       "E 2 intervals[0].begin.function: raw (server.c:17) cannot be instrumented (naked): it has no "
	       "frame of its own; annotate its caller\n");
}

static void test_whole(void **state)
{
	(void)state;
	expect("{\"intervals\": [{\"name\": \"r\", \"begin\": {\"function\": \"handle\", \"id\": \"c\"}}],\n"
	       "\"sync\": [{\"acquire\": \"handle\", \"object\": \"c\"}],\n"
	       "\"roots\": [\"handle\",\n\"nowhere_at_all\"], \"exclude\": [\"han*\", \"fdata*\", \"xyz*\"]}",
	       "W 1 intervals[0].begin.function: \"begin\" without \"end\" for \"r\": no interval will be complete, unless the "
	       "code calls vprof_end()\n"
	       "W 2 sync[0].acquire: \"acquire\" without \"release\": waits will be seen, but not who ended them\n"
	       "E 4 roots[1]: no function \"nowhere_at_all\" in the sources; is it built by the observed command? (`vprof init` "
	       "scans again)\n"
	       "W 4 exclude[2]: \"xyz*\" matches no function\n");
	/* all errors of one function at once, none hides another */
	expect("{\"intervals\": [{\"name\": \"r\", \"begin\": {\"function\": \"handle\", \"id\": \"x1\", \"if\": \"x2\"},\n"
	       "\"end\": {\"function\": \"handle\", \"at\": \"exit\", \"id\": \"x3\"}}]}",
	       "E 1 intervals[0].begin.id: 'x1' undeclared " IN_HANDLE "\n"
	       "E 1 intervals[0].begin.if: 'x2' undeclared " IN_HANDLE "\n"
	       "E 2 intervals[0].end.id: 'x3' undeclared " IN_HANDLE "\n");
}

static void test_stale(void **state)
{
	struct vprof_text lines;
	char path[128], wanted[256];

	(void)state;
	snprintf(path, sizeof path, "%s/other.c", dir);
	assert_int_equal(vprof_file_write(path, "int x;\n", 7, NULL), 0);
	assert_int_equal(check(BEGIN("twin@other.c", "a"), &lines, 0), VPROF_ERR_STALE);
	snprintf(wanted, sizeof wanted, "%s changed since the scan; run `vprof init` again", path);
	assert_string_equal(lines.s, wanted);
	vprof_text_release(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_wrong_expressions),
		cmocka_unit_test(test_wrong_functions),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_stale),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
