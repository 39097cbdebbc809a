/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.json and the plan in memory.
 *
 * Invariant: probes are sorted by code and no code occurs twice; every string belongs to the plan. What is read
 * from a file satisfies the same ranges as what plan_make produces, or the file is refused.
 */
#include "common/plan.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/search.h"
#include "common/text.h"

#define PLAN_VERSION 1
#define PLAN_CODE_LIMIT (1u << 24)

struct plan_string {
	struct plan_string *next;
	char s[];
};

struct vprof_plan_private {
	struct plan_string *strings;
	size_t cap, cap_calls;
};

static const char *const kind_names[] = { "function", "site", "pointer" };

static const char *plan_strdup(struct vprof_plan *plan, const char *s)
{
	size_t n = strlen(s ? s : "") + 1;
	struct plan_string *copy = malloc(sizeof *copy + n);

	if (!copy)
		return NULL;
	memcpy(copy->s, s ? s : "", n);
	copy->next = plan->private->strings;
	plan->private->strings = copy;
	return copy->s;
}

struct vprof_plan *vprof_plan_new(const char *root)
{
	struct vprof_plan *plan = calloc(1, sizeof *plan);

	if (!plan)
		return NULL;
	plan->private = calloc(1, sizeof *plan->private);
	if (!plan->private || !(plan->root = plan_strdup(plan, root))) {
		vprof_plan_free(plan);
		return NULL;
	}
	return plan;
}

void vprof_plan_free(struct vprof_plan *plan)
{
	if (!plan)
		return;
	if (plan->private) {
		for (struct plan_string *s = plan->private->strings, *next; s; s = next) {
			next = s->next;
			free(s);
		}
		free(plan->private);
	}
	free(plan->probes);
	free(plan->at_calls);
	free(plan->closed);
	free(plan);
}

/* Index of the first probe whose code is not below `code`. */
static size_t lower_bound(const struct vprof_plan *plan, uint32_t code)
{
	return VPROF_BISECT(plan->n_probes, i, plan->probes[i].code < code);
}

const struct vprof_probe *vprof_plan_probe(const struct vprof_plan *plan, uint32_t code)
{
	size_t i = lower_bound(plan, code);

	return i < plan->n_probes && plan->probes[i].code == code ? &plan->probes[i] : NULL;
}

size_t vprof_plan_every_call(const struct vprof_plan *plan, uint32_t *codes, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_probes && n < max; i++)
		if (plan->probes[i].every_call)
			codes[n++] = plan->probes[i].code;
	return n;
}

static void merge(struct vprof_probe *into, const struct vprof_probe *probe)
{
	into->mask |= probe->mask;
	into->is_root |= probe->is_root;
	into->every_call |= probe->every_call;
	into->is_changed |= probe->is_changed;
	if (probe->broken_down && !into->broken_down) {
		into->broken_down = 1;
		into->context = probe->context;
	}
}

int vprof_plan_add(struct vprof_plan *plan, const struct vprof_probe *probe)
{
	size_t i = lower_bound(plan, probe->code);
	struct vprof_probe copy = *probe;

	if (i < plan->n_probes && plan->probes[i].code == probe->code) {
		merge(&plan->probes[i], probe);
		return VPROF_OK;
	}
	if (plan->n_probes == plan->private->cap) {
		size_t cap = plan->private->cap ? plan->private->cap * 2 : 64;
		struct vprof_probe *grown = realloc(plan->probes, cap * sizeof *grown);

		if (!grown)
			return VPROF_ERR_NOMEM;
		plan->probes = grown;
		plan->private->cap = cap;
	}
	copy.name = plan_strdup(plan, probe->name);
	copy.display = plan_strdup(plan, probe->display);
	copy.file = plan_strdup(plan, probe->file);
	copy.caller = plan_strdup(plan, probe->caller);
	if (!copy.name || !copy.display || !copy.file || !copy.caller)
		return VPROF_ERR_NOMEM;
	memmove(plan->probes + i + 1, plan->probes + i, (plan->n_probes - i) * sizeof *plan->probes);
	plan->probes[i] = copy;
	plan->n_probes++;
	return VPROF_OK;
}

