/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shadow tree, under construction and done.
 *
 * Invariant: the shadow tree itself says what is edited. Under the shadow folder every project file has the
 * path that it has under facts->root; a regular file is an edited one, a symlink leads to an unmodified
 * original. Nothing else is recorded, so nothing can disagree.
 */
#ifndef VPROF_SPLICE_SHADOW_H
#define VPROF_SPLICE_SHADOW_H

#include <stddef.h>

#include "common/error.h"
#include "common/facts/facts.h"
#include "common/text.h"

/* Where the file `path` (absolute) lies in the shadow tree: heap string, or NULL when it is outside
 * facts->root (then it has no shadow) or memory ran out. */
char *vprof_shadow_path(const struct vprof_facts *facts, const char *shadow_dir, const char *path);

/* zero but for facts and dir */
struct vprof_shadow {
	const struct vprof_facts *facts;
	const char *dir;
	char **paths; /* shadow paths that belong there, on the heap */
	size_t n_paths, cap_paths;
	size_t n_edited; /* paths[0 .. n_edited) are edited files, until _finish sorts them */
	size_t n_links;	 /* after _finish: symlinks in the tree */
};

/* Puts `text` where the original `path` has its shadow; leaves a file with that content alone. */
int vprof_shadow_write(struct vprof_shadow *s, const char *path, const struct vprof_text *text,
		       struct vprof_error *err);

/* After the last _write: symlinks for all other project files and for sources and headers beside them; everything
 * else in the tree is removed. */
int vprof_shadow_finish(struct vprof_shadow *s, struct vprof_error *err);
void vprof_shadow_release(struct vprof_shadow *s);

#endif
