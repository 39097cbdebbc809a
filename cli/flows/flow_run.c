/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flows/flow_run.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/run/run_target.h"
#include "common/files.h"
#include "instrumenter/instrument.h"
#include "trace/flows/flow_format.h"

/* The sources with the functions of the program's own locks edited. */
static int give_probes(struct vprof_workspace *w, const struct vprof_flow_own_locks *own, struct vprof_error *err)
{
	struct vprof_plan *none = vprof_plan_new(w->facts->root);
	int rc = none ? vprof_splice(w->facts, none, &own->hooks, w->project.shadow, NULL, err) :
			vprof_error_no_memory(err);

	vprof_plan_free(none);
	return rc;
}

static int build(struct vprof_workspace *w, const struct vprof_flow_build *flows, const char *log, const char *step,
		 struct vprof_error *err)
{
	const struct vprof_project *p = &w->project;
	char *probes = vprof_path_join(p->include_dir, "flow_probe.h");
	struct vprof_replay_result result = { 0 };
	struct vprof_progress progress;
	struct vprof_replay_options options = {
		.flows = flows,
		.vprof_dir = p->vprof_dir,
		.probe_header = probes,
		.include_dir = p->include_dir,
		.library_dir = p->library_dir,
		.build = w->annotations->build,
		.directory = w->annotations->directory,
		.log_path = log,
		.progress = vprof_progress_update,
		.progress_arg = &progress,
	};
	int rc = probes ? VPROF_OK : vprof_error_no_memory(err);

	vprof_progress_begin(&progress, step);
	unlink(p->plan); /* whatever the objects were made from */
	if (!rc)
		rc = vprof_replay(w->facts, NULL, NULL, &options, &result, err);
	free(probes);
	if (rc) {
		vprof_progress_drop(&progress);
		return rc;
	}
	if (flows->n_sources)
		vprof_progress_end(&progress, "%zu of %zu files compiled for discovery", result.n_compiled,
				   result.n_units);
	else
		vprof_progress_end(&progress, "%zu objects put back", result.n_reverted);
	return VPROF_OK;
}

static int run(struct vprof_workspace *w, const struct vprof_flow_run_options *o, const char *sections,
	       struct vprof_error *err)
{
	char *trace = vprof_path_join(o->folder, "trace"), *log = vprof_path_join(o->folder, "run.log");
	char *library = vprof_path_join(w->project.library_dir, "libvprof-flows.so"), mib[16];
	struct vprof_run_outcome outcome;
	struct vprof_progress progress;
	int rc;
	struct vprof_run_request request = { .command = o->command ? o->command : w->annotations->run,
					     .directory = w->annotations->directory,
					     .trace_dir = trace,
					     .log_path = log,
					     .library = library,
					     .memory_bytes = 16u << 20,
					     .verbose = o->verbose,
					     .switches = VPROF_SWITCHES_OFF,
					     .progress = &progress };

	snprintf(mib, sizeof mib, "%ld", o->memory_mib ? o->memory_mib : (long)VPROF_FLOW_DEFAULT_MIB);
	if (!trace || !log || !library || setenv(VPROF_FLOW_ENV_DIR, sections, 1) ||
	    setenv(VPROF_FLOW_ENV_MIB, mib, 1)) {
		rc = vprof_error_no_memory(err);
	} else {
		vprof_progress_begin(&progress, "run");
		rc = vprof_run_target(&request, &outcome, err);
		if (!rc && outcome.interrupted)
			rc = vprof_error_set(err, VPROF_ERR_FAILED, "interrupted");
		else if (!rc && (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status)))
			rc = vprof_run_blame(&request, &outcome, err);
		if (rc)
			vprof_progress_drop(&progress);
		else
			vprof_progress_end(&progress, "the workload, with accesses in critical sections recorded");
	}
	unsetenv(VPROF_FLOW_ENV_DIR);
	unsetenv(VPROF_FLOW_ENV_MIB);
	if (trace)
		vprof_dir_remove(trace, NULL);
	free(trace);
	free(log);
	free(library);
	return rc;
}

