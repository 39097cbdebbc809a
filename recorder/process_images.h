/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What processes had mapped, and the copies of their stacks unwound with that.
 *
 * An image is what one process had mapped at one time. It is kept when the process has ended; files that have changed
 * since are read as they are now.
 */
#ifndef VPROF_RECORDER_PROCESS_IMAGES_H
#define VPROF_RECORDER_PROCESS_IMAGES_H

#include "recorder/gather.h"
#include "recorder/ring_event.h"

struct vprof_images;
struct vprof_image;

/* `libraries`: the map that tells the kernel's side where the libraries of each process begin. NULL: no memory. */
struct vprof_images *vprof_images_new(vprof_store_chunk *store, void *arg, int libraries);
void vprof_images_free(struct vprof_images *images);

/* The image of a process as it is now, or was when it was asked for first. If it was forked meanwhile and has not
 * executed another program, that of the process that it was forked from; if it is gone, an empty one. NULL: no memory.
 */
struct vprof_image *vprof_images_find(struct vprof_images *images, uint32_t pid);

/* If its mappings have not been read for a while and there is code in others now, the process gets a new image beside
 * this one, for stacks that this one does not explain. */
void vprof_images_look(struct vprof_images *images, struct vprof_image *image);
void vprof_images_fork(struct vprof_images *images, uint32_t parent_pid, uint32_t pid);
void vprof_images_forget(struct vprof_images *images, uint32_t pid); /* it executes another program */

/* Adds the stack to the image's table: 0. Without tables for its functions it has only the frames up to there; unless
 * is_last, that is 1, with nothing added, when looking at the mappings again later may help. Sets frames->n and at, and
 * frames->stack to 1, or to 0 if the same words there do not make the same stack; then
 * frames->is_deep if more memory would tell. */
int vprof_images_unwind(struct vprof_images *images, struct vprof_image *image, uint32_t id,
			const struct vp_ring_stack *stack, int is_last, struct vp_ring_frames *frames);
void vprof_images_flush(struct vprof_images *images);

/* Adds a KERNEL_STACK record (stack_table.c). */
void vprof_stack_record(struct vprof_gather *table, uint32_t id, const uint64_t *addresses, uint32_t n, uint32_t flags);

#endif
