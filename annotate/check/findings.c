/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/check/findings.h"

void vprof_findings_release(struct vprof_findings *findings)
{
	vprof_arena_release(&findings->arena);
	*findings = (struct vprof_findings){ 0 };
}

void vprof_finding_format(const struct vprof_annotations *a, const struct vprof_finding *finding,
			  struct vprof_text *out)
{
	vprof_text_addf(out, "%s:%d: %s: %s", a->path, finding->place.line, finding->place.key, finding->message);
}
