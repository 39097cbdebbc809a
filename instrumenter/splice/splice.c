/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plan and annotations -> edits -> instrumented text (docs/design/contracts.md says what is inserted).
 *
 * Invariant: a file is edited only when its bytes are those that were scanned (hash), and only by insertions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "instrumenter/instrument.h"
#include "instrumenter/splice/splice_unit.h"
#include "instrumenter/splice/splice_edit.h"
#include "instrumenter/splice/splice_hook.h"
#include "instrumenter/splice/splice_include.h"
#include "instrumenter/splice/splice_live.h"
#include "instrumenter/splice/splice_shadow.h"

static int stale(const char *what, uint32_t id, struct vprof_error *err)
{
	return vprof_error_set(
		err, VPROF_ERR_STALE,
		"the plan refers to %s %u, which the scan does not know; run `vprof iterate` to scan and plan again",
		what, id);
}

static int function_edit(struct vprof_edits *edits, const struct vprof_facts *facts, const struct vprof_probe *p,
			 struct vprof_error *err)
{
	const struct vprof_facts_function *f = vprof_facts_function(facts, p->fact_id);
	struct vprof_text t = VPROF_TEXT_INIT;

	if (!f || f->body_begin < 1)
		return stale("function", p->fact_id, err);
	if (vprof_probe_is_at_calls(p))
		return VPROF_OK;
	vprof_text_addf(&t, " %s(%u, %#" PRIx64 "UL, %d)", p->is_root ? "VP_ROOT" : "VP_FUNCTION", p->code, p->mask,
			p->context);
	vprof_edits_add(edits, f->file, VPROF_EDIT_ENTRY, f->body_begin, f->body_begin, VPROF_SPLICE_RANK_PROBE, &t);
	return VPROF_OK;
}

/* The text around a call of each form; code, mask and context go between the first two strings. */
const char *const vprof_site_text[][3] = {
	[VPROF_FORM_STATEMENT] = { "(__extension__({ VP_SITE", " ", "; }))" },
	[VPROF_FORM_VALUE] = { " VP_SITE_VALUE", "(", ")" },
	[VPROF_FORM_REFERENCE] = { " VP_SITE_REFERENCE", "(", ")" },
	[VPROF_FORM_VOID] = { " VP_SITE_VOID", "((", ", 0))" },
	[VPROF_FORM_SCOPE] = { "(VP_SITE_SCOPE", " ", ")" },
};

static int site_edit(struct vprof_edits *edits, const struct vprof_facts *facts, uint32_t call, uint32_t code,
		     uint64_t mask, int context, struct vprof_error *err)
{
	const struct vprof_facts_call *c = vprof_facts_call(facts, call);
	struct vprof_text before = VPROF_TEXT_INIT, after = VPROF_TEXT_INIT;

	if (!c || c->begin < 1 || c->end <= c->begin || !c->wrappable)
		return stale("call", call, err);
	vprof_text_addf(&before, "%s(%u, %#" PRIx64 "UL, %d)%s", vprof_site_text[c->form][0], code, mask, context,
			vprof_site_text[c->form][1]);
	vprof_text_add(&after, vprof_site_text[c->form][2]);
	vprof_edits_enclose(edits, c->file, c->begin, c->end, VPROF_SPLICE_RANK_SITE, &before, &after);
	return VPROF_OK;
}

/* All edits of all files, sorted; with a shadow folder also those of includes. */
static int gather(struct vprof_edits *edits, const struct vprof_facts *facts, const struct vprof_plan *plan,
		  const struct vprof_annotations *a, const char *shadow_dir, struct vprof_error *err)
{
	int rc = VPROF_OK;

	if (plan->live)
		rc = vprof_splice_live(edits, facts, plan, err);
	for (size_t i = 0; !rc && !plan->live && i < plan->n_probes; i++) {
		const struct vprof_probe *p = &plan->probes[i];

		if (p->kind == VPROF_PROBE_FUNCTION)
			rc = function_edit(edits, facts, p, err);
		else
			rc = site_edit(edits, facts, p->fact_id, p->code, p->mask, p->context, err);
	}
	for (size_t i = 0; !rc && i < plan->n_at_calls; i++) {
		const struct vprof_plan_call *c = &plan->at_calls[i];

		rc = site_edit(edits, facts, c->call, c->code, c->mask, VPROF_CONTEXT_LEAF, err);
	}
	if (!rc && a)
		rc = vprof_splice_hooks(edits, facts, a, err);
	if (!rc && shadow_dir)
		rc = vprof_splice_includes(edits, facts, shadow_dir, err);
	if (!rc && edits->failed)
		rc = vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory placing probes");
	if (!rc)
		vprof_edits_sort(edits);
	return rc;
}

static size_t n_of_file(const struct vprof_edits *edits, size_t first)
{
	size_t i = first;

	while (i < edits->n && edits->list[i].file == edits->list[first].file)
		i++;
	return i - first;
}

