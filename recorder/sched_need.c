/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/sched_need.h"

#include <string.h>

#include "recorder/ring_event.h"
#include "trace/format.h"

#define LONG_BYTES 65536u /* a send of so many may have to wait until others have been received */

void vprof_sched_need_start(struct vprof_sched_need *n, uint64_t now_ns)
{
	memset(n, 0, sizeof *n);
	for (int i = 0; i < VPROF_SCHED_PROGRAMS; i++)
		n->looks[i] = (struct vprof_sched_look){ .is_wanted = 1,
							 .since_ns = now_ns,
							 .pause_ns = VPROF_SCHED_PAUSE_NS };
}

static void find(struct vprof_sched_look *l, uint64_t ns)
{
	if (l->n_slices && l->slice == ns / VPROF_SCHED_SLICE_NS)
		return;
	l->slice = ns / VPROF_SCHED_SLICE_NS;
	l->is_found |= ++l->n_slices >= VPROF_SCHED_SLICES;
}

/* Is the thread's work known from what it received itself? What it does with this transfer is noted. */
static int hints_at_wakes(struct vprof_sched_need *n, const struct vp_ring_event *e)
{
	uint64_t cookie = e->transfer.cookie;
	uint32_t socket = (uint32_t)cookie % VPROF_SCHED_PLACES, thread = e->tid % VPROF_SCHED_PLACES;
	uint32_t pid = e->transfer.pid, *serving = &n->serving[pid % VPROF_SCHED_PLACES];
	int is_client, has_request;

	if (n->sockets[socket].cookie != cookie) {
		n->sockets[socket].cookie = cookie;
		n->sockets[socket].receiver = n->sockets[socket].role = 0;
	}
	if (n->threads[thread].tid != e->tid) {
		n->threads[thread].tid = e->tid;
		n->threads[thread].has_request = 0;
	}
	is_client = n->sockets[socket].role == VP_SOCKET_CLIENT;
	has_request = n->threads[thread].has_request != 0;
	if (!(e->detail & VP_TRANSFER_SEND)) {
		n->sockets[socket].receiver = e->tid;
		if (!is_client) {
			n->threads[thread].has_request = 1;
			*serving = pid;
		}
		return 0;
	}
	if (!is_client)
		n->threads[thread].has_request = 0;
	if (!is_client && n->sockets[socket].receiver && n->sockets[socket].receiver != e->tid)
		return 1;
	return n->sockets[socket].role != VP_SOCKET_SERVER && !has_request && *serving == pid;
}

static int hints_at_switches(const struct vp_ring_event *e)
{
	return e->detail & VP_TRANSFER_SEND && (e->detail & VP_RING_TRANSFER_UNSENT || e->other >= LONG_BYTES);
}

void vprof_sched_need_see(struct vprof_sched_need *n, const struct vp_ring_event *e)
{
	uint32_t socket;

	switch ((enum vp_kind)e->kind) {
	case VP_KIND_KERNEL_SOCKET:
		if (e->detail & (VP_SOCKET_CLOSED | VP_SOCKET_RESENT))
			return;
		socket = (uint32_t)e->socket.cookie % VPROF_SCHED_PLACES;
		n->sockets[socket].cookie = e->socket.cookie;
		n->sockets[socket].receiver = 0;
		n->sockets[socket].role = e->detail & (VP_SOCKET_CLIENT | VP_SOCKET_SERVER);
		return;
	case VP_KIND_KERNEL_WAKING:
		find(&n->looks[VPROF_SCHED_WAKES], e->ns);
		return;
	case VP_KIND_KERNEL_TRANSFER:
		for (int i = 0; i < VPROF_SCHED_PROGRAMS; i++)
			n->looks[i].n_transfers++;
		n->looks[VPROF_SCHED_WAKES].n_hints += hints_at_wakes(n, e) != 0;
		n->looks[VPROF_SCHED_SWITCHES].n_hints += hints_at_switches(e) != 0;
		if (e->detail & VP_RING_TRANSFER_SWITCHED)
			find(&n->looks[VPROF_SCHED_SWITCHES], e->ns);
		return;
	default:
		return;
	}
}

static void begin_look(struct vprof_sched_look *l, int is_wanted, uint64_t since_ns)
{
	l->is_wanted = is_wanted;
	l->since_ns = since_ns;
	l->n_transfers = l->n_slices = 0;
	l->n_hints = is_wanted; /* the one that began it */
}

static int is_in_vain(const struct vprof_sched_look *l, uint64_t now_ns)
{
	uint64_t since_ns = now_ns - l->since_ns;

	if (since_ns < VPROF_SCHED_LOOK_NS || l->n_transfers < VPROF_SCHED_LOOK_TRANSFERS)
		return 0;
	return !l->n_hints || l->n_hints >= VPROF_SCHED_LOOK_HINTS || since_ns >= VPROF_SCHED_LOOK_MOST_NS;
}

static void step(struct vprof_sched_look *l, uint64_t now_ns)
{
	int had_hints = l->n_hints != 0;

	if (l->is_found) {
		l->is_wanted = 1;
	} else if (!l->is_wanted) {
		if (now_ns < l->since_ns)
			l->n_hints = 0;
		else if (had_hints)
			begin_look(l, 1, now_ns);
	} else if (is_in_vain(l, now_ns)) {
		begin_look(l, 0, had_hints ? now_ns + l->pause_ns : now_ns);
		if (had_hints && l->pause_ns < VPROF_SCHED_PAUSE_MOST_NS)
			l->pause_ns *= 2;
	}
}

void vprof_sched_need_step(struct vprof_sched_need *n, uint64_t now_ns)
{
	for (int i = 0; i < VPROF_SCHED_PROGRAMS; i++)
		step(&n->looks[i], now_ns);
}
