/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/compare/commits.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "annotate/check/annotations.h"
#include "cli/progress.h"
#include "common/files.h"
#include "common/process.h"
#include "report/format_value.h"

#define LOGGED 5    /* commits told of a function */
#define SHORT_ID 12 /* characters of an id that name a tree */

int vprof_commit_is_meant(const char *operand)
{
	struct stat st;

	return *operand && operand[strspn(operand, "0123456789")] && stat(operand, &st);
}

/* Runs a program; its output without the last newline, on the heap. NULL: it failed, or could not run. */
static char *ask(const char *directory, const char *const *argv)
{
	struct vprof_text out = VPROF_TEXT_INIT;
	struct vprof_process p = { .argv = argv, .directory = directory, .captured = &out };
	struct vprof_process_result result;
	struct vprof_error ignored = { "" };
	char *text = NULL;

	if (!vprof_process_run(&p, &result, &ignored) && !result.status && !out.failed) {
		vprof_text_add(&out, "");
		while (out.len && out.s[out.len - 1] == '\n')
			out.s[--out.len] = 0;
		text = out.len ? vprof_text_detach(&out) : strdup("");
	}
	vprof_text_release(&out);
	return text;
}

/* One step of a build, into the log. */
static int step(const char *directory, const char *log, const char *const *argv, const char *command, const char *what,
		struct vprof_error *err)
{
	struct vprof_process p = { .argv = argv, .command = command, .directory = directory, .log_path = log };
	struct vprof_process_result result;
	char how[80];
	int rc = vprof_process_run(&p, &result, err);

	if (rc || !result.status)
		return rc;
	vprof_process_describe(&result, how, sizeof how);
	return vprof_error_set(err, VPROF_ERR_BUILD, "%s in %s ended with %s; its output is in %s", what,
			       vprof_project_shown(directory), how, vprof_project_shown(log));
}

static int find(struct vprof_commit *c, const struct vprof_project *p, const char *revision, char **prefix,
		struct vprof_error *err)
{
	struct vprof_text wanted = VPROF_TEXT_INIT;
	char *id;

	*prefix = ask(p->directory, (const char *const[]){ "git", "rev-parse", "--show-prefix", NULL });
	if (!*prefix)
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"\"%s\" is no run and no folder, and %s is in no git repository, so it is no commit", revision,
			p->directory);
	vprof_text_addf(&wanted, "%s^{commit}", revision);
	id = wanted.failed ? NULL :
			     ask(p->directory, (const char *const[]){ "git", "rev-parse", "--verify", "--quiet",
								      "--end-of-options", wanted.s, NULL });
	vprof_text_release(&wanted);
	if (!id || strlen(id) != sizeof c->id - 1) {
		free(id);
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "\"%s\" is no commit of this repository, nor a run or a folder", revision);
	}
	strcpy(c->id, id);
	free(id);
	c->subject = ask(p->directory, (const char *const[]){ "git", "log", "-1", "--format=%s", c->id, NULL });
	return c->subject ? VPROF_OK : vprof_error_no_memory(err);
}

/* What a tree was built from, so that it is built again only when that has changed. */
static char *recipe(const struct vprof_project *p, const struct vprof_commit_options *o)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	char hash[17] = "", session[17] = "";
	struct vprof_error ignored = { "" };

	if (vprof_file_hash(p->config, hash, &ignored))
		hash[0] = 0;
	if (o->with_probes && vprof_file_hash(p->session, session, &ignored))
		session[0] = 0;
	vprof_text_addf(&text, "%s %s %s\n", hash, session, o->setup ? o->setup : "");
	return text.failed ? NULL : vprof_text_detach(&text);
}

static int is_built(const char *marker, const char *wanted)
{
	struct vprof_text found = VPROF_TEXT_INIT;
	int is = !vprof_file_read(marker, &found, NULL) && found.len && !strcmp(found.s, wanted);

	vprof_text_release(&found);
	return is;
}

