/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "recorder/process_images.h"

#include <bpf/bpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/elf/unwinder.h"
#include "common/files.h"
#include "trace/clock.h"

#define OPEN_MAX 8		   /* images with their files open */
#define REFRESH_NS 2000000u	   /* at least, between the first two looks at a process's mappings */
#define REFRESH_MOST_NS 100000000u /* ... and at any time when code is not known: it is doubled up to here */
#define LOOK_MOST_NS 1000000000u   /* ... and at any time else */
#define FIRST_PROCESS 2		   /* process_seq: 1 is the machine */
#define IMAGES_MAX 65536

struct vprof_image {
	uint32_t pid;
	int is_current;
	char *maps; /* as /proc/PID/maps shows them */
	size_t n_maps;
	struct vprof_unwinder *unwinder; /* NULL: not open */
	int is_told;			 /* its files, in its table */
	uint64_t refresh_ns;		 /* until its mappings are looked at again */
	uint64_t read_ns;		 /* when its mappings were read, or taken over from its parent's */
	uint64_t known_ns;		 /* code that ran before then is in them, or in no file */
	uint64_t used;			 /* a count, for closing the oldest */
	struct vprof_gather table;
};

struct forked {
	uint32_t pid, parent_pid;
};

struct vprof_images {
	vprof_store_chunk *store;
	void *arg;
	int libraries;
	VPROF_ARRAY(struct vprof_image *) v;
	VPROF_ARRAY(struct forked) forks; /* since then not asked for */
	size_t n_open;
	uint64_t n_used;
};

struct vprof_images *vprof_images_new(vprof_store_chunk *store, void *arg, int libraries)
{
	struct vprof_images *images = calloc(1, sizeof *images);

	if (images) {
		images->store = store;
		images->arg = arg;
		images->libraries = libraries;
	}
	return images;
}

static void close_image(struct vprof_images *images, struct vprof_image *image)
{
	images->n_open -= image->unwinder != NULL;
	vprof_unwinder_free(image->unwinder);
	image->unwinder = NULL;
}

void vprof_images_free(struct vprof_images *images)
{
	for (size_t i = 0; images && i < images->v.n; i++) {
		close_image(images, images->v.v[i]);
		vprof_gather_release(&images->v.v[i]->table);
		free(images->v.v[i]->maps);
		free(images->v.v[i]);
	}
	if (images) {
		VPROF_ARRAY_RELEASE(&images->v);
		VPROF_ARRAY_RELEASE(&images->forks);
	}
	free(images);
}

static char *read_maps(uint32_t pid, size_t *n)
{
	char path[64], buffer[65536], *text = NULL;
	FILE *from, *to;
	size_t got;

	snprintf(path, sizeof path, "/proc/%u/maps", pid);
	from = fopen(path, "re");
	to = from ? open_memstream(&text, n) : NULL;
	while (to && (got = fread(buffer, 1, sizeof buffer, from)) > 0)
		fwrite(buffer, 1, got, to);
	if (from)
		fclose(from);
	if (to && fclose(to))
		got = 0;
	if (to && *n)
		return text;
	free(text);
	return NULL;
}

static void tell_file(void *arg, const struct vprof_mapped_file *file)
{
	struct vp_unit u[2 + (VP_PATH_MAX + 15) / 16];
	struct vprof_image *image = arg;
	size_t n = strnlen(file->path, VP_PATH_MAX);

	memset(u, 0, sizeof u);
	u[0] = (struct vp_unit){ file->start, VP_W(VP_KIND_MODULE, n) };
	u[1] = (struct vp_unit){ file->bias, file->end };
	memcpy(u + 2, file->path, n);
	vprof_gather_add(&image->table, u, vp_record_units(u[0].w));
	if (!file->n_build_id || file->n_build_id > VP_BUILD_ID_MAX)
		return;
	memset(u, 0, 3 * sizeof *u);
	u[0] = (struct vp_unit){ file->start, VP_W(VP_KIND_BUILD_ID, (uint64_t)file->n_build_id) };
	memcpy(u + 1, file->build_id, file->n_build_id);
	vprof_gather_add(&image->table, u, 3);
}

