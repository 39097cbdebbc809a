/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instrumented text of single functions, and the shadow tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts_fixture.h"
#include "instrumenter/instrument.h"
#include "instrumenter/splice/splice_unit.h"

static char *text_of(struct fixture *fx, const struct vprof_decisions *d, const struct vprof_annotations *a,
		     const char *file, struct vprof_error *err)
{
	struct vprof_text out = VPROF_TEXT_INIT;
	struct vprof_plan *plan;
	int rc;

	assert_int_equal(vprof_plan_make(&plan, fx->facts, fx->graph, a, d, NULL, err), 0);
	rc = vprof_splice_text(fx->facts, plan, a, file, &out, err);
	vprof_plan_free(plan);
	if (!rc)
		return vprof_text_detach(&out);
	vprof_text_release(&out);
	return NULL;
}

/* One function f in one file, with the given annotations and no plan. */
static void check_hooks(const char *source, struct fixture_function o, struct vprof_hook *hooks, size_t n,
			const char *expected)
{
	struct vprof_annotations a = { .path = "vprof.json", .hooks = hooks, .n_hooks = n };
	struct vprof_decisions d = { 0 };
	struct vprof_error err = { "" };
	struct fixture fx;
	char *text;

	for (size_t i = 0; i < n; i++)
		if (!hooks[i].function)
			hooks[i].function = "f";
	fixture_init(&fx);
	fixture_function(&fx, fixture_file(&fx, "a.c", source), "f", o);
	fixture_open(&fx);
	text = text_of(&fx, &d, &a, "a.c", &err);
	if (text) {
		assert_string_equal(text, expected);
	} else if (!strstr(err.message, expected)) {
		fail_msg("\"%s\" is not in: %s", expected, err.message);
	}
	free(text);
	fixture_release(&fx);
}

static const struct fixture_function returns_int = { .returns = "int", .return_kind = "scalar" };

static void function_and_site_probes(void **state)
{
	struct vprof_name name = { "f", "", "" };
	struct vprof_decisions d = { .roots = &name, .n_roots = 1, .broken_down = &name, .n_broken_down = 1 };
	struct vprof_error err;
	struct fixture fx;
	char *text;
	int file;

	(void)state;
	fixture_init(&fx);
	file = fixture_file(&fx, "a.c", "void g(void) {}\nint f(int x)\n{\n\treturn outer(inner(x));\n}\n");
	fixture_function(&fx, file, "g", (struct fixture_function){ 0 });
	fixture_function(&fx, file, "f", returns_int);
	fixture_call(&fx, file, 2, "f", "outer", "direct", "", 1);
	fixture_call(&fx, file, 2, "f", "inner", "direct", "", 1);
	fixture_open(&fx);
	text = text_of(&fx, &d, NULL, "a.c", &err);
	/* Around outer(...) a probe would count inner's time as outer's. */
	assert_string_equal(text, "void g(void) {}\nint f(int x)\n{ VP_ROOT(258, 0xffffffffffffffffUL, 2)\n\treturn "
				  "outer((__extension__({ VP_SITE(8388610, 0x4UL, 1) inner(x); })));\n}\n");
	free(text);
	fixture_release(&fx);
}

static void hooks_at_entry(void **state)
{
	struct vprof_hook hooks[] = {
		{ .kind = VPROF_HOOK_TYPE, .value.text = "c->cmd" },
		{ .kind = VPROF_HOOK_BEGIN, .value.text = "c", .name = "say \"hi\"", .condition.text = "c && *c" },
		{ .kind = VPROF_HOOK_ACQUIRE, .value.text = "lock" },
		{ .kind = VPROF_HOOK_RELEASE, .value.text = "lock" },
		{ .kind = VPROF_HOOK_WORK, .value.text = "a,\nb", .name = "rows" },
	};

	(void)state;
	check_hooks("void f(char *c) { g(); }", (struct fixture_function){ 0 }, hooks, 5,
		    "void f(char *c) { VP_ACQUIRE(2, (lock), \"f\") VP_RELEASE(3, (lock))"
		    " VP_IF(1, (c && *c), BEGIN, \"say \\\"hi\\\"\", (c)) VP_TYPE(0, (c->cmd))"
		    " VP_WORK(4, \"rows\", (a, b)) g(); }");
}

