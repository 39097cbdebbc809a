/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/views/views.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/join/visit_calls.h"
#include "analysis/latency/call_sums.h"
#include "analysis/latency/input/latency_input.h"
#include "analysis/latency/layer_describe.h"
#include "analysis/requests/marked_work.h"
#include "analysis/requests/requests.h"
#include "analysis/requests/tiers.h"

#define VISIT_NAME "a visit"
#define FUNCTION_MIN 0.01 /* of a visit's time: functions that surely have less are not told of it */
#define FUNCTIONS_MOST 40 /* of one visit */

struct served { /* a visit by its thread */
	uint64_t from, to;
	uint32_t thread, exchange;
};

struct counts { /* of a tier's visits on one host */
	uint64_t n, n_shared, n_passed;
};

struct opening {
	struct vprof_requests_results *to;
	const struct vprof_requests *found;
	struct vprof_tiers tiers;
	struct vprof_marked_work marked;
	VPROF_ARRAY(struct served) spans; /* of the marked work, by exchange, then time */
	unsigned char *is_shared;	  /* [exchanges] its thread served another one meanwhile */
	/* of the source at hand */
	const struct vprof_visits_source *source;
	VPROF_ARRAY(struct vprof_visit_work) work;
	VPROF_ARRAY(struct vprof_visit_stretch) stretches;
	struct counts *counts;				     /* [tiers] */
	struct vprof_visit_group *groups[VPROF_OPENED_HOWS]; /* [tiers] */
	/* of the group at hand */
	const struct vprof_call_sums *sums;
	const struct vprof_visit_group *group;
	uint32_t *place; /* [nodes] among the visit's functions */
};

static int by_thread(const void *a, const void *b)
{
	const struct served *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) :
				    (x->exchange > y->exchange) - (x->exchange < y->exchange);
}

static int by_exchange(const void *a, const void *b)
{
	const struct served *x = a, *y = b;

	if (x->exchange != y->exchange)
		return x->exchange < y->exchange ? -1 : 1;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->thread > y->thread) - (x->thread < y->thread);
}

static int find_shared(struct opening *o)
{
	const struct vprof_exchanges *x = &o->found->exchanges;
	VPROF_ARRAY(struct served) all = { NULL, 0, 0 };
	uint32_t last = VPROF_NONE; /* of the visits so far of this thread, the one that ends last */
	int ret = VPROF_OK;

	o->is_shared = calloc(x->v.n + 1, 1);
	if (!o->is_shared || VPROF_RESERVE(&all, x->v.n + 1))
		ret = VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < x->v.n && !ret; i++)
		if (vprof_exchange_is_visit(&x->v.v[i]))
			all.v[all.n++] = (struct served){ x->v.v[i].server.request_from, x->v.v[i].server.reply_to,
							  x->v.v[i].server.request_thread, i };
	if (!ret && vprof_array_sort(all.v, all.n, sizeof *all.v, by_thread))
		ret = VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < all.n && !ret; i++) {
		if (last != VPROF_NONE && all.v[last].thread == all.v[i].thread && all.v[last].to > all.v[i].from)
			o->is_shared[all.v[last].exchange] = o->is_shared[all.v[i].exchange] = 1;
		if (last == VPROF_NONE || all.v[last].thread != all.v[i].thread || all.v[last].to < all.v[i].to)
			last = i;
	}
	VPROF_ARRAY_RELEASE(&all);
	return ret;
}

/* What annotated programs say of their threads. */
static int find_spans(struct opening *o)
{
	const struct vprof_socket_history *h = o->found->history;
	const struct vprof_exchanges *x = &o->found->exchanges;
	int ret;

	if (!h->spans.n)
		return VPROF_OK;
	ret = vprof_marked_work_find(&o->marked, h, &o->found->connections, x);
	for (size_t i = 0; i < h->spans.n && !ret; i++) {
		const struct vprof_work_span *s = &h->spans.v[i];
		uint32_t exchange = o->marked.visits[s->interval];
		struct served *to = exchange < x->v.n ? VPROF_PUSH(&o->spans) : NULL;

		if (to)
			*to = (struct served){ s->from, s->to, s->thread, exchange };
		ret = exchange < x->v.n && !to ? VPROF_ERR_NOMEM : VPROF_OK;
	}
	if (!ret && vprof_array_sort(o->spans.v, o->spans.n, sizeof *o->spans.v, by_exchange))
		ret = VPROF_ERR_NOMEM;
	return ret;
}

