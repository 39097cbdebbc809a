/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/answer.h"

#include "analysis/results/results_json.h"

struct vprof_text *vprof_answer_warn(struct vprof_answer *answer)
{
	struct vprof_text *next = &answer->warnings[answer->n_warnings];

	if (answer->n_warnings == VPROF_ANSWER_WARNINGS_MAX) {
		answer->sentence.failed = 1;
		return &answer->sentence;
	}
	answer->n_warnings++;
	vprof_text_init(next);
	return next;
}

void vprof_answer_release(struct vprof_answer *answer)
{
	vprof_text_release(&answer->sentence);
	for (size_t i = 0; i < answer->n_warnings; i++)
		vprof_text_release(&answer->warnings[i]);
	answer->n_warnings = 0;
}

void vprof_answer_print(const struct vprof_style *style, const struct vprof_answer *answer, struct vprof_text *out)
{
	vprof_report_labelled(style, "", answer->sentence.s, out);
	out->failed |= answer->sentence.failed;
	for (size_t i = 0; i < answer->n_warnings; i++) {
		vprof_report_labelled(style, i ? "" : "warning", answer->warnings[i].s, out);
		out->failed |= answer->warnings[i].failed;
	}
	vprof_text_add(out, "\n");
}

static int fill(cJSON *o, const struct vprof_answer *answer, const struct vprof_page_origin *origin)
{
	cJSON *list = cJSON_AddArrayToObject(o, "warnings");
	int ok = list && !answer->sentence.failed && vprof_json_add_string(o, "answer", answer->sentence.s);

	for (size_t i = 0; i < answer->n_warnings && ok; i++)
		ok = !answer->warnings[i].failed &&
		     cJSON_AddItemToArray(list, cJSON_CreateString(answer->warnings[i].s));
	return ok && vprof_json_add_string(o, "title", origin->title) &&
	       vprof_json_add_string(o, "vprof", origin->version) && vprof_json_add_string(o, "date", origin->run_date);
}

cJSON *vprof_answer_page_data(cJSON *results, const struct vprof_answer *answer, const struct vprof_page_origin *origin)
{
	cJSON *o = cJSON_CreateObject();

	if (!o || !results || !cJSON_AddItemToObject(o, "results", results))
		cJSON_Delete(results);
	else if (fill(o, answer, origin))
		return o;
	cJSON_Delete(o);
	return NULL;
}
