/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

static char dir[64];

static void remove_dir(void)
{
	vprof_dir_remove(dir, NULL);
}

const char *fuzz_dir(void)
{
	if (!dir[0]) {
		strcpy(dir, "/dev/shm/vprof-fuzz-XXXXXX");
		if (!mkdtemp(dir))
			abort();
		atexit(remove_dir);
	}
	return dir;
}

const char *fuzz_file(const char *name, const void *bytes, size_t n)
{
	static char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/%s", fuzz_dir(), name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
	return path;
}
