/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/project.h"
#include "common/files.h"

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/vprof-project-XXXXXX");
	return !mkdtemp(folder) || chdir(folder);
}

static int remove_folder(void **state)
{
	(void)state;
	return chdir("/") || vprof_dir_remove(folder, NULL);
}

static void is_the_nearest_folder_above(void **state)
{
	struct vprof_error err = { "" };
	struct vprof_project p;

	(void)state;
	assert_int_equal(vprof_dir_make("a/b", &err), VPROF_OK);
	assert_int_equal(chdir("a/b"), 0);
	assert_int_equal(vprof_project_open(&p, NULL, &err), VPROF_OK);
	assert_int_equal(p.has_config, 0);
	assert_int_equal(vprof_project_need_config(&p, &err), VPROF_ERR_MISSING);
	assert_non_null(strstr(err.message, "vprof init"));
	vprof_project_release(&p);
	assert_int_equal(vprof_file_write("../vprof.json", "{}", 2, &err), VPROF_OK);
	assert_int_equal(vprof_project_open(&p, NULL, &err), VPROF_OK);
	assert_int_equal(p.has_config, 1);
	assert_true(strlen(p.directory) == strlen(folder) + 2);
	assert_int_equal(vprof_project_need_config(&p, &err), VPROF_OK);
	vprof_project_release(&p);
	assert_int_equal(vprof_project_open(&p, ".", &err), VPROF_OK); /* told where: no search */
	assert_int_equal(p.has_config, 0);
	vprof_project_release(&p);
	assert_int_equal(vprof_project_open(&p, "nowhere", &err), VPROF_ERR_INPUT);
	vprof_project_release(&p);
	assert_int_equal(chdir(folder), 0);
}

static void runs_are_numbered(void **state)
{
	struct vprof_error err = { "" };
	struct vprof_run_name name;
	struct vprof_project p;
	char *path;

	(void)state;
	assert_int_equal(vprof_project_open(&p, NULL, &err), VPROF_OK);
	assert_int_equal(vprof_project_make_dir(&p, &err), VPROF_OK);
	assert_int_equal(access(".vprof/.gitignore", R_OK), 0);
	assert_int_equal(vprof_project_find_run(&p, NULL, "trace", "record one", &name, &err), VPROF_ERR_MISSING);
	assert_non_null(strstr(err.message, "record one"));
	assert_int_equal(vprof_project_new_run(&p, &name, &err), VPROF_OK);
	assert_string_equal(name.s, "0001");
	path = vprof_project_run_path(&p, name.s, "trace");
	assert_int_equal(vprof_dir_make(path, &err), VPROF_OK);
	free(path);
	assert_int_equal(vprof_dir_make(".vprof/runs/notes", &err), VPROF_OK);
	assert_int_equal(vprof_dir_make(".vprof/runs/0009", &err), VPROF_OK);
	assert_int_equal(vprof_project_new_run(&p, &name, &err), VPROF_OK);
	assert_string_equal(name.s, "0010");
	assert_int_equal(vprof_project_find_run(&p, NULL, "trace", "", &name, &err), VPROF_OK);
	assert_string_equal(name.s, "0001");
	assert_int_equal(vprof_project_find_run(&p, "1", "trace", "", &name, &err), VPROF_OK);
	assert_string_equal(name.s, "0001");
	assert_int_equal(vprof_project_find_run(&p, "9", "trace", "", &name, &err), VPROF_ERR_MISSING);
	assert_int_equal(vprof_project_find_run(&p, "../..", "trace", "", &name, &err), VPROF_ERR_INPUT);
	assert_int_equal(vprof_project_find_run(&p, "99999999999", "trace", "", &name, &err), VPROF_ERR_INPUT);
	vprof_project_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_nearest_folder_above),
		cmocka_unit_test(runs_are_numbered),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
