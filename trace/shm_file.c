/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making the shared memory: limited to a fair size, allocated at once, its first part touched so that the target's
 * first records do not wait for the kernel to clear pages. */
#define _GNU_SOURCE /* mkostemp */
#include "trace/shm_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHM_DIR "/dev/shm"
#define DEFAULT_RING_BYTES (UINT64_C(256) << 20)
#define MIN_RING_BYTES (UINT64_C(4) * VP_CHUNK_BYTES)
#define MAX_RING_BYTES (UINT64_C(64) << 30)
#define PREFAULT_BYTES (UINT64_C(32) << 20)
#define PAGE 4096u

/* 1 and *pid when `name` is one of ours: "vprof-PID-" and six letters or digits. */
static int is_our_name(const char *name, pid_t *pid)
{
	static const char alnum[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	char *end;
	long n;

	if (strncmp(name, "vprof-", 6) || name[6] < '1' || name[6] > '9')
		return 0;
	errno = 0;
	n = strtol(name + 6, &end, 10);
	if (errno || n > INT32_MAX || *end != '-' || strlen(end + 1) != 6 || strspn(end + 1, alnum) != 6)
		return 0;
	*pid = (pid_t)n;
	return 1;
}

/* Its maker locks a file for as long as it lives: a pid alone says nothing, since a maker in another pid namespace with
 * the same /dev/shm has no number here, or somebody else's. */
static void remove_unlocked(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return; /* another user's: not ours to remove */
	if (!flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir, name, 0);
	close(fd);
}

static void remove_stale_files(void)
{
	DIR *dir = opendir(SHM_DIR);
	struct dirent *e;
	pid_t pid;

	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (is_our_name(e->d_name, &pid) && kill(pid, 0) && errno == ESRCH)
			remove_unlocked(dirfd(dir), e->d_name);
	closedir(dir);
}

static uint64_t free_bytes(void)
{
	struct statvfs s;

	if (statvfs(SHM_DIR, &s))
		return 0;
	return (uint64_t)s.f_bavail * s.f_frsize;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static void lay_out(struct vprof_shm_file *f, uint32_t n_chunks, uint64_t states_offset, uint64_t chunks_offset)
{
	struct vp_shm *s = f->shm;

	f->n_chunks = n_chunks;
	f->states = (void *)((unsigned char *)s + states_offset);
	f->chunks = (unsigned char *)s + chunks_offset;
	s->version = VP_FORMAT_VERSION;
	s->total_bytes = f->n_bytes;
	s->n_slots = VP_SLOT_COUNT;
	s->n_chunks = n_chunks;
	s->slots_offset = round_up(sizeof *s, 64);
	s->states_offset = states_offset;
	s->chunks_offset = chunks_offset;
	s->collector_pid = (uint32_t)getpid();
	if (getrandom(&s->nonce, sizeof s->nonce, 0) != sizeof s->nonce)
		s->nonce = (uint64_t)(uintptr_t)s ^ (uint64_t)getpid() << 32;
	s->nonce |= 1;
	atomic_store(&s->next_thread_seq, 1);
	atomic_store(&s->next_process_seq, 1);
	s->magic = VP_SHM_MAGIC;
}

/* What the kernel looks at when this thread dies: one word, `pending`. The list itself stays empty, since its links
 * would have to lie in the shared memory beside the word, where a target can overwrite them: so this is no
 * pthread_mutex_t. */
static __thread struct {
	struct robust_list_head head;
	struct robust_list_head *before; /* libc's own */
	size_t before_bytes;
} robust;

/* Those that record learn from the kernel when this thread was killed. A thread owns one file; of a second one nobody
 * would learn it. */
static void own(struct vprof_shm_file *f)
{
	struct robust_list_head *registered = NULL;
	size_t n_bytes = 0;

	if (syscall(SYS_get_robust_list, 0, &registered, &n_bytes) || registered == &robust.head)
		return;
	robust.before = registered;
	robust.before_bytes = n_bytes;
	robust.head.list.next = &robust.head.list;
	robust.head.list_op_pending = (void *)&f->shm->owner;
	atomic_store(&f->shm->owner, (uint32_t)syscall(SYS_gettid));
	f->is_owned = !syscall(SYS_set_robust_list, &robust.head, sizeof robust.head);
}

/* By the thread that made the file; in any other its death says what there is to say. */
static void disown(struct vprof_shm_file *f)
{
	struct robust_list_head *registered = NULL;
	size_t n_bytes = 0;

	if (!f->is_owned || syscall(SYS_get_robust_list, 0, &registered, &n_bytes) || registered != &robust.head)
		return;
	syscall(SYS_set_robust_list, robust.before, robust.before_bytes);
	atomic_store(&f->shm->owner, 0);
}

static void prefault(struct vprof_shm_file *f)
{
	size_t n = f->n_bytes < PREFAULT_BYTES ? f->n_bytes : PREFAULT_BYTES;

#ifdef MADV_POPULATE_WRITE
	if (!madvise(f->shm, n, MADV_POPULATE_WRITE))
		return;
#endif
	for (size_t at = 0; at < n; at += PAGE)
		((volatile unsigned char *)f->shm)[at] = 0;
}

static int no_room(struct vprof_error *err, uint64_t wanted)
{
	return vprof_error_set(
		err, VPROF_ERR_MISSING,
		SHM_DIR " has %llu KiB free, but recording needs %llu KiB of shared memory; free some there, or "
			"make it larger (mount -o remount,size=512M " SHM_DIR "; in a container: --shm-size=512m)",
		(unsigned long long)(free_bytes() >> 10), (unsigned long long)(wanted >> 10));
}

/* A new file, locked by this process, in f->path: its descriptor, or -1 with errno set. */
static int make_locked(struct vprof_shm_file *f)
{
	struct stat st;
	int fd;

	for (;;) {
		snprintf(f->path, sizeof f->path, SHM_DIR "/vprof-%d-XXXXXX", (int)getpid());
		fd = mkostemp(f->path, O_CLOEXEC); /* mode 0600 */
		if (fd < 0) {
			f->path[0] = 0;
			return -1;
		}
		while (flock(fd, LOCK_EX) && errno == EINTR)
			;
		if (fstat(fd, &st) || st.st_nlink)
			return fd;
		close(fd); /* removed before it was locked, by somebody to whom our pid says nothing */
	}
}

/* One attempt at a ring of n_chunks. Returns 0 or the errno. */
static int make_file(struct vprof_shm_file *f, uint32_t n_chunks)
{
	uint64_t slots_offset = round_up(sizeof(struct vp_shm), 64);
	uint64_t states_offset = slots_offset + VP_SLOT_COUNT * sizeof(uint64_t);
	uint64_t chunks_offset = round_up(states_offset + (uint64_t)n_chunks * sizeof(uint32_t), VP_CHUNK_BYTES);
	int fd = make_locked(f), failed;
	void *map = MAP_FAILED;

	if (fd < 0)
		return errno;
	f->n_bytes = chunks_offset + (uint64_t)n_chunks * VP_CHUNK_BYTES;
	do
		failed = posix_fallocate(fd, 0, (off_t)f->n_bytes);
	while (failed == EINTR);
	if (!failed) {
		map = mmap(NULL, f->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED)
			failed = errno;
	}
	if (failed) {
		unlink(f->path);
		close(fd);
		f->path[0] = 0;
		return failed;
	}
	f->lock = fd;
	f->shm = map;
	lay_out(f, n_chunks, states_offset, chunks_offset);
	own(f);
	prefault(f);
	return 0;
}

int vprof_shm_file_open(struct vprof_shm_file *f, uint64_t ring_bytes, struct vprof_error *err)
{
	int is_default = !ring_bytes, failed;

	memset(f, 0, sizeof *f);
	remove_stale_files();
	if (access(SHM_DIR, W_OK | X_OK))
		return vprof_error_set(err, VPROF_ERR_MISSING,
				       "cannot use " SHM_DIR ": %s; mount a tmpfs there "
				       "(mount -t tmpfs tmpfs " SHM_DIR ")",
				       strerror(errno));
	if (is_default) {
		uint64_t room = free_bytes() / 4;

		ring_bytes = room < DEFAULT_RING_BYTES ? room : DEFAULT_RING_BYTES;
		if (ring_bytes < MIN_RING_BYTES)
			return no_room(err, 4 * MIN_RING_BYTES);
	}
	if (ring_bytes < MIN_RING_BYTES)
		ring_bytes = MIN_RING_BYTES;
	if (ring_bytes > MAX_RING_BYTES)
		ring_bytes = MAX_RING_BYTES;
	for (;;) {
		failed = make_file(f, (uint32_t)(ring_bytes / VP_CHUNK_BYTES));
		if (!failed)
			return VPROF_OK;
		/* Memory limits other than the tmpfs's size show only here. */
		if ((failed != ENOSPC && failed != ENOMEM) || !is_default || ring_bytes / 2 < MIN_RING_BYTES)
			break;
		ring_bytes /= 2;
	}
	memset(f, 0, sizeof *f);
	if (failed == ENOSPC || failed == ENOMEM)
		return no_room(err, ring_bytes);
	return vprof_error_set(err, VPROF_ERR_FAILED, "cannot create shared memory in " SHM_DIR ": %s",
			       strerror(failed));
}

int vprof_shm_file_give(const struct vprof_shm_file *f, uid_t to, struct vprof_error *err)
{
	if (to == geteuid() || !chown(f->path, to, (gid_t)-1)) /* the name is ours: made by us, in a sticky folder */
		return VPROF_OK;
	return vprof_error_set(err, VPROF_ERR_FAILED, "cannot give %s to user %u: %s", f->path, (unsigned)to,
			       strerror(errno));
}

void vprof_shm_file_close(struct vprof_shm_file *f)
{
	if (f->path[0]) {
		unlink(f->path);
		close(f->lock);
	}
	if (f->shm) {
		disown(f);
		munmap(f->shm, f->n_bytes);
	}
	memset(f, 0, sizeof *f);
}
