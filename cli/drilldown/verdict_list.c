/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/verdict_list.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

static int is_verdict(enum vprof_verdict verdict)
{
	return verdict && verdict != VPROF_VERDICT_BROKEN_DOWN;
}

static void add(struct vprof_verdict_list *list, struct vprof_listed_verdict v)
{
	for (size_t i = 0; i < list->n; i++) /* a person's stands before a rule's */
		if (!strcmp(list->items[i].key, v.key) && !strcmp(list->items[i].interval, v.interval))
			return;
	list->items[list->n++] = v;
}

/* Those of the results: causes, then factors that belong to none. */
static void add_results(struct vprof_verdict_list *list, const struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_causes; i++)
		if (is_verdict(r->causes[i].verdict))
			add(list, (struct vprof_listed_verdict){ .interval = r->interval,
								 .key = r->causes[i].key,
								 .name = r->causes[i].name,
								 .note = "",
								 .run = r->run,
								 .verdict = r->causes[i].verdict });
	for (size_t i = 0; i < r->n_factors; i++)
		if (is_verdict(r->factors[i].verdict) && vprof_results_cause_of(r, i) == r->n_causes)
			add(list, (struct vprof_listed_verdict){ .interval = r->interval,
								 .key = r->factors[i].key,
								 .name = r->factors[i].name,
								 .note = "",
								 .run = r->run,
								 .verdict = r->factors[i].verdict });
}

static int is_in(const struct vprof_results *r, const char *key)
{
	for (size_t i = 0; r && i < r->n_factors; i++)
		if (!strcmp(r->factors[i].key, key))
			return 1;
	return 0;
}

int vprof_verdict_list_make(struct vprof_verdict_list *list, const struct vprof_session *s,
			    const struct vprof_results *r)
{
	size_t most = s->reviews.n + s->n_verdicts + (r ? r->n_causes + r->n_factors : 0);

	*list = (struct vprof_verdict_list){ .items = calloc(most + 1, sizeof *list->items) };
	if (!list->items)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < s->reviews.n; i++) {
		const struct vprof_review *v = &s->reviews.items[i];

		add(list, (struct vprof_listed_verdict){ .review = v,
							 .interval = v->interval,
							 .key = v->key,
							 .name = v->name,
							 .note = v->note,
							 .run = v->run,
							 .verdict = v->verdict });
	}
	if (r)
		add_results(list, r);
	for (size_t i = 0; i < s->n_verdicts; i++)
		if (is_verdict(s->verdicts[i].verdict) && !is_in(r, s->verdicts[i].key))
			add(list, (struct vprof_listed_verdict){ .interval = s->interval ? s->interval :
									     r		 ? r->interval :
											   "",
								 .key = s->verdicts[i].key,
								 .name = s->verdicts[i].key,
								 .note = "",
								 .run = "",
								 .verdict = s->verdicts[i].verdict });
	return VPROF_OK;
}

void vprof_verdict_list_release(struct vprof_verdict_list *list)
{
	free(list->items);
	*list = (struct vprof_verdict_list){ 0 };
}

char *vprof_verdict_list_json(const struct vprof_verdict_list *list, const struct vprof_session *s)
{
	cJSON *root = cJSON_CreateObject(), *array;
	char *text;

	cJSON_AddNumberToObject(root, "version", 1);
	array = cJSON_AddArrayToObject(root, "verdicts");
	for (size_t i = 0; i < list->n; i++) {
		const struct vprof_listed_verdict *v = &list->items[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "interval", v->interval);
		cJSON_AddStringToObject(item, "key", v->key);
		cJSON_AddStringToObject(item, "name", v->name);
		cJSON_AddStringToObject(item, "verdict", vprof_verdict_names[v->verdict]);
		cJSON_AddStringToObject(item, "by", v->review ? "person" : "rule");
		cJSON_AddStringToObject(item, "note", v->note);
		cJSON_AddStringToObject(item, "run", v->run);
		cJSON_AddStringToObject(item, "date", v->review ? v->review->date : "");
		cJSON_AddItemToArray(array, item);
	}
	cJSON_AddItemToObject(root, "closed", vprof_session_closed_json(s));
	text = cJSON_Print(root);
	cJSON_Delete(root);
	return text;
}
