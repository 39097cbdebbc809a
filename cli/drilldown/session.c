/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/session.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/results/results.h"
#include "common/files.h"

#define SESSION_VERSION 1

static const char *const state_names[] = { "open", "built", "ran", "analysed", "decided" };

const char *const vprof_ending_texts[] = {
	[VPROF_ENDING_NONE] = "",
	[VPROF_ENDING_MAX] = "the maximum number of rounds is reached (--max)",
	[VPROF_ENDING_CHOSEN] = "what was chosen is as specific as it gets, other factors are not",
	[VPROF_ENDING_ALL_MEASURED] = "no factor above the threshold contains anything that is not measured yet",
	[VPROF_ENDING_UNSETTLED] = "runs differ too much to tell what to break down next",
	[VPROF_ENDING_REPEATED] = "rounds were repeated as often as a drill-down may",
};

int vprof_name_list_has(const struct vprof_name_list *list, const char *name, const char *file, const char *caller)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->items[i].name, name) && !strcmp(list->items[i].file, file ? file : "") &&
		    !strcmp(list->items[i].caller, caller ? caller : ""))
			return 1;
	return 0;
}

int vprof_name_list_add(struct vprof_name_list *list, const char *name, const char *file, const char *caller)
{
	struct vprof_name copy, *grown;

	if (vprof_name_list_has(list, name, file, caller))
		return 0;
	copy.name = strdup(name);
	copy.file = strdup(file ? file : "");
	copy.caller = strdup(caller ? caller : "");
	grown = realloc(list->items, (list->n + 1) * sizeof *grown);
	if (grown)
		list->items = grown;
	if (!grown || !copy.name || !copy.file || !copy.caller) {
		free((char *)copy.name);
		free((char *)copy.file);
		free((char *)copy.caller);
		return VPROF_ERR_NOMEM;
	}
	list->items[list->n++] = copy;
	return 1;
}

void vprof_name_list_remove(struct vprof_name_list *list, size_t i)
{
	free((char *)list->items[i].name);
	free((char *)list->items[i].file);
	free((char *)list->items[i].caller);
	list->n--;
	memmove(list->items + i, list->items + i + 1, (list->n - i) * sizeof *list->items);
}

void vprof_name_list_release(struct vprof_name_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free((char *)list->items[i].name);
		free((char *)list->items[i].file);
		free((char *)list->items[i].caller);
	}
	free(list->items);
	*list = (struct vprof_name_list){ 0 };
}

static void free_closed(const struct vprof_closed *c)
{
	free((char *)c->name);
	free((char *)c->file);
	free((char *)c->caller);
	free((char *)c->display);
	free((char *)c->run);
}

int vprof_session_close(struct vprof_session *s, const struct vprof_closed *closed)
{
	struct vprof_closed copy = *closed, *grown = realloc(s->closed, (s->n_closed + 1) * sizeof *grown);

	if (grown)
		s->closed = grown;
	copy.name = strdup(closed->name);
	copy.file = strdup(closed->file);
	copy.caller = strdup(closed->caller);
	copy.display = strdup(closed->display);
	copy.run = strdup(closed->run);
	if (!grown || !copy.name || !copy.file || !copy.caller || !copy.display || !copy.run) {
		free_closed(&copy);
		return VPROF_ERR_NOMEM;
	}
	for (size_t i = s->n_closed; i-- > 0;)
		if (!strcmp(s->closed[i].name, copy.name) && !strcmp(s->closed[i].file, copy.file) &&
		    !strcmp(s->closed[i].caller, copy.caller))
			vprof_session_open_again(s, i);
	s->closed[s->n_closed++] = copy;
	return VPROF_OK;
}

void vprof_session_open_again(struct vprof_session *s, size_t i)
{
	free_closed(&s->closed[i]);
	s->n_closed--;
	memmove(s->closed + i, s->closed + i + 1, (s->n_closed - i) * sizeof *s->closed);
}

