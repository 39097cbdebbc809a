/* SPDX-License-Identifier: Apache-2.0 */
/* Tells when this process runs a program, or has loaded a library, that holds chosen units but was not linked again for
 * discovery: the run would look as if these had handed nothing over. Looked at when the process starts, and for what
 * was loaded later when it ends. The same file counts, whatever its path.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/flows/flow_format.h"

struct looked_for {
	const char *folder;
	const char *list; /* lines */
};

static void note(const char *folder, const char *path)
{
	char name[4096];
	int fd, n;

	n = snprintf(name, sizeof name, "%s/%d" VPROF_FLOW_ORIGINAL, folder, (int)getpid());
	if (n <= 0 || (size_t)n >= sizeof name)
		return;
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, path, strlen(path)) < 0)
		unlink(name);
	close(fd);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct looked_for *l = arg;
	struct stat loaded, listed;
	char line[4096];

	(void)size;
	if (stat(info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe", &loaded))
		return 0;
	for (const char *at = l->list; *at;) {
		size_t n = strcspn(at, "\n");

		if (n < sizeof line) {
			memcpy(line, at, n);
			line[n] = 0;
			if (!stat(line, &listed) && listed.st_dev == loaded.st_dev && listed.st_ino == loaded.st_ino) {
				note(l->folder, line);
				return 1;
			}
		}
		at += n + (at[n] == '\n');
	}
	return 0;
}

static void look(void)
{
	static char list[65536]; /* no malloc: this is any process of the run, as it begins */
	struct looked_for l = { .folder = getenv(VPROF_FLOW_ENV_DIR), .list = list };
	char path[4096];
	ssize_t n;
	int fd;

	if (!l.folder || l.folder[0] != '/' ||
	    snprintf(path, sizeof path, "%s/" VPROF_FLOW_NOT_LINKED, l.folder) >= (int)sizeof path)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* as nearly always */
	n = read(fd, list, sizeof list - 1);
	close(fd);
	if (n > 0) {
		list[n] = 0;
		dl_iterate_phdr(look_at, &l);
	}
}

__attribute__((constructor)) static void at_start(void)
{
	int saved = errno;

	look();
	errno = saved;
}

__attribute__((destructor)) static void at_exit(void)
{
	look();
}
