/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "common/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/unfinished.h"

#define FILE_MAX_BYTES ((off_t)1 << 30)
#define TRIES_MAX 100 /* at a folder in which a program still writes */

int vprof_file_read(const char *path, struct vprof_text *out, struct vprof_error *err)
{
	char buffer[65536];
	struct stat st;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for its writer */

	if (fd < 0)
		return vprof_error_set(err, errno == ENOENT ? VPROF_ERR_MISSING : VPROF_ERR_FAILED,
				       "cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES) {
		close(fd);
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s is not a regular file, or is larger than 1 GiB", path);
	}
	while ((n = read(fd, buffer, sizeof buffer)) > 0)
		vprof_text_append(out, buffer, (size_t)n);
	if (n < 0) {
		int saved = errno;

		close(fd);
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot read %s: %s", path, strerror(saved));
	}
	close(fd);
	if (out->failed)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory reading %s", path);
	return VPROF_OK;
}

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

static int write_replacing(const char *path, const void *bytes, size_t n, const struct stat *like,
			   struct vprof_error *err)
{
	struct vprof_text tmp = VPROF_TEXT_INIT;
	int fd, slot, rc = VPROF_OK;

	vprof_text_addf(&tmp, "%s.vprof-%d", path, (int)getpid());
	if (tmp.failed)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory writing %s", path);
	slot = vprof_unfinished_enter(tmp.s);
	fd = open(tmp.s, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		rc = vprof_error_because(err, VPROF_ERR_FAILED, vprof_error_reason_of(errno), "cannot write %s: %s",
					 path, strerror(errno));
		goto out;
	}
	if (write_all(fd, bytes, n))
		rc = VPROF_ERR_FAILED;
	if (!rc && like) {
		struct timespec times[2] = { like->st_atim, like->st_mtim };

		if (fchmod(fd, like->st_mode & 07777) || futimens(fd, times))
			rc = VPROF_ERR_FAILED;
	}
	if (close(fd))
		rc = VPROF_ERR_FAILED;
	if (!rc && rename(tmp.s, path))
		rc = VPROF_ERR_FAILED;
	if (rc) {
		vprof_error_because(err, rc, vprof_error_reason_of(errno), "cannot write %s: %s", path,
				    strerror(errno));
		unlink(tmp.s);
	}
out:
	vprof_unfinished_leave(slot);
	vprof_text_release(&tmp);
	return rc;
}

/* Nothing but files is ever replaced: root could take /dev/null away from everybody. */
static int write_into(const char *path, const void *bytes, size_t n, struct vprof_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), failed;

	failed = fd < 0 || write_all(fd, bytes, n) ? errno : 0;
	if (fd >= 0 && close(fd) && !failed)
		failed = errno;
	return failed ? vprof_error_because(err, VPROF_ERR_FAILED, vprof_error_reason_of(failed), "cannot write %s: %s",
					    path, strerror(failed)) :
			VPROF_OK;
}

int vprof_file_write(const char *path, const void *bytes, size_t n, struct vprof_error *err)
{
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_into(path, bytes, n, err);
	return write_replacing(path, bytes, n, NULL, err);
}

int vprof_file_copy(const char *from, const char *to, struct vprof_error *err)
{
	struct vprof_text content = VPROF_TEXT_INIT;
	struct stat st;
	int rc;

	if (stat(from, &st))
		return vprof_error_set(err, VPROF_ERR_MISSING, "cannot read %s: %s", from, strerror(errno));
	rc = vprof_file_read(from, &content, err);
	if (!rc)
		rc = write_replacing(to, content.s, content.len, &st, err);
	vprof_text_release(&content);
	return rc;
}

int vprof_dir_make(const char *path, struct vprof_error *err)
{
	char *copy = strdup(path);
	struct stat st;

	if (!copy)
		return vprof_error_no_memory(err);
	for (char *slash = copy + 1; *copy; slash++) {
		char c = *slash;

		if (c && c != '/')
			continue;
		*slash = 0;
		if (mkdir(copy, 0777) && errno != EEXIST) {
			int rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot create folder %s: %s", copy,
						 strerror(errno));
			free(copy);
			return rc;
		}
		*slash = c;
		if (!c)
			break;
	}
	free(copy);
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return vprof_error_set(err, VPROF_ERR_FAILED, "%s is in the way: not a folder", path);
	return VPROF_OK;
}