static int add_stretch(struct opening *o, uint32_t thread, uint64_t from, uint64_t to)
{
	const struct vprof_socket_history *h = o->found->history;
	const struct vprof_socket_thread *t = &h->threads.v[thread];
	struct vprof_visit_stretch *s;

	if (from < o->source->start_ns || from >= to)
		return VPROF_OK;
	s = VPROF_PUSH(&o->stretches);
	if (s)
		*s = (struct vprof_visit_stretch){ from - o->source->start_ns, to - o->source->start_ns,
						   h->processes.v[t->process].pid, t->tid };
	return s ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Which threads worked for the visit, when; what two did at once is the first one's. */
static int add_marked(struct opening *o, uint32_t exchange)
{
	const struct vprof_exchange_end *e = &o->found->exchanges.v.v[exchange].server;
	size_t low = 0, high = o->spans.n;
	uint64_t since = e->request_from;
	int ret = VPROF_OK;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (o->spans.v[middle].exchange < exchange)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < o->spans.n && o->spans.v[low].exchange == exchange && !ret; low++) {
		uint64_t from = o->spans.v[low].from > since ? o->spans.v[low].from : since;
		uint64_t to = o->spans.v[low].to < e->reply_to ? o->spans.v[low].to : e->reply_to;

		if (from < to)
			ret = add_stretch(o, o->spans.v[low].thread, from, to);
		since = from < to ? to : since;
	}
	return ret;
}

