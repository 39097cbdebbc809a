/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which probes a plan holds, and when their gates open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts_fixture.h"
#include "instrumenter/instrument.h"
#include "instrumenter/plan/plan_external.h"
#include "trace/format.h"

static const char *const server =
	"int serve(int fd) { tiny(1); work(fd); write(fd, 0, 0); c->proc(fd); strlen(0); return 0; }\n"
	"void work(int fd) { left(); right(); }\n"
	"void tiny(int x) { }\n"
	"void left(void) { fdatasync(1); }\n"
	"void right(void) { }\n"
	"int handler(int fd) { left(); return 1; }\n"
	"void lonely(void) { right(); }\n"
	"void macro_made(void) { left(); }\n"
	"void through(void) { macro_made(); }\n"
	"int compare(const void *a, const void *b) { return 0; }\n"
	"void sorter(void) { qsort(0); }\n";

enum { SERVE = 1, WORK, TINY, LEFT, RIGHT, HANDLER, LONELY, MACRO_MADE, THROUGH, COMPARE, SORTER };
enum { CALL_TINY = 1, CALL_WORK, CALL_WRITE, CALL_PROC, CALL_STRLEN, CALL_LEFT, CALL_RIGHT, CALL_SYNC };

static int set_up(void **state)
{
	struct fixture *fx = malloc(sizeof *fx);
	const char *proc = "int (int)";
	int f;

	fixture_init(fx);
	f = fixture_file(fx, "src/server.c", server);
	fixture_function(fx, f, "serve", (struct fixture_function){ .returns = "int", .return_kind = "scalar" });
	fixture_function(fx, f, "work", (struct fixture_function){ 0 });
	fixture_function(fx, f, "tiny", (struct fixture_function){ .is_tiny = 1 });
	fixture_function(fx, f, "left", (struct fixture_function){ 0 });
	fixture_function(fx, f, "right", (struct fixture_function){ 0 });
	fixture_function(fx, f, "handler", (struct fixture_function){ .signature = proc });
	fixture_function(fx, f, "lonely", (struct fixture_function){ 0 });
	fixture_function(fx, f, "macro_made",
			 (struct fixture_function){ .not_instrumentable = 1, .reason = "body-in-macro" });
	fixture_function(fx, f, "through", (struct fixture_function){ 0 });
	fixture_function(fx, f, "compare",
			 (struct fixture_function){ .signature = "int (const void *, const void *)" });
	fixture_function(fx, f, "sorter", (struct fixture_function){ 0 });
	fixture_call(fx, f, SERVE, "serve", "tiny", "direct", "", 1);
	fixture_call(fx, f, SERVE, "serve", "work", "direct", "", 1);
	fixture_call(fx, f, SERVE, "serve", "write", "direct", "", 1);
	fixture_call(fx, f, SERVE, "serve", "c->proc", "pointer", proc, 1);
	fixture_call(fx, f, SERVE, "serve", "strlen", "direct", "", 1);
	fixture_call(fx, f, WORK, "work", "left", "direct", "", 1);
	fixture_call(fx, f, WORK, "work", "right", "direct", "", 1);
	fixture_call(fx, f, LEFT, "left", "fdatasync", "direct", "", 1);
	fixture_call(fx, f, HANDLER, "handler", "left", "direct", "", 1);
	fixture_call(fx, f, LONELY, "lonely", "right", "direct", "", 1);
	fixture_call(fx, f, MACRO_MADE, "macro_made", "left", "direct", "", 1);
	fixture_call(fx, f, THROUGH, "through", "macro_made", "direct", "", 1);
	fixture_call(fx, f, SORTER, "sorter", "qsort", "direct", "", 0);
	fixture_address(fx, f, "handler", proc, "initializer", "commands", 0);
	fixture_address(fx, f, "compare", "int (const void *, const void *)", "argument", "qsort", SORTER);
	fixture_open(fx);
	*state = fx;
	return 0;
}

static int tear_down(void **state)
{
	fixture_release(*state);
	free(*state);
	return 0;
}

static struct vprof_plan *make(struct fixture *fx, const struct vprof_decisions *d, const struct vprof_annotations *a,
			       struct vprof_text *skipped)
{
	struct vprof_plan *plan;
	struct vprof_error err;

	if (vprof_plan_make(&plan, fx->facts, fx->graph, a, d, skipped, &err))
		fail_msg("%s", err.message);
	return plan;
}

