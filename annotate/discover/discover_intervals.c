/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A request is handled where the program turns from waiting for many things to working on one: in a function called
 * through a pointer from a loop that polls, in what follows a receive or dequeue in one loop, in a dispatcher that
 * picks a function from a table, and in the callers that lead to it. Each such observation adds to a score, with its
 * words; names only break ties. The weights were set by looking at Redis and memcached.
 */
#include "annotate/discover/discover_intervals.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/code/opposites.h"
#include "annotate/discover/discover_connections.h"
#include "annotate/discover/discover_handlers.h"
#include "annotate/discover/discover_programs.h"
#include "annotate/discover/discover_replies.h"
#include "annotate/discover/discover_units.h"
#include "annotate/discover/draft.h"

#define PROPOSALS_MAX 12
#define TRAFFIC_MAX 3

static const char *const bad_words[] = { "init",     "free",   "create", "close",   "destroy", "error", "log",
					 "print",    "help",   "config", "test",    "load",    "save",	"cron",
					 "stat",     "usage",  "parse",	 "version", "alloc",   "debug", "setup",
					 "shutdown", "signal", "timer",	 "clock" };

static const char *const outside_folders[] = { "/deps/", "/vendor/", "/third_party/", "/thirdparty/", "/external/",
					       "/test/", "/tests/",  "/contrib/",     "/benchmark",   "/examples/" };

static void observe_traffic(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint32_t f;

	for (f = 0; f < d->facts->n_functions; f++) {
		uint8_t in = d->distance[VPROF_ROLE_RECEIVE][f], out = d->distance[VPROF_ROLE_SEND][f];

		if (!r->all[f].n_evidence)
			continue;
		if (in <= 1)
			vprof_ranking_observe(r, f, in ? 6 : 8, "it receives");
		if (in <= TRAFFIC_MAX && out <= TRAFFIC_MAX)
			vprof_ranking_observe(r, f, 8, "it reaches both a receive and a send");
		if (d->distance[VPROF_ROLE_POLL][f] <= 1 && !r->all[f].is_child) {
			r->all[f].score -= 40; /* the loop itself: it never ends */
		}
	}
}

/* C++'s operator+= and the like. */
static int is_operator(const char *name)
{
	return !strncmp(name, "operator", 8) && name[8] && !isalnum((unsigned char)name[8]) && name[8] != '_';
}

static void weigh_names(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint32_t f, n_callers;
	int rank, words;
	size_t i;

	for (f = 0; f < d->facts->n_functions; f++) {
		const struct vprof_facts_function *function = &d->facts->functions[f];
		const struct vprof_facts_file *file = vprof_facts_file(d->facts, function->file);
		struct vprof_candidate *c = &r->all[f];

		if (!c->n_evidence)
			continue;
		vprof_request_id(d, function, &rank);
		c->score += rank == 3 ? 15 : rank == 2 ? 3 : rank == 1 ? 3 : -15;
		if (rank == 3)
			vprof_ranking_observe(r, f, 0, "a parameter looks like a request or connection");
		words = vprof_name_count_work_words(function->name);
		c->score += words > 1 ? 12 : 8 * words;
		/* where several ways to the same work meet; but what everybody calls is no request */
		n_callers = d->graph->rfirst[f + 1] - d->graph->rfirst[f];
		c->score += n_callers >= 3 && n_callers <= 6 ? 5 : n_callers > 20 ? -10 : 0;
		if (vprof_name_has_part(function->name, bad_words, VPROF_LENGTH(bad_words)))
			c->score -= 25;
		c->score -= function->is_tiny ? 20 : 0;
		c->score -= d->is_entry[f] ? 60 : 0;
		c->score -= is_operator(function->name) ? 60 : 0;
		for (i = 0; file && i < VPROF_LENGTH(outside_folders); i++)
			if (strstr(file->path + (strncmp(file->path, d->facts->root, strlen(d->facts->root)) ?
							 0 :
							 strlen(d->facts->root)),
				   outside_folders[i])) {
				c->score -= 30;
				break;
			}
		if (!function->instrumentable)
			c->score = -1000;
	}
}

