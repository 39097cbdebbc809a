/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves, once, all that a relink could replace: programs, libraries and archives in the build folders. */
#ifndef VPROF_ORIGINALS_COLLECT_H
#define VPROF_ORIGINALS_COLLECT_H

#include <stddef.h>
#include <stdint.h>

#include "instrumenter/restore/originals.h"

/* All artefacts together; above it replay refuses (the message says how to go on). */
#define VPROF_ARTEFACTS_MAX_BYTES ((int64_t)8 << 30)

/* Walks the folders. `is_output` recognises the units' own outputs, which are stamps until they are replaced. Files
 * older than `since_s` are no stamps. The caller writes original.json. */
int vprof_originals_collect(struct vprof_originals *o, const char *const *dirs, size_t n_dirs,
			    int (*is_output)(void *arg, const char *path), void *arg, int64_t since_s,
			    struct vprof_error *err);

#endif
