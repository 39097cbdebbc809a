/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/commands/record_session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "common/process.h"
#include "recorder/proc_tasks.h"
#include "report/format_value.h"

#define DRAW_EVERY_S 0.5
#define LOOK_EVERY_S 0.1 /* whether targets are left */
#define PRIORITY (-10)	 /* of the recorder, which must empty the rings while the targets use all CPUs */

static const int handled[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define N_HANDLED (sizeof handled / sizeof *handled)

static volatile sig_atomic_t caught, n_caught, is_ours_alone;

static void handle(int signal, siginfo_t *info, void *context)
{
	(void)context;
	caught = signal;
	is_ours_alone = info->si_code <= 0; /* sent by a process, not by the terminal to all of the group */
	n_caught++;
}

struct session {
	const struct vprof_record_request *o;
	struct vprof_record_outcome *outcome;
	struct vprof_recorder *recorder;
	struct vprof_records_file file;
	struct sigaction before[N_HANDLED];
	pid_t child; /* 0: none, or it has ended */
	int go;	     /* the command starts when this is closed */
	int failed;  /* why the command could not be executed: read its errno from here */
	int has_seen_targets;
	double started_s, drawn_s, looked_s;
	uint64_t drawn_events;
};

static void handle_signals(struct session *s)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	caught = n_caught = is_ours_alone = 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_HANDLED; i++)
		if (!sigaction(handled[i], &action, &s->before[i]) && s->before[i].sa_handler == SIG_IGN)
			sigaction(handled[i], &s->before[i], NULL);
}

static void restore_signals(const struct session *s)
{
	for (size_t i = 0; i < N_HANDLED; i++)
		sigaction(handled[i], &s->before[i], NULL);
}

