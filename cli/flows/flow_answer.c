/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flows/flow_answer.h"

#include <stdlib.h>
#include <string.h>

#include "cli/flows/flow_intervals.h"
#include "cli/flows/flow_queues.h"
#include "cli/flows/flow_suggest.h"
#include "common/files.h"

#define SUGGESTIONS 20 /* at most; those with threads that wait come first */

static void add_end(cJSON *object, const char *key, const struct vprof_flow_place *place)
{
	cJSON *end = cJSON_AddObjectToObject(object, key), *path;
	const struct vprof_flow_function *f = place->n ? &place->functions[0] : NULL;
	const struct vprof_flow_function *at = place->n ? &place->functions[place->n - 1] : NULL;

	if (!f)
		return;
	cJSON_AddStringToObject(end, "function", f->name);
	if (f->file)
		cJSON_AddStringToObject(end, "section_file", f->file);
	if (at->file) {
		cJSON_AddStringToObject(end, "file", at->file);
		cJSON_AddNumberToObject(end, "line", at->line);
	}
	path = cJSON_AddArrayToObject(end, "path");
	for (size_t i = 0; i < place->n; i++)
		cJSON_AddItemToArray(path, cJSON_CreateString(place->functions[i].name));
}

static void add_counts(cJSON *object, const struct vprof_flow *f)
{
	cJSON *counts = cJSON_AddObjectToObject(object, "counts");

	cJSON_AddNumberToObject(counts, "flows", (double)f->n_flows);
	cJSON_AddNumberToObject(counts, "only_written", (double)f->n_allocator);
	cJSON_AddNumberToObject(counts, "same_thread", (double)f->n_own);
	cJSON_AddNumberToObject(counts, "again", (double)f->n_again);
	cJSON_AddNumberToObject(counts, "again_by_others", (double)f->n_again_others);
	cJSON_AddNumberToObject(counts, "filled", (double)f->n_filled);
	cJSON_AddNumberToObject(counts, "passed_on", (double)f->n_passed_on);
	cJSON_AddNumberToObject(counts, "blind", (double)f->n_blind);
	cJSON_AddNumberToObject(counts, "shared", (double)f->n_shared);
	cJSON_AddNumberToObject(counts, "asked", (double)f->n_asked);
	cJSON_AddNumberToObject(counts, "pairs", (double)f->n_pairs);
}

static void add_queues(cJSON *object, struct vprof_discovery *d, const struct vprof_flow *f)
{
	struct vprof_flow_queue q = vprof_flow_queue_of(d, f);
	cJSON *queues, *one;

	if (q.open) {
		cJSON_AddStringToObject(object, "open", q.open);
		return;
	}
	queues = cJSON_AddArrayToObject(object, "queues");
	one = cJSON_CreateObject();
	cJSON_AddItemToArray(queues, one);
	cJSON_AddStringToObject(one, "enqueue", q.enqueue);
	cJSON_AddStringToObject(one, "item", q.enqueue_item);
	one = cJSON_CreateObject();
	cJSON_AddItemToArray(queues, one);
	cJSON_AddStringToObject(one, "dequeue", q.dequeue);
	cJSON_AddStringToObject(one, "item", q.dequeue_item);
	if (q.dequeue_at_exit && strcmp(q.dequeue_item, "$return"))
		cJSON_AddStringToObject(one, "at", "exit");
}

static void add_handlers(cJSON *object, struct vprof_discovery *d, const struct vprof_flow *f)
{
	struct vprof_flow_handler handlers[VPROF_FLOW_HANDLERS_MAX];
	size_t n = vprof_flow_handlers_of(d, f, handlers);
	cJSON *list = cJSON_AddArrayToObject(object, "handlers"), *one;

	for (size_t i = 0; i < n; i++) {
		one = cJSON_CreateObject();
		cJSON_AddItemToArray(list, one);
		cJSON_AddStringToObject(one, "function", handlers[i].function);
		cJSON_AddStringToObject(one, "id", handlers[i].item);
	}
}