static void hooks_at_exit_with_entry_values(void **state)
{
	struct vprof_hook hooks[] = {
		{ .kind = VPROF_HOOK_END, .value.text = "c", .name = "request", .at_exit = 1 },
		{ .kind = VPROF_HOOK_ENQUEUE, .value.text = "item", .at_exit = 1 },
	};

	(void)state;
	check_hooks("int f(char *c) { return 0; }", returns_int, hooks, 2,
		    "int f(char *c) { VP_AT_EXIT(0, END, \"request\", (c)) VP_AT_EXIT(1, ENQUEUE, (item)) return 0; }");
}

static void returned_value_in_c(void **state)
{
	struct vprof_hook hooks[] = {
		{ .kind = VPROF_HOOK_END,
		  .value.text = "c->id",
		  .name = "request",
		  .at_exit = 1,
		  .condition.text = "$return == C_OK" },
		{ .kind = VPROF_HOOK_DEQUEUE, .value.text = "$return", .at_exit = 1 },
	};

	(void)state;
	check_hooks("int f(char *c) { if (c) return 1; else return g(c); }", returns_int, hooks, 2,
		    "int f(char *c) { VP_KEEP(0, (c->id)) if (c) return "
		    " (__extension__({ __typeof__(int) vp_return_ = (1); { VP_DO_DEQUEUE((vp_return_)); }"
		    " if (vp_return_ == C_OK) { VP_DO_END(\"request\", vp_keep_0); } vp_return_; }));"
		    " else return  (__extension__({ __typeof__(int) vp_return_ = (g(c));"
		    " { VP_DO_DEQUEUE((vp_return_)); } if (vp_return_ == C_OK) { VP_DO_END(\"request\", vp_keep_0); }"
		    " vp_return_; })); }");
}

static void exit_of_void_functions(void **state)
{
	struct vprof_hook hook = { .kind = VPROF_HOOK_TYPE, .value.text = "c", .at_exit = 1 };

	(void)state;
	check_hooks("void f(char *c) { if (!c) return; g(); }", (struct fixture_function){ 0 }, &hook, 1,
		    "void f(char *c) { if (!c) { { VP_DO_TYPE((c)); } return; } g();  { VP_DO_TYPE((c)); } }");
}

static void exit_in_cxx(void **state)
{
	struct vprof_hook hook = {
		.kind = VPROF_HOOK_END, .value.text = "c", .name = "r", .at_exit = 1, .condition.text = "done<1, 2>(c)"
	};

	(void)state;
	check_hooks("void f(char *c) { return; }", (struct fixture_function){ .lang = "c++" }, &hook, 1,
		    "void f(char *c) { VP_KEEP(0, (c)) VP_AT_EXIT_DO(1, if (done<1, 2>(c)) "
		    "{ VP_DO_END(\"r\", vp_keep_0); } ) return; }");
}

static void impossible_annotations_are_explained(void **state)
{
	struct vprof_hook hook = { .kind = VPROF_HOOK_DEQUEUE,
				   .value = { "$return", { 12, "queues[0].item" } },
				   .function_place = { 11, "queues[0].dequeue" } };
	struct vprof_hook unknown = { .kind = VPROF_HOOK_BEGIN,
				      .function = "ff",
				      .name = "r",
				      .value.text = "c",
				      .function_place = { 11, "queues[0].dequeue" } };
	struct vprof_hook acquire = { .kind = VPROF_HOOK_ACQUIRE,
				      .value.text = "l",
				      .condition = { "x", { 9, "sync[0].if" } } };

	(void)state;
	check_hooks("void f(char *c) { return; }", (struct fixture_function){ 0 }, &hook, 1,
		    "vprof.json:12: queues[0].item: $return is used, but f returns nothing");
	check_hooks("int f(char *c) { return/**/1; }", returns_int, &hook, 1, "a.c:1 returns from inside a macro");
	check_hooks("S f(char *c) { return 1; }",
		    (struct fixture_function){ .lang = "c++", .returns = "__auto_type", .return_kind = "record" },
		    &hook, 1, "which cannot be examined");
	check_hooks(
		"S f(char *c) { return 1; }",
		(struct fixture_function){ .lang = "c++", .returns = "S", .return_kind = "record" }, &hook, 1,
		"S f(char *c) { return  ([&]() -> S { S vp_return_ = (1); { VP_DO_DEQUEUE((vp_return_)); } return vp_return_; "
		"}()); }");
	check_hooks("int f(char *c) { return 1; }",
		    (struct fixture_function){ .not_instrumentable = 1, .reason = "naked" }, &hook, 1,
		    "vprof.json:11: queues[0].dequeue: f (");
	check_hooks("int f(char *c) { return 1; }", returns_int, &unknown, 1, "did you mean f?");
	check_hooks("int f(char *c) { return 1; }", returns_int, &acquire, 1, "vprof.json:9: sync[0].if: an acquire");
}

