/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/schedule/process.h"

#include "tests/simulate/schedule/hot.h"

static uint32_t new_process(struct world *w, uint32_t maps_as, uint32_t parent)
{
	uint32_t process = SIM_PROCESSES + ++w->n_forked;

	w->maps_as[process - 1] = maps_as;
	w->parent_of[process - 1] = parent;
	return process;
}

/* According to the records the child was in these calls since they began, before it existed. */
static void copy_frames(struct sim_thread *child, const struct sim_thread *th, uint32_t frame)
{
	const struct sim_frame *f = frame ? &th->frames[frame - 1] : NULL;

	if (!f)
		return;
	copy_frames(child, th, f->parent);
	child->frames = sim_grow(child->frames, child->n_frames, &child->cap_frames, sizeof *child->frames);
	child->frames[child->n_frames] = *f;
	child->frames[child->n_frames].parent = child->frame;
	child->frames[child->n_frames].is_recorded = false; /* its ENTER is the parent's */
	child->frame = (uint32_t)++child->n_frames;
	child->moments = sim_grow(child->moments, child->n_moments, &child->cap_moments, sizeof *child->moments);
	if (!child->n_moments || child->moments[child->n_moments - 1].t != f->t0)
		child->n_moments++;
	child->moments[child->n_moments - 1] = (struct sim_moment){ .t = f->t0, .frame = child->frame };
}

struct sim_process *process_fork(struct sim_thread *th, void (*program)(struct sim_thread *), void *arg,
				 struct sim_thread **child)
{
	struct world *w = th->world;
	struct sim_process *p;

	world_work(th, 1); /* others may fork meanwhile */
	if (w->n_forked >= SIM_FORKS || w->n_threads + 4 > SIM_THREADS)
		return NULL;
	*child = world_thread(w, new_process(w, w->maps_as[th->process - 1], th->process), program, arg);
	(*child)->start_token = w->next_token++;
	records_two(th, w->now, VP_W(VP_KIND_CREATE, 0), (*child)->start_token, 1);
	copy_frames(*child, th, th->frame);
	(*child)->records_all = th->records_all;
	(*child)->is_working = th->is_working;
	p = world_alloc(w, sizeof *p);
	p->pid = (*child)->pid;
	COVER(w, FORKS);
	return p;
}

void process_begin(struct sim_thread *child)
{
	hot_unskip(child, child->world->now);
	world_moment(child);
}

void process_return(struct sim_thread *child)
{
	while (child->frame) {
		world_work(child, 1);
		hot_leave(child);
	}
}

bool process_exec(struct sim_thread *th, void (*program)(struct sim_thread *), void *arg)
{
	struct world *w = th->world;
	struct sim_thread *made;

	do /* a thread that was just given a CPU keeps it for at least a tick */
		world_work(th, 1);
	while (th->on_since == w->now);
	if (w->n_forked >= SIM_FORKS || w->n_threads + 4 > SIM_THREADS)
		return false;
	made = world_thread(w, new_process(w, 1 + (uint32_t)world_below_apart(w, SIM_PROCESSES), 0), program, arg);
	made->tid = th->tid;
	made->pid = th->pid;
	records_switch(th, VP_SWITCH_OUT); /* the program is read from disk */
	COVER(w, EXECS);
	return true;
}

void process_exit(struct sim_thread *th, struct sim_process *p)
{
	struct world *w = th->world;

	p->exit = sim_release_new(th);
	world_work(th, 1);
	sim_release_stamp(p->exit);
	p->exit->is_recorded = records_wake(th, VP_WAIT_CHILD, VP_FLAG_SHARED | VP_FLAG_ALL, 0, p->pid, 0, 0, w->now);
	world_lag(th);
	records_one(th, w->now, VP_W(VP_KIND_EXIT, 0));
	world_lag(th);
	p->is_over = true;
	if (p->parent)
		world_wake(p->parent);
}

void process_wait(struct sim_thread *th, struct sim_process *p)
{
	struct world *w = th->world;
	uint64_t t0 = w->now;
	uint32_t wait = world_wait_begin(th, VP_WAIT_CHILD, p, sim_call_name(VP_CALL_WAITPID));
	bool is_recorded = false;

	world_lag(th);
	if (!p->is_over) {
		p->parent = th;
		world_park(th, SIM_NEVER);
	}
	if (w->now - t0 >= SIM_WAIT_TICKS)
		is_recorded = records_wait(th, &(struct sim_wait_record){ .kind = VP_WAIT_CHILD,
									  .call = VP_CALL_WAITPID,
									  .flags = VP_FLAG_SHARED,
									  .object = p->pid,
									  .t0 = t0 });
	world_wait_end(th, wait, p->exit, is_recorded);
}