static void add_warnings(cJSON *answer, const struct vprof_flows *f)
{
	cJSON *list = cJSON_AddArrayToObject(answer, "warnings");
	struct vprof_text line = VPROF_TEXT_INIT;

#define WARN(n, ...)                                                                                                   \
	do {                                                                                                           \
		vprof_text_clear(&line);                                                                               \
		vprof_text_addf(&line, __VA_ARGS__);                                                                   \
		if (n)                                                                                                 \
			cJSON_AddItemToArray(list, cJSON_CreateString(line.s));                                        \
	} while (0)
	WARN(!f->n_sections,
	     "no critical section was executed in the units that were compiled for discovery: put load on the program, or compile others (--units)");
	WARN(f->n_unwritten,
	     "%llu of %llu critical sections are not recorded: the limit was reached (--memory), or the disk was full; counts are too small",
	     (unsigned long long)f->n_unwritten, (unsigned long long)f->n_sections);
	WARN(f->n_cut, "%llu critical sections had more accesses than are recorded of one",
	     (unsigned long long)f->n_cut);
	WARN(f->n_deep,
	     "%llu locks were taken beneath more than %u others; which of them is released is not known then",
	     (unsigned long long)f->n_deep, VPROF_FLOW_LOCKS);
	WARN(f->n_enough,
	     "at least %llu critical sections and events were not recorded, since %u sections with the same callers (%u of atomic accesses), or %u events, were: flows in them are counted up to there",
	     (unsigned long long)f->n_enough, VPROF_FLOW_ENOUGH_SECTIONS, VPROF_FLOW_ENOUGH_ATOMICS,
	     VPROF_FLOW_ENOUGH_EVENTS);
	WARN(f->n_damaged, "%llu parts of the recording are damaged and left out", (unsigned long long)f->n_damaged);
#undef WARN
	vprof_text_release(&line);
}

cJSON *vprof_flow_answer_make(struct vprof_discovery *d, const struct vprof_flows *flows, size_t n_units)
{
	cJSON *answer = cJSON_CreateObject(), *list;

	cJSON_AddNumberToObject(answer, "version", 1);
	cJSON_AddNumberToObject(answer, "units", (double)n_units);
	cJSON_AddNumberToObject(answer, "processes", (double)flows->n_processes);
	cJSON_AddNumberToObject(answer, "sections", (double)flows->n_sections);
	add_warnings(answer, flows);
	list = cJSON_AddArrayToObject(answer, "flows");
	for (size_t i = 0; i < flows->n_flows; i++) {
		const struct vprof_flow *f = &flows->flows[i];
		cJSON *one = cJSON_CreateObject();

		cJSON_AddItemToArray(list, one);
		cJSON_AddStringToObject(one, "verdict", vprof_flow_verdict_name(f->verdict));
		cJSON_AddStringToObject(one, "reason", f->reason);
		cJSON_AddNumberToObject(one, "items", (double)f->n_items);
		cJSON_AddStringToObject(one, "by", f->is_event ? "event" : f->is_atomic ? "atomic" : "lock");
		add_end(one, "from", &f->producer);
		add_end(one, "to", &f->consumer);
		add_counts(one, f);
		if (f->verdict == VPROF_FLOW_FLOW || f->verdict == VPROF_FLOW_UNDECIDED)
			add_queues(one, d, f);
		if (f->verdict == VPROF_FLOW_EVENTS)
			add_handlers(one, d, f);
	}
	vprof_flow_interval_add(answer, d, &flows->requests);
	return answer;
}

/* ---- read again ---- */

const char *vprof_flow_text(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));

	return text ? text : "?";
}

