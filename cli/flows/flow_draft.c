/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flows/flow_draft.h"

#include <string.h>

static const char *text_of(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));

	return text ? text : "?";
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *number = cJSON_GetObjectItem(object, key);

	return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Two entries, the enqueue first, as flow_answer.h makes them. */
static int queue_of(const cJSON *flow, struct vprof_arena *arena, struct vprof_queue_proposal *out)
{
	const cJSON *queues = cJSON_GetObjectItem(flow, "queues"), *from = cJSON_GetObjectItem(flow, "from");
	const cJSON *in = cJSON_GetArrayItem(queues, 0), *of = cJSON_GetArrayItem(queues, 1);

	if (strcmp(text_of(flow, "verdict"), "flow") != 0 || !in || !of)
		return 0;
	*out = (struct vprof_queue_proposal){
		.enqueue = text_of(in, "enqueue"),
		.enqueue_item = text_of(in, "item"),
		.dequeue = text_of(of, "dequeue"),
		.dequeue_item = text_of(of, "item"),
		.dequeue_at_exit = cJSON_GetObjectItem(of, "at") || !strcmp(text_of(of, "item"), "$return"),
		.where =
			vprof_arena_printf(arena, "%s:%.0f", base_name(text_of(from, "file")), number_of(from, "line")),
		.why = vprof_arena_printf(arena, "found by a discovery run: %s", text_of(flow, "reason")),
	};
	return 1;
}

/* "901 events ...: on_readable (id conn), on_due (id conn)" */
static const char *handlers_of(const cJSON *flow, struct vprof_arena *arena)
{
	const char *said = text_of(flow, "reason");
	const cJSON *handler;
	int n = 0;

	cJSON_ArrayForEach(handler, cJSON_GetObjectItem(flow, "handlers"))
		said = vprof_arena_printf(arena, "%s%s %s (id %s)", said ? said : "", n++ ? "," : ":",
					  text_of(handler, "function"), text_of(handler, "id"));
	return said;
}

static size_t handlers_in(const cJSON *list, struct vprof_arena *arena, const struct vprof_handler_proposal **out)
{
	struct vprof_handler_proposal *handlers = NULL, *slot;
	const cJSON *mark;
	size_t n = 0;

	cJSON_ArrayForEach(mark, list)
	{
		slot = vprof_arena_push(arena, &handlers, &n, sizeof *slot);
		if (slot)
			*slot = (struct vprof_handler_proposal){ text_of(mark, "function"), text_of(mark, "id") };
	}
	*out = handlers;
	return n;
}

static void interval_of(const cJSON *answer, struct vprof_arena *arena, struct vprof_found_interval *out)
{
	const cJSON *requests = cJSON_GetObjectItem(answer, "requests");
	const cJSON *interval = cJSON_GetObjectItem(requests, "interval");
	double unknown = number_of(requests, "unknown_events"), offset = number_of(requests, "offset");

	out->open = cJSON_GetStringValue(cJSON_GetObjectItem(requests, "open"));
	out->n_begins = handlers_in(cJSON_GetObjectItem(interval, "begin"), arena, &out->begins);
	out->n_resumes = handlers_in(cJSON_GetObjectItem(interval, "resume"), arena, &out->resumes);
	out->n_ends = handlers_in(cJSON_GetObjectItem(interval, "end"), arena, &out->ends);
	out->why = vprof_arena_printf(
		arena,
		"found by a discovery run: %.0f requests on %.0f descriptors were received in the handler in which it begins, and replied to on the same descriptor in that in which it ends; all events of each have %s in common",
		number_of(requests, "in_different_events"), number_of(requests, "descriptors"),
		cJSON_IsTrue(cJSON_GetObjectItem(requests, "by_number")) ?
			"the number of the descriptor, for which the id must stand" :
		offset < 0 ? "the pointer that was registered" :
			     vprof_arena_printf(arena, "the pointer at offset %.0f of what was registered", offset));
	if (unknown > 0)
		out->why = vprof_arena_printf(
			arena,
			"%s; %.0f events of them in between were handled by functions that are not known: add these to resume and suspend",
			out->why, unknown);
}

int vprof_flow_draft_of(const cJSON *answer, struct vprof_arena *arena, struct vprof_found_queues *found)
{
	struct vprof_queue_proposal *queues = NULL, queue;
	struct vprof_seen_flow *seen = NULL, *slot;
	const cJSON *flow;

	*found = (struct vprof_found_queues){ NULL };
	cJSON_ArrayForEach(flow, cJSON_GetObjectItem(answer, "flows"))
	{
		int is_handler = !strcmp(text_of(flow, "verdict"), "events");

		if (queue_of(flow, arena, &queue)) {
			struct vprof_queue_proposal *p = vprof_arena_push(arena, &queues, &found->n_queues, sizeof *p);

			if (p)
				*p = queue;
			continue;
		}
		slot = vprof_arena_push(arena, &seen, &found->n_seen, sizeof *slot);
		if (slot)
			*slot = (struct vprof_seen_flow){
				.from = text_of(cJSON_GetObjectItem(flow, "from"), "function"),
				.to = text_of(cJSON_GetObjectItem(flow, "to"), "function"),
				.verdict = text_of(flow, "verdict"),
				.reason = text_of(flow, "reason"),
				.open = is_handler ? handlers_of(flow, arena) :
						     cJSON_GetStringValue(cJSON_GetObjectItem(flow, "open")),
			};
	}
	found->queues = queues;
	found->seen = seen;
	interval_of(answer, arena, &found->interval);
	return arena->failed ? VPROF_ERR_NOMEM : VPROF_OK;
}
