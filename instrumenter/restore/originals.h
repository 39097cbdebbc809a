/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The saved originals: what restore puts back.
 *
 *   .vprof/original/PATH    saved files under their absolute path: objects before they were first replaced, and every
 *                           program, library and archive that a relink could replace (mode and times kept)
 *   .vprof/original.json    what was saved: path, kind, hash, size, mode, time
 *
 * Invariant: a file is saved, and named in original.json, before it is replaced for the first time.
 */
#ifndef VPROF_ORIGINALS_H
#define VPROF_ORIGINALS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum vprof_original_kind {
	VPROF_ORIGINAL_OBJECT,	 /* what a unit compiles to */
	VPROF_ORIGINAL_ARTEFACT, /* program, shared library, archive, partial link */
	/* another file written by the build: only its time is put back, if its content is still the same */
	VPROF_ORIGINAL_STAMP,
	VPROF_ORIGINAL_ABSENT, /* did not exist before we made it: removed by restore */
};

struct vprof_original {
	char *path;
	enum vprof_original_kind kind;
	char hash[17];
	int64_t size, mtime_s, mtime_ns;
	unsigned mode;
};

struct vprof_originals {
	char *vprof_dir;
	struct vprof_original *items;
	size_t n;
	int collected; /* the build folders were searched for artefacts and stamps (originals_collect.h) */
};

/* Without original.json: an empty list. CORRUPT when it is damaged. Release it also after an error. */
int vprof_originals_read(struct vprof_originals *o, const char *vprof_dir, struct vprof_error *err);
int vprof_originals_write(const struct vprof_originals *o, struct vprof_error *err);
void vprof_originals_release(struct vprof_originals *o);
struct vprof_original *vprof_originals_find(const struct vprof_originals *o, const char *path);
/* Copies the file (objects, artefacts) and remembers it, in place of an older original. The caller writes
 * original.json. */
int vprof_originals_save(struct vprof_originals *o, const char *path, enum vprof_original_kind kind,
			 struct vprof_error *err);
/* The same for a path that is not in the list yet: no search. */
int vprof_originals_add(struct vprof_originals *o, const char *path, enum vprof_original_kind kind,
			struct vprof_error *err);
/* Saves the file unless it is saved already; a stamp becomes a saved file. */
int vprof_originals_secure(struct vprof_originals *o, const char *path, enum vprof_original_kind kind,
			   struct vprof_error *err);
/* Puts one saved file back, exactly. 1: it had changed, 0: it was as saved, negative: error. */
int vprof_originals_put_back(const struct vprof_originals *o, const struct vprof_original *item,
			     struct vprof_error *err);

#endif
