/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory there is room for: on hand-made machines without control groups, and with limits in both versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/files.h"
#include "common/memory_room.h"

#define MIB UINT64_C(1048576)

static char root[] = "/tmp/vprof-memory-room-XXXXXX";

static void put(const char *folder, const char *name, const char *text)
{
	char *dir = vprof_path_join(root, folder), *path = vprof_path_join(dir, name);
	struct vprof_error err = { "" };

	if (vprof_dir_make(dir, &err) || vprof_file_write(path, text, strlen(text), &err))
		fail_msg("%s", err.message);
	free(dir);
	free(path);
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	return vprof_dir_remove(root, NULL);
}

static void test_machine(void **state)
{
	(void)state;
	assert_int_equal(vprof_memory_room(root), 0);
	put("proc", "meminfo", "MemTotal:  8192 kB\nMemFree:  1024 kB\nMemAvailable:    4096 kB\n");
	assert_int_equal(vprof_memory_room(root), 4 * MIB);
	put("proc/self", "cgroup", "0::/\nnonsense\n\n");
	assert_int_equal(vprof_memory_room(root), 4 * MIB);
}

static void test_version_2(void **state)
{
	(void)state;
	put("proc", "meminfo", "MemAvailable:    4096 kB\n");
	put("proc/self", "cgroup", "0::/app.slice/job\n");
	put("sys/fs/cgroup/app.slice/job", "memory.max", "max\n");
	put("sys/fs/cgroup/app.slice/job", "memory.current", "1048576\n");
	assert_int_equal(vprof_memory_room(root), 4 * MIB);
	put("sys/fs/cgroup/app.slice", "memory.max", "4194304\n"); /* of the group around it */
	put("sys/fs/cgroup/app.slice", "memory.current", "2097152\n");
	assert_int_equal(vprof_memory_room(root), 2 * MIB);
	put("sys/fs/cgroup", "memory.max", "1048576\n"); /* the root: a container's */
	put("sys/fs/cgroup", "memory.current", "2097152\n");
	assert_int_equal(vprof_memory_room(root), 0);
}

static void test_version_1(void **state)
{
	(void)state;
	put("proc", "meminfo", "MemAvailable:    4096 kB\n");
	put("proc/self", "cgroup", "5:cpu:/job\n4:memory:/docker/1234\n0::/\n");
	put("sys/fs/cgroup/memory", "memory.limit_in_bytes", "3145728\n");
	put("sys/fs/cgroup/memory", "memory.usage_in_bytes", "0\n");
	assert_int_equal(vprof_memory_room(root), 3 * MIB);
	put("sys/fs/cgroup/memory", "memory.limit_in_bytes", "9223372036854771712\n");
	assert_int_equal(vprof_memory_room(root), 4 * MIB);
}

static void test_here(void **state)
{
	(void)state;
	assert_true(vprof_memory_room("") < UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_machine, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_version_2, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_version_1, make_root, remove_root),
		cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
