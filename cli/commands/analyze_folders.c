/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank that fails goes on to the next gather of the exchange, so that all fail together and rank 0 tells why. */
#include "cli/commands/analyze_folders.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "analysis/analyze.h"
#include "analysis/results/results_json.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "cli/run_folders.h"
#include "cli/drilldown/steps.h"
#include "common/files.h"
#include "analysis/results/mpi/transport.h"
#include "report/format_value.h"

struct ranks {
	void *plugin;
	vprof_mpi_end_fn *end;
	struct vprof_transport transport;
	struct vprof_exchange exchange;
};

static int load(struct ranks *r, const char *library_dir, struct vprof_error *err)
{
	char *path = library_dir ? vprof_path_join(library_dir, "vprof-mpi.so") : NULL, message[256] = "";
	vprof_mpi_begin_fn *begin;
	int rc = VPROF_OK;

	if (!path)
		return vprof_error_no_memory(err);
	if (access(path, F_OK))
		rc = vprof_error_set(
			err, VPROF_ERR_MISSING,
			"this vprof has no MPI: there is no %s. It is built where MPI's headers are: "
			"apt-get install libopenmpi-dev openmpi-bin, then configure and build vprof again. Without --mpi "
			"this process analyses the same folders alone",
			path);
	if (!rc)
		/* MPI loads parts of its own that look for its names */
		r->plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!rc && !r->plugin)
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "cannot load %s: %s. Install MPI: apt-get install openmpi-bin", path, dlerror());
	free(path);
	if (rc)
		return rc;
	*(void **)&begin = dlsym(r->plugin, VPROF_MPI_BEGIN);
	*(void **)&r->end = dlsym(r->plugin, VPROF_MPI_END);
	if (!begin || !r->end || begin(&r->transport, VPROF_MPI_VERSION, message, sizeof message)) {
		r->end = NULL;
		return vprof_error_set(err, VPROF_ERR_FAILED, "%s",
				       message[0] ? message : "vprof-mpi.so is damaged: install vprof again");
	}
	r->exchange.transport = &r->transport;
	return VPROF_OK;
}

static int join_ranks(struct ranks *r, struct vprof_error *err)
{
	struct vprof_project p;
	int rc = vprof_project_open(&p, NULL, err);

	if (!rc)
		rc = load(r, p.library_dir, err);
	vprof_project_release(&p);
	return rc;
}

static int show(const struct vprof_folders *f, struct vprof_results *r, int *status, struct vprof_error *err)
{
	char name[96];
	int rc = VPROF_OK;

	if (f->n > 1) {
		snprintf(name, sizeof name, "%.40s and %zu more", r->run, f->n - 1);
		r->run = vprof_results_string(r, name);
		if (!r->run)
			return vprof_error_no_memory(err);
	}
	*status = r->inconclusive ? VPROF_EXIT_INCONCLUSIVE : VPROF_EXIT_OK;
	if (f->output)
		rc = vprof_results_write(r, f->output, err);
	if (!rc)
		rc = f->json ? vprof_print_json(vprof_results_json(r), err) :
			       vprof_step_print_view(r, f->view, &(struct vprof_report_options){ 0 }, status, err);
	return rc;
}

static int analyse(const struct vprof_folders *f, struct vprof_run_folders *in, struct vprof_exchange *x, int rc,
		   struct vprof_results **results, struct vprof_error *err)
{
	struct vprof_progress progress;
	struct vprof_analyze_options options = {
		.trace_dirs = (const char *const *)in->traces,
		.n_trace_dirs = f->n,
		.plan = in->plan,
		.interval = f->interval,
		.type = f->type,
		.by_context = f->by_context,
		.k = (int)f->k,
		.threshold = f->threshold,
		.slower_than_ns = f->slower_than_ns,
		.n_threads = (int)f->n_threads,
		.exchange = x,
	};
	int is_first = !vprof_exchange_rank(x);
	char among[64] = "";

	if (x)
		snprintf(among, sizeof among, "%d %s: ", vprof_exchange_ranks(x),
			 vprof_exchange_ranks(x) == 1 ? "rank" : "ranks");
	if (rc) { /* the others are in their first gather */
		if (x && !vprof_exchange_gather(x, rc, err, NULL, 0, NULL))
			return rc;
		if (x)
			*err = x->failure;
		return rc;
	}
	if (is_first) {
		vprof_progress_begin(&progress, "analyse");
		options.progress = vprof_progress_update;
		options.progress_arg = &progress;
	}
	rc = vprof_analyze(results, &options, err);
	if (is_first && rc)
		vprof_progress_drop(&progress);
	else if (is_first)
		vprof_progress_end(
			&progress, "%s%s complete, %s cut by the trace's end, %s ambiguous, %s dropped", among,
			vprof_format_count((*results)->n_complete).s, vprof_format_count((*results)->n_cut).s,
			vprof_format_count((*results)->n_ambiguous).s, vprof_format_count((*results)->n_dropped).s);
	return rc;
}

int vprof_analyze_folders(const struct vprof_folders *f)
{
	struct ranks ranks = { 0 };
	struct vprof_run_folders in = { 0 };
	struct vprof_results *results = NULL;
	struct vprof_error err = { "" };
	struct vprof_exchange *x;
	int status = VPROF_EXIT_FAILED, rc = f->use_mpi ? join_ranks(&ranks, &err) : VPROF_OK;

	if (rc)
		return vprof_complain(rc, &err);
	x = f->use_mpi ? &ranks.exchange : NULL;
	rc = analyse(f, &in, x, vprof_run_folders_open(&in, f->words, f->n, &err), &results, &err);
	if (!rc && !vprof_exchange_rank(x))
		rc = show(f, results, &status, &err);
	else if (!rc)
		status = VPROF_EXIT_OK; /* rank 0 tells */
	if (rc && vprof_exchange_rank(x))
		status = VPROF_EXIT_FAILED;
	else if (rc)
		status = vprof_complain(rc, &err);
	vprof_results_free(results);
	vprof_run_folders_release(&in);
	if (ranks.end)
		ranks.end(&ranks.transport);
	return status;
}

int vprof_tell_by_first_rank(int (*tell)(void *arg), void *arg)
{
	struct ranks ranks = { 0 };
	struct vprof_error err = { "" };
	int status = VPROF_EXIT_OK, rc = join_ranks(&ranks, &err);

	if (rc)
		return vprof_complain(rc, &err);
	/* A rank that takes the folders for others is in a gather of its own, and fails, or all do here. */
	rc = vprof_exchange_gather(&ranks.exchange, VPROF_OK, &err, NULL, 0, NULL);
	if (!vprof_exchange_rank(&ranks.exchange))
		status = rc ? vprof_complain(rc, &ranks.exchange.failure) : tell(arg);
	else if (rc)
		status = VPROF_EXIT_FAILED;
	if (ranks.end)
		ranks.end(&ranks.transport);
	return status;
}