struct place_in_order {
	double score;
	uint32_t f;
};

static int by_score(const void *pa, const void *pb)
{
	const struct place_in_order *a = pa, *b = pb;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->f < b->f ? -1 : a->f > b->f;
}

/* What is committed may be rolled back instead: the function that ends it then, beside the one that ends it well. */
static void propose_given_up(struct vprof_discovery *d, const struct vprof_facts_function *begin,
			     const struct vprof_facts_function *end, struct vprof_interval_proposal *p)
{
	static const struct vprof_opposite words[] = { { "commit", "abort" }, { "commit", "rollback" },
						       { "end", "abort" },    { "end", "cancel" },
						       { "finish", "abort" }, { "finish", "cancel" } };
	const struct vprof_facts_function *other = vprof_opposite_find(d, end, words, VPROF_LENGTH(words), 0);

	if (!other || !other->instrumentable || other->file != end->file || other == begin)
		return;
	p->given_up_id = vprof_request_end_id(d, begin, other);
	p->given_up = p->given_up_id ? vprof_discovery_name(d, other) : NULL;
}

static void propose(struct vprof_ranking *r, const struct place_in_order *best)
{
	struct vprof_discovery *d = r->d;
	const struct vprof_facts_function *f = &d->facts->functions[best->f];
	const struct vprof_candidate *c = &r->all[best->f];
	struct vprof_interval_proposal *p =
		vprof_arena_push(d->arena, &d->draft->intervals, &d->draft->n_intervals, sizeof *p);
	int rank;

	if (!p)
		return;
	p->function = vprof_discovery_name(d, f);
	p->where = vprof_discovery_where(d, f);
	p->id = vprof_request_id(d, f, &rank);
	p->id = c->id ? c->id : p->id;
	p->end = c->end ? vprof_discovery_name(d, &d->facts->functions[c->end - 1]) : NULL;
	p->end_id = c->end_id ? c->end_id :
		    c->end    ? vprof_request_end_id(d, f, &d->facts->functions[c->end - 1]) :
				NULL;
	p->is_left = c->is_left;
	if (!c->is_left)
		vprof_propose_final(d, c->end ? c->end - 1 : best->f, p);
	if (c->end && !c->end_id)
		propose_given_up(d, f, &d->facts->functions[c->end - 1], p);
	p->why = vprof_arena_copy(d->arena, c->why, strlen(c->why));
	p->score = c->score;
	p->confidence = c->score >= 50 && rank ? "high" : c->score >= 30 ? "medium" : "low";
}

/* A dispatcher tells what kind of request it is: the nearest one that the best proposal reaches. */
static void propose_type(struct vprof_ranking *r, uint32_t best)
{
	struct vprof_discovery *d = r->d;
	uint32_t f = best, i, next;
	const char *arrow;
	int length;

	while (d->distance[VPROF_ROLE_DISPATCH][f] && d->distance[VPROF_ROLE_DISPATCH][f] != VPROF_FAR) {
		const struct vprof_facts_function *function = &d->facts->functions[f];

		for (next = f, i = 0; i < function->n_calls; i++) {
			const struct vprof_facts_call *call = vprof_facts_call_of(d->facts, function, i);

			if (call->callee_function && d->distance[VPROF_ROLE_DISPATCH][call->callee_function - 1] <
							     d->distance[VPROF_ROLE_DISPATCH][f])
				next = call->callee_function - 1;
		}
		if (next == f)
			return;
		f = next;
	}
	if (d->distance[VPROF_ROLE_DISPATCH][f])
		return;
	{
		const char *callee = d->facts->calls[d->dispatch_call[f] - 1].callee;

		arrow = strstr(callee, "->") ? callee + strlen(callee) : NULL;
		while (arrow && arrow > callee && strncmp(arrow, "->", 2))
			arrow--;
		length = arrow ? (int)(arrow - callee) : (int)strlen(callee);
		d->draft->type_function = vprof_discovery_name(d, &d->facts->functions[f]);
		d->draft->type_hint = vprof_arena_printf(
			d->arena,
			"it calls %s: if %.*s has a name or number that distinguishes kinds of requests, add \"type\": {\"function\": \"%s\", \"value\": \"...\"}",
			callee, length, callee, d->draft->type_function);
	}
}

