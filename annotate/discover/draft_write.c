/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a draft as vprof.json: the best proposal in force, all others and every reason as remarks ("_...").
 */
#include "annotate/discover/draft.h"

#include <string.h>

#include "common/files.h"
#include "common/text.h"

static void add_escaped(struct vprof_text *t, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			vprof_text_addf(t, "\\%c", c);
		else if (c == '\n')
			vprof_text_add(t, "\\n");
		else if (c < 0x20)
			vprof_text_addf(t, "\\u%04x", c);
		else
			vprof_text_append(t, s, 1);
	}
}

static void add_string(struct vprof_text *t, const char *s)
{
	vprof_text_add(t, "\"");
	add_escaped(t, s);
	vprof_text_add(t, "\"");
}

static void add_member(struct vprof_text *t, const char *key, const char *value, const char *after)
{
	add_string(t, key);
	vprof_text_add(t, ": ");
	add_string(t, value);
	vprof_text_add(t, after);
}

/* Marks of one kind; the first `n_before` come from another list. */
static void write_marks(struct vprof_text *t, const struct vprof_handler_proposal *list, size_t n, const char *at,
			size_t n_before)
{
	for (size_t i = 0; i < n; i++) {
		vprof_text_add(t, n_before + i ? ",\n        {" : "\n        {");
		add_member(t, "function", list[i].function, ", ");
		add_member(t, "at", at, ", ");
		add_member(t, "id", list[i].id, "}");
	}
}

/* Each handler but the last leaves the request to the next one. */
static void write_found_marks(struct vprof_text *t, const struct vprof_found_interval *f)
{
	vprof_text_add(t, "\"begin\": [");
	write_marks(t, f->begins, f->n_begins, "entry", 0);
	vprof_text_add(t, "],\n      \"suspend\": [");
	write_marks(t, f->begins, f->n_begins, "exit", 0);
	write_marks(t, f->resumes, f->n_resumes, "exit", f->n_begins);
	vprof_text_add(t, "],\n      \"resume\": [");
	write_marks(t, f->resumes, f->n_resumes, "entry", 0);
	write_marks(t, f->ends, f->n_ends, "entry", f->n_resumes);
	vprof_text_add(t, "],\n      \"end\": [");
	write_marks(t, f->ends, f->n_ends, "exit", 0);
	vprof_text_add(t, "],\n");
}

static void write_own_marks(struct vprof_text *t, const struct vprof_interval_proposal *p)
{
	vprof_text_add(t, "\"begin\": {");
	add_member(t, "function", p->function, p->begins_at_exit ? ", \"at\": \"exit\", " : ", \"at\": \"entry\", ");
	add_member(t, "id", p->id, "},\n      ");
	if (p->is_left && !p->begins_at_exit) {
		vprof_text_add(t, "\"suspend\": {");
		add_member(t, "function", p->function, ", \"at\": \"exit\", ");
		add_member(t, "id", p->id, "},\n      \"resume\": {");
		add_member(t, "function", p->end, ", \"at\": \"entry\", ");
		add_member(t, "id", p->end_id, "},\n      ");
	}
	vprof_text_add(t, p->given_up ? "\"end\": [{" : "\"end\": {");
	add_member(t, "function", p->end ? p->end : p->function,
		   p->ends_at_entry ? ", \"at\": \"entry\", " : ", \"at\": \"exit\", ");
	add_member(t, "id", p->end ? p->end_id : p->id, p->given_up ? "},\n              {" : "},\n");
	if (p->given_up) {
		add_member(t, "function", p->given_up, ", \"at\": \"exit\", ");
		add_member(t, "id", p->given_up_id, "}],\n");
	}
}

