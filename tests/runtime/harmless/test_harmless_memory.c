/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What libvprof.so adds to the private memory of a process with 1,000 threads stays below the bound that
 * docs/design/runtime.md states, and does not grow with what is recorded. The ring is shared memory, of the size that
 * was asked for. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define N_THREADS 1000
#define N_MORE 200 /* calls of each thread, again and again */
#define N_ROUNDS 10

/* The stated bound, in KiB. */
#define TABLES_KB 512
#define BLOCK_KB 359 /* for each 32 threads */
#define STACK_KB 8   /* what the runtime's functions touch of a thread's stack */
#define BOUND_KB (TABLES_KB + (N_THREADS + 32) / 32 * BLOCK_KB + N_THREADS * STACK_KB)

static pthread_barrier_t barrier;

static void __attribute__((noinline)) call(int i)
{
	VP_FUNCTION(0x200u + (unsigned)i, 0xffffffffffffffffUL, 1)
}

static void *run(void *arg)
{
	for (int round = 0; round < N_ROUNDS; round++) {
		vprof_begin("round", round);
		for (int i = 0; i < N_MORE; i++)
			call(i);
		vprof_work("calls", N_MORE);
		vprof_end("round", round);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier); /* the main thread looks meanwhile */
	}
	return arg;
}

static long private_kb(void)
{
	char line[128];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static int target(void)
{
	long first = 0, last = 0;
	pthread_attr_t attr;
	FILE *out;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&barrier, NULL, N_THREADS + 1);
	for (int i = 0; i < N_THREADS; i++) {
		pthread_t id;

		if (pthread_create(&id, &attr, run, NULL))
			return 1;
	}
	for (int round = 0; round < N_ROUNDS; round++) {
		pthread_barrier_wait(&barrier);
		last = private_kb();
		first = round == 1 ? last : first;
		pthread_barrier_wait(&barrier);
	}
	out = fopen(getenv("VPROF_TEST_OUT"), "w");
	if (!out || fprintf(out, "%ld %ld\n", first, last) < 0 || fclose(out))
		return 2;
	_exit(0);
}

/* The judge. */

static char path[] = "/tmp/vprof-runtime-out-XXXXXX";

static void numbers(long *first, long *last)
{
	FILE *f = fopen(path, "r");

	if (!f || fscanf(f, "%ld %ld", first, last) != 2)
		exit(1);
	fclose(f);
}

int main(int argc, char **argv)
{
	long plain_first, plain_last, first, last;
	struct session s;
	int status = 0;
	pid_t pid;

	if (argc > 1 && strcmp(argv[1], "target") == 0)
		return target();
	if (SESSION_EMULATED) {
		SESSION_SKIP("private memory", "most of it is the emulator's own");
		return 0;
	}
	close(mkstemp(path));
	setenv("VPROF_TEST_OUT", path, 1);
	pid = fork();
	if (pid == 0) {
		session_exec(NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "without libvprof.so: status 0x%x", status);
	numbers(&plain_first, &plain_last);
	session_sample_after = 64; /* with the counters of hot functions */
	if (session_run(&s, "memory", UINT64_C(256) << 20, 0))
		return 1;
	numbers(&first, &last);
	printf("%d threads: %ld KiB private, %ld without; bound %d. After %d more rounds %+ld KiB\n", N_THREADS, last,
	       plain_last, BOUND_KB, N_ROUNDS - 2, last - first);
	CHECK(session_count(&s, VP_KIND_BEGIN) == N_THREADS * N_ROUNDS, "%d rounds",
	      (int)session_count(&s, VP_KIND_BEGIN));
	CHECK(last - plain_last <= BOUND_KB, "%ld KiB more", last - plain_last);
	CHECK(last - first <= 1024, "it grew by %ld KiB", last - first);
	session_end(&s);
	unlink(path);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