static const struct vprof_probe *function(const struct vprof_plan *plan, int id)
{
	return vprof_plan_probe(plan, VP_CODE_FUNCTION + (uint32_t)id);
}

static const struct vprof_probe *site(const struct vprof_plan *plan, int id)
{
	return vprof_plan_probe(plan, VP_CODE_SITE + (uint32_t)id);
}

static void root_is_a_leaf_until_broken_down(void **state)
{
	struct vprof_name root = { "serve", "", "" };
	struct vprof_decisions d = { .roots = &root, .n_roots = 1 };
	struct vprof_plan *plan = make(*state, &d, NULL, NULL);

	assert_int_equal(plan->n_probes, 1);
	assert_true(function(plan, SERVE)->mask == VPROF_MASK_ANY);
	assert_true(function(plan, SERVE)->is_root);
	assert_false(function(plan, SERVE)->broken_down);
	assert_int_equal(function(plan, SERVE)->context, VPROF_CONTEXT_LEAF);
	assert_int_equal(function(plan, SERVE)->n_children, 3); /* work, write, c->proc */
	assert_string_equal(function(plan, SERVE)->file, "src/server.c");
	assert_int_equal(function(plan, SERVE)->height, plan->graph_height);
	vprof_plan_free(plan);
}

/* A closed function is no child, nor are the functions and sites beneath it; a root is closed as others are. */
static void closed_functions_are_not_measured(void **state)
{
	struct vprof_name names[] = { { "serve", "", "" }, { "work", "server.c", "" } };
	struct vprof_closed closed[] = {
		{ .name = "right", .file = "src/server.c", .caller = "", .display = "right", .run = "0002" },
		{ .name = "write", .file = "src/server.c", .caller = "serve", .display = "write", .run = "0002" },
		{ .name = "work", .file = "src/other.c", .caller = "", .display = "work", .run = "0002" },
	};
	struct vprof_decisions d = {
		.roots = names, .n_roots = 1, .broken_down = names, .n_broken_down = 2, .closed = closed, .n_closed = 2
	};
	struct vprof_plan *plan = make(*state, &d, NULL, NULL);

	assert_null(function(plan, RIGHT));
	assert_null(site(plan, CALL_WRITE));
	assert_int_equal(function(plan, LEFT)->mask, 1 << 3);
	assert_int_equal(function(plan, WORK)->n_children, 1);
	assert_int_equal(plan->n_closed, 2);
	assert_string_equal(plan->closed[1].name, "write");
	vprof_plan_free(plan);
	d.n_closed = 3; /* of another file */
	plan = make(*state, &d, NULL, NULL);
	assert_true(function(plan, WORK)->broken_down);
	vprof_plan_free(plan);
	closed[2].file = "src/server.c"; /* with all beneath it, though it is broken down */
	plan = make(*state, &d, NULL, NULL);
	assert_null(function(plan, WORK));
	assert_null(function(plan, LEFT));
	assert_int_equal(function(plan, SERVE)->context, 2);
	assert_int_equal(plan->n_closed, 3);
	vprof_plan_free(plan);
	d.n_roots = 2;
	plan = make(*state, &d, NULL, NULL);
	assert_null(function(plan, WORK));
	assert_int_equal(function(plan, SERVE)->context, 2); /* the contexts stay as they were */
	assert_int_equal(plan->n_closed, 3);
	vprof_plan_free(plan);
}

static void children_open_in_their_parents_only(void **state)
{
	struct vprof_name names[] = { { "serve", "", "" }, { "work", "server.c", "" } };
	struct vprof_decisions d = { .roots = names, .n_roots = 1, .broken_down = names, .n_broken_down = 2 };
	struct vprof_plan *plan = make(*state, &d, NULL, NULL);

	assert_int_equal(function(plan, SERVE)->context, 2);
	assert_int_equal(function(plan, WORK)->context, 3);
	assert_int_equal(function(plan, WORK)->mask, 1 << 2);
	assert_int_equal(function(plan, LEFT)->mask, 1 << 3);
	assert_int_equal(function(plan, LEFT)->context, VPROF_CONTEXT_LEAF);
	assert_int_equal(function(plan, LEFT)->n_children, 1);
	assert_int_equal(site(plan, CALL_WRITE)->mask, 1 << 2);
	assert_int_equal(site(plan, CALL_WRITE)->kind, VPROF_PROBE_SITE);
	assert_string_equal(site(plan, CALL_WRITE)->caller, "serve");
	assert_int_equal(site(plan, CALL_PROC)->kind, VPROF_PROBE_POINTER);
	assert_string_equal(site(plan, CALL_PROC)->display, "(*c->proc)");
	assert_int_equal(site(plan, CALL_PROC)->n_children, 1);
	assert_null(function(plan, TINY));
	assert_null(site(plan, CALL_STRLEN));
	assert_null(site(plan, CALL_SYNC));
	assert_null(function(plan, HANDLER));
	vprof_plan_free(plan);
}

