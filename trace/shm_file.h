/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file in /dev/shm behind trace/shm.h: made, laid out and removed here.
 *
 * All its memory is allocated when it is made: a hole in a full tmpfs would kill the target that first touches it.
 * n_chunks and the pointers are this process's own copies; the file's may be overwritten by a target.
 */
#ifndef VPROF_TRACE_SHM_FILE_H
#define VPROF_TRACE_SHM_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "trace/shm.h"

struct vprof_shm_file {
	char path[64]; /* "/dev/shm/vprof-PID-XXXXXX", "" where there is no file */
	int lock;      /* the file's descriptor: flock'ed until the file is closed or its maker dies */
	struct vp_shm *shm;
	_Atomic uint32_t *states; /* [n_chunks] */
	unsigned char *chunks;	  /* [n_chunks * VP_CHUNK_BYTES] */
	uint32_t n_chunks;
	size_t n_bytes;
	int is_owned; /* shm->owner is registered with the kernel, for the thread that made the file */
};

/* ring_bytes 0: 256 MiB, but at most a quarter of what is free. Removes files that dead collectors left.
 * MISSING when /dev/shm is absent or has too little room. *f is all zero after an error. */
int vprof_shm_file_open(struct vprof_shm_file *f, uint64_t ring_bytes, struct vprof_error *err);
/* Gives the file to the user whose processes are to open it. */
int vprof_shm_file_give(const struct vprof_shm_file *f, uid_t to, struct vprof_error *err);
void vprof_shm_file_close(struct vprof_shm_file *f); /* an all-zero *f is fine */

static inline struct vp_chunk_header *vprof_shm_chunk(const struct vprof_shm_file *f, uint32_t i)
{
	return (struct vp_chunk_header *)(f->chunks + (size_t)i * VP_CHUNK_BYTES);
}

#endif
