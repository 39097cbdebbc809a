/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/commands/record_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/options.h"
#include "common/files.h"
#include "common/process.h"
#include "common/text.h"

#define LOOK_EVERY_NS 20000000L
#define LOG_TAIL 400
/* A host that does not answer is given up, before and while it records. */
#define DEFAULT_SSH "ssh -o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=15"
#define BLANKS " \t\r\n"
#define LINE_MOST 4000
#define WORDS_MOST (VPROF_HOSTS_OPTIONS_MOST + LINE_MOST / 2)

/* Standard input's end, which is also that of the connection, ends the recording, unless it ended before. */
static const char remote_script[] =
	"d=$(mktemp -d) || exit 1; "
	"%s record --output \"$d/run\" --ready \"$d/ready\" %s </dev/null >&2 & p=$!; "
	"while kill -0 $p 2>/dev/null && [ ! -e \"$d/ready\" ]; do sleep 0.05; done; "
	"[ -e \"$d/ready\" ] && echo 'vprof: recording' >&2; "
	"exec 3<&0; { cat <&3; kill -TERM $p; } >/dev/null 2>&1 & c=$!; "
	"wait $p; s=$?; kill $c 2>/dev/null; "
	"[ -e \"$d/run/trace/records.vpt\" ] && tar -C \"$d/run\" -cf - .; rm -rf \"$d\"; exit $s";

struct host {
	char *name, *options, *folder, *log; /* options: quoted for its shell */
	pid_t pid;			     /* of the shell that holds the connection; 0: ended */
	int input;			     /* closed to end the recording */
	int is_ready, status;
};

struct hosts {
	struct host v[VPROF_HOSTS_MOST];
	size_t n;
};

static volatile sig_atomic_t caught, n_caught;

static void handle(int signal)
{
	caught = signal;
	n_caught++;
}

/* Names become folders and words of a command. */
static int is_plain(const char *name)
{
	return *name && *name != '-' && *name != '.' &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_@:")];
}

/* The options of all hosts and those of this one, the words of its line. Heap string, quoted; NULL: out of memory. */
static char *quoted_options(const struct vprof_hosts_request *o, char *rest)
{
	char *words[WORDS_MOST], *blank;
	size_t n = 0;

	for (size_t i = 0; o->options[i] && n < WORDS_MOST; i++)
		words[n++] = o->options[i];
	if (!*rest && n < WORDS_MOST)
		words[n++] = "--all";
	for (char *word = strtok_r(rest, BLANKS, &blank); word && n < WORDS_MOST; word = strtok_r(NULL, BLANKS, &blank))
		words[n++] = word;
	return vprof_options_shell(words, n);
}

static int add_host(struct hosts *all, char *line, const struct vprof_hosts_request *o, int number,
		    struct vprof_error *err)
{
	char *rest = line, *name = strtok_r(line, BLANKS, &rest);
	struct host *h = &all->v[all->n];

	if (!name || *name == '#')
		return VPROF_OK;
	if (!is_plain(name))
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "%s:%d: \"%s\" is no name of a host: letters, digits and . - _ @ :", o->file,
				       number, name);
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i].name, name))
			return vprof_error_set(err, VPROF_ERR_INPUT, "%s:%d: %s is named twice", o->file, number, name);
	if (all->n == VPROF_HOSTS_MOST)
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s:%d: more than %d hosts", o->file, number,
				       VPROF_HOSTS_MOST);
	rest += strspn(rest, BLANKS);
	if (strlen(rest) > LINE_MOST)
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s:%d: the line is longer than %d characters", o->file,
				       number, LINE_MOST);
	all->n++;
	*h = (struct host){ .name = strdup(name),
			    .options = quoted_options(o, rest),
			    .folder = vprof_path_join(o->folder, name),
			    .input = -1 };
	if (h->folder && asprintf(&h->log, "%s/%s.log", o->folder, name) < 0)
		h->log = NULL;
	return h->name && h->options && h->folder && h->log ? VPROF_OK : vprof_error_no_memory(err);
}