static void close_oldest(struct vprof_images *images)
{
	struct vprof_image *oldest = NULL;

	for (size_t i = 0; i < images->v.n; i++)
		if (images->v.v[i]->unwinder && (!oldest || images->v.v[i]->used < oldest->used))
			oldest = images->v.v[i];
	if (oldest)
		close_image(images, oldest);
}

/* 1: its files are open. */
static int open_image(struct vprof_images *images, struct vprof_image *image)
{
	image->used = ++images->n_used;
	if (image->unwinder)
		return 1;
	if (images->n_open >= OPEN_MAX)
		close_oldest(images);
	image->unwinder = vprof_unwinder_new(image->maps, image->n_maps);
	images->n_open += image->unwinder != NULL;
	return image->unwinder != NULL;
}

/* The next mapping of a file at or behind *line, which becomes the line behind it; 0: there is none. */
static int next_file(const char **line, uint64_t *start, int *is_code, char path[VP_PATH_MAX])
{
	char rights[8];
	int is_file = 0;

	while (*line && **line && !is_file) {
		is_file = sscanf(*line, "%" SCNx64 "-%*x %7s %*x %*s %*d %4095[^\n]", start, rights, path) == 3 &&
			  path[0] == '/';
		*line = strchr(*line, '\n');
		*line += *line != NULL;
	}
	*is_code = is_file && rights[2] == 'x';
	return is_file;
}

/* The lowest address of code in files other than the program's own, which is the first; 0: there is none, or only that
 * of the dynamic linker, which is about to map the others. */
static uint64_t find_libraries(const char *maps)
{
	char program[VP_PATH_MAX], path[VP_PATH_MAX];
	uint64_t lowest = 0, start;
	int n = 0, is_code;

	program[0] = 0;
	while (next_file(&maps, &start, &is_code, path)) {
		if (!program[0])
			strcpy(program, path);
		if (!is_code || !strcmp(path, program))
			continue;
		n++;
		if (!lowest || start < lowest)
			lowest = start;
	}
	return n > 1 ? lowest : 0;
}

static void tell_libraries(struct vprof_images *images, const struct vprof_image *image)
{
	uint64_t begin = image->maps ? find_libraries(image->maps) : 0;

	if (begin) /* without, more copies of the same stacks are sent */
		bpf_map_update_elem(images->libraries, &image->pid, &begin, BPF_ANY);
}

static uint64_t refresh_after(uint64_t refresh_ns)
{
	return refresh_ns < LOOK_MOST_NS / 2 ? 2 * refresh_ns : LOOK_MOST_NS;
}

/* Takes the text, also when it fails; NULL: the process is gone, and has nothing. */
static struct vprof_image *add_image(struct vprof_images *images, uint32_t pid, char *maps, size_t n_maps,
				     uint64_t known_ns, uint64_t refresh_ns)
{
	struct vprof_image *image = images->v.n < IMAGES_MAX ? calloc(1, sizeof *image) : NULL, **slot = NULL;
	const struct vp_chunk_header whose = { .thread_seq = VP_THREAD_KERNEL_TABLE,
					       .pid = pid,
					       .process_seq = FIRST_PROCESS + (uint32_t)images->v.n };

	if (image)
		slot = VPROF_PUSH(&images->v);
	if (!slot) {
		free(maps);
		free(image);
		return NULL;
	}
	*image = (struct vprof_image){ .pid = pid,
				       .is_current = 1,
				       .maps = maps,
				       .n_maps = maps ? n_maps : 0,
				       .refresh_ns = refresh_ns,
				       .read_ns = vprof_clock_monotonic_ns(),
				       .known_ns = known_ns };
	vprof_gather_init(&image->table, &whose, images->store, images->arg);
	*slot = image;
	tell_libraries(images, image);
	return image;
}