/* In the child: only async-signal-safe calls. */
static void become_command(const struct session *s, int go, int failed)
{
	char nothing;
	int error;

	while (read(go, &nothing, 1) < 0 && errno == EINTR)
		;
	restore_signals(s);
	execvp(s->o->command[0], s->o->command);
	error = errno;
	while (write(failed, &error, sizeof error) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int start_command(struct session *s, struct vprof_error *err)
{
	int go[2] = { -1, -1 }, failed[2] = { -1, -1 }, error = 0;

	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		error = errno;
	s->child = error ? -1 : fork();
	if (!s->child) {
		close(go[1]);
		close(failed[0]);
		become_command(s, go[0], failed[1]);
	}
	error = s->child < 0 && !error ? errno : error;
	if (go[0] >= 0)
		close(go[0]);
	if (failed[1] >= 0)
		close(failed[1]);
	s->go = go[1];
	s->failed = failed[0];
	if (s->child > 0)
		return VPROF_OK;
	s->child = 0;
	return vprof_error_set(err, VPROF_ERR_FAILED, "cannot start %s: %s", s->o->command[0], strerror(error));
}

/* The command begins to run. */
static int let_command_go(struct session *s, struct vprof_error *err)
{
	int error;
	ssize_t n;

	close(s->go);
	s->go = -1;
	do
		n = read(s->failed, &error, sizeof error); /* ends when it has executed */
	while (n < 0 && errno == EINTR);
	close(s->failed);
	s->failed = -1;
	if (n != (ssize_t)sizeof error)
		return VPROF_OK;
	waitpid(s->child, NULL, 0);
	s->child = 0;
	return vprof_error_set(err, VPROF_ERR_INPUT, "cannot execute %s: %s", s->o->command[0], strerror(error));
}

struct naming {
	struct session *s;
	struct vprof_error *err;
	int n;
};

static int add_named(void *naming, const struct vprof_proc_task *task)
{
	struct naming *n = naming;
	int added;

	if (strncmp(task->comm, n->s->o->name, sizeof task->comm - 2) || task->pid == (uint32_t)getpid())
		return 0;
	added = vprof_recorder_add(n->s->recorder, (pid_t)task->pid, n->err);
	n->n += added > 0 ? added : 0;
	return added < 0 ? added : 0;
}

static int add_targets(struct session *s, struct vprof_error *err)
{
	struct naming naming = { s, err, 0 };
	int n = 1;

	if (s->child || s->o->pid)
		n = vprof_recorder_add(s->recorder, s->child ? s->child : (pid_t)s->o->pid, err);
	if (!n)
		return vprof_error_set(err, VPROF_ERR_INPUT, "there is no process %ld",
				       s->child ? (long)s->child : s->o->pid);
	s->has_seen_targets = n > 0;
	if (n > 0 && s->o->name) {
		n = vprof_proc_processes(add_named, &naming);
		s->has_seen_targets = naming.n > 0; /* else it is waited for */
		if (!n && !naming.n && s->o->progress)
			vprof_progress_note(s->o->progress, "no process is called %s yet", s->o->name);
	}
	return n < 0 ? n : VPROF_OK;
}

static int store(void *session, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	struct session *s = session;

	return vprof_records_append(&s->file, h, units);
}

static void fill_header(struct session *s)
{
	struct vp_file_header *h = &s->file.header;
	struct vprof_recorder_state *state = &s->outcome->state;

	vprof_recorder_look(s->recorder, state);
	h->kernel_scope = s->o->all ? VP_KERNEL_ALL : VP_KERNEL_TREE;
	h->kernel_kinds = state->kinds;
	h->n_kernel_events = state->n_events;
	h->n_kernel_lost = state->n_lost;
	h->n_kernel_unseen = state->n_unseen;
	h->kernel_error_ns = state->error_ns;
	memcpy(h->no_kernel, state->missing, sizeof h->no_kernel);
	snprintf(h->no_switches, sizeof h->no_switches, "they are recorded as the kernel's events");
}

static void draw(struct session *s, double now_s)
{
	struct vprof_recorder_state state;
	char text[160];
	double rate;

	if (!s->o->progress || now_s - s->drawn_s < DRAW_EVERY_S)
		return;
	if (s->o->command && s->o->progress->on_terminal && isatty(STDOUT_FILENO))
		return; /* the command writes there */
	vprof_recorder_look(s->recorder, &state);
	rate = (double)(state.n_events - s->drawn_events) / (now_s - s->drawn_s);
	snprintf(text, sizeof text, "%.0f s: %s events/s, %s lost, %.1f MB", now_s - s->started_s,
		 vprof_format_count((uint64_t)rate).s, vprof_format_count(state.n_lost).s,
		 (double)s->file.n_bytes / 1e6);
	vprof_progress_update(s->o->progress, text, -1);
	s->drawn_s = now_s;
	s->drawn_events = state.n_events;
}

/* Has the command, or everything that was attached to, ended? */
static int has_ended(struct session *s, double now_s)
{
	if (s->child) {
		if (waitpid(s->child, &s->outcome->status, WNOHANG) != s->child)
			return 0;
		s->child = 0;
		s->outcome->has_status = 1;
		return 1;
	}
	if (now_s - s->looked_s < LOOK_EVERY_S)
		return 0;
	s->looked_s = now_s;
	if (vprof_recorder_has_targets(s->recorder)) {
		s->has_seen_targets = 1;
		return 0;
	}
	return s->has_seen_targets || vprof_recorder_has_followed(s->recorder);
}

/* Passes signals on to the command. 1: the recording ends. */
static int is_told_to_end(struct session *s, int *n_seen)
{
	if (n_caught == *n_seen)
		return 0;
	*n_seen = n_caught;
	if (!s->child || n_caught > 1) {
		s->outcome->signal = caught;
		return 1;
	}
	if (is_ours_alone)
		kill(s->child, caught);
	return 0;
}

static void record(struct session *s)
{
	int n_seen = 0;

	for (;;) {
		double now_s = vprof_clock_s();
		size_t n = vprof_recorder_drain(s->recorder);
		struct timespec pause = { 0 };

		if (vprof_records_step(&s->file, vprof_clock_monotonic_ns())) {
			vprof_recorder_flush(s->recorder);
			fill_header(s);
			vprof_records_refresh(&s->file);
		}
		draw(s, now_s);
		if (has_ended(s, now_s) || is_told_to_end(s, &n_seen) || s->file.disk_failed ||
		    (s->o->most_ns > 0 && (now_s - s->started_s) * 1e9 >= s->o->most_ns))
			return;
		pause.tv_nsec = vprof_recorder_pause_ns(s->recorder, n);
		if (pause.tv_nsec)
			nanosleep(&pause, NULL);
	}
}

/* The recording is over and the command is not: its exit status is vprof's, so it is waited for. */
static void wait_for_command(struct session *s)
{
	int n_seen = n_caught;

	while (s->child && !s->outcome->signal) {
		if (waitpid(s->child, &s->outcome->status, 0) == s->child) {
			s->child = 0;
			s->outcome->has_status = 1;
		} else if (errno != EINTR || is_told_to_end(s, &n_seen)) {
			return;
		}
	}
}

static int open_all(struct session *s, struct vprof_error *err)
{
	struct vprof_recorder_options o = { .all = s->o->all,
					    .kinds = s->o->kinds,
					    .name = s->o->name,
					    .spacing_ns = s->o->spacing_ns,
					    .timer_hz = s->o->timer_hz,
					    .budget = s->o->budget,
					    .may_leave_wakes = s->o->may_leave_wakes,
					    .ring_bytes = s->o->ring_bytes,
					    .store = store,
					    .arg = s };
	int rc;

	vprof_clock_start(&s->file.clock, vprof_clock_choose());
	o.clock = s->file.clock.kind;
	o.ns_per_tick = s->file.clock.ns_per_tick;
	rc = vprof_records_open(&s->file, s->o->trace_dir, 0, s->o->compress, err);
	if (!rc && s->o->command)
		rc = start_command(s, err);
	if (!rc)
		rc = vprof_recorder_open(&s->recorder, &o, err);
	if (!rc)
		rc = add_targets(s, err);
	return rc;
}

/* The command was not let go: it ends without having run. */
static void drop_command(struct session *s)
{
	if (s->child) {
		kill(s->child, SIGKILL);
		waitpid(s->child, NULL, 0);
	}
	if (s->go >= 0)
		close(s->go);
	if (s->failed >= 0)
		close(s->failed);
}

static int finish(struct session *s, struct vprof_error *err)
{
	int failed;

	vprof_recorder_stop(s->recorder);
	s->outcome->seconds = vprof_clock_s() - s->started_s;
	fill_header(s);
	failed = vprof_records_finish(&s->file);
	failed = s->file.disk_failed ? s->file.disk_failed : failed;
	s->outcome->n_bytes = s->file.n_bytes;
	if (failed)
		return vprof_error_because(
			err, VPROF_ERR_FAILED, vprof_error_reason_of(failed),
			"the trace in %s could not be written: %s; what was stored before can be read. "
			"Free space, or choose another folder with --output",
			s->o->trace_dir, strerror(failed));
	return VPROF_OK;
}

int vprof_record_session(const struct vprof_record_request *o, struct vprof_record_outcome *outcome,
			 struct vprof_error *err)
{
	struct session s = { .o = o, .outcome = outcome, .go = -1, .failed = -1, .file = { .fd = -1 } };
	int priority = getpriority(PRIO_PROCESS, 0), rc;

	memset(outcome, 0, sizeof *outcome);
	handle_signals(&s);
	rc = open_all(&s, err);
	if (!rc) {
		setpriority(PRIO_PROCESS, 0, PRIORITY); /* after the fork; without the right to it, as it is */
		s.started_s = s.drawn_s = vprof_clock_s();
		if (o->ready)
			rc = vprof_file_write(o->ready, "", 0, err);
	}
	if (!rc) {
		rc = s.child ? let_command_go(&s, err) : VPROF_OK;
	}
	if (!rc) {
		record(&s);
		rc = finish(&s, err);
		wait_for_command(&s);
	} else {
		drop_command(&s);
	}
	vprof_recorder_close(s.recorder);
	vprof_records_release(&s.file);
	setpriority(PRIO_PROCESS, 0, priority);
	restore_signals(&s);
	return rc;
}
