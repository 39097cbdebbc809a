/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/results/results.h"
#include "cli/compare/comparison.h"
#include "cli/project.h"
#include "common/files.h"

/* The folder of a run that is named by its number, or by its folder. */
static int find_folder(const char *given, char **folder, struct vprof_error *err)
{
	struct vprof_project p = { 0 };
	struct vprof_run_name run;
	struct stat st;
	int rc = VPROF_OK;

	if (strspn(given, "0123456789") == strlen(given) || stat(given, &st)) {
		rc = vprof_project_open(&p, NULL, err);
		if (!rc)
			rc = vprof_project_find_run(&p, given, "results.json", "analyse it with: vprof analyze", &run,
						    err);
		*folder = rc ? NULL : vprof_project_run_path(&p, run.s, "");
		vprof_project_release(&p);
	} else {
		*folder = strdup(given);
	}
	return rc || *folder ? rc : vprof_error_no_memory(err);
}

static int read_results(struct vprof_compared_run *run, const char *given, const char *folder, struct vprof_error *err)
{
	char *path = vprof_path_join(folder, "results.json");
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc && access(path, F_OK))
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "%s is not the folder of an analysed run: it has no results.json. "
				     "Name one such as .vprof/runs/0001, analysed with: vprof analyze",
				     given);
	if (!rc)
		rc = vprof_results_read(&run->results, path, err);
	if (!rc && !run->results->n_complete)
		rc = vprof_error_set(err, VPROF_ERR_INCONCLUSIVE,
				     "run %s has no complete interval to compare; see why: vprof report %s",
				     run->results->run, run->results->run);
	free(path);
	return rc;
}

static int read_latencies(struct vprof_compared_run *run, const char *folder, struct vprof_latencies *latencies,
			  struct vprof_error *err)
{
	char *trace = vprof_path_join(folder, "trace");
	int rc = trace ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc && access(trace, R_OK))
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "%s is missing: the latencies of run %s are compared one by one, "
				     "so its trace must be kept",
				     vprof_project_shown(trace), run->results->run);
	if (!rc)
		rc = vprof_latencies_read(latencies, trace, run->results->interval, err);
	if (!rc && latencies->n >= 2)
		rc = vprof_run_figures_take(&run->figures, latencies) ? vprof_error_no_memory(err) : VPROF_OK;
	run->figures.n = latencies->n;
	free(trace);
	return rc;
}

int vprof_compared_side_add(struct vprof_compared_side *side, const char *given, struct vprof_error *err)
{
	struct vprof_compared_run *more = realloc(side->runs, (side->n + 1) * sizeof *more), *run;
	struct vprof_latencies latencies = { 0 };
	char *folder = NULL, *plan;
	int rc;

	if (!more)
		return vprof_error_no_memory(err);
	side->runs = more;
	run = &side->runs[side->n];
	*run = (struct vprof_compared_run){ 0 };
	rc = find_folder(given, &folder, err);
	if (!rc)
		rc = read_results(run, given, folder, err);
	if (run->results)
		side->n++; /* to be freed, whatever comes */
	if (!rc)
		rc = read_latencies(run, folder, &latencies, err);
	if (!rc && side->n == 1) {
		side->first = latencies;
		latencies = (struct vprof_latencies){ 0 };
		plan = vprof_path_join(folder, "plan.json");
		if (!plan || vprof_file_read(plan, &side->plan, NULL))
			vprof_text_clear(&side->plan);
		free(plan);
	}
	vprof_latencies_release(&latencies);
	free(folder);
	return rc;
}

double vprof_compared_side_variance(const struct vprof_compared_side *side)
{
	double sum = 0;

	for (size_t k = 0; k < side->n; k++)
		sum += side->runs[k].results->var_ns2;
	return sum / (double)side->n;
}

void vprof_comparison_release(struct vprof_comparison *c)
{
	for (int i = 0; i < 2; i++) {
		struct vprof_compared_side *side = &c->sides[i];

		for (size_t k = 0; k < side->n; k++)
			vprof_results_free(side->runs[k].results);
		free(side->runs);
		vprof_latencies_release(&side->first);
		vprof_text_release(&side->plan);
	}
	free(c->factors);
}
