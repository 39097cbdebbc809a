/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of an annotation's C expression: a scanner that knows literals and brackets, nothing more. */
#include "annotate/check/expression.h"

#include <ctype.h>
#include <string.h>

#define DEPTH_MAX 64
#define LENGTH_MAX 4000

/* Just past the literal that starts at p (a quote), or NULL when it is not closed. */
static const char *literal_end(const char *p)
{
	char quote = *p++;

	for (; *p && *p != quote; p++)
		if (*p == '\\' && !*++p)
			return NULL;
	return *p ? p + 1 : NULL;
}

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* A digit separator of C++ (1'000) is not a character literal. */
static int starts_literal(const char *text, const char *p)
{
	const char *word = p;

	if (*p == '"')
		return 1;
	if (*p != '\'')
		return 0;
	while (word > text && (is_word(word[-1]) || word[-1] == '\''))
		word--;
	return word == p || !isdigit((unsigned char)*word);
}

static const char *byte_fault(const char *p, int depth)
{
	if (*p == '\n' || *p == '\r')
		return "an expression must stay on one line";
	if ((unsigned char)*p < 0x20 && *p != '\t')
		return "control character in the expression";
	if (*p == '/' && (p[1] == '/' || p[1] == '*'))
		return "an expression must not contain comments; use a key that starts with \"_\"";
	if (*p == '#')
		return "an expression must not contain '#'";
	if (*p == '\\')
		return "a backslash is only allowed inside a string";
	if (*p == ';' && !depth)
		return "this is more than one expression; leave out the ';'";
	if (*p == ',' && !depth)
		return "a comma at the top level; put the expression in parentheses";
	return NULL;
}

const char *vprof_expression_fault(const char *text)
{
	char open[DEPTH_MAX];
	int depth = 0;
	const char *p = text, *fault;

	if (!text[strspn(text, " \t")])
		return "the expression is empty";
	if (strlen(text) > LENGTH_MAX)
		return "the expression is too long; write a function and call it";
	while (*p) {
		if (starts_literal(text, p)) {
			p = literal_end(p);
			if (!p)
				return "a quote is not closed";
			continue;
		}
		fault = byte_fault(p, depth);
		if (fault)
			return fault;
		if (strchr("([{", *p)) {
			if (depth == DEPTH_MAX)
				return "nested too deeply; write a function and call it";
			open[depth++] = *p;
		} else if (strchr(")]}", *p)) {
			if (!depth || open[depth - 1] != (*p == ')' ? '(' : *p == ']' ? '[' : '{'))
				return "brackets do not match";
			depth--;
		}
		p++;
	}
	return depth ? "a bracket is not closed" : NULL;
}

/* The next $return at or after p, or NULL. */
static const char *next_return(const char *text, const char *p)
{
	while (*p) {
		if (starts_literal(text, p)) {
			p = literal_end(p);
			if (!p)
				return NULL;
			continue;
		}
		if (*p == '$' && !strncmp(p, "$return", 7) && !is_word(p[7]) && (p == text || !is_word(p[-1])))
			return p;
		p++;
	}
	return NULL;
}

int vprof_expression_uses_return(const char *text)
{
	return text && next_return(text, text) != NULL;
}

void vprof_expression_with_return(struct vprof_text *out, const char *text, const char *name)
{
	const char *p = text, *hit;

	while ((hit = next_return(text, p))) {
		vprof_text_append(out, p, (size_t)(hit - p));
		vprof_text_add(out, name);
		p = hit + 7;
	}
	vprof_text_add(out, p);
}
