/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/standing/run_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/drilldown/run_traces.h"
#include "cli/lock.h"
#include "cli/recorded_run.h"
#include "common/files.h"
#include "report/report.h"
#include "trace/reader.h"

#define COMMAND_BYTES_MAX 4096

/* Of all files beneath, on the disk. A link counts itself; a run that lies elsewhere what is there (FTS_COMFOLLOW). */
static uint64_t bytes_of(const char *folder, int options)
{
	char *paths[] = { (char *)folder, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | options, NULL);
	uint64_t bytes = 0;
	FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info != FTS_DP && e->fts_info != FTS_NS && e->fts_info != FTS_ERR)
			bytes += (uint64_t)e->fts_statp->st_blocks * 512;
	if (fts)
		fts_close(fts);
	return bytes;
}

static int has(const char *folder, const char *name)
{
	char *path = vprof_path_join(folder, name);
	int there = path && !access(path, F_OK);

	free(path);
	return there;
}

/* The first line, cut where it is long. */
static char *read_command(const char *folder)
{
	char *path = vprof_path_join(folder, "command"), line[COMMAND_BYTES_MAX] = "";
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1; /* a FIFO would wait for its writer */
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (f && !fgets(line, sizeof line, f))
		line[0] = 0;
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	free(path);
	line[strcspn(line, "\n")] = 0;
	return strdup(line);
}

static void add_trace(struct vprof_run_entry *e, const char *folder, int is_repetition)
{
	struct vprof_error ignored = { "" };
	struct vp_file_header h;
	double length_ns;

	e->trace_bytes += bytes_of(folder, 0);
	if (vprof_trace_read_header(&h, folder, &ignored))
		return;
	length_ns = h.end_ns > h.start_ns ? (double)(h.end_ns - h.start_ns) : NAN;
	if (!(e->parts & VPROF_RUN_TRACE)) {
		e->began_s = (int64_t)(h.start_realtime_ns / 1000000000);
		e->length_ns = length_ns;
		e->n_traces = 1;
	} else if (is_repetition) {
		e->length_ns += length_ns;
		e->n_traces++;
	} else if (!(e->length_ns >= length_ns)) {
		e->length_ns = length_ns;
	}
	e->parts |= VPROF_RUN_TRACE;
	if (h.kernel_scope != VP_KERNEL_NOT &&
	    (h.kernel_kinds & (VP_KERNEL_SOCKETS | VP_KERNEL_SCHEDULING)) != VP_KERNEL_SOCKETS)
		e->parts |= VPROF_RUN_KERNEL;
	if (h.kernel_kinds & VP_KERNEL_STACKS)
		e->parts |= VPROF_RUN_STACKS;
	if (h.kernel_kinds & VP_KERNEL_SOCKETS)
		e->parts |= VPROF_RUN_PATHS;
}

/* vprof record --hosts made the run: the file "hosts" names the folder of each, and all were recorded at once. */
static int add_hosts(struct vprof_run_entry *e, const char *folder, struct vprof_error *err)
{
	struct vprof_text names = VPROF_TEXT_INIT;
	struct vprof_error ignored = { "" };
	char *path = vprof_path_join(folder, "hosts"), *rest, *host;
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc && !access(path, F_OK) && !vprof_file_read(path, &names, &ignored) && names.s)
		for (host = strtok_r(names.s, "\n", &rest); host && !rc; host = strtok_r(NULL, "\n", &rest)) {
			struct vprof_text trace = VPROF_TEXT_INIT;

			if (*host == '.' || strchr(host, '/'))
				continue; /* no name of a host: the file is damaged */
			vprof_text_addf(&trace, "%s/%s/trace", folder, host);
			if (trace.failed)
				rc = vprof_error_no_memory(err);
			else
				add_trace(e, trace.s, 0);
			vprof_text_release(&trace);
		}
	vprof_text_release(&names);
	free(path);
	return rc;
}

static int add_traces(struct vprof_run_entry *e, const char *folder, struct vprof_error *err)
{
	struct vprof_run_traces traces;
	int rc = vprof_run_traces_in(&traces, folder, err);

	for (size_t i = 0; i < traces.n && !rc; i++)
		add_trace(e, traces.folders[i], 1);
	vprof_run_traces_release(&traces);
	return rc ? rc : add_hosts(e, folder, err);
}

