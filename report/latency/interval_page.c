/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's data: what --json prints, with the words of the text report. */
#include "report/latency/interval_page.h"

#include "report/latency/report_interval.h"
#include "report/page_fill.h"
#include "report/page_template.h"

cJSON *vprof_interval_page_data(const struct vprof_latency_interval *i, const struct vprof_page_origin *origin)
{
	struct vprof_answer answer = VPROF_ANSWER_INIT;
	cJSON *data;

	vprof_interval_answer(i, &answer);
	data = vprof_answer_page_data(vprof_latency_interval_json(i), &answer, origin);
	vprof_answer_release(&answer);
	return data;
}

int vprof_report_interval_page(const struct vprof_latency_interval *i, const struct vprof_page_origin *origin,
			       struct vprof_text *out, struct vprof_error *err)
{
	cJSON *data = vprof_interval_page_data(i, origin);
	int ret = vprof_page_fill(vprof_interval_page_template, data, out, err);

	cJSON_Delete(data);
	return ret;
}
