/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/top/top_source.h"

#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/plan.h"
#include "report/format_value.h"

#define TAB 8

struct place {
	const char *file, *name;
	int line;
};

/* A cause's own, else of what it folds together: waits stand in the function that waits. */
static struct place place_of_cause(const struct vprof_results *r, size_t row)
{
	const struct vprof_cause *c = &r->causes[row];
	struct place place = { c->file, c->name, c->line };

	for (size_t i = 0; i < c->n_nodes && (!place.file || !*place.file); i++) {
		uint32_t at = c->nodes[i];

		while (at && (!r->nodes[at].file || !*r->nodes[at].file))
			at = r->nodes[at].parent;
		place.file = r->nodes[at].file;
		place.line = r->nodes[at].line;
	}
	return place;
}

static struct place place_of_function(const struct vprof_plan *plan, const char *display)
{
	for (size_t i = 0; i < plan->n_probes; i++)
		if (!strcmp(plan->probes[i].display, display))
			return (struct place){ plan->probes[i].file, display, plan->probes[i].line };
	for (size_t i = 0; i < plan->n_closed; i++)
		if (!strcmp(plan->closed[i].display, display))
			return (struct place){ plan->closed[i].file, display, plan->closed[i].line };
	return (struct place){ NULL, display, 0 };
}

/* One line without its end. */
static char *clean_line(const char *at, size_t length)
{
	struct vprof_text spread = VPROF_TEXT_INIT, clean = VPROF_TEXT_INIT;

	vprof_text_add(&spread, "");
	for (size_t i = 0; i < length && at[i] != '\r'; i++)
		if (at[i] == '\t')
			vprof_text_addf(&spread, "%*s", (int)(TAB - spread.len % TAB), "");
		else
			vprof_text_append(&spread, &at[i], 1);
	vprof_text_add(&clean, "");
	if (spread.s)
		vprof_format_clean(&clean, spread.s);
	vprof_text_release(&spread);
	return vprof_text_detach(&clean);
}

static int split(struct vprof_top_source *s, const char *text)
{
	size_t n = 1;

	for (const char *at = text; *at; at++)
		n += *at == '\n';
	s->lines = calloc(n, sizeof *s->lines);
	if (!s->lines)
		return VPROF_ERR_NOMEM;
	while (*text) {
		size_t length = strcspn(text, "\n");

		s->lines[s->n] = clean_line(text, length);
		if (!s->lines[s->n])
			return VPROF_ERR_NOMEM;
		s->n++;
		text += length + (text[length] == '\n');
	}
	return VPROF_OK;
}

static int read_file(struct vprof_top_source *s, const struct vprof_plan *plan, const struct place *place,
		     struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT, title = VPROF_TEXT_INIT;
	char *path;
	int rc;

	if (!place->file || !*place->file)
		return vprof_error_set(err, VPROF_ERR_MISSING, "no source is known for it");
	path = vprof_path_absolute(plan->root, place->file);
	rc = path ? vprof_file_read(path, &text, err) : vprof_error_no_memory(err);
	if (!rc && split(s, text.s ? text.s : ""))
		rc = vprof_error_no_memory(err);
	vprof_text_addf(&title, "%s:%d  %s", place->file, place->line, place->name);
	s->title = vprof_text_detach(&title);
	s->line = place->line > 0 ? (size_t)place->line : 1;
	vprof_text_release(&text);
	free(path);
	return rc;
}

int vprof_top_source_read(struct vprof_top_source *s, const struct vprof_project *p, const struct vprof_top *top,
			  enum vprof_top_list list, size_t row, struct vprof_error *err)
{
	const char *name = vprof_top_row(top, list, row);
	char *path = vprof_project_run_path(p, top->status.run, "plan.json");
	struct vprof_plan *plan = NULL;
	struct place place;
	int rc = path ? vprof_plan_read(&plan, path, err) : vprof_error_no_memory(err);

	*s = (struct vprof_top_source){ .n = 0 };
	if (!rc && !name)
		rc = vprof_error_set(err, VPROF_ERR_MISSING, "nothing is chosen");
	if (!rc) {
		place = list == VPROF_TOP_CAUSES ? place_of_cause(top->results, row) : place_of_function(plan, name);
		rc = read_file(s, plan, &place, err);
	}
	vprof_plan_free(plan);
	free(path);
	return rc;
}

void vprof_top_source_release(struct vprof_top_source *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->lines[i]);
	free(s->lines);
	free(s->title);
	*s = (struct vprof_top_source){ .n = 0 };
}
