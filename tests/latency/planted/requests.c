/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that knows its calls: requests N WORK TRUTH [signals]. Another thread hands it N requests; each is parsed,
 * looked up (WORK rounds of computing) and stored (written and flushed). Of each call TRUTH has one line: function, and
 * four times of CLOCK_MONOTONIC in ns: in the caller before it, at its begin, at its end, in the caller behind it. With
 * signals, whose handler makes system calls, a lookup waits for an answer, with a signal while it waits, and a store
 * ends with one that it sends itself. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

struct call {
	const char *name;
	uint64_t before, begin, end, after;
};

static struct call *calls;
static size_t n_calls;
static int pipes[2], asked[2], answered[2], file;
static long n_requests, work;
static int has_signals;
static pthread_t server;
static pid_t server_tid;
static volatile uint64_t sum;

/* In the function itself, which is not to end with a jump before its end is noted. */
#define INLINE inline __attribute__((always_inline))

static INLINE uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static INLINE size_t begin(const char *name)
{
	calls[n_calls].name = name;
	calls[n_calls].begin = now();
	return n_calls++;
}

static INLINE void end(size_t call)
{
	calls[call].end = now();
}

/* In the caller: a call is noted as it begins, so the next one's number is known. */
#define CALL(what)                                                                                                     \
	do {                                                                                                           \
		size_t call_ = n_calls;                                                                                \
		calls[call_].before = now();                                                                           \
		what;                                                                                                  \
		calls[call_].after = now();                                                                            \
	} while (0)

static NOINLINE void compute(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sum = sum * 3 + (uint64_t)i;
}

static NOINLINE void parse(void)
{
	size_t call = begin("parse");

	compute(2000);
	end(call);
}

static void on_signal(int number)
{
	char c = 'x';

	(void)number;
	if (pwrite(file, &c, 1, 4096) != 1)
		abort();
}

static void ask(void)
{
	char c = 'x';

	if (write(asked[1], &c, 1) != 1 || read(answered[0], &c, 1) != 1)
		abort();
}

/* Waits until the server waits; sends it a signal, and the answer. */
static void *answer(void *unused)
{
	char path[64], line[128], c;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)server_tid);
	while (read(asked[0], &c, 1) == 1) {
		for (char state = 0; state != 'S';) {
			FILE *f = fopen(path, "re");

			if (!f || !fgets(line, sizeof line, f) || sscanf(line, "%*d (%*[^)]) %c", &state) != 1)
				abort();
			fclose(f);
			usleep(100);
		}
		if (pthread_kill(server, SIGUSR1) || write(answered[1], &c, 1) != 1)
			abort();
	}
	return unused;
}

static void start_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t thread;

	has_signals = 1;
	server = pthread_self();
	server_tid = gettid();
	if (sigaction(SIGUSR1, &action, NULL) || pipe(asked) || pipe(answered) ||
	    pthread_create(&thread, NULL, answer, NULL) || pthread_detach(thread))
		abort();
}

static NOINLINE void lookup(void)
{
	size_t call = begin("lookup");

	compute(work);
	if (has_signals)
		ask();
	end(call);
}

/* It is the last call of who calls it, which compilers make a jump; and so is what it calls. */
static NOINLINE int flush(void)
{
	return fdatasync(file);
}

static NOINLINE int write_out(const char *bytes, size_t n)
{
	if (pwrite(file, bytes, n, 0) < 0)
		abort();
	return flush();
}

static NOINLINE void store(void)
{
	static const char bytes[512] = { 1 };
	size_t call = begin("store");

	if (write_out(bytes, sizeof bytes))
		abort();
	if (has_signals && raise(SIGUSR1))
		abort();
	end(call);
}

static NOINLINE void serve(void)
{
	size_t call = begin("serve");

	CALL(parse());
	CALL(lookup());
	CALL(store());
	end(call);
}

static void *hand_out(void *unused)
{
	char c = 'x';

	for (long i = 0; i < n_requests; i++)
		if (write(pipes[1], &c, 1) != 1)
			abort();
	return unused;
}

static NOINLINE void loop(void)
{
	char c;

	for (long i = 0; i < n_requests; i++) {
		if (read(pipes[0], &c, 1) != 1)
			abort();
		CALL(serve());
	}
}

int main(int argc, char **argv)
{
	char path[] = "/var/tmp/vprof-requests-XXXXXX";
	pthread_t thread;
	FILE *truth;

	if (argc != 4 && argc != 5)
		return 2;
	n_requests = atol(argv[1]);
	work = atol(argv[2]);
	calls = calloc((size_t)n_requests * 4 + 1, sizeof *calls);
	file = mkstemp(path);
	if (!calls || file < 0 || pipe(pipes) || pthread_create(&thread, NULL, hand_out, NULL))
		return 2;
	unlink(path);
	if (argc == 5)
		start_signals();
	loop();
	pthread_join(thread, NULL);
	truth = fopen(argv[3], "we");
	for (size_t i = 0; truth && i < n_calls; i++)
		fprintf(truth, "%s %llu %llu %llu %llu\n", calls[i].name, (unsigned long long)calls[i].before,
			(unsigned long long)calls[i].begin, (unsigned long long)calls[i].end,
			(unsigned long long)calls[i].after);
	return !truth || fclose(truth) ? 2 : 0;
}
