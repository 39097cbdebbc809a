/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/verdict_list.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

static void add(struct vprof_verdict_list *list, struct vprof_listed_verdict v)
{
	if (!v.verdict || v.verdict == VPROF_VERDICT_BROKEN_DOWN)
		return;
	for (size_t i = 0; i < list->n; i++) /* a person's stands before a rule's */
		if (!strcmp(list->items[i].key, v.key) && !strcmp(list->items[i].interval, v.interval))
			return;
	list->items[list->n++] = v;
}

/* Those of the results: causes, then factors that belong to none. */
static void add_results(struct vprof_verdict_list *list, const struct vprof_results *r)
{
	struct vprof_listed_verdict v = { .interval = r->interval, .note = "", .run = r->run };

	for (size_t i = 0; i < r->n_causes; i++) {
		v.key = r->causes[i].key;
		v.name = r->causes[i].name;
		v.verdict = r->causes[i].verdict;
		add(list, v);
	}
	for (size_t i = 0; i < r->n_factors; i++) {
		if (vprof_results_cause_of(r, i) < r->n_causes)
			continue;
		v.key = r->factors[i].key;
		v.name = r->factors[i].name;
		v.verdict = r->factors[i].verdict;
		add(list, v);
	}
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
	const char *interval = s->interval ? s->interval : r ? r->interval : "";

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
	for (size_t i = 0; i < s->n_verdicts; i++) {
		const char *key = s->verdicts[i].key;

		if (!is_in(r, key))
			add(list, (struct vprof_listed_verdict){ .interval = interval,
								 .key = key,
								 .name = key,
								 .note = "",
								 .run = "",
								 .verdict = s->verdicts[i].verdict });
	}
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
