/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks of code that lies in no file, and of libraries that are loaded later (recorder/process_images.h). The process
 * is the test itself.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/process_images.h"
#include "recorder/ring_event.h"
#include "trace/clock.h"

#define STACKS 100

static int store(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	(void)arg;
	(void)h;
	(void)units;
	return 0;
}

/* Taken now, in code at `address`. */
static struct vp_ring_stack *stack_at(const void *address)
{
	struct vp_ring_stack *s = calloc(1, sizeof *s);

	assert_non_null(s);
	s->head.ns = vprof_clock_monotonic_ns();
	s->is_user = 1;
	s->registers[0] = (uintptr_t)address;
	s->registers[1] = (uintptr_t)s->bytes;
	s->n_bytes = 64;
	return s;
}

static int unwind(struct vprof_images *images, struct vprof_image *image, const struct vp_ring_stack *s)
{
	struct vp_ring_frames frames = { 0 };

	return vprof_images_unwind(images, image, 1, s, 0, &frames);
}

/* The first waits until the mappings were read after it was taken, and so after all of them were: then none waits. */
static void settle(struct vprof_images *images, struct vprof_image *image, struct vp_ring_stack *stacks[STACKS])
{
	while (unwind(images, image, stacks[0]))
		;
	for (int i = 1; i < STACKS; i++)
		assert_int_equal(unwind(images, image, stacks[i]), 0);
	for (int i = 0; i < STACKS; i++)
		free(stacks[i]);
	vprof_images_free(images);
}

/* Code that is in no file. */
static void test_settled_together(void **state)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vprof_images *images = vprof_images_new(store, NULL, -1);
	struct vprof_image *image = vprof_images_find(images, (uint32_t)getpid());
	struct vp_ring_stack *stacks[STACKS];

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_non_null(image);
	for (int i = 0; i < STACKS; i++)
		stacks[i] = stack_at((char *)code + i);
	settle(images, image, stacks);
	munmap(code, 4096);
}

/* The process has ended in the meantime. */
static void test_ended(void **state)
{
	struct vprof_images *images = vprof_images_new(store, NULL, -1);
	struct vp_ring_stack *stacks[STACKS];
	struct vprof_image *image;
	int status, ready[2];
	pid_t pid;
	char c;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		close(ready[1]);
		_exit(read(ready[0], &c, 1) != 0);
	}
	assert_true(pid > 0);
	close(ready[0]);
	image = vprof_images_find(images, (uint32_t)pid);
	assert_non_null(image);
	for (int i = 0; i < STACKS; i++)
		stacks[i] = stack_at((void *)(uintptr_t)(4096 + i));
	close(ready[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	settle(images, image, stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_settled_together), cmocka_unit_test(test_ended) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
