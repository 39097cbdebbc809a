/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Are the annotations true of the sources? Checked before anything is built.
 *
 * Every function must exist, be one function and be instrumentable; every expression must compile in its
 * function's scope and have a type that can be recorded. Expressions are checked by libclang, one parse for
 * each translation unit that holds annotated functions. All findings are reported, in the order of
 * vprof.json.
 */
#ifndef VPROF_CHECK_H
#define VPROF_CHECK_H

#include "annotate/check/annotations.h"
#include "common/arena.h"
#include "common/facts/facts.h"
#include "common/text.h"

enum vprof_severity { VPROF_FINDING_OK, VPROF_FINDING_WARNING, VPROF_FINDING_ERROR };

struct vprof_finding {
	enum vprof_severity severity;
	struct vprof_place place;
	const char *message; /* without file, line and key */
};

struct vprof_findings {
	struct vprof_finding *items;
	size_t n, n_errors, n_warnings;
	struct vprof_arena arena; /* owns items and messages */
};

/* OK also when there are findings of severity error: look at out->n_errors. Fails with STALE when an
 * annotated function's file changed since the scan, with NOMEM, or FAILED when libclang cannot run. `out` is
 * released by the caller in every case; it refers to `a`, which must outlive it. */
int vprof_annotations_check(const struct vprof_annotations *a, const struct vprof_facts *facts,
			    struct vprof_findings *out, struct vprof_error *err);
void vprof_findings_release(struct vprof_findings *findings);

/* "vprof.json:14: intervals[0].end.if: message" */
void vprof_finding_format(const struct vprof_annotations *a, const struct vprof_finding *finding,
			  struct vprof_text *out);

#endif
