/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares what a unit read when it was compiled from shadow sources with what it should have read.
 *
 * It is not an error when the original of an edited file was read: the build works, but functions of that file have no
 * probes there. It happens when the path of an include is absolute and comes from a macro, goes through a symbolic
 * link, or is in a file outside the project.
 */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_deps.h"
#include "instrumenter/splice/splice_shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"

char *vprof_deps_path(const char *made)
{
	char *path = NULL;

	return asprintf(&path, "%s.deps", made) < 0 ? NULL : path;
}

/* The next path of a rule as compilers write it ("x: a.c b\ c.h \<newline> d.h"); 0 at the end. */
static int next_path(const char **at, struct vprof_text *path)
{
	const char *p = *at;

	vprof_text_clear(path);
	while (*p == ' ' || *p == '\n' || *p == '\t' || (*p == '\\' && p[1] == '\n'))
		p++;
	for (; *p && *p != ' ' && *p != '\n' && *p != '\t'; p++) {
		if (*p == '\\' && p[1] == '\n')
			break;
		if ((*p == '\\' && (p[1] == ' ' || p[1] == '#' || p[1] == '\\')) || (*p == '$' && p[1] == '$'))
			p++;
		vprof_text_append(path, p, 1);
	}
	*at = p;
	return path->len > 0;
}

/* Is it the original of an edited file? */
static int is_past_shadow(const struct vprof_replayer *r, const char *path)
{
	char *real = realpath(path, NULL), *shadow = NULL;
	struct stat st;
	int past = 0;

	if (real && !vprof_path_inside(r->o->vprof_dir, path))
		shadow = vprof_shadow_path(r->facts, r->shadow_dir, real);
	past = shadow && !vprof_path_inside(r->shadow_dir, real) && !lstat(shadow, &st) && S_ISREG(st.st_mode);
	free(shadow);
	free(real);
	return past;
}

int vprof_deps_each(const char *made, void (*see)(void *arg, const char *path), void *arg)
{
	struct vprof_text text = VPROF_TEXT_INIT, word = VPROF_TEXT_INIT;
	char *deps = vprof_deps_path(made);
	const char *at;
	int rc = -1;

	if (deps && !access(deps, R_OK) && !vprof_file_read(deps, &text, NULL) && text.len) {
		at = text.s + strcspn(text.s, ":");
		rc = *at == ':' ? 0 : -1;
		for (at += *at == ':'; next_path(&at, &word) && !word.failed;)
			see(arg, word.s);
		rc = word.failed ? -1 : rc;
	}
	free(deps);
	vprof_text_release(&word);
	vprof_text_release(&text);
	return rc;
}

struct check {
	struct vprof_replayer *r;
	const struct vprof_unit *unit;
};

static void check_path(void *arg, const char *word)
{
	const struct check *c = arg;
	struct vprof_replayer *r = c->r;
	const char *source = c->unit->tu->path;
	char *path = vprof_path_rooted(r->facts->root, c->unit->tu->directory, word);

	if (path && is_past_shadow(r, path)) {
		if (!r->result->n_past_probes++)
			snprintf(r->result->past_probes, sizeof r->result->past_probes, "%s (compiling %s)",
				 vprof_replay_short(r, path), vprof_replay_short(r, source));
		vprof_replay_log(r, NULL, "the original is read instead of the instrumented file: %s, compiling %s\n",
				 path, source);
	}
	free(path);
}

void vprof_deps_check(struct vprof_replayer *r, const struct vprof_unit *unit)
{
	struct check check = { r, unit };

	vprof_deps_each(unit->made, check_path, &check);
}
