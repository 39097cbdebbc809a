/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays of BIG_BYTES and more are mapped, so that growing moves pages instead of copying. Once all of them together
 * take more than the budget, those that grow to FILE_BYTES and more move to unlinked files, which the kernel may write
 * out: what a trace needs beside the page cache is bounded whatever its size. The budget is a share of the memory that
 * there is room for, since pages of files cost several times as much; it is looked at again and again while the arrays
 * grow, so that several processes which grow at once do not take all. The first page of a mapping says where it lies.
 */
#define _GNU_SOURCE /* mremap, O_TMPFILE */
#include "common/array.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/memory_room.h"

#define BIG_BYTES ((size_t)256 << 10)
#define FILE_BYTES ((size_t)1 << 20) /* a file for each costs a descriptor */
#define HUGE_BYTES ((size_t)4 << 20)
#define BUDGET_LEAST ((size_t)192 << 20)
#define BUDGET_PART 4 /* of the room that there is without these arrays */
#define LOOK_EVERY ((size_t)64 << 20)
#define HEAD_BYTES ((size_t)65536) /* a page, whatever its size */
#define CACHE_LINES ((size_t)128)  /* cache lines are fetched in pairs */
#define SORT_RUN ((size_t)16)	   /* items that are sorted by insertion */

struct head {
	size_t n_bytes; /* of the mapping, this included */
	int fd;		/* -1: memory */
};

static _Atomic size_t in_memory; /* bytes of big arrays that lie in no file */
static _Atomic size_t budget;	 /* for them, when it was last looked at ... */
static _Atomic size_t looked_at; /* ... and they took this much; 0: it was not yet */

static int fits_in_memory(size_t n_more)
{
	size_t now = atomic_load(&in_memory), looked = atomic_load(&looked_at);

	if (now + n_more <= BUDGET_LEAST)
		return 1;
	if (!looked || now > looked + LOOK_EVERY || looked > now + LOOK_EVERY) {
		uint64_t part = (vprof_memory_room("") + now) / BUDGET_PART;

		atomic_store(&budget, part < SIZE_MAX ? (size_t)part : SIZE_MAX);
		atomic_store(&looked_at, now ? now : 1);
	}
	return now + n_more <= atomic_load(&budget);
}

static size_t map_bytes(size_t n, size_t size)
{
	return (HEAD_BYTES + n * size + HEAD_BYTES - 1) & ~(HEAD_BYTES - 1);
}

static int is_big(size_t cap, size_t size)
{
	return cap * size >= BIG_BYTES;
}

