/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do the annotations match the sources? Checked before anything is built.
 *
 * Every function must exist, be one function and be instrumentable; every expression must compile in its
 * function's scope and have a type that can be recorded. Expressions are checked by libclang, one parse for each
 * translation unit that contains annotated functions. All findings are reported, in the order of vprof.json.
 */
#ifndef VPROF_CHECK_H
#define VPROF_CHECK_H

#include "annotate/check/annotations.h"
#include "annotate/check/findings.h"
#include "common/facts/facts.h"

/* OK also when there are findings of severity error: look at out->n_errors. Fails with STALE when an
 * annotated function's file changed since the scan, with NOMEM, or FAILED when libclang cannot run. `out` is
 * released by the caller in every case; it refers to `a`, which must outlive it. */
int vprof_annotations_check(const struct vprof_annotations *a, const struct vprof_facts *facts,
			    struct vprof_findings *out, struct vprof_error *err);

#endif
