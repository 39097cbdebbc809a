/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/awaited.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/text.h"

#define CALL_LINES 3 /* a call may go on in the next lines */

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Behind the parenthesis that opens the callee's arguments; NULL: no call of it. */
static const char *arguments_of(const char *text, const char *callee)
{
	size_t n = strlen(callee);
	const char *at = text;

	while (n && (at = strstr(at, callee))) {
		const char *after = at + n + strspn(at + n, " \t");

		if ((at == text || !is_word(at[-1])) && *after == '(')
			return after + 1;
		at += n;
	}
	return NULL;
}

void vprof_awaited_of(const char *text, const char *callee, char out[VPROF_AWAITED_BYTES])
{
	const char *at = arguments_of(text, callee), *end;
	int depth = 0;
	size_t n = 0;

	*out = 0;
	if (!at)
		return;
	at += strspn(at, " \t\n&");
	for (end = at; *end && *end != '"' && *end != '\\'; end++) {
		if (!depth && (*end == ',' || *end == ')'))
			break;
		depth += (*end == '(' || *end == '[') - (*end == ')' || *end == ']');
		if (isspace((unsigned char)*end) && n && out[n - 1] == ' ')
			continue;
		if (n + 1 == VPROF_AWAITED_BYTES || !isprint(isspace((unsigned char)*end) ? ' ' : (unsigned char)*end))
			break;
		out[n++] = isspace((unsigned char)*end) ? ' ' : *end;
	}
	while (n && out[n - 1] == ' ')
		n--;
	out[*end == ',' || *end == ')' ? n : 0] = 0;
}

/* CALL_LINES lines from `line` on; heap text, NULL when there are none. */
static char *lines_at(const struct vprof_text *source, int line)
{
	const char *at = source->s, *end;

	for (int i = 1; at && i < line; i++)
		at = (at = strchr(at, '\n')) ? at + 1 : NULL;
	if (!at)
		return NULL;
	end = at;
	for (int i = 0; i < CALL_LINES && *end; i++)
		end += strcspn(end, "\n") + (end[strcspn(end, "\n")] == '\n');
	return strndup(at, (size_t)(end - at));
}

/* What `callee` in file:line waits for, into *awaited, which stays what it was when that cannot be told. */
static int fill(struct vprof_results *r, const char *root, const char *file, int line, const char *callee,
		const char **awaited)
{
	struct vprof_text source = VPROF_TEXT_INIT;
	char *path = vprof_path_absolute(root, file), *text = NULL;
	char found[VPROF_AWAITED_BYTES] = "";
	const char *copy = *awaited;

	if (path && !vprof_file_read(path, &source, NULL))
		text = lines_at(&source, line);
	if (text)
		vprof_awaited_of(text, callee, found);
	if (*found)
		copy = vprof_results_string(r, found);
	*awaited = copy ? copy : "";
	free(text);
	free(path);
	vprof_text_release(&source);
	return copy ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int fill_locks(struct vprof_results *r, const char *root)
{
	int rc = VPROF_OK;

	for (size_t i = 0; i < r->n_crosstalk && !rc; i++)
		for (size_t k = 0; k < r->crosstalk[i].n_locks && !rc; k++) {
			struct vprof_crosstalk_lock *lock = (struct vprof_crosstalk_lock *)&r->crosstalk[i].locks[k];

			if (lock->is_call && lock->line > 0)
				rc = fill(r, root, lock->file, lock->line, lock->name, &lock->awaited);
		}
	for (size_t i = 0; i < r->n_knots && !rc; i++)
		for (size_t k = 0; k < r->knots[i].n_locks && !rc; k++) {
			struct vprof_knot_lock *lock = (struct vprof_knot_lock *)&r->knots[i].locks[k];

			if (*lock->object && lock->line > 0)
				rc = fill(r, root, lock->file, lock->line, lock->name, &lock->awaited);
		}
	return rc;
}

int vprof_awaited_fill(struct vprof_results *r, const char *root)
{
	int rc = VPROF_OK;

	for (size_t i = 0; i < r->n_causes && !rc; i++)
		for (size_t k = 0; k < r->causes[i].n_steps && !rc; k++) {
			struct vprof_step *step = (struct vprof_step *)&r->causes[i].steps[k];

			if (*step->object && *step->file && step->line > 0)
				rc = fill(r, root, step->file, step->line, step->name, &step->awaited);
		}
	return rc ? rc : fill_locks(r, root);
}
