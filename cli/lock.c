/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/files.h"

static void read_holder(int fd, char *holder, size_t size)
{
	ssize_t n = pread(fd, holder, size - 1, 0);

	holder[n > 0 ? n : 0] = 0;
	for (char *c = holder; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = 0; /* the first line; and whatever stands there, it goes to a terminal */
}

int vprof_project_lock(struct vprof_project *p, const char *command, struct vprof_error *err)
{
	char *path = vprof_path_join(p->vprof_dir, "lock"), holder[80];
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666) : -1;
	int rc = VPROF_OK;

	if (!path)
		return vprof_error_no_memory(err);
	if (fd < 0) {
		rc = vprof_error_set(err, VPROF_ERR_FAILED,
				     "cannot open %s: %s. Change its owner or permissions, or remove it",
				     vprof_project_shown(path), strerror(errno));
	} else if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		read_holder(fd, holder, sizeof holder);
		close(fd);
		rc = vprof_error_set(err, VPROF_ERR_FAILED,
				     "another command works in %s%s%s. Wait until it is done, or stop it", p->directory,
				     *holder ? ": " : "", holder);
	} else { /* held, or on a file system without locks: then nobody can know */
		struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
		int n = snprintf(holder, sizeof holder, "vprof %s, process %ld\n", command, (long)getpid());

		if (ftruncate(fd, 0) || pwrite(fd, holder, (size_t)n, 0) != n)
			holder[0] = 0;	      /* a full disk: the lock holds, only its holder's name is missing */
		fcntl(fd, F_OFD_SETLK, &all); /* for vprof_project_busy() */
		p->lock = fd;
	}
	free(path);
	return rc;
}

int vprof_project_busy(const struct vprof_project *p, char *holder, size_t size)
{
	char *path = vprof_path_join(p->vprof_dir, "lock");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	/* Asking takes no lock: it would be in the way of a command that begins just now. */
	struct flock l = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int busy = fd >= 0 && !fcntl(fd, F_OFD_GETLK, &l) && l.l_type != F_UNLCK;

	holder[0] = 0;
	if (busy)
		read_holder(fd, holder, size);
	if (fd >= 0)
		close(fd);
	free(path);
	return busy;
}

void vprof_run_lock(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		flock(fd, LOCK_SH); /* waits for who asks just now; on a file system without locks nobody can know */
}

int vprof_run_is_locked(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int is_locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return is_locked;
}