static int is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static int is_regular(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode);
}

static int needs_shadow(const struct vprof_facts *facts, const char *shadow, const struct vprof_facts_tu *tu,
			char fingerprint[17])
{
	struct vprof_edited edited = { 0 };
	int needed;

	assert_int_equal(vprof_edited_read(&edited, facts, shadow, NULL), 0);
	needed = vprof_edited_unit(&edited, tu, fingerprint);
	vprof_edited_release(&edited);
	return needed;
}

static void shadow_tree_and_fingerprints(void **state)
{
	struct vprof_name name = { "f", "", "" };
	struct vprof_decisions some = { .roots = &name, .n_roots = 1 }, none = { 0 };
	struct vprof_splice_result result;
	struct vprof_error err;
	struct vprof_plan *plan, *empty;
	struct fixture fx;
	struct stat before, after;
	char *shadow, *a, *b, *header, *stray, first[17], second[17];
	int file;

	(void)state;
	fixture_init(&fx);
	file = fixture_file(&fx, "src/a.c", "void f(void) { }\n");
	fixture_file(&fx, "src/b.c", "void g(void) { vprof_end(1); }\n");
	fixture_function(&fx, file, "f", (struct fixture_function){ 0 });
	fixture_open(&fx);
	shadow = fixture_path(&fx, ".vprof/src");
	a = fixture_path(&fx, ".vprof/src/src/a.c");
	b = fixture_path(&fx, ".vprof/src/src/b.c");
	stray = fixture_path(&fx, "src/beside.h");
	vprof_file_write(stray, "int x;\n", 7, NULL);
	header = fixture_path(&fx, ".vprof/src/src/beside.h");
	assert_int_equal(vprof_plan_make(&plan, fx.facts, fx.graph, NULL, &some, NULL, &err), 0);
	assert_int_equal(vprof_plan_make(&empty, fx.facts, fx.graph, NULL, &none, NULL, &err), 0);

	assert_int_equal(vprof_splice(fx.facts, plan, NULL, shadow, &result, &err), 0);
	assert_int_equal(result.n_files_edited, 1);
	assert_int_equal(result.n_edits, 1);
	assert_int_equal(result.n_mirrored, 2);
	assert_true(is_regular(a) && is_link(b) && is_link(header));
	assert_int_equal(needs_shadow(fx.facts, shadow, &fx.facts->tus[0], first), 1);
	assert_int_equal(strlen(first), 16);
	assert_int_equal(needs_shadow(fx.facts, shadow, &fx.facts->tus[1], second), 0);
	assert_string_equal(second, "");

	stat(a, &before);
	unlink(stray);
	free(stray);
	stray = fixture_path(&fx, ".vprof/src/old/gone.c");
	assert_int_equal(vprof_dir_make(fx.root, NULL), 0);
	*strrchr(stray, '/') = 0;
	vprof_dir_make(stray, NULL);
	stray[strlen(stray)] = '/';
	vprof_file_write(stray, "x", 1, NULL);
	assert_int_equal(vprof_splice(fx.facts, plan, NULL, shadow, &result, &err), 0);
	stat(a, &after);
	assert_int_equal(before.st_ino, after.st_ino); /* the same text is not written again */
	assert_int_not_equal(access(stray, F_OK), 0);
	assert_false(is_link(header));
	*strrchr(stray, '/') = 0;
	assert_int_not_equal(access(stray, F_OK), 0);
	assert_int_equal(needs_shadow(fx.facts, shadow, &fx.facts->tus[0], second), 1);
	assert_string_equal(first, second);

	assert_int_equal(vprof_splice(fx.facts, empty, NULL, shadow, &result, &err), 0);
	assert_true(is_link(a));
	assert_int_equal(needs_shadow(fx.facts, shadow, &fx.facts->tus[0], second), 0);

	free(stray);
	stray = fixture_path(&fx, "src/a.c");
	vprof_file_write(stray, "void f(void) { ; }\n", 19, NULL);
	assert_int_equal(vprof_splice(fx.facts, plan, NULL, shadow, &result, &err), VPROF_ERR_STALE);
	assert_non_null(strstr(err.message, "src/a.c changed since"));
	vprof_plan_free(plan);
	vprof_plan_free(empty);
	free(shadow);
	free(a);
	free(b);
	free(header);
	free(stray);
	fixture_release(&fx);
}