static struct vprof_image *current_image(const struct vprof_images *images, uint32_t pid)
{
	for (size_t i = images->v.n; i-- > 0;)
		if (images->v.v[i]->pid == pid && images->v.v[i]->is_current)
			return images->v.v[i];
	return NULL;
}

struct vprof_image *vprof_images_find(struct vprof_images *images, uint32_t pid)
{
	struct vprof_image *image = current_image(images, pid), *parent = NULL;
	uint64_t known_ns = vprof_clock_monotonic_ns();
	size_t n = 0;
	char *maps;

	if (image)
		return image;
	/* What it was forked with: what it has now may be of a program that it has executed since. */
	for (size_t i = images->forks.n; i-- > 0 && !parent;) /* the newest counts */
		if (images->forks.v[i].pid == pid)
			parent = current_image(images, images->forks.v[i].parent_pid);
	if (parent && parent->maps) {
		known_ns = parent->known_ns;
		maps = strndup(parent->maps, n = parent->n_maps);
	} else {
		maps = read_maps(pid, &n);
	}
	return add_image(images, pid, maps, n, maps ? known_ns : UINT64_MAX, REFRESH_NS);
}

/* A hash of the files whose code is mapped, of which part, and where. */
static uint64_t hash_code(const char *maps)
{
	uint64_t hash = VPROF_HASH_SEED;

	for (const char *line = maps, *end; line && *line; line = *end ? end + 1 : end) {
		const char *rights = strchr(line, ' ');

		end = strchrnul(line, '\n');
		if (rights && rights + 3 < end && rights[3] == 'x' && memchr(rights, '/', (size_t)(end - rights)))
			hash = vprof_mix(vprof_hash(hash, line, (size_t)(end - line)));
	}
	return hash;
}

static int have_same_code(const struct vprof_image *image, const char *maps, size_t n)
{
	if (image->maps && image->n_maps == n && !memcmp(image->maps, maps, n))
		return 1;
	return hash_code(maps) == hash_code(image->maps);
}

/* Its mappings are read again; NULL: no others have code, or the process is gone. */
static struct vprof_image *renew(struct vprof_images *images, struct vprof_image *image)
{
	uint64_t known_ns = vprof_clock_monotonic_ns();
	struct vprof_image *newer;
	size_t n;
	char *maps = read_maps(image->pid, &n);

	image->read_ns = known_ns;
	image->refresh_ns = refresh_after(image->refresh_ns);
	if (!maps || have_same_code(image, maps, n)) {
		image->known_ns = maps ? known_ns : UINT64_MAX;
		free(maps);
		return NULL;
	}
	newer = add_image(images, image->pid, maps, n, known_ns, image->refresh_ns);
	if (newer)
		image->is_current = 0;
	return newer;
}

/* Were its mappings read long enough ago to read them again, after most_ns in any case? */
static int is_old(const struct vprof_image *image, uint64_t most_ns)
{
	uint64_t after_ns = image->refresh_ns < most_ns ? image->refresh_ns : most_ns;

	return vprof_clock_monotonic_ns() - image->read_ns > after_ns;
}

void vprof_images_look(struct vprof_images *images, struct vprof_image *image)
{
	if (image->is_current && is_old(image, LOOK_MOST_NS))
		renew(images, image);
}

static void end_image(struct vprof_images *images, uint32_t pid)
{
	struct vprof_image *image = current_image(images, pid);

	if (image)
		image->is_current = 0;
}

void vprof_images_fork(struct vprof_images *images, uint32_t parent_pid, uint32_t pid)
{
	struct forked *f = images->forks.n < IMAGES_MAX ? VPROF_PUSH(&images->forks) : NULL;

	if (f)
		*f = (struct forked){ pid, parent_pid };
	end_image(images, pid);
}

/* Nothing of what it was forked with is left. */
void vprof_images_forget(struct vprof_images *images, uint32_t pid)
{
	for (size_t i = images->forks.n; i-- > 0;)
		if (images->forks.v[i].pid == pid)
			images->forks.v[i].pid = 0;
	end_image(images, pid);
}

