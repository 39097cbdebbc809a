/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "common/hash/string_set.h"

static char folder[] = "/tmp/vprof-files-XXXXXX";

/* A compiler whose vprof was killed goes on writing into its folder. */
static void test_remove_while_written(void **state)
{
	char written[] = "/tmp/vprof-files-XXXXXX", path[128];
	struct vprof_error err;
	pid_t test = getpid(), writer;
	int rc = 0;

	(void)state;
	assert_non_null(mkdtemp(written));
	writer = fork();
	assert_true(writer >= 0);
	for (int i = 0; !writer; i++) {
		if (getppid() != test || i == 10000000)
			_exit(0);
		snprintf(path, sizeof path, "%s/%d", written, i % 1000);
		close(open(path, O_WRONLY | O_CREAT, 0600));
		if (i % 4 == 3)
			nanosleep(&(struct timespec){ 0, 1000 }, NULL);
	}
	for (int i = 0; i < 300 && !rc; i++) {
		for (int k = 0; k < 10; k++)
			sched_yield();
		rc = vprof_dir_remove(written, &err);
		if (!rc)
			rc = vprof_dir_make(written, &err);
	}
	kill(writer, SIGKILL);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	assert_int_equal(vprof_dir_remove(written, NULL), 0);
	assert_int_equal(rc, 0);
}

static void path_is(const char *base, const char *path, const char *wanted)
{
	char *got = vprof_path_absolute(base, path);

	assert_string_equal(got, wanted);
	free(got);
}

static void test_paths(void **state)
{
	(void)state;
	path_is("/a/b", "c.h", "/a/b/c.h");
	path_is("/a/b", "../c.h", "/a/c.h");
	path_is("/a", "../../../x", "/x");
	path_is("/a", "/q//./r/", "/q/r");
	path_is("/", ".", "/");
	assert_true(vprof_path_inside("/a", "/a/b") && vprof_path_inside("/a", "/a") && vprof_path_inside("/", "/x"));
	assert_false(vprof_path_inside("/a", "/ab"));
}

static void rooted_is(const char *base, const char *path, const char *wanted)
{
	char root[64], *got;

	snprintf(root, sizeof root, "%s/root", folder);
	got = vprof_path_rooted(root, base, path);
	assert_string_equal(got + strlen(folder), wanted);
	free(got);
}

static void test_links_into_root(void **state)
{
	char base[96], link[96];
	struct vprof_error err;

	(void)state;
	snprintf(base, sizeof base, "%s/root/sub", folder);
	assert_int_equal(vprof_dir_make(base, &err), 0);
	snprintf(link, sizeof link, "%s/link", folder);
	assert_int_equal(symlink("root", link), 0);
	rooted_is(base, "a.c", "/root/sub/a.c");
	rooted_is(base, "../../other/a.c", "/other/a.c");
	rooted_is(link, "sub/missing.c", "/root/sub/missing.c");
	rooted_is(link, ".", "/root");
	rooted_is(folder, "link/sub", "/root/sub");
	rooted_is(link, "nowhere/a.c", "/link/nowhere/a.c");
	snprintf(base, sizeof base, "%s/root/a.c", folder);
	assert_int_equal(vprof_file_write(base, "", 0, &err), 0);
	snprintf(link, sizeof link, "%s/b.c", folder);
	assert_int_equal(symlink("root/a.c", link), 0);
	rooted_is(folder, "b.c", "/b.c"); /* a link to a file is a name of its own */
}

