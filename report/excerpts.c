/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function is shown whole when it is short; else its first lines, and those around the calls that are measured. */
#include "report/excerpts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/files.h"

#define EXCERPTS_MAX 40
#define FACTORS_LOOKED_AT 60
#define WHOLE_LINES 90 /* a function of up to so many lines is shown whole */
#define HEAD_LINES 6   /* else so many of its first */
#define AROUND_LINES 5 /* and these before and after a marked one */
#define LINES_MAX 240
#define LINE_BYTES_MAX 400
#define FILE_BYTES_MAX (8 << 20)
#define MARKS_MAX 60

struct mark {
	int line;
	uint32_t node;
};

struct place {
	const char *file;   /* as in the results */
	int line, end_line; /* end_line 0: not known */
	uint32_t node;
	struct mark marks[MARKS_MAX];
	size_t n_marks;
};

struct source {
	char *path; /* NULL: none */
	struct vprof_text text;
	int64_t changed;
};

/* Reads root/file when that is a regular file beneath the root; else source->path stays NULL. */
static void read_source(struct source *s, const char *root, const char *file)
{
	char *joined = vprof_path_absolute(root, file), *path = joined ? realpath(joined, NULL) : NULL;
	char *real_root = realpath(root, NULL);
	struct stat st;

	if (path && real_root && vprof_path_inside(real_root, path) && !stat(path, &st) && S_ISREG(st.st_mode) &&
	    st.st_size <= FILE_BYTES_MAX && !vprof_file_read(path, &s->text, NULL)) {
		s->changed = (int64_t)st.st_mtime;
		s->path = joined;
		joined = NULL;
	}
	free(joined);
	free(path);
	free(real_root);
}

static const struct vprof_facts_function *function_at(const struct vprof_facts *facts, const char *name,
						      const char *file, int line)
{
	uint32_t found[64];
	size_t n = facts ? vprof_facts_find(facts, name, file, found, 64) : 0;

	for (size_t i = 0; i < n && i < 64; i++)
		if (facts->functions[found[i]].line == line)
			return &facts->functions[found[i]];
	return NULL;
}

static void add_mark(struct place *p, int line, uint32_t node)
{
	for (size_t i = 0; i < p->n_marks; i++)
		if (p->marks[i].line == line && p->marks[i].node == node)
			return;
	if (p->n_marks < MARKS_MAX)
		p->marks[p->n_marks++] = (struct mark){ line, node };
}

/* Marks the calls of the node's measured children. */
static void mark_children(struct place *p, const struct vprof_results *r, const struct vprof_node *n,
			  const struct vprof_facts *facts, const struct vprof_facts_function *f)
{
	for (uint32_t i = n->first_child; i < n->first_child + n->n_children; i++) {
		const struct vprof_node *child = &r->nodes[i];

		if (child->kind == VPROF_NODE_SITE || child->kind == VPROF_NODE_POINTER) {
			if (child->line > 0 && !strcmp(child->file, p->file))
				add_mark(p, child->line, i);
		} else if (child->kind == VPROF_NODE_FUNCTION && f) {
			for (uint32_t c = f->first_call; c < f->first_call + f->n_calls; c++) {
				const struct vprof_facts_call *call = &facts->calls[facts->calls_by_caller[c]];

				if (call->callee && !strcmp(call->callee, child->name))
					add_mark(p, call->line, i);
			}
		}
	}
}

/* The function or call at which a node sits: itself, or, for a wait, a body or a queue, the nearest above with a place.
 */
static int place_of(struct place *p, const struct vprof_results *r, uint32_t node, const struct vprof_facts *facts)
{
	const struct vprof_node *n = &r->nodes[node];
	const struct vprof_facts_function *f;

	while (node && (n->kind == VPROF_NODE_BODY || !n->file || !*n->file || n->line <= 0)) {
		node = n->parent;
		n = &r->nodes[node];
	}
	if (!node)
		return 0;
	*p = (struct place){ .file = n->file, .line = n->line, .node = node };
	if (n->kind == VPROF_NODE_FUNCTION) {
		f = function_at(facts, n->name, n->file, n->line);
		p->end_line = f ? f->end_line : 0;
		mark_children(p, r, n, facts, f);
	} else {
		add_mark(p, n->line, node);
	}
	return 1;
}

static int is_shown(const struct place *p, int line, int last)
{
	int end = p->end_line ? p->end_line : p->line + 3 * AROUND_LINES;
	int first = p->end_line ? p->line - 1 : p->line - 3 * AROUND_LINES;

	if (line < first || line > end || line > last)
		return 0;
	if (end - first <= WHOLE_LINES || line < p->line + HEAD_LINES || line == end)
		return 1;
	for (size_t i = 0; i < p->n_marks; i++)
		if (abs(line - p->marks[i].line) <= AROUND_LINES)
			return 1;
	return 0;
}

