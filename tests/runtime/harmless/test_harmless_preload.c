/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded into programs that are not meant: without probes, of another user, with more rights than their user; and
 * into programs under sanitizers. Output and status are as without. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "tests/runtime/session.h"

#define OUTPUT_BYTES 65536
#define NOBODY 65534

struct result {
	int status;
	uint64_t n_calls, n_processes, n_dropped;
	char output[OUTPUT_BYTES];
};

/* What it writes to stdout and stderr; preload null: as it is. */
static void run_into(struct result *r, const char *const argv[], const char *shm, const char *preload, unsigned user,
		     struct vprof_collector *c)
{
	size_t n = 0;
	int ends[2];
	ssize_t got;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		exit(1);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		if (preload) {
			setenv("VPROF_SHM", shm, 1);
			setenv("LD_PRELOAD", preload, 1);
		}
		if (user && (setgid(user) || setuid(user)))
			_exit(126);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	while ((got = read(ends[0], r->output + n, sizeof(r->output) - 1 - n)) != 0) {
		if (got > 0)
			n += (size_t)got;
		else
			usleep(1000);
		if (c)
			vprof_collector_drain(c);
	}
	close(ends[0]);
	r->output[n] = '\0';
	waitpid(pid, &r->status, 0);
}

static struct result run(const char *const argv[], const char *preload, unsigned user)
{
	char dir[] = "/tmp/vprof-runtime-XXXXXX";
	struct vprof_collector_options o = { .trace_dir = dir, .memory_bytes = 16u << 20 };
	struct session s = { .trace = NULL };
	struct vprof_error err = { "" };
	struct vprof_collector *c;
	static struct result r;

	memset(&r, 0, sizeof(r));
	if (!mkdtemp(dir) || vprof_collector_open(&c, &o, &err)) {
		printf("collector: %s\n", err.message);
		exit(1);
	}
	run_into(&r, argv, vprof_collector_shm(c), preload, user, c);
	if (vprof_collector_close(c, &s.stats, &err) || vprof_trace_open(&s.trace, dir, &err)) {
		printf("trace: %s\n", err.message);
		exit(1);
	}
	strcpy(s.dir, dir);
	r.n_calls = session_count(&s, 0x141);
	r.n_processes = s.stats.n_processes;
	r.n_dropped = s.stats.n_dropped;
	session_end(&s);
	return r;
}

static void check_same(const char *const argv[], const char *preload, unsigned user)
{
	static struct result without, with;

	run_into(&without, argv, NULL, NULL, user, NULL);
	with = run(argv, preload, user);
	CHECK(with.status == without.status, "%s: status 0x%x, not 0x%x: %s", argv[0], with.status, without.status,
	      with.output);
	CHECK(strcmp(with.output, without.output) == 0, "%s writes \"%s\", not \"%s\"", argv[0], with.output,
	      without.output);
	CHECK(with.n_processes == 0, "%s attached", argv[0]);
}

static void check_uninstrumented(void)
{
	const char *const programs[][4] = {
		{ "true", NULL },
		{ "false", NULL },
		{ "ls", "/", NULL },
		{ "sh", "-c", "for i in 1 2 3; do echo $i; done | cat; (exit 3); kill -TERM $$", NULL },
		{ "bash", "-c", "exec 3< <(echo a; sleep 0.01; echo b); cat <&3; wait; echo $(echo nested)", NULL },
		{ "python3", "-c",
		  "import threading, subprocess\n"
		  "t = [threading.Thread(target=lambda: subprocess.run(['true'])) for _ in range(8)]\n"
		  "[x.start() for x in t]; [x.join() for x in t]; print('python')",
		  NULL },
		{ "perl", "-e", "fork or exit 0; wait; print qq(perl\\n); exit 5", NULL },
		{ "tar", "--version", NULL },
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		check_same(programs[i], VPROF_LIBRARY, 0);
}

/* A copy in a folder that others may enter, since the build's may not be. */
static void check_users(void)
{
	char dir[] = "/tmp/vprof-runtime-user-XXXXXX", program[64], library[64], command[512];
	const char *const argv[] = { program, NULL };
	struct statvfs fs;
	struct result r;

	if (geteuid() != 0) {
		printf("skipped: setuid and other users: needs root\n");
		return;
	}
	if (!mkdtemp(dir) || chmod(dir, 0755) || statvfs(dir, &fs))
		exit(1);
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(library, sizeof(library), "%s/libvprof.so", dir);
	snprintf(command, sizeof(command), "cp %s %s && cp %s %s && chmod 755 %s %s", VPROF_PLAIN_TARGET, program,
		 VPROF_LIBRARY, library, program, library);
	if (system(command))
		exit(1);
	check_same(argv, library, NOBODY); /* it may not open the shared memory */
	r = run(argv, library, 0);
	CHECK(r.n_calls == 4001 && WEXITSTATUS(r.status) == 42, "the same as its owner: %d calls, status 0x%x: %s",
	      (int)r.n_calls, r.status, r.output);
	if (chmod(program, 04755) == 0 && !(fs.f_flag & ST_NOSUID))
		check_same(argv, library, NOBODY);
	else
		printf("skipped: setuid: /tmp is mounted nosuid\n");
	vprof_dir_remove(dir, NULL);
}

static void check_sanitizer(const char *program, const char *preload, const char *options)
{
	const char *const argv[] = { program, NULL };
	static struct result r;

	if (!*program) {
		printf("skipped: one of gcc's sanitizers: this compiler does not have it\n");
		return;
	}
	if (options)
		setenv("ASAN_OPTIONS", options, 1);
	r = run(argv, preload, 0);
	unsetenv("ASAN_OPTIONS");
	CHECK(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 42 && strcmp(r.output, "done\n") == 0,
	      "%s: status 0x%x: %s", program, r.status, r.output);
	CHECK(r.n_calls == 4001 && !r.n_dropped, "%s: %d calls", program, (int)r.n_calls);
}

/* Static ones, and a shared AddressSanitizer that is not in the loader's path. What `vprof run` sets is set. */
static void check_clang(void)
{
	char programs[] = VPROF_CLANG_TARGETS;

	if (!*programs)
		printf("skipped: clang's sanitizers: there is no clang that has them\n");
	setenv("LD_LIBRARY_PATH", VPROF_CLANG_LIBRARIES, 1);
	for (char *program = strtok(programs, ":"); program; program = strtok(NULL, ":"))
		check_sanitizer(program, VPROF_LIBRARY, "verify_asan_link_order=0");
	unsetenv("LD_LIBRARY_PATH");
}

int main(void)
{
	char both[1024];

	check_uninstrumented();
	check_users();
	check_sanitizer(VPROF_PLAIN_TARGET, VPROF_LIBRARY, NULL);
	/* AddressSanitizer's shared runtime wants to be first; its check can be told not to look. */
	snprintf(both, sizeof(both), "%s:%s", VPROF_ASAN_RUNTIME, VPROF_LIBRARY);
	check_sanitizer(VPROF_ASAN_TARGET, both, NULL);
	check_sanitizer(VPROF_ASAN_TARGET, VPROF_LIBRARY, "verify_asan_link_order=0");
	check_sanitizer(VPROF_TSAN_TARGET, VPROF_LIBRARY, NULL);
	check_sanitizer(VPROF_UBSAN_TARGET, VPROF_LIBRARY, NULL);
	check_clang();
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
