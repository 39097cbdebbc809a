/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of vprof.json, one table for each kind of object.
 *
 * The reader walks these tables; a test compares them with vprof.schema.json (an object named X here is
 * "#/$defs/X" there, "top" is the schema itself), so that neither knows a key that the other does not.
 */
#ifndef VPROF_ANNOTATION_KEYS_H
#define VPROF_ANNOTATION_KEYS_H

#include <stddef.h>

enum vprof_key_shape {
	VPROF_KEY_STRING,
	VPROF_KEY_STRINGS,	   /* array of strings */
	VPROF_KEY_OBJECTS,	   /* array of objects */
	VPROF_KEY_OBJECT_OR_ARRAY, /* one object or an array of them */
};

enum vprof_key_object {
	VPROF_KEYS_TOP,
	VPROF_KEYS_INTERVAL,
	VPROF_KEYS_MARK,
	VPROF_KEYS_TYPE,
	VPROF_KEYS_WORK,
	VPROF_KEYS_SYNC,
	VPROF_KEYS_QUEUE,
	VPROF_KEYS_N,
};

struct vprof_annotation_key {
	const char *name;
	enum vprof_key_shape shape;
	enum vprof_key_object object; /* of the value, when it is made of objects */
	int required;
	const char *wanted; /* what to write there, for messages */
};

struct vprof_annotation_object {
	const char *name;
	const struct vprof_annotation_key *keys;
	size_t n_keys;
};

extern const struct vprof_annotation_object vprof_annotation_objects[VPROF_KEYS_N];

#endif
