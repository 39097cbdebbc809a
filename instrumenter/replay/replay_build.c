/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/replay/replay_build.h"

#include "instrumenter/build_log.h"

int vprof_build_failed(const struct vprof_replayer *r, const char *command, const struct vprof_text *output,
		       const struct vprof_process_result *result, struct vprof_error *err)
{
	struct vprof_text lines = VPROF_TEXT_INIT;
	char how[96];

	vprof_process_describe(result, how, sizeof how);
	vprof_build_excerpt(&lines, output->s, 15, NULL, NULL);
	vprof_error_because(err, VPROF_ERR_BUILD, vprof_output_reason(output->s),
			    "the relink failed (%s): %s\n%s  whole output: %s\n"
			    "  vprof restore returns the build to its original state",
			    how, command, lines.s, r->o->log_path);
	vprof_text_release(&lines);
	return VPROF_ERR_BUILD;
}

int vprof_build_run(struct vprof_replayer *r, struct vprof_error *err)
{
	struct vprof_text output = VPROF_TEXT_INIT;
	struct vprof_process p = {
		.command = r->o->build, .directory = r->o->directory, .log_path = r->o->log_path, .captured = &output
	};
	struct vprof_process_result result;
	int rc =
		r->o->build ?
			vprof_replay_log(r, err, "build %s\n", r->o->build) :
			vprof_error_set(
				err, VPROF_ERR_INPUT,
				"objects are missing or out of date, and vprof.json has no \"build\" command that makes them: build the program, or add the command");

	if (!rc)
		rc = vprof_process_run(&p, &result, err);
	if (!rc && result.status)
		rc = vprof_build_failed(r, r->o->build, &output, &result, err);
	vprof_text_release(&output);
	return rc;
}
