/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handlers' first parameters of one type stand for the request. What they are called with is what the events of a
 * request have in common: the pointer that was registered, or the one that is read from it. */
#include "cli/flows/flow_intervals.h"

#include <inttypes.h>
#include <string.h>

#include "cli/flows/flow_queues.h"

static const char *const keys[] = { "begin", "resume", "end" };

/* {"function": ..., "id": ...} of a handler; the type of its parameter must be that of all others. NULL: why not is in
 * `open`. */
static cJSON *mark_of(struct vprof_discovery *d, const struct vprof_flow_step *step, const char **type,
		      const char **open)
{
	const struct vprof_facts_function *f = vprof_flow_function_of(d, &step->function);
	const struct vprof_parameter *handled = f && f->instrumentable ? vprof_flow_handled(d, f) : NULL;
	cJSON *mark;

	if (!handled) {
		*open = vprof_arena_printf(
			d->arena,
			"%s takes no pointer to its request, or is no function of the project that can be measured",
			step->function.name);
		return NULL;
	}
	if (*type && strcmp(*type, handled->type) != 0) {
		*open = vprof_arena_printf(
			d->arena, "the handlers are given pointers to different types: \"%s\" and, in %s, \"%s\"",
			*type, step->function.name, handled->type);
		return NULL;
	}
	*type = handled->type;
	mark = cJSON_CreateObject();
	cJSON_AddStringToObject(mark, "function", vprof_discovery_name(d, f));
	cJSON_AddStringToObject(mark, "id", handled->name);
	cJSON_AddNumberToObject(mark, "_n", (double)step->n);
	return mark;
}

static cJSON *interval_of(struct vprof_discovery *d, const struct vprof_flow_requests *r, const char **open)
{
	cJSON *interval = cJSON_CreateObject();
	const char *type = NULL;

	for (int kind = 0; kind < VPROF_FLOW_STEP_KINDS; kind++) {
		cJSON *list = cJSON_AddArrayToObject(interval, keys[kind]);

		for (size_t i = 0; i < r->n_steps[kind]; i++) {
			cJSON *mark = mark_of(d, &r->steps[kind][i], &type, open);

			if (mark)
				cJSON_AddItemToArray(list, mark);
		}
	}
	if (!*open)
		return interval;
	cJSON_Delete(interval);
	return NULL;
}

void vprof_flow_interval_add(cJSON *answer, struct vprof_discovery *d, const struct vprof_flow_requests *r)
{
	cJSON *requests, *interval;
	const char *open = r->open;

	if (!r->n_requests)
		return;
	requests = cJSON_AddObjectToObject(answer, "requests");
	cJSON_AddNumberToObject(requests, "replied", (double)r->n_requests);
	cJSON_AddNumberToObject(requests, "in_different_events", (double)r->n_apart);
	cJSON_AddNumberToObject(requests, "in_one_event", (double)r->n_within);
	cJSON_AddNumberToObject(requests, "outside_handlers", (double)r->n_elsewhere);
	cJSON_AddNumberToObject(requests, "descriptors", (double)r->n_descriptors);
	cJSON_AddNumberToObject(requests, "unknown_events", (double)r->n_unknown);
	cJSON_AddNumberToObject(requests, "idle_events", (double)r->n_idle);
	interval = open ? NULL : interval_of(d, r, &open);
	if (open) {
		cJSON_AddStringToObject(requests, "open", open);
		return;
	}
	cJSON_AddNumberToObject(requests, "offset", r->offset);
	cJSON_AddItemToObject(requests, "interval", interval);
}

static void add_marks(struct vprof_text *out, const cJSON *interval, const char *key)
{
	const cJSON *mark;

	cJSON_ArrayForEach(mark, cJSON_GetObjectItem(interval, key))
		vprof_text_addf(out, "       %-6s {\"function\": \"%s\", \"id\": \"%s\"}  %.0f events\n", key,
				cJSON_GetStringValue(cJSON_GetObjectItem(mark, "function")),
				cJSON_GetStringValue(cJSON_GetObjectItem(mark, "id")),
				cJSON_GetNumberValue(cJSON_GetObjectItem(mark, "_n")));
}

void vprof_flow_interval_text(const cJSON *answer, struct vprof_text *out)
{
	const cJSON *requests = cJSON_GetObjectItem(answer, "requests");
	const cJSON *interval = cJSON_GetObjectItem(requests, "interval");
	const char *open = cJSON_GetStringValue(cJSON_GetObjectItem(requests, "open"));

	if (!requests)
		return;
	vprof_text_addf(out, "\n%.0f requests on descriptors that were registered for events\n",
			cJSON_GetNumberValue(cJSON_GetObjectItem(requests, "replied")));
	if (open)
		vprof_text_addf(out, "       no interval: %s\n", open);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		add_marks(out, interval, keys[i]);
}