int vprof_plan_add_call(struct vprof_plan *plan, const struct vprof_plan_call *call)
{
	size_t i = plan->n_at_calls;

	while (i > 0 && plan->at_calls[i - 1].call > call->call)
		i--;
	if (i > 0 && plan->at_calls[i - 1].call == call->call) {
		plan->at_calls[i - 1].mask |= call->mask;
		return VPROF_OK;
	}
	if (plan->n_at_calls == plan->private->cap_calls) {
		size_t cap = plan->private->cap_calls ? plan->private->cap_calls * 2 : 64;
		struct vprof_plan_call *grown = realloc(plan->at_calls, cap * sizeof *grown);

		if (!grown)
			return VPROF_ERR_NOMEM;
		plan->at_calls = grown;
		plan->private->cap_calls = cap;
	}
	memmove(plan->at_calls + i + 1, plan->at_calls + i, (plan->n_at_calls - i) * sizeof *plan->at_calls);
	plan->at_calls[i] = *call;
	plan->n_at_calls++;
	return VPROF_OK;
}

int vprof_plan_add_closed(struct vprof_plan *plan, const struct vprof_closed *closed)
{
	struct vprof_closed *grown = realloc(plan->closed, (plan->n_closed + 1) * sizeof *grown), copy = *closed;

	if (!grown)
		return VPROF_ERR_NOMEM;
	plan->closed = grown;
	copy.name = plan_strdup(plan, closed->name);
	copy.file = plan_strdup(plan, closed->file);
	copy.caller = plan_strdup(plan, closed->caller);
	copy.display = plan_strdup(plan, closed->display);
	copy.run = plan_strdup(plan, closed->run);
	if (!copy.name || !copy.file || !copy.caller || !copy.display || !copy.run)
		return VPROF_ERR_NOMEM;
	grown[plan->n_closed++] = copy;
	return VPROF_OK;
}

static int hosts_to_json(cJSON *o, const struct vprof_probe *p)
{
	cJSON *hosts = cJSON_AddArrayToObject(o, "hosts");
	int is_whole = hosts != NULL;

	for (size_t i = 0; i < VPROF_HOSTS_MAX && p->hosts[i] && is_whole; i++) {
		cJSON *code = cJSON_CreateNumber(p->hosts[i]);

		is_whole = code && cJSON_AddItemToArray(hosts, code);
	}
	return is_whole;
}

static void hosts_from_json(struct vprof_probe *p, const cJSON *o)
{
	const cJSON *code;
	size_t n = 0;

	cJSON_ArrayForEach(code, cJSON_GetObjectItemCaseSensitive(o, "hosts"))
	{
		if (n < VPROF_HOSTS_MAX && cJSON_IsNumber(code) && code->valuedouble > 0 &&
		    code->valuedouble < UINT32_MAX)
			p->hosts[n++] = (uint32_t)code->valuedouble;
	}
}

static int probe_to_json(cJSON *list, const struct vprof_probe *p)
{
	cJSON *o = cJSON_CreateObject();
	char mask[24];

	if (!o)
		return 0;
	cJSON_AddItemToArray(list, o);
	snprintf(mask, sizeof mask, "%#" PRIx64, p->mask);
	return cJSON_AddNumberToObject(o, "code", p->code) && cJSON_AddStringToObject(o, "kind", kind_names[p->kind]) &&
	       cJSON_AddNumberToObject(o, "fact", p->fact_id) && cJSON_AddStringToObject(o, "mask", mask) &&
	       cJSON_AddNumberToObject(o, "context", p->context) && cJSON_AddBoolToObject(o, "root", p->is_root) &&
	       cJSON_AddBoolToObject(o, "broken_down", p->broken_down) &&
	       (!p->every_call || cJSON_AddBoolToObject(o, "every_call", 1)) &&
	       (!p->is_changed || cJSON_AddBoolToObject(o, "changed", 1)) && (!*p->hosts || hosts_to_json(o, p)) &&
	       cJSON_AddNumberToObject(o, "height", p->height) &&
	       cJSON_AddNumberToObject(o, "children", p->n_children) && cJSON_AddStringToObject(o, "name", p->name) &&
	       cJSON_AddStringToObject(o, "display", p->display) && cJSON_AddStringToObject(o, "file", p->file) &&
	       cJSON_AddNumberToObject(o, "line", p->line) && cJSON_AddStringToObject(o, "caller", p->caller) &&
	       cJSON_AddNumberToObject(o, "caller_line", p->caller_line);
}

