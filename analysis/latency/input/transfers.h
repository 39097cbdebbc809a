/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the programs of a trace received and sent on connections that they were asked for: of vprof record --paths. */
#ifndef VPROF_TRANSFERS_H
#define VPROF_TRANSFERS_H

#include "analysis/latency/history/transfer.h"
#include "common/array.h"
#include "common/error.h"
#include "trace/reader.h"

struct vprof_transfers {
	VPROF_ARRAY(struct vprof_transfer) v; /* by time */
};

/* NOMEM; to be released in any case. */
int vprof_transfers_read(struct vprof_transfers *out, const struct vprof_trace *trace, struct vprof_error *err);
void vprof_transfers_release(struct vprof_transfers *transfers);

#endif