static int add_answer(struct vprof_run_entry *e, const char *folder)
{
	char *path = vprof_path_join(folder, "results.json");
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_error ignored = { "" };
	struct vprof_results *r = NULL;

	if (path && !access(path, F_OK) && !vprof_results_read(&r, path, &ignored)) {
		e->parts |= VPROF_RUN_RESULTS;
		e->is_inconclusive = r->inconclusive;
		if (r->n_causes) {
			e->share = r->causes[0].share;
			vprof_report_cause_sentence(r, &r->causes[0], &text);
		}
	}
	vprof_results_free(r);
	free(path);
	e->answer = text.len ? vprof_text_detach(&text) : strdup("");
	return e->answer ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int read_run(struct vprof_run_entry *e, const char *folder, const struct vprof_session *s,
		    struct vprof_error *err)
{
	struct stat st;
	int rc = add_traces(e, folder, err);

	if (!e->began_s && !stat(folder, &st))
		e->began_s = (int64_t)st.st_mtime;
	e->bytes = bytes_of(folder, FTS_COMFOLLOW);
	e->is_recording = vprof_run_is_locked(folder);
	if (has(folder, "plan.json"))
		e->parts |= VPROF_RUN_PROBES;
	for (size_t i = 0; i < s->n_rounds; i++)
		if (!strcmp(s->rounds[i].run.s, e->name.s))
			e->round = (long)i;
	for (size_t i = 0; i < s->reviews.n; i++)
		e->is_reviewed |= !strcmp(s->reviews.items[i].run, e->name.s);
	e->command = read_command(folder);
	if (!rc && (!e->command || add_answer(e, folder)))
		rc = vprof_error_no_memory(err);
	return rc ? rc : vprof_recorded_interval_read(folder, &e->interval, err);
}

static int by_number(const void *a, const void *b)
{
	const struct vprof_run_entry *x = a, *y = b;
	unsigned i = vprof_project_run_number(x->name.s), k = vprof_project_run_number(y->name.s);

	return i < k ? -1 : i > k;
}

/* Other commands find runs by their numbers: "7" beside "0007" is none. */
static int is_run(const char *name)
{
	unsigned number = vprof_project_run_number(name);
	char usual[16];

	snprintf(usual, sizeof usual, "%04u", number);
	return number && !strcmp(name, usual);
}

static struct vprof_run_entry *add_run(struct vprof_run_list *list, const char *name)
{
	struct vprof_run_entry *more = realloc(list->items, (list->n + 1) * sizeof *more);

	if (!more)
		return NULL;
	list->items = more;
	more[list->n] = (struct vprof_run_entry){ .length_ns = NAN, .share = NAN, .round = -1 };
	snprintf(more[list->n].name.s, sizeof more->name.s, "%.*s", (int)sizeof more->name.s - 1, name);
	return &more[list->n++];
}

int vprof_run_list_read(struct vprof_run_list *list, const struct vprof_project *p, const struct vprof_session *s,
			struct vprof_error *err)
{
	DIR *dir = opendir(p->runs);
	struct dirent *entry;
	int rc = VPROF_OK;

	*list = (struct vprof_run_list){ 0 };
	if (!dir && errno != ENOENT)
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       "cannot read %s: %s. Change its owner or permissions, or remove it",
				       vprof_project_shown(p->runs), strerror(errno));
	while (!rc && dir && (entry = readdir(dir))) {
		struct vprof_run_entry *e;
		char *folder;

		if (!is_run(entry->d_name))
			continue;
		e = add_run(list, entry->d_name);
		folder = e ? vprof_project_run_path(p, e->name.s, "") : NULL;
		rc = folder ? read_run(e, folder, s, err) : vprof_error_no_memory(err);
		free(folder);
		if (e) {
			list->bytes += e->bytes;
			list->trace_bytes += e->trace_bytes;
		}
	}
	if (dir)
		closedir(dir);
	if (list->n)
		qsort(list->items, list->n, sizeof *list->items, by_number);
	return rc;
}

void vprof_run_list_release(struct vprof_run_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].command);
		free(list->items[i].interval);
		free(list->items[i].answer);
	}
	free(list->items);
	*list = (struct vprof_run_list){ 0 };
}
