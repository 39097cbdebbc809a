/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which edited headers concern which units (splice_unit.h).
 *
 * A static function of a C header is compiled into every unit that reads the header; a spin lock's fast path is in all
 * of PostgreSQL's backend. Its probe opens only beneath the functions that are broken down and call it, so where none
 * of these is compiled, the probe would never record and the object may stay as it is.
 *
 * Invariant: a header is narrow only when all its edits are probes of static functions whose address nobody takes. What
 * is not certain concerns all units.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "instrumenter/splice/splice_unit.h"
#include "trace/format.h"

static const struct vprof_probe *probe_of(const struct vprof_plan *plan, const struct vprof_facts_function *f)
{
	return vprof_plan_probe(plan, VP_CODE_FUNCTION + f->id);
}

static size_t file_index(const struct vprof_facts *facts, uint32_t id)
{
	const struct vprof_facts_file *file = vprof_facts_file(facts, id);

	return file ? (size_t)(file - facts->files) : facts->n_files;
}

/* Does its probe open only in the units of its callers? */
static int opens_locally(const struct vprof_facts_function *f, const struct vprof_probe *probe)
{
	return f->is_static && f->lang == VPROF_LANG_C && !probe->is_root && !probe->broken_down &&
	       probe->context == VPROF_CONTEXT_LEAF && probe->mask != VPROF_MASK_ANY;
}

/* is_wide[files]: has an edit that concerns every unit that reads the file. */
static void find_wide(const struct vprof_facts *facts, const struct vprof_plan *plan, const struct vprof_annotations *a,
		      unsigned char *is_wide)
{
	for (size_t i = 0; i < plan->n_probes; i++) {
		const struct vprof_probe *p = &plan->probes[i];
		const struct vprof_facts_function *f =
			p->kind == VPROF_PROBE_FUNCTION ? vprof_facts_function(facts, p->fact_id) : NULL;
		const struct vprof_facts_call *c = f ? NULL : vprof_facts_call(facts, p->fact_id);

		if (c || (f && !vprof_probe_is_at_calls(p) && !opens_locally(f, p)))
			is_wide[file_index(facts, f ? f->file : c->file)] = 1;
	}
	for (size_t i = 0; i < facts->n_addresses; i++)
		if (facts->addresses[i].function)
			is_wide[file_index(facts, facts->functions[facts->addresses[i].function - 1].file)] = 1;
	for (size_t i = 0; i < plan->n_at_calls; i++) {
		const struct vprof_facts_call *c = vprof_facts_call(facts, plan->at_calls[i].call);

		if (c)
			is_wide[file_index(facts, c->file)] = 1;
	}
	for (size_t i = 0; a && i < a->n_hooks; i++) {
		const char *name = a->hooks[i].function ? a->hooks[i].function : "", *colon = strrchr(name, ':');
		size_t n;

		name = colon ? colon + 1 : name;
		n = strcspn(name, "@");
		for (size_t f = 0; f < facts->n_functions; f++)
			if (!strncmp(facts->functions[f].name, name, n) && !facts->functions[f].name[n])
				is_wide[file_index(facts, facts->functions[f].file)] = 1;
	}
}

static int add_user(struct vprof_edited *e, uint32_t header, uint32_t user)
{
	struct vprof_edited_user *grown;

	for (size_t i = 0; i < e->n_users; i++)
		if (e->users[i].header == header && e->users[i].file == user)
			return VPROF_OK;
	grown = realloc(e->users, (e->n_users + 1) * sizeof *grown);
	if (!grown)
		return VPROF_ERR_NOMEM;
	e->users = grown;
	grown[e->n_users++] = (struct vprof_edited_user){ header, user };
	return VPROF_OK;
}

/* The files of the broken-down functions that call f, also over functions without a probe of their own. */
static int find_users(struct vprof_edited *e, const struct vprof_plan *plan, const struct vprof_facts_function *f,
		      unsigned char *reached, size_t *n_users)
{
	const struct vprof_facts *facts = e->facts;
	int more = 1, rc = VPROF_OK;

	*n_users = 0;
	memset(reached, 0, facts->n_functions);
	reached[f - facts->functions] = 1;
	while (more) {
		more = 0;
		for (size_t i = 0; !rc && i < facts->n_calls; i++) {
			const struct vprof_facts_call *c = &facts->calls[i];
			const struct vprof_facts_function *caller;
			const struct vprof_probe *probe;

			if (!c->callee_function || !reached[c->callee_function - 1])
				continue;
			caller = vprof_facts_function(facts, c->caller);
			if (!caller || reached[caller - facts->functions])
				continue;
			probe = probe_of(plan, caller);
			if (probe && probe->context != VPROF_CONTEXT_LEAF) {
				rc = add_user(e, f->file, caller->file);
				*n_users += 1;
			} else if (!probe) {
				more = reached[caller - facts->functions] = 1;
			}
		}
	}
	return rc;
}

int vprof_edited_narrow(struct vprof_edited *e, const struct vprof_plan *plan, const struct vprof_annotations *a,
			struct vprof_error *err)
{
	const struct vprof_facts *facts = e->facts;
	unsigned char *is_wide = calloc(facts->n_files + 1, 1), *reached = calloc(facts->n_functions + 1, 1);
	int rc = is_wide && reached ? VPROF_OK : VPROF_ERR_NOMEM;
	size_t n_users;

	if (!rc && !plan->all && !plan->live)
		find_wide(facts, plan, a, is_wide);
	for (size_t i = 0; !rc && !plan->all && !plan->live && i < plan->n_probes; i++) {
		const struct vprof_probe *p = &plan->probes[i];
		const struct vprof_facts_function *f =
			p->kind == VPROF_PROBE_FUNCTION ? vprof_facts_function(facts, p->fact_id) : NULL;
		size_t at = f ? file_index(facts, f->file) : facts->n_files;

		if (at == facts->n_files || vprof_probe_is_at_calls(p) || is_wide[at] || e->needed[at] == 0)
			continue;
		rc = find_users(e, plan, f, reached, &n_users);
		is_wide[at] = !n_users; /* called in a way that the facts do not show */
		e->needed[at] = is_wide[at] ? 1 : VPROF_EDITED_NARROW;
	}
	free(is_wide);
	free(reached);
	return rc ? vprof_error_set(err, rc, "out of memory") : VPROF_OK;
}
