/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `vprof report waits` costs on a long recording: CPU time by step, and memory, on a trace of a simulated server
 * (kernel_load.h) or on one that was recorded.
 *
 *	bench_waits_trace [--json] [--events N] [--threads N] [--cpus N] [--stacks N] [--workers N] [--dir DIR]
 *	bench_waits_trace [--json] [--workers N] --run FOLDER
 *	bench_waits_trace --make FOLDER [--events N] [--threads N] [--cpus N] [--stacks N]
 *
 * "records" is only walking the trace's records, "decoding" also making events of them in the order of time: both are
 * done once more within "events". FOLDER is a run's, with trace/records.vpt in it. --workers: threads of the analysis.
 * Memory is what the process has resident at a step's end, with and without what lies in files: the trace itself, and
 * large arrays, which the kernel may write out (common/array.c).
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/waits/waits_run.h"
#include "common/files.h"
#include "kernel_load.h"
#include "report/waits/report_waits.h"
#include "trace/kernel_events.h"

#define STEPS_MAX 32

struct step {
	const char *name;
	double cpu_s;
	long anonymous_kib, file_kib; /* at its end */
};

struct measuring {
	struct step steps[STEPS_MAX];
	size_t n;
	double since;
};

struct options {
	struct bench_kernel_load load;
	const char *dir, *run, *make;
	int is_json, n_workers;
};

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long status_kib(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, name, strlen(name)))
			kib += strtol(line + strlen(name), NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

/* The step before ends. */
static void begin_step(void *arg, const char *what, double done)
{
	struct measuring *m = arg;
	double now = cpu_s();

	(void)done;
	if (m->n) {
		struct step *last = &m->steps[m->n - 1];

		last->cpu_s = now - m->since;
		last->anonymous_kib = status_kib("RssAnon:");
		last->file_kib = status_kib("RssFile:") + status_kib("RssShmem:");
	}
	if (m->n < STEPS_MAX)
		m->steps[m->n++].name = what;
	m->since = cpu_s();
}

static int read_records(struct measuring *m, const char *dir, uint64_t *n_records, struct vprof_error *err)
{
	struct vprof_kernel_stream *stream;
	struct vprof_kernel_event e;
	struct vprof_trace *trace;
	int ret;

	begin_step(m, "records", -1);
	ret = vprof_trace_open(&trace, dir, err);
	for (size_t i = 0; !ret && i < trace->n_kernel; i++) {
		struct vprof_trace_cursor c;
		uint32_t n;

		vprof_trace_cursor_init(&c, &trace->kernel[i]);
		while (vprof_trace_next(&c, &n))
			++*n_records;
	}
	if (ret)
		return ret;
	vprof_trace_free(trace);
	begin_step(m, "decoding", -1);
	ret = vprof_trace_open(&trace, dir, err);
	ret = ret ? ret : vprof_kernel_stream_open(&stream, trace, err);
	if (!ret) {
		while (vprof_kernel_stream_next(stream, &e))
			;
		vprof_kernel_stream_close(stream);
	}
	vprof_trace_free(trace);
	return ret;
}

static int write_report(const struct vprof_waits_results *r)
{
	const struct vprof_report_options options = { .width = 100 };
	struct vprof_text text = VPROF_TEXT_INIT;
	cJSON *json = vprof_waits_results_json(r);
	char *printed = json ? cJSON_Print(json) : NULL;
	int failed = !printed;

	vprof_report_waits(r, NULL, &options, &text);
	failed |= text.failed;
	free(printed);
	cJSON_Delete(json);
	vprof_text_release(&text);
	return failed ? VPROF_ERR_NOMEM : VPROF_OK;
}

static void print(const struct options *o, const struct measuring *m, uint64_t n_events, uint64_t bytes)
{
	double sum = 0;

	for (size_t i = 2; i + 1 < m->n; i++) /* all that `vprof report waits` does */
		sum += m->steps[i].cpu_s;
	if (o->is_json)
		printf("{\"events\": %" PRIu64 ", \"bytes\": %" PRIu64
		       ", \"cpu_s\": %.4f, \"million_events_per_s\": %.3f, \"peak_mib\": %ld, \"steps\": [",
		       n_events, bytes, sum, (double)n_events / sum / 1e6, status_kib("VmHWM:") / 1024);
	else
		printf("%.4g events, %.4g MB of records\n%-20s %8s %9s %12s %10s\n", (double)n_events,
		       (double)bytes / 1e6, "step", "CPU s", "ns/event", "memory MiB", "files MiB");
	for (size_t i = 0; i + 1 < m->n; i++) {
		const struct step *s = &m->steps[i];

		printf(o->is_json ?
			       "%s{\"step\": \"%s\", \"cpu_s\": %.4f, \"ns_per_event\": %.2f, \"memory_mib\": %ld, "
			       "\"files_mib\": %ld}" :
			       "%s%-20s %8.2f %9.1f %12ld %10ld\n",
		       o->is_json && i ? ", " : "", s->name, s->cpu_s, s->cpu_s / (double)n_events * 1e9,
		       s->anonymous_kib / 1024, s->file_kib / 1024);
	}
	if (o->is_json)
		printf("]}\n");
	else
		printf("%-20s %8.2f %9.1f   %.2f million events/s; at most %ld MiB resident\n", "without the first two",
		       sum, sum / (double)n_events * 1e9, (double)n_events / sum / 1e6, status_kib("VmHWM:") / 1024);
}

static int measure(const struct options *o, const char *folder, struct vprof_error *err)
{
	struct vprof_waits_options options = vprof_waits_defaults();
	struct vprof_waits_results *r = vprof_waits_results_new();
	char *dir = vprof_path_join(folder, "trace"), *path = vprof_path_join(folder, "trace/records.vpt");
	struct measuring m = { .n = 0 };
	uint64_t n_records = 0;
	FILE *f;
	int ret = r && dir && path ? VPROF_OK : vprof_error_no_memory(err);

	options.n_threads = o->n_workers;
	options.progress = begin_step;
	options.progress_arg = &m;
	ret = ret ? ret : read_records(&m, dir, &n_records, err);
	ret = ret ? ret : vprof_waits_run_analyse(dir, "", 0, &options, r, err);
	if (!ret) {
		begin_step(&m, "report", -1);
		ret = write_report(r);
		begin_step(&m, "", -1);
	}
	f = ret ? NULL : fopen(path, "r");
	if (f) {
		fseek(f, 0, SEEK_END);
		print(o, &m, r->n_events, (uint64_t)ftell(f));
		fclose(f);
	}
	vprof_waits_results_free(r);
	free(dir);
	free(path);
	return ret;
}

static int options_read(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "json", no_argument, NULL, 'j' },	     { "events", required_argument, NULL, 'e' },
		{ "threads", required_argument, NULL, 't' }, { "cpus", required_argument, NULL, 'c' },
		{ "stacks", required_argument, NULL, 's' },  { "workers", required_argument, NULL, 'w' },
		{ "dir", required_argument, NULL, 'd' },     { "run", required_argument, NULL, 'r' },
		{ "make", required_argument, NULL, 'm' },    { 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'j':
			o->is_json = 1;
			break;
		case 'e':
			o->load.n_events = strtoull(optarg, NULL, 10);
			break;
		case 't':
			o->load.n_threads = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'c':
			o->load.n_cpus = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 's':
			o->load.n_stacks = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'w':
			o->n_workers = atoi(optarg);
			break;
		case 'd':
			o->dir = optarg;
			break;
		case 'r':
			o->run = optarg;
			break;
		case 'm':
			o->make = optarg;
			break;
		default:
			return -1;
		}
	}
	return optind != argc || o->load.n_threads < 10 || o->load.n_threads > 1000000 || o->load.n_cpus < 1 ||
			       o->load.n_cpus > 1024 || o->load.n_stacks > 100000 || o->n_workers < 1 ?
		       -1 :
		       0;
}

int main(int argc, char **argv)
{
	struct options o = { .load = { 3000000, 1000, 16, 256 }, .dir = ".", .n_workers = 1 };
	struct vprof_error err = { "" };
	char folder[4096];
	int ret;

	if (options_read(&o, argc, argv)) {
		fprintf(stderr, "usage: bench_waits_trace [--json] [--events N] [--threads N] [--cpus N] [--stacks N]\n"
				"           [--workers N] [--dir DIR | --run FOLDER | --make FOLDER]\n");
		return 2;
	}
	if (o.run) {
		ret = measure(&o, o.run, &err);
	} else if (o.make) {
		ret = bench_kernel_load_write(&o.load, o.make, &err);
	} else {
		snprintf(folder, sizeof folder, "%s/bench-waits-XXXXXX", o.dir);
		if (!mkdtemp(folder)) {
			fprintf(stderr, "bench_waits_trace: cannot make a folder in %s\n", o.dir);
			return 1;
		}
		ret = bench_kernel_load_write(&o.load, folder, &err);
		ret = ret ? ret : measure(&o, folder, &err);
		vprof_dir_remove(folder, NULL);
	}
	if (ret)
		fprintf(stderr, "bench_waits_trace: %s\n", err.message);
	return ret != 0;
}
