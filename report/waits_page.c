/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's data: what --json prints, with the words of the text report. */
#include "report/waits_page.h"

#include "analysis/results/results_json.h"
#include "report/page_fill.h"
#include "report/page_template.h"
#include "report/waits_answer.h"

static int add_answer(cJSON *o, const struct vprof_waits_results *r)
{
	struct vprof_waits_warnings warnings;
	struct vprof_text t = VPROF_TEXT_INIT;
	cJSON *list = cJSON_AddArrayToObject(o, "warnings");
	int ok;

	vprof_waits_answer(r, &t);
	ok = list && !t.failed && vprof_json_add_string(o, "answer", t.s);
	vprof_text_release(&t);
	vprof_waits_warnings_tell(r, &warnings);
	for (size_t i = 0; i < warnings.n && ok; i++)
		ok = !warnings.v[i].failed && cJSON_AddItemToArray(list, cJSON_CreateString(warnings.v[i].s));
	vprof_waits_warnings_release(&warnings);
	return ok;
}

static int add_remedies(cJSON *results, const struct vprof_waits_results *r)
{
	cJSON *knot = cJSON_GetObjectItemCaseSensitive(results, "knots");
	int ok = 1;

	knot = knot ? knot->child : NULL;
	for (size_t i = 0; ok && knot && i < r->n_groups; i++, knot = knot->next)
		if (r->groups[i].verdict != VPROF_WAITS_ASIDE)
			ok = vprof_json_add_string(knot, "remedy", vprof_waits_remedy(r, &r->groups[i]));
	return ok;
}

static cJSON *data_of(const struct vprof_waits_page *p)
{
	cJSON *o = cJSON_CreateObject(), *results = vprof_waits_results_json(p->results);

	if (o && results && cJSON_AddItemToObject(o, "results", results)) {
		if (add_remedies(results, p->results) && add_answer(o, p->results) &&
		    vprof_json_add_number(o, "is_faithful", vprof_waits_is_faithful(p->results)) &&
		    vprof_json_add_string(o, "title", p->title) && vprof_json_add_string(o, "vprof", p->version) &&
		    vprof_json_add_string(o, "date", p->run_date))
			return o;
	} else
		cJSON_Delete(results);
	cJSON_Delete(o);
	return NULL;
}

int vprof_report_waits_page(const struct vprof_waits_page *p, struct vprof_text *out, struct vprof_error *err)
{
	cJSON *data = data_of(p);
	int ret = vprof_page_fill(vprof_waits_page_template, data, out, err);

	cJSON_Delete(data);
	return ret;
}
