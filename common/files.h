/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole files, folders and paths. */
#ifndef VPROF_FILES_H
#define VPROF_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/text.h"

/* Appends the whole file to `out`. Refuses folders and files above 1 GiB. */
int vprof_file_read(const char *path, struct vprof_text *out, struct vprof_error *err);

/* Writes to a neighbour (PATH.vprof-PID, gone when a signal ends the program) and renames: a reader sees the old or the
 * new content, never a part. A link is replaced, its file is left alone; into a device or pipe is written. */
int vprof_file_write(const char *path, const void *bytes, size_t n, struct vprof_error *err);

/* Copies content, mode and modification time (the backup and its way back). Atomic like _write. */
int vprof_file_copy(const char *from, const char *to, struct vprof_error *err);

/* mkdir -p. */
int vprof_dir_make(const char *path, struct vprof_error *err);

/* rm -rf, without following symlinks; a missing path is fine. */
int vprof_dir_remove(const char *path, struct vprof_error *err);

/* Absolute, without "." and "..", without touching the disk; `base` is used for relative paths.
 * Heap string; NULL when out of memory. */
char *vprof_path_absolute(const char *base, const char *path);

/* The same, but a path that leads into the folder `root` over a link to a folder is given as it is named in there. Asks
 * the file system. */
char *vprof_path_rooted(const char *root, const char *base, const char *path);

/* dir + "/" + name on the heap; NULL when out of memory. */
char *vprof_path_join(const char *dir, const char *name);

/* What stands behind the last slash: the file's name. All of it without a slash. Points into `path`. */
const char *vprof_path_name(const char *path);

/* Is `path` inside folder `dir` (both absolute and normalised)? The folder itself counts. */
int vprof_path_inside(const char *dir, const char *path);

/* FNV-1a, 64 bit: identity of contents and strings; not cryptographic. Chain with `seed`, start with
 * VPROF_HASH_SEED. */
#define VPROF_HASH_SEED UINT64_C(0xcbf29ce484222325)
uint64_t vprof_hash(uint64_t seed, const void *bytes, size_t n);

/* Mixes in a string with its NUL, so that "ab", "c" and "a", "bc" differ. */
uint64_t vprof_hash_text(uint64_t seed, const char *text);

/* Hash of a file's content as 16 lower-case hex digits plus NUL. */
int vprof_file_hash(const char *path, char hex[17], struct vprof_error *err);

#endif
