/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank that fails goes on to the next gather of the exchange, so that all fail together and rank 0 tells why. */
#include "cli/commands/analyze_folders.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "analysis/analyze.h"
#include "analysis/results/results_json.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/project.h"
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

struct inputs {
	char **traces;	    /* [n] */
	struct stat *files; /* [n] their records.vpt */
	struct vprof_plan *plan;
};

static int holds(const char *dir, const char *file)
{
	char *path = vprof_path_join(dir, file);
	int found = path && !access(path, F_OK);

	free(path);
	return found;
}

int vprof_is_trace_folder(const char *word)
{
	return strchr(word, '/') || holds(word, "records.vpt") || holds(word, "trace/records.vpt");
}

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

static int same_probes(const struct vprof_plan *a, const struct vprof_plan *b)
{
	if (a->n_probes != b->n_probes)
		return 0;
	for (size_t i = 0; i < a->n_probes; i++)
		if (a->probes[i].code != b->probes[i].code || a->probes[i].kind != b->probes[i].kind ||
		    strcmp(a->probes[i].name, b->probes[i].name) || strcmp(a->probes[i].caller, b->probes[i].caller))
			return 0;
	return 1;
}

/* Two names of one trace: its intervals would count twice, and bounds be narrower than they are. */
static int check_new(struct inputs *in, size_t i, char *const *words, struct vprof_error *err)
{
	char *path = vprof_path_join(in->traces[i], "records.vpt");
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc && stat(path, &in->files[i]))
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot read %s: %s", path, strerror(errno));
	for (size_t k = 0; k < i && !rc; k++)
		if (in->files[k].st_dev == in->files[i].st_dev && in->files[k].st_ino == in->files[i].st_ino)
			rc = vprof_error_set(err, VPROF_ERR_INPUT, "%s and %s are the same trace: name each once",
					     words[k], words[i]);
	free(path);
	return rc;
}

static int add_input(struct inputs *in, size_t i, char *const *words, struct vprof_error *err)
{
	const char *word = words[i];
	int is_trace = holds(word, "records.vpt");
	char *plan_path = vprof_path_join(word, is_trace ? "../plan.json" : "plan.json");
	struct vprof_plan *plan = NULL;
	int rc = VPROF_OK;

	in->traces[i] = is_trace ? strdup(word) : vprof_path_join(word, "trace");
	if (!plan_path || !in->traces[i])
		rc = vprof_error_no_memory(err);
	else if (!is_trace && !holds(word, "trace/records.vpt"))
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "there is no trace in %s: name the folder of a run, such as .vprof/runs/0001",
				     word);
	if (!rc)
		rc = check_new(in, i, words, err);
	if (!rc)
		rc = vprof_plan_read(&plan, plan_path, err);
	if (!rc && in->plan && !same_probes(in->plan, plan))
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "the runs %s and %s have different plans, so their functions cannot be counted "
				     "together: record both with the same build",
				     words[0], word);
	free(plan_path);
	if (in->plan || rc)
		vprof_plan_free(plan);
	else
		in->plan = plan;
	return rc;
}

static int read_inputs(struct inputs *in, const struct vprof_folders *f, struct vprof_error *err)
{
	int rc = VPROF_OK;

	in->traces = calloc(f->n, sizeof(char *));
	in->files = calloc(f->n, sizeof *in->files);
	if (!in->traces || !in->files)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < f->n && !rc; i++)
		rc = add_input(in, i, f->words, err);
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

static int analyse(const struct vprof_folders *f, struct inputs *in, struct vprof_exchange *x, int rc,
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
	struct inputs in = { 0 };
	struct vprof_results *results = NULL;
	struct vprof_error err = { "" };
	struct vprof_exchange *x;
	int status = VPROF_EXIT_FAILED, rc = f->use_mpi ? join_ranks(&ranks, &err) : VPROF_OK;

	if (rc)
		return vprof_complain(rc, &err);
	x = f->use_mpi ? &ranks.exchange : NULL;
	rc = analyse(f, &in, x, read_inputs(&in, f, &err), &results, &err);
	if (!rc && !vprof_exchange_rank(x))
		rc = show(f, results, &status, &err);
	else if (!rc)
		status = VPROF_EXIT_OK; /* rank 0 tells */
	if (rc && vprof_exchange_rank(x))
		status = VPROF_EXIT_FAILED;
	else if (rc)
		status = vprof_complain(rc, &err);
	vprof_results_free(results);
	for (size_t i = 0; i < f->n && in.traces; i++)
		free(in.traces[i]);
	free(in.traces);
	free(in.files);
	vprof_plan_free(in.plan);
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
