/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a subreaper: a run command often starts a server as a daemon. Its processes become vprof's children when their
 * parents are gone, so that none of them keeps a port or a file locked into the next round.
 */
#define _GNU_SOURCE
#include "cli/run/run_target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/run/preload_path.h"
#include "cli/project.h"
#include "cli/run/run_kernel.h"
#include "cli/run/run_progress.h"
#include "common/files.h"
#include "common/process.h"
#include "instrumenter/build_log.h"

#define DRAIN_EVERY_NS 5000000L
#define LEAVE_S 3.0
#define TAIL_BYTES 700
#define TAIL_LINES 12

static const int forwarded[VPROF_RUN_SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static volatile sig_atomic_t caught, n_caught;

static void catch (int signal)
{
	caught = signal;
	n_caught++;
}

int vprof_switches_parse(const char *word, enum vprof_switches_mode *mode)
{
	*mode = !word || !strcmp(word, "auto") ? VPROF_SWITCHES_AUTO :
		!strcmp(word, "on")	       ? VPROF_SWITCHES_ON :
						 VPROF_SWITCHES_OFF;
	return *mode == VPROF_SWITCHES_OFF && strcmp(word, "off") ? -1 : 0;
}

int vprof_compress_parse(const char *word, enum vprof_compress_mode *mode)
{
	*mode = !word || !strcmp(word, "auto") ? VPROF_COMPRESS_AUTO :
		!strcmp(word, "on")	       ? VPROF_COMPRESS_ON :
						 VPROF_COMPRESS_OFF;
	return *mode == VPROF_COMPRESS_OFF && strcmp(word, "off") ? -1 : 0;
}

/* What was ignored before stays so (nohup, a job in the background of a script). */
void vprof_run_signals_catch(struct vprof_run_signals *s)
{
	struct sigaction action = { .sa_handler = catch };

	caught = n_caught = 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < VPROF_RUN_SIGNALS; i++)
		if (!sigaction(forwarded[i], &action, &s->before[i]) && s->before[i].sa_handler == SIG_IGN)
			sigaction(forwarded[i], &s->before[i], NULL);
}

int vprof_run_signals_caught(void)
{
	return caught;
}

void vprof_run_signals_restore(const struct vprof_run_signals *s)
{
	for (size_t i = 0; i < VPROF_RUN_SIGNALS; i++)
		sigaction(forwarded[i], &s->before[i], NULL);
}

/* In the child, between fork and exec: only async-signal-safe calls. `go` is closed when the parent is ready. */
static void become_command(const struct vprof_run_request *r, int log, int go, const struct vprof_run_signals *before,
			   char **env)
{
	int null = r->give_stdin ? STDIN_FILENO : open("/dev/null", O_RDONLY);
	char nothing;

	while (read(go, &nothing, 1) < 0 && errno == EINTR)
		;
	close(go);
	vprof_run_signals_restore(before);
	setpgid(0, 0);
	if (dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		_exit(126);
	if (chdir(r->directory)) {
		dprintf(STDERR_FILENO, "cannot enter %s\n", r->directory);
		_exit(126);
	}
	execle("/bin/sh", "sh", "-c", r->command, (char *)NULL, env);
	_exit(127);
}

#define N_SET 3

/* The environment with VPROF_SHM, libvprof.so at the end of LD_PRELOAD, and AddressSanitizer told not to end programs
 * before whose shared runtime something was loaded: libvprof.so passes everything on to it. What the user says about
 * that comes later and counts. Heap array; the strings it made are the last N_SET. NULL: out of memory. */
static char **make_environment(const char *shm, const char *library)
{
	static const char *const names[N_SET] = { "VPROF_SHM=", "LD_PRELOAD=", "ASAN_OPTIONS=" };
	const char *preload = getenv("LD_PRELOAD"), *asan = getenv("ASAN_OPTIONS");
	size_t n = 0, kept = 0;
	char **env;
	int made = 0;

	while (environ[n])
		n++;
	env = calloc(n + N_SET + 1, sizeof *env);
	if (!env)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		int set = 0;

		for (int j = 0; j < N_SET; j++)
			set |= !strncmp(environ[i], names[j], strlen(names[j]));
		if (!set)
			env[kept++] = environ[i];
	}
	made += asprintf(&env[kept], "VPROF_SHM=%s", shm) >= 0;
	/* Last: a sanitizer's runtime that the user preloads insists on being first. */
	made += made == 1 && asprintf(&env[kept + 1], "LD_PRELOAD=%s%s%s", preload ? preload : "",
				      preload && *preload ? ":" : "", library) >= 0;
	made += made == 2 && asprintf(&env[kept + 2], "ASAN_OPTIONS=verify_asan_link_order=0%s%s",
				      asan && *asan ? ":" : "", asan ? asan : "") >= 0;
	if (made < N_SET) {
		while (made > 0)
			free(env[kept + (size_t)--made]);
		free(env);
		return NULL;
	}
	return env;
}

static void free_environment(char **env)
{
	size_t n = 0;

	while (env && env[n])
		n++;
	for (size_t i = n >= N_SET ? n - N_SET : n; i < n; i++)
		free(env[i]);
	free(env);
}