static int make_tree(const struct vprof_project *p, const struct vprof_commit *c, const char *tree, const char *log,
		     struct vprof_error *err)
{
	static const char *const prune[] = { "git", "worktree", "prune", NULL };
	const char *const add[] = { "git", "worktree", "add", "--force", "--detach", tree, c->id, NULL };
	int rc = access(tree, F_OK) ? VPROF_OK : vprof_dir_remove(tree, err);

	if (!rc)
		rc = step(p->directory, log, prune, NULL, "git worktree prune", err);
	return rc ? rc : step(p->directory, log, add, NULL, "git worktree add", err);
}

/* vprof.json, and the drill-down where its probes are wanted, go there; then the build is observed and made again. */
static int build_tree(const struct vprof_project *p, const struct vprof_commit *c, const struct vprof_annotations *a,
		      const struct vprof_commit_options *o, const char *log, struct vprof_error *err)
{
	struct vprof_project there = { 0 };
	char self[PATH_MAX] = "";
	int rc = readlink("/proc/self/exe", self, sizeof self - 1) > 0 ?
			 vprof_project_open(&there, c->directory, err) :
			 vprof_error_set(err, VPROF_ERR_FAILED, "cannot find the running binary: %s", strerror(errno));

	if (!rc)
		rc = vprof_project_make_dir(&there, err);
	if (!rc && o->setup)
		rc = step(c->directory, log, NULL, o->setup, "--setup", err);
	if (!rc)
		rc = vprof_file_copy(p->config, there.config, err);
	if (!rc)
		rc = step(c->directory, log, (const char *const[]){ self, "init", "--", a->build, NULL }, NULL,
			  "vprof init", err);
	if (!rc && o->with_probes)
		rc = vprof_file_copy(p->session, there.session, err);
	if (!rc)
		rc = step(c->directory, log,
			  (const char *const[]){ self, "build", o->with_probes ? NULL : "--annotations-only", NULL },
			  NULL, "vprof build", err);
	vprof_project_release(&there);
	return rc;
}

static int build(const struct vprof_project *p, const struct vprof_commit *c, const char *tree,
		 const struct vprof_annotations *a, const struct vprof_commit_options *o, struct vprof_error *err)
{
	char *marker = vprof_path_join(c->directory, ".vprof/commit"), *wanted = recipe(p, o), *log = NULL;
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_progress progress;
	int rc = VPROF_OK;

	vprof_text_addf(&text, "%s.log", tree);
	log = text.failed ? NULL : vprof_text_detach(&text);
	if (!marker || !wanted || !log)
		rc = vprof_error_no_memory(err);
	if (!rc && !is_built(marker, wanted)) {
		vprof_progress_begin(&progress, "commit");
		vprof_progress_update(&progress, c->subject, -1);
		unlink(log);
		rc = make_tree(p, c, tree, log, err);
		if (!rc)
			rc = build_tree(p, c, a, o, log, err);
		if (!rc)
			rc = vprof_file_write(marker, wanted, strlen(wanted), err);
		if (rc)
			vprof_progress_drop(&progress);
		else
			vprof_progress_end(&progress, "%.*s %.40s", SHORT_ID, c->id, c->subject);
	}
	free(marker);
	free(wanted);
	free(log);
	return rc;
}

