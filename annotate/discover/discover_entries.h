/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where threads and processes start. Fills d->is_entry. */
#ifndef VPROF_DISCOVER_ENTRIES_H
#define VPROF_DISCOVER_ENTRIES_H

#include "annotate/code/discovery.h"

void vprof_discover_entries(struct vprof_discovery *d);

#endif