static void drain(struct vprof_collector *collector, struct vprof_run_kernel *kernel)
{
	while (vprof_collector_drain(collector) > 0)
		;
	vprof_run_kernel_drain(kernel);
}

static void copy_new_output(int log, off_t *seen)
{
	char buffer[8192];
	ssize_t n;

	while ((n = pread(log, buffer, sizeof buffer, *seen)) > 0) {
		*seen += n;
		if (write(STDERR_FILENO, buffer, (size_t)n) < 0)
			return;
	}
}

static void pause_briefly(void)
{
	struct timespec t = { 0, DRAIN_EVERY_NS };

	nanosleep(&t, NULL);
}

/* Asks the command's processes to end, and ends them when that took too long. told_s: 0, or when they were asked. */
static void end_command(const struct vprof_run_request *r, pid_t pid, double *told_s, struct vprof_run_outcome *o)
{
	if (*told_s <= 0) {
		*told_s = vprof_clock_s();
		kill(-pid, SIGTERM);
	} else if (!o->was_killed && vprof_clock_s() - *told_s > r->grace_s) {
		o->was_killed = 1;
		kill(-pid, SIGKILL);
	}
}

/* Until the command has ended: drains, passes signals on, shows that time passes. */
static void attend(const struct vprof_run_request *r, struct vprof_collector *collector,
		   struct vprof_run_kernel *kernel, pid_t pid, int log, struct vprof_run_outcome *o, double started)
{
	struct vprof_run_progress progress;
	off_t seen = 0;
	double told_s = 0;
	int passed_on = 0;
	pid_t ended;

	vprof_run_progress_begin(&progress, r->progress, pid);
	for (;;) {
		if (r->step && r->step(r->arg, collector))
			end_command(r, pid, &told_s, o);
		drain(collector, kernel);
		ended = waitpid(pid, &o->status, WNOHANG);
		if (r->verbose)
			copy_new_output(log, &seen);
		if (ended == pid || (ended < 0 && errno != EINTR))
			break;
		if (n_caught != passed_on) {
			kill(-pid, passed_on ? SIGKILL : caught);
			passed_on = n_caught;
		}
		vprof_run_progress_step(&progress, collector, vprof_clock_s() - started, passed_on != 0);
		pause_briefly();
	}
}

/* Signals every process that has become ours. Returns how many there are. */
static int signal_children(int signal)
{
	char path[64];
	long pid;
	int n = 0;
	FILE *list;

	snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
	list = fopen(path, "re");
	while (list && fscanf(list, "%ld", &pid) == 1) {
		kill((pid_t)pid, signal);
		n++;
	}
	if (list)
		fclose(list);
	return n;
}

/* Ends what the command left behind: TERM, and KILL after a while: after the grace that a program has that is to be
 * ended, since a shell that started it may have ended at once. */
static int end_left_behind(const struct vprof_run_request *r, struct vprof_collector *collector,
			   struct vprof_run_kernel *kernel, pid_t group, struct vprof_run_outcome *o)
{
	double started = vprof_clock_s(), leave_s = r->grace_s > LEAVE_S ? r->grace_s : LEAVE_S;
	int n, most = 0, hard = 0;

	kill(-group, SIGTERM);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	n = signal_children(SIGTERM);
	while (n > 0) {
		most = n > most ? n : most;
		drain(collector, kernel);
		pause_briefly();
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (!hard && (vprof_clock_s() - started > leave_s || n_caught > 1)) {
			kill(-group, SIGKILL);
			o->was_killed = hard = 1;
		}
		n = signal_children(hard ? SIGKILL : 0);
		if (vprof_clock_s() - started > leave_s + LEAVE_S)
			break;
	}
	return most;
}

static int start(const struct vprof_run_request *r, struct vprof_collector *collector, struct vprof_run_kernel *kernel,
		 int log, const struct vprof_run_signals *before, pid_t *pid, struct vprof_error *err)
{
	char *library = vprof_preload_path(r->library, err), **env;
	struct vprof_error refused; /* the trace tells it, and so does the report */
	int go[2] = { -1, -1 }, error, rc = VPROF_OK;

	if (!library)
		return VPROF_ERR_FAILED;
	env = make_environment(vprof_collector_shm(collector), library);
	free(library);
	if (!env)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory starting the run command");
	error = pipe2(go, O_CLOEXEC) ? errno : 0;
	*pid = error ? -1 : fork();
	if (*pid == 0) {
		close(go[1]);
		become_command(r, log, go[0], before, env);
	}
	if (*pid < 0 && !error)
		error = errno;
	if (*pid > 0) {
		setpgid(*pid, *pid);
		if (r->switches != VPROF_SWITCHES_OFF)
			vprof_collector_watch(collector, *pid,
					      r->switches == VPROF_SWITCHES_ON ? 0 : VPROF_SWITCHES_MOST, &refused);
		if (r->kernel_kinds)
			rc = vprof_run_kernel_open(kernel, collector, *pid, r->kernel_kinds, err);
		if (rc)
			kill(*pid, SIGKILL);
		vprof_collector_begin(collector);
	}
	if (go[0] >= 0) {
		close(go[0]);
		close(go[1]);
	}
	free_environment(env);
	if (*pid < 0)
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot start the run command: %s", strerror(error));
	if (rc)
		waitpid(*pid, NULL, 0);
	return rc;
}

