/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands/report/latency_file.h"

#include <stdlib.h>

#include "cli/command.h"
#include "cli/commands/report/report_page.h"
#include "common/files.h"
#include "report/latency/latency_page.h"

int vprof_latency_file_write(const struct vprof_latency_results *r, const char *folder, const char *trace,
			     const char *file, struct vprof_error *err)
{
	char *records = vprof_path_join(trace, "records.vpt"), *title = realpath(folder, NULL), date[32];
	char *usual = vprof_path_join(folder, "latency.html");
	struct vprof_latency_page page = { r, title ? title : folder, VPROF_VERSION, date };
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = usual ? VPROF_OK : vprof_error_no_memory(err);

	vprof_report_page_date(records, date, sizeof date);
	if (!rc)
		rc = vprof_report_latency_page(&page, &text, err);
	if (!rc)
		rc = vprof_report_page_put(&text, usual, file, err);
	vprof_text_release(&text);
	free(records);
	free(title);
	free(usual);
	return rc;
}
