/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof top: what a cause's trend is told from. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/live/top_view.h"
#include "common/files.h"

static char dir[64];

/* One cause with that figure, after so many intervals. */
static void write_look(uint64_t n_intervals, double if_constant)
{
	struct vprof_live_status status = { .pid = getpid(), .round = 1, .run = "0001" };
	struct vprof_results *r = vprof_results_new();
	struct vprof_error err = { "" };
	char path[128];

	r->run = "0001";
	r->interval = "request";
	r->n_complete = n_intervals;
	r->mean_ns = 1000;
	r->causes = calloc(1, sizeof *r->causes);
	r->n_causes = 1;
	r->causes[0] = (struct vprof_cause){ .key = "f", .name = "f", .if_constant = if_constant };
	snprintf(path, sizeof path, "%s/runs/0001/results.json", dir);
	assert_int_equal(vprof_results_write(r, path, &err), 0);
	assert_int_equal(vprof_live_status_write(dir, &status, NULL, &err), 0);
	vprof_results_free(r);
}

static double read_before(struct vprof_top *now, struct vprof_top *before)
{
	struct vprof_error err = { "" };

	assert_int_equal(vprof_top_read(now, dir, before, &err), 0);
	assert_non_null(now->results);
	return now->if_constant_before[0];
}

/* Results that have not changed since keep the trend that they had. */
static void test_trend_stays(void **state)
{
	struct vprof_top looks[4];

	(void)state;
	write_look(1000, 0.5);
	assert_true(isnan(read_before(&looks[0], NULL)));
	write_look(2000, 0.7);
	assert_float_equal(read_before(&looks[1], &looks[0]), 0.5, 1e-9);
	assert_float_equal(read_before(&looks[2], &looks[1]), 0.5, 1e-9);
	write_look(3000, 0.6);
	assert_float_equal(read_before(&looks[3], &looks[2]), 0.7, 1e-9);
	for (size_t i = 0; i < 4; i++)
		vprof_top_release(&looks[i]);
}

/* A plan that nobody has looked at yet shows what was known before it, and says so. */
static void test_changed_plan(void **state)
{
	const struct vprof_top_layout layout = { .width = 79, .rows = 5, .chosen = 0 };
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	struct vprof_top looks[3];
	char path[128];

	(void)state;
	write_look(4000, 0.5);
	assert_int_equal(vprof_top_read(&looks[0], dir, NULL, &err), 0);
	assert_false(looks[0].is_of_before);
	snprintf(path, sizeof path, "%s/runs/0001/results.json", dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(vprof_top_read(&looks[1], dir, &looks[0], &err), 0);
	assert_null(looks[0].results);
	assert_true(looks[1].is_of_before);
	vprof_top_text(&looks[1], &layout, &text);
	assert_non_null(strstr(text.s, "cause (before the plan changed)"));
	assert_non_null(strstr(text.s, "\n> "));
	write_look(5000, 0.5);
	assert_int_equal(vprof_top_read(&looks[2], dir, &looks[1], &err), 0);
	assert_false(looks[2].is_of_before);
	assert_string_equal(vprof_top_row(&looks[2], VPROF_TOP_CAUSES, 0), "f");
	assert_null(vprof_top_row(&looks[2], VPROF_TOP_CAUSES, 1));
	assert_null(vprof_top_row(&looks[2], VPROF_TOP_FUNCTIONS, 0));
	vprof_text_release(&text);
	for (size_t i = 0; i < 3; i++)
		vprof_top_release(&looks[i]);
}

static int make_folder(void **state)
{
	char path[128];

	(void)state;
	strcpy(dir, "/tmp/vprof-top-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof path, "%s/runs/0001", dir);
	return vprof_dir_make(path, NULL);
}

static int remove_folder(void **state)
{
	(void)state;
	return vprof_dir_remove(dir, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_trend_stays), cmocka_unit_test(test_changed_plan) };

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