double vprof_flow_number(const cJSON *object, const char *key)
{
	const cJSON *number = cJSON_GetObjectItem(object, key);

	return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

enum vprof_flow_verdict vprof_flow_verdict_of(const cJSON *flow)
{
	const char *name = vprof_flow_text(flow, "verdict");

	for (int v = VPROF_FLOW_FLOW; v <= VPROF_FLOW_FEW; v++)
		if (!strcmp(name, vprof_flow_verdict_name((enum vprof_flow_verdict)v)))
			return (enum vprof_flow_verdict)v;
	return VPROF_FLOW_UNDECIDED;
}

static int is_flow(const cJSON *one)
{
	return vprof_flow_verdict_of(one) == VPROF_FLOW_FLOW;
}

/* ---- suggestions ---- */

static int is_flow_between(const cJSON *flow, const char *from, const char *to)
{
	const char *a = cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(flow, "from"), "function"));
	const char *b = cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(flow, "to"), "function"));

	return a && b && is_flow(flow) && !strcmp(a, from) && !strcmp(b, to);
}

static void add_function(cJSON *object, const char *key, struct vprof_discovery *d,
			 const struct vprof_facts_function *f, int line)
{
	const struct vprof_facts_file *file = vprof_facts_file(d->facts, f->file);
	cJSON *end = cJSON_AddObjectToObject(object, key);

	cJSON_AddStringToObject(end, "function", f->display);
	if (file)
		cJSON_AddStringToObject(end, "file", file->path);
	cJSON_AddNumberToObject(end, "line", line);
}

static const char *why_not_seen(const char *type)
{
	if (!strcmp(type, "number"))
		return "a number: no run can tell where it comes from";
	if (!strcmp(type, "text"))
		return "a text: if only libc reads it, no run can see that";
	return "members are copied out while the lock is held, so nothing is used after it";
}

int vprof_flow_answer_suggest(cJSON *answer, struct vprof_discovery *d)
{
	cJSON *list = cJSON_AddArrayToObject(answer, "suggestions");
	const cJSON *flow, *flows = cJSON_GetObjectItem(answer, "flows");
	struct vprof_flow_suggestions found;

	if (!list || vprof_flow_suggest(&found, d))
		return -1;
	for (size_t i = 0; i < found.n && cJSON_GetArraySize(list) < SUGGESTIONS; i++) {
		const struct vprof_flow_suggestion *s = &found.list[i];
		int is_found = 0;
		cJSON *one;

		cJSON_ArrayForEach(flow, flows) is_found |= is_flow_between(flow, s->from->name, s->to->name);
		if (is_found)
			continue;
		one = cJSON_CreateObject();
		cJSON_AddItemToArray(list, one);
		add_function(one, "from", d, s->from, s->from_line);
		add_function(one, "to", d, s->to, s->to_line);
		cJSON_AddStringToObject(one, "object", s->object);
		cJSON_AddStringToObject(one, "type", s->type);
		cJSON_AddStringToObject(one, "item", s->item);
		cJSON_AddStringToObject(one, "taken", s->taken);
		cJSON_AddNumberToObject(one, "objects", s->n_objects);
		cJSON_AddBoolToObject(one, "waited_for", s->is_waited_for);
		cJSON_AddBoolToObject(one, "confirmed", 0);
		cJSON_AddStringToObject(one, "reason", why_not_seen(s->type));
	}
	return 0;
}

/* ---- as text ---- */

static void add_place(struct vprof_text *out, const cJSON *end)
{
	vprof_text_addf(out, "%s (%s:%.0f)", vprof_flow_text(end, "function"),
			vprof_path_name(vprof_flow_text(end, "file")), vprof_flow_number(end, "line"));
}

static void add_entries(struct vprof_text *out, const cJSON *one)
{
	const cJSON *entry;

	if (cJSON_GetObjectItem(one, "open"))
		vprof_text_addf(out, "       no entry: %s\n", vprof_flow_text(one, "open"));
	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(one, "queues"))
	{
		char *printed = cJSON_PrintUnformatted(entry);

		vprof_text_addf(out, "       %s\n", printed ? printed : "");
		cJSON_free(printed);
	}
}

