/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See splice_include.h. This works on the text, not on preprocessed code: an include that is disabled, or in a comment,
 * may be edited too, which does no harm. Paths that come from macros are not seen here; replay reports when the
 * original of an edited file was read (replay_deps.c).
 */
#define _GNU_SOURCE
#include "instrumenter/splice/splice_include.h"

#include <stdlib.h>
#include <string.h>

#include "common/files.h"

/* indexed as facts->files */
struct marks {
	const struct vprof_facts *facts;
	unsigned char *edited, *affected;
};

static unsigned char *mark_of(const struct marks *m, unsigned char *marks, uint32_t id)
{
	const struct vprof_facts_file *file = vprof_facts_file(m->facts, id);

	return file ? &marks[file - m->facts->files] : NULL;
}

/* Which files do units read that read an edited one? */
static void mark(struct marks *m, const struct vprof_edits *edits)
{
	unsigned char *at;

	for (size_t i = 0; i < edits->n; i++)
		if ((at = mark_of(m, m->edited, edits->list[i].file)))
			*at = 1;
	for (size_t i = 0; i < m->facts->n_tus; i++) {
		const struct vprof_facts_tu *tu = &m->facts->tus[i];
		int edited = 0;

		for (size_t j = 0; j < tu->n_files && !edited; j++)
			edited = (at = mark_of(m, m->edited, tu->files[j])) && *at;
		for (size_t j = 0; j < tu->n_files && edited; j++)
			if ((at = mark_of(m, m->affected, tu->files[j])))
				*at = 1;
	}
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* The path of an include directive that begins at `line`, in quotes or absolute: *n bytes, or NULL. */
static const char *included(const char *line, size_t *n)
{
	const char *p = skip_blanks(line);

	if (*p != '#')
		return NULL;
	p = skip_blanks(p + 1);
	if (strncmp(p, "include", 7) && strncmp(p, "import", 6))
		return NULL;
	p = skip_blanks(p + (p[1] == 'n' ? 7 : 6));
	if (*p != '"' && (*p != '<' || p[1] != '/'))
		return NULL;
	*n = strcspn(p + 1, *p == '"' ? "\"\n" : ">\n");
	return p + 1;
}

static int is_project_file(const struct vprof_facts *facts, const char *path, size_t n)
{
	for (size_t i = 0; i < facts->n_files; i++)
		if (facts->files[i].in_project && strlen(facts->files[i].path) == n &&
		    !memcmp(facts->files[i].path, path, n))
			return 1;
	return 0;
}

/* Does the path, which starts in the file's folder, lead to a file outside the project? From the shadow it would lead
 * to another place. */
static int leads_out(const char *real_root, const char *folder, const char *path, size_t n)
{
	struct vprof_text joined = VPROF_TEXT_INIT;
	char *real = NULL;
	int out;

	if (path[0] == '/' || n < 3 || !memmem(path, n, "../", 3))
		return 0;
	vprof_text_addf(&joined, "%s/%.*s", folder, (int)n, path);
	if (!joined.failed && real_root)
		real = realpath(joined.s, NULL);
	out = real && !vprof_path_inside(real_root, real);
	free(real);
	vprof_text_release(&joined);
	return out;
}

static int lead_file(struct vprof_edits *edits, const struct vprof_facts *facts, const struct vprof_facts_file *file,
		     const char *real_root, const char *shadow_dir, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	size_t root = strlen(facts->root), n;
	int rc = vprof_file_read(file->path, &text, err);
	char *folder = strndup(file->path, (size_t)(strrchr(file->path, '/') - file->path));
	const char *path;

	if (!rc && !folder)
		rc = vprof_error_no_memory(err);

	if (rc == VPROF_ERR_MISSING)
		rc = VPROF_OK; /* splice tells when it is one to edit */
	for (const char *line = rc || !text.len ? NULL : text.s; line;
	     line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		struct vprof_text inserted = VPROF_TEXT_INIT;

		path = included(line, &n);
		if (path && leads_out(real_root, folder, path, n)) {
			vprof_text_addf(&inserted, "%s/", folder);
			vprof_edits_add(edits, file->id, VPROF_EDIT_OPEN, path - text.s, path - text.s, 0, &inserted);
			continue;
		}
		if (!path || n <= root || memcmp(path, facts->root, root) || path[root] != '/' ||
		    !is_project_file(facts, path, n))
			continue;
		vprof_text_add(&inserted, shadow_dir + root);
		vprof_edits_add(edits, file->id, VPROF_EDIT_OPEN, path - text.s + (int64_t)root,
				path - text.s + (int64_t)root, 0, &inserted);
	}
	vprof_text_release(&text);
	free(folder);
	return rc;
}

int vprof_splice_includes(struct vprof_edits *edits, const struct vprof_facts *facts, const char *shadow_dir,
			  struct vprof_error *err)
{
	struct marks m = { .facts = facts };
	char *real_root;
	int rc = VPROF_OK;

	if (!edits->n || !strcmp(facts->root, "/") || !vprof_path_inside(facts->root, shadow_dir))
		return VPROF_OK;
	real_root = realpath(facts->root, NULL);
	m.edited = calloc(facts->n_files + 1, 1);
	m.affected = calloc(facts->n_files + 1, 1);
	if (m.edited && m.affected)
		mark(&m, edits);
	else
		rc = vprof_error_no_memory(err);
	for (size_t i = 0; !rc && i < facts->n_files; i++)
		if (m.affected[i] && facts->files[i].in_project && vprof_path_inside(facts->root, facts->files[i].path))
			rc = lead_file(edits, facts, &facts->files[i], real_root, shadow_dir, err);
	free(real_root);
	free(m.edited);
	free(m.affected);
	return rc;
}
