/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A results file: read, shown in all views, written again. What was written must be readable. */
#include <stdlib.h>
#include <string.h>

#include "analysis/results/results.h"
#include "report/page.h"
#include "report/report.h"
#include "report/transactions/report_crosstalk.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct vprof_report_options o = { .width = 100 };
	struct vprof_results *r = NULL, *again = NULL;
	struct vprof_page page = { .root = "/usr/include", .version = "0", .run_date = "" };
	struct vprof_text text = VPROF_TEXT_INIT, html = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	const char *path;

	if (vprof_results_read(&r, fuzz_file("results.json", data, n), &err))
		return 0;
	page.results = r;
	if (vprof_report_page(&page, &html, &err) || !strstr(html.s, "</html>"))
		abort();
	if (!vprof_report_text(r, &o, &text, &err)) {
		path = fuzz_file("again.json", "", 0);
		if (!vprof_results_write(r, path, &err) && vprof_results_read(&again, path, &err))
			abort();
	}
	for (int view = 0; view < VPROF_VIEW_COUNT; view++) {
		vprof_text_clear(&text);
		vprof_report_view(r, (enum vprof_view)view, &o, &text, &err);
	}
	vprof_text_clear(&text);
	vprof_report_crosstalk(r, &o, &text);
	vprof_text_release(&text);
	vprof_text_release(&html);
	vprof_results_free(again);
	vprof_results_free(r);
	return 0;
}
