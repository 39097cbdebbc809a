/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/join/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define GAP_NS UINT64_C(250000000) /* a place that was left is used again only later */
#define FILE_MAX_BYTES (UINT64_C(1) << 30)
#define N_PLACES 2
/* What a process reserves at its first session: room for later ones, whose memory may be larger. */
#define SMALL_BYTES (UINT64_C(16) << 20)
#define LARGE_BYTES (UINT64_C(80) << 20)

struct vp_door rt_door __attribute__((
	visibility("hidden"))) = { .magic = VP_DOOR_MAGIC, .shm_magic = VP_SHM_MAGIC, .format = VP_FORMAT_VERSION };

/* Found in the memory of a process whatever file it came from, and whether or not it is stripped. */
__asm__(".pushsection .note.vprof,\"a\",%note\n\t.balign 4\n\t.4byte 6, 8, 1\n\t.asciz \"vprof\"\n\t.balign 4\n"
	"\t.8byte rt_door - .\n\t.popsection");

static struct {
	char *start; /* null: not reserved yet */
	uint64_t left_ns;
} places[N_PLACES];
static size_t place_bytes; /* of each, without the sinks; 0: none was reserved */
static unsigned turn;	   /* the place of this session, or of the next */
static uint8_t asked;	   /* the invitation that is being answered: vprof may write the next one meanwhile */

uint64_t rt_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool shm_valid(const struct vp_shm *s, uint64_t n_bytes)
{
	return s->magic == VP_SHM_MAGIC && s->version == VP_FORMAT_VERSION && s->total_bytes <= n_bytes &&
	       s->n_slots >= 4 && (s->n_slots & (s->n_slots - 1)) == 0 && s->n_chunks > 0 &&
	       s->slots_offset >= sizeof(*s) && s->slots_offset % 8 == 0 && s->slots_offset <= s->total_bytes &&
	       s->n_slots <= (s->total_bytes - s->slots_offset) / 8 && s->states_offset >= sizeof(*s) &&
	       s->states_offset % 4 == 0 && s->states_offset <= s->total_bytes &&
	       s->n_chunks <= (s->total_bytes - s->states_offset) / 4 && s->chunks_offset >= sizeof(*s) &&
	       s->chunks_offset % 64 == 0 && s->chunks_offset <= s->total_bytes &&
	       s->n_chunks <= (s->total_bytes - s->chunks_offset) / VP_CHUNK_BYTES;
}

static bool is_over(const struct vp_shm *s)
{
	return atomic_load(&s->stopped) || (atomic_load(&s->owner) & VP_OWNER_DIED);
}

/* Whole chunks, since pages may have any size up to theirs. */
static size_t round_up(size_t n_bytes)
{
	return ((n_bytes - 1) / VP_CHUNK_BYTES + 1) * VP_CHUNK_BYTES;
}

/* In place of what is at `at`, or anywhere, in one step for all threads. Where the program has the kernel lock whatever
 * is mapped (mlockall), this is neither locked nor filled: it is mapped elsewhere, without access, unlocked, and moved.
 * Null: errno. */
static char *map_in_step(char *at, size_t n_bytes, int flags, int fd)
{
	char *fresh = (char *)syscall(SYS_mmap, NULL, n_bytes, PROT_NONE, flags, fd, 0L);
	long start = -1;

	if (fresh != MAP_FAILED) {
		syscall(SYS_munlock, fresh, n_bytes);
		if (!syscall(SYS_mprotect, fresh, n_bytes, PROT_READ | PROT_WRITE))
			start = at ? syscall(SYS_mremap, fresh, n_bytes, n_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) :
				     (long)fresh;
		if (start == -1)
			syscall(SYS_munmap, fresh, n_bytes);
	}
	if (start == -1 && at) /* no address space for both */
		start = syscall(SYS_mmap, at, n_bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0L);
	return start == -1 ? NULL : (char *)start;
}

static bool map_file(char *at, size_t n_bytes, int fd)
{
	if (!map_in_step(at, n_bytes, MAP_SHARED, fd))
		return false;
	syscall(SYS_madvise, at, n_bytes, MADV_DONTDUMP); /* core files do not grow */
	return true;
}