static void test_read_write(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	char hex[17];
	char *one = vprof_path_join(folder, "deep/er/one"), *two = vprof_path_join(folder, "two"),
	     *deep = vprof_path_join(folder, "deep/er"), *alias = vprof_path_join(folder, "alias");
	char bytes[8];
	struct stat a, b;
	int fd;

	(void)state;
	assert_int_equal(vprof_file_read(one, &text, &err), VPROF_ERR_MISSING);
	assert_non_null(strstr(err.message, one));
	assert_int_equal(vprof_dir_make(deep, &err), 0);
	assert_int_equal(vprof_file_write(one, "a\0b", 3, &err), 0);
	assert_int_equal(vprof_file_read(one, &text, &err), 0);
	assert_int_equal(text.len, 3);
	assert_int_equal(vprof_file_read(deep, &text, &err), VPROF_ERR_INPUT);
	assert_int_equal(mkfifo(two, 0600), 0); /* nobody will ever write into it */
	assert_int_equal(vprof_file_read(two, &text, &err), VPROF_ERR_INPUT);
	fd = open(two, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(vprof_file_write(two, "abc", 3, &err), 0); /* into it: a device would be gone for all */
	assert_int_equal(read(fd, bytes, sizeof bytes), 3);
	assert_int_equal(symlink(two, alias), 0);
	assert_int_equal(vprof_file_write(alias, "de", 2, &err), 0);
	assert_int_equal(read(fd, bytes, sizeof bytes), 2);
	assert_true(!lstat(two, &a) && S_ISFIFO(a.st_mode) && !lstat(alias, &b) && S_ISLNK(b.st_mode));
	assert_int_equal(unlink(alias), 0);
	assert_int_equal(symlink(one, alias), 0);
	/* a link to a file is replaced, the file is left alone */
	assert_int_equal(vprof_file_write(alias, "xyz", 3, &err), 0);
	assert_true(!lstat(alias, &b) && S_ISREG(b.st_mode) && !stat(one, &a) && a.st_size == 3 &&
		    a.st_ino != b.st_ino);
	assert_int_equal(vprof_file_write("/dev/full", "x", 1, &err), VPROF_ERR_FAILED);
	assert_true(!stat("/dev/full", &a) && S_ISCHR(a.st_mode));
	close(fd);
	assert_int_equal(unlink(two), 0);
	assert_int_equal(vprof_file_read("/dev/zero", &text, &err), VPROF_ERR_INPUT);
	assert_int_equal(chmod(one, 0640), 0);
	assert_int_equal(vprof_file_copy(one, two, &err), 0);
	assert_int_equal(stat(one, &a) | stat(two, &b), 0);
	assert_int_equal(a.st_mode, b.st_mode);
	assert_int_equal(a.st_mtim.tv_nsec, b.st_mtim.tv_nsec);
	assert_int_equal(vprof_file_hash(two, hex, &err), 0);
	assert_int_equal(strlen(hex), 16);
	assert_int_equal(vprof_file_write("/nonexistent/x", "", 0, &err), VPROF_ERR_FAILED);
	assert_int_equal(vprof_dir_make("/dev/null/x", &err), VPROF_ERR_FAILED);
	assert_int_equal(vprof_dir_remove(folder, &err), 0);
	assert_int_equal(vprof_dir_remove(folder, &err), 0);
	vprof_text_release(&text);
	free(one);
	free(two);
	free(deep);
	free(alias);
}

static void test_text(void **state)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	char *s;

	(void)state;
	assert_string_equal(t.s, "");
	for (int i = 0; i < 1000; i++)
		vprof_text_addf(&t, "%d,", i);
	assert_int_equal(t.len, 10 * 2 + 90 * 3 + 900 * 4);
	assert_int_equal(strlen(t.s), t.len);
	vprof_text_clear(&t);
	assert_string_equal(t.s, "");
	vprof_text_add(&t, "end");
	s = vprof_text_detach(&t);
	assert_string_equal(s, "end");
	assert_int_equal(t.len, 0);
	free(s);
	vprof_text_release(&t);
}

static void test_errors(void **state)
{
	struct vprof_error err;
	char *longer = malloc(5000);

	(void)state;
	memset(longer, 'x', 4999);
	longer[4999] = 0;
	assert_int_equal(vprof_error_set(&err, VPROF_ERR_INPUT, "no %s", "luck"), VPROF_ERR_INPUT);
	vprof_error_prefix(&err, VPROF_ERR_INPUT, "line %d", 3);
	assert_string_equal(err.message, "line 3: no luck");
	vprof_error_set(&err, VPROF_ERR_INPUT, "%s", longer);
	assert_string_equal(err.message + sizeof err.message - 4, "...");
	assert_int_equal(vprof_error_set(NULL, VPROF_ERR_STALE, "x"), VPROF_ERR_STALE);
	free(longer);
}

static void test_string_set(void **state)
{
	struct vprof_strings set = { 0 };
	char name[32];
	const char *first = vprof_strings_keep(&set, "n7");

	(void)state;
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof name, "n%d", i);
		assert_non_null(vprof_strings_keep(&set, name));
	}
	assert_int_equal(set.kept.n, 5000);
	assert_ptr_equal(vprof_strings_keep(&set, "n7"), first);
	assert_ptr_equal(vprof_strings_look(&set, "n7"), first);
	assert_null(vprof_strings_look(&set, "other"));
	vprof_strings_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),	   cmocka_unit_test(test_links_into_root),
		cmocka_unit_test(test_read_write), cmocka_unit_test(test_remove_while_written),
		cmocka_unit_test(test_text),	   cmocka_unit_test(test_errors),
		cmocka_unit_test(test_string_set)
	};

	if (!mkdtemp(folder))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
