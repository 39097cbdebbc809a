/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/doors.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "common/elf/elf_image.h"
#include "trace/clock.h"
#include "trace/shm.h"

static int read_memory(const void *memory, uint64_t address, void *to, size_t n)
{
	return vprof_process_memory_read(memory, address, to, n, NULL);
}

/* Of the first module that has one. 1: found. */
static int find_door(struct vprof_door *d)
{
	char name[64], line[PATH_MAX + 256];
	int is_found = 0;
	FILE *maps;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)d->memory.pid);
	maps = fopen(name, "re");
	while (maps && !is_found && fgets(line, sizeof line, maps)) {
		unsigned long long base, offset, inode;
		uint64_t at;
		int64_t distance;

		if (sscanf(line, "%llx-%*x %*s %llx %*s %llu", &base, &offset, &inode) != 3 || offset || !inode)
			continue;
		is_found = vprof_elf_image_note(read_memory, &d->memory, base, VP_DOOR_NOTE, VP_DOOR_NOTE_TYPE,
						&distance, sizeof distance, &at);
		d->address = is_found ? at + (uint64_t)distance : 0;
	}
	if (maps)
		fclose(maps);
	return is_found;
}

static int see_image(const struct vprof_door *d, uint64_t image[2])
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)d->memory.pid);
	if (stat(path, &st))
		return -1;
	image[0] = st.st_dev;
	image[1] = st.st_ino;
	return 0;
}

int vprof_door_is_other_program(const struct vprof_door *d)
{
	uint64_t image[2];

	return !see_image(d, image) && (image[0] != d->image[0] || image[1] != d->image[1]);
}

static int check_version(const struct vprof_door *d, const struct vp_door *door, struct vprof_error *err)
{
	if (door->magic == VP_DOOR_MAGIC && door->shm_magic == VP_SHM_MAGIC && door->format == VP_FORMAT_VERSION)
		return VPROF_OK;
	return vprof_error_set(
		err, VPROF_ERR_FAILED,
		"process %d has a libvprof.so of another version than this vprof; start it again (it then "
		"loads the library that is installed), or link it again: vprof build --live --link",
		(int)d->memory.pid);
}

/* Only who may write to the process can open this file, so nobody else can take the lock. */
static int lock(const struct vprof_door *d, double wait_s, struct vprof_error *err)
{
	const struct timespec pause = { 0, 5000000 };
	uint64_t until_ns = vprof_clock_monotonic_ns() + (uint64_t)(wait_s * 1e9);

	while (flock(d->memory.fd, LOCK_EX | LOCK_NB)) {
		if (errno == EWOULDBLOCK && vprof_clock_monotonic_ns() < until_ns) {
			nanosleep(&pause, NULL);
			continue;
		}
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       errno == EWOULDBLOCK ? "another vprof is attached to process %d; end it first" :
							      "cannot lock the memory of process %d",
				       (int)d->memory.pid);
	}
	return VPROF_OK;
}

int vprof_door_open(struct vprof_door *d, pid_t pid, double wait_s, struct vprof_error *err)
{
	struct vp_door door;
	int rc;

	*d = (struct vprof_door){ .address = 0 };
	rc = vprof_process_memory_open(&d->memory, pid, err);
	if (rc)
		return rc;
	if (see_image(d, d->image))
		rc = vprof_error_set(err, VPROF_ERR_MISSING, "process %d has ended", (int)pid);
	else if (!find_door(d))
		rc = vprof_error_set(err, vprof_process_memory_alive(&d->memory) ? VPROF_ERR_INPUT : VPROF_ERR_MISSING,
				     "process %d is not linked with libvprof.so: build the program with vprof build "
				     "--live --link, and start it again",
				     (int)pid);
	if (!rc)
		rc = vprof_process_memory_read(&d->memory, d->address, &door, sizeof door, err);
	if (!rc)
		rc = check_version(d, &door, err);
	if (!rc)
		rc = lock(d, wait_s, err);
	if (rc)
		vprof_door_close(d);
	return rc;
}

void vprof_door_close(struct vprof_door *d)
{
	vprof_process_memory_close(&d->memory);
	d->address = 0;
}

static int put(const struct vprof_door *d, size_t offset, const void *from, size_t n, struct vprof_error *err)
{
	return vprof_process_memory_write(&d->memory, d->address + offset, from, n, err);
}

/* It is read, and its program has not been replaced: reading fails then, and the door's own number would differ. */
static int get(const struct vprof_door *d, struct vp_door *door, struct vprof_error *err)
{
	int rc = vprof_process_memory_read(&d->memory, d->address, door, sizeof *door, err);

	return rc ? rc : check_version(d, door, err);
}

int vprof_door_invite(struct vprof_door *d, const char *path, uint64_t nonce, struct vprof_error *err)
{
	char name[VP_DOOR_PATH] = "";
	struct vp_door door;
	uint8_t number;
	int rc = get(d, &door, err);

	if (rc)
		return rc;
	/* also another one than the last that was answered, which a torn or lost invitation may differ from */
	number = door.invited;
	do
		number = number == UINT8_MAX ? 1 : (uint8_t)(number + 1);
	while (number == door.answered);
	snprintf(name, sizeof name, "%s", path);
	rc = put(d, offsetof(struct vp_door, path), name, sizeof name, err);
	if (!rc)
		rc = put(d, offsetof(struct vp_door, nonce), &nonce, sizeof nonce, err);
	if (!rc)
		rc = put(d, offsetof(struct vp_door, invited), &number, sizeof number, err);
	if (!rc) {
		d->invited = number;
		d->nonce = nonce;
	}
	return rc;
}

static int refused(const struct vprof_door *d, const struct vp_door *door, struct vprof_error *err)
{
	static const char *const reasons[] = {
		[VP_DOOR_FOREIGN] = "does not trust the shared memory: it runs as another user than the processes that "
				    "this session is for",
		[VP_DOOR_OVER] = "found the session over",
		[VP_DOOR_OTHER] = "cannot use the shared memory: another vprof may have asked at the same time; try "
				  "again",
		[VP_DOOR_NO_ROOM] = "has no room for the shared memory (limits of address space and of "
				    "locked memory: ulimit -v, ulimit -l, vm.overcommit_memory)",
	};
	int error = door->error;

	if (door->answer == VP_DOOR_NO_FILE)
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       "process %d cannot open the shared memory %s (%s): where it runs in a container "
				       "or a chroot of its own, run vprof there, too",
				       (int)d->memory.pid, door->path, strerror(error));
	return vprof_error_set(err, VPROF_ERR_FAILED, "process %d %s", (int)d->memory.pid,
			       door->answer < sizeof reasons / sizeof *reasons && reasons[door->answer] ?
				       reasons[door->answer] :
				       "gave an answer that this vprof does not know");
}

int vprof_door_look(struct vprof_door *d, int *joined, struct vprof_error *err)
{
	struct vp_door door;
	int rc = get(d, &door, err);

	*joined = !rc && door.joined == d->nonce;
	if (rc || *joined || door.answered != d->invited || door.answer == VP_DOOR_JOINED)
		return rc;
	door.path[sizeof door.path - 1] = 0;
	return refused(d, &door, err);
}

void vprof_door_withdraw(struct vprof_door *d)
{
	struct vp_door door;

	if (d->invited && !get(d, &door, NULL) && door.answered != d->invited && door.invited == d->invited)
		put(d, offsetof(struct vp_door, invited), &door.answered, sizeof(uint8_t), NULL);
	d->invited = 0;
}