static int remove_at(int parent, const char *name)
{
	int fd, error, rc = 0;
	DIR *dir;

	if (!unlinkat(parent, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -1;
	}
	for (int i = 0; i < TRIES_MAX; i++) {
		rc = 0;
		rewinddir(dir);
		for (struct dirent *e; (e = readdir(dir));)
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
				rc |= remove_at(dirfd(dir), e->d_name);
		if (rc)
			break;
		rc = unlinkat(parent, name, AT_REMOVEDIR);
		if (!rc || errno != ENOTEMPTY)
			break;
	}
	error = errno;
	closedir(dir);
	errno = error;
	return rc;
}

int vprof_dir_remove(const char *path, struct vprof_error *err)
{
	if (remove_at(AT_FDCWD, path))
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot remove %s: %s", path, strerror(errno));
	return VPROF_OK;
}

char *vprof_path_absolute(const char *base, const char *path)
{
	struct vprof_text raw = VPROF_TEXT_INIT;
	char *out, *end;

	if (path[0] != '/')
		vprof_text_addf(&raw, "%s/", base);
	vprof_text_add(&raw, path);
	out = end = raw.failed ? NULL : malloc(raw.len + 2);
	if (!out) {
		vprof_text_release(&raw);
		return NULL;
	}
	for (const char *p = raw.s; *p;) {
		size_t n;

		while (*p == '/')
			p++;
		n = strcspn(p, "/");
		if (n == 2 && !memcmp(p, "..", 2)) {
			while (end > out && *--end != '/')
				;
		} else if (n && !(n == 1 && *p == '.')) {
			*end++ = '/';
			memcpy(end, p, n);
			end += n;
		}
		p += n;
	}
	if (end == out)
		*end++ = '/';
	*end = 0;
	vprof_text_release(&raw);
	return out;
}

/* Where the folder `dir`, reached over a link, lies in `root`: heap, or NULL. */
static char *folder_in_root(const char *root, const char *dir)
{
	char *real_root = realpath(root, NULL), *real = realpath(dir, NULL);
	struct vprof_text inside = VPROF_TEXT_INIT;

	if (real_root && real && vprof_path_inside(real_root, real))
		vprof_text_addf(&inside, "%s%s", root, real + strlen(real_root));
	free(real_root);
	free(real);
	return inside.len ? vprof_text_detach(&inside) : NULL;
}

char *vprof_path_rooted(const char *root, const char *base, const char *path)
{
	char *absolute = vprof_path_absolute(base, path), *slash, *dir, *rooted;
	struct stat st;

	if (!absolute || vprof_path_inside(root, absolute))
		return absolute;
	slash = strrchr(absolute, '/');
	if (!stat(absolute, &st) && S_ISDIR(st.st_mode)) {
		rooted = folder_in_root(root, absolute);
	} else {
		*slash = 0;
		dir = folder_in_root(root, *absolute ? absolute : "/");
		*slash = '/';
		rooted = dir ? vprof_path_join(dir, slash + 1) : NULL;
		free(dir);
	}
	if (!rooted)
		return absolute;
	free(absolute);
	return rooted;
}

char *vprof_path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir), m = strlen(name);
	char *out = malloc(n + m + 2);

	if (!out)
		return NULL;
	memcpy(out, dir, n);
	if (!n || dir[n - 1] != '/')
		out[n++] = '/';
	memcpy(out + n, name, m + 1);
	return out;
}

const char *vprof_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int vprof_path_inside(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	if (n == 1 && dir[0] == '/')
		return path[0] == '/';
	return !strncmp(dir, path, n) && (path[n] == '/' || !path[n]);
}

uint64_t vprof_hash(uint64_t seed, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		seed = (seed ^ p[i]) * UINT64_C(0x100000001b3);
	return seed;
}

uint64_t vprof_hash_text(uint64_t seed, const char *text)
{
	return vprof_hash(seed, text, strlen(text) + 1);
}

int vprof_file_hash(const char *path, char hex[17], struct vprof_error *err)
{
	struct vprof_text content = VPROF_TEXT_INIT;
	int rc = vprof_file_read(path, &content, err);

	if (!rc)
		snprintf(hex, 17, "%016" PRIx64, vprof_hash(VPROF_HASH_SEED, content.s, content.len));
	vprof_text_release(&content);
	return rc;
}
