/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel reports of context switches, against what the threads see themselves. Where it reports
 * nothing (a container, a setting), the reason is there instead, and that is what is tested.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/clock.h"
#include "trace/collector.h"
#include "trace/reader.h"
#include "trace_writer.h"

#define N_NAPS 200
#define NAP_NS 300000
#define CLOCK_ERROR_NS 1000 /* trace/switches.h */

/* by the watched process, in memory that it shares */
struct seen {
	uint32_t tids[2];
	uint64_t before[N_NAPS], after[N_NAPS]; /* ticks around each nap of the second thread */
	int slept[N_NAPS]; /* as the kernel counts it: the time may be over before it comes to that */
};

static struct seen *seen;
static enum vp_clock clock_kind;

static long count_sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void *nap(void *arg)
{
	(void)arg;
	seen->tids[1] = (uint32_t)gettid();
	for (int i = 0; i < N_NAPS; i++) {
		const struct timespec pause = { 0, NAP_NS };
		long n_sleeps = count_sleeps();

		seen->before[i] = vprof_clock_ticks(clock_kind);
		nanosleep(&pause, NULL);
		seen->after[i] = vprof_clock_ticks(clock_kind);
		seen->slept[i] = count_sleeps() > n_sleeps;
	}
	return NULL;
}

/* The program that is watched: this one again, so that its exec begins the recording. */
static int be_watched(const char *fd, const char *kind)
{
	pthread_t thread;

	clock_kind = (enum vp_clock)atoi(kind);
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
	if (seen == MAP_FAILED)
		return 1;
	seen->tids[0] = (uint32_t)gettid();
	pthread_create(&thread, NULL, nap, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < 20; i++)
		sched_yield();
	return 0;
}

/* Runs be_watched under a collector. 0 when its switches were recorded, else `why` says why not. */
static int record(char *folder, uint32_t most, struct vprof_collector_stats *stats, char *why)
{
	struct vprof_collector_options options = { .trace_dir = folder, .memory_bytes = 8 << 20 };
	int fd = memfd_create("seen", 0), go[2], code, status;
	const struct timespec pause = { 0, 2000000 };
	struct vprof_collector *c = NULL;
	struct vprof_error err = { "" };
	char fd_text[16], kind[16];
	pid_t pid;

	clock_kind = vprof_clock_choose();
	assert_int_equal(ftruncate(fd, sizeof *seen), 0);
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(seen != MAP_FAILED);
	snprintf(fd_text, sizeof fd_text, "%d", fd);
	snprintf(kind, sizeof kind, "%d", (int)clock_kind);
	assert_int_equal(vprof_collector_open(&c, &options, &err), VPROF_OK);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		char nothing;

		close(go[1]);
		while (read(go[0], &nothing, 1) < 0)
			;
		execl("/proc/self/exe", "watched", fd_text, kind, (char *)NULL);
		_exit(127);
	}
	code = vprof_collector_watch(c, pid, most, &err);
	close(go[0]);
	close(go[1]);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		vprof_collector_drain(c);
		nanosleep(&pause, NULL);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(vprof_collector_close(c, stats, NULL), VPROF_OK);
	close(fd);
	snprintf(why, 240, "%.239s", err.message);
	return code;
}

struct found {
	int n_of_main;
	double ns_per_tick;
	/* of each nap: from the reading before it to the first switch, from the last one to the reading after it */
	double out_ns[N_NAPS], in_ns[N_NAPS];
};

/* The switches of the napping thread lie within its own readings of the clock around each nap. */
static void look(const struct vprof_trace *trace, struct found *f)
{
	*f = (struct found){ .ns_per_tick = trace->header.ns_per_tick };
	for (int k = 0; k < N_NAPS; k++)
		f->out_ns[k] = f->in_ns[k] = INFINITY;
	for (size_t i = 0; i < trace->n_processors; i++) {
		struct vprof_trace_cursor cursor;
		const struct vp_unit *u;
		uint64_t last = 0;
		uint32_t n;

		vprof_trace_cursor_init(&cursor, &trace->processors[i]);
		while ((u = vprof_trace_next(&cursor, &n))) {
			uint32_t tid = (uint32_t)VP_PAYLOAD(u->w), flags = VP_SWITCH_FLAGS(VP_PAYLOAD(u->w));

			assert_int_equal(VP_CODE(u->w), VP_KIND_SWITCH);
			assert_true(u->t >= last);
			last = u->t;
			f->n_of_main += tid == seen->tids[0];
			for (int k = 0; k < N_NAPS && tid == seen->tids[1]; k++) {
				if (u->t <= seen->before[k] || u->t >= seen->after[k])
					continue;
				if (flags & VP_SWITCH_OUT)
					f->out_ns[k] =
						fmin(f->out_ns[k], (double)(u->t - seen->before[k]) * f->ns_per_tick);
				else
					f->in_ns[k] =
						fmin(f->in_ns[k], (double)(seen->after[k] - u->t) * f->ns_per_tick);
			}
		}
	}
}

