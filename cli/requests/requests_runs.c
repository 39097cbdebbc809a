/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/requests/requests_runs.h"

#include <stdlib.h>
#include <unistd.h>

#include "analysis/join/views/views.h"
#include "analysis/requests/described/describe_requests.h"
#include "analysis/requests/input/socket_input.h"
#include "cli/recorded_run.h"
#include "common/files.h"

struct opened { /* the runs, as long as visits may have to be opened */
	struct vprof_socket_input input;
	VPROF_ARRAY(struct vprof_trace *) traces;
	VPROF_ARRAY(struct vprof_plan *) plans; /* NULL: without probes */
};

/* The plan of a run with probes. */
static int read_plan(struct vprof_plan **plan, const char *folder, struct vprof_error *err)
{
	struct vprof_error ignored = { "" };
	char *path = vprof_path_join(folder, "plan.json");

	*plan = NULL;
	if (path && !access(path, R_OK))
		vprof_plan_read(plan, path, &ignored);
	free(path);
	return path ? VPROF_OK : vprof_error_no_memory(err);
}

static int add_run(struct opened *o, const char *wanted, struct vprof_run_name *name, struct vprof_error *err)
{
	struct vprof_recorded_run run;
	struct vprof_trace **trace = VPROF_PUSH(&o->traces);
	struct vprof_plan **plan = VPROF_PUSH(&o->plans);
	int rc = vprof_recorded_run_find(&run, wanted, "--paths ", err);

	if (!rc && (!trace || !plan))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = vprof_trace_open(trace, run.trace, err);
	if (!rc)
		rc = read_plan(plan, run.folder, err);
	if (!rc)
		rc = vprof_socket_input_add(&o->input, *trace, err);
	*name = run.name;
	vprof_recorded_run_release(&run);
	return rc;
}

static void release(struct opened *o)
{
	for (size_t i = 0; i < o->traces.n; i++)
		vprof_trace_free(o->traces.v[i]);
	for (size_t i = 0; i < o->plans.n; i++)
		vprof_plan_free(o->plans.v[i]);
	VPROF_ARRAY_RELEASE(&o->traces);
	VPROF_ARRAY_RELEASE(&o->plans);
	vprof_socket_input_release(&o->input);
}

static int open_visits(const struct opened *o, const struct vprof_requests *found, struct vprof_requests_results *r,
		       struct vprof_error *err)
{
	struct vprof_visits_source *sources = calloc(o->traces.n + 1, sizeof *sources);
	int rc = VPROF_ERR_NOMEM;

	for (size_t i = 0; sources && i < o->traces.n && i < o->input.sources.n; i++)
		sources[i] = (struct vprof_visits_source){ o->traces.v[i], o->plans.v[i], o->input.sources.v[i].host,
							   o->input.sources.v[i].start_ns };
	if (sources)
		rc = vprof_functions_of_visits_fill(r, found, sources, o->input.sources.n, err);
	free(sources);
	return rc ? vprof_error_no_memory(err) : VPROF_OK;
}

/* Adds a run that vprof record --hosts made: one of each host. 0: it is no such run. */
static int add_hosts(struct opened *o, const char *wanted, struct vprof_run_name *name, int *rc,
		     struct vprof_error *err)
{
	struct vprof_error ignored = { "" };
	struct vprof_text names = VPROF_TEXT_INIT;
	char *folder = NULL, *path = NULL, *rest;
	int is_one = !vprof_project_run_folder(wanted, "hosts", "", name, &folder, &ignored);

	if (is_one)
		path = vprof_path_join(folder, "hosts");
	is_one = is_one && path && !vprof_file_read(path, &names, &ignored);
	rest = names.s;
	for (char *host; is_one && !*rc && (host = strtok_r(rest, "\n", &rest));) {
		struct vprof_run_name unused;
		char *run = vprof_path_join(folder, host);

		*rc = run ? add_run(o, run, &unused, err) : vprof_error_no_memory(err);
		free(run);
	}
	free(folder);
	free(path);
	vprof_text_release(&names);
	return is_one;
}

/* Was the last run made by vprof record --hosts? */
static int last_is_of_hosts(void)
{
	struct vprof_run_name of_hosts, other;
	struct vprof_error ignored = { "" };
	char *folder;
	int is_one = !vprof_project_run_folder(NULL, "hosts", "", &of_hosts, &folder, &ignored);

	free(folder);
	if (is_one && !vprof_project_run_folder(NULL, "trace/records.vpt", "", &other, &folder, &ignored)) {
		is_one = atol(of_hosts.s) > atol(other.s);
		free(folder);
	}
	return is_one;
}

int vprof_requests_runs_analyse(const char *const *runs, size_t n_runs, int lists_requests,
				struct vprof_requests_results *r, struct vprof_error *err)
{
	struct opened o = { .traces = { NULL, 0, 0 } };
	struct vprof_requests found = { 0 };
	struct vprof_run_name run = { "" };
	int rc = VPROF_OK;

	for (size_t i = 0; i < (n_runs ? n_runs : 1) && !rc; i++)
		if (!(n_runs || last_is_of_hosts()) || !add_hosts(&o, n_runs ? runs[i] : NULL, &run, &rc, err))
			rc = add_run(&o, n_runs ? runs[i] : NULL, &run, err);
	if (!rc)
		rc = vprof_requests_find(&found, &o.input.history, err);
	if (!rc)
		rc = vprof_requests_describe(r, &found, lists_requests, err);
	if (!rc)
		rc = open_visits(&o, &found, r, err);
	if (!rc) {
		r->n_transfers = o.input.n_transfers;
		r->n_lost = o.input.history.n_lost;
		r->n_unknown = o.input.n_unknown;
		r->n_hosts = o.input.history.hosts.n;
		r->begin_unix_ns = o.input.base_ns + o.input.history.begin;
		r->duration_ns = (double)(o.input.history.end - o.input.history.begin);
		r->run = vprof_strings_keep(&r->strings, run.s);
		r->missing = vprof_strings_keep(&r->strings, o.input.missing);
		rc = r->run && r->missing ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_requests_release(&found);
	release(&o);
	return rc;
}

int vprof_requests_run_is_one(const char *wanted)
{
	struct vprof_error ignored = { "" };
	struct vprof_recorded_run run;
	struct vprof_trace *trace = NULL;
	char *plan = NULL;
	int is_one = 0;

	if (wanted) {
		plan = vprof_path_join(wanted, "hosts");
		is_one = plan && !access(plan, F_OK);
		free(plan);
		plan = NULL;
		if (is_one)
			return 1;
	}
	if (!vprof_recorded_run_find(&run, wanted, "--paths ", &ignored)) {
		plan = vprof_path_join(run.folder, "plan.json");
		if (plan && access(plan, F_OK) && !vprof_trace_open(&trace, run.trace, &ignored))
			is_one = (trace->header.kernel_kinds & VP_KERNEL_SOCKETS) != 0;
	}
	free(plan);
	vprof_trace_free(trace);
	vprof_recorded_run_release(&run);
	return is_one;
}
