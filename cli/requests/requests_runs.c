/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/requests/requests_runs.h"

#include <stdlib.h>
#include <unistd.h>

#include "analysis/requests/described/describe_requests.h"
#include "analysis/requests/input/socket_input.h"
#include "cli/recorded_run.h"
#include "common/files.h"

static int add_run(struct vprof_socket_input *input, const char *wanted, struct vprof_run_name *name,
		   struct vprof_error *err)
{
	struct vprof_recorded_run run;
	struct vprof_trace *trace = NULL;
	int rc = vprof_recorded_run_find(&run, wanted, "--paths ", err);

	if (!rc)
		rc = vprof_trace_open(&trace, run.trace, err);
	if (!rc)
		rc = vprof_socket_input_add(input, trace, err);
	vprof_trace_free(trace);
	*name = run.name;
	vprof_recorded_run_release(&run);
	return rc;
}

/* Adds a run that vprof record --hosts made: one of each host. 0: it is no such run. */
static int add_hosts(struct vprof_socket_input *input, const char *wanted, struct vprof_run_name *name, int *rc,
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

		*rc = run ? add_run(input, run, &unused, err) : vprof_error_no_memory(err);
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
	struct vprof_socket_input input = { 0 };
	struct vprof_requests found = { 0 };
	struct vprof_run_name run = { "" };
	int rc = VPROF_OK;

	for (size_t i = 0; i < (n_runs ? n_runs : 1) && !rc; i++)
		if (!(n_runs || last_is_of_hosts()) || !add_hosts(&input, n_runs ? runs[i] : NULL, &run, &rc, err))
			rc = add_run(&input, n_runs ? runs[i] : NULL, &run, err);
	if (!rc)
		rc = vprof_requests_find(&found, &input.history, err);
	if (!rc)
		rc = vprof_requests_describe(r, &found, lists_requests, err);
	if (!rc) {
		r->n_transfers = input.n_transfers;
		r->n_lost = input.history.n_lost;
		r->n_unknown = input.n_unknown;
		r->n_hosts = input.history.hosts.n;
		r->begin_unix_ns = input.base_ns + input.history.begin;
		r->duration_ns = (double)(input.history.end - input.history.begin);
		r->run = vprof_strings_keep(&r->strings, run.s);
		r->missing = vprof_strings_keep(&r->strings, input.missing);
		rc = r->run && r->missing ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_requests_release(&found);
	vprof_socket_input_release(&input);
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