static char *reserve(size_t n_bytes)
{
	return map_in_step(NULL, n_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

bool rt_memory_map(struct rt_memory *m, const char *path)
{
	size_t n_sinks = RT_SINKS * VP_CHUNK_BYTES;
	struct stat st;
	char *start = NULL;
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size >= sizeof(*m->shm)) {
		*m = (struct rt_memory){ .n_bytes = (size_t)st.st_size };
		m->n_all = round_up(m->n_bytes) + n_sinks;
		start = reserve(m->n_all);
	}
	if (start && !map_file(start, m->n_bytes, fd)) {
		syscall(SYS_munmap, start, m->n_all);
		start = NULL;
	}
	syscall(SYS_close, fd);
	if (!start)
		return false;
	m->shm = (struct vp_shm *)start;
	m->sinks = (unsigned char *)start + m->n_all - n_sinks;
	if (shm_valid(m->shm, m->n_bytes) && !is_over(m->shm))
		return true;
	rt_memory_unmap(m);
	return false;
}

void rt_memory_unmap(const struct rt_memory *m)
{
	syscall(SYS_munmap, m->shm, m->n_all);
}

/* Sessions that are joined. */

static void answer(enum vp_door_answer what, int error)
{
	atomic_store(&rt_door.error, error);
	atomic_store(&rt_door.answer, (uint8_t)what);
	atomic_store(&rt_door.answered, asked);
}

/* Opens the file if only this process's user can have made it, and nobody else can write to it. -1: answered. */
static int open_file(size_t *n_bytes)
{
	char path[VP_DOOR_PATH];
	struct stat st;
	int fd;

	memcpy(path, rt_door.path, sizeof(path));
	path[sizeof(path) - 1] = '\0';
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		answer(VP_DOOR_NO_FILE, errno);
		return -1;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != (uid_t)syscall(SYS_geteuid) || (st.st_mode & 077))
		answer(VP_DOOR_FOREIGN, 0);
	else if ((uint64_t)st.st_size < sizeof(struct vp_shm) || (uint64_t)st.st_size > FILE_MAX_BYTES)
		answer(VP_DOOR_OTHER, 0);
	else if (place_bytes && round_up((size_t)st.st_size) > place_bytes)
		answer(VP_DOOR_NO_ROOM, E2BIG);
	else {
		*n_bytes = (size_t)st.st_size;
		return fd;
	}
	syscall(SYS_close, fd);
	return -1;
}

/* Room at the place whose turn it is: all of it readable and writable, whatever becomes of its parts. */
static char *take_place(size_t n_bytes)
{
	size_t n = n_bytes <= SMALL_BYTES ? SMALL_BYTES : n_bytes <= LARGE_BYTES ? LARGE_BYTES : round_up(n_bytes);
	char *start = places[turn].start;

	if (start)
		return start;
	start = reserve((place_bytes ? place_bytes : n) + RT_SINKS * VP_CHUNK_BYTES);
	if (!start) {
		answer(VP_DOOR_NO_ROOM, errno);
		return NULL;
	}
	place_bytes = place_bytes ? place_bytes : n;
	places[turn].start = start;
	return start;
}

static bool is_the_one(const struct vp_shm *s, size_t n_bytes)
{
	return shm_valid(s, n_bytes) && s->n_slots == VP_SLOT_COUNT && s->nonce &&
	       s->nonce == atomic_load(&rt_door.nonce);
}

bool rt_memory_join(struct rt_memory *m)
{
	size_t n_bytes = 0;
	char *start;
	int fd;

	asked = atomic_load(&rt_door.invited); /* before what it says: that is written first */
	if (!asked) {			       /* taken back */
		answer(VP_DOOR_NONE, 0);
		return false;
	}
	if (places[turn].start && rt_monotonic_ns() - places[turn].left_ns < GAP_NS)
		return false;
	fd = open_file(&n_bytes);
	if (fd < 0)
		return false;
	start = take_place(n_bytes);
	if (start && !map_file(start, n_bytes, fd)) {
		answer(VP_DOOR_NO_ROOM, errno);
		start = NULL;
	}
	syscall(SYS_close, fd);
	if (!start)
		return false;
	*m = (struct rt_memory){ .shm = (struct vp_shm *)start,
				 .sinks = (unsigned char *)start + place_bytes,
				 .n_bytes = n_bytes,
				 .n_all = place_bytes + RT_SINKS * VP_CHUNK_BYTES };
	if (is_the_one(m->shm, n_bytes) && !is_over(m->shm))
		return true;
	rt_memory_refuse(is_the_one(m->shm, n_bytes) ? VP_DOOR_OVER : VP_DOOR_OTHER);
	return false;
}

void rt_memory_joined(void)
{
	atomic_store(&rt_door.joined, ((const struct vp_shm *)(const void *)places[turn].start)->nonce);
	answer(VP_DOOR_JOINED, 0);
}

void rt_memory_refuse(enum vp_door_answer why)
{
	rt_memory_leave();
	answer(why, 0);
}

/* In one step for all threads: whoever touches it finds either the file or zeros. Where the kernel has no memory for
 * that the file stays, which nobody reads any more. */
void rt_memory_leave(void)
{
	if (!places[turn].start)
		return;
	map_in_step(places[turn].start, place_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	syscall(SYS_madvise, places[turn].start, place_bytes, MADV_DONTDUMP);
	places[turn].left_ns = rt_monotonic_ns();
	if (atomic_exchange(&rt_door.joined, 0))
		atomic_fetch_add(&rt_door.n_left, 1);
	turn = (turn + 1) % N_PLACES;
}
