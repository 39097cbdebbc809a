/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests that one function receives and another one answers, on the same connection. */
#ifndef VPROF_DISCOVER_REPLIES_H
#define VPROF_DISCOVER_REPLIES_H

#include "annotate/discover/ranking.h"

void vprof_observe_replies(struct vprof_ranking *r);

#endif