void vprof_session_init(struct vprof_session *s)
{
	*s = (struct vprof_session){ .threshold = 0.02,
				     .effect = VPROF_EFFECT_TOLD,
				     .k = 3,
				     .baseline_mean_ns = NAN,
				     .baseline_low = NAN,
				     .baseline_high = NAN,
				     .baseline_preempted_ns = NAN };
}

void vprof_session_release(struct vprof_session *s)
{
	free(s->interval);
	free(s->run_command);
	for (size_t i = 0; i < s->n_verdicts; i++)
		free(s->verdicts[i].key);
	free(s->verdicts);
	vprof_reviews_release(&s->reviews);
	free(s->rounds);
	vprof_name_list_release(&s->roots);
	vprof_name_list_release(&s->broken_down);
	vprof_name_list_release(&s->every_call);
	while (s->n_closed)
		vprof_session_open_again(s, s->n_closed - 1);
	free(s->closed);
	vprof_name_list_release(&s->keep_open);
	vprof_session_init(s);
}

void vprof_session_reread_verdicts(struct vprof_session *s, const struct vprof_project *p)
{
	struct vprof_reviews now;

	if (vprof_reviews_load(&now, p->verdicts, NULL))
		return;
	vprof_reviews_release(&s->reviews);
	s->reviews = now;
}

enum vprof_verdict vprof_session_verdict(const struct vprof_session *s, const char *key)
{
	for (size_t i = 0; i < s->n_verdicts; i++)
		if (!strcmp(s->verdicts[i].key, key))
			return s->verdicts[i].verdict;
	return VPROF_VERDICT_NONE;
}

int vprof_session_judge(struct vprof_session *s, const char *key, enum vprof_verdict verdict)
{
	struct vprof_judgement *grown;
	char *key_copy;

	for (size_t i = 0; i < s->n_verdicts; i++)
		if (!strcmp(s->verdicts[i].key, key)) {
			s->verdicts[i].verdict = verdict;
			return VPROF_OK;
		}
	key_copy = strdup(key);
	grown = realloc(s->verdicts, (s->n_verdicts + 1) * sizeof *grown);
	if (grown)
		s->verdicts = grown;
	if (!grown || !key_copy) {
		free(key_copy);
		return VPROF_ERR_NOMEM;
	}
	s->verdicts[s->n_verdicts++] = (struct vprof_judgement){ key_copy, verdict };
	return VPROF_OK;
}

int vprof_session_add_round(struct vprof_session *s, const char *run)
{
	struct vprof_round *grown = realloc(s->rounds, (s->n_rounds + 1) * sizeof *grown);

	if (!grown)
		return VPROF_ERR_NOMEM;
	s->rounds = grown;
	grown[s->n_rounds] = (struct vprof_round){ .state = VPROF_ROUND_OPEN, .n_runs_wanted = 1 };
	snprintf(grown[s->n_rounds].run.s, sizeof grown->run.s, "%s", run);
	s->n_rounds++;
	return VPROF_OK;
}

struct vprof_decisions vprof_session_decisions(const struct vprof_session *s)
{
	return (struct vprof_decisions){ .roots = s->roots.items,
					 .n_roots = s->roots.n,
					 .broken_down = s->broken_down.items,
					 .n_broken_down = s->broken_down.n,
					 .every_call = s->every_call.items,
					 .n_every_call = s->every_call.n,
					 .closed = s->closed,
					 .n_closed = s->n_closed,
					 .live = s->is_live };
}

static const char *text_of(const cJSON *object, const char *key)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(value) ? value->valuestring : NULL;
}

static cJSON *names_json(const struct vprof_name_list *list)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < list->n; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "name", list->items[i].name);
		if (*list->items[i].file)
			cJSON_AddStringToObject(item, "file", list->items[i].file);
		if (*list->items[i].caller)
			cJSON_AddStringToObject(item, "caller", list->items[i].caller);
		cJSON_AddItemToArray(array, item);
	}
	return array;
}

cJSON *vprof_session_closed_json(const struct vprof_session *s)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < s->n_closed; i++)
		cJSON_AddItemToArray(array, vprof_closed_json(&s->closed[i]));
	return array;
}

