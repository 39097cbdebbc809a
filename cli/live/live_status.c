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
	cJSON *top = cJSON_CreateObject(), *open = cJSON_AddArrayToObject(top, "open");

	cJSON_AddNumberToObject(top, "version", VERSION);
	cJSON_AddNumberToObject(top, "pid", (double)s->pid);
	cJSON_AddNumberToObject(top, "round", (double)s->round);
	cJSON_AddStringToObject(top, "run", s->run);
	cJSON_AddNumberToObject(top, "recorded_s", s->recorded_s);
	cJSON_AddNumberToObject(top, "elapsed_s", s->elapsed_s);
	cJSON_AddNumberToObject(top, "plan", s->state.number);
	cJSON_AddBoolToObject(top, "window", s->state.is_window);
#define ADD(field) cJSON_AddNumberToObject(top, #field, (double)s->state.field);
	FIELDS(ADD)
#undef ADD
	cJSON_AddStringToObject(top, "refusal", s->state.refusal);
	for (size_t i = 0; plan && i < plan->n_probes; i++)
		if (plan->probes[i].mask)
			cJSON_AddItemToArray(open, cJSON_CreateString(plan->probes[i].display));
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

static int read_open(struct vprof_live_status *s, const cJSON *list)
{
	const cJSON *o;

	s->open = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *s->open);
	if (!s->open)
		return VPROF_ERR_NOMEM;
	cJSON_ArrayForEach(o, list)
	{
		s->open[s->n_open] = strdup(cJSON_IsString(o) ? o->valuestring : "");
		if (!s->open[s->n_open])
			return VPROF_ERR_NOMEM;
		s->n_open++;
	}
	return VPROF_OK;
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
#define READ(field) s->state.field = (__typeof__(s->state.field))number(top, #field);
	FIELDS(READ)
#undef READ
	return read_open(s, cJSON_GetObjectItemCaseSensitive(top, "open"));
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
	for (size_t i = 0; i < status->n_open; i++)
		free(status->open[i]);
	free(status->open);
	status->open = NULL;
	status->n_open = 0;
}

void vprof_live_status_remove(const char *vprof_dir)
{
	char *path = path_of(vprof_dir, "live/state.json");

	if (path)
		unlink(path);
	free(path);
}
