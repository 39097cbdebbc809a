/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/waits_members.h"

#define NAMES_SHOWN 6

void vprof_waits_add_party(const struct vprof_waits_results *r, uint32_t party, struct vprof_text *t)
{
	vprof_text_add(t, r->parties[party].name);
	if (r->parties[party].n_threads > 1)
		vprof_text_addf(t, " (%u threads)", r->parties[party].n_threads);
}

void vprof_waits_add_members(const struct vprof_waits_results *r, const struct vprof_waits_group *g,
			     struct vprof_text *t)
{
	uint32_t at = g->parties[0];

	if (g->ending == VPROF_WAITS_ENDING_CYCLE) {
		for (size_t i = 0; i < g->n_parties; i++) {
			uint32_t next = at;

			vprof_waits_add_party(r, at, t);
			vprof_text_add(t, " -> ");
			for (size_t k = 0; k < g->n_arcs; k++)
				if (r->arcs[g->arcs[k]].from == at)
					next = r->arcs[g->arcs[k]].to;
			at = next;
		}
		vprof_text_add(t, r->parties[at].name);
		return;
	}
	for (size_t i = 0; i < g->n_parties && i < NAMES_SHOWN; i++) {
		vprof_text_add(t, i ? ", " : "");
		vprof_waits_add_party(r, g->parties[i], t);
	}
	if (g->n_parties > NAMES_SHOWN)
		vprof_text_addf(t, " and %zu more", g->n_parties - NAMES_SHOWN);
}