static cJSON *session_json(const struct vprof_session *s)
{
	cJSON *root = cJSON_CreateObject(), *verdicts, *rounds;

	cJSON_AddNumberToObject(root, "version", SESSION_VERSION);
	cJSON_AddNumberToObject(root, "k", (double)s->k);
	cJSON_AddNumberToObject(root, "threshold", s->threshold);
	if (s->interval)
		cJSON_AddStringToObject(root, "interval", s->interval);
	if (s->run_command)
		cJSON_AddStringToObject(root, "run_command", s->run_command);
	cJSON_AddStringToObject(root, "annotations_hash", s->annotations_hash);
	if (isfinite(s->baseline_mean_ns))
		cJSON_AddNumberToObject(root, "baseline_mean_ns", s->baseline_mean_ns);
	if (isfinite(s->baseline_preempted_ns))
		cJSON_AddNumberToObject(root, "baseline_preempted_ns", s->baseline_preempted_ns);
	if (isfinite(s->baseline_low) && isfinite(s->baseline_high)) {
		cJSON_AddNumberToObject(root, "baseline_low", s->baseline_low);
		cJSON_AddNumberToObject(root, "baseline_high", s->baseline_high);
	}
	cJSON_AddItemToObject(root, "roots", names_json(&s->roots));
	cJSON_AddItemToObject(root, "broken_down", names_json(&s->broken_down));
	if (s->every_call.n)
		cJSON_AddItemToObject(root, "every_call", names_json(&s->every_call));
	if (s->n_closed)
		cJSON_AddItemToObject(root, "closed", vprof_session_closed_json(s));
	if (s->keep_open.n)
		cJSON_AddItemToObject(root, "keep_open", names_json(&s->keep_open));
	verdicts = cJSON_AddObjectToObject(root, "verdicts");
	for (size_t i = 0; i < s->n_verdicts; i++)
		cJSON_AddStringToObject(verdicts, s->verdicts[i].key, vprof_verdict_names[s->verdicts[i].verdict]);
	rounds = cJSON_AddArrayToObject(root, "rounds");
	for (size_t i = 0; i < s->n_rounds; i++) {
		cJSON *round = cJSON_CreateObject();

		cJSON_AddStringToObject(round, "run", s->rounds[i].run.s);
		cJSON_AddStringToObject(round, "state", state_names[s->rounds[i].state]);
		cJSON_AddNumberToObject(round, "n_runs", (double)s->rounds[i].n_runs);
		cJSON_AddNumberToObject(round, "n_runs_wanted", (double)s->rounds[i].n_runs_wanted);
		cJSON_AddItemToArray(rounds, round);
	}
	if (s->ending)
		cJSON_AddStringToObject(root, "ending", vprof_ending_texts[s->ending]);
	return root;
}

int vprof_session_save(const struct vprof_session *s, const char *path, struct vprof_error *err)
{
	cJSON *root = session_json(s);
	char *text = root ? cJSON_Print(root) : NULL;
	int rc;

	if (!text)
		rc = vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory saving %s", path);
	else
		rc = vprof_file_write(path, text, strlen(text), err);
	cJSON_free(text);
	cJSON_Delete(root);
	return rc;
}

static int damaged(const char *path, const char *what, struct vprof_error *err)
{
	return vprof_error_set(
		err, VPROF_ERR_CORRUPT,
		"%s is damaged: %s. Begin a new drill-down with: vprof iterate --restart (runs are kept)",
		vprof_project_shown(path), what);
}

static int load_names(struct vprof_name_list *list, const cJSON *array)
{
	const cJSON *item;

	if (!cJSON_IsArray(array))
		return VPROF_ERR_CORRUPT;
	cJSON_ArrayForEach(item, array)
	{
		const char *name = text_of(item, "name");
		int rc;

		if (!name || !*name)
			return VPROF_ERR_CORRUPT;
		rc = vprof_name_list_add(list, name, text_of(item, "file"), text_of(item, "caller"));
		if (rc < 0)
			return rc;
	}
	return VPROF_OK;
}