static int call_to_json(cJSON *list, const struct vprof_plan_call *c)
{
	cJSON *o = cJSON_CreateObject();
	char mask[24];

	if (!o)
		return 0;
	cJSON_AddItemToArray(list, o);
	snprintf(mask, sizeof mask, "%#" PRIx64, c->mask);
	return cJSON_AddNumberToObject(o, "call", c->call) && cJSON_AddNumberToObject(o, "code", c->code) &&
	       cJSON_AddStringToObject(o, "mask", mask);
}

cJSON *vprof_closed_json(const struct vprof_closed *c)
{
	cJSON *o = cJSON_CreateObject();

	if (cJSON_AddStringToObject(o, "name", c->name) && cJSON_AddStringToObject(o, "display", c->display) &&
	    cJSON_AddStringToObject(o, "file", c->file) && cJSON_AddNumberToObject(o, "line", c->line) &&
	    cJSON_AddStringToObject(o, "caller", c->caller) && cJSON_AddNumberToObject(o, "bound", c->bound) &&
	    cJSON_AddNumberToObject(o, "saved_ns", c->saved_ns) && cJSON_AddNumberToObject(o, "saved", c->saved) &&
	    cJSON_AddStringToObject(o, "run", c->run))
		return o;
	cJSON_Delete(o);
	return NULL;
}

int vprof_plan_write(const struct vprof_plan *plan, const char *path, struct vprof_error *err)
{
	cJSON *top = cJSON_CreateObject(), *list;
	char *text = NULL;
	int ok, rc;

	ok = top && cJSON_AddNumberToObject(top, "version", PLAN_VERSION) &&
	     cJSON_AddStringToObject(top, "root", plan->root) && cJSON_AddBoolToObject(top, "all", plan->all) &&
	     (!plan->number || cJSON_AddNumberToObject(top, "number", plan->number)) &&
	     (!plan->live || cJSON_AddTrueToObject(top, "live")) &&
	     cJSON_AddNumberToObject(top, "graph_height", plan->graph_height);
	list = ok ? cJSON_AddArrayToObject(top, "probes") : NULL;
	ok = ok && list;
	for (size_t i = 0; ok && i < plan->n_probes; i++)
		ok = probe_to_json(list, &plan->probes[i]);
	list = ok && plan->n_at_calls ? cJSON_AddArrayToObject(top, "at_calls") : NULL;
	ok = ok && (list || !plan->n_at_calls);
	for (size_t i = 0; ok && i < plan->n_at_calls; i++)
		ok = call_to_json(list, &plan->at_calls[i]);
	list = ok && plan->n_closed ? cJSON_AddArrayToObject(top, "closed") : NULL;
	ok = ok && (list || !plan->n_closed);
	for (size_t i = 0; ok && i < plan->n_closed; i++)
		ok = cJSON_AddItemToArray(list, vprof_closed_json(&plan->closed[i]));
	if (ok)
		text = cJSON_Print(top);
	if (text)
		rc = vprof_file_write(path, text, strlen(text), err);
	else
		rc = vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory writing %s", path);
	cJSON_free(text);
	cJSON_Delete(top);
	return rc;
}