/* A thread goes off its processor and comes back within each nap that it slept through. It comes back no earlier than
 * its nap's time after the reading before: a bound that the thread's own readings give, on any machine. */
static void check_naps(const struct found *f)
{
	double least_out = INFINITY, least_in = INFINITY;

	for (int k = 0; k < N_NAPS; k++) {
		double nap_ns = (double)(seen->after[k] - seen->before[k]) * f->ns_per_tick;

		if (!seen->slept[k])
			continue;
		assert_true(f->out_ns[k] < nap_ns && f->in_ns[k] < nap_ns);
		assert_true(f->in_ns[k] <= nap_ns - NAP_NS + CLOCK_ERROR_NS);
		least_out = fmin(least_out, f->out_ns[k]);
		least_in = fmin(least_in, f->in_ns[k]);
	}
	print_message("from a reading to the switch at least %.0f ns, from the switch to a reading %.0f ns\n",
		      least_out, least_in);
}

static void test_naps(void **state)
{
	struct vprof_collector_stats stats;
	struct vprof_error err = { "" };
	struct vprof_trace *trace;
	char why[240], *folder = make_folder();
	static struct found f;

	(void)state;
	if (record(folder, 0, &stats, why)) {
		print_message("not recorded here: %s\n", why);
		assert_int_equal(stats.has_switches, 0);
		assert_string_equal(stats.no_switches, why);
		assert_true(*why);
	} else {
		assert_int_equal(stats.has_switches, 1);
		assert_int_equal(stats.n_switches_lost, 0);
		assert_int_equal(vprof_trace_open(&trace, folder, &err), VPROF_OK);
		assert_int_equal(trace->is_cut, 0);
		assert_int_equal(trace->header.has_switches, 1);
		assert_int_equal(trace->n_threads, 0); /* nobody had probes */
		look(trace, &f);
		assert_true(f.n_of_main > 0);
		check_naps(&f);
		vprof_trace_free(trace);
	}
	munmap(seen, sizeof *seen);
	remove_folder(folder);
}

/* Its rate is above the limit from the first moment on. */
static void test_too_many(void **state)
{
	struct vprof_collector_stats stats;
	struct vprof_error err = { "" };
	struct vprof_trace *trace;
	char why[240], *folder = make_folder();

	(void)state;
	if (record(folder, 1, &stats, why)) {
		print_message("not recorded here: %s\n", why);
	} else {
		assert_int_equal(stats.has_switches, 0);
		assert_non_null(strstr(stats.no_switches, "--switches on"));
		assert_int_equal(vprof_trace_open(&trace, folder, &err), VPROF_OK);
		assert_int_equal(trace->header.has_switches, 0);
		assert_string_equal(trace->header.no_switches, stats.no_switches);
		vprof_trace_free(trace);
	}
	munmap(seen, sizeof *seen);
	remove_folder(folder);
}

/* Too few files may be open: nothing is left open, and the reason is told. Without any limit on a target. */
static void test_refused(void **state)
{
	struct rlimit before, few = { 0, 0 };
	struct vprof_collector_stats stats;
	struct vprof_collector *c = NULL;
	struct vprof_error err = { "" };
	char *folder = make_folder();
	struct vprof_collector_options options = { .trace_dir = folder, .memory_bytes = 8 << 20 };
	struct vprof_trace *trace;

	(void)state;
	assert_int_equal(vprof_collector_open(&c, &options, &err), VPROF_OK);
	getrlimit(RLIMIT_NOFILE, &before);
	few.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	assert_int_equal(vprof_collector_watch(c, getpid(), 0, &err), VPROF_ERR_FAILED);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_true(*err.message);
	assert_int_equal(vprof_collector_close(c, &stats, NULL), VPROF_OK);
	assert_int_equal(stats.has_switches, 0);
	assert_string_equal(stats.no_switches, err.message);
	assert_int_equal(vprof_trace_open(&trace, folder, &err), VPROF_OK);
	assert_int_equal(trace->header.has_switches, 0);
	assert_string_equal(trace->header.no_switches, stats.no_switches);
	vprof_trace_free(trace);
	remove_folder(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_naps), cmocka_unit_test(test_too_many),
					    cmocka_unit_test(test_refused) };

	if (argc == 3)
		return be_watched(argv[1], argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
