/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/live/live_run.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asked { /* of the session's thread */
	enum { NOTHING, BEGIN, PAUSE, RESUME, END } what;
	const struct vprof_plan *plan;
	const char *trace_dir;
	size_t *n_missing;
	struct vprof_error *err;
	int rc;
};

struct vprof_live_run {
	struct vprof_run_request request;
	struct vprof_live_options options;
	const struct vprof_probe_map *map;
	struct vprof_attachment *attachment; /* NULL: a command of our own */
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t answered;
	struct asked asked;
	int is_stopping, was_ended;
	int is_over; /* the command has ended, or could not be started */
	struct vprof_live *live;
	struct vprof_collector *collector;
	struct vprof_live_state state;
	struct vprof_attachment_state attached;
	struct vprof_run_outcome outcome;
	struct vprof_error err;
	int rc;
};

static int carry_out(struct vprof_live_run *run)
{
	struct asked *a = &run->asked;
	int rc;

	switch (a->what) {
	case BEGIN:
		return vprof_live_begin(run->live, a->plan, a->trace_dir, a->n_missing, a->err);
	case PAUSE:
		rc = vprof_live_pause(run->live, a->err);
		if (!rc)
			vprof_collector_seal(run->collector);
		return rc;
	case RESUME:
		vprof_collector_go_on(run->collector);
		return vprof_live_resume(run->live, a->err);
	case END:
		return vprof_live_end(run->live, a->err);
	default:
		return VPROF_OK;
	}
}

static void answer(struct vprof_live_run *run)
{
	if (run->asked.what == NOTHING)
		return;
	run->asked.rc =
		run->live ? carry_out(run) :
			    vprof_error_set(run->asked.err, VPROF_ERR_MISSING,
					    run->attachment ? "the processes have ended" : "the run command has ended");
	run->asked.what = NOTHING;
	pthread_cond_signal(&run->answered);
}

/* Of the session's thread, every few ms. */
static int step(void *arg, struct vprof_collector *collector)
{
	struct vprof_live_run *run = arg;
	int rc = VPROF_OK;

	pthread_mutex_lock(&run->lock);
	if (!run->live) {
		run->collector = collector;
		rc = vprof_live_new(&run->live, collector, run->map, &run->options, &run->err);
		if (!rc) /* nothing is kept until a round begins */
			rc = vprof_collector_turn(collector, NULL, &run->err);
	}
	if (!rc)
		answer(run);
	if (!rc)
		rc = vprof_live_step(run->live, &run->err);
	if (run->live)
		vprof_live_look(run->live, &run->state);
	if (run->attachment)
		vprof_attachment_look(run->attachment, &run->attached);
	if (rc && !run->rc)
		run->rc = rc;
	if (rc)
		run->is_stopping = 1;
	rc = run->is_stopping;
	run->was_ended |= rc;
	pthread_mutex_unlock(&run->lock);
	return rc;
}

/* The command has ended. What it recorded last belongs to the round. */
static void over(void *arg)
{
	struct vprof_live_run *run = arg;

	pthread_mutex_lock(&run->lock);
	if (run->live) {
		while (vprof_collector_drain(run->collector))
			;
		vprof_live_end(run->live, NULL);
		vprof_live_look(run->live, &run->state);
		vprof_live_free(run->live);
		run->live = NULL;
	}
	run->is_over = 1;
	answer(run);
	pthread_mutex_unlock(&run->lock);
}

static void *attend(void *arg)
{
	struct vprof_live_run *run = arg;
	struct vprof_error err = { "" };
	int rc = run->attachment ? vprof_attached_run(&run->request, run->attachment, run->map, &run->outcome, &err) :
				   vprof_run_target(&run->request, &run->outcome, &err);

	over(run);
	pthread_mutex_lock(&run->lock);
	if (rc && !run->rc) {
		run->rc = rc;
		run->err = err;
	}
	pthread_mutex_unlock(&run->lock);
	return NULL;
}

int vprof_live_run_start(struct vprof_live_run **out, const struct vprof_run_request *request,
			 struct vprof_attachment *attachment, const struct vprof_probe_map *map,
			 const struct vprof_live_options *o, struct vprof_error *err)
{
	struct vprof_live_run *run = calloc(1, sizeof *run);

	*out = NULL;
	if (!run)
		return vprof_error_no_memory(err);
	run->request = *request;
	run->request.step = step;
	run->request.over = over;
	run->request.arg = run;
	run->options = *o;
	run->map = map;
	run->attachment = attachment;
	pthread_mutex_init(&run->lock, NULL);
	pthread_cond_init(&run->answered, NULL);
	if (pthread_create(&run->thread, NULL, attend, run)) {
		free(run);
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot start a thread for the live session");
	}
	*out = run;
	return VPROF_OK;
}

static int ask(struct vprof_live_run *run, struct asked asked, struct vprof_error *err)
{
	int rc;

	asked.err = err;
	pthread_mutex_lock(&run->lock);
	if (run->is_over) {
		rc = run->rc ? run->rc : VPROF_ERR_MISSING;
		if (run->rc && err)
			*err = run->err;
		else
			vprof_error_set(err, VPROF_ERR_MISSING,
					run->attachment ? "the processes have ended" : "the run command has ended");
	} else {
		run->asked = asked;
		while (run->asked.what != NOTHING)
			pthread_cond_wait(&run->answered, &run->lock);
		rc = run->asked.rc;
	}
	pthread_mutex_unlock(&run->lock);
	return rc;
}

int vprof_live_run_begin(struct vprof_live_run *run, const struct vprof_plan *plan, const char *trace_dir,
			 size_t *n_missing, struct vprof_error *err)
{
	return ask(run, (struct asked){ .what = BEGIN, .plan = plan, .trace_dir = trace_dir, .n_missing = n_missing },
		   err);
}

int vprof_live_run_pause(struct vprof_live_run *run, struct vprof_error *err)
{
	return ask(run, (struct asked){ .what = PAUSE }, err);
}

int vprof_live_run_resume(struct vprof_live_run *run, struct vprof_error *err)
{
	return ask(run, (struct asked){ .what = RESUME }, err);
}

int vprof_live_run_end(struct vprof_live_run *run, struct vprof_error *err)
{
	return ask(run, (struct asked){ .what = END }, err);
}

int vprof_live_run_look(struct vprof_live_run *run, struct vprof_live_state *state)
{
	int runs;

	pthread_mutex_lock(&run->lock);
	*state = run->state;
	runs = !run->is_over;
	pthread_mutex_unlock(&run->lock);
	return runs;
}

void vprof_live_run_attached(struct vprof_live_run *run, struct vprof_attachment_state *state)
{
	pthread_mutex_lock(&run->lock);
	*state = run->attached;
	pthread_mutex_unlock(&run->lock);
}

int vprof_live_run_stop(struct vprof_live_run *run, struct vprof_run_outcome *outcome, int *was_ended,
			struct vprof_error *err)
{
	int rc;

	pthread_mutex_lock(&run->lock);
	run->is_stopping = 1;
	pthread_mutex_unlock(&run->lock);
	pthread_join(run->thread, NULL);
	*outcome = run->outcome;
	*was_ended = run->was_ended;
	rc = run->rc;
	if (rc && err)
		*err = run->err;
	pthread_mutex_destroy(&run->lock);
	pthread_cond_destroy(&run->answered);
	free(run);
	return rc;
}
