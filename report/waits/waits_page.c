/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's data: what --json prints, with the words of the text report. */
#include "report/waits/waits_page.h"

#include "analysis/results/results_json.h"
#include "report/page_fill.h"
#include "report/page_template.h"
#include "report/waits/waits_answer.h"

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

static int add_verdicts(cJSON *data, const struct vprof_waits_results *r)
{
	return add_remedies(cJSON_GetObjectItemCaseSensitive(data, "results"), r) &&
	       vprof_json_add_number(data, "is_faithful", vprof_waits_is_faithful(r));
}

cJSON *vprof_waits_page_data(const struct vprof_waits_results *r, const struct vprof_page_origin *origin)
{
	struct vprof_answer answer = VPROF_ANSWER_INIT;
	cJSON *data;

	vprof_waits_answer(r, &answer);
	data = vprof_answer_page_data(vprof_waits_results_json(r), &answer, origin);
	vprof_answer_release(&answer);
	if (data && add_verdicts(data, r))
		return data;
	cJSON_Delete(data);
	return NULL;
}

int vprof_report_waits_page(const struct vprof_waits_results *r, const struct vprof_page_origin *origin,
			    struct vprof_text *out, struct vprof_error *err)
{
	cJSON *data = vprof_waits_page_data(r, origin);
	int ret = vprof_page_fill(vprof_waits_page_template, data, out, err);

	cJSON_Delete(data);
	return ret;
}
