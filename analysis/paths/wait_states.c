/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk looks at the thread's off-CPU times and at those when its state is not known, both sorted and disjoint. */
#include "analysis/paths/wait_states.h"

int vprof_wait_is_io(uint32_t kind)
{
	switch (kind) {
	case VP_WAIT_DISK:
	case VP_WAIT_SOCKET:
	case VP_WAIT_PIPE:
	case VP_WAIT_POLL:
	case VP_WAIT_QUEUE:
		return 1;
	default:
		return 0;
	}
}

void vprof_wait_walk_begin(struct vprof_wait_walk *walk, const struct vprof_timeline *timeline, uint32_t thread,
			   const struct vprof_wait *wait, uint64_t from, uint64_t to, size_t *hint)
{
	const struct vprof_thread_timeline *thr = &timeline->threads[thread];

	*walk = (struct vprof_wait_walk){ .thr = thr,
					  .t = from,
					  .to = to,
					  .is_io = vprof_wait_is_io(wait->kind),
					  .has_switches = timeline->has_switches,
					  .awaited = wait->waker != VPROF_NONE ? wait->wake_t : 0 };
	if (!walk->is_io || !walk->has_switches)
		return;
	walk->off_cpu = VPROF_TIME_SEARCH(&thr->off_cpu, from, hint ? *hint : 0);
	if (hint)
		*hint = walk->off_cpu;
	walk->cpu_unknown = VPROF_TIME_SEARCH(&thr->cpu_unknown, from, 0);
	walk->off_cpu -= walk->off_cpu > 0; /* the one that began before may reach beyond */
	walk->cpu_unknown -= walk->cpu_unknown > 0;
}

/* By the switches: the state at walk->t, and until when it lasts. */
static enum vprof_wait_state state_now(struct vprof_wait_walk *walk, const struct vprof_off_cpu **off_cpu,
				       uint64_t *until)
{
	const struct vprof_thread_timeline *thr = walk->thr;
	uint64_t t = walk->t;

	while (walk->off_cpu < thr->off_cpu.n && thr->off_cpu.v[walk->off_cpu].t1 <= t)
		walk->off_cpu++;
	while (walk->cpu_unknown < thr->cpu_unknown.n && thr->cpu_unknown.v[walk->cpu_unknown].t1 <= t)
		walk->cpu_unknown++;
	if (walk->off_cpu < thr->off_cpu.n) {
		const struct vprof_off_cpu *o = &thr->off_cpu.v[walk->off_cpu];

		if (o->t0 <= t) {
			*until = o->t1;
			*off_cpu = o->is_preempted ? o : NULL;
			return o->is_preempted ? VPROF_IN_PREEMPTED : VPROF_IN_BLOCK;
		}
		*until = o->t0;
	}
	if (walk->cpu_unknown < thr->cpu_unknown.n) {
		const struct vprof_cpu_unknown *u = &thr->cpu_unknown.v[walk->cpu_unknown];

		if (u->t0 <= t) {
			*until = u->t1 < *until ? u->t1 : *until;
			return VPROF_IN_IO;
		}
		*until = u->t0 < *until ? u->t0 : *until;
	}
	return VPROF_IN_KERNEL;
}

int vprof_wait_walk_next(struct vprof_wait_walk *walk, struct vprof_wait_stretch *out)
{
	uint64_t until = walk->to;

	if (walk->t >= walk->to)
		return 0;
	*out = (struct vprof_wait_stretch){ .from = walk->t, .state = VPROF_IN_BLOCK };
	if (walk->is_io && walk->has_switches)
		out->state = state_now(walk, &out->off_cpu, &until);
	else if (walk->is_io)
		out->state = VPROF_IN_IO;
	if (walk->is_io && walk->t < walk->awaited) {
		/* Another thread ended the wait, so it was one: a thread that is not seen on a CPU waited. */
		if (out->state != VPROF_IN_KERNEL)
			out->state = VPROF_IN_BLOCK;
		until = walk->awaited < until ? walk->awaited : until;
	}
	out->to = walk->t = until < walk->to ? until : walk->to;
	return 1;
}

int vprof_wait_is_of_probe(const struct vprof_probe *probe, const char *name, uint32_t kind)
{
	return probe && (probe->kind != VPROF_PROBE_FUNCTION || kind == VP_WAIT_ANNOTATED) &&
	       !strcmp(probe->name, name);
}
