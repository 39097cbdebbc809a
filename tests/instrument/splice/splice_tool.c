/* SPDX-License-Identifier: GPL-3.0-or-later */
/* splice_tool FACTS SHADOW_DIR all|each|sites|none|NAME,NAME,... [VPROF_JSON]
 *
 * Plans and splices without a session: the first name is the root, all names are broken down; "each" breaks down every
 * function, so that every site that can carry a probe has one; "sites" encloses every call that may be enclosed,
 * whoever is called, one inside another. Prints one line for each translation unit: its source, 1 when it must be built
 * from the shadow sources, its fingerprint. Exit status 1 with the message on stderr when something fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "instrumenter/instrument.h"
#include "instrumenter/splice/splice_unit.h"
#include "trace/format.h"

#define NAMES_MAX 65536

static int units(const struct vprof_facts *facts, const char *shadow_dir, struct vprof_error *err)
{
	struct vprof_edited edited = { 0 };
	int rc = vprof_edited_read(&edited, facts, shadow_dir, err);

	for (size_t i = 0; !rc && i < facts->n_tus; i++) {
		char fingerprint[17];
		int needed = vprof_edited_unit(&edited, &facts->tus[i], fingerprint);

		printf("%s %d %s\n", facts->tus[i].path, needed, fingerprint);
	}
	vprof_edited_release(&edited);
	return rc;
}

static void decide(struct vprof_decisions *d, struct vprof_name *names, char *list, const struct vprof_facts *facts)
{
	if (!strcmp(list, "each")) {
		for (size_t i = 0; i < facts->n_functions && i < NAMES_MAX; i++)
			names[d->n_broken_down++] =
				(struct vprof_name){ facts->functions[i].name,
						     vprof_facts_file(facts, facts->functions[i].file)->path, "" };
		d->n_roots = d->n_broken_down;
		return;
	}
	for (char *s = strtok(list, ","); s && d->n_broken_down < NAMES_MAX; s = strtok(NULL, ","))
		names[d->n_broken_down++] = (struct vprof_name){ s, "", "" };
	d->n_roots = d->n_broken_down != 0;
}

/* One probe at each place. */
static int add_sites(struct vprof_plan *plan, const struct vprof_facts *facts)
{
	for (size_t i = 0; i < facts->n_calls; i++) {
		const struct vprof_facts_call *c = &facts->calls[i];
		struct vprof_probe p = { .code = VP_CODE_SITE + c->id,
					 .kind = VPROF_PROBE_SITE,
					 .fact_id = c->id,
					 .mask = VPROF_MASK_ANY,
					 .context = VPROF_CONTEXT_LEAF,
					 .name = c->callee,
					 .display = c->callee,
					 .file = "",
					 .line = c->line,
					 .caller = "" };
		int ok = c->wrappable && c->begin > 0;

		for (size_t k = 0; ok && k < facts->n_calls; k++) {
			const struct vprof_facts_call *d = &facts->calls[k];

			if (d->file == c->file && d->begin == c->begin && d->end == c->end)
				ok = d->wrappable && d->form == c->form && k >= i;
		}
		if (ok && vprof_plan_add(plan, &p))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct vprof_name names[NAMES_MAX];
	struct vprof_decisions d = { .roots = names, .broken_down = names };
	struct vprof_annotations *a = NULL;
	struct vprof_facts *facts = NULL;
	struct vprof_callgraph *graph = NULL;
	struct vprof_plan *plan = NULL;
	struct vprof_text skipped = VPROF_TEXT_INIT;
	struct vprof_splice_result result;
	struct vprof_error err = { "" };
	char *shadow, cwd[4096];
	int rc;

	if (argc < 4 || argc > 5 || !getcwd(cwd, sizeof cwd)) {
		fprintf(stderr, "usage: %s FACTS SHADOW_DIR all|each|sites|none|NAME,NAME,... [VPROF_JSON]\n", argv[0]);
		return 2;
	}
	shadow = vprof_path_absolute(cwd, argv[2]);
	d.all = !strcmp(argv[3], "all");
	rc = vprof_facts_open(&facts, argv[1], &err);
	if (!rc && !d.all && strcmp(argv[3], "none") && strcmp(argv[3], "sites"))
		decide(&d, names, argv[3], facts);
	if (!rc && argc == 5)
		rc = vprof_annotations_read(&a, argv[4], &err);
	if (!rc)
		rc = vprof_callgraph_build(&graph, facts, &err);
	if (!rc)
		rc = vprof_plan_make(&plan, facts, graph, a, &d, &skipped, &err);
	if (!rc && !strcmp(argv[3], "sites"))
		rc = add_sites(plan, facts);
	if (!rc)
		rc = vprof_splice(facts, plan, a, shadow, &result, &err);
	if (!rc)
		rc = units(facts, shadow, &err);
	if (rc)
		fprintf(stderr, "%s\n", err.message);
	else
		fprintf(stderr, "%zu probes, %zu edits in %zu files, %zu mirrored\n%s", plan->n_probes, result.n_edits,
			result.n_files_edited, result.n_mirrored, skipped.s);
	vprof_text_release(&skipped);
	vprof_plan_free(plan);
	vprof_callgraph_free(graph);
	vprof_facts_free(facts);
	vprof_annotations_free(a);
	free(shadow);
	return rc ? 1 : 0;
}
