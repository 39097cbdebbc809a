/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/print.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/progress.h"
#include "common/utf8.h"

struct vprof_report_options vprof_print_options(long top)
{
	return (struct vprof_report_options){ .colour = vprof_progress_colour(STDOUT_FILENO), .top = (size_t)top };
}

int vprof_print_json(cJSON *root, struct vprof_error *err)
{
	char *text = root ? cJSON_Print(root) : NULL;

	cJSON_Delete(root);
	if (!text)
		return vprof_error_no_memory(err);
	puts(text);
	cJSON_free(text);
	return VPROF_OK;
}

int vprof_print_text(struct vprof_text *text, struct vprof_error *err)
{
	int rc = text->failed ? vprof_error_no_memory(err) : VPROF_OK;

	if (!rc)
		fputs(text->s, stdout);
	vprof_text_release(text);
	return rc;
}

void vprof_print_add_string(cJSON *object, const char *key, const char *s)
{
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_text_add_utf8(&text, s);
	cJSON_AddStringToObject(object, key, text.len ? text.s : "");
	vprof_text_release(&text);
}
