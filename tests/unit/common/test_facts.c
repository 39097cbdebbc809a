/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "tests/unit/common/facts_db.h"

static int setup(void **state)
{
	(void)state;
	db_new();
	db_function(3, 1, "serve", "u:serve", "int (void)");
	db_function(5, 1, "flushAppendOnlyFile", "u:flush", "void (int)");
	db_function(8, 2, "helper", "u:static|b", "int (void)");
	db_function(9, 1, "helper", "u:static|a", "int (void)");
	db_function(11, 1, "main", "u:main", "int (void)");
	db_function(12, 2, "main", "u:main", "int (void)");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	db_free();
	return 0;
}

static void test_lookup(void **state)
{
	uint32_t found[4];
	struct vprof_facts *f;

	(void)state;
	db_exec("INSERT INTO tu VALUES(1, '/p/src/a.c', '/p', '/p/a.o', '[]', 'c', 'ok', ''),"
		" (4, '/p/other/b.c', '/p', '/p/b.o', '[]', 'c', 'ok', '');"
		"INSERT INTO tu_file VALUES(1, 1), (4, 1), (4, 2);");
	f = db_facts();
	assert_string_equal(f->root, "/p");
	assert_int_equal(f->n_functions, 6);
	assert_int_equal(f->tus[0].n_files, 1);
	assert_int_equal(f->tus[1].n_files, 2);
	assert_int_equal(f->tus[1].files[1], 2);
	assert_string_equal(vprof_facts_function(f, 5)->name, "flushAppendOnlyFile");
	assert_null(vprof_facts_function(f, 4));
	assert_null(vprof_facts_file(f, 99));
	assert_int_equal(vprof_facts_find(f, "helper", NULL, found, 4), 2);
	assert_int_equal(vprof_facts_find(f, "helper", "b.c", found, 4), 1);
	assert_int_equal(f->functions[found[0]].id, 8);
	assert_int_equal(vprof_facts_find(f, "helper", "r/b.c", found, 4), 0); /* whole components only */
	assert_int_equal(vprof_facts_find(f, "helper", NULL, found, 1), 2);    /* more than there is room */
	vprof_facts_free(f);
}

static void test_nearest(void **state)
{
	struct vprof_facts *f = db_facts();

	(void)state;
	assert_string_equal(vprof_facts_nearest(f, "flushApendOnlyFile"), "flushAppendOnlyFile");
	assert_string_equal(vprof_facts_nearest(f, "sevre"), "serve");
	assert_null(vprof_facts_nearest(f, "nothingLikeIt"));
	assert_null(vprof_facts_nearest(f, ""));
	vprof_facts_free(f);
}

static void test_calls(void **state)
{
	struct vprof_facts *f;
	const struct vprof_facts_function *serve;

	(void)state;
	db_call(20, 5, "main", "u:main", "direct", "");
	db_call(21, 3, "flushAppendOnlyFile", "u:flush", "direct", "");
	db_call(22, 8, "main", "u:main", "direct", "");
	db_call(23, 3, "fsync", "u:fsync", "direct", "");
	f = db_facts();
	serve = vprof_facts_function(f, 3);
	assert_int_equal(serve->n_calls, 2);
	assert_int_equal(f->calls[f->calls_by_caller[serve->first_call]].id, 21);
	assert_int_equal(f->functions[vprof_facts_call(f, 21)->callee_function - 1].id, 5);
	assert_int_equal(vprof_facts_call(f, 23)->callee_function, 0);
	/* Two programs define main: the one in the caller's file. */
	assert_int_equal(f->functions[vprof_facts_call(f, 20)->callee_function - 1].id, 11);
	assert_int_equal(f->functions[vprof_facts_call(f, 22)->callee_function - 1].id, 12);
	vprof_facts_free(f);
}

