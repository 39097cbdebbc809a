/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof restore: the build tree as it was before the first instrumented build. */
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/lock.h"
#include "cli/options.h"
#include "cli/project.h"
#include "cli/workspace.h"
#include "common/facts/facts.h"
#include "instrumenter/instrument.h"

static const struct vprof_usage usage = {
	.synopsis = "restore",
	.purpose =
		"Puts the original objects and binaries back, with their times, and removes the copies of the sources\n"
		"that were compiled. Runs, reports and the session are kept.",
	.example = "  vprof restore",
};

/* Without annotations and facts that can be read nobody knows: then the originals go where they came from. */
static int check_place(const struct vprof_project *p, struct vprof_error *err)
{
	struct vprof_annotations *annotations = NULL;
	struct vprof_facts *facts = NULL;
	int rc = VPROF_OK;

	if (!vprof_annotations_read(&annotations, p->config, NULL) && !vprof_facts_open(&facts, p->facts, NULL))
		rc = vprof_workspace_check_root(p, facts, annotations->directory, err);
	vprof_facts_free(facts);
	vprof_annotations_free(annotations);
	return rc;
}

int vprof_cmd_restore(int argc, char **argv)
{
	const struct vprof_option options[] = { { NULL } };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_project p;
	size_t n = 0;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	rc = vprof_project_open(&p, NULL, &err);
	if (!rc && access(p.vprof_dir, F_OK))
		rc = vprof_error_set(&err, VPROF_ERR_MISSING,
				     "there is no .vprof in %s: nothing was ever built with "
				     "probes here",
				     p.directory);
	if (!rc)
		rc = vprof_project_lock(&p, "restore", &err);
	if (!rc)
		rc = check_place(&p, &err);
	if (!rc)
		rc = vprof_restore(p.vprof_dir, &n, &err);
	if (!rc) {
		unlink(p.plan);
		if (n)
			vprof_say("restored %zu file%s", n, n == 1 ? "" : "s");
		else
			vprof_say("nothing to restore: no object or binary contains probes");
	}
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	vprof_project_release(&p);
	return status;
}