static struct vprof_unwound unwind(struct vprof_images *images, struct vprof_image *image,
				   const struct vp_ring_stack *stack, uint64_t addresses[VP_KERNEL_STACK_MAX],
				   size_t places[VP_KERNEL_STACK_MAX])
{
	const unsigned long long *r = stack->registers;
	const struct vprof_stack_copy copy = { r[0],	     r[1],	    r[2], r[3], { r[4], r[5], r[6], r[7] },
					       stack->bytes, stack->n_bytes };

	addresses[0] = copy.ip;
	if (!open_image(images, image))
		return (struct vprof_unwound){ .n = 1, .is_cut = 1, .is_unknown = 1 };
	if (!image->is_told)
		vprof_unwinder_files(image->unwinder, tell_file, image);
	image->is_told = 1;
	return vprof_unwinder_unwind(image->unwinder, &copy, addresses, places, VP_KERNEL_STACK_MAX);
}

/* Would it be whole with as much memory as there may be? */
static int is_deep(const struct vprof_unwound *found, const struct vp_ring_stack *stack)
{
	return found->is_cut && !stack->is_deep && found->n_wanted > stack->n_bytes &&
	       found->n_wanted <= VP_RING_STACK_BYTES;
}

static uint32_t flags_of(const struct vprof_image *image, const struct vprof_unwound *found,
			 const struct vp_ring_stack *stack)
{
	if (!found->is_cut)
		return 0;
	if (found->is_full)
		return VP_STACK_CUT | VP_STACK_LONG;
	if (!image->maps)
		return VP_STACK_CUT | VP_STACK_GONE;
	return VP_STACK_CUT | (found->n_wanted > stack->n_bytes ? VP_STACK_DEEP : VP_STACK_UNTABLED);
}

/* Frames of code that is in no file are a guess, and may be known another time. */
static void place_frames(const struct vprof_unwound *found, const struct vp_ring_stack *stack,
			 const size_t places[VP_KERNEL_STACK_MAX], struct vp_ring_frames *frames)
{
	frames->stack = found->is_placed && !found->is_unknown;
	frames->n = frames->last = 0;
	frames->is_deep = is_deep(found, stack);
	if (frames->is_deep)
		frames->stack = 0;
	for (size_t i = 1; frames->stack && i < found->n; i++) {
		frames->at[frames->n++] = (unsigned short)places[i];
		frames->last = places[i] > frames->last ? (unsigned short)places[i] : frames->last;
	}
}

int vprof_images_unwind(struct vprof_images *images, struct vprof_image *image, uint32_t id,
			const struct vp_ring_stack *stack, int is_last, struct vp_ring_frames *frames)
{
	uint64_t addresses[VP_KERNEL_STACK_MAX];
	size_t places[VP_KERNEL_STACK_MAX];
	struct vprof_unwound found = unwind(images, image, stack, addresses, places);
	/* A library may have been loaded before the stack was taken, and after its mappings were read. */
	int may_be_new = found.is_unknown && stack->head.ns >= image->known_ns;
	struct vprof_image *newer = NULL;

	if (found.is_unknown && !image->is_current)
		newer = current_image(images, image->pid);
	else if (may_be_new && is_old(image, REFRESH_MOST_NS))
		newer = renew(images, image);
	else if (may_be_new && !is_last)
		return 1;
	if (newer) {
		image = newer;
		found = unwind(images, image, stack, addresses, places);
	}
	place_frames(&found, stack, places, frames);
	vprof_stack_record(&image->table, id, addresses, (uint32_t)found.n, flags_of(image, &found, stack));
	return 0;
}

void vprof_images_flush(struct vprof_images *images)
{
	for (size_t i = 0; i < images->v.n; i++) {
		vprof_gather_flush(&images->v.v[i]->table);
		vprof_gather_release(&images->v.v[i]->table);
	}
}
