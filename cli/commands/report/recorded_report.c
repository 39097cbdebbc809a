/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands/report/recorded_report.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands/report/run_views.h"
#include "cli/print.h"
#include "cli/recorded_run.h"
#include "cli/run_page.h"
#include "report/report_parts.h"

static int write_page(const struct vprof_run_views *views, const struct vprof_recorded_run *run, const char *file,
		      struct vprof_error *err)
{
	struct vprof_results *results = vprof_results_new();
	struct vprof_run_page page;
	int rc = results && (results->run = vprof_results_string(results, run->name.s)) ? VPROF_OK :
											  vprof_error_no_memory(err);

	if (!rc) {
		vprof_run_page_begin(&page, run->folder);
		rc = vprof_report_page(&(struct vprof_page){ .results = results,
							     .views_only = 1,
							     .views = views->views,
							     .n_views = views->n_views,
							     .root = page.origin.title,
							     .version = page.origin.version,
							     .run_date = page.date,
							     .ending = "" },
				       &page.text, err);
		rc = vprof_run_page_end(&page, rc, "report.html", file, err);
	}
	vprof_results_free(results);
	return rc;
}

/* Each view's answer in a sentence, what is to be known of it (events that were lost), and the command that tells more;
 * of the others how to get them. */
static int print_text(const struct vprof_run_views *views, const struct vprof_recorded_run *run,
		      struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(0);
	struct vprof_style style = vprof_report_style(&options);
	struct vprof_text text = VPROF_TEXT_INIT, line = VPROF_TEXT_INIT;

	vprof_report_labelled(&style, "run", vprof_recorded_run_shown(run), &text);
	if (run->interval)
		vprof_text_addf(&line, "its intervals are calls of %s, inferred from stacks", run->interval);
	vprof_report_labelled(
		&style, "",
		run->interval ?
			line.s :
			"recorded without intervals; what makes requests slow is found with: vprof init, vprof iterate",
		&text);
	vprof_text_release(&line);
	for (size_t i = 0; i < views->n_views; i++) {
		/* the interval is the last one, and told first */
		size_t at = run->interval ? (i + views->n_views - 1) % views->n_views : i;
		const struct vprof_page_view *v = &views->views[at];
		const cJSON *answer = cJSON_GetObjectItemCaseSensitive(v->data, "answer");
		const char *shown = vprof_recorded_run_shown(run);
		const cJSON *warning;

		vprof_text_add(&text, "\n");
		vprof_report_labelled(&style, v->name, v->data ? cJSON_GetStringValue(answer) : v->missing, &text);
		cJSON_ArrayForEach(warning, cJSON_GetObjectItemCaseSensitive(v->data, "warnings"))
			vprof_report_labelled(&style, "", cJSON_GetStringValue(warning), &text);
		vprof_text_init(&line);
		vprof_text_addf(&line, "more: vprof report %s %s", strcmp(v->name, "interval") ? v->name : "latency",
				shown);
		if (v->data)
			vprof_report_labelled(&style, "", line.s, &text);
		text.failed |= line.failed;
		vprof_text_release(&line);
	}
	return vprof_print_text(&text, err);
}

int vprof_recorded_report(const char *wanted, int html, const char *file, int *status, struct vprof_error *err)
{
	struct vprof_run_views views = { 0 };
	struct vprof_recorded_run run;
	int rc = vprof_recorded_run_find(&run, wanted, "", err);

	if (!rc)
		rc = vprof_run_views_make(&views, run.folder, run.name.s, err);
	if (!rc)
		rc = html ? write_page(&views, &run, file, err) : print_text(&views, &run, err);
	*status = views.n_found ? VPROF_EXIT_OK : VPROF_EXIT_INCONCLUSIVE;
	vprof_run_views_release(&views);
	vprof_recorded_run_release(&run);
	return rc;
}