static int is_note(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, VPROF_FLOW_ORIGINAL);
}

/* Did the run execute what the build did not link again? Then what is seen is not all that was handed over. */
static int check_linked(struct vprof_workspace *w, const char *sections, struct vprof_error *err)
{
	struct vprof_text path = VPROF_TEXT_INIT;
	struct dirent **notes = NULL;
	int n = scandir(sections, &notes, is_note, alphasort), rc = VPROF_OK;
	char *note = n > 0 ? vprof_path_join(sections, notes[0]->d_name) : NULL;

	if (n > 0)
		rc = note ? vprof_file_read(note, &path, err) : vprof_error_no_memory(err);
	if (n > 0 && !rc)
		rc = vprof_error_set(
			err, VPROF_ERR_BUILD,
			"the run executed %s as it was before: the build command (%s) did not link it again, so nothing that its own files hand over was seen\n"
			"  Let \"build\" in vprof.json make what the workload starts, or let vprof observe the command that does, after a clean: vprof init -- BUILD COMMAND\n"
			"  what the build did: .vprof/flows/build.log",
			vprof_project_shown(path.s), w->annotations->build ? w->annotations->build : "none");
	for (int i = 0; i < n; i++)
		free(notes[i]);
	free(notes);
	free(note);
	vprof_text_release(&path);
	return rc;
}

int vprof_flow_run(struct vprof_workspace *w, const struct vprof_flow_units *units,
		   const struct vprof_flow_own_locks *own, const struct vprof_flow_run_options *o,
		   struct vprof_error *err)
{
	char *object = vprof_path_join(w->project.library_dir, "vprof-flows.o");
	char *sections = vprof_path_join(o->folder, "sections"), *log = vprof_path_join(o->folder, "build.log");
	char *not_linked = sections ? vprof_path_join(sections, VPROF_FLOW_NOT_LINKED) : NULL;
	struct vprof_flow_build flows = { .sources = units->sources,
					  .n_sources = units->n,
					  .object = object,
					  .has_own_locks = own->n > 0,
					  .not_linked = not_linked };
	int rc;

	if (!object || !sections || !log || !not_linked) {
		rc = vprof_error_no_memory(err);
		goto out;
	}
	if (access(object, R_OK)) {
		rc = vprof_error_set(
			err, VPROF_ERR_MISSING,
			"cannot read %s. Install vprof again, or set VPROF_LIBDIR to the folder that holds it", object);
		goto out;
	}
	if (!o->command && !w->annotations->run) {
		rc = vprof_error_set(
			err, VPROF_ERR_INPUT,
			"vprof.json has no \"run\": say which command puts load on the program, there or with vprof flows -- COMMAND");
		goto out;
	}
	rc = vprof_dir_remove(sections, err);
	if (!rc)
		rc = vprof_dir_make(sections, err);
	if (!rc && own->n)
		rc = give_probes(w, own, err);
	if (!rc)
		rc = build(w, &flows, log, "build", err);
	if (!rc)
		rc = run(w, o, sections, err);
	if (!rc)
		rc = check_linked(w, sections, err);
out:
	free(not_linked);
	free(object);
	free(sections);
	free(log);
	return rc;
}

int vprof_flow_put_back(struct vprof_workspace *w, const char *folder, struct vprof_error *err)
{
	char *object = vprof_path_join(w->project.library_dir, "vprof-flows.o"),
	     *built = vprof_path_join(folder, "build.log"), *log = vprof_path_join(folder, "restore.log");
	struct vprof_flow_build none = { .object = object };
	int rc = object && built && log ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc && !access(built, F_OK))
		rc = build(w, &none, log, "restore", err);
	free(object);
	free(built);
	free(log);
	return rc;
}
