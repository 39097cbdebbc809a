/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that stands in a file twice meets the preprocessor in the same state both times, unless it changes that itself.
 */
#define _GNU_SOURCE
#include "instrumenter/splice/splice_repeat.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"

static const char *line_end(const char *s, const char *end)
{
	const char *newline = memchr(s, '\n', (size_t)(end - s));

	return newline ? newline : end;
}

/* The directive of a line, "" when it has none. */
static void directive(const char *s, const char *end, char word[16])
{
	size_t n = 0;

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	if (s < end && *s == '#') {
		s++;
		while (s < end && (*s == ' ' || *s == '\t'))
			s++;
		while (n < 15 && s < end && isalnum((unsigned char)*s))
			word[n++] = *s++;
	}
	word[n] = 0;
}

static int is_one_of(const char *word, const char *list)
{
	const char *at = strstr(list, word);
	size_t n = strlen(word);

	return n && at && (at == list || at[-1] == ' ') && (!at[n] || at[n] == ' ');
}

/* The macro that a #define or #undef names. */
static size_t macro_named(const char *line, const char *end, const char **name)
{
	const char *s = memchr(line, 'd', (size_t)(end - line)); /* "define", "undef": one way or the other behind it */
	size_t n = 0;

	while (s && s < end && isalpha((unsigned char)*s))
		s++;
	while (s && s < end && (*s == ' ' || *s == '\t'))
		s++;
	while (s && s + n < end && (isalnum((unsigned char)s[n]) || s[n] == '_'))
		n++;
	*name = s;
	return n;
}

/* Does a condition of the text ask for the macro? */
static int asks_for(const char *text, const char *end, const char *name, size_t n)
{
	for (const char *line = text, *next; line < end; line = next + 1) {
		char word[16];

		next = line_end(line, end);
		directive(line, next, word);
		if (!is_one_of(word, "if ifdef ifndef elif elifdef elifndef"))
			continue;
		for (const char *at = line; (at = memmem(at, (size_t)(next - at), name, n)); at++)
			if (!isalnum((unsigned char)at[n]) && at[n] != '_')
				return 1;
	}
	return 0;
}

static int can_repeat(const struct vprof_facts *facts, const char *text, size_t n, int depth_left);

/* Can the file that a line of the text includes be read twice? */
static int can_include_again(const struct vprof_facts *facts, const char *line, const char *end, int depth_left)
{
	const char *open = memchr(line, '"', (size_t)(end - line));
	const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
	int found = 0, ok = depth_left > 0;

	for (size_t i = 0; close && ok && i < facts->n_files; i++) {
		const char *path = facts->files[i].path;
		size_t k = strlen(path), n = (size_t)(close - open - 1);
		struct vprof_text text = VPROF_TEXT_INIT;

		if (k <= n || path[k - n - 1] != '/' || memcmp(path + k - n, open + 1, n))
			continue;
		found = 1;
		ok = !vprof_file_read(path, &text, NULL) && can_repeat(facts, text.s, text.len, depth_left - 1);
		vprof_text_release(&text);
	}
	return found && ok;
}

/* Are all conditions of the text closed in it, and does it mean the same when it stands there twice? */
static int can_repeat(const struct vprof_facts *facts, const char *text, size_t n, int depth_left)
{
	const char *end = text + n;
	int depth = 0;

	for (const char *line = text, *next; line < end; line = next + 1) {
		const char *name;
		char word[16];
		size_t k;

		next = line_end(line, end);
		directive(line, next, word);
		if (is_one_of(word, "if ifdef ifndef")) {
			depth++;
		} else if (!strcmp(word, "endif")) {
			depth--;
		} else if (is_one_of(word, "elif else elifdef elifndef")) {
			if (!depth)
				return 0;
		} else if (is_one_of(word, "define undef")) {
			k = macro_named(line, next, &name);
			if (!k || asks_for(text, end, name, k))
				return 0;
		} else if (!strcmp(word, "include")) {
			if (!can_include_again(facts, line, next, depth_left))
				return 0;
		} else if (!strcmp(word, "pragma")) {
			if (memmem(line, (size_t)(next - line), "once", 4))
				return 0;
		} else if (*word && !is_one_of(word, "error warning")) {
			return 0;
		}
		if (depth < 0)
			return 0;
	}
	return !depth;
}

int vprof_text_can_repeat(const struct vprof_facts *facts, const char *text, size_t n)
{
	return can_repeat(facts, text, n, 3);
}

unsigned long vprof_text_line_at(const struct vprof_text *text, size_t offset)
{
	const char *s = text->s, *end = text->s + offset;
	unsigned long number = 1;

	while (line_end(s, end) < end) {
		const char *next = line_end(s, end);
		char word[16];

		directive(s, next, word);
		if (isdigit((unsigned char)*word)) {
			number = strtoul(word, NULL, 10) - 1;
		} else if (!strcmp(word, "line")) {
			const char *digits = strstr(s, "line") + 4;

			while (digits < next && (*digits == ' ' || *digits == '\t'))
				digits++;
			if (isdigit((unsigned char)*digits))
				number = strtoul(digits, NULL, 10) - 1;
		}
		number++;
		s = next + 1;
	}
	return number;
}
