/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which units a shadow tree concerns: what replay needs to know about what vprof_splice wrote (splice_shadow.h).
 */
#ifndef VPROF_SPLICE_UNIT_H
#define VPROF_SPLICE_UNIT_H

#include "annotate/check/annotations.h"
#include "common/facts/facts.h"
#include "common/plan.h"

/* a narrow header concerns the units that read this file, too: file ids */
struct vprof_edited_user {
	uint32_t header, file;
};

#define VPROF_EDITED_NARROW 2

/* what replay reads of the shadow tree; zero before _read */
struct vprof_edited {
	const struct vprof_facts *facts;
	unsigned char *needed; /* as facts->files: 1 when edited or it calls the interval API of vprof.h, or _NARROW */
	uint64_t *hashes;      /* of the edited text */
	struct vprof_edited_user *users;
	size_t n_users;
};

/* Reads the edited files. O(files + calls of the project). Release it also after an error. */
int vprof_edited_read(struct vprof_edited *e, const struct vprof_facts *facts, const char *shadow_dir,
		      struct vprof_error *err);
/* After _read: an edited header whose probes can only open in some units concerns only those (splice_static.c). NOMEM.
 * O(calls of the project) for each static function of a header with a probe. */
int vprof_edited_narrow(struct vprof_edited *e, const struct vprof_plan *plan, const struct vprof_annotations *a,
			struct vprof_error *err);
void vprof_edited_release(struct vprof_edited *e);

/* Must this translation unit be built from shadow sources, with probe.h in front?
 * 1: yes, it reads an edited file that concerns it or one that calls the interval API; `fingerprint` (16 hex digits)
 * identifies the contents of all edited files that it reads: as long as it and the command stay the same, so does the
 * object. The caller mixes in the hash of probe.h and the command. 0: no; build it from the originals. `fingerprint` is
 * then empty. O(files of the unit). */
int vprof_edited_unit(const struct vprof_edited *e, const struct vprof_facts_tu *tu, char fingerprint[17]);

#endif
