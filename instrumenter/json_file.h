/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON documents as files. */
#ifndef VPROF_JSON_FILE_H
#define VPROF_JSON_FILE_H

#include <cjson/cJSON.h>

#include "common/error.h"

/* Writes the document to dir/name as vprof_file_write does. NOMEM when the document is NULL, because there was no
 * memory to build it. */
int vprof_json_file_write(const char *dir, const char *name, const cJSON *json, struct vprof_error *err);

#endif