/* A whole number in [0, max], or -1. */
static double whole(const cJSON *o, const char *key, double max)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble <= max) ||
	    v->valuedouble != (double)(uint64_t)v->valuedouble)
		return -1;
	return v->valuedouble;
}

static const char *string(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(v) ? v->valuestring : NULL;
}

static int parse_mask(const char *s, uint64_t *mask)
{
	char *end;

	if (!s || s[0] != '0' || (s[1] != 'x' && s[1]))
		return 0;
	*mask = strtoull(s, &end, 16);
	return !*end && strlen(s) <= 18;
}

/* NULL, or the key that is wrong. */
static const char *probe_from_json(const cJSON *o, struct vprof_probe *p)
{
	const char *kind = string(o, "kind");
	double code = whole(o, "code", PLAN_CODE_LIMIT - 1), fact = whole(o, "fact", UINT32_MAX);
	double context = whole(o, "context", 63), height = whole(o, "height", UINT32_MAX);
	double children = whole(o, "children", UINT32_MAX), line = whole(o, "line", INT32_MAX);
	double caller_line = whole(o, "caller_line", INT32_MAX);
	size_t k = 0;

	memset(p, 0, sizeof *p);
	while (kind && k < 3 && strcmp(kind, kind_names[k]))
		k++;
	p->name = string(o, "name");
	p->display = string(o, "display");
	p->file = string(o, "file");
	p->caller = string(o, "caller");
	if (!kind || k == 3)
		return "kind";
	if (code < 0)
		return "code";
	if (fact < 0)
		return "fact";
	if (context < 0)
		return "context";
	if (height < 0)
		return "height";
	if (children < 0)
		return "children";
	if (line < 0 || caller_line < 0)
		return "line";
	if (!p->name || !p->display || !p->file || !p->caller)
		return "name, display, file or caller";
	if (!parse_mask(string(o, "mask"), &p->mask))
		return "mask";
	p->kind = (enum vprof_probe_kind)k;
	p->code = (uint32_t)code;
	p->fact_id = (uint32_t)fact;
	p->context = (int)context;
	p->height = (uint32_t)height;
	p->n_children = (uint32_t)children;
	p->line = (int)line;
	p->caller_line = (int)caller_line;
	p->is_root = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "root"));
	p->broken_down = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "broken_down"));
	p->every_call = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "every_call"));
	p->is_changed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "changed"));
	hosts_from_json(p, o);
	return NULL;
}

/* The list of calls, when there is one. */
static int calls_from_json(struct vprof_plan *plan, const cJSON *top, const char *path, struct vprof_error *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(top, "at_calls"), *o;
	size_t i = 0;

	if (list && !cJSON_IsArray(list))
		return vprof_error_set(err, VPROF_ERR_CORRUPT,
				       "%s is damaged: at_calls is not a list; run `vprof run` again", path);
	cJSON_ArrayForEach(o, list)
	{
		double call = whole(o, "call", UINT32_MAX), code = whole(o, "code", PLAN_CODE_LIMIT - 1);
		struct vprof_plan_call c;

		if (call < 0 || code < 0 || !parse_mask(string(o, "mask"), &c.mask))
			return vprof_error_set(err, VPROF_ERR_CORRUPT,
					       "%s is damaged: at_calls[%zu] is wrong; run `vprof run` again", path, i);
		c.call = (uint32_t)call;
		c.code = (uint32_t)code;
		if (vprof_plan_add_call(plan, &c))
			return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory reading %s", path);
		i++;
	}
	return VPROF_OK;
}

/* A finite number that is not negative, or -1. */
static double amount(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsNumber(v) && v->valuedouble >= 0 && isfinite(v->valuedouble) ? v->valuedouble : -1;
}

