/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flows/flow_draft.h"

#include <string.h>

#include "cli/flows/flow_answer.h"
#include "common/files.h"

/* Two entries, the enqueue first, as flow_answer.h makes them. */
static int queue_of(const cJSON *flow, struct vprof_arena *arena, struct vprof_queue_proposal *out)
{
	const cJSON *queues = cJSON_GetObjectItem(flow, "queues"), *from = cJSON_GetObjectItem(flow, "from");
	const cJSON *in = cJSON_GetArrayItem(queues, 0), *of = cJSON_GetArrayItem(queues, 1);

	if (vprof_flow_verdict_of(flow) != VPROF_FLOW_FLOW || !in || !of)
		return 0;
	*out = (struct vprof_queue_proposal){
		.enqueue = vprof_flow_text(in, "enqueue"),
		.enqueue_item = vprof_flow_text(in, "item"),
		.dequeue = vprof_flow_text(of, "dequeue"),
		.dequeue_item = vprof_flow_text(of, "item"),
		.dequeue_at_exit = cJSON_GetObjectItem(of, "at") || !strcmp(vprof_flow_text(of, "item"), "$return"),
		.where = vprof_arena_printf(arena, "%s:%.0f", vprof_path_name(vprof_flow_text(from, "file")),
					    vprof_flow_number(from, "line")),
		.why = vprof_arena_printf(arena, "found by a discovery run: %s", vprof_flow_text(flow, "reason")),
	};
	return 1;
}

/* "901 events ...: on_readable (id conn), on_due (id conn)" */
static const char *handlers_of(const cJSON *flow, struct vprof_arena *arena)
{
	const char *said = vprof_flow_text(flow, "reason");
	const cJSON *handler;
	int n = 0;

	cJSON_ArrayForEach(handler, cJSON_GetObjectItem(flow, "handlers"))
		said = vprof_arena_printf(arena, "%s%s %s (id %s)", said ? said : "", n++ ? "," : ":",
					  vprof_flow_text(handler, "function"), vprof_flow_text(handler, "id"));
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
			*slot = (struct vprof_handler_proposal){ vprof_flow_text(mark, "function"),
								 vprof_flow_text(mark, "id") };
	}
	*out = handlers;
	return n;
}

static void interval_of(const cJSON *answer, struct vprof_arena *arena, struct vprof_found_interval *out)
{
	const cJSON *requests = cJSON_GetObjectItem(answer, "requests");
	const cJSON *interval = cJSON_GetObjectItem(requests, "interval");
	double unknown = vprof_flow_number(requests, "unknown_events"), offset = vprof_flow_number(requests, "offset");

	out->open = cJSON_GetStringValue(cJSON_GetObjectItem(requests, "open"));
	out->n_begins = handlers_in(cJSON_GetObjectItem(interval, "begin"), arena, &out->begins);
	out->n_resumes = handlers_in(cJSON_GetObjectItem(interval, "resume"), arena, &out->resumes);
	out->n_ends = handlers_in(cJSON_GetObjectItem(interval, "end"), arena, &out->ends);
	out->why = vprof_arena_printf(
		arena,
		"found by a discovery run: %.0f requests on %.0f descriptors were received in the handler in which it begins, and replied to on the same descriptor in that in which it ends; all events of each have %s in common",
		vprof_flow_number(requests, "in_different_events"), vprof_flow_number(requests, "descriptors"),
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
		int is_handler = vprof_flow_verdict_of(flow) == VPROF_FLOW_EVENTS;

		if (queue_of(flow, arena, &queue)) {
			struct vprof_queue_proposal *p = vprof_arena_push(arena, &queues, &found->n_queues, sizeof *p);

			if (p)
				*p = queue;
			continue;
		}
		slot = vprof_arena_push(arena, &seen, &found->n_seen, sizeof *slot);
		if (slot)
			*slot = (struct vprof_seen_flow){
				.from = vprof_flow_text(cJSON_GetObjectItem(flow, "from"), "function"),
				.to = vprof_flow_text(cJSON_GetObjectItem(flow, "to"), "function"),
				.verdict = vprof_flow_text(flow, "verdict"),
				.reason = vprof_flow_text(flow, "reason"),
				.open = is_handler ? handlers_of(flow, arena) :
						     cJSON_GetStringValue(cJSON_GetObjectItem(flow, "open")),
			};
	}
	found->queues = queues;
	found->seen = seen;
	interval_of(answer, arena, &found->interval);
	return arena->failed ? VPROF_ERR_NOMEM : VPROF_OK;
}
