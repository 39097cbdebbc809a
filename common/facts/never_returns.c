/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/facts/never_returns.h"

#include <ctype.h>
#include <string.h>

#include "common/files.h"
#include "common/search.h"

#define DEPTH_MAX 4 /* functions that end by calling one another */

/* Where what is no code ends: blanks, comments, lines of the preprocessor. At `at` itself when there is code. */
static size_t skip_blank(const char *s, size_t at, size_t end)
{
	for (size_t from = end + 1; at < end && from != at;) {
		from = at;
		while (at < end && isspace((unsigned char)s[at]))
			at++;
		if (at + 1 < end && s[at] == '/' && s[at + 1] == '/')
			while (at < end && s[at] != '\n')
				at++;
		else if (at + 1 < end && s[at] == '/' && s[at + 1] == '*')
			for (at += 2; at < end && !(s[at - 1] == '*' && s[at] == '/' && at - from > 2); at++)
				;
		else if (at < end && s[at] == '#')
			while (at < end && (s[at] != '\n' || s[at - 1] == '\\'))
				at++;
		else
			continue;
		at += at < end && s[at] == '/';
	}
	return at;
}

static size_t skip_quoted(const char *s, size_t at, size_t end)
{
	char quote = s[at++];

	while (at < end && s[at] != quote)
		at += s[at] == '\\' ? 2 : 1;
	return at;
}

/* Of a body without its braces: does a statement begin at `to`, and is it the last one, ending at `call_end`? */
static int is_last_statement(const char *s, size_t body, size_t to, size_t call_end, size_t end)
{
	char before = 0;
	int depth = 0;

	for (size_t at = skip_blank(s, body, to); at < to; at = skip_blank(s, at + 1, to)) {
		if (s[at] == '"' || s[at] == '\'')
			at = skip_quoted(s, at, to);
		if (at >= to)
			return 0;
		depth += (s[at] == '{') - (s[at] == '}');
		before = s[at];
	}
	if (depth || (before && !strchr("{};", before)))
		return 0;
	for (size_t at = skip_blank(s, call_end, end); at < end; at = skip_blank(s, at + 1, end))
		if (s[at] != ';')
			return 0;
	return 1;
}

static int has_return(const struct vprof_facts *f, uint32_t id)
{
	size_t at = VPROF_BISECT(f->n_exits, i, f->exits[i].function < id);

	return at < f->n_exits && f->exits[at].function == id;
}

static const struct vprof_facts_call *last_call(const struct vprof_facts *f, uint32_t function, int depth)
{
	const struct vprof_facts_function *fn = &f->functions[function];
	const struct vprof_facts_file *file = vprof_facts_file(f, fn->file);
	const struct vprof_facts_call *last = NULL;
	struct vprof_text text = VPROF_TEXT_INIT;
	int is_it;

	if (has_return(f, fn->id) || !file)
		return NULL;
	for (uint32_t i = 0; i < fn->n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(f, fn, i);

		if (call->file == fn->file && (!last || call->end > last->end))
			last = call;
	}
	if (!last || (!last->is_noreturn &&
		      !(last->callee_function && depth && last_call(f, last->callee_function - 1, depth - 1))))
		return NULL;
	is_it = !vprof_file_read(file->path, &text, NULL) && fn->body_begin >= 0 && last->begin >= fn->body_begin &&
		last->end >= last->begin && fn->body_end >= last->end && (size_t)fn->body_end <= text.len &&
		is_last_statement(text.s, (size_t)fn->body_begin, (size_t)last->begin, (size_t)last->end,
				  (size_t)fn->body_end);
	vprof_text_release(&text);
	return is_it ? last : NULL;
}

const struct vprof_facts_call *vprof_facts_final_call(const struct vprof_facts *f, uint32_t function)
{
	return last_call(f, function, DEPTH_MAX);
}
