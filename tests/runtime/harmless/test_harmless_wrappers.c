/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every wrapper of libvprof.so: result, errno and effects are libc's, on success and on failure (bad arguments,
 * timeouts, signals), in a process with one thread and with several. The lines that a run of all calls writes are
 * compared with and without the library; the library's own list of symbols says what must be called. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

#include "tests/runtime/session.h"
#include "tests/runtime/harmless/wrapped_calls.h"

#define OUTPUT_BYTES (1 << 20)

/* The target. */

void call_report(const char *name, const char *arguments, long result, int error)
{
	printf("%s(%s) = %ld, errno %d\n", name, arguments, result, error);
}

static void on_signal(int number)
{
	(void)number;
}

void interrupt_begin(void)
{
	const struct itimerval every = { { 0, 3000 }, { 0, 3000 } };
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

void interrupt_end(void)
{
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &never, NULL);
}

static void __attribute__((noinline)) probed(void)
{
	VP_FUNCTION(0x171, 0xffffffffffffffffUL, 1)
}

static void all_calls(void)
{
	probed();
	calls_of_files();
	calls_of_sockets();
	calls_of_queues();
	calls_of_locks();
	calls_of_threads();
	calls_of_processes();
	probed();
}

static void *waits(void *arg)
{
	pause();
	return arg;
}

/* Signals go to the main thread. */
static int target(void)
{
	static char out[1 << 16];
	sigset_t set;
	pthread_t id;

	setvbuf(stdout, out, _IOLBF, sizeof(out));
	calls_of_files();
	calls_of_sockets();
	calls_of_processes();
	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&id, NULL, waits, NULL))
		return 1;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	all_calls();
	return 42;
}

/* The judge. */

static char *output_of(const char *shm, struct vprof_collector *c, int *status)
{
	char *text = calloc(1, OUTPUT_BYTES);
	size_t n = 0;
	ssize_t got;
	int ends[2];
	pid_t pid;

	if (!text || pipe2(ends, O_CLOEXEC))
		exit(1);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		if (shm) {
			setenv("VPROF_SHM", shm, 1);
			setenv("LD_PRELOAD", VPROF_LIBRARY, 1);
		}
		session_exec(NULL);
		_exit(127);
	}
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	while ((got = read(ends[0], text + n, OUTPUT_BYTES - 1 - n)) != 0) {
		n += got > 0 ? (size_t)got : 0;
		if (c)
			vprof_collector_drain(c);
		usleep(1000);
	}
	close(ends[0]);
	waitpid(pid, status, 0);
	return text;
}

static void compare(char *plain, char *wrapped)
{
	char *a = plain, *b = wrapped;
	int n = 0, n_differ = 0;

	while (a && b) {
		const char *expected = strsep(&a, "\n"), *got = strsep(&b, "\n");

		n++;
		if (strcmp(expected, got) && n_differ++ < 10)
			CHECK(0, "libc: %s; with libvprof.so: %s", expected, got);
	}
	CHECK(!a && !b, "one wrote more than the other");
	printf("%d results compared\n", n);
}

/* Each symbol that the library defines stands at the beginning of a line. */
static void check_covered(const char *output)
{
	static const char *const ours[] = { "vprof_rt_attach", "__start_rt_wrapped", "__stop_rt_wrapped" };
	char line[256], name[128], call[132];
	FILE *nm = popen("nm -D --defined-only " VPROF_LIBRARY, "r");
	int n = 0;

	while (nm && fgets(line, sizeof(line), nm)) {
		bool own = false;

		if (sscanf(line, "%*s %*s %127[^@\n]", name) != 1)
			continue;
		for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			own |= strcmp(name, ours[i]) == 0;
		snprintf(call, sizeof(call), "\n%s(", name);
		CHECK(own || strstr(output, call), "%s is not tested", name);
		n += !own;
	}
	printf("%d wrappers\n", n);
	CHECK(nm && pclose(nm) == 0 && n > 100, "nm found %d wrappers", n);
}

int main(int argc, char **argv)
{
	struct vprof_collector_options o = { .memory_bytes = 16u << 20 };
	struct session s = { .dir = "/tmp/vprof-runtime-XXXXXX" };
	int plain_status, wrapped_status;
	struct vprof_error err = { "" };
	struct vprof_collector *c;
	char *plain, *wrapped;

	if (argc > 1 && strcmp(argv[1], "target") == 0)
		return target();
	o.trace_dir = s.dir;
	if (!mkdtemp(s.dir) || vprof_collector_open(&c, &o, &err)) {
		printf("collector: %s\n", err.message);
		return 1;
	}
	plain = output_of(NULL, NULL, &plain_status);
	wrapped = output_of(vprof_collector_shm(c), c, &wrapped_status);
	if (vprof_collector_close(c, &s.stats, &err) || vprof_trace_open(&s.trace, s.dir, &err)) {
		printf("trace: %s\n", err.message);
		return 1;
	}
	CHECK(WIFEXITED(plain_status) && WEXITSTATUS(plain_status) == 42, "status 0x%x", plain_status);
	CHECK(wrapped_status == plain_status, "status 0x%x", wrapped_status);
	CHECK(session_count(&s, 0x171) == 2, "the target recorded");
	check_covered(plain);
	compare(plain, wrapped);
	session_end(&s);
	free(plain);
	free(wrapped);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
