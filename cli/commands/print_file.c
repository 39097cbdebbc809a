/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands/print_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/files.h"

int vprof_print_file(const struct vprof_project *p, const char *run, const char *file, struct vprof_error *err)
{
	char *path = vprof_project_run_path(p, run, file);
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = path ? vprof_file_read(path, &text, err) : vprof_error_no_memory(err);

	if (!rc) {
		fwrite(text.s, 1, text.len, stdout);
		if (text.len && text.s[text.len - 1] != '\n')
			putchar('\n');
	}
	vprof_text_release(&text);
	free(path);
	return rc;
}

int vprof_print_iterated(const struct vprof_iteration *it, int rc, struct vprof_error *err)
{
	int printed;

	if (rc && !(rc == VPROF_ERR_INCONCLUSIVE && it->told.s[0]))
		return rc;
	printed = vprof_print_file(&it->workspace.project, it->told.s, "results.json", rc ? NULL : err);
	return rc ? rc : printed;
}
