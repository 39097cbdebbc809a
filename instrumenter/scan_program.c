/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs vprof-scan, the one program that links Clang, and relays its progress.
 *
 * The scanner prints "done total" lines while it works, one JSON line at the end, and messages for the user.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/process.h"
#include "instrumenter/instrument.h"

struct relay {
	void (*progress)(void *arg, const char *step, double done);
	void *arg;
	struct vprof_text messages;
};

static void on_line(void *arg, const char *line)
{
	struct relay *relay = arg;
	size_t done, total;
	char rest;

	if (sscanf(line, "%zu %zu%c", &done, &total, &rest) == 2) {
		if (relay->progress)
			relay->progress(relay->arg, "scan", total ? (double)done / (double)total : 1);
	} else if (line[0] != '{' && relay->messages.len < 1500) {
		vprof_text_addf(&relay->messages, "%s%s", relay->messages.len ? "\n  " : "", line);
	}
}

int vprof_scan(const char *scanner, const char *compile_commands, const char *root, const char *facts_path, int jobs,
	       void (*progress)(void *arg, const char *step, double done), void *progress_arg, struct vprof_error *err)
{
	struct relay relay = { .progress = progress, .arg = progress_arg, .messages = VPROF_TEXT_INIT };
	const char *argv[12] = { scanner, "--root", root, "--facts", facts_path, "--progress" };
	struct vprof_process p = { .argv = argv, .line = on_line, .line_arg = &relay };
	struct vprof_process_result result;
	char number[16], how[96];
	int n = 6, rc;

	if (jobs > 0) {
		snprintf(number, sizeof number, "%d", jobs);
		argv[n++] = "--jobs";
		argv[n++] = number;
	}
	argv[n++] = compile_commands;
	if (access(compile_commands, R_OK))
		return vprof_error_set(err, VPROF_ERR_MISSING, "%s not found: run vprof init -- BUILD COMMAND",
				       compile_commands);
	rc = vprof_process_run(&p, &result, err);
	if (rc == VPROF_ERR_MISSING)
		rc = vprof_error_set(
			err, rc,
			"cannot find the scanner: %s. It is built with vprof and installed beside it; vprof doctor shows what is missing",
			scanner);
	if (!rc && result.status == 127) { /* from the loader or the shell: it did not even start */
		rc = vprof_error_because(err, VPROF_ERR_MISSING, VPROF_REASON_NO_SCANNER,
					 "the scanner cannot start; it needs Clang 19's libraries: "
					 "apt-get install libclang-cpp19 libclang-common-19-dev. %s",
					 relay.messages.s);
	} else if (!rc && result.status) {
		vprof_process_describe(&result, how, sizeof how);
		rc = vprof_error_because(err, VPROF_ERR_FAILED, VPROF_REASON_SCAN_FAILED,
					 "the scan of the sources failed (%s)\n  %s", how,
					 relay.messages.len ? relay.messages.s : "vprof-scan printed no message");
	}
	vprof_text_release(&relay.messages);
	return rc;
}
