/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/discover/ranking.h"

#include <stdio.h>
#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/discover/draft.h"
#include "common/facts/never_returns.h"

void vprof_ranking_observe(struct vprof_ranking *r, uint32_t f, double points, const char *what)
{
	struct vprof_candidate *c = &r->all[f];
	size_t n = strlen(c->why);

	c->score += points;
	c->n_evidence++;
	if (n + strlen(what) + 3 < sizeof c->why && !strstr(c->why, what))
		snprintf(c->why + n, sizeof c->why - n, "%s%s", n ? "; " : "", what);
}

const char *vprof_ranking_name(const struct vprof_ranking *r, uint32_t f)
{
	return r->d->facts->functions[f].name;
}

const char *vprof_request_id(struct vprof_discovery *d, const struct vprof_facts_function *f, int *rank)
{
	size_t n, i;
	const struct vprof_parameter *list = vprof_discovery_parameters(d, f, &n), *best = NULL;

	*rank = 0;
	for (i = 0; i < n; i++) {
		int worth = 0;

		if (list[i].is_pointer && !strstr(list[i].type, "char"))
			worth = !vprof_expression_mentions(list[i].type, "void") &&
						(vprof_name_sounds_like_request(list[i].name) ||
						 vprof_name_sounds_like_request(list[i].type)) ?
					3 :
					2;
		else if (list[i].is_integer && (vprof_expression_mentions(list[i].name, "fd") ||
						strstr(list[i].name, "sock") || strstr(list[i].name, "id")))
			worth = 1;
		if (worth > *rank) {
			*rank = worth;
			best = &list[i];
		}
	}
	if (!best && vprof_function_is_method(f)) {
		*rank = 2;
		return "this";
	}
	return best ? best->name : "1";
}

const char *vprof_request_end_id(struct vprof_discovery *d, const struct vprof_facts_function *begin,
				 const struct vprof_facts_function *end)
{
	size_t n, n_end, i, j;
	int rank;
	const char *id = vprof_request_id(d, begin, &rank);
	const struct vprof_parameter *list = vprof_discovery_parameters(d, begin, &n),
				     *at_end = vprof_discovery_parameters(d, end, &n_end);

	for (i = 0; i < n && strcmp(list[i].name, id); i++)
		;
	if (i == n)
		return id; /* "1", "this" */
	for (j = 0; j < n_end && strcmp(at_end[j].type, list[i].type); j++)
		;
	return j < n_end ? at_end[j].name : NULL;
}

void vprof_propose_final(struct vprof_discovery *d, uint32_t f, struct vprof_interval_proposal *p)
{
	const struct vprof_facts_call *last = vprof_facts_final_call(d->facts, f);
	const char *id = p->end ? p->end_id : p->id;
	uint32_t at = f;

	for (; last && last->callee_function; last = vprof_facts_final_call(d->facts, at))
		at = last->callee_function - 1;
	if (at == f && !vprof_facts_final_call(d->facts, f))
		return;
	if (!id || (at != f && strcmp(id, "getpid()") && strcmp(id, "1")) || !d->facts->functions[at].instrumentable)
		return;
	p->end = vprof_discovery_name(d, &d->facts->functions[at]);
	p->end_id = id;
	p->ends_at_entry = 1;
}