int vprof_run_target(const struct vprof_run_request *r, struct vprof_run_outcome *o, struct vprof_error *err)
{
	struct vprof_collector_options options = { .trace_dir = r->trace_dir,
						   .memory_bytes = r->memory_bytes,
						   .sample_after = r->sample_after,
						   .every_call = r->every_call,
						   .n_every_call = r->n_every_call,
						   .budget = r->budget,
						   .is_live = r->step != NULL,
						   .records_hosts = r->records_hosts,
						   .max_trace_bytes = r->max_trace_bytes,
						   .compress = r->compress };
	struct vprof_run_kernel run_kernel = { 0 }, *kernel = &run_kernel;
	struct vprof_collector *collector = NULL;
	struct vprof_run_signals before;
	double started = vprof_clock_s();
	pid_t pid = -1;
	int log, rc, closed;

	memset(o, 0, sizeof *o);
	if (access(r->library, R_OK))
		return vprof_error_set(
			err, VPROF_ERR_MISSING,
			"cannot read %s: %s. Install vprof again, or set VPROF_LIBDIR to the folder that "
			"holds libvprof.so",
			r->library, strerror(errno));
	log = open(r->log_path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (log < 0)
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", r->log_path, strerror(errno));
	vprof_run_signals_catch(&before);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	rc = vprof_collector_open(&collector, &options, err);
	if (!rc)
		rc = start(r, collector, kernel, log, &before, &pid, err);
	if (!rc) {
		attend(r, collector, kernel, pid, log, o, started);
		o->seconds = vprof_clock_s() - started;
		if (r->over)
			r->over(r->arg);
		if (!r->keep)
			o->n_left_behind = end_left_behind(r, collector, kernel, pid, o);
		drain(collector, kernel);
	}
	vprof_run_kernel_close(kernel);
	if (collector) {
		closed = vprof_collector_close(collector, &o->stats, rc ? NULL : err);
		rc = rc ? rc : closed;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	o->interrupted = caught;
	vprof_run_signals_restore(&before);
	close(log);
	return rc;
}

/* The log's last lines, each indented, as much as fits an error message. */
static void add_tail(struct vprof_text *out, const char *path)
{
	struct vprof_text log = VPROF_TEXT_INIT;
	const char *start;
	int lines = 0;

	if (vprof_file_read(path, &log, NULL) || !log.len) {
		vprof_text_add(out, "  (no output)\n");
		vprof_text_release(&log);
		return;
	}
	for (char *c = log.s; c < log.s + log.len; c++) /* it goes to a terminal; a NUL would end it here */
		if ((unsigned char)*c < ' ' && *c != '\n' && *c != '\t')
			*c = '?';
	start = log.s + log.len;
	while (start > log.s && log.s + log.len - start < TAIL_BYTES) {
		if (start[-1] == '\n' && start != log.s + log.len && ++lines == TAIL_LINES)
			break;
		start--;
	}
	while (*start) {
		size_t n = strcspn(start, "\n");

		vprof_text_addf(out, "  %.*s\n", (int)n, start);
		start += n + (start[n] == '\n');
	}
	vprof_text_release(&log);
}

int vprof_run_blame(const struct vprof_run_request *r, const struct vprof_run_outcome *o, struct vprof_error *err)
{
	struct vprof_text how = VPROF_TEXT_INIT, tail = VPROF_TEXT_INIT;
	const char *advice = "Try it without vprof; the probes are inert then";

	if (WIFSIGNALED(o->status)) {
		vprof_text_addf(&how, "was killed by signal %d (%s)", WTERMSIG(o->status),
				strsignal(WTERMSIG(o->status)));
	} else {
		vprof_text_addf(&how, "ended with status %d", WEXITSTATUS(o->status));
		if (WEXITSTATUS(o->status) == 127)
			advice = "The shell did not find it: check the path; it runs in vprof.json's directory";
		else if (WEXITSTATUS(o->status) == 126)
			advice = "It could not be executed: check its permissions (chmod +x)";
		else if (WEXITSTATUS(o->status) > 128)
			vprof_text_addf(&how, " (a process it ran was killed by signal %d, %s)",
					WEXITSTATUS(o->status) - 128, strsignal(WEXITSTATUS(o->status) - 128));
	}
	add_tail(&tail, r->log_path);
	vprof_error_because(
		err, VPROF_ERR_FAILED, vprof_output_reason(tail.s),
		"the run command \"%.200s\" %s. Its last output (%s):\n%s%s. Earlier runs and the session are "
		"kept",
		r->command, how.s, vprof_project_shown(r->log_path), tail.s, advice);
	vprof_text_release(&how);
	vprof_text_release(&tail);
	return VPROF_ERR_FAILED;
}