static void api_calls_need_the_probe_header(void **state)
{
	struct fixture fx;
	char fingerprint[17], *shadow;
	int file;

	(void)state;
	fixture_init(&fx);
	file = fixture_file(&fx, "b.c", "void g(void) { vprof_end(1); }\n");
	fixture_function(&fx, file, "g", (struct fixture_function){ 0 });
	fixture_call(&fx, file, 1, "g", "vprof_end", "direct", "", 1);
	fixture_open(&fx);
	shadow = fixture_path(&fx, ".vprof/src");
	assert_int_equal(needs_shadow(fx.facts, shadow, &fx.facts->tus[0], fingerprint), 1);
	assert_int_equal(strlen(fingerprint), 16);
	free(shadow);
	fixture_release(&fx);
}

/* What a header's edits concern: bit i for unit i. */
static int units_concerned(const struct fixture *fx, const char *shadow, const struct vprof_plan *plan,
			   const struct vprof_annotations *a)
{
	struct vprof_edited edited = { 0 };
	char fingerprint[17];
	int units = 0;

	assert_int_equal(vprof_edited_read(&edited, fx->facts, shadow, NULL), 0);
	assert_int_equal(vprof_edited_narrow(&edited, plan, a, NULL), 0);
	for (size_t i = 0; i < fx->facts->n_tus; i++)
		units |= vprof_edited_unit(&edited, &fx->facts->tus[i], fingerprint) << i;
	vprof_edited_release(&edited);
	return units;
}

static int units_with_probes(const struct fixture *fx, const char *shadow, const struct vprof_decisions *d,
			     const struct vprof_annotations *a)
{
	struct vprof_plan *plan;
	struct vprof_error err = { "" };
	int units;

	if (vprof_plan_make(&plan, fx->facts, fx->graph, a, d, NULL, &err) ||
	    vprof_splice(fx->facts, plan, a, shadow, NULL, &err))
		fail_msg("%s", err.message);
	units = units_concerned(fx, shadow, plan, a);
	vprof_plan_free(plan);
	return units;
}

/* The same in C++, not static: the calls of grab() carry its probe, the header is as it was. */
static void header_functions_of_cxx_leave_the_header(void **state)
{
	struct fixture_function cxx = { .lang = "c++" };
	struct vprof_name f = { "f", "", "" };
	struct vprof_decisions of_f = { .roots = &f, .n_roots = 1, .broken_down = &f, .n_broken_down = 1 };
	enum { GRAB = 1, A = 2 };
	struct vprof_plan *plan;
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_error err;
	struct fixture fx;
	int header, a;
	char *shadow;

	(void)state;
	fixture_init(&fx);
	header = fixture_file(&fx, "lock.h", "void grab() { work(); }\n");
	a = fixture_file(&fx, "a.cc", "void f() { grab(); }\n");
	fixture_function(&fx, header, "grab", cxx);
	fixture_call(&fx, a, fixture_function(&fx, a, "f", cxx), "f", "grab", "direct", "", 1);
	fixture_sql(&fx, "INSERT INTO tu_file VALUES(%d,%d)", a, header);
	fixture_sql(&fx, "UPDATE call SET form = 'void'");
	fixture_open(&fx);
	shadow = fixture_path(&fx, ".vprof/src");
	assert_int_equal(units_with_probes(&fx, shadow, &of_f, NULL), A);
	assert_int_equal(vprof_plan_make(&plan, fx.facts, fx.graph, NULL, &of_f, NULL, &err), 0);
	assert_int_equal(vprof_splice_text(fx.facts, plan, NULL, "a.cc", &text, &err), 0);
	assert_non_null(strstr(text.s, " VP_SITE_VOID(257, 0x4UL, 1)((grab(), 0)); }"));
	vprof_text_release(&text);
	vprof_plan_free(plan);
	free(shadow);
	fixture_release(&fx);
}

