/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/json/json_items.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json/json_numbers.h"

#define DEPTH_MAX 64

struct reader {
	char *at; /* the text is NUL-terminated: what looks ahead stops there */
	struct vprof_json_items *items;
};

static void skip_space(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')
		r->at++;
}

static int take(struct reader *r, char c)
{
	skip_space(r);
	if (*r->at != c)
		return 0;
	r->at++;
	return 1;
}

/* Four hexadecimal digits; -1: they are not. */
static int32_t hexadecimal(const char *s)
{
	int32_t n = 0;

	for (int i = 0; i < 4; i++) {
		char c = s[i];

		if (c >= '0' && c <= '9')
			n = n * 16 + c - '0';
		else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
			n = n * 16 + (c | 0x20) - 'a' + 10;
		else
			return -1;
	}
	return n;
}

/* What stands behind "\u", also as two halves; 0: nothing that is one. */
static uint32_t code_point(char **at)
{
	int32_t n = hexadecimal(*at), low;

	if (n < 0 || (n >= 0xdc00 && n < 0xe000))
		return 0;
	*at += 4;
	if (n < 0xd800 || n >= 0xe000)
		return (uint32_t)n;
	if ((*at)[0] != '\\' || (*at)[1] != 'u')
		return 0;
	low = hexadecimal(*at + 2);
	if (low < 0xdc00 || low >= 0xe000)
		return 0;
	*at += 6;
	return 0x10000 + (((uint32_t)n - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*to++ = (char)(0xe0 | c >> 12);
		} else {
			*to++ = (char)(0xf0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

/* One escape, behind its '\'; it is never shorter than what it stands for. NULL: there is no such. */
static char *take_escape(char **at, char *to)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *letter = **at ? strchr(letters, **at) : NULL;
	uint32_t c;

	if (letter) {
		++*at;
		*to = meant[letter - letters];
		return to + 1;
	}
	if (**at != 'u')
		return NULL;
	++*at;
	c = code_point(at);
	return c ? put_utf8(to, c) : NULL;
}

/* Behind the first quotation mark; the text is put where it stands. NULL: it is none. */
static char *take_string(struct reader *r)
{
	char *s = r->at, *to = s;

	for (;;) {
		unsigned char c = (unsigned char)*r->at;

		if (c < ' ') /* also where the text ends */
			return NULL;
		r->at++;
		if (c == '"')
			break;
		if (c != '\\')
			*to++ = (char)c;
		else if (!(to = take_escape(&r->at, to)))
			return NULL;
	}
	*to = 0;
	return s;
}

static int take_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(r->at, word, n) != 0)
		return 0;
	r->at += n;
	return 1;
}

static int take_value(struct reader *r, const char *key, int depth);

static int take_members(struct reader *r, size_t i, int depth)
{
	int is_object = r->items->all.v[i].kind == VPROF_JSON_IS_OBJECT, rc;
	char end = is_object ? '}' : ']';

	if (take(r, end))
		return VPROF_OK;
	do {
		const char *key = NULL;

		if (is_object && (!take(r, '"') || !(key = take_string(r)) || !take(r, ':')))
			return VPROF_ERR_CORRUPT;
		rc = take_value(r, key, depth + 1);
		if (rc)
			return rc;
		r->items->all.v[i].n++;
	} while (take(r, ','));
	return take(r, end) ? VPROF_OK : VPROF_ERR_CORRUPT;
}

static int take_scalar(struct reader *r, struct vprof_json_item *item)
{
	const char *end;

	if (*r->at == '"') {
		r->at++;
		item->kind = VPROF_JSON_IS_STRING;
		item->string = take_string(r);
		return item->string ? VPROF_OK : VPROF_ERR_CORRUPT;
	}
	if (take_word(r, "null"))
		return VPROF_OK;
	item->kind = VPROF_JSON_IS_BOOL;
	item->number = *r->at == 't';
	if (take_word(r, "true") || take_word(r, "false"))
		return VPROF_OK;
	item->kind = VPROF_JSON_IS_NUMBER;
	end = vprof_json_number_scan(r->at, &item->number);
	if (!end)
		return VPROF_ERR_CORRUPT;
	r->at += end - r->at;
	return VPROF_OK;
}

static int take_value(struct reader *r, const char *key, int depth)
{
	struct vprof_json_item *item = r->items->all.n < UINT32_MAX ? VPROF_PUSH(&r->items->all) : NULL;
	size_t i = r->items->all.n - 1;
	int rc = VPROF_OK;

	if (!item)
		return VPROF_ERR_NOMEM;
	if (depth > DEPTH_MAX)
		return VPROF_ERR_CORRUPT;
	skip_space(r);
	*item = (struct vprof_json_item){ .key = key, .n_all = 1 };
	if (*r->at != '{' && *r->at != '[')
		return take_scalar(r, item);
	item->kind = *r->at++ == '{' ? VPROF_JSON_IS_OBJECT : VPROF_JSON_IS_ARRAY;
	rc = take_members(r, i, depth);
	r->items->all.v[i].n_all = (uint32_t)(r->items->all.n - i);
	return rc;
}

int vprof_json_items_read(struct vprof_json_items *items, struct vprof_text *text)
{
	struct reader r = { text->s, items };
	int rc;

	*items = (struct vprof_json_items){ .all.v = NULL };
	rc = take_value(&r, NULL, 1);
	if (rc)
		return rc;
	skip_space(&r);
	return r.at == text->s + text->len ? VPROF_OK : VPROF_ERR_CORRUPT;
}

void vprof_json_items_release(struct vprof_json_items *items)
{
	VPROF_ARRAY_RELEASE(&items->all);
}

const struct vprof_json_item *vprof_json_member(const struct vprof_json_item *object, const char *key,
						const struct vprof_json_item **hint)
{
	const struct vprof_json_item *end, *at;

	if (!object || object->kind != VPROF_JSON_IS_OBJECT)
		return NULL;
	end = object + object->n_all;
	at = *hint ? *hint : object + 1;
	if (at >= end || strcmp(at->key, key) != 0)
		for (at = object + 1; at < end && strcmp(at->key, key) != 0; at += at->n_all)
			;
	if (at >= end)
		return NULL;
	*hint = at + at->n_all;
	return at;
}
