/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a knot is called: "compactor -> disk vda -> compactor". */
#ifndef VPROF_WAITS_MEMBERS_H
#define VPROF_WAITS_MEMBERS_H

#include "analysis/results/waits_results.h"
#include "common/text.h"

/* Appends the name, and of several threads their number. Failed memory shows in out. */
void vprof_waits_add_party(const struct vprof_waits_results *r, uint32_t party, struct vprof_text *out);

/* Appends the members: a simple cycle from the first around to it again, else the first few. */
void vprof_waits_add_members(const struct vprof_waits_results *r, const struct vprof_waits_group *g,
			     struct vprof_text *out);

#endif
