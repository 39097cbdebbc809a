/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's data: results.json itself but for its pairs, of which only the largest are kept, as rows of numbers (a
 * tree of 20,000 nodes may have a million); the session; excerpts of the sources.
 */
#include "report/page.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/results/results_json.h"
#include "report/excerpts.h"
#include "report/page_fill.h"
#include "report/page_template.h"
#include "report/report.h"

#define PAIRS_MAX 20000

int vprof_page_round_fill(struct vprof_page_round *round, const struct vprof_results *r)
{
	round->is_analysed = 1;
	round->inconclusive = r->inconclusive;
	round->n_complete = r->n_complete;
	round->mean_ns = r->mean_ns;
	round->sd_ns = r->sd_ns;
	round->p50_ns = r->p50_ns;
	round->p99_ns = r->p99_ns;
	for (size_t i = 0; i < r->n_factors && round->n_top < VPROF_PAGE_ROUND_FACTORS; i++) {
		struct vprof_page_factor *top = &round->top[round->n_top++];

		top->name = strdup(r->factors[i].name ? r->factors[i].name : "");
		top->share = r->factors[i].share;
		if (!top->name)
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

void vprof_page_round_release(struct vprof_page_round *round)
{
	free(round->run);
	free(round->state);
	for (size_t i = 0; i < round->n_top; i++)
		free(round->top[i].name);
	*round = (struct vprof_page_round){ 0 };
}

static int push_number(cJSON *array, double x)
{
	cJSON *v = isfinite(x) ? cJSON_CreateNumber(x) : cJSON_CreateNull();

	return v && cJSON_AddItemToArray(array, v);
}

struct pair {
	double weight;
	uint32_t index;
};

static int heavier(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Rows [index, a, b, share, r, factor] of the largest pairs, in place of the list of all. */
static int replace_pairs(cJSON *results, const struct vprof_results *r)
{
	struct pair *order = calloc(r->n_covariances ? r->n_covariances : 1, sizeof *order);
	cJSON *rows = cJSON_CreateArray();
	size_t n = r->n_covariances < PAIRS_MAX ? r->n_covariances : PAIRS_MAX;
	int ok = order && rows;

	for (size_t i = 0; ok && i < r->n_covariances; i++)
		order[i] = (struct pair){ isfinite(r->covariances[i].share) ? fabs(r->covariances[i].share) : 0,
					  (uint32_t)i };
	if (ok)
		qsort(order, r->n_covariances, sizeof *order, heavier);
	for (size_t i = 0; ok && i < n; i++) {
		const struct vprof_covariance *c = &r->covariances[order[i].index];
		cJSON *row = cJSON_CreateArray();

		ok = row && cJSON_AddItemToArray(rows, row) && push_number(row, order[i].index) &&
		     push_number(row, c->a) && push_number(row, c->b) && push_number(row, c->share) &&
		     push_number(row, c->r) && push_number(row, c->factor);
	}
	free(order);
	if (ok && cJSON_ReplaceItemInObjectCaseSensitive(results, "covariances", rows))
		return cJSON_AddNumberToObject(results, "n_covariances", (double)r->n_covariances) != NULL;
	cJSON_Delete(rows);
	return 0;
}

#define CONTEXTS_SHOWN 16
#define PROFILE_SHOWN 0.003 /* of the context's time, of a node */

static double number_of(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

/* The page shows the heaviest contexts, and of their trees what can be seen. */
static int trim_contexts(cJSON *results, const struct vprof_results *r)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(results, "contexts"), *context;

	while (cJSON_GetArraySize(list) > CONTEXTS_SHOWN)
		cJSON_DeleteItemFromArray(list, CONTEXTS_SHOWN);
	cJSON_ArrayForEach(context, list)
	{
		cJSON *profile = cJSON_GetObjectItemCaseSensitive(context, "profile"),
		      *n = profile ? profile->child : NULL;
		double least = PROFILE_SHOWN * number_of(context, "total_ns");

		while (n) { /* callees are lighter than their caller: they go with it */
			cJSON *next = n->next;

			if (number_of(n, "total_ns") < least)
				cJSON_Delete(cJSON_DetachItemViaPointer(profile, n));
			n = next;
		}
	}
	return cJSON_AddNumberToObject(results, "n_contexts", (double)(r->n_contexts + r->n_contexts_left)) != NULL;
}

/* Adds the sentence of each cause, in the words of the text report. */
static int add_sentences(cJSON *results, const struct vprof_results *r)
{
	cJSON *cause = cJSON_GetObjectItemCaseSensitive(results, "causes");
	size_t i = 0;

	for (cause = cause ? cause->child : NULL; cause && i < r->n_causes; cause = cause->next, i++) {
		struct vprof_text t = VPROF_TEXT_INIT;
		int ok;

		vprof_report_cause_sentence(r, &r->causes[i], &t);
		ok = vprof_json_add_string(cause, "sentence", t.s);
		vprof_text_release(&t);
		if (!ok)
			return 0;
	}
	return 1;
}

static int add_rounds(cJSON *o, const struct vprof_page *p)
{
	cJSON *list = cJSON_AddArrayToObject(o, "rounds");
	int ok = list != NULL;

	for (size_t i = 0; ok && i < p->n_rounds; i++) {
		const struct vprof_page_round *round = &p->rounds[i];
		cJSON *x = vprof_json_add_object(list), *top;

		ok = x && vprof_json_add_string(x, "run", round->run) &&
		     vprof_json_add_string(x, "state", round->state) &&
		     vprof_json_add_number(x, "is_analysed", round->is_analysed) &&
		     vprof_json_add_number(x, "inconclusive", round->inconclusive) &&
		     vprof_json_add_number(x, "n_complete", (double)round->n_complete) &&
		     vprof_json_add_number(x, "mean_ns", round->mean_ns) &&
		     vprof_json_add_number(x, "sd_ns", round->sd_ns) &&
		     vprof_json_add_number(x, "p50_ns", round->p50_ns) &&
		     vprof_json_add_number(x, "p99_ns", round->p99_ns);
		top = ok ? cJSON_AddArrayToObject(x, "top") : NULL;
		for (size_t k = 0; top && k < round->n_top; k++) {
			cJSON *t = vprof_json_add_object(top);

			ok &= t && vprof_json_add_string(t, "name", round->top[k].name) &&
			      vprof_json_add_number(t, "share", round->top[k].share);
		}
		ok &= top != NULL;
	}
	return ok;
}

static int add_verdicts(cJSON *o, const struct vprof_page *p)
{
	cJSON *list = cJSON_AddArrayToObject(o, "verdicts");
	int ok = list != NULL;

	for (size_t i = 0; ok && i < p->n_verdicts; i++) {
		cJSON *x = vprof_json_add_object(list);

		ok = x && vprof_json_add_string(x, "key", p->verdicts[i].key) &&
		     vprof_json_add_string(x, "verdict", vprof_verdict_names[p->verdicts[i].verdict]) &&
		     vprof_json_add_string(x, "name", p->verdicts[i].name) &&
		     vprof_json_add_string(x, "note", p->verdicts[i].note) &&
		     vprof_json_add_string(x, "run", p->verdicts[i].run) &&
		     vprof_json_add_string(x, "date", p->verdicts[i].date);
	}
	return ok;
}

static int add_views(cJSON *o, const struct vprof_page *p)
{
	cJSON *views = cJSON_AddObjectToObject(o, "views");
	int ok = views && vprof_json_add_number(o, "views_only", p->views_only);

	for (size_t i = 0; ok && i < p->n_views; i++) {
		const struct vprof_page_view *v = &p->views[i];

		if (v->data) {
			ok = cJSON_AddItemReferenceToObject(views, v->name, (cJSON *)v->data);
		} else {
			cJSON *none = cJSON_AddObjectToObject(views, v->name);

			ok = none && vprof_json_add_string(none, "missing", v->missing);
		}
	}
	return ok;
}

static cJSON *data_of(const struct vprof_page *p)
{
	cJSON *o = cJSON_CreateObject(), *results = vprof_results_json(p->results), *excerpts;
	int ok = o && results && cJSON_AddItemToObject(o, "results", results);

	if (!ok) {
		cJSON_Delete(results);
		cJSON_Delete(o);
		return NULL;
	}
	excerpts = vprof_excerpts(p->results, p->facts, p->root, p->run_time);
	ok = excerpts && cJSON_AddItemToObject(o, "excerpts", excerpts);
	ok = ok && replace_pairs(results, p->results) && trim_contexts(results, p->results) &&
	     add_sentences(results, p->results) && vprof_json_add_string(o, "root", p->root) &&
	     vprof_json_add_string(o, "vprof", p->version) && vprof_json_add_string(o, "date", p->run_date) &&
	     vprof_json_add_string(o, "ending", p->ending) && add_rounds(o, p) && add_verdicts(o, p) && add_views(o, p);
	if (ok)
		return o;
	cJSON_Delete(o);
	return NULL;
}

int vprof_report_page(const struct vprof_page *p, struct vprof_text *out, struct vprof_error *err)
{
	cJSON *data = data_of(p);
	int ret = vprof_page_fill(vprof_page_template, data, out, err);

	cJSON_Delete(data);
	return ret;
}
