/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The HTML page of a run, as a file.
 *
 *	vprof_run_page_begin(&page, folder);
 *	rc = vprof_report_waits_page(r, &page.origin, &page.text, err);
 *	return vprof_run_page_end(&page, rc, "waits.html", file, err);
 */
#ifndef VPROF_RUN_PAGE_H
#define VPROF_RUN_PAGE_H

#include <stdint.h>

#include "common/error.h"
#include "common/text.h"
#include "report/answer.h"

/* How a view of a run is told. */
struct vprof_view_form {
	int json, html;	  /* neither: as text */
	const char *file; /* of the page; NULL: in the folder of the run; "-": standard output */
	long top;	  /* lines of the text; 0: as the view has it */
};

struct vprof_run_page {
	struct vprof_page_origin origin; /* the folder's full path; when its trace was last written */
	struct vprof_text text;
	const char *folder;
	char *title, date[32];
};

/* `folder` is kept. */
void vprof_run_page_begin(struct vprof_run_page *page, const char *folder);

/* Unless `rc` is an error, which it returns: writes the page to `file`; NULL: to `name` in the folder. Releases it. */
int vprof_run_page_end(struct vprof_run_page *page, int rc, const char *name, const char *file,
		       struct vprof_error *err);

/* Writes a page: `file` NULL: to `usual`; "-": to standard output. Prints the path of the file written. */
int vprof_page_put(const struct vprof_text *text, const char *usual, const char *file, struct vprof_error *err);

/* When `path` was last written, as text, and in seconds; "" and 0 when that is not known, or `path` is NULL. */
int64_t vprof_page_date(const char *path, char *date, size_t size);

#endif
