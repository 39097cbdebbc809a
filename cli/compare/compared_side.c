/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <unistd.h>

#include "analysis/results/results.h"
#include "cli/compare/comparison.h"
#include "cli/drilldown/run_traces.h"
#include "cli/project.h"
#include "common/files.h"

static int read_results(struct vprof_results **results, const char *given, const char *folder, struct vprof_error *err)
{
	char *path = vprof_path_join(folder, "results.json");
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc && access(path, F_OK))
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "%s is not the folder of an analysed run: it has no results.json. "
				     "Name one such as .vprof/runs/0001, analysed with: vprof analyze",
				     given);
	if (!rc)
		rc = vprof_results_read(results, path, err);
	if (!rc && !(*results)->n_complete)
		rc = vprof_error_set(err, VPROF_ERR_INCONCLUSIVE,
				     "run %s has no complete interval to compare; see why: vprof report %s",
				     (*results)->run, (*results)->run);
	free(path);
	return rc;
}

/* One trace of the side's last run. */
static int add_trace(struct vprof_compared_side *side, const char *trace, struct vprof_error *err)
{
	struct vprof_compared_trace *more = realloc(side->traces, (side->n_traces + 1) * sizeof *more), *new;
	const struct vprof_results *r = side->runs[side->n - 1];
	struct vprof_latencies latencies = { 0 };
	int rc;

	if (!more)
		return vprof_error_no_memory(err);
	side->traces = more;
	new = &side->traces[side->n_traces];
	*new = (struct vprof_compared_trace){ .run = side->n - 1 };
	rc = vprof_latencies_read(&latencies, trace, r->interval, err);
	if (!rc && latencies.n >= 2)
		rc = vprof_run_figures_take(&new->figures, &latencies) ? vprof_error_no_memory(err) : VPROF_OK;
	new->figures.n = latencies.n;
	if (!rc && !side->n_traces++) {
		side->first = latencies;
		latencies = (struct vprof_latencies){ 0 };
	}
	vprof_latencies_release(&latencies);
	return rc;
}

static int add_traces(struct vprof_compared_side *side, const char *folder, struct vprof_error *err)
{
	struct vprof_run_traces found;
	int rc = vprof_run_traces_in(&found, folder, err);

	if (!rc && access(found.folders[0], R_OK))
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "%s is missing: the latencies of run %s are compared one by one, "
				     "so its trace must be kept",
				     vprof_project_shown(found.folders[0]), side->runs[side->n - 1]->run);
	for (size_t i = 0; i < found.n && !rc; i++)
		rc = add_trace(side, found.folders[i], err);
	vprof_run_traces_release(&found);
	return rc;
}

int vprof_compared_side_add(struct vprof_compared_side *side, const char *given, struct vprof_error *err)
{
	struct vprof_results **more = realloc(side->runs, (side->n + 1) * sizeof *more);
	struct vprof_run_name name;
	char *folder = NULL, *plan;
	int rc;

	if (!more)
		return vprof_error_no_memory(err);
	side->runs = more;
	side->runs[side->n] = NULL;
	rc = vprof_project_run_folder(given, "results.json", "analyse it with: vprof analyze", &name, &folder, err);
	if (!rc)
		rc = read_results(&side->runs[side->n], given, folder, err);
	if (side->runs[side->n])
		side->n++; /* to be freed, whatever comes */
	if (!rc)
		rc = add_traces(side, folder, err);
	if (!rc && side->n == 1) {
		plan = vprof_path_join(folder, "plan.json");
		if (!plan || vprof_file_read(plan, &side->plan, NULL))
			vprof_text_clear(&side->plan);
		free(plan);
	}
	free(folder);
	return rc;
}

double vprof_compared_side_variance(const struct vprof_compared_side *side)
{
	double sum = 0;

	for (size_t k = 0; k < side->n; k++)
		sum += side->runs[k]->var_ns2;
	return sum / (double)side->n;
}

void vprof_comparison_release(struct vprof_comparison *c)
{
	for (int i = 0; i < 2; i++) {
		struct vprof_compared_side *side = &c->sides[i];

		for (size_t k = 0; k < side->n; k++)
			vprof_results_free(side->runs[k]);
		free(side->runs);
		free(side->traces);
		vprof_latencies_release(&side->first);
		vprof_text_release(&side->plan);
	}
	free(c->factors);
}