static cJSON *line_row(int number, const char *s, size_t n)
{
	cJSON *row = cJSON_CreateArray(), *v, *text;
	char *copy;

	while (n && (s[n - 1] == '\r'))
		n--;
	n = n > LINE_BYTES_MAX ? LINE_BYTES_MAX : n;
	copy = strndup(s, n);
	v = cJSON_CreateNumber(number);
	text = copy ? cJSON_CreateString(copy) : NULL;
	free(copy);
	if (row && v && text) {
		cJSON_AddItemToArray(row, v);
		cJSON_AddItemToArray(row, text);
		return row;
	}
	cJSON_Delete(row);
	cJSON_Delete(v);
	cJSON_Delete(text);
	return NULL;
}

static int add_lines(cJSON *o, const struct place *p, const struct source *source)
{
	cJSON *lines = cJSON_AddArrayToObject(o, "lines"), *marks = cJSON_AddArrayToObject(o, "marks");
	const char *s = source->text.s, *end = s + source->text.len, *eol;
	int n_shown = 0;

	if (!lines || !marks)
		return 0;
	for (int number = 1; s < end && n_shown < LINES_MAX; number++, s = eol + 1) {
		eol = memchr(s, '\n', (size_t)(end - s));
		eol = eol ? eol : end;
		if (is_shown(p, number, INT32_MAX)) {
			cJSON *row = line_row(number, s, (size_t)(eol - s));

			if (!row)
				return 0;
			cJSON_AddItemToArray(lines, row);
			n_shown++;
		}
	}
	for (size_t i = 0; i < p->n_marks; i++) {
		const double numbers[] = { p->marks[i].line, p->marks[i].node };
		cJSON *row = cJSON_CreateDoubleArray(numbers, 2);

		if (!row)
			return 0;
		cJSON_AddItemToArray(marks, row);
	}
	return 1;
}

static int add_excerpt(cJSON *list, const struct vprof_results *r, const struct place *p, const char *root,
		       int64_t run_time)
{
	struct source source = { .text = VPROF_TEXT_INIT };
	cJSON *o = cJSON_CreateObject();
	int ok = o && cJSON_AddItemToArray(list, o);

	if (!ok) {
		cJSON_Delete(o);
		return 0;
	}
	read_source(&source, root, p->file);
	ok = cJSON_AddStringToObject(o, "file", p->file) &&
	     cJSON_AddStringToObject(o, "path", source.path ? source.path : "") &&
	     cJSON_AddStringToObject(o, "name", r->nodes[p->node].name ? r->nodes[p->node].name : "") &&
	     cJSON_AddNumberToObject(o, "line", p->line) && cJSON_AddNumberToObject(o, "node", p->node) &&
	     cJSON_AddNumberToObject(o, "is_changed", run_time && source.changed > run_time) &&
	     add_lines(o, p, &source);
	vprof_text_release(&source.text);
	free(source.path);
	return ok;
}

static int is_there(const struct place *done, size_t n, const struct place *p)
{
	for (size_t i = 0; i < n; i++)
		if (done[i].line == p->line && !strcmp(done[i].file, p->file))
			return 1;
	return 0;
}

static int add_place(cJSON *list, struct place *done, size_t *n_done, const struct vprof_results *r, uint32_t node,
		     const struct vprof_facts *facts, const char *root, int64_t run_time)
{
	struct place *p = &done[*n_done];

	if (*n_done == EXCERPTS_MAX || !place_of(p, r, node, facts) || is_there(done, *n_done, p))
		return 1;
	++*n_done;
	return add_excerpt(list, r, p, root, run_time);
}

cJSON *vprof_excerpts(const struct vprof_results *r, const struct vprof_facts *facts, const char *root,
		      int64_t run_time)
{
	struct place *done = calloc(EXCERPTS_MAX, sizeof *done);
	cJSON *list = cJSON_CreateArray();
	size_t n_done = 0;
	int ok = done && list;

	for (size_t i = 0; ok && i < r->n_factors && i < FACTORS_LOOKED_AT; i++) {
		const struct vprof_factor *f = &r->factors[i];

		for (size_t k = 0; ok && k < f->n_nodes && k < 3; k++) {
			if (f->kind == VPROF_FACTOR_VARIANCE) {
				ok = add_place(list, done, &n_done, r, f->nodes[k], facts, root, run_time);
			} else {
				const struct vprof_covariance *c = &r->covariances[f->nodes[k]];

				ok = add_place(list, done, &n_done, r, c->a, facts, root, run_time) &&
				     add_place(list, done, &n_done, r, c->b, facts, root, run_time);
			}
		}
	}
	free(done);
	if (ok)
		return list;
	cJSON_Delete(list);
	return NULL;
}