static void add_suggestions(struct vprof_text *out, const cJSON *list)
{
	const cJSON *one;
	int n = 0;

	cJSON_ArrayForEach(one, list)
	{
		if (!n++)
			vprof_text_add(
				out,
				"\nnot confirmed: what the code suggests, and no run can see (vprof.h's vprof_enqueue and vprof_dequeue mark it):\n");
		vprof_text_addf(out, "       %s ", vprof_flow_text(one, "object"));
		add_place(out, cJSON_GetObjectItem(one, "from"));
		vprof_text_add(out, " -> ");
		add_place(out, cJSON_GetObjectItem(one, "to"));
		vprof_text_addf(out, ": %s\n", vprof_flow_text(one, "reason"));
	}
}

void vprof_flow_answer_text(const cJSON *answer, struct vprof_text *out)
{
	const cJSON *one, *list = cJSON_GetObjectItem(answer, "flows"), *warning, *handler;
	size_t n_flows = 0, number = 0, n_others = 0;

	cJSON_ArrayForEach(one, list) n_flows += (size_t)is_flow(one);
	vprof_text_addf(out,
			"%zu flow%s in %.0f critical sections of %.0f process%s, %.0f units compiled for discovery\n",
			n_flows, n_flows == 1 ? "" : "s", vprof_flow_number(answer, "sections"),
			vprof_flow_number(answer, "processes"), vprof_flow_number(answer, "processes") == 1 ? "" : "es",
			vprof_flow_number(answer, "units"));
	cJSON_ArrayForEach(one, list)
	{
		number++;
		if (!is_flow(one))
			continue;
		vprof_text_addf(out, "\n%4zu   ", number);
		add_place(out, cJSON_GetObjectItem(one, "from"));
		vprof_text_add(out, " -> ");
		add_place(out, cJSON_GetObjectItem(one, "to"));
		vprof_text_addf(out, "\n       %s\n", vprof_flow_text(one, "reason"));
		add_entries(out, one);
	}
	number = 0;
	cJSON_ArrayForEach(one, list)
	{
		number++;
		if (is_flow(one))
			continue;
		if (!n_others++)
			vprof_text_add(out, "\nno flows:\n");
		vprof_text_addf(out, "%4zu   %-9s ", number, vprof_flow_text(one, "verdict"));
		add_place(out, cJSON_GetObjectItem(one, "from"));
		vprof_text_add(out, " -> ");
		add_place(out, cJSON_GetObjectItem(one, "to"));
		vprof_text_addf(out, ": %s\n", vprof_flow_text(one, "reason"));
		cJSON_ArrayForEach(handler, cJSON_GetObjectItem(one, "handlers"))
			vprof_text_addf(out, "                 handler {\"function\": \"%s\", \"id\": \"%s\"}\n",
					vprof_flow_text(handler, "function"), vprof_flow_text(handler, "id"));
	}
	add_suggestions(out, cJSON_GetObjectItem(answer, "suggestions"));
	vprof_flow_interval_text(answer, out);
	cJSON_ArrayForEach(warning, cJSON_GetObjectItem(answer, "warnings"))
		vprof_text_addf(out, "\nwarning: %s\n", cJSON_GetStringValue(warning) ? warning->valuestring : "");
}

/* ---- applied ---- */

static int same_text(const cJSON *a, const cJSON *b, const char *key)
{
	const char *x = cJSON_GetStringValue(cJSON_GetObjectItem(a, key));
	const char *y = cJSON_GetStringValue(cJSON_GetObjectItem(b, key));

	return x == y || (x && y && !strcmp(x, y));
}

static int has_entry(const cJSON *queues, const cJSON *entry)
{
	const cJSON *known;

	cJSON_ArrayForEach(known, queues)
	{
		if (same_text(known, entry, "enqueue") && same_text(known, entry, "dequeue") &&
		    same_text(known, entry, "item"))
			return 1;
	}
	return 0;
}