static void pointer_site_broken_down_measures_its_targets(void **state)
{
	struct vprof_name names[] = { { "serve", "", "" }, { "c->proc", "src/server.c", "serve" } };
	struct vprof_decisions d = { .roots = names, .n_roots = 1, .broken_down = names, .n_broken_down = 2 };
	struct vprof_plan *plan = make(*state, &d, NULL, NULL);

	assert_true(site(plan, CALL_PROC)->broken_down);
	assert_int_equal(site(plan, CALL_PROC)->context, 3);
	assert_int_equal(site(plan, CALL_PROC)->mask, 1 << 2);
	assert_int_equal(function(plan, HANDLER)->mask, 1 << 3);
	vprof_plan_free(plan);
}

static void unknown_and_unreached_names_are_told(void **state)
{
	struct vprof_name names[] = { { "lonely", "", "" }, { "fsync", "", "" }, { "macro_made", "", "" } };
	struct vprof_decisions d = { .broken_down = names, .n_broken_down = 3 };
	struct vprof_text skipped = VPROF_TEXT_INIT;
	struct vprof_plan *plan = make(*state, &d, NULL, &skipped);

	assert_non_null(function(plan, LONELY));
	assert_int_equal(function(plan, LONELY)->mask, 0);
	assert_int_equal(function(plan, RIGHT)->mask, 1 << 2);
	assert_non_null(strstr(skipped.s, "lonely: no measured function calls it"));
	assert_non_null(strstr(skipped.s, "fsync: has no body"));
	assert_non_null(strstr(skipped.s, "macro_made: body-in-macro"));
	vprof_text_release(&skipped);
	vprof_plan_free(plan);
}

static void functions_without_a_probe_are_looked_through(void **state)
{
	struct vprof_name name = { "through", "", "" };
	struct vprof_decisions d = { .roots = &name, .n_roots = 1, .broken_down = &name, .n_broken_down = 1 };
	struct vprof_plan *plan = make(*state, &d, NULL, NULL);

	assert_null(function(plan, MACRO_MADE));
	assert_int_equal(function(plan, LEFT)->mask, 1 << 2);
	vprof_plan_free(plan);
}

static void callbacks_given_away_are_children(void **state)
{
	struct vprof_name name = { "sorter", "", "" };
	struct vprof_decisions d = { .roots = &name, .n_roots = 1, .broken_down = &name, .n_broken_down = 1 };
	struct vprof_plan *plan = make(*state, &d, NULL, NULL);

	assert_int_equal(function(plan, COMPARE)->mask, 1 << 2);
	vprof_plan_free(plan);
}

static void exclusions_and_acquire_functions(void **state)
{
	const char *exclude[] = { "wor*", "tiny" };
	struct vprof_hook hook = { .kind = VPROF_HOOK_ACQUIRE, .function = "tiny" };
	struct vprof_annotations a = { .exclude = exclude, .n_exclude = 2, .hooks = &hook, .n_hooks = 1 };
	struct vprof_name name = { "serve", "", "" };
	struct vprof_decisions d = { .roots = &name, .n_roots = 1, .broken_down = &name, .n_broken_down = 1 };
	struct vprof_plan *plan = make(*state, &d, &a, NULL);

	assert_null(function(plan, WORK));
	assert_int_equal(function(plan, TINY)->mask, 1 << 2);
	vprof_plan_free(plan);
}

static void all_means_every_instrumentable_function(void **state)
{
	struct vprof_decisions d = { .all = 1 };
	struct vprof_plan *plan = make(*state, &d, NULL, NULL);

	assert_true(plan->all);
	assert_int_equal(plan->n_probes, SORTER - 1); /* but macro_made */
	assert_true(function(plan, TINY)->mask == VPROF_MASK_ANY);
	assert_int_equal(function(plan, TINY)->context, VPROF_CONTEXT_LEAF);
	assert_null(function(plan, MACRO_MADE));
	vprof_plan_free(plan);
}

