/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "annotate/check/check.h"
#include "cli/command.h"
#include "cli/lock.h"
#include "cli/progress.h"
#include "common/files.h"
#include "instrumenter/instrument.h"
#include "report/format_value.h"

/* Both may be made later than vprof.json is written, but nothing can be done without them. */
static int check_places(const struct vprof_workspace *w, struct vprof_error *err)
{
	const struct vprof_annotations *a = w->annotations;
	struct stat st;

	if (stat(a->directory, &st) || !S_ISDIR(st.st_mode))
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "%s: \"directory\": there is no folder %s. It is relative to "
				       "the folder of vprof.json",
				       vprof_project_shown(w->project.config), a->directory);
	if (a->compile_commands && access(a->compile_commands, R_OK))
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"%s: \"compile_commands\": cannot read %s: %s. Give the path "
			"of a compilation database, or remove the key for the one that vprof init observed",
			vprof_project_shown(w->project.config), a->compile_commands, strerror(errno));
	return VPROF_OK;
}

int vprof_workspace_open(struct vprof_workspace *w, const char *locked_by, struct vprof_error *err)
{
	int rc;

	memset(w, 0, sizeof *w);
	rc = vprof_project_open(&w->project, NULL, err);
	if (!rc)
		rc = vprof_project_need_config(&w->project, err);
	if (!rc)
		rc = vprof_annotations_read(&w->annotations, w->project.config, err);
	if (!rc)
		rc = check_places(w, err);
	if (!rc && (locked_by || access(w->project.vprof_dir, F_OK))) /* who only reads may do so on a read-only disk */
		rc = vprof_project_make_dir(&w->project, err);
	if (!rc && locked_by)
		rc = vprof_project_lock(&w->project, locked_by, err);
	return rc;
}

static void forget_facts(struct vprof_workspace *w)
{
	vprof_callgraph_free(w->graph);
	vprof_facts_free(w->facts);
	w->graph = NULL;
	w->facts = NULL;
}

void vprof_workspace_release(struct vprof_workspace *w)
{
	forget_facts(w);
	vprof_annotations_free(w->annotations);
	w->annotations = NULL;
	vprof_project_release(&w->project);
}

char *vprof_workspace_compile_commands(const struct vprof_project *p, const struct vprof_annotations *a)
{
	if (a && a->compile_commands)
		return strdup(a->compile_commands);
	return vprof_path_join(p->vprof_dir, "compile_commands.json");
}

int vprof_workspace_scan(const struct vprof_project *p, const char *compile_commands, const char *root,
			 struct vprof_error *err)
{
	struct vprof_facts *facts = NULL;
	struct timespec times[2];
	struct vprof_progress progress;
	size_t n_broken = 0;
	int rc;

	vprof_progress_begin(&progress, "scan");
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[1] = times[0];
	rc = vprof_scan(p->scanner, compile_commands, root, p->facts, 0, vprof_progress_update, &progress, err);
	if (!rc)
		rc = vprof_facts_open(&facts, p->facts, err);
	if (!rc) /* a scan that finds nothing new writes nothing, and would be made again for the same database */
		utimensat(AT_FDCWD, p->facts, times, 0);
	if (rc) {
		vprof_progress_drop(&progress);
		return rc;
	}
	for (size_t i = 0; i < facts->n_tus; i++)
		n_broken += facts->tus[i].status != VPROF_TU_OK;
	if (n_broken)
		vprof_progress_end(&progress, "%s source files, %s functions (%s files with errors)",
				   vprof_format_count(facts->n_tus).s, vprof_format_count(facts->n_functions).s,
				   vprof_format_count(n_broken).s);
	else
		vprof_progress_end(&progress, "%s source files, %s functions", vprof_format_count(facts->n_tus).s,
				   vprof_format_count(facts->n_functions).s);
	vprof_facts_free(facts);
	return VPROF_OK;
}

static int is_newer(const char *path, const char *than)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(than, &b) &&
	       (a.st_mtim.tv_sec > b.st_mtim.tv_sec ||
		(a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec > b.st_mtim.tv_nsec));
}

int vprof_workspace_check_root(const struct vprof_project *p, const struct vprof_facts *facts, const char *here,
			       struct vprof_error *err)
{
	struct stat a, b;

	if (!strcmp(facts->root, here) ||
	    (!stat(facts->root, &a) && !stat(here, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino))
		return VPROF_OK;
	return vprof_error_set(err, VPROF_ERR_STALE,
			       "%s was recorded for %s, not for %s: its compiler commands work on files "
			       "there. Remove %s, then observe the build here: vprof init -- YOUR BUILD COMMAND",
			       vprof_project_shown(p->vprof_dir), facts->root, here, vprof_project_shown(p->vprof_dir));
}

int vprof_workspace_load_facts(struct vprof_workspace *w, struct vprof_error *err)
{
	char *database = vprof_workspace_compile_commands(&w->project, w->annotations);
	struct vprof_error why = { "" };
	int rc;

	if (!database)
		return vprof_error_no_memory(err);
	forget_facts(w);
	rc = vprof_facts_open(&w->facts, w->project.facts, &why);
	if (!rc) {
		rc = vprof_workspace_check_root(&w->project, w->facts, w->annotations->directory, err);
		if (rc)
			goto out;
	}
	if (!rc)
		rc = vprof_facts_check_fresh(w->facts, &why);
	if (!rc && is_newer(database, w->project.facts))
		rc = vprof_error_set(&why, VPROF_ERR_STALE, "%s is newer than the facts",
				     vprof_project_shown(database));
	if (!rc)
		goto graph;
	forget_facts(w);
	if (access(database, R_OK)) {
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "there is no compilation database %s, so the sources cannot be scanned. Observe a "
				     "build with: vprof init -- YOUR BUILD COMMAND",
				     vprof_project_shown(database));
		goto out;
	}
	if (rc == VPROF_ERR_CORRUPT)
		unlink(w->project.facts);
	if (rc != VPROF_ERR_MISSING)
		vprof_tell("%s; scanning again", why.message);
	w->rescanned = 1;
	rc = vprof_workspace_scan(&w->project, database, w->annotations->directory, err);
	if (!rc)
		rc = vprof_facts_open(&w->facts, w->project.facts, err);
graph:
	if (!rc)
		rc = vprof_callgraph_build(&w->graph, w->facts, err);
out:
	free(database);
	return rc;
}

int vprof_workspace_check(struct vprof_workspace *w, struct vprof_error *err)
{
	struct vprof_findings findings = { 0 };
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = vprof_annotations_check(w->annotations, w->facts, &findings, err);

	for (size_t i = 0; i < findings.n && !rc; i++) {
		if (findings.items[i].severity == VPROF_FINDING_OK)
			continue;
		vprof_text_clear(&text);
		vprof_finding_format(w->annotations, &findings.items[i], &text);
		fprintf(stderr, "vprof: %s%s\n", findings.items[i].severity == VPROF_FINDING_WARNING ? "warning: " : "",
			text.s);
	}
	if (!rc && findings.n_errors)
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "%s: %zu error%s, nothing was built. Correct %s, then check "
				     "with: vprof annotations",
				     vprof_project_shown(w->project.config), findings.n_errors,
				     findings.n_errors == 1 ? "" : "s", findings.n_errors == 1 ? "it" : "them");
	vprof_text_release(&text);
	vprof_findings_release(&findings);
	return rc;
}
