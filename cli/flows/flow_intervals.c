/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handlers' first parameters of one type stand for the request. What they are called with is what the events of a
 * request have in common: the pointer that was registered, or the one that is read from it. */
#include "cli/flows/flow_intervals.h"

#include <inttypes.h>
#include <string.h>

#include "cli/flows/flow_queues.h"
#include "trace/flows/flow_format.h"

#define LIBEV_DATA 16 /* offset of `data` in a watcher */
#define LIBUV_DATA 0  /* in a handle */

static const char *const keys[] = { "begin", "resume", "end" };

/* Which parameter of a handler the library fills with what was registered. */
static const struct vprof_parameter *of_library(unsigned library, const struct vprof_parameter *list, size_t n)
{
	static const size_t places[] = { [VPROF_FLOW_LIBEVENT] = 2, [VPROF_FLOW_LIBEV] = 1, [VPROF_FLOW_LIBUV] = 0 };

	return library < sizeof places / sizeof *places && places[library] < n ? &list[places[library]] : NULL;
}

/* libev's and libuv's `data` is what their users keep there; what else lies in what was registered has no name here. */
static const char *id_of(struct vprof_discovery *d, const struct vprof_flow_requests *r,
			 const struct vprof_parameter *p)
{
	if (!r->library || r->offset < 0)
		return p->name;
	if ((r->library == VPROF_FLOW_LIBEV && r->offset == LIBEV_DATA) ||
	    (r->library == VPROF_FLOW_LIBUV && r->offset == LIBUV_DATA))
		return vprof_arena_printf(d->arena, "%s->data", p->name);
	return NULL;
}

/* The number is what the handler is given, if that is no pointer; which of several it is, is not known. */
static const struct vprof_parameter *numbered(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	const struct vprof_parameter *list, *found = NULL;
	size_t n;

	list = vprof_discovery_parameters(d, f, &n);
	for (size_t i = 0; i < n; i++) {
		if (found && (list[i].is_pointer || list[i].is_integer))
			return NULL;
		found = list[i].is_pointer || list[i].is_integer ? &list[i] : found;
	}
	return found;
}

static const struct vprof_parameter *parameter_of(struct vprof_discovery *d, const struct vprof_flow_requests *r,
						  const struct vprof_facts_function *f)
{
	const struct vprof_parameter *list;
	size_t n;

	if (r->library) {
		list = vprof_discovery_parameters(d, f, &n);
		return of_library(r->library, list, n);
	}
	return r->is_number ? numbered(d, f) : vprof_flow_handled(d, f);
}

/* {"function": ..., "id": ...} of a handler; the type of its parameter must be that of all others. NULL: why not is in
 * `open`. */
static cJSON *mark_of(struct vprof_discovery *d, const struct vprof_flow_requests *r,
		      const struct vprof_flow_step *step, const char **type, const char **open)
{
	const struct vprof_facts_function *f = vprof_flow_function_of(d, &step->function);
	const struct vprof_parameter *handled = f && f->instrumentable ? parameter_of(d, r, f) : NULL;
	const char *id = handled ? id_of(d, r, handled) : NULL;
	cJSON *mark;

	if (!id) {
		*open = vprof_arena_printf(
			d->arena,
			r->is_number ?
				"%s has no parameter, or several, that could be its request's descriptor or stand for it" :
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
	cJSON_AddStringToObject(mark, "id", id);
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
			cJSON *mark = mark_of(d, r, &r->steps[kind][i], &type, open);

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
	cJSON_AddBoolToObject(requests, "by_number", r->is_number);
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
