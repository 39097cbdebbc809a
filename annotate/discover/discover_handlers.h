/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers: what is called where the program turns from waiting for many things to working on one. */
#ifndef VPROF_DISCOVER_HANDLERS_H
#define VPROF_DISCOVER_HANDLERS_H

#include "annotate/discover/ranking.h"

/* Dispatchers, handlers behind pointers, what loops call beside the call that waits, tasks given to a thread pool. */
void vprof_observe_handlers(struct vprof_ranking *r);
/* What handlers call. Call it when all handlers are known. */
void vprof_observe_callees(struct vprof_ranking *r);

#endif