int vprof_closed_from_json(struct vprof_closed *c, const cJSON *o)
{
	double line = whole(o, "line", INT32_MAX);

	*c = (struct vprof_closed){ .name = string(o, "name"),
				    .file = string(o, "file"),
				    .caller = string(o, "caller"),
				    .display = string(o, "display"),
				    .line = (int)line,
				    .bound = amount(o, "bound"),
				    .saved_ns = amount(o, "saved_ns"),
				    .saved = amount(o, "saved"),
				    .run = string(o, "run") };
	return c->name && *c->name && c->file && c->caller && c->display && c->run && line >= 0 && c->bound >= 0 &&
			       c->saved_ns >= 0 && c->saved >= 0 ?
		       VPROF_OK :
		       VPROF_ERR_CORRUPT;
}

/* The list of what was closed, when there is one. */
static int closed_from_json(struct vprof_plan *plan, const cJSON *top, const char *path, struct vprof_error *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(top, "closed"), *o;

	if (list && !cJSON_IsArray(list))
		return vprof_error_set(err, VPROF_ERR_CORRUPT,
				       "%s is damaged: closed is not a list; run `vprof run` again", path);
	cJSON_ArrayForEach(o, list)
	{
		struct vprof_closed c;

		if (vprof_closed_from_json(&c, o))
			return vprof_error_set(err, VPROF_ERR_CORRUPT,
					       "%s is damaged: closed[%zu] is wrong; run `vprof run` again", path,
					       plan->n_closed);
		if (vprof_plan_add_closed(plan, &c))
			return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory reading %s", path);
	}
	return VPROF_OK;
}

static int from_json(struct vprof_plan **out, const cJSON *top, const char *path, struct vprof_error *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(top, "probes"), *o;
	double version = whole(top, "version", 1e6), height = whole(top, "graph_height", UINT32_MAX);
	const char *root = string(top, "root");
	struct vprof_plan *plan;
	size_t i = 0;
	int rc;

	if (version != PLAN_VERSION)
		return vprof_error_set(err, VPROF_ERR_CORRUPT, "%s is not a plan of version %d; run `vprof run` again",
				       path, PLAN_VERSION);
	if (!root || height < 0 || !cJSON_IsArray(list))
		return vprof_error_set(err, VPROF_ERR_CORRUPT,
				       "%s is damaged: root, graph_height or probes is missing; run `vprof run` again",
				       path);
	plan = vprof_plan_new(root);
	if (!plan)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory reading %s", path);
	plan->all = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(top, "all"));
	plan->live = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(top, "live"));
	plan->graph_height = (uint32_t)height;
	plan->number = whole(top, "number", UINT32_MAX) > 0 ? (uint32_t)whole(top, "number", UINT32_MAX) : 0;
	cJSON_ArrayForEach(o, list)
	{
		struct vprof_probe probe;
		const char *wrong = probe_from_json(o, &probe);

		if (wrong) {
			vprof_plan_free(plan);
			return vprof_error_set(err, VPROF_ERR_CORRUPT,
					       "%s is damaged: probes[%zu].%s is wrong; run `vprof run` again", path, i,
					       wrong);
		}
		if (vprof_plan_add(plan, &probe)) {
			vprof_plan_free(plan);
			return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory reading %s", path);
		}
		i++;
	}
	rc = calls_from_json(plan, top, path, err);
	if (!rc)
		rc = closed_from_json(plan, top, path, err);
	if (rc)
		vprof_plan_free(plan);
	else
		*out = plan;
	return rc;
}

int vprof_plan_read(struct vprof_plan **out, const char *path, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	cJSON *top = NULL;
	int rc = vprof_file_read(path, &text, err);

	*out = NULL;
	if (rc)
		goto out;
	top = cJSON_ParseWithLength(text.s, text.len);
	if (!cJSON_IsObject(top))
		rc = vprof_error_set(err, VPROF_ERR_CORRUPT, "%s is damaged: not JSON; run `vprof run` again", path);
	else
		rc = from_json(out, top, path, err);
out:
	cJSON_Delete(top);
	vprof_text_release(&text);
	return rc;
}
