/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/json_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/files.h"

int vprof_json_file_write(const char *dir, const char *name, const cJSON *json, struct vprof_error *err)
{
	char *text = json ? cJSON_Print(json) : NULL, *path = vprof_path_join(dir, name);
	int rc = text && path ? vprof_file_write(path, text, strlen(text), err) : vprof_error_no_memory(err);

	free(text);
	free(path);
	return rc;
}
