/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/live/live_status.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

#define VERSION 1
#define NOBODY "no live session records in this project; start one with: vprof iterate --live"

/* "live" or "live/state.json" in .vprof; heap. */
static char *path_of(const char *vprof_dir, const char *name)
{
	return vprof_path_join(vprof_dir, name);
}

/* What numbers of the state the file has. */
#define FIELDS(X)                                                                                                      \
	X(n_turns)                                                                                                     \
	X(n_baselines)                                                                                                 \
	X(n_changes)                                                                                                   \
	X(measured_ns)                                                                                                 \
	X(baseline_ns) X(longest_ns) X(change_ns) X(change_max_ns) X(n_processes) X(n_refused) X(n_elsewhere)

static cJSON *status_json(const struct vprof_live_status *s, const struct vprof_plan *plan)
{
	cJSON *top = cJSON_CreateObject(), *open = cJSON_AddArrayToObject(top, "open"),
	      *broken_down = cJSON_AddArrayToObject(top, "broken_down"),
	      *closed = cJSON_AddArrayToObject(top, "closed");

	cJSON_AddNumberToObject(top, "version", VERSION);
	cJSON_AddNumberToObject(top, "pid", (double)s->pid);
	cJSON_AddNumberToObject(top, "round", (double)s->round);
	cJSON_AddStringToObject(top, "run", s->run);
	cJSON_AddNumberToObject(top, "recorded_s", s->recorded_s);
	cJSON_AddNumberToObject(top, "elapsed_s", s->elapsed_s);
	cJSON_AddNumberToObject(top, "plan", s->state.number);
	cJSON_AddBoolToObject(top, "window", s->state.is_window);
	cJSON_AddBoolToObject(top, "paused", s->state.is_paused);
#define ADD(field) cJSON_AddNumberToObject(top, #field, (double)s->state.field);
	FIELDS(ADD)
#undef ADD
	cJSON_AddStringToObject(top, "refusal", s->state.refusal);
	cJSON_AddBoolToObject(top, "held", s->is_pinned);
	for (size_t i = 0; plan && i < plan->n_probes; i++) {
		if (plan->probes[i].mask)
			cJSON_AddItemToArray(open, cJSON_CreateString(plan->probes[i].display));
		if (plan->probes[i].mask && plan->probes[i].broken_down)
			cJSON_AddItemToArray(broken_down, cJSON_CreateString(plan->probes[i].display));
	}
	for (size_t i = 0; plan && i < plan->n_closed; i++)
		cJSON_AddItemToArray(closed, cJSON_CreateString(plan->closed[i].display));
	return top;
}

int vprof_live_status_write(const char *vprof_dir, const struct vprof_live_status *status,
			    const struct vprof_plan *plan, struct vprof_error *err)
{
	char *folder = path_of(vprof_dir, "live"), *path = path_of(vprof_dir, "live/state.json");
	cJSON *json = status_json(status, plan);
	char *text = json ? cJSON_Print(json) : NULL;
	int rc = folder && path && text ? vprof_dir_make(folder, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_file_write(path, text, strlen(text), err);
	cJSON_free(text);
	cJSON_Delete(json);
	free(folder);
	free(path);
	return rc;
}

static double number(const cJSON *top, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(top, key);

	return cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble < 9e15 ? v->valuedouble : 0;
}

static void copy_text(char *to, size_t size, const cJSON *top, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(top, key);

	snprintf(to, size, "%s", cJSON_IsString(v) ? v->valuestring : "");
}

static int read_names(struct vprof_live_names *names, const cJSON *top, const char *key)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(top, key), *o;

	names->items = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *names->items);
	if (!names->items)
		return VPROF_ERR_NOMEM;
	cJSON_ArrayForEach(o, list)
	{
		names->items[names->n] = strdup(cJSON_IsString(o) ? o->valuestring : "");
		if (!names->items[names->n])
			return VPROF_ERR_NOMEM;
		names->n++;
	}
	return VPROF_OK;
}

static void release_names(struct vprof_live_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct vprof_live_names){ NULL, 0 };
}

static int from_json(struct vprof_live_status *s, const cJSON *top)
{
	*s = (struct vprof_live_status){ .pid = (pid_t)number(top, "pid"),
					 .round = (size_t)number(top, "round"),
					 .recorded_s = number(top, "recorded_s"),
					 .elapsed_s = number(top, "elapsed_s") };
	copy_text(s->run, sizeof s->run, top, "run");
	copy_text(s->state.refusal, sizeof s->state.refusal, top, "refusal");
	s->state.number = (uint32_t)number(top, "plan");
	s->state.is_window = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(top, "window"));
	s->state.is_paused = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(top, "paused"));
#define READ(field) s->state.field = (__typeof__(s->state.field))number(top, #field);
	FIELDS(READ)
#undef READ
	s->is_pinned = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(top, "held"));
	return read_names(&s->open, top, "open") || read_names(&s->broken_down, top, "broken_down") ||
			       read_names(&s->closed, top, "closed") ?
		       VPROF_ERR_NOMEM :
		       VPROF_OK;
}

int vprof_live_status_read(struct vprof_live_status *status, const char *vprof_dir, struct vprof_error *err)
{
	char *path = path_of(vprof_dir, "live/state.json");
	struct vprof_text text = VPROF_TEXT_INIT;
	cJSON *json = NULL;
	int rc = VPROF_OK;

	*status = (struct vprof_live_status){ .pid = 0 };
	if (!path)
		return vprof_error_no_memory(err);
	if (access(path, F_OK) || vprof_file_read(path, &text, NULL))
		rc = vprof_error_set(err, VPROF_ERR_MISSING, NOBODY);
	if (!rc)
		json = cJSON_Parse(text.s);
	if (!rc && (!json || number(json, "version") != VERSION))
		rc = vprof_error_set(err, VPROF_ERR_CORRUPT, "%s is damaged, or of another vprof; remove it", path);
	if (!rc && from_json(status, json))
		rc = vprof_error_no_memory(err);
	if (!rc && (status->pid <= 0 || (kill(status->pid, 0) && errno == ESRCH)))
		rc = vprof_error_set(err, VPROF_ERR_MISSING, NOBODY " (the last one was killed)");
	if (rc)
		vprof_live_status_release(status);
	cJSON_Delete(json);
	vprof_text_release(&text);
	free(path);
	return rc;
}

void vprof_live_status_release(struct vprof_live_status *status)
{
	release_names(&status->open);
	release_names(&status->broken_down);
	release_names(&status->closed);
}

void vprof_live_status_remove(const char *vprof_dir)
{
	char *path = path_of(vprof_dir, "live/state.json");

	if (path)
		unlink(path);
	free(path);
}