static void write_interval(struct vprof_text *t, const struct vprof_draft *d)
{
	const struct vprof_interval_proposal *p = &d->intervals[0];
	size_t i;

	vprof_text_add(t, "    {\n      ");
	add_member(t, "name", "request", ",\n      ");
	vprof_text_addf(t, "\"_why\": ");
	add_string(t, p->why);
	vprof_text_addf(t, ",\n      \"_where\": ");
	add_string(t, p->where);
	vprof_text_add(t, ",\n      ");
	add_member(t, "_confidence", p->confidence, ",\n      ");
	if (p->found)
		write_found_marks(t, p->found);
	else
		write_own_marks(t, p);
	if (d->type_hint) {
		vprof_text_add(t, "      ");
		add_member(t, "_type", d->type_hint, ",\n");
	}
	vprof_text_add(t, "      \"_alternatives\": [");
	for (i = 1; i < d->n_intervals; i++) {
		vprof_text_addf(t, "%s\n        { ", i > 1 ? "," : "");
		add_member(t, "function", d->intervals[i].function, ", ");
		add_member(t, "where", d->intervals[i].where, ", ");
		add_member(t, "id", d->intervals[i].id, ", ");
		if (d->intervals[i].end)
			add_member(t, "end", d->intervals[i].end, ", ");
		if (d->intervals[i].end && strcmp(d->intervals[i].id, d->intervals[i].end_id))
			add_member(t, "end_id", d->intervals[i].end_id, ", ");
		add_member(t, "confidence", d->intervals[i].confidence, ",\n          ");
		add_member(t, "why", d->intervals[i].why, " }");
	}
	vprof_text_add(t, d->n_intervals > 1 ? "\n      ]\n    }" : "]\n    }");
}

static void write_intervals(struct vprof_text *t, const struct vprof_draft *d)
{
	if (d->annotated_in) {
		vprof_text_add(t, "  \"intervals\": [],\n  \"_intervals\": \"the code itself is annotated: "
				  "vprof_begin is called in ");
		add_escaped(t, d->annotated_in);
		vprof_text_add(t, "\",\n");
		return;
	}
	if (d->n_intervals) {
		vprof_text_add(t, "  \"intervals\": [\n");
		write_interval(t, d);
		vprof_text_add(t, "\n  ],\n");
		return;
	}
	vprof_text_add(t, "  \"intervals\": [],\n  ");
	add_member(t, "_intervals",
		   "no function looked like a request handler; write {\"name\": \"request\", \"begin\": "
		   "{\"function\", \"id\"}, "
		   "\"end\": {\"function\", \"at\": \"exit\", \"id\"}}, or call vprof_begin() and "
		   "vprof_end() in the code",
		   ",\n");
}

/* The hot path of a recorded run. */
static void write_first(struct vprof_text *t, const struct vprof_draft *d)
{
	if (!d->n_first)
		return;
	vprof_text_add(t, "  \"measure_first\": [");
	for (size_t i = 0; i < d->n_first; i++) {
		vprof_text_add(t, i ? ", " : "");
		add_string(t, d->first[i]);
	}
	vprof_text_add(t, "],\n  ");
	add_member(t, "_measure_first", d->first_why, ",\n");
}

static void write_lock(struct vprof_text *t, const struct vprof_sync_proposal *p, int first, const char *margin)
{
	vprof_text_addf(t, "%s\n%s{ ", first ? "" : ",", margin);
	add_member(t, p->acquire ? "acquire" : "release", p->acquire ? p->acquire : p->release, ", ");
	add_member(t, "object", p->acquire ? p->acquire_object : p->release_object, ", ");
	add_member(t, "_where", p->where, ",\n");
	vprof_text_addf(t, "%s  ", margin);
	add_member(t, "_why", p->why, " }");
	if (!p->acquire || !p->release || !p->release_object)
		return;
	vprof_text_addf(t, ",\n%s{ ", margin);
	add_member(t, "release", p->release, ", ");
	add_member(t, "object", p->release_object, " }");
}

static void write_locks(struct vprof_text *t, const struct vprof_draft *d, int custom, const char *key,
			const char *margin)
{
	size_t i, n = 0;

	vprof_text_addf(t, "%s\"%s\": [", margin, key);
	for (i = 0; i < d->n_sync; i++) {
		if (d->sync[i].custom != custom)
			continue;
		write_lock(t, &d->sync[i], !n++, custom ? "    " : "      ");
	}
	vprof_text_addf(t, n ? "\n%s]" : "]", margin);
}

/* Did a queue before this one write the same end? Two functions may fill one queue. */
static int is_written(const struct vprof_draft *d, size_t queue, int is_dequeue)
{
	const struct vprof_queue_proposal *p = &d->queues[queue];

	for (size_t i = 0; i < queue; i++) {
		const struct vprof_queue_proposal *other = &d->queues[i];

		if (other->is_unconfirmed == p->is_unconfirmed &&
		    (is_dequeue ? !strcmp(other->dequeue, p->dequeue) && !strcmp(other->dequeue_item, p->dequeue_item) :
				  !strcmp(other->enqueue, p->enqueue) && !strcmp(other->enqueue_item, p->enqueue_item)))
			return 1;
	}
	return 0;
}

