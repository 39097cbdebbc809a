/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/project.h"
#include "common/files.h"

int64_t vprof_page_date(const char *path, char *date, size_t size)
{
	struct stat st;
	struct tm tm;

	*date = 0;
	if (!path || stat(path, &st) || !localtime_r(&st.st_mtime, &tm))
		return 0;
	strftime(date, size, "%Y-%m-%d %H:%M", &tm);
	return (int64_t)st.st_mtime;
}

int vprof_page_put(const struct vprof_text *text, const char *usual, const char *file, struct vprof_error *err)
{
	char *path;
	int rc;

	if (file && !strcmp(file, "-")) {
		if (fwrite(text->s, 1, text->len, stdout) != text->len || fflush(stdout))
			return vprof_error_set(err, VPROF_ERR_FAILED,
					       "the page could not be written to standard output");
		return VPROF_OK;
	}
	/* a link stays, its file is replaced */
	path = file ? realpath(file, NULL) : strdup(usual);
	if (!path && file)
		path = strdup(file);
	rc = path ? vprof_file_write(path, text->s, text->len, err) : vprof_error_no_memory(err);
	if (!rc)
		printf("%s\n", vprof_project_shown(path));
	free(path);
	return rc;
}

void vprof_run_page_begin(struct vprof_run_page *page, const char *folder)
{
	char *records = vprof_path_join(folder, "trace/records.vpt");

	vprof_text_init(&page->text);
	vprof_page_date(records, page->date, sizeof page->date);
	page->folder = folder;
	page->title = realpath(folder, NULL);
	page->origin = (struct vprof_page_origin){ page->title ? page->title : folder, VPROF_VERSION, page->date };
	free(records);
}

int vprof_run_page_end(struct vprof_run_page *page, int rc, const char *name, const char *file, struct vprof_error *err)
{
	char *usual = rc ? NULL : vprof_path_join(page->folder, name);

	if (!rc)
		rc = usual ? vprof_page_put(&page->text, usual, file, err) : vprof_error_no_memory(err);
	free(usual);
	free(page->title);
	vprof_text_release(&page->text);
	return rc;
}
