/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strict JSON reader that remembers places. Recursive descent over a byte buffer; every read checks the
 * end. */
#include "common/json_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

struct reader {
	const char *name, *p, *end, *line_start;
	int line;
	struct vprof_arena *arena;
	struct vprof_error *err;
};

static int column_of(const struct reader *r, const char *at)
{
	return (int)(at - r->line_start) + 1;
}

static int bad(struct reader *r, const char *at, const char *what)
{
	return vprof_error_set(r->err, VPROF_ERR_INPUT, "%s:%d:%d: %s", r->name, r->line, column_of(r, at), what);
}

static int no_memory(struct reader *r)
{
	return vprof_error_set(r->err, VPROF_ERR_NOMEM, "%s: out of memory while reading it", r->name);
}

static int bad_byte(struct reader *r, const char *wanted)
{
	unsigned char c;
	char what[160];

	if (r->p >= r->end) {
		snprintf(what, sizeof what, "the file ends where %s was expected; is it cut off?", wanted);
		return bad(r, r->p, what);
	}
	c = (unsigned char)*r->p;
	if (c == '/')
		return bad(r, r->p, "comments are not JSON; put the remark under a key that starts with \"_\"");
	if (c == '\'')
		return bad(r, r->p, "strings need double quotes (\")");
	if (c < 0x20 || c >= 0x7f)
		snprintf(what, sizeof what, "unexpected byte 0x%02x where %s was expected", c, wanted);
	else
		snprintf(what, sizeof what, "unexpected '%c' where %s was expected", c, wanted);
	return bad(r, r->p, what);
}

static void skip_space(struct reader *r)
{
	for (; r->p < r->end; r->p++) {
		if (*r->p == '\n') {
			r->line++;
			r->line_start = r->p + 1;
		} else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r') {
			break;
		}
	}
}

static int read_hex4(struct reader *r, unsigned *code)
{
	int i;

	*code = 0;
	if (r->end - r->p < 4)
		return bad(r, r->p, "\\u needs four hexadecimal digits");
	for (i = 0; i < 4; i++, r->p++) {
		char c = *r->p;

		if (c >= '0' && c <= '9')
			*code = *code * 16 + (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			*code = *code * 16 + (unsigned)((c | 32) - 'a' + 10);
		else
			return bad(r, r->p, "\\u needs four hexadecimal digits");
	}
	return 0;
}

static char *put_utf8(char *out, unsigned code)
{
	if (code < 0x80) {
		*out++ = (char)code;
	} else if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
		*out++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*out++ = (char)(0xe0 | code >> 12);
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	} else {
		*out++ = (char)(0xf0 | code >> 18);
		*out++ = (char)(0x80 | (code >> 12 & 0x3f));
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	}
	return out;
}

/* After the backslash. */
static int read_escape(struct reader *r, char **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	unsigned code, low;
	const char *hit;
	int rc;

	if (r->p >= r->end)
		return bad(r, r->p, "the file ends inside a string");
	hit = *r->p ? strchr(from, *r->p) : NULL;
	if (hit) {
		*(*out)++ = to[hit - from];
		r->p++;
		return 0;
	}
	if (*r->p != 'u')
		return bad(r, r->p - 1, "unknown escape in a string; a backslash is written \\\\");
	r->p++;
	rc = read_hex4(r, &code);
	if (rc)
		return rc;
	if (code >= 0xd800 && code < 0xdc00) {
		if (r->end - r->p < 2 || r->p[0] != '\\' || r->p[1] != 'u')
			return bad(r, r->p, "half of a surrogate pair");
		r->p += 2;
		rc = read_hex4(r, &low);
		if (rc)
			return rc;
		if (low < 0xdc00 || low > 0xdfff)
			return bad(r, r->p, "half of a surrogate pair");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	} else if (code >= 0xdc00 && code < 0xe000) {
		return bad(r, r->p, "half of a surrogate pair");
	}
	if (!code)
		return bad(r, r->p, "a string must not contain \\u0000");
	*out = put_utf8(*out, code);
	return 0;
}

/* At the opening quote. An escape never grows: the decoded string fits the bytes up to the closing quote. */
static int read_string(struct reader *r, const char **string)
{
	const char *start = ++r->p, *scan = start;
	char *out, *to;
	size_t n;
	int rc;

	while (scan < r->end && *scan != '"')
		scan += *scan == '\\' && scan + 1 < r->end ? 2 : 1;
	if (scan >= r->end)
		return bad(r, start - 1, "this string has no closing quote");
	out = to = vprof_arena_alloc(r->arena, (size_t)(scan - start) + 1);
	if (!out)
		return no_memory(r);
	while (*r->p != '"') {
		if ((unsigned char)*r->p < 0x20)
			return bad(r, r->p,
				   *r->p == '\n' ? "a string must not span lines; write \\n, or is the "
						   "closing quote missing?" :
						   "control character in a string; write it as \\u00XX");
		if (*r->p == '\\') {
			r->p++;
			rc = read_escape(r, &to);
			if (rc)
				return rc;
			continue;
		}
		n = vprof_utf8_length(r->p); /* ends at the closing quote at the latest */
		if (!n)
			return bad(r, r->p, "this is not UTF-8; save the file as UTF-8");
		for (; n; n--)
			*to++ = *r->p++;
	}
	r->p++;
	*string = out;
	return 0;
}

static int digits(struct reader *r)
{
	const char *start = r->p;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
		r->p++;
	return r->p > start;
}

