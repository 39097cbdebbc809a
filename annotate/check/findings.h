/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a check of the annotations found, for a person. */
#ifndef VPROF_FINDINGS_H
#define VPROF_FINDINGS_H

#include "annotate/check/annotations.h"
#include "common/arena.h"
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

void vprof_findings_release(struct vprof_findings *findings);

/* "vprof.json:14: intervals[0].end.if: message" */
void vprof_finding_format(const struct vprof_annotations *a, const struct vprof_finding *finding,
			  struct vprof_text *out);

#endif