static int read_hosts(struct hosts *all, const struct vprof_hosts_request *o, struct vprof_error *err)
{
	FILE *f = fopen(o->file, "re");
	size_t capacity = 0;
	char *line = NULL;
	int rc = VPROF_OK, number = 0;

	if (!f)
		return vprof_error_set(err, VPROF_ERR_INPUT, "cannot read %s: %s", o->file, strerror(errno));
	while (!rc && getline(&line, &capacity, f) >= 0)
		rc = add_host(all, line, o, ++number, err);
	free(line);
	fclose(f);
	if (!rc && !all->n)
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s names no host: one a line", o->file);
	return rc;
}

/* In the child: its standard output is unpacked, standard error goes to the log. */
static void become_connection(const struct host *h, const char *script, int input)
{
	static const char local[] = "$VPROF_SSH_ \"$1\" \"$2\" 2>>\"$3\" | "
				    "tar -xf - --no-same-owner --no-same-permissions -C \"$4\" 2>/dev/null";
	const char *ssh = getenv("VPROF_SSH");

	setenv("VPROF_SSH_", ssh && *ssh ? ssh : DEFAULT_SSH, 1);
	setpgid(0, 0); /* Ctrl-C ends the recording, not the connection */
	dup2(input, STDIN_FILENO);
	execl("/bin/sh", "sh", "-c", local, "sh", h->name, script, h->log, h->folder, (char *)NULL);
	_exit(127);
}

static int start(struct host *h, struct vprof_error *err)
{
	const char *vprof = getenv("VPROF_REMOTE");
	int ends[2], rc = vprof_dir_make(h->folder, err);
	char *script;

	if (rc)
		return rc;
	if (asprintf(&script, remote_script, vprof && *vprof ? vprof : "vprof", h->options) < 0)
		return vprof_error_no_memory(err);
	if (pipe2(ends, O_CLOEXEC)) {
		free(script);
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot make a pipe: %s", strerror(errno));
	}
	h->pid = fork();
	if (!h->pid)
		become_connection(h, script, ends[0]);
	close(ends[0]);
	free(script);
	h->input = ends[1];
	if (h->pid > 0)
		return VPROF_OK;
	h->pid = 0;
	return vprof_error_set(err, VPROF_ERR_FAILED, "cannot start a process: %s", strerror(errno));
}

/* What the host said, mostly why it failed. Heap string. */
static char *read_log(const struct host *h)
{
	struct vprof_error ignored = { "" };
	struct vprof_text text = VPROF_TEXT_INIT;

	if (!vprof_file_read(h->log, &text, &ignored))
		return vprof_text_detach(&text);
	vprof_text_release(&text);
	return NULL;
}

static int complain(const struct host *h, const char *what, struct vprof_error *err)
{
	char *said = read_log(h);
	size_t n = said ? strlen(said) : 0;
	int rc = vprof_error_set(err, VPROF_ERR_FAILED, "%s %s; it said: %s", h->name, what,
				 !n	      ? "nothing" :
				 n > LOG_TAIL ? said + n - LOG_TAIL :
						said);

	free(said);
	return rc;
}

static int has_ended(struct host *h)
{
	if (h->pid && waitpid(h->pid, &h->status, WNOHANG) == h->pid)
		h->pid = 0;
	return !h->pid;
}

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){ 0, LOOK_EVERY_NS }, NULL);
}

/* Until all record. */
static int wait_ready(struct hosts *all, struct vprof_error *err)
{
	for (size_t i = 0; i < all->n; i++) {
		struct host *h = &all->v[i];

		while (!h->is_ready && !caught) {
			int ended = has_ended(h);
			char *said = read_log(h);

			h->is_ready = said && strstr(said, "vprof: recording\n");
			free(said);
			if (!h->is_ready && ended)
				return complain(h, "was not recorded", err);
			if (!h->is_ready)
				pause_briefly();
		}
	}
	return VPROF_OK;
}

