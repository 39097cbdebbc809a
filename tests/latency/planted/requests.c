/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that knows its calls: requests N WORK TRUTH. Another thread hands it N requests; each is parsed, looked up
 * (WORK rounds of computing) and stored (written and flushed). Of each call TRUTH has one line: function, and four
 * times of CLOCK_MONOTONIC in ns: in the caller before it, at its begin, at its end, in the caller behind it. */
#include <fcntl.h>
#include <pthread.h>
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
static int pipes[2], file;
static long n_requests, work;
static volatile uint64_t sum;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static size_t begin(const char *name)
{
	calls[n_calls].name = name;
	calls[n_calls].begin = now();
	return n_calls++;
}

static void end(size_t call)
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

static NOINLINE void lookup(void)
{
	size_t call = begin("lookup");

	compute(work);
	end(call);
}

static NOINLINE void store(void)
{
	size_t call = begin("store");
	char bytes[512] = { 1 };

	if (pwrite(file, bytes, sizeof bytes, 0) < 0 || fdatasync(file))
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

	if (argc != 4)
		return 2;
	n_requests = atol(argv[1]);
	work = atol(argv[2]);
	calls = calloc((size_t)n_requests * 4 + 1, sizeof *calls);
	file = mkstemp(path);
	if (!calls || file < 0 || pipe(pipes) || pthread_create(&thread, NULL, hand_out, NULL))
		return 2;
	unlink(path);
	loop();
	pthread_join(thread, NULL);
	truth = fopen(argv[3], "we");
	for (size_t i = 0; truth && i < n_calls; i++)
		fprintf(truth, "%s %llu %llu %llu %llu\n", calls[i].name, (unsigned long long)calls[i].before,
			(unsigned long long)calls[i].begin, (unsigned long long)calls[i].end,
			(unsigned long long)calls[i].after);
	return !truth || fclose(truth) ? 2 : 0;
}
