/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths in the order in which they were added, each once. Zero-initialise; linear search, for tens of paths. */
#ifndef VPROF_PATH_LIST_H
#define VPROF_PATH_LIST_H

#include <stddef.h>

struct vprof_paths {
	char **v;
	size_t n;
};

int vprof_paths_has(const struct vprof_paths *p, const char *path);
/* Keeps a copy unless the path is there already. 0 or NOMEM. */
int vprof_paths_add(struct vprof_paths *p, const char *path);
void vprof_paths_release(struct vprof_paths *p);

#endif