static void context_bits_wrap_after_62(void **state)
{
	struct vprof_name names[64];
	struct vprof_decisions d = { .broken_down = names, .n_broken_down = 64 };
	struct vprof_plan *plan;

	for (size_t i = 0; i < 64; i++)
		names[i] = (struct vprof_name){ i == 63 ? "work" : "lonely", "", "" };
	plan = make(*state, &d, NULL, NULL);
	assert_int_equal(function(plan, WORK)->context, VPROF_CONTEXT_FIRST + 1);
	vprof_plan_free(plan);
}

static void twins_share_one_probe(void **state)
{
	struct fixture fx;
	struct vprof_decisions d = { .all = 1 };
	struct vprof_plan *plan;
	int f;

	(void)state;
	fixture_init(&fx);
	f = fixture_file(&fx, "twice.c", "void both(void) { }\n");
	fixture_function(&fx, f, "both", (struct fixture_function){ .usr = "one" });
	fixture_function(&fx, f, "both", (struct fixture_function){ .usr = "two" });
	fixture_open(&fx);
	plan = make(&fx, &d, NULL, NULL);
	assert_int_equal(plan->n_probes, 1);
	assert_string_equal(function(plan, 1)->display, "both (+1)");
	vprof_plan_free(plan);
	fixture_release(&fx);
}

/* list.h is read by f.cc and g.cc, which call head(); find() is virtual, tail() is called in no way that can carry a
 * probe. */
static void functions_of_headers_are_measured_at_their_calls(void **state)
{
	struct fixture_function cxx = { .lang = "c++" };
	struct vprof_name names[] = { { "f", "", "" }, { "g", "", "" }, { "head", "", "" } };
	struct vprof_decisions d = { .roots = names, .n_roots = 2, .broken_down = names, .n_broken_down = 2 };
	enum { HEAD = 1, TAIL, FIND, F, G };
	struct vprof_plan *plan;
	struct fixture fx;
	int list, f, g, head_in_f, head_in_g;

	(void)state;
	fixture_init(&fx);
	list = fixture_file(&fx, "list.h", "int head() { wait(); }\nint tail() { wait(); }\nint find() { wait(); }\n");
	f = fixture_file(&fx, "f.cc", "void f() { head(); tail(); }\n");
	g = fixture_file(&fx, "g.cc", "void g() { head(); find(); }\n");
	fixture_sql(&fx, "INSERT INTO tu_file VALUES(%d,%d),(%d,%d)", f, list, g, list);
	fixture_function(&fx, list, "head", cxx);
	fixture_function(&fx, list, "tail", cxx);
	fixture_function(&fx, list, "find", cxx);
	fixture_function(&fx, f, "f", cxx);
	fixture_function(&fx, g, "g", cxx);
	head_in_f = fixture_call(&fx, f, F, "f", "head", "direct", "", 1);
	fixture_call(&fx, f, F, "f", "tail", "direct", "", 0);
	head_in_g = fixture_call(&fx, g, G, "g", "head", "direct", "", 1);
	fixture_call(&fx, g, G, "g", "find", "virtual", "", 1);
	fixture_open(&fx);

	plan = make(&fx, &d, NULL, NULL);
	assert_true(vprof_probe_is_at_calls(function(plan, HEAD)));
	assert_int_equal(function(plan, TAIL)->mask, 1 << VPROF_CONTEXT_FIRST);
	assert_int_equal(function(plan, FIND)->mask, 2 << VPROF_CONTEXT_FIRST);
	assert_int_equal(plan->n_at_calls, 2);
	assert_int_equal(plan->at_calls[0].call, head_in_f);
	assert_int_equal(plan->at_calls[0].mask, 1 << VPROF_CONTEXT_FIRST);
	assert_int_equal(plan->at_calls[0].code, VP_CODE_FUNCTION + HEAD);
	assert_int_equal(plan->at_calls[1].call, head_in_g);
	assert_int_equal(plan->at_calls[1].mask, 2 << VPROF_CONTEXT_FIRST);
	vprof_plan_free(plan);

	d.n_broken_down = 3;
	plan = make(&fx, &d, NULL, NULL);
	assert_int_equal(function(plan, HEAD)->mask, 3 << VPROF_CONTEXT_FIRST);
	assert_int_equal(plan->n_at_calls, 0);
	vprof_plan_free(plan);
	fixture_release(&fx);
}