static int load_closed(struct vprof_session *s, const cJSON *array)
{
	const cJSON *item;

	if (!cJSON_IsArray(array))
		return VPROF_ERR_CORRUPT;
	cJSON_ArrayForEach(item, array)
	{
		struct vprof_closed c;

		if (vprof_closed_from_json(&c, item))
			return VPROF_ERR_CORRUPT;
		if (vprof_session_close(s, &c))
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

/* In the words of this version or another. */
static enum vprof_ending ending_of(const char *text)
{
	for (int i = VPROF_ENDING_MAX; i < VPROF_ENDING_COUNT; i++)
		if (!strcmp(text, vprof_ending_texts[i]))
			return (enum vprof_ending)i;
	return strstr(text, "--max") ? VPROF_ENDING_MAX : VPROF_ENDING_CHOSEN;
}

/* Earlier versions ran each round once, and did not say so. */
static int load_n_runs(struct vprof_round *round, const cJSON *item)
{
	const cJSON *n = cJSON_GetObjectItemCaseSensitive(item, "n_runs");
	const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(item, "n_runs_wanted");

	round->n_runs = round->state >= VPROF_ROUND_RAN;
	if (!n && !wanted)
		return VPROF_OK;
	if (!cJSON_IsNumber(n) || !cJSON_IsNumber(wanted) || !(wanted->valuedouble >= 1) ||
	    !(wanted->valuedouble <= VPROF_REPEAT_MAX) || !(n->valuedouble >= 0) ||
	    !(n->valuedouble <= wanted->valuedouble))
		return VPROF_ERR_CORRUPT;
	round->n_runs = (size_t)n->valuedouble;
	round->n_runs_wanted = (size_t)wanted->valuedouble;
	return VPROF_OK;
}

/* A run name becomes part of a path: digits only. */
static int load_rounds(struct vprof_session *s, const cJSON *array)
{
	const cJSON *item;

	if (!cJSON_IsArray(array))
		return VPROF_ERR_CORRUPT;
	cJSON_ArrayForEach(item, array)
	{
		const char *run = text_of(item, "run"), *state = text_of(item, "state");
		size_t i = 0;

		if (!run || !*run || strlen(run) > 8 || run[strspn(run, "0123456789")] || !state)
			return VPROF_ERR_CORRUPT;
		while (i <= VPROF_ROUND_DECIDED && strcmp(state, state_names[i]))
			i++;
		if (i > VPROF_ROUND_DECIDED)
			return VPROF_ERR_CORRUPT;
		if (vprof_session_add_round(s, run))
			return VPROF_ERR_NOMEM;
		s->rounds[s->n_rounds - 1].state = (enum vprof_round_state)i;
		if (load_n_runs(&s->rounds[s->n_rounds - 1], item))
			return VPROF_ERR_CORRUPT;
	}
	return VPROF_OK;
}

static int load_verdicts(struct vprof_session *s, const cJSON *object)
{
	const cJSON *item;

	if (!cJSON_IsObject(object))
		return VPROF_ERR_CORRUPT;
	cJSON_ArrayForEach(item, object)
	{
		enum vprof_verdict verdict;

		if (!cJSON_IsString(item) || vprof_verdict_parse(item->valuestring, &verdict))
			return VPROF_ERR_CORRUPT;
		if (vprof_session_judge(s, item->string, verdict))
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

static int load_scalars(struct vprof_session *s, const cJSON *root)
{
	const cJSON *k = cJSON_GetObjectItemCaseSensitive(root, "k");
	const cJSON *threshold = cJSON_GetObjectItemCaseSensitive(root, "threshold");
	const cJSON *baseline = cJSON_GetObjectItemCaseSensitive(root, "baseline_mean_ns");
	const cJSON *low = cJSON_GetObjectItemCaseSensitive(root, "baseline_low");
	const cJSON *high = cJSON_GetObjectItemCaseSensitive(root, "baseline_high");
	const cJSON *preempted = cJSON_GetObjectItemCaseSensitive(root, "baseline_preempted_ns");
	const char *interval = text_of(root, "interval"), *run = text_of(root, "run_command");
	const char *hash = text_of(root, "annotations_hash"), *ending = text_of(root, "ending");

	if (!cJSON_IsNumber(k) || k->valuedouble < 1 || k->valuedouble > VPROF_K_MAX || !cJSON_IsNumber(threshold) ||
	    !(threshold->valuedouble >= 0 && threshold->valuedouble <= 1) || !hash || strlen(hash) > 16)
		return VPROF_ERR_CORRUPT;
	s->k = (long)k->valuedouble;
	s->threshold = threshold->valuedouble;
	strcpy(s->annotations_hash, hash);
	if (cJSON_IsNumber(baseline))
		s->baseline_mean_ns = baseline->valuedouble;
	if (cJSON_IsNumber(preempted))
		s->baseline_preempted_ns = preempted->valuedouble;
	if (cJSON_IsNumber(low) && cJSON_IsNumber(high)) {
		s->baseline_low = low->valuedouble;
		s->baseline_high = high->valuedouble;
	}
	s->interval = interval ? strdup(interval) : NULL;
	s->run_command = run ? strdup(run) : NULL;
	if (ending)
		s->ending = ending_of(ending);
	return (interval && !s->interval) || (run && !s->run_command) ? VPROF_ERR_NOMEM : VPROF_OK;
}

int vprof_session_load(struct vprof_session *s, const char *path, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	const cJSON *version;
	cJSON *root;
	int rc;

	vprof_session_init(s);
	rc = vprof_file_read(path, &text, err);
	if (rc) {
		vprof_text_release(&text);
		return rc;
	}
	root = cJSON_ParseWithLength(text.s, text.len);
	vprof_text_release(&text);
	version = cJSON_GetObjectItemCaseSensitive(root, "version");
	if (!root) {
		rc = damaged(path, "it is no JSON", err);
	} else if (!cJSON_IsNumber(version) || version->valuedouble != SESSION_VERSION) {
		rc = damaged(path, "it is not of this version of vprof", err);
	} else {
		rc = load_scalars(s, root);
		if (!rc)
			rc = load_names(&s->roots, cJSON_GetObjectItemCaseSensitive(root, "roots"));
		if (!rc)
			rc = load_names(&s->broken_down, cJSON_GetObjectItemCaseSensitive(root, "broken_down"));
		if (!rc && cJSON_HasObjectItem(root, "every_call"))
			rc = load_names(&s->every_call, cJSON_GetObjectItemCaseSensitive(root, "every_call"));
		if (!rc && cJSON_HasObjectItem(root, "closed"))
			rc = load_closed(s, cJSON_GetObjectItemCaseSensitive(root, "closed"));
		if (!rc && cJSON_HasObjectItem(root, "keep_open"))
			rc = load_names(&s->keep_open, cJSON_GetObjectItemCaseSensitive(root, "keep_open"));
		if (!rc)
			rc = load_verdicts(s, cJSON_GetObjectItemCaseSensitive(root, "verdicts"));
		if (!rc)
			rc = load_rounds(s, cJSON_GetObjectItemCaseSensitive(root, "rounds"));
		if (rc == VPROF_ERR_CORRUPT)
			damaged(path, "a key is missing or of the wrong kind", err);
		else if (rc)
			vprof_error_set(err, rc, "out of memory reading %s", path);
	}
	cJSON_Delete(root);
	if (rc)
		vprof_session_release(s);
	return rc;
}

int vprof_session_open(struct vprof_session *s, const struct vprof_project *p, struct vprof_error *err)
{
	int rc = vprof_session_load(s, p->session, err), other;

	if (rc && rc != VPROF_ERR_MISSING)
		return rc;
	other = vprof_reviews_load(&s->reviews, p->verdicts, err);
	return other ? other : rc;
}
