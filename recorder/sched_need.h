/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a recording of sends and receives alone needs the programs at the scheduler's two tracepoints.
 *
 * A program costs each wake-up and each switch of the whole machine, also where it finds nothing to tell: of a tiny
 * echo almost as much as the transfers themselves. So both are attached while that may tell something: from the
 * beginning, and for good once something was found again and again; what is found at one time only is some lock, or the
 * making of threads. After a look in vain they are detached; transfers then say when to look again:
 *
 *   WAKES     a thread sends what another received, or calls without a request, although its process serves;
 *   SWITCHES  a send that had not left when it ended, or a long one: its thread may have been switched out meanwhile.
 *
 * Invariant: a look is in vain only after many transfers, and if there was such a hint, after many hints or a long
 * time.
 *
 *   vprof_sched_need_start -> vprof_sched_need_see each event -> vprof_sched_need_step after each look at the rings
 */
#ifndef VPROF_RECORDER_SCHED_NEED_H
#define VPROF_RECORDER_SCHED_NEED_H

#include <stdint.h>

struct vp_ring_event;

enum vprof_sched_program { VPROF_SCHED_WAKES, VPROF_SCHED_SWITCHES, VPROF_SCHED_PROGRAMS };

#define VPROF_SCHED_LOOK_NS UINT64_C(250000000) /* at least, each time */
#define VPROF_SCHED_LOOK_TRANSFERS 2000u	/* ... and so many */
#define VPROF_SCHED_LOOK_HINTS 20u		/* ... and so many, or none, or after: */
#define VPROF_SCHED_LOOK_MOST_NS UINT64_C(30000000000)
#define VPROF_SCHED_SLICE_NS 10000000u		  /* findings within it count once */
#define VPROF_SCHED_SLICES 4u			  /* with findings, in one look: it is looked for always */
#define VPROF_SCHED_PAUSE_NS UINT64_C(1000000000) /* after a look in vain in spite of hints; doubles */
#define VPROF_SCHED_PAUSE_MOST_NS UINT64_C(16000000000)
#define VPROF_SCHED_PLACES 4096u

struct vprof_sched_look {
	int is_wanted;	   /* is to be attached */
	int is_found;	   /* ... for good */
	uint64_t since_ns; /* with is_wanted: of this look; else when hints count again */
	uint64_t pause_ns;
	uint32_t n_transfers, n_hints, n_slices; /* in this look, or since then */
	uint64_t slice;
};

struct vprof_sched_need {
	struct vprof_sched_look looks[VPROF_SCHED_PROGRAMS];
	/* Each in a place by its number; whose place was taken by another is not known any more. */
	struct {
		uint64_t cookie;
		uint32_t receiver; /* the thread that received last; 0: none yet */
		uint32_t role;	   /* VP_SOCKET_CLIENT, VP_SOCKET_SERVER; 0: not known */
	} sockets[VPROF_SCHED_PLACES];
	struct {
		uint32_t tid, has_request; /* it received as a server, and has not replied */
	} threads[VPROF_SCHED_PLACES];
	uint32_t serving[VPROF_SCHED_PLACES]; /* processes that received as servers */
};

void vprof_sched_need_start(struct vprof_sched_need *n, uint64_t now_ns);
void vprof_sched_need_see(struct vprof_sched_need *n, const struct vp_ring_event *e);
void vprof_sched_need_step(struct vprof_sched_need *n, uint64_t now_ns); /* sets is_wanted */

#endif
