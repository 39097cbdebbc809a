/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a resident build can measure (.vprof/live/resident.json), as live sessions want it. */
#ifndef VPROF_RESIDENT_PROBES_H
#define VPROF_RESIDENT_PROBES_H

#include "common/error.h"
#include "live/probe_map.h"

struct vprof_resident_probes;

/* MISSING: there is no resident build. */
int vprof_resident_probes_read(struct vprof_resident_probes **out, const char *vprof_dir, struct vprof_error *err);
void vprof_resident_probes_free(struct vprof_resident_probes *p);
const struct vprof_probe_map *vprof_resident_probes_map(const struct vprof_resident_probes *p);

#endif