static void collect(const cJSON *one, const cJSON *known, cJSON *added)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(one, "queues"))
	{
		if (!has_entry(known, entry) && !has_entry(added, entry))
			cJSON_AddItemToArray(added, cJSON_Duplicate(entry, 1));
	}
}

/* Where the value of the top-level key begins in the text, or NULL. The text is valid JSON. */
static const char *find_key(const char *text, const char *key)
{
	size_t n = strlen(key);
	int depth = 0;

	for (const char *c = text; *c; c++) {
		if (*c == '"') {
			const char *begin = ++c;

			while (*c && *c != '"')
				c += *c == '\\' && c[1] ? 2 : 1;
			if (depth == 1 && (size_t)(c - begin) == n && !strncmp(begin, key, n)) {
				const char *after = c + 1 + strspn(c + 1, " \t\r\n");

				if (*after == ':')
					return after + 1 + strspn(after + 1, " \t\r\n");
			}
			if (!*c)
				return NULL;
		}
		depth += *c == '{' || *c == '[';
		depth -= *c == '}' || *c == ']';
	}
	return NULL;
}

/* The user's text stays as it is; entries come first in "queues", or a new "queues" comes last. */
static void insert(struct vprof_text *out, const char *config, const cJSON *added)
{
	const char *queues = find_key(config, "queues"), *end = strrchr(config, '}'), *at, *rest;
	const cJSON *entry;
	int n = 0, is_empty;

	at = queues && *queues == '[' ? queues + 1 : end;
	while (at == end && at > config && strchr(" \t\r\n", at[-1]))
		at--;
	rest = at + strspn(at, " \t\r\n");
	is_empty = queues ? *rest == ']' : at > config && at[-1] == '{';
	vprof_text_append(out, config, (size_t)(at - config));
	if (!queues)
		vprof_text_addf(out, "%s\n  \"queues\": [", is_empty ? "" : ",");
	cJSON_ArrayForEach(entry, added)
	{
		char *printed = cJSON_PrintUnformatted(entry);

		vprof_text_addf(out, "%s\n    %s", n++ ? "," : "", printed ? printed : "");
		out->failed |= !printed;
		cJSON_free(printed);
	}
	if (queues && !is_empty)
		vprof_text_addf(out, ",\n    %s", rest);
	else if (queues)
		vprof_text_addf(out, "\n  %s", rest);
	else
		vprof_text_addf(out, "\n  ]\n%s", end);
}

int vprof_flow_answer_apply(const cJSON *answer, const long *numbers, size_t n, const char *config,
			    struct vprof_text *out, size_t *n_added, struct vprof_error *err)
{
	const cJSON *list = cJSON_GetObjectItem(answer, "flows"), *one;
	cJSON *parsed = cJSON_Parse(config), *added = cJSON_CreateArray();
	const cJSON *known = cJSON_GetObjectItem(parsed, "queues");
	int rc = parsed && added ? VPROF_OK : vprof_error_set(err, VPROF_ERR_INPUT, "vprof.json is no valid JSON");

	for (size_t i = 0; !rc && i < n; i++) {
		one = numbers[i] > 0 ? cJSON_GetArrayItem(list, (int)numbers[i] - 1) : NULL;
		if (!one || !cJSON_GetObjectItem(one, "queues"))
			rc = vprof_error_set(
				err, VPROF_ERR_INPUT,
				"%ld is not the number of a flow with entries: vprof flows --last lists them",
				numbers[i]);
		else
			collect(one, known, added);
	}
	if (!rc && !n)
		cJSON_ArrayForEach(one, list) if (is_flow(one)) collect(one, known, added);
	*n_added = (size_t)cJSON_GetArraySize(added);
	if (!rc && *n_added)
		insert(out, config, added);
	else if (!rc)
		vprof_text_add(out, config);
	if (!rc && out->failed)
		rc = vprof_error_no_memory(err);
	cJSON_Delete(parsed);
	cJSON_Delete(added);
	return rc;
}
