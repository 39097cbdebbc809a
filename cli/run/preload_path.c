/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/run/preload_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"

static int is_plain(const char *path)
{
	return !path[strcspn(path, " \t\n:")];
}

/* Ours, a folder, and nobody else may put anything there. */
static int is_own_folder(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

static int make_link(const char *library, const char *link)
{
	char now[PATH_MAX];
	ssize_t n = readlink(link, now, sizeof now - 1);

	if (n > 0 && (size_t)n == strlen(library) && !memcmp(now, library, (size_t)n))
		return 0;
	if (n >= 0 || errno == EINVAL)
		unlink(link);
	return symlink(library, link) && errno != EEXIST ? -1 : 0;
}

char *vprof_preload_path(const char *library, struct vprof_error *err)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = NULL, *link = NULL;
	int failed;

	if (is_plain(library)) {
		link = strdup(library);
		if (!link)
			vprof_error_no_memory(err);
		return link;
	}
	if (!tmp || *tmp != '/' || !is_plain(tmp))
		tmp = "/tmp";
	if (asprintf(&folder, "%s/vprof-%lu", tmp, (unsigned long)geteuid()) < 0 ||
	    asprintf(&link, "%s/libvprof-%016llx.so", folder,
		     (unsigned long long)vprof_hash(0, library, strlen(library))) < 0) {
		vprof_error_no_memory(err);
		free(folder);
		return NULL;
	}
	mkdir(folder, 0755);
	failed = !is_own_folder(folder) || make_link(library, link);
	if (failed) {
		vprof_error_set(
			err, VPROF_ERR_FAILED,
			"%s cannot be preloaded: its path holds a blank or a colon, and %s, "
			"where a link to it would go, is not a folder of yours alone that can be written. Install vprof "
			"elsewhere, or set TMPDIR",
			library, folder);
		free(link);
		link = NULL;
	}
	free(folder);
	return link;
}