static int add_visit(struct opening *o, uint32_t exchange, uint32_t visit)
{
	const struct vprof_socket_history *h = o->found->history;
	const struct vprof_exchange *e = &o->found->exchanges.v.v[exchange];
	uint32_t tier = o->tiers.of_connection.v[e->connection];
	size_t first = o->stretches.n;
	int is_passed = e->server.request_thread != e->server.reply_thread, ret;
	struct vprof_visit_work *w;

	if (!vprof_exchange_is_visit(e) || tier == VPROF_NONE ||
	    h->processes.v[h->threads.v[e->server.request_thread].process].host != o->source->host)
		return VPROF_OK;
	o->counts[tier].n++;
	ret = o->is_shared[exchange] || is_passed ?
		      add_marked(o, exchange) :
		      add_stretch(o, e->server.request_thread, e->server.request_from, e->server.reply_to);
	if (!ret && o->stretches.n == first) {
		o->counts[tier].n_shared += o->is_shared[exchange];
		o->counts[tier].n_passed += !o->is_shared[exchange];
		return VPROF_OK;
	}
	w = ret ? NULL : VPROF_PUSH(&o->work);
	if (w)
		*w = (struct vprof_visit_work){ tier, visit, first, (uint32_t)(o->stretches.n - first) };
	return w ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Visits are numbered as they are listed (described/list_requests.c). */
static int gather(struct opening *o)
{
	const struct vprof_request_trees *t = &o->found->trees;
	uint32_t visit = 0;
	int ret = VPROF_OK;

	o->work.n = o->stretches.n = 0;
	for (size_t i = 0; i < t->requests.n && !ret; i++) {
		const struct vprof_request *q = &t->requests.v[i];
		int is_used = q->state != VPROF_REQUEST_AMBIGUOUS && q->is_whole;

		for (uint32_t k = 0; k < q->n_nodes && !ret; k++, visit++)
			if (is_used)
				ret = add_visit(o, t->nodes.v[q->first_node + k], visit);
	}
	return ret;
}

/* One visit by itself: what its thread ran, the kernel's functions only as far as the system call. */
static int tell_visit(void *opening, uint32_t thread, const struct vprof_call_times *times)
{
	struct opening *o = opening;
	const struct vprof_context_tree *tree = &o->sums->tree;
	struct vprof_requests_visit *v = &o->to->visits.v[o->group->visits.v[thread]];
	double all = (double)times[1].high;

	v->first_function = o->to->visit_functions.n;
	v->n_functions = 0;
	for (uint32_t x = 2; x < tree->nodes.n; x++) {
		const struct vprof_context_node *n = &tree->nodes.v[x];
		const struct vprof_latency_function *f = &o->group->history.functions.v[n->function], *outer;
		struct vprof_requests_function *to;

		o->place[x] = VPROF_NONE;
		outer = &o->group->history.functions.v[tree->nodes.v[n->parent].function];
		if (!times[x].is_seen || (double)times[x].low < FUNCTION_MIN * all ||
		    (n->parent != 1 && o->place[n->parent] == VPROF_NONE) || v->n_functions >= FUNCTIONS_MOST ||
		    (f->layer == VPROF_LATENCY_KERNEL && outer->layer == VPROF_LATENCY_KERNEL))
			continue;
		to = VPROF_PUSH(&o->to->visit_functions);
		if (!to)
			return VPROF_ERR_NOMEM;
		*to = (struct vprof_requests_function){ n->parent == 1 ? VPROF_NONE : o->place[n->parent],
							vprof_strings_keep(&o->to->strings, f->name),
							vprof_strings_keep(&o->to->strings, f->file),
							(double)times[x].low, (double)times[x].high };
		if (!to->name || !to->file)
			return VPROF_ERR_NOMEM;
		o->place[x] = (uint32_t)v->n_functions++;
	}
	return VPROF_OK;
}

/* Is there anything to say of visits of which none is opened? */
static int is_worth_a_word(const struct opening *o, uint32_t tier, enum vprof_opened_how how)
{
	const struct vprof_visit_group *g = &o->groups[how][tier];

	return g->n_outside + g->n_sampled ||
	       (how == VPROF_OPENED_INFERRED && !o->groups[VPROF_OPENED_MEASURED][tier].visits.n &&
		(o->source->trace->header.kernel_kinds & VP_KERNEL_STACKS) &&
		o->counts[tier].n_shared + o->counts[tier].n_passed);
}

static int add_row(struct opening *o, uint32_t tier, enum vprof_opened_how how, uint64_t n_opened)
{
	struct vprof_requests_results *to = o->to;
	struct vprof_requests_opened *v = realloc(to->opened, (to->n_opened + 1) * sizeof *v);

	if (!v)
		return VPROF_ERR_NOMEM;
	to->opened = v;
	v += to->n_opened++;
	*v = (struct vprof_requests_opened){
		.tier = vprof_strings_keep(&to->strings, o->tiers.names.kept.v[tier]),
		.host = vprof_strings_keep(&to->strings, o->found->history->hosts.v[o->source->host]),
		.how = how,
		.n_visits = o->counts[tier].n,
		.n_opened = n_opened,
		.n_shared = o->counts[tier].n_shared,
		.n_passed = o->counts[tier].n_passed,
		.n_outside = o->groups[how][tier].n_outside,
		.n_sampled = o->groups[how][tier].n_sampled,
		.layer = to->functions->n_layers,
	};
	return v->tier && v->host ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int tell_group(struct opening *o, uint32_t tier, enum vprof_opened_how how, struct vprof_error *err)
{
	struct vprof_visit_group *g = &o->groups[how][tier];
	struct vprof_call_sums sums = { .history = NULL };
	int ret;

	if (!g->visits.n)
		return is_worth_a_word(o, tier, how) ? add_row(o, tier, how, 0) : VPROF_OK;
	if (vprof_latency_history_check(&g->history, err))
		return VPROF_OK; /* what contradicts itself (a damaged trace) says nothing */
	o->group = g;
	o->sums = &sums;
	o->place = calloc(g->history.frames.n + 2, sizeof *o->place);
	ret = o->place ? vprof_call_sums_build_each(&sums, &g->history, o->to->requests ? tell_visit : NULL, o, err) :
			 VPROF_ERR_NOMEM;
	if (!ret)
		ret = add_row(o, tier, how, sums.n_calls);
	if (!ret)
		ret = vprof_layers_describe(o->to->functions, &sums, o->tiers.names.kept.v[tier], sums.n_calls, 0);
	vprof_call_sums_release(&sums);
	free(o->place);
	return ret;
}

static int fill_groups(struct opening *o, unsigned char *is_done, struct vprof_error *err)
{
	const struct vprof_trace *trace = o->source->trace;
	struct vprof_error ignored = { "" };
	struct vprof_timeline *timeline = NULL;
	struct vprof_latency_input input;
	size_t n = o->tiers.names.kept.n;
	int ret = VPROF_OK, is_read = 0;

	if (o->source->plan)
		ret = vprof_timeline_build(&timeline, trace, 0, NULL, NULL, &ignored);
	if (!ret && timeline)
		ret = vprof_visit_calls_measured(o->groups[VPROF_OPENED_MEASURED], o->work.v, o->work.n, o->stretches.v,
						 is_done, timeline, o->source->plan);
	ret = ret == VPROF_ERR_NOMEM ? ret : VPROF_OK;
	if (!ret && trace->n_kernel && (trace->header.kernel_kinds & VP_KERNEL_STACKS)) {
		is_read = 1;
		ret = vprof_latency_input_read(&input, trace, &ignored);
		if (!ret)
			ret = vprof_visit_calls_inferred(o->groups[VPROF_OPENED_INFERRED], n, o->work.v, o->work.n,
							 o->stretches.v, is_done, &input.history);
		ret = ret == VPROF_ERR_NOMEM ? ret : VPROF_OK;
	}
	/* in the order of the tiers told */
	for (size_t i = 0; i < o->to->n_tiers && !ret; i++) {
		uint32_t tier = vprof_strings_find(&o->tiers.names, o->to->tiers[i].name);

		for (enum vprof_opened_how how = 0; how < VPROF_OPENED_HOWS && tier != VPROF_NONE && !ret; how++)
			ret = tell_group(o, tier, how, err);
	}
	if (is_read)
		vprof_latency_input_release(&input);
	vprof_timeline_free(timeline);
	return ret;
}

static int open_source(struct opening *o, struct vprof_error *err)
{
	size_t n = o->tiers.names.kept.n;
	unsigned char *is_done;
	int ret;

	o->counts = calloc(n + 1, sizeof *o->counts);
	for (enum vprof_opened_how how = 0; how < VPROF_OPENED_HOWS; how++)
		o->groups[how] = calloc(n + 1, sizeof **o->groups);
	ret = o->counts && o->groups[VPROF_OPENED_MEASURED] && o->groups[VPROF_OPENED_INFERRED] ? gather(o) :
												  VPROF_ERR_NOMEM;
	is_done = ret ? NULL : calloc(o->work.n + 1, 1);
	ret = is_done ? VPROF_OK : VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n && !ret; i++)
		o->groups[VPROF_OPENED_MEASURED][i].name = o->groups[VPROF_OPENED_INFERRED][i].name = VISIT_NAME;
	if (!ret)
		ret = fill_groups(o, is_done, err);
	free(is_done);
	for (enum vprof_opened_how how = 0; how < VPROF_OPENED_HOWS; how++) {
		for (size_t i = 0; i < n && o->groups[how]; i++)
			vprof_visit_group_release(&o->groups[how][i]);
		free(o->groups[how]);
	}
	free(o->counts);
	return ret;
}

int vprof_functions_of_visits_fill(struct vprof_requests_results *to, const struct vprof_requests *found,
				   const struct vprof_visits_source *sources, size_t n_sources, struct vprof_error *err)
{
	struct opening o = { .to = to, .found = found };
	size_t n_known = 0;
	int ret;

	for (size_t i = 0; i < n_sources; i++)
		n_known += sources[i].plan || (sources[i].trace->header.kernel_kinds & VP_KERNEL_STACKS);
	if (!n_known)
		return VPROF_OK;
	to->functions = vprof_results_new();
	ret = to->functions ? vprof_tiers_find(&o.tiers, found->history, &found->connections, &found->exchanges) :
			      VPROF_ERR_NOMEM;
	ret = ret ? ret : find_shared(&o);
	ret = ret ? ret : find_spans(&o);
	for (size_t i = 0; i < n_sources && !ret; i++) {
		o.source = &sources[i];
		ret = open_source(&o, err);
	}
	if (!ret && !to->n_opened) {
		vprof_results_free(to->functions);
		to->functions = NULL;
	}
	vprof_tiers_release(&o.tiers);
	vprof_marked_work_release(&o.marked);
	VPROF_ARRAY_RELEASE(&o.spans);
	VPROF_ARRAY_RELEASE(&o.work);
	VPROF_ARRAY_RELEASE(&o.stretches);
	free(o.is_shared);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}
