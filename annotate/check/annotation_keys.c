/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of vprof.json. A new key goes here, into vprof.schema.json and into docs/annotations.md. */
#include "annotate/check/annotation_keys.h"

#define FUNCTION_KEY { "function", VPROF_KEY_STRING, 0, 1, "the name of a function" }
#define AT_KEY { "at", VPROF_KEY_STRING, 0, 0, "\"entry\" or \"exit\"" }
#define IF_KEY { "if", VPROF_KEY_STRING, 0, 0, "a C condition" }

static const struct vprof_annotation_key top[] = {
	{ "build", VPROF_KEY_STRING, 0, 0, "the command that builds the program, like \"make -j2\"" },
	{ "run", VPROF_KEY_STRING, 0, 0, "the command that runs the program under load, like \"./bench.sh\"" },
	{ "directory", VPROF_KEY_STRING, 0, 0, "the folder in which build and run start" },
	{ "compile_commands", VPROF_KEY_STRING, 0, 0, "the path of a compile_commands.json" },
	{ "intervals", VPROF_KEY_OBJECTS, VPROF_KEYS_INTERVAL, 1,
	  "an array of intervals (empty when the code itself is annotated with vprof.h)" },
	{ "sync", VPROF_KEY_OBJECTS, VPROF_KEYS_SYNC, 0, "an array of {\"acquire\" or \"release\", \"object\"}" },
	{ "queues", VPROF_KEY_OBJECTS, VPROF_KEYS_QUEUE, 0, "an array of {\"enqueue\" or \"dequeue\", \"item\"}" },
	{ "roots", VPROF_KEY_STRINGS, 0, 0, "an array of function names" },
	{ "measure_first", VPROF_KEY_STRINGS, 0, 0, "an array of function names" },
	{ "exclude", VPROF_KEY_STRINGS, 0, 0, "an array of function names or globs" },
};

static const struct vprof_annotation_key interval[] = {
	{ "name", VPROF_KEY_STRING, 0, 1, "the interval's name, like \"request\"" },
	{ "begin", VPROF_KEY_OBJECT_OR_ARRAY, VPROF_KEYS_MARK, 0, "{\"function\", \"id\"} or an array of them" },
	{ "end", VPROF_KEY_OBJECT_OR_ARRAY, VPROF_KEYS_MARK, 0, "{\"function\", \"id\"} or an array of them" },
	{ "resume", VPROF_KEY_OBJECT_OR_ARRAY, VPROF_KEYS_MARK, 0, "{\"function\", \"id\"} or an array of them" },
	{ "suspend", VPROF_KEY_OBJECT_OR_ARRAY, VPROF_KEYS_MARK, 0, "{\"function\", \"id\"} or an array of them" },
	{ "type", VPROF_KEY_OBJECT_OR_ARRAY, VPROF_KEYS_TYPE, 0, "{\"function\", \"value\"} or an array of them" },
	{ "work", VPROF_KEY_OBJECT_OR_ARRAY, VPROF_KEYS_WORK, 0,
	  "{\"function\", \"name\", \"value\"} or an array of them" },
};

static const struct vprof_annotation_key mark[] = {
	FUNCTION_KEY,
	AT_KEY,
	{ "id", VPROF_KEY_STRING, 0, 1,
	  "a C expression, pointer or integer, that is the same at begin and end (\"1\" if only one runs at "
	  "a time)" },
	IF_KEY,
};

static const struct vprof_annotation_key type[] = {
	FUNCTION_KEY,
	AT_KEY,
	{ "value", VPROF_KEY_STRING, 0, 1, "a C expression, string or integer, that names the interval's type" },
	IF_KEY,
};

static const struct vprof_annotation_key work[] = {
	FUNCTION_KEY,
	AT_KEY,
	{ "name", VPROF_KEY_STRING, 0, 1, "the counter's name, like \"rows\"" },
	{ "value", VPROF_KEY_STRING, 0, 1, "a C expression, an integer: the amount of work" },
	IF_KEY,
};

static const struct vprof_annotation_key sync_keys[] = {
	{ "acquire", VPROF_KEY_STRING, 0, 0, "the name of the function that waits for the object" },
	{ "release", VPROF_KEY_STRING, 0, 0, "the name of the function that releases the object" },
	{ "object", VPROF_KEY_STRING, 0, 1, "a C expression, pointer or integer, that identifies the lock" },
	{ "mode", VPROF_KEY_STRING, 0, 0, "a C expression, an integer: how it is held" },
	IF_KEY,
};

static const struct vprof_annotation_key queue[] = {
	{ "enqueue", VPROF_KEY_STRING, 0, 0, "the name of the function that adds an item" },
	{ "dequeue", VPROF_KEY_STRING, 0, 0, "the name of the function that takes an item" },
	{ "item", VPROF_KEY_STRING, 0, 1, "a C expression, pointer or integer, that identifies the item" },
	AT_KEY,
	IF_KEY,
};

#define OBJECT(label, keys) { label, keys, sizeof keys / sizeof keys[0] }

const struct vprof_annotation_object vprof_annotation_objects[VPROF_KEYS_N] = {
	[VPROF_KEYS_TOP] = OBJECT("top", top),	     [VPROF_KEYS_INTERVAL] = OBJECT("interval", interval),
	[VPROF_KEYS_MARK] = OBJECT("mark", mark),    [VPROF_KEYS_TYPE] = OBJECT("type", type),
	[VPROF_KEYS_WORK] = OBJECT("work", work),    [VPROF_KEYS_SYNC] = OBJECT("sync", sync_keys),
	[VPROF_KEYS_QUEUE] = OBJECT("queue", queue),
};
