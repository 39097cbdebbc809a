/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How structures become JSON from the lists of their fields (results_json.h, waits_results.c). Internal to
 * analysis/results. */
#ifndef VPROF_RESULTS_WRITER_H
#define VPROF_RESULTS_WRITER_H

#include <math.h>

#include "analysis/results/results_json.h"

/* Indices as an array; 0 without memory. */
int vprof_json_add_indices(cJSON *o, const char *key, const uint32_t *indices, size_t n);

/* In a function with cJSON *o, the structure x and int ok: */
#define W_NUMBER(f) ok &= vprof_json_add_number(o, #f, (double)x->f);
#define W_WHOLE(f)                                                                                                     \
	ok &= vprof_json_add_number(o, #f, fmin((double)x->f, VPROF_WHOLE_MAX)); /* damaged counts may be larger */
#define W_STRING(f) ok &= vprof_json_add_string(o, #f, x->f);
#define W_ENUM(f, names) ok &= vprof_json_add_string(o, #f, names[x->f]);
#define W_FIELDS(LIST) LIST(W_WHOLE, W_NUMBER, W_NUMBER, W_STRING, W_ENUM)

/* x->list[0 .. x->count) as the array `name`. */
#define WRITE_LIST_AS(name, list, count, write)                                                                        \
	do {                                                                                                           \
		cJSON *list_ = cJSON_AddArrayToObject(o, name);                                                        \
		ok &= list_ != NULL;                                                                                   \
		for (size_t i_ = 0; ok && i_ < x->count; i_++) {                                                       \
			cJSON *item_ = vprof_json_add_object(list_);                                                   \
			ok &= item_ && write(item_, &x->list[i_]);                                                     \
		}                                                                                                      \
	} while (0)
#define WRITE_LIST(list, count, write) WRITE_LIST_AS(#list, list, count, write)

/* A function that writes a structure's fields, as its list names them. */
#define WRITER(name, type, fields)                                                                                     \
	static int name(cJSON *o, const struct type *x)                                                                \
	{                                                                                                              \
		int ok = 1;                                                                                            \
                                                                                                                       \
		W_FIELDS(fields)                                                                                       \
		return ok;                                                                                             \
	}

/* The function that makes a structure's whole JSON: an object, or NULL without memory. */
#define JSON_OF(name, type, write)                                                                                     \
	cJSON *name(const struct type *x)                                                                              \
	{                                                                                                              \
		cJSON *o = cJSON_CreateObject();                                                                       \
                                                                                                                       \
		if (o && !write(o, x)) {                                                                               \
			cJSON_Delete(o);                                                                               \
			o = NULL;                                                                                      \
		}                                                                                                      \
		return o;                                                                                              \
	}

#endif
