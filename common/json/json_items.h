/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strict JSON reader (RFC 8259) for large files: a third of cJSON's memory, and an allocation for all of it. It
 * refuses the escape for NUL besides.
 *
 * Items stand in one array, in the order of the text: those of an object or an array behind it, `n_all` in all with
 * itself. So `for (v = o + 1; v < o + o->n_all; v += v->n_all)` passes the members of o. Keys and texts are in the text
 * that was read, which is changed for that; whether they are UTF-8 is not looked at.
 */
#ifndef VPROF_JSON_ITEMS_H
#define VPROF_JSON_ITEMS_H

#include <stddef.h>
#include <stdint.h>

#include "common/array.h"
#include "common/text.h"

enum vprof_json_kind {
	VPROF_JSON_IS_NULL,
	VPROF_JSON_IS_BOOL,
	VPROF_JSON_IS_NUMBER,
	VPROF_JSON_IS_STRING,
	VPROF_JSON_IS_ARRAY,
	VPROF_JSON_IS_OBJECT,
};

struct vprof_json_item {
	const char *key; /* NULL in arrays and at the root */
	union {
		double number;
		const char *string;
		size_t n; /* of an object or an array: its members */
	};
	uint32_t n_all;
	enum vprof_json_kind kind;
};

struct vprof_json_items {
	VPROF_ARRAY(struct vprof_json_item) all; /* the first is the root */
};

/* OK, NOMEM, or CORRUPT: not JSON, or nested deeper than 64. Released in any case; the text must outlive them. */
int vprof_json_items_read(struct vprof_json_items *items, struct vprof_text *text);
void vprof_json_items_release(struct vprof_json_items *items);

/* The member of an object, or NULL (also when it is no object). *hint: where the member asked for before ended, which
 * makes asking in the order of the file cheap; NULL at first, and for another object. */
const struct vprof_json_item *vprof_json_member(const struct vprof_json_item *object, const char *key,
						const struct vprof_json_item **hint);

#endif
