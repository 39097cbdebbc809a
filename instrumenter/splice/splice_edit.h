/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Insertions into source files, before they are applied.
 *
 * Splice never deletes or changes a byte of the original: every edit is a text inserted before an offset. Invariants:
 * lines keep their numbers (inserted text holds no newline, or ends in a #line directive that sets the number right),
 * and insertions at one offset have a defined order, so that ranges nest: closing texts come first (inner before
 * outer), then texts at a point, then opening ones (outer before inner).
 *
 * A function may be written twice: its text, from `other` to the place of a VPROF_EDIT_COPY, is repeated there with the
 * edits that belong to copies in place of those that belong to originals.
 */
#ifndef VPROF_SPLICE_EDIT_H
#define VPROF_SPLICE_EDIT_H

#include <stdint.h>

#include "common/error.h"
#include "common/text.h"

enum vprof_edit_class {			   /* in their order at one offset */
			VPROF_EDIT_CLOSE,  /* end of a range; `other` = its begin */
			VPROF_EDIT_ENTRY,  /* just inside a function's body */
			VPROF_EDIT_EXIT,   /* before a function's last brace */
			VPROF_EDIT_NAME,   /* just behind a function's name */
			VPROF_EDIT_COPY,   /* behind a function's last brace; `other` = where its text begins */
			VPROF_EDIT_BEFORE, /* before a function */
			VPROF_EDIT_OPEN,   /* begin of a range; `other` = its end */
};

enum vprof_edit_copies { VPROF_EDIT_BOTH, VPROF_EDIT_ORIGINAL_ONLY, VPROF_EDIT_COPY_ONLY };

struct vprof_edit {
	uint32_t file; /* facts file id */
	enum vprof_edit_class where;
	enum vprof_edit_copies copies;
	int64_t at, other;
	int rank; /* points: smaller comes first; ranges of the same extent: smaller is the outer one */
	uint32_t sequence;
	char *text;
	char *behind; /* VPROF_EDIT_COPY: what follows the repeated text; else NULL */
};

struct vprof_edits {
	struct vprof_edit *list;
	size_t n, cap;
	int failed; /* out of memory; checked once, at the end */
};

/* Takes over `text` and leaves it empty. Newlines in it become spaces. */
void vprof_edits_add(struct vprof_edits *e, uint32_t file, enum vprof_edit_class where, int64_t at, int64_t other,
		     int rank, struct vprof_text *text);
/* The same for lines, which keep their newlines; `behind` may be NULL. */
void vprof_edits_add_lines(struct vprof_edits *e, uint32_t file, enum vprof_edit_class where, int64_t at, int64_t other,
			   struct vprof_text *text, struct vprof_text *behind);
/* Which copies all edits from list[first] on belong to. */
void vprof_edits_belong(struct vprof_edits *e, size_t first, enum vprof_edit_copies copies);
/* Opens and closes a range: two edits. */
void vprof_edits_enclose(struct vprof_edits *e, uint32_t file, int64_t begin, int64_t end, int rank,
			 struct vprof_text *before, struct vprof_text *after);
void vprof_edits_sort(struct vprof_edits *e);
void vprof_edits_release(struct vprof_edits *e);

/* The sorted edits list[0 .. n), all of one file, inserted into `original`. STALE when one does not fit the text. */
int vprof_edits_apply(const struct vprof_edit *list, size_t n, const struct vprof_text *original, const char *path,
		      struct vprof_text *out, struct vprof_error *err);

#endif
