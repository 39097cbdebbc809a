/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands/report/report_page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands/report/run_views.h"
#include "cli/drilldown/ending.h"
#include "cli/drilldown/verdict_list.h"
#include "common/files.h"
#include "report/page.h"

#define EARLIER_BYTES_MAX (64 << 20) /* larger results of earlier rounds are not read for the history */

/* A round whose results are missing, damaged or of another version is listed without figures. */
static int fill_round(struct vprof_page_round *out, const struct vprof_project *p, const struct vprof_round *round,
		      const struct vprof_results *current)
{
	static const char *const states[] = { "open", "built", "ran", "analysed", "decided" };
	char *path = vprof_project_run_path(p, round->run.s, "results.json");
	struct vprof_results *r = NULL;
	struct stat st;
	int rc = VPROF_OK;

	out->run = strdup(round->run.s);
	out->state = strdup(states[round->state]);
	if (!path || !out->run || !out->state)
		rc = VPROF_ERR_NOMEM;
	else if (!strcmp(round->run.s, current->run))
		rc = vprof_page_round_fill(out, current);
	else if (!stat(path, &st) && st.st_size <= EARLIER_BYTES_MAX && !vprof_results_read(&r, path, NULL))
		rc = vprof_page_round_fill(out, r);
	vprof_results_free(r);
	free(path);
	return rc;
}

struct vprof_results *vprof_report_results_beside(const char *folder)
{
	char *path = vprof_path_join(folder, "results.json");
	struct vprof_results *results = NULL;

	if (path)
		vprof_results_read(&results, path, NULL);
	free(path);
	return results;
}

int vprof_report_page_operands(const struct vprof_usage *usage, const struct vprof_operands *operands, int html,
			       const char **run, const char **file)
{
	for (size_t i = 0; i < operands->n_words; i++) {
		const char *word = operands->words[i];
		struct stat st;
		int is_run = !word[strspn(word, "0123456789")] || (!stat(word, &st) && S_ISDIR(st.st_mode));
		const char **slot = html && !is_run ? file : run;

		if (*slot)
			return vprof_options_misused(usage, "unexpected argument \"%s\"", word);
		*slot = word;
	}
	return -1;
}

int vprof_report_page_parse(const struct vprof_usage *usage, const struct vprof_option *options, int argc, char **argv,
			    struct vprof_view_form *form, const char **run)
{
	struct vprof_operands operands;
	int status = vprof_options_parse(usage, options, argc, argv, &operands);

	if (status < 0)
		status = vprof_report_page_operands(usage, &operands, form->html, run, &form->file);
	if (status < 0 && form->html && form->json)
		status = vprof_options_misused(usage, "--html and --json are two reports: ask for one");
	return status;
}

static int put(const struct vprof_project *p, const char *run, const struct vprof_text *text, const char *file,
	       struct vprof_error *err)
{
	char *usual = vprof_project_run_path(p, run, "report.html");
	int rc = usual ? vprof_page_put(text, usual, file, err) : vprof_error_no_memory(err);

	free(usual);
	return rc;
}

/* Those of this interval. */
static int collect_verdicts(const struct vprof_session *s, const struct vprof_results *r,
			    struct vprof_verdict_list *list, struct vprof_page *page)
{
	struct vprof_page_verdict *verdicts;

	if (vprof_verdict_list_make(list, s, r))
		return VPROF_ERR_NOMEM;
	page->verdicts = verdicts = calloc(list->n + 1, sizeof *verdicts);
	for (size_t i = 0; verdicts && i < list->n; i++) {
		const struct vprof_listed_verdict *v = &list->items[i];

		if (r->interval && strcmp(v->interval, r->interval))
			continue;
		verdicts[page->n_verdicts++] =
			(struct vprof_page_verdict){ v->key,  v->verdict, v->name,
						     v->note, v->run,	  v->review ? v->review->date : NULL };
	}
	return verdicts ? VPROF_OK : VPROF_ERR_NOMEM;
}

int vprof_report_page_write(const struct vprof_project *p, const char *run, const struct vprof_session *s,
			    const struct vprof_results *results, const char *file, struct vprof_error *err)
{
	struct vprof_page_round *rounds = calloc(s->n_rounds + 1, sizeof *rounds);
	char *ending = vprof_ending_tell(results, s);
	struct vprof_verdict_list list = { 0 };
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_facts *facts = NULL;
	char date[32] = "", *log, *folder = vprof_project_run_path(p, run, "");
	struct vprof_run_views views = { 0 };
	struct vprof_page page = { .results = results,
				   .root = p->directory,
				   .version = VPROF_VERSION,
				   .views = views.views,
				   .rounds = rounds,
				   .n_rounds = s->n_rounds,
				   .ending = ending };
	int rc = rounds && ending && folder ? VPROF_OK : VPROF_ERR_NOMEM;

	if (!rc)
		rc = vprof_run_views_make(&views, folder, run, err);
	page.n_views = views.n_views;
	for (size_t i = 0; !rc && i < s->n_rounds; i++)
		rc = fill_round(&rounds[i], p, &s->rounds[i], results);
	if (!rc)
		rc = collect_verdicts(s, results, &list, &page);
	if (rc) {
		vprof_error_set(err, rc, "out of memory");
		goto out;
	}
	log = vprof_project_run_path(p, run, "run.log"); /* as old as the run's end */
	page.run_time = vprof_page_date(log, date, sizeof date);
	page.run_date = date;
	free(log);
	if (!vprof_facts_open(&facts, p->facts, NULL)) {
		page.facts = facts;
		page.root = facts->root;
	}
	rc = vprof_report_page(&page, &text, err);
	if (!rc)
		rc = put(p, run, &text, file, err);
out:
	for (size_t i = 0; rounds && i < s->n_rounds; i++)
		vprof_page_round_release(&rounds[i]);
	free(rounds);
	free((void *)page.verdicts);
	free(ending);
	free(folder);
	vprof_run_views_release(&views);
	vprof_verdict_list_release(&list);
	vprof_facts_free(facts);
	vprof_text_release(&text);
	return rc;
}