static pid_t start_command(char **command, struct vprof_error *err)
{
	pid_t pid = fork();

	if (!pid) {
		execvp(command[0], command);
		fprintf(stderr, "cannot execute %s: %s\n", command[0], strerror(errno)); /* layout: the child's own */
		_exit(127);
	}
	if (pid < 0)
		vprof_error_set(err, VPROF_ERR_FAILED, "cannot start %s: %s", command[0], strerror(errno));
	return pid;
}

static void end_recordings(struct hosts *all)
{
	for (size_t i = 0; i < all->n; i++) {
		if (all->v[i].input >= 0)
			close(all->v[i].input);
		all->v[i].input = -1;
	}
}

static int run_meanwhile(struct hosts *all, const struct vprof_hosts_request *o, int *status, struct vprof_error *err)
{
	double began_s = vprof_clock_s();
	pid_t command = o->command && !caught ? start_command(o->command, err) : 0;

	if (command < 0)
		return VPROF_ERR_FAILED;
	while (!caught && !(o->most_ns > 0 && (vprof_clock_s() - began_s) * 1e9 >= o->most_ns)) {
		size_t n_left = 0;

		if (command && waitpid(command, status, WNOHANG) == command)
			return VPROF_OK;
		for (size_t i = 0; i < all->n; i++)
			n_left += !has_ended(&all->v[i]);
		if (!n_left && !command)
			return VPROF_OK;
		pause_briefly();
	}
	end_recordings(all);
	if (command) {
		if (caught)
			kill(command, caught);
		while (waitpid(command, status, 0) < 0 && errno == EINTR)
			;
	}
	return VPROF_OK;
}

/* Until its trace is here; a second signal gives that up. */
static void wait_end(struct host *h)
{
	while (!has_ended(h)) {
		if (n_caught > 1)
			kill(-h->pid, SIGTERM);
		pause_briefly();
	}
}

/* Ends the recordings, and waits for the traces. */
static int gather(struct hosts *all, struct vprof_error *err)
{
	int rc = VPROF_OK;

	end_recordings(all);
	for (size_t i = 0; i < all->n; i++) {
		struct host *h = &all->v[i];
		char *trace = vprof_path_join(h->folder, "trace/records.vpt");

		wait_end(h);
		if (!rc && (!trace || access(trace, R_OK)))
			rc = complain(h, "was not recorded", err);
		else if (!rc && h->status)
			rc = complain(h, "was recorded, but its trace did not come back whole", err);
		free(trace);
	}
	return rc;
}

static int keep_names(const struct hosts *all, const struct vprof_hosts_request *o, struct vprof_error *err)
{
	char *path = vprof_path_join(o->folder, "hosts");
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc;

	for (size_t i = 0; i < all->n; i++)
		vprof_text_addf(&text, "%s\n", all->v[i].name);
	rc = !path || text.failed ? vprof_error_no_memory(err) : vprof_file_write(path, text.s, text.len, err);
	vprof_text_release(&text);
	free(path);
	return rc;
}

int vprof_record_hosts(const struct vprof_hosts_request *o, int *status, struct vprof_error *err)
{
	struct sigaction action = { .sa_handler = handle }, before[2];
	struct hosts all = { .n = 0 };
	struct vprof_error later = { "" };
	int rc = read_hosts(&all, o, err), gathered;

	*status = -1;
	caught = n_caught = 0;
	sigaction(SIGINT, &action, &before[0]);
	sigaction(SIGTERM, &action, &before[1]);
	if (!rc)
		rc = keep_names(&all, o, err);
	for (size_t i = 0; i < all.n && !rc; i++)
		rc = start(&all.v[i], err);
	if (!rc)
		rc = wait_ready(&all, err);
	if (!rc)
		rc = run_meanwhile(&all, o, status, err);
	gathered = gather(&all, rc ? &later : err);
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGTERM, &before[1], NULL);
	for (size_t i = 0; i < all.n; i++) {
		free(all.v[i].name);
		free(all.v[i].options);
		free(all.v[i].folder);
		free(all.v[i].log);
	}
	return rc ? rc : gathered;
}