/* A library may call what it was given the address of, and templates call operators: none of these calls is in the
 * facts. */
static void what_is_called_out_of_sight_is_measured_in_its_body(void **state)
{
	struct fixture_function cxx = { .lang = "c++" };
	struct vprof_name name = { "f", "", "" };
	struct vprof_decisions d = { .roots = &name, .n_roots = 1, .broken_down = &name, .n_broken_down = 1 };
	enum { HEAD = 1, GIVEN, LESS, F, SET_UP };
	struct vprof_plan *plan;
	struct fixture fx;
	int list, f, g;

	(void)state;
	fixture_init(&fx);
	list = fixture_file(&fx, "list.h",
			    "int head() { wait(); }\nint given() { wait(); }\nint operator<() { wait(); }\n");
	f = fixture_file(&fx, "f.cc", "void f() { head(); given(); operator<(); }\n");
	g = fixture_file(&fx, "g.cc", "void set_up() { keep(given); }\n");
	fixture_sql(&fx, "INSERT INTO tu_file VALUES(%d,%d),(%d,%d)", f, list, g, list);
	fixture_function(&fx, list, "head", cxx);
	fixture_function(&fx, list, "given", cxx);
	fixture_function(&fx, list, "operator<", cxx);
	fixture_function(&fx, f, "f", cxx);
	fixture_function(&fx, g, "set_up", cxx);
	fixture_call(&fx, f, F, "f", "head", "direct", "", 1);
	fixture_call(&fx, f, F, "f", "given", "direct", "", 1);
	fixture_call(&fx, f, F, "f", "operator<", "direct", "", 1);
	fixture_address(&fx, g, "given", "int ()", "argument", "keep", SET_UP);
	fixture_open(&fx);

	plan = make(&fx, &d, NULL, NULL);
	assert_true(vprof_probe_is_at_calls(function(plan, HEAD)));
	assert_int_equal(function(plan, GIVEN)->mask, 1 << VPROF_CONTEXT_FIRST);
	assert_int_equal(function(plan, LESS)->mask, 1 << VPROF_CONTEXT_FIRST);
	assert_int_equal(plan->n_at_calls, 1);
	vprof_plan_free(plan);
	fixture_release(&fx);
}

static void cheap_externals_are_off(void **state)
{
	(void)state;
	assert_true(vprof_plan_external_measured("fdatasync"));
	assert_true(vprof_plan_external_measured("snprintf"));
	assert_true(vprof_plan_external_measured("qsort"));
	assert_true(vprof_plan_external_measured("str"));
	assert_false(vprof_plan_external_measured("malloc"));
	assert_false(vprof_plan_external_measured("operator new"));
	assert_false(vprof_plan_external_measured("memcpy"));
	assert_false(vprof_plan_external_measured("towupper"));
	assert_false(vprof_plan_external_measured("__builtin_expect"));
	assert_false(vprof_plan_external_measured("std::__atomic_base::fetch_add"));
	assert_false(vprof_plan_external_measured("std::atomic::load"));
	assert_true(vprof_plan_external_measured("std::__atomic_base::wait"));
	assert_true(vprof_plan_external_measured("std::atomic::notify_one"));
	assert_false(vprof_plan_external_measured("vprof_begin"));
	assert_false(vprof_plan_external_measured(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_is_a_leaf_until_broken_down),
		cmocka_unit_test(children_open_in_their_parents_only),
		cmocka_unit_test(pointer_site_broken_down_measures_its_targets),
		cmocka_unit_test(unknown_and_unreached_names_are_told),
		cmocka_unit_test(functions_without_a_probe_are_looked_through),
		cmocka_unit_test(callbacks_given_away_are_children),
		cmocka_unit_test(exclusions_and_acquire_functions),
		cmocka_unit_test(all_means_every_instrumentable_function),
		cmocka_unit_test(context_bits_wrap_after_62),
		cmocka_unit_test(twins_share_one_probe),
		cmocka_unit_test(functions_of_headers_are_measured_at_their_calls),
		cmocka_unit_test(what_is_called_out_of_sight_is_measured_in_its_body),
		cmocka_unit_test(cheap_externals_are_off),
		cmocka_unit_test(closed_functions_are_not_measured),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
