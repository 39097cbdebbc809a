/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children by posix_spawn (safe with threads), output through one pipe, their end through a pidfd.
 *
 * Invariant: while a child of ours runs, its group is in `groups`, and the handler that forwards signals is
 * installed; the caller's own handlers are back as soon as no child runs. A child whose descendants keep the pipe
 * open (a daemon started by a build) counts as ended when it has ended itself.
 */
#define _GNU_SOURCE
#include "common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GROUPS_MAX 256
#define CAPTURED_MAX ((size_t)16 << 20)
#define GRACE_S 2.0

extern char **environ;

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP };
#define N_FORWARDED (sizeof forwarded / sizeof *forwarded)

static atomic_int groups[GROUPS_MAX]; /* process groups that run now; 0: free, -1: about to be filled */
static atomic_int interrupted;	      /* the last signal forwarded */
static atomic_uint n_interrupts;
static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_running;
static struct sigaction old_actions[N_FORWARDED];

double vprof_clock_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void on_signal(int signal)
{
	int saved = errno;

	atomic_store(&interrupted, signal);
	atomic_fetch_add(&n_interrupts, 1);
	for (int i = 0; i < GROUPS_MAX; i++) {
		int group = atomic_load(&groups[i]);

		if (group > 0)
			kill(-group, SIGTERM);
	}
	errno = saved;
}

static void handlers_enter(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	pthread_mutex_lock(&handlers_lock);
	if (!n_running++) {
		for (size_t i = 0; i < N_FORWARDED; i++) {
			sigaction(forwarded[i], NULL, &old_actions[i]);
			if (old_actions[i].sa_handler != SIG_IGN) /* nohup stays nohup */
				sigaction(forwarded[i], &action, NULL);
		}
	}
	pthread_mutex_unlock(&handlers_lock);
}

static void handlers_leave(void)
{
	pthread_mutex_lock(&handlers_lock);
	if (!--n_running)
		for (size_t i = 0; i < N_FORWARDED; i++)
			sigaction(forwarded[i], &old_actions[i], NULL);
	pthread_mutex_unlock(&handlers_lock);
}

static int group_reserve(void)
{
	for (int i = 0; i < GROUPS_MAX; i++) {
		int zero = 0;

		if (atomic_compare_exchange_strong(&groups[i], &zero, -1))
			return i;
	}
	return -1;
}

static char **environment_with(const char *const *extra)
{
	size_t n = 0, m = 0, kept = 0;
	char **out;

	while (environ[n])
		n++;
	while (extra && extra[m])
		m++;
	out = calloc(n + m + 1, sizeof *out);
	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		int replaced = 0;

		for (size_t j = 0; j < m; j++) {
			size_t name = strcspn(extra[j], "=") + 1;

			replaced |= !strncmp(environ[i], extra[j], name);
		}
		if (!replaced)
			out[kept++] = environ[i];
	}
	for (size_t j = 0; j < m; j++)
		out[kept++] = (char *)extra[j];
	return out;
}

struct running {
	const struct vprof_process *p;
	pid_t pid;
	int output, log, pidfd, slot; /* file descriptors or -1; slot in `groups` */
	struct vprof_text line;	      /* the unfinished last line */
};