static int open_file(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	dir = dir && *dir ? dir : "/var/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || snprintf(path, sizeof path, "%s/vprof-XXXXXX", dir) >= (int)sizeof path)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* posix_fallocate: a full disk must be an error here, not a signal at the first write. */
static struct head *map_file(size_t n_bytes)
{
	int fd = open_file();
	struct head *h = MAP_FAILED;

	if (fd >= 0 && !posix_fallocate(fd, 0, (off_t)n_bytes))
		h = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	*h = (struct head){ n_bytes, fd };
	return h;
}

static struct head *map_memory(size_t n_bytes)
{
	struct head *h = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (h == MAP_FAILED)
		return NULL;
	if (n_bytes >= HUGE_BYTES) /* fewer faults; where there are no huge pages, as it is */
		(void)madvise(h, n_bytes, MADV_HUGEPAGE);
	*h = (struct head){ n_bytes, -1 };
	atomic_fetch_add(&in_memory, n_bytes);
	return h;
}

static struct head *map_new(size_t n_bytes)
{
	struct head *h = NULL;

	if (n_bytes >= FILE_BYTES && !fits_in_memory(n_bytes))
		h = map_file(n_bytes);
	return h ? h : map_memory(n_bytes);
}

static void unmap(struct head *h)
{
	int fd = h->fd;

	if (fd < 0)
		atomic_fetch_sub(&in_memory, h->n_bytes);
	munmap(h, h->n_bytes);
	if (fd >= 0)
		close(fd);
}

static struct head *map_grow(struct head *h, size_t n_bytes)
{
	size_t old = h->n_bytes;
	struct head *grown;

	if (h->fd < 0 && n_bytes >= FILE_BYTES && !fits_in_memory(n_bytes - old)) {
		grown = map_file(n_bytes);
		if (grown) {
			memcpy((char *)grown + HEAD_BYTES, (char *)h + HEAD_BYTES, old - HEAD_BYTES);
			unmap(h);
			return grown;
		}
	}
	if (h->fd >= 0 && posix_fallocate(h->fd, 0, (off_t)n_bytes))
		return NULL;
	grown = mremap(h, old, n_bytes, MREMAP_MAYMOVE);
	if (grown == MAP_FAILED)
		return NULL;
	grown->n_bytes = n_bytes;
	if (grown->fd < 0) {
		atomic_fetch_add(&in_memory, n_bytes - old);
		if (n_bytes >= HUGE_BYTES)
			(void)madvise(grown, n_bytes, MADV_HUGEPAGE);
	}
	return grown;
}

void *vprof_array_room(void *v, size_t *cap, size_t n, size_t size)
{
	struct head *h = v && is_big(*cap, size) ? (struct head *)((char *)v - HEAD_BYTES) : NULL;
	void *grown;

	if (n <= *cap && v)
		return v;
	if (n > SIZE_MAX / 4 / size)
		return NULL;
	if (!is_big(n, size)) {
		grown = realloc(v, n * size);
	} else {
		struct head *to = h ? map_grow(h, map_bytes(n, size)) : map_new(map_bytes(n, size));

		grown = to ? (char *)to + HEAD_BYTES : NULL;
		if (grown && !h && v) {
			memcpy(grown, v, *cap * size);
			free(v);
		}
	}
	if (grown)
		*cap = n;
	return grown;
}

void *vprof_array_grow(void *v, size_t *cap, size_t size)
{
	return vprof_array_room(v, cap, *cap < 16 ? 16 : *cap + *cap / 2, size);
}

void vprof_array_free(void *v, size_t cap, size_t size)
{
	if (v && is_big(cap, size))
		unmap((struct head *)((char *)v - HEAD_BYTES));
	else
		free(v);
}

void *vprof_calloc_aligned(size_t n, size_t size)
{
	size_t n_bytes;
	void *v;

	if (__builtin_mul_overflow(n, size, &n_bytes) || n_bytes > SIZE_MAX / 2)
		return NULL;
	n_bytes = (n_bytes + CACHE_LINES) & ~(CACHE_LINES - 1);
	v = aligned_alloc(CACHE_LINES, n_bytes);
	return v ? memset(v, 0, n_bytes) : NULL;
}

/* Merges v[0, n1) with v[n1, n): `half` has room for the first of them. Of equal items those in front come first. */
static void merge(char *v, size_t n1, size_t n, size_t size, int (*order)(const void *, const void *), char *half)
{
	char *a = half, *a_end = half + n1 * size, *b = v + n1 * size, *b_end = v + n * size, *to = v;

	if (order(b - size, b) <= 0)
		return;
	memcpy(half, v, n1 * size);
	while (a < a_end && b < b_end) {
		char **from = order(a, b) <= 0 ? &a : &b;

		memcpy(to, *from, size);
		*from += size;
		to += size;
	}
	memcpy(to, a, (size_t)(a_end - a));
}

/* Insertion, from the back: what is nearly sorted costs one comparison an item. `item` has room for one. */
static void insert(char *v, size_t n, size_t size, int (*order)(const void *, const void *), char *item)
{
	for (size_t i = 1; i < n; i++) {
		size_t k = i;

		while (k && order(v + (k - 1) * size, v + i * size) > 0)
			k--;
		if (k == i)
			continue;
		memcpy(item, v + i * size, size);
		memmove(v + (k + 1) * size, v + k * size, (i - k) * size);
		memcpy(v + k * size, item, size);
	}
}

int vprof_array_sort(void *v, size_t n, size_t size, int (*order)(const void *, const void *))
{
	size_t run = SORT_RUN, half_run = run, cap = 0;
	char *half;

	if (n < 2)
		return 0;
	while (half_run * 2 < n)
		half_run *= 2;
	half = vprof_array_room(NULL, &cap, half_run, size);
	if (!half)
		return -1;
	for (size_t at = 0; at < n; at += run)
		insert((char *)v + at * size, n - at < run ? n - at : run, size, order, half);
	for (; run < n; run *= 2)
		for (size_t at = 0; at + run < n; at += 2 * run)
			merge((char *)v + at * size, run, n - at < 2 * run ? n - at : 2 * run, size, order, half);
	vprof_array_free(half, cap, size);
	return 0;
}