/* The entries of queues that a discovery run found or that nobody asked a run about, or else of the others. */
static void write_queues(struct vprof_text *t, const struct vprof_draft *d, int is_unconfirmed, const char *key,
			 const char *margin)
{
	size_t n = 0;

	vprof_text_addf(t, "%s\"%s\": [", margin, key);
	for (size_t i = 0; i < d->n_queues; i++) {
		const struct vprof_queue_proposal *p = &d->queues[i];

		if (p->is_unconfirmed != is_unconfirmed)
			continue;
		if (!is_written(d, i, 0)) {
			vprof_text_addf(t, "%s\n%s  { ", n++ ? "," : "", margin);
			add_member(t, "enqueue", p->enqueue, ", ");
			add_member(t, "item", p->enqueue_item, ", ");
			add_member(t, "_where", p->where, ",\n");
			vprof_text_addf(t, "%s    ", margin);
			add_member(t, "_why", p->why, " }");
		}
		if (is_written(d, i, 1))
			continue;
		vprof_text_addf(t, "%s\n%s  { ", n++ ? "," : "", margin);
		add_member(t, "dequeue", p->dequeue, ", ");
		add_member(t, "item", p->dequeue_item, p->dequeue_at_exit ? ", \"at\": \"exit\" }" : " }");
	}
	vprof_text_addf(t, n ? "\n%s]" : "]", margin);
}

/* What a discovery run saw pass, for which no entry can be written. */
static void write_open_flows(struct vprof_text *t, const struct vprof_draft *d)
{
	size_t n = 0;

	vprof_text_add(t, "    \"flows_without_entry\": [");
	for (size_t i = 0; i < d->found->n_seen; i++) {
		const struct vprof_seen_flow *s = &d->found->seen[i];

		if (!s->open)
			continue;
		vprof_text_addf(t, "%s\n      { ", n++ ? "," : "");
		add_member(t, "from", s->from, ", ");
		add_member(t, "to", s->to, ",\n        ");
		add_member(t, "why", s->open, " }");
	}
	vprof_text_add(t, n ? "\n    ],\n" : "],\n");
}

static void write_found(struct vprof_text *t, const struct vprof_draft *d)
{
	static const char *const kinds[] = { "main", "thread", "forks" };
	size_t i;

	vprof_text_add(t, "  \"_found\": {\n    \"entry_points\": [");
	for (i = 0; i < d->n_entries; i++) {
		vprof_text_addf(t, "%s\n      { ", i ? "," : "");
		add_member(t, "function", d->entries[i].function, ", ");
		add_member(t, "kind", kinds[d->entries[i].kind], ", ");
		add_member(t, "where", d->entries[i].where, ", ");
		add_member(t, "why", d->entries[i].why, " }");
	}
	vprof_text_add(t, d->n_entries ? "\n    ],\n" : "],\n");
	if (d->found) {
		write_queues(t, d, 1, "queues_not_confirmed", "    ");
		vprof_text_add(t, ",\n");
		write_open_flows(t, d);
	}
	write_locks(t, d, 0, "locks", "    ");
	vprof_text_add(t, "\n  }\n");
}

int vprof_draft_write(const struct vprof_draft *draft, const char *path, const char *build, const char *run,
		      struct vprof_error *err)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	int rc;

	vprof_text_addf(
		&t,
		"{\n  \"_about\": \"Drafted from %zu functions in %zu files. Keys that start with _ are remarks: read, correct, delete them. Then: vprof annotations\",\n  ",
		draft->n_functions, draft->n_files);
	if (build)
		add_member(&t, "build", build, ",\n  ");
	add_member(&t, "run", run ? run : "", ",\n");
	if (!run || !*run) {
		vprof_text_add(&t, "  ");
		add_member(&t, "_run",
			   "a command that starts the program, puts load on it and stops it, like \"./bench.sh\"",
			   ",\n");
	}
	write_intervals(&t, draft);
	write_first(&t, draft);
	write_locks(&t, draft, 1, "sync", "  ");
	vprof_text_add(&t, ",\n");
	write_queues(&t, draft, 0, "queues", "  ");
	vprof_text_add(&t, ",\n");
	write_found(&t, draft);
	vprof_text_add(&t, "}\n");
	rc = t.failed ? vprof_error_set(err, VPROF_ERR_NOMEM, "%s: out of memory while writing it", path) :
			vprof_file_write(path, t.s, t.len, err);
	vprof_text_release(&t);
	return rc;
}
