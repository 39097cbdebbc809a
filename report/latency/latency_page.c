/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's data: what --json prints, with the words of the text report. */
#include "report/latency/latency_page.h"

#include "analysis/results/results_json.h"
#include "report/latency/latency_answer.h"
#include "report/page_fill.h"
#include "report/page_template.h"

static int add_answer(cJSON *o, const struct vprof_latency_results *r)
{
	struct vprof_latency_warnings warnings;
	struct vprof_text t = VPROF_TEXT_INIT;
	cJSON *list = cJSON_AddArrayToObject(o, "warnings");
	int ok;

	vprof_latency_answer(r, &t);
	ok = list && !t.failed && vprof_json_add_string(o, "answer", t.s);
	vprof_text_release(&t);
	vprof_latency_warnings_tell(r, &warnings);
	for (size_t i = 0; i < warnings.n && ok; i++)
		ok = !warnings.v[i].failed && cJSON_AddItemToArray(list, cJSON_CreateString(warnings.v[i].s));
	vprof_latency_warnings_release(&warnings);
	return ok;
}

static cJSON *data_of(const struct vprof_latency_page *p)
{
	cJSON *o = cJSON_CreateObject(), *results = vprof_latency_results_json(p->results);

	if (o && results && cJSON_AddItemToObject(o, "results", results)) {
		if (add_answer(o, p->results) && vprof_json_add_string(o, "title", p->title) &&
		    vprof_json_add_string(o, "vprof", p->version) && vprof_json_add_string(o, "date", p->run_date))
			return o;
	} else
		cJSON_Delete(results);
	cJSON_Delete(o);
	return NULL;
}

int vprof_report_latency_page(const struct vprof_latency_page *p, struct vprof_text *out, struct vprof_error *err)
{
	cJSON *data = data_of(p);
	int ret = vprof_page_fill(vprof_latency_page_template, data, out, err);

	cJSON_Delete(data);
	return ret;
}
