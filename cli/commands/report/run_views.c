/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands/report/run_views.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/waits/describe.h"
#include "cli/latency/latency_interval.h"
#include "cli/latency/latency_runs.h"
#include "cli/recorded_run.h"
#include "cli/requests/requests_runs.h"
#include "cli/run_page.h"
#include "cli/waits/waits_run.h"
#include "common/files.h"
#include "report/latency/interval_page.h"
#include "report/latency/latency_page.h"
#include "report/paths/paths_page.h"
#include "report/paths/paths_answer.h"
#include "report/waits/waits_answer.h"
#include "report/waits/waits_page.h"

struct run {
	const char *folder, *trace, *name;
	char *interval;
	const struct vprof_page_origin *origin;
};

/* Of a view that found nothing only its answer is left, as what is missing. */
static cJSON *unless_empty(cJSON *data, int is_empty, int *rc, struct vprof_error *err)
{
	if (!data) {
		*rc = vprof_error_no_memory(err);
	} else if (is_empty) {
		*rc = vprof_error_set(err, VPROF_ERR_INPUT, "%s",
				      cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(data, "answer")));
		cJSON_Delete(data);
		data = NULL;
	}
	return data;
}

static int waits(const struct run *run, cJSON **data, struct vprof_error *err)
{
	struct vprof_waits_options options = vprof_waits_defaults();
	struct vprof_waits_results *r = vprof_waits_results_new();
	int rc = r ? vprof_waits_run_analyse(run->trace, run->name, 0, &options, r, err) : vprof_error_no_memory(err);

	if (!rc)
		*data = unless_empty(vprof_waits_page_data(r, run->origin), vprof_waits_is_empty(r), &rc, err);
	vprof_waits_results_free(r);
	return rc;
}

static int paths(const struct run *run, cJSON **data, struct vprof_error *err)
{
	struct vprof_requests_results *r = vprof_requests_results_new();
	int rc = r ? vprof_requests_runs_analyse(&run->folder, 1, 1, r, err) : vprof_error_no_memory(err);

	if (!rc)
		*data = unless_empty(vprof_paths_page_data(r, run->origin), vprof_report_paths_is_empty(r), &rc, err);
	vprof_requests_results_free(r);
	return rc;
}

static int latency(const struct run *run, cJSON **data, struct vprof_error *err)
{
	struct vprof_latency_results *r = vprof_latency_results_new();
	int rc = r ? vprof_latency_runs(r, (const char *const[]){ NULL, run->trace },
					(const char *const[]){ NULL, run->name }, NULL, err) :
		     vprof_error_no_memory(err);

	if (!rc)
		*data = unless_empty(vprof_latency_page_data(r, run->origin), !r->n_paths, &rc, err);
	vprof_latency_results_free(r);
	return rc;
}

static int interval(const struct run *run, cJSON **data, struct vprof_error *err)
{
	struct vprof_latency_interval i;
	int rc = vprof_latency_interval_infer(&i, run->trace, run->name, run->interval, err);

	if (!rc)
		*data = unless_empty(vprof_interval_page_data(&i, run->origin), !i.n_used, &rc, err);
	vprof_latency_interval_release(&i);
	return rc;
}

static const struct {
	const char *name;
	int (*make)(const struct run *run, cJSON **data, struct vprof_error *err);
} makers[VPROF_RUN_VIEWS] = {
	{ "waits", waits }, { "paths", paths }, { "latency", latency }, { "interval", interval }
};

int vprof_run_views_make(struct vprof_run_views *v, const char *folder, const char *name, struct vprof_error *err)
{
	char *trace = vprof_path_join(folder, "trace");
	struct vprof_run_page page;
	struct run run = { folder, trace, name, NULL, &page.origin };
	int rc = trace ? vprof_recorded_interval_read(folder, &run.interval, err) : vprof_error_no_memory(err);

	vprof_run_page_begin(&page, folder);
	v->n_views = run.interval ? VPROF_RUN_VIEWS : VPROF_RUN_VIEWS - 1;
	for (size_t i = 0; i < v->n_views && !rc; i++) {
		int made = makers[i].make(&run, &v->data[i], &v->missing[i]);

		if (made == VPROF_ERR_NOMEM)
			rc = vprof_error_no_memory(err);
		v->views[i] = (struct vprof_page_view){ makers[i].name, v->data[i], v->missing[i].message };
		v->n_found += v->data[i] != NULL;
	}
	vprof_run_page_end(&page, VPROF_ERR_FAILED, NULL, NULL, NULL);
	free(run.interval);
	free(trace);
	return rc;
}

void vprof_run_views_release(struct vprof_run_views *v)
{
	for (size_t i = 0; i < VPROF_RUN_VIEWS; i++)
		cJSON_Delete(v->data[i]);
	*v = (struct vprof_run_views){ 0 };
}
