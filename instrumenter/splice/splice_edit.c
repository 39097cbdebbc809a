/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ordering and applying insertions (the rules are in splice_edit.h). */
#include "instrumenter/splice/splice_edit.h"

#include <ctype.h>
#include <stdlib.h>

void vprof_edits_add(struct vprof_edits *e, uint32_t file, enum vprof_edit_class where, int64_t at, int64_t other,
		     int rank, struct vprof_text *text)
{
	if (e->n == e->cap) {
		size_t cap = e->cap ? e->cap * 2 : 64;
		struct vprof_edit *grown = realloc(e->list, cap * sizeof *grown);

		if (!grown) {
			e->failed = 1;
			vprof_text_release(text);
			return;
		}
		e->list = grown;
		e->cap = cap;
	}
	e->failed |= text->failed;
	for (size_t i = 0; i < text->len; i++)
		if (text->s[i] == '\n' || text->s[i] == '\r')
			text->s[i] = ' ';
	e->list[e->n] = (struct vprof_edit){ .file = file,
					     .where = where,
					     .at = at,
					     .other = other,
					     .rank = rank,
					     .sequence = (uint32_t)e->n,
					     .text = vprof_text_detach(text) };
	e->failed |= !e->list[e->n].text;
	e->n++;
}

void vprof_edits_add_lines(struct vprof_edits *e, uint32_t file, enum vprof_edit_class where, int64_t at, int64_t other,
			   struct vprof_text *text, struct vprof_text *behind)
{
	size_t n = e->n;
	char *lines = vprof_text_detach(text);

	vprof_edits_add(e, file, where, at, other, 0, text);
	if (e->n == n || !lines || (behind && behind->failed)) {
		e->failed = 1;
		free(lines);
	} else {
		free(e->list[n].text);
		e->list[n].text = lines;
		e->list[n].behind = behind ? vprof_text_detach(behind) : NULL;
	}
	if (behind)
		vprof_text_release(behind);
}

void vprof_edits_belong(struct vprof_edits *e, size_t first, enum vprof_edit_copies copies)
{
	for (size_t i = first; i < e->n; i++)
		e->list[i].copies = copies;
}

void vprof_edits_enclose(struct vprof_edits *e, uint32_t file, int64_t begin, int64_t end, int rank,
			 struct vprof_text *before, struct vprof_text *after)
{
	vprof_edits_add(e, file, VPROF_EDIT_OPEN, begin, end, rank, before);
	vprof_edits_add(e, file, VPROF_EDIT_CLOSE, end, begin, rank, after);
}

static int order(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare(const void *pa, const void *pb)
{
	const struct vprof_edit *a = pa, *b = pb;
	int c = order(a->file, b->file);

	if (!c)
		c = order(a->at, b->at);
	if (!c)
		c = order(a->where, b->where);
	if (c)
		return c;
	if (a->where == VPROF_EDIT_CLOSE) {
		c = order(b->other, a->other);
		if (!c)
			c = order(b->rank, a->rank);
		return c ? c : order(b->sequence, a->sequence);
	}
	if (a->where == VPROF_EDIT_OPEN)
		c = order(b->other, a->other);
	if (!c)
		c = order(a->rank, b->rank);
	return c ? c : order(a->sequence, b->sequence);
}

void vprof_edits_sort(struct vprof_edits *e)
{
	if (e->n)
		qsort(e->list, e->n, sizeof *e->list, compare);
}

void vprof_edits_release(struct vprof_edits *e)
{
	for (size_t i = 0; i < e->n; i++) {
		free(e->list[i].text);
		free(e->list[i].behind);
	}
	free(e->list);
	*e = (struct vprof_edits){ 0 };
}

/* Is the byte before a body's begin one that can be there? '{', its digraph, or the end of a __label__ declaration. */
static int fits(const struct vprof_edit *e, const struct vprof_text *t)
{
	if (e->at < (e->where != VPROF_EDIT_BEFORE) || e->at > (int64_t)t->len || e->other < 0 ||
	    e->other > (int64_t)t->len)
		return 0;
	if (e->where == VPROF_EDIT_ENTRY)
		return t->s[e->at - 1] == '{' || t->s[e->at - 1] == ';' || t->s[e->at - 1] == '%';
	if (e->where == VPROF_EDIT_EXIT)
		return e->at < (int64_t)t->len && (t->s[e->at] == '}' || t->s[e->at] == '%');
	if (e->where == VPROF_EDIT_COPY)
		return t->s[e->at - 1] == '}' && e->other < e->at;
	if (e->where == VPROF_EDIT_NAME)
		return t->s[e->at - 1] == '_' || isalnum((unsigned char)t->s[e->at - 1]);
	return 1;
}

/* The edited text of original[from .. to), with those edits of list[0 .. n) that lie in it, as a copy of it has them.
 */
static void add_copy(const struct vprof_edit *list, size_t n, const struct vprof_text *original, size_t from, size_t to,
		     struct vprof_text *out)
{
	size_t at = from;

	for (size_t i = 0; i < n; i++) {
		const struct vprof_edit *e = &list[i];

		if ((size_t)e->at < from || (size_t)e->at > to || e->copies == VPROF_EDIT_ORIGINAL_ONLY ||
		    (e->where >= VPROF_EDIT_COPY && e->where <= VPROF_EDIT_BEFORE) ||
		    (e->where == VPROF_EDIT_OPEN && (size_t)e->at == to) ||
		    (e->where == VPROF_EDIT_CLOSE && (size_t)e->at == from))
			continue;
		vprof_text_append(out, original->s + at, (size_t)e->at - at);
		vprof_text_add(out, e->text);
		at = (size_t)e->at;
	}
	vprof_text_append(out, original->s + at, to - at);
}

int vprof_edits_apply(const struct vprof_edit *list, size_t n, const struct vprof_text *original, const char *path,
		      struct vprof_text *out, struct vprof_error *err)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (list[i].copies == VPROF_EDIT_COPY_ONLY && fits(&list[i], original))
			continue;
		if (!fits(&list[i], original))
			return vprof_error_set(
				err, VPROF_ERR_STALE,
				"%s: the facts do not match this file at byte %lld; run `vprof init` to scan the sources again",
				path, (long long)list[i].at);
		vprof_text_append(out, original->s + at, (size_t)list[i].at - at);
		vprof_text_add(out, list[i].text);
		at = (size_t)list[i].at;
		if (list[i].where == VPROF_EDIT_COPY) {
			add_copy(list, i, original, (size_t)list[i].other, at, out);
			vprof_text_add(out, list[i].behind);
		}
	}
	vprof_text_append(out, original->s + at, original->len - at);
	if (out->failed)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory instrumenting %s", path);
	return VPROF_OK;
}