static void test_pointer_targets(void **state)
{
	uint32_t found[8];
	struct vprof_facts *f;

	(void)state;
	db_address("u:serve", "int (void)");
	db_address("u:serve", "int (void)"); /* twice taken, once found */
	db_address("u:static|a", "int ()");
	db_address("u:flush", "void (int)");
	db_address("u:elsewhere", "int (void)"); /* no body in the project */
	f = db_facts();
	assert_int_equal(vprof_facts_pointer_targets(f, "int (void)", found, 8), 2);
	assert_int_equal(vprof_facts_pointer_targets(f, "int ()", found, 8), 2);
	assert_int_equal(vprof_facts_pointer_targets(f, "void (int)", found, 8), 1);
	assert_int_equal(f->functions[found[0]].id, 5);
	assert_int_equal(vprof_facts_pointer_targets(f, "long (long)", found, 8), 0);
	assert_int_equal(vprof_facts_pointer_targets(f, "garbage", found, 8), 0);
	vprof_facts_free(f);
}

static void test_overriders(void **state)
{
	uint32_t found[8];
	struct vprof_facts *f;

	(void)state;
	db_exec("INSERT INTO override VALUES('u:flush', 'u:serve'), ('u:static|a', 'u:flush'), ('u:serve', 'u:static|a'),"
		" ('u:pure', 'u:serve'), ('u:static|b', 'u:pure')"); /* with a circle that no compiler would allow */
	f = db_facts();
	assert_int_equal(vprof_facts_overriders(f, "u:serve", found, 8), 4);
	assert_int_equal(vprof_facts_overriders(f, "u:pure", found, 8), 1);
	assert_int_equal(vprof_facts_overriders(f, "u:unknown", found, 8), 0);
	vprof_facts_free(f);
}

static void refused(int code, const char *word)
{
	struct vprof_error err = { "" };
	struct vprof_facts *f = NULL;

	assert_int_equal(vprof_facts_open(&f, db_path, &err), code);
	assert_null(f);
	if (!strstr(err.message, word))
		fail_msg("no \"%s\" in: %s", word, err.message);
}

static void test_damaged(void **state)
{
	struct vprof_error err;
	struct vprof_facts *f;

	(void)state;
	assert_int_equal(vprof_facts_open(&f, "/nonexistent/facts.db", &err), VPROF_ERR_MISSING);
	db_exec("INSERT INTO call SELECT 1, 77, 1, 0, 1, 1, 1, 'f', 'u', 'direct', '', 1, 'statement', '', 0, '[]'");
	refused(VPROF_ERR_CORRUPT, "unknown function");
	db_exec("DELETE FROM call; UPDATE function SET file = -5 WHERE id = 3");
	refused(VPROF_ERR_CORRUPT, "damaged");
	db_exec("UPDATE function SET file = 1 WHERE id = 3; UPDATE meta SET value = '99' WHERE key = 'version'");
	refused(VPROF_ERR_CORRUPT, "another version");
	db_exec("UPDATE meta SET value = '" VPROF_FACTS_VERSION_TEXT "' WHERE key = 'version'; DROP TABLE call");
	refused(VPROF_ERR_CORRUPT, "call");
	assert_int_equal(truncate(db_path, 3000), 0);
	refused(VPROF_ERR_CORRUPT, db_path);
}

static void test_fresh(void **state)
{
	struct vprof_facts *f = db_facts();
	struct vprof_error err = { "" };

	(void)state;
	assert_int_equal(vprof_facts_check_fresh(f, &err), VPROF_ERR_STALE); /* /p/src/a.c is not there */
	assert_non_null(strstr(err.message, "/p/src/a.c"));
	vprof_facts_free(f);
}

int main(void)
{
#define WITH_DB(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_DB(test_lookup),	  WITH_DB(test_nearest), WITH_DB(test_calls), WITH_DB(test_pointer_targets),
		WITH_DB(test_overriders), WITH_DB(test_damaged), WITH_DB(test_fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