static int spawn(struct running *r, int write_end, struct vprof_error *err)
{
	const char *const shell[] = { "sh", "-c", r->p->command, NULL };
	const char *const *argv = r->p->command ? shell : r->p->argv;
	char **environment = environment_with(r->p->environment);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	int rc;

	if (!environment)
		return vprof_error_no_memory(err);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (write_end >= 0) {
		posix_spawn_file_actions_adddup2(&actions, write_end, 1);
		posix_spawn_file_actions_adddup2(&actions, write_end, 2);
	}
	if (r->p->directory)
		posix_spawn_file_actions_addchdir_np(&actions, r->p->directory);
	sigemptyset(&none);
	sigemptyset(&defaults);
	for (size_t i = 0; i < N_FORWARDED; i++)
		if (old_actions[i].sa_handler != SIG_IGN)
			sigaddset(&defaults, forwarded[i]);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawnp(&r->pid, argv[0], &actions, &attributes, (char *const *)argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	free(environment);
	if (rc)
		return vprof_error_set(err, rc == ENOENT || rc == EACCES ? VPROF_ERR_MISSING : VPROF_ERR_FAILED,
				       "cannot run %s: %s", argv[0], strerror(rc));
	return VPROF_OK;
}

static void give_lines(struct running *r, const char *bytes, size_t n)
{
	while (n) {
		const char *newline = memchr(bytes, '\n', n);
		size_t part = newline ? (size_t)(newline - bytes) : n;

		vprof_text_append(&r->line, bytes, part);
		if (!newline)
			return;
		r->p->line(r->p->line_arg, r->line.s);
		vprof_text_clear(&r->line);
		bytes += part + 1;
		n -= part + 1;
	}
}

/* Passes on what the pipe holds; 0 when it is at its end. */
static int drain(struct running *r)
{
	char buffer[65536];
	ssize_t n;

	while ((n = read(r->output, buffer, sizeof buffer)) > 0) {
		for (ssize_t done = 0; r->log >= 0 && done < n;) {
			ssize_t written = write(r->log, buffer + done, (size_t)(n - done));

			if (written <= 0 && errno != EINTR)
				break;
			done += written > 0 ? written : 0;
		}
		if (r->p->captured && r->p->captured->len < CAPTURED_MAX)
			vprof_text_append(r->p->captured, buffer, (size_t)n);
		if (r->p->line)
			give_lines(r, buffer, (size_t)n);
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static int await(struct running *r, unsigned interrupts_before)
{
	double killed_at = 0;
	int status = 0;

	for (;;) {
		struct pollfd fds[2] = { { r->output, POLLIN, 0 }, { r->pidfd, POLLIN, 0 } };
		pid_t done;

		poll(fds, 2, r->pidfd >= 0 ? 200 : 10);
		if (r->output >= 0 && !drain(r)) {
			close(r->output);
			r->output = -1;
		}
		done = waitpid(r->pid, &status, WNOHANG);
		if (done == r->pid || (done < 0 && errno != EINTR))
			break;
		if (atomic_load(&n_interrupts) == interrupts_before)
			continue;
		if (!killed_at) { /* also when the signal came before the group was known to the handler */
			kill(-r->pid, SIGTERM);
			killed_at = vprof_clock_s();
		} else if (vprof_clock_s() - killed_at > GRACE_S) {
			kill(-r->pid, SIGKILL);
		}
	}
	if (r->output >= 0)
		drain(r);
	if (r->p->line && r->line.len)
		r->p->line(r->p->line_arg, r->line.s);
	return status;
}

static int open_output(struct running *r, int *write_end, struct vprof_error *err)
{
	int ends[2];

	if (r->p->log_path) {
		r->log = open(r->p->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (r->log < 0)
			return vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", r->p->log_path,
					       strerror(errno));
	}
	if (r->p->inherit_output)
		return VPROF_OK;
	if (pipe2(ends, O_CLOEXEC))
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot create a pipe: %s", strerror(errno));
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	r->output = ends[0];
	*write_end = ends[1];
	return VPROF_OK;
}

int vprof_process_run(const struct vprof_process *p, struct vprof_process_result *result, struct vprof_error *err)
{
	struct running r = { .p = p, .output = -1, .log = -1, .pidfd = -1, .line = VPROF_TEXT_INIT };
	unsigned interrupts_before = atomic_load(&n_interrupts);
	double begin = vprof_clock_s();
	int write_end = -1, status, rc;
	struct stat st;

	memset(result, 0, sizeof *result);
	result->status = -1;
	if (p->directory && (stat(p->directory, &st) || !S_ISDIR(st.st_mode)))
		return vprof_error_set(err, VPROF_ERR_INPUT, "no such folder: %s", p->directory);
	r.slot = group_reserve();
	if (r.slot < 0)
		return vprof_error_set(err, VPROF_ERR_FAILED, "more than %d child processes at once", GROUPS_MAX);
	handlers_enter();
	rc = open_output(&r, &write_end, err);
	if (!rc)
		rc = spawn(&r, write_end, err);
	if (write_end >= 0)
		close(write_end);
	if (rc)
		goto out;
	atomic_store(&groups[r.slot], r.pid);
	r.pidfd = (int)syscall(SYS_pidfd_open, r.pid, 0);
	status = await(&r, interrupts_before);
	result->seconds = vprof_clock_s() - begin;
	if (WIFSIGNALED(status))
		result->signal = WTERMSIG(status);
	else
		result->status = WEXITSTATUS(status);
	if (atomic_load(&n_interrupts) != interrupts_before)
		rc = vprof_error_because(
			err, VPROF_ERR_FAILED, VPROF_REASON_INTERRUPTED,
			"interrupted (%s) while this ran: %.200s; nothing is lost; the same command continues",
			strsignal(atomic_load(&interrupted)), p->command ? p->command : p->argv[0]);
	else if ((p->captured && p->captured->failed) || r.line.failed)
		rc = vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory reading a program's output");
out:
	atomic_store(&groups[r.slot], 0);
	handlers_leave();
	for (int *fd = (int[]){ r.output, r.log, r.pidfd, -2 }; *fd != -2; fd++)
		if (*fd >= 0)
			close(*fd);
	vprof_text_release(&r.line);
	return rc;
}

void vprof_process_describe(const struct vprof_process_result *result, char *text, size_t size)
{
	if (result->signal)
		snprintf(text, size, "killed by signal %d (%s)", result->signal, strsignal(result->signal));
	else
		snprintf(text, size, "exit status %d", result->status);
}

char *vprof_process_find(const char *program)
{
	const char *path = getenv("PATH");
	struct stat st;

	if (strchr(program, '/'))
		return access(program, X_OK) ? NULL : realpath(program, NULL);
	for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
		struct vprof_text candidate = VPROF_TEXT_INIT;
		size_t n = strcspn(p, ":");

		vprof_text_append(&candidate, n ? p : ".", n ? n : 1);
		vprof_text_addf(&candidate, "/%s", program);
		if (!candidate.failed && !access(candidate.s, X_OK) && !stat(candidate.s, &st) && S_ISREG(st.st_mode))
			return vprof_text_detach(&candidate);
		vprof_text_release(&candidate);
		p += n;
		p += *p == ':';
	}
	return NULL;
}