/* The instrumented text of one file. */
static int edited_text(const struct vprof_facts_file *file, const struct vprof_edit *list, size_t n,
		       struct vprof_text *out, struct vprof_error *err)
{
	struct vprof_text original = VPROF_TEXT_INIT;
	char hash[17];
	int rc = vprof_file_read(file->path, &original, err);

	if (rc == VPROF_ERR_MISSING)
		rc = vprof_error_set(
			err, VPROF_ERR_STALE,
			"%s was removed after the sources were scanned; run `vprof iterate` or `vprof init` to scan them again",
			file->path);
	if (rc)
		goto out;
	snprintf(hash, sizeof hash, "%016" PRIx64, vprof_hash(VPROF_HASH_SEED, original.s, original.len));
	if (strcmp(hash, file->hash))
		rc = vprof_error_set(err, VPROF_ERR_STALE,
				     "%s changed since the sources were scanned; run `vprof "
				     "iterate` or `vprof init` to scan them again",
				     file->path);
	else
		rc = vprof_edits_apply(list, n, &original, file->path, out, err);
out:
	vprof_text_release(&original);
	return rc;
}

static int write_edited(const struct vprof_facts *facts, const struct vprof_edits *edits, struct vprof_shadow *shadow,
			struct vprof_splice_result *result, struct vprof_error *err)
{
	int rc = VPROF_OK;

	for (size_t i = 0, n; !rc && i < edits->n; i += n) {
		const struct vprof_facts_file *file = vprof_facts_file(facts, edits->list[i].file);
		struct vprof_text text = VPROF_TEXT_INIT;

		n = n_of_file(edits, i);
		if (!file)
			return stale("file", edits->list[i].file, err);
		rc = edited_text(file, edits->list + i, n, &text, err);
		if (!rc)
			rc = vprof_shadow_write(shadow, file->path, &text, err);
		vprof_text_release(&text);
		result->n_files_edited++;
		result->n_edits += n;
	}
	return rc;
}

int vprof_splice(const struct vprof_facts *facts, const struct vprof_plan *plan, const struct vprof_annotations *a,
		 const char *shadow_dir, struct vprof_splice_result *result, struct vprof_error *err)
{
	struct vprof_splice_result ignored;
	struct vprof_edits edits = { 0 };
	struct vprof_shadow shadow = { .facts = facts, .dir = shadow_dir };
	int rc;

	if (!result)
		result = &ignored;
	*result = (struct vprof_splice_result){ 0 };
	rc = gather(&edits, facts, plan, a, shadow_dir, err);
	if (!rc)
		rc = vprof_dir_make(shadow_dir, err);
	if (!rc)
		rc = write_edited(facts, &edits, &shadow, result, err);
	if (!rc)
		rc = vprof_shadow_finish(&shadow, err);
	result->n_mirrored = shadow.n_links;
	vprof_shadow_release(&shadow);
	vprof_edits_release(&edits);
	return rc;
}

/* The file that the user means: absolute, relative to the root, or the end of exactly one path. */
static const struct vprof_facts_file *named_file(const struct vprof_facts *facts, const char *path,
						 struct vprof_error *err)
{
	const struct vprof_facts_file *by_end = NULL;
	char *absolute = vprof_path_absolute(facts->root, path);
	size_t n = strlen(path), n_by_end = 0;

	for (size_t i = 0; absolute && i < facts->n_files; i++) {
		const struct vprof_facts_file *file = &facts->files[i];
		size_t k = strlen(file->path);

		if (!strcmp(file->path, absolute)) {
			free(absolute);
			return file;
		}
		if (n && k > n && file->path[k - n - 1] == '/' && !strcmp(file->path + k - n, path)) {
			by_end = file;
			n_by_end++;
		}
	}
	free(absolute);
	if (n_by_end == 1)
		return by_end;
	vprof_error_set(
		err, VPROF_ERR_INPUT,
		n_by_end ? "%s matches several files; give more of its path" :
			   "%s was not read by any translation unit of the scan; check the path, or run `vprof init` "
			   "again",
		path);
	return NULL;
}

int vprof_splice_text(const struct vprof_facts *facts, const struct vprof_plan *plan, const struct vprof_annotations *a,
		      const char *path, struct vprof_text *out, struct vprof_error *err)
{
	const struct vprof_facts_file *file = named_file(facts, path, err);
	struct vprof_edits edits = { 0 };
	size_t first = 0;
	int rc;

	if (!file)
		return VPROF_ERR_INPUT;
	rc = gather(&edits, facts, plan, a, NULL, err);
	while (!rc && first < edits.n && edits.list[first].file != file->id)
		first++;
	if (!rc)
		rc = edited_text(file, edits.list + first, first < edits.n ? n_of_file(&edits, first) : 0, out, err);
	vprof_edits_release(&edits);
	return rc;
}
