/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strict JSON reader (RFC 8259) that remembers where every value and key stands.
 *
 * cJSON knows no line numbers, and an error in vprof.json must name its line. Invariants: the tree belongs to
 * the arena; strings are NUL-terminated UTF-8 without NUL inside; keys of an object are unique; nesting is at
 * most VPROF_JSON_DEPTH_MAX deep.
 */
#ifndef VPROF_JSON_PLACES_H
#define VPROF_JSON_PLACES_H

#include "common/arena.h"
#include "common/error.h"

#define VPROF_JSON_DEPTH_MAX 64

enum vprof_json_type {
	VPROF_JSON_NULL,
	VPROF_JSON_BOOL,
	VPROF_JSON_NUMBER,
	VPROF_JSON_STRING,
	VPROF_JSON_ARRAY,
	VPROF_JSON_OBJECT,
};

struct vprof_json {
	enum vprof_json_type type;
	int line, column;   /* of the value's first byte, from 1; columns count bytes */
	int key_line;	    /* of the key, for members of an object */
	const char *key;    /* NULL in arrays and at the root */
	const char *string; /* strings only */
	double number;	    /* numbers; 0 or 1 for booleans */
	struct vprof_json *parent, *first, *next;
	size_t n, index; /* number of children; position among its siblings */
};

/* INPUT with "NAME:LINE:COLUMN: what; what to do" when `text` is not JSON. `name` is for messages only. */
int vprof_json_parse(struct vprof_json **root, struct vprof_arena *arena, const char *name, const char *text,
		     size_t len, struct vprof_error *err);

/* Member of an object, or NULL (also when `object` is NULL or no object). */
const struct vprof_json *vprof_json_get(const struct vprof_json *object, const char *key);

/* The member's string, or "" when it is absent or no string. */
const char *vprof_json_string(const struct vprof_json *object, const char *key);

/* "intervals[0].begin.function"; "(top)" for the root. */
const char *vprof_json_path(struct vprof_arena *arena, const struct vprof_json *node);

const char *vprof_json_type_name(enum vprof_json_type type); /* "a string", ... */

#endif