int vprof_commit_build(struct vprof_commit *c, struct vprof_project *p, const char *revision,
		       const struct vprof_commit_options *o, struct vprof_error *err)
{
	struct vprof_annotations *a = NULL;
	struct vprof_text tree = VPROF_TEXT_INIT;
	char *prefix = NULL, *folder;
	int rc;

	*c = (struct vprof_commit){ "" };
	rc = vprof_project_need_config(p, err);
	if (!rc)
		rc = vprof_annotations_read(&a, p->config, err);
	if (!rc && !(a->build && *a->build))
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "%s has no \"build\" command, which each commit is to be built with",
				     vprof_project_shown(p->config));
	if (!rc && o->with_probes && access(p->session, R_OK))
		rc = vprof_error_set(
			err, VPROF_ERR_MISSING,
			"there is no drill-down whose probes could be used: vprof iterate, or leave out --probes");
	if (!rc)
		rc = find(c, p, revision, &prefix, err);
	if (!rc)
		rc = vprof_project_make_dir(p, err);
	folder = vprof_path_join(p->vprof_dir, "commits");
	if (!rc)
		rc = folder ? vprof_dir_make(folder, err) : vprof_error_no_memory(err);
	if (!rc) {
		vprof_text_addf(&tree, "%s/%.*s%s", folder, SHORT_ID, c->id, o->with_probes ? "-probes" : "");
		c->directory = tree.failed ? NULL : vprof_path_absolute(tree.s, *prefix ? prefix : ".");
		rc = c->directory ? build(p, c, tree.s, a, o, err) : vprof_error_no_memory(err);
	}
	free(folder);
	free(prefix);
	vprof_text_release(&tree);
	vprof_annotations_free(a);
	return rc;
}

void vprof_commit_release(struct vprof_commit *c)
{
	free(c->subject);
	free(c->directory);
	*c = (struct vprof_commit){ "" };
}

/* Where a function of the comparison stands: its file as seen from the project; NULL: of no function here. */
static const char *file_of(const struct vprof_comparison *c, const struct vprof_factor_change *f)
{
	for (int side = 1; side >= 0; side--) {
		const struct vprof_results *r = c->sides[side].runs[0];

		for (size_t i = 0; i < r->n_nodes; i++)
			if (r->nodes[i].kind == VPROF_NODE_FUNCTION && !strcmp(r->nodes[i].name, f->name) &&
			    r->nodes[i].file && *r->nodes[i].file && *r->nodes[i].file != '/')
				return r->nodes[i].file;
	}
	return NULL;
}

char *vprof_commits_between(const struct vprof_commit commits[2], const struct vprof_comparison *c, size_t top)
{
	struct vprof_text out = VPROF_TEXT_INIT, range = VPROF_TEXT_INIT, lines = VPROF_TEXT_INIT;

	vprof_text_addf(&range, "%s..%s", commits[0].id, commits[1].id);
	for (size_t i = 0; i < c->n_factors && i < top; i++) {
		const char *file = file_of(c, &c->factors[i]);
		char most[16], *log, *rest = NULL;

		if (!file)
			continue;
		vprof_text_clear(&lines);
		vprof_text_addf(&lines, "-L:\\b%s\\b:%s", c->factors[i].name, file);
		snprintf(most, sizeof most, "-%d", LOGGED);
		log = lines.failed || range.failed ?
			      NULL :
			      ask(commits[1].directory, (const char *const[]){ "git", "log", "-s", "--format=%h %s",
									       most, range.s, lines.s, NULL });
		for (char *line = log ? strtok_r(log, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
			vprof_format_cut(&out, c->factors[i].name, 40, 1, 0);
			vprof_text_addf(&out, " (%s): ", file);
			vprof_format_cut(&out, line, 100, 0, 0);
			vprof_text_add(&out, "\n");
		}
		free(log);
	}
	out.failed |= range.failed | lines.failed;
	vprof_text_release(&range);
	vprof_text_release(&lines);
	return out.failed ? NULL : out.len ? vprof_text_detach(&out) : strdup("");
}

size_t vprof_commits_count(const struct vprof_project *p)
{
	char *folder = vprof_path_join(p->vprof_dir, "commits");
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		n += *entry->d_name != '.' && !strchr(entry->d_name, '.'); /* no logs */
	if (dir)
		closedir(dir);
	free(folder);
	return n;
}

int vprof_commits_remove(const struct vprof_project *p, struct vprof_error *err)
{
	char *folder = vprof_path_join(p->vprof_dir, "commits");
	int rc = !folder ? vprof_error_no_memory(err) : access(folder, F_OK) ? VPROF_OK : vprof_dir_remove(folder, err);

	if (!rc) /* without git, or outside of a repository, there is nothing to forget */
		free(ask(p->directory, (const char *const[]){ "git", "worktree", "prune", NULL }));
	free(folder);
	return rc;
}
