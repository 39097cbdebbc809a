/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Servers with a thread for each connection: what such a thread does for each request. */
#ifndef VPROF_DISCOVER_CONNECTIONS_H
#define VPROF_DISCOVER_CONNECTIONS_H

#include "annotate/discover/ranking.h"

void vprof_observe_connections(struct vprof_ranking *r);

#endif
