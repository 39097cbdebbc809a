/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files under way when a signal ends the program. Each case is a child process. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/unfinished.h"

static char folder[64];

static char *path_of(int i)
{
	static char path[96];

	snprintf(path, sizeof path, "%s/file-%d", folder, i);
	return path;
}

static void make(int i)
{
	FILE *f = fopen(path_of(i), "w");

	if (!f || fclose(f))
		_exit(99);
}

/* Files 0 to n - 1 are under way, but those in `left` (bits) are done; then the signal comes. The child's wait status.
 */
static int child(int n, unsigned left, int number, void (*disposition)(int))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(number, disposition);
		vprof_unfinished_guard();
		for (int i = 0; i < n; i++) {
			int slot = vprof_unfinished_enter(path_of(i));

			make(i);
			if (i < 32 && left >> i & 1)
				vprof_unfinished_leave(slot);
		}
		raise(number);
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int n_there(int n)
{
	int there = 0;

	for (int i = 0; i < n; i++)
		there += !unlink(path_of(i));
	return there;
}

static void test_removed(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ };

	(void)state;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		int status = child(3, 2, signals[i], SIG_DFL);

		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
		assert_int_equal(access(path_of(1), F_OK), 0); /* done: stays */
		assert_int_equal(n_there(3), 1);
	}
}

/* More than there are slots: the program ends all the same, the surplus stays. */
static void test_many(void **state)
{
	int status = child(70, 0, SIGTERM, SIG_DFL);

	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(n_there(70), 6);
}

static void own_handler(int number)
{
	(void)number;
}

static void test_others_handle(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(child(2, 0, SIGHUP, SIG_IGN)), 7);
	assert_int_equal(n_there(2), 2);
	assert_int_equal(WEXITSTATUS(child(2, 0, SIGINT, own_handler)), 7);
	assert_int_equal(n_there(2), 2);
}

static void test_long_path(void **state)
{
	char *path = calloc(1, 5001);

	(void)state;
	memset(path, 'x', 5000);
	assert_int_equal(vprof_unfinished_enter(path), -1);
	vprof_unfinished_leave(-1);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_removed), cmocka_unit_test(test_many),
					    cmocka_unit_test(test_others_handle), cmocka_unit_test(test_long_path) };
	int failed;

	snprintf(folder, sizeof folder, "/tmp/vprof-unfinished-XXXXXX");
	if (!mkdtemp(folder))
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return rmdir(folder) ? 99 : failed;
}