/* The code itself says where intervals begin: a draft must not say it again. */
static void find_annotated_code(struct vprof_discovery *d)
{
	const struct vprof_facts_function *f;
	size_t i;

	for (i = 0; i < d->facts->n_calls && !d->draft->annotated_in; i++) {
		f = strcmp(d->facts->calls[i].callee, "vprof_begin") ?
			    NULL :
			    vprof_facts_function(d->facts, d->facts->calls[i].caller);
		if (f)
			d->draft->annotated_in = vprof_arena_printf(d->arena, "%s (%s)", vprof_discovery_name(d, f),
								    vprof_discovery_where(d, f));
	}
}

/* What a discovery run saw comes before all that the code alone suggests, of which none is then more than low. */
static void propose_found(struct vprof_discovery *d)
{
	const struct vprof_found_interval *found = d->draft->found ? &d->draft->found->interval : NULL;
	struct vprof_draft *draft = d->draft;
	uint32_t begin = found && found->n_begins ? vprof_watched_function(d->facts, found->begins[0].function) : 0;
	struct vprof_interval_proposal p = { .found = found, .confidence = "high", .is_left = 1 };

	if (!found || !found->n_begins || !found->n_ends)
		return;
	p.function = found->begins[0].function;
	p.id = found->begins[0].id;
	p.end = found->ends[0].function;
	p.end_id = found->ends[0].id;
	p.why = found->why;
	p.where = begin ? vprof_discovery_where(d, &d->facts->functions[begin - 1]) : "";
	if (!vprof_arena_push(d->arena, &draft->intervals, &draft->n_intervals, sizeof p))
		return;
	memmove(draft->intervals + 1, draft->intervals, (draft->n_intervals - 1) * sizeof p);
	draft->intervals[0] = p;
	for (size_t i = 1; i < draft->n_intervals; i++)
		draft->intervals[i].confidence = "low";
}

void vprof_discover_intervals(struct vprof_discovery *d, const struct vprof_watched *watched)
{
	struct vprof_ranking r = { d };
	struct place_in_order *order;
	size_t i, n = d->facts->n_functions;

	r.all = calloc(n + 1, sizeof *r.all);
	r.chain = vprof_arena_alloc(d->arena, n + 1);
	order = calloc(n + 1, sizeof *order);
	if (!r.all || !r.chain || !order) {
		d->arena->failed = 1;
		goto out;
	}
	memset(r.chain, VPROF_FAR, n + 1);
	find_annotated_code(d);
	vprof_observe_handlers(&r);
	vprof_observe_connections(&r);
	vprof_observe_units(&r);
	vprof_observe_turns(&r);
	vprof_observe_callees(&r);
	vprof_observe_replies(&r);
	vprof_ranking_lower_other_programs(&r);
	observe_traffic(&r);
	vprof_observe_names(&r);
	weigh_names(&r);
	for (i = 0; i < n; i++)
		order[i] = (struct place_in_order){ r.all[i].n_evidence ? r.all[i].score : -1000, (uint32_t)i };
	qsort(order, n, sizeof *order, by_score);
	for (i = 0; i < n && i < PROPOSALS_MAX && order[i].score > 5; i++)
		propose(&r, &order[i]);
	if (d->draft->n_intervals)
		propose_type(&r, order[0].f);
	if (watched)
		vprof_propose_watched(&r, watched);
	propose_found(d);
out:
	free(r.all);
	free(order);
}
