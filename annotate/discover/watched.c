/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/discover/watched.h"

#include <string.h>

#include "annotate/discover/draft.h"

uint32_t vprof_watched_function(const struct vprof_facts *facts, const char *name)
{
	uint32_t found = 0;

	for (uint32_t f = 0; f < facts->n_functions && !found; f++) {
		const struct vprof_facts_function *function = &facts->functions[f];
		const char *own = function->lang != VPROF_LANG_C ? function->display : function->name;

		if (function->instrumentable && !strcmp(own, name) && strcmp(own, "main") != 0)
			found = f + 1;
	}
	return found;
}

/* Where receipt and reply lie in different calls: is it called around each of them? Its calls then tell nothing. */
static int is_both(const struct vprof_watched *w, const char *function)
{
	int is_begin = 0, is_end = 0;

	for (size_t b = 0; b < w->n_begins; b++)
		is_begin |= !strcmp(w->begins[b], function);
	for (size_t e = 0; e < w->n_ends; e++)
		is_end |= !strcmp(w->ends[e], function);
	return w->is_split && is_begin && is_end;
}

/* Of the functions that may be begin and end: those in which an expression identifies the request, the outermost of
 * them. Where there are none the outermost, of which the draft cannot be sure if another function is the end. */
static void choose(struct vprof_discovery *d, const struct vprof_watched *w, struct vprof_interval_proposal *p,
		   uint32_t *begin, uint32_t *end)
{
	int best = -1;

	for (size_t b = 0; b < w->n_begins; b++)
		for (size_t e = 0; e < (w->n_ends ? w->n_ends : 1); e++) {
			uint32_t from = vprof_watched_function(d->facts, w->begins[b]);
			uint32_t to = w->n_ends ? vprof_watched_function(d->facts, w->ends[e]) : from;
			const char *id, *end_id = NULL;
			int rank, worth;

			if (!from || !to || is_both(w, w->begins[b]) || (w->n_ends && is_both(w, w->ends[e])))
				continue;
			id = vprof_request_id(d, &d->facts->functions[from - 1], &rank);
			if (from != to)
				end_id = vprof_request_end_id(d, &d->facts->functions[from - 1],
							      &d->facts->functions[to - 1]);
			worth = from == to || end_id ? 1 + 2 * (rank == 3) : 0;
			if (worth <= best)
				continue;
			best = worth;
			*begin = from;
			*end = to;
			p->id = id;
			p->end = from == to ? NULL : vprof_discovery_name(d, &d->facts->functions[to - 1]);
			p->end_id = end_id;
		}
	/* neither a descriptor nor an address tells requests of several processes apart */
	if (*begin && w->in_processes) {
		p->id = "getpid()";
		p->end_id = p->end ? p->id : NULL;
	}
	if (!*begin || !p->end || p->end_id)
		return;
	p->id = p->end_id = "1";
	p->confidence = "low";
	p->why = vprof_arena_printf(d->arena,
				    "%s; what identifies the request at its end is not known: correct the ids", p->why);
}

/* An event loop that reads and writes in one function, call after call of it: code tells no more than which one. */
static void say_why_not(struct vprof_discovery *d, const struct vprof_watched *w)
{
	for (size_t b = 0; b < w->n_begins; b++)
		if (is_both(w, w->begins[b])) {
			d->draft->not_watched = vprof_arena_printf(
				d->arena,
				"requests are received in one call of %s and replied to in a later one: take a function "
				"that it calls once for each request, or give begin and end an \"if\"",
				w->begins[b]);
			return;
		}
}

void vprof_propose_watched(struct vprof_ranking *r, const struct vprof_watched *watched)
{
	struct vprof_discovery *d = r->d;
	struct vprof_draft *draft = d->draft;
	uint32_t begin = 0, end = 0;
	struct vprof_interval_proposal p = { .why = watched->why,
					     .confidence = watched->confidence,
					     .is_left = watched->is_left,
					     .begins_at_exit = watched->begins_at_exit };
	size_t n = 0, place = 0;

	if (!watched->n_begins)
		return;
	choose(d, watched, &p, &begin, &end);
	if (!begin) {
		say_why_not(d, watched);
		return;
	}
	if (!p.end || watched->in_processes)
		vprof_propose_final(d, end - 1, &p);
	p.function = vprof_discovery_name(d, &d->facts->functions[begin - 1]);
	p.where = vprof_discovery_where(d, &d->facts->functions[begin - 1]);
	if (!p.function || !vprof_arena_push(d->arena, &draft->intervals, &draft->n_intervals, sizeof p)) {
		d->arena->failed = 1;
		return;
	}
	for (size_t i = 0; i + 1 < draft->n_intervals; i++) {
		struct vprof_interval_proposal *other = &draft->intervals[i];

		if (!strcmp(other->function, p.function) && !other->end == !p.end)
			continue;
		if (strcmp(p.confidence, "low") != 0 && !watched->is_guess)
			other->confidence = "low";
		draft->intervals[n++] = *other;
	}
	/* a guess comes behind what the code says for sure, what hardly any request showed behind all that is likelier
	 */
	while (place < n && ((watched->is_guess && !strcmp(draft->intervals[place].confidence, "high")) ||
			     (watched->is_rare && strcmp(draft->intervals[place].confidence, "low") != 0)))
		place++;
	memmove(draft->intervals + place + 1, draft->intervals + place, (n - place) * sizeof p);
	draft->intervals[place] = p;
	draft->n_intervals = n + 1;
}

void vprof_propose_first(struct vprof_discovery *d, const struct vprof_watched *watched)
{
	struct vprof_draft *draft = d->draft;

	for (size_t i = 0; i < watched->n_hot; i++) {
		uint32_t f = vprof_watched_function(d->facts, watched->hot[i]);
		const char *name = f ? vprof_discovery_name(d, &d->facts->functions[f - 1]) : NULL;
		const char **slot;
		int is_there = !name;

		for (size_t k = 0; k < draft->n_first && !is_there; k++)
			is_there = !strcmp(draft->first[k], name); /* recursion */
		slot = is_there ? NULL :
				  vprof_arena_push(d->arena, &draft->first, &draft->n_first, sizeof *draft->first);
		if (slot)
			*slot = name;
	}
	if (draft->n_first)
		draft->first_why = watched->hot_why;
}