static int read_number(struct reader *r, struct vprof_json *node)
{
	const char *start = r->p;
	char copy[64];
	int ok;

	if (*r->p == '-')
		r->p++;
	if (r->p < r->end && *r->p == '0')
		ok = 1, r->p++;
	else
		ok = digits(r);
	if (ok && r->p < r->end && *r->p == '.')
		r->p++, ok = digits(r);
	if (ok && r->p < r->end && (*r->p | 32) == 'e') {
		r->p++;
		if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
			r->p++;
		ok = digits(r);
	}
	if (!ok || r->p - start >= (long)sizeof copy)
		return bad(r, start, "this is not a number");
	memcpy(copy, start, (size_t)(r->p - start));
	copy[r->p - start] = 0;
	node->type = VPROF_JSON_NUMBER;
	node->number = strtod(copy, NULL);
	return 0;
}

static int read_word(struct reader *r, struct vprof_json *node)
{
	static const struct {
		const char *word;
		enum vprof_json_type type;
		double number;
	} words[] = { { "true", VPROF_JSON_BOOL, 1 }, { "false", VPROF_JSON_BOOL, 0 }, { "null", VPROF_JSON_NULL, 0 } };
	size_t i, n;

	for (i = 0; i < sizeof words / sizeof words[0]; i++) {
		n = strlen(words[i].word);
		if ((size_t)(r->end - r->p) >= n && !memcmp(r->p, words[i].word, n)) {
			node->type = words[i].type;
			node->number = words[i].number;
			r->p += n;
			return 0;
		}
	}
	return bad_byte(r, "a value");
}

static int read_value(struct reader *r, struct vprof_json *node, int depth);

/* At '[' or '{'. */
static int read_children(struct reader *r, struct vprof_json *node, int depth)
{
	int object = *r->p == '{', rc;
	char close = object ? '}' : ']';
	struct vprof_json **tail = &node->first, *child;

	node->type = object ? VPROF_JSON_OBJECT : VPROF_JSON_ARRAY;
	if (depth >= VPROF_JSON_DEPTH_MAX)
		return bad(r, r->p, "nested too deeply");
	r->p++;
	skip_space(r);
	if (r->p < r->end && *r->p == close) {
		r->p++;
		return 0;
	}
	for (;;) {
		const char *key = NULL, *key_at = r->p;
		int key_line = r->line;

		if (object) {
			if (r->p >= r->end || *r->p != '"')
				return bad_byte(r, node->n ? "the next key, in double quotes (no comma after the last "
							     "member)" :
							     "a key in double quotes or '}'");
			rc = read_string(r, &key);
			if (rc)
				return rc;
			if (vprof_json_get(node, key)) {
				char what[160];

				snprintf(what, sizeof what, "key \"%.80s\" appears twice in this object; keep one",
					 key);
				return bad(r, key_at, what);
			}
			skip_space(r);
			if (r->p >= r->end || *r->p != ':')
				return bad_byte(r, "':' after the key");
			r->p++;
			skip_space(r);
		}
		child = vprof_arena_alloc(r->arena, sizeof *child);
		if (!child)
			return no_memory(r);
		*child = (struct vprof_json){ .key = key, .key_line = key_line, .parent = node, .index = node->n++ };
		*tail = child;
		tail = &child->next;
		rc = read_value(r, child, depth + 1);
		if (rc)
			return rc;
		skip_space(r);
		if (r->p < r->end && *r->p == close) {
			r->p++;
			return 0;
		}
		if (r->p >= r->end || *r->p != ',')
			return bad_byte(r, object ? "',' or '}'" : "',' or ']'");
		r->p++;
		skip_space(r);
	}
}

static int read_value(struct reader *r, struct vprof_json *node, int depth)
{
	node->line = r->line;
	node->column = column_of(r, r->p);
	if (r->p >= r->end)
		return bad_byte(r, "a value");
	switch (*r->p) {
	case '{':
	case '[':
		return read_children(r, node, depth);
	case '"':
		node->type = VPROF_JSON_STRING;
		return read_string(r, &node->string);
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return read_number(r, node);
	default:
		return read_word(r, node);
	}
}

int vprof_json_parse(struct vprof_json **root, struct vprof_arena *arena, const char *name, const char *text,
		     size_t len, struct vprof_error *err)
{
	struct reader r = { name, text, text + len, text, 1, arena, err };
	struct vprof_json *node = vprof_arena_alloc(arena, sizeof *node);
	int rc;

	*root = NULL;
	if (!node)
		return no_memory(&r);
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		return bad(&r, text, "the file starts with a byte order mark; save it as UTF-8 without one");
	skip_space(&r);
	if (r.p == r.end)
		return bad(&r, r.p, "the file is empty");
	rc = read_value(&r, node, 0);
	if (rc)
		return rc;
	skip_space(&r);
	if (r.p < r.end)
		return bad_byte(&r, "the end of the file");
	*root = node;
	return 0;
}

const struct vprof_json *vprof_json_get(const struct vprof_json *object, const char *key)
{
	const struct vprof_json *m = object && object->type == VPROF_JSON_OBJECT ? object->first : NULL;

	while (m && strcmp(m->key, key))
		m = m->next;
	return m;
}

const char *vprof_json_string(const struct vprof_json *object, const char *key)
{
	const struct vprof_json *m = vprof_json_get(object, key);

	return m && m->type == VPROF_JSON_STRING ? m->string : "";
}

const char *vprof_json_path(struct vprof_arena *arena, const struct vprof_json *node)
{
	if (!node->parent)
		return "(top)";
	if (!node->key)
		return vprof_arena_printf(arena, "%s[%zu]", vprof_json_path(arena, node->parent), node->index);
	if (!node->parent->parent)
		return node->key;
	return vprof_arena_printf(arena, "%s.%s", vprof_json_path(arena, node->parent), node->key);
}

const char *vprof_json_type_name(enum vprof_json_type type)
{
	static const char *const names[] = { "null", "a boolean", "a number", "a string", "an array", "an object" };

	return names[type];
}