/* lock.h holds grab(), static: f in a.c and g in b.c call it; c.c only reads it. */
static void header_functions_concern_their_callers(void **state)
{
	struct vprof_name f = { "f", "", "" }, g = { "g", "", "" }, grab = { "grab", "", "" };
	struct vprof_decisions of_f = { .roots = &f, .n_roots = 1, .broken_down = &f, .n_broken_down = 1 };
	struct vprof_decisions of_g = { .roots = &g, .n_roots = 1, .broken_down = &g, .n_broken_down = 1 };
	struct vprof_decisions root = { .roots = &grab, .n_roots = 1 }, all = { .all = 1 };
	struct vprof_hook hook = { .kind = VPROF_HOOK_BEGIN, .function = "grab", .name = "r", .value.text = "1" };
	struct vprof_annotations annotated = { .path = "vprof.json", .hooks = &hook, .n_hooks = 1 };
	enum { HEADER = 1, A = 2, B = 4, C = 8 };
	struct fixture fx;
	char *shadow;

	(void)state;
	for (int is_static = 0; is_static < 2; is_static++) {
		int header, a, b, c;

		fixture_init(&fx);
		header = fixture_file(&fx, "lock.h", "void grab(void) { work(); }\n");
		a = fixture_file(&fx, "a.c", "void f(void) { grab(); }\n");
		b = fixture_file(&fx, "b.c", "void g(void) { h(); grab(); }\nvoid h(void) { }\n");
		c = fixture_file(&fx, "c.c", "void k(void) { }\n");
		fixture_function(&fx, header, "grab", (struct fixture_function){ 0 });
		fixture_call(&fx, a, fixture_function(&fx, a, "f", (struct fixture_function){ 0 }), "f", "grab",
			     "direct", "", 1);
		fixture_call(&fx, b, fixture_function(&fx, b, "g", (struct fixture_function){ 0 }), "g", "grab",
			     "direct", "", 1);
		fixture_function(&fx, b, "h", (struct fixture_function){ 0 });
		fixture_function(&fx, c, "k", (struct fixture_function){ 0 });
		for (int tu = a; tu <= c; tu++)
			fixture_sql(&fx, "INSERT INTO tu_file VALUES(%d,%d)", tu, header);
		fixture_sql(&fx, "UPDATE function SET is_static = %d WHERE name = 'grab'", is_static);
		fixture_open(&fx);
		shadow = fixture_path(&fx, ".vprof/src");
		/* the header's own unit has nobody that calls it in the first two */
		assert_int_equal(units_with_probes(&fx, shadow, &of_f, NULL), is_static ? A : HEADER | A | B | C);
		assert_int_equal(units_with_probes(&fx, shadow, &of_g, NULL), is_static ? B : HEADER | A | B | C);
		assert_int_equal(units_with_probes(&fx, shadow, &root, NULL), HEADER | A | B | C);
		assert_int_equal(units_with_probes(&fx, shadow, &all, NULL), HEADER | A | B | C);
		assert_int_equal(units_with_probes(&fx, shadow, &of_f, &annotated), HEADER | A | B | C);
		free(shadow);
		fixture_release(&fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_functions_concern_their_callers),
		cmocka_unit_test(header_functions_of_cxx_leave_the_header),
		cmocka_unit_test(function_and_site_probes),
		cmocka_unit_test(hooks_at_entry),
		cmocka_unit_test(hooks_at_exit_with_entry_values),
		cmocka_unit_test(returned_value_in_c),
		cmocka_unit_test(exit_of_void_functions),
		cmocka_unit_test(exit_in_cxx),
		cmocka_unit_test(impossible_annotations_are_explained),
		cmocka_unit_test(shadow_tree_and_fingerprints),
		cmocka_unit_test(api_calls_need_the_probe_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
