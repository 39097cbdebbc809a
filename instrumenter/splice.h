/* What replay needs to know of the shadow tree that vprof_splice wrote.
 *
 * Invariant: the shadow tree itself says what is edited. Under the shadow folder every project file has the
 * path that it has under facts->root; a regular file is an edited one, a symlink leads to an unmodified
 * original. Nothing else is recorded, so nothing can disagree.
 */
#ifndef VPROF_SPLICE_H
#define VPROF_SPLICE_H

#include "common/facts.h"

/* Where the file `path` (absolute) lies in the shadow tree: heap string, or NULL when it is outside
 * facts->root (then it has no shadow) or memory ran out. */
char *vprof_shadow_path(const struct vprof_facts *facts, const char *shadow_dir, const char *path);

struct vprof_edited { /* what replay reads of the shadow tree; zero before _read */
	const struct vprof_facts *facts;
	unsigned char *needed; /* as facts->files: edited, or calls the interval API of vprof.h */
	uint64_t *hashes;      /* of the edited text */
};

/* Reads the edited files. O(files + calls of the project). Release it also after an error. */
int vprof_edited_read(struct vprof_edited *e, const struct vprof_facts *facts, const char *shadow_dir,
		      struct vprof_error *err);
void vprof_edited_release(struct vprof_edited *e);

/* Must this translation unit be built from shadow sources, with probe.h in front?
 * 1: yes, it reads an edited file or one that calls the interval API; `fingerprint` (16 hex digits) identifies the
 *    contents of all edited files that it reads: as long as it and the command stay the same, so does the object.
 *    The caller mixes in the hash of probe.h and the command.
 * 0: no; build it from the originals. `fingerprint` is then empty.
 * O(files of the unit). */
int vprof_edited_unit(const struct vprof_edited *e, const struct vprof_facts_tu *tu, char fingerprint[17]);

#endif
