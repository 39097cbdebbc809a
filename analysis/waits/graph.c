/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See graph.h. */
#include "analysis/waits/graph.h"

#include "analysis/waits/devices.h"
#include "common/search.h"

struct part { /* what adds to one edge */
	uint32_t from, to;
	uint64_t n_waits, own_ns, weight_ns;
	uint32_t reason; /* VPROF_NONE: idle time */
};

typedef VPROF_ARRAY(struct part) parts;

static int order(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->weight_ns != y->weight_ns)
		return x->weight_ns > y->weight_ns ? -1 : 1;
	return x->reason < y->reason ? -1 : x->reason > y->reason;
}

/* A wait that is not over when the recording ends has no waker to be known. */
static void add_times(struct vprof_waits_vertex *v, const struct vprof_waits_entity *e, uint64_t end)
{
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct vprof_waits_segment *s = &e->segments.v[i];
		uint64_t ns = s->to - s->from;

		if (s->state == VPROF_WAITS_BLOCKED) {
			v->blocked_ns += ns;
			v->unknown_ns += s->waker == VPROF_NONE && s->to < end ? ns : 0;
		} else if (!e->n_merged) {
			*(s->state == VPROF_WAITS_RUNNING ? &v->running_ns : &v->runnable_ns) += ns;
		}
	}
	v->running_ns += e->merged_running_ns;
	v->runnable_ns += e->merged_runnable_ns;
	v->n_entities += e->n_merged ? e->n_merged : 1;
}

/* Entities of which something is known: threads with segments, and what ended a wait or got a request. */
static int make_vertices(struct vprof_waits_graph *g, const struct vprof_waits_history *h,
			 const struct vprof_waits_reasons *reasons, const uint32_t *representative,
			 const unsigned char *is_kept)
{
	unsigned char *is_used = calloc(h->entities.n + 1, 1);

	if (!is_used)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < reasons->v.n; i++)
		is_used[reasons->v.v[i].to] = 1;
	for (size_t i = 0; i < h->requests.n; i++) {
		is_used[h->requests.v[i].device] = 1;
		if (h->requests.v[i].thread != VPROF_NONE)
			is_used[h->requests.v[i].thread] = 1;
	}
	for (uint32_t e = 0; e < h->entities.n; e++) {
		const struct vprof_waits_entity *entity = &h->entities.v[e];
		uint32_t first = representative ? representative[e] : e;

		g->vertex_of[e] = VPROF_NONE;
		if (!is_kept[e] || (!is_used[e] && !entity->segments.n))
			continue;
		g->vertex_of[e] = g->vertex_of[first];
		if (first == e) {
			struct vprof_waits_vertex *v = VPROF_PUSH(&g->vertices);

			if (!v) {
				free(is_used);
				return VPROF_ERR_NOMEM;
			}
			v->entity = e;
			v->kind = entity->kind;
			v->has_speed = entity->bytes_per_s > 0;
			g->vertex_of[e] = (uint32_t)(g->vertices.n - 1);
		}
		add_times(&g->vertices.v[g->vertex_of[e]], entity, h->end);
	}
	free(is_used);
	return VPROF_OK;
}

static int add_part(parts *p, const struct part *part)
{
	struct part *added;

	if (part->from == VPROF_NONE || part->to == VPROF_NONE)
		return VPROF_OK; /* of a thread that is not kept */
	added = VPROF_PUSH(p);
	if (added)
		*added = *part;
	return added ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int gather_parts(struct vprof_waits_graph *g, parts *p, const struct vprof_waits_history *h,
			const struct vprof_waits_reasons *reasons, const unsigned char *is_kept)
{
	vprof_waits_idles idles = { NULL, 0, 0 };
	int ret = vprof_waits_idle(&idles, h, is_kept);

	for (uint32_t i = 0; i < reasons->v.n && !ret; i++) {
		const struct vprof_waits_reason *r = &reasons->v.v[i];

		ret = add_part(p, &(struct part){ g->vertex_of[r->from], g->vertex_of[r->to], r->n_waits, r->own_ns,
						  r->weight_ns, i });
	}
	for (size_t i = 0; i < idles.n && !ret; i++) {
		const struct vprof_waits_idle *d = &idles.v[i];

		if (d->thread == VPROF_NONE) {
			if (g->vertex_of[d->device] != VPROF_NONE)
				g->vertices.v[g->vertex_of[d->device]].idle_ns += d->ns;
			continue;
		}
		ret = add_part(p, &(struct part){ g->vertex_of[d->device], g->vertex_of[d->thread], d->n_requests,
						  d->ns, d->ns, VPROF_NONE });
	}
	VPROF_ARRAY_RELEASE(&idles);
	if (!ret && p->n && vprof_array_sort(p->v, p->n, sizeof *p->v, order))
		ret = VPROF_ERR_NOMEM;
	return ret;
}

static int make_edges(struct vprof_waits_graph *g, const parts *p)
{
	struct vprof_waits_edge *e = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct part *x = &p->v[i];

		if (!e || e->from != x->from || e->to != x->to) {
			e = VPROF_PUSH(&g->edges);
			if (!e)
				return VPROF_ERR_NOMEM;
			e->from = x->from;
			e->to = x->to;
			e->first_reason = (uint32_t)g->by_edge.n;
		}
		e->n_waits += x->n_waits;
		e->own_ns += x->own_ns;
		e->weight_ns += x->weight_ns;
		e->is_idle |= x->reason == VPROF_NONE;
		if (x->reason != VPROF_NONE) {
			if (VPROF_ROOM(&g->by_edge, g->by_edge.n + 1))
				return VPROF_ERR_NOMEM;
			g->by_edge.v[g->by_edge.n++] = x->reason;
			e->n_reasons++;
		}
	}
	return VPROF_OK;
}

int vprof_waits_graph_build(struct vprof_waits_graph *g, const struct vprof_waits_history *h,
			    const struct vprof_waits_reasons *reasons, const uint32_t *representative,
			    const unsigned char *is_kept, struct vprof_error *err)
{
	parts p = { NULL, 0, 0 };
	int ret = VPROF_ERR_NOMEM;

	memset(g, 0, sizeof *g);
	g->length_ns = h->end - h->begin;
	g->vertex_of = malloc((h->entities.n + 1) * sizeof *g->vertex_of);
	if (g->vertex_of)
		ret = make_vertices(g, h, reasons, representative, is_kept);
	if (!ret)
		ret = gather_parts(g, &p, h, reasons, is_kept);
	if (!ret)
		ret = make_edges(g, &p);
	VPROF_ARRAY_RELEASE(&p);
	return ret ? vprof_error_set(err, ret, "not enough memory for the wait-for graph: record a shorter run") :
		     VPROF_OK;
}

void vprof_waits_graph_release(struct vprof_waits_graph *g)
{
	VPROF_ARRAY_RELEASE(&g->vertices);
	VPROF_ARRAY_RELEASE(&g->edges);
	VPROF_ARRAY_RELEASE(&g->by_edge);
	free(g->vertex_of);
	g->vertex_of = NULL;
}

uint32_t vprof_waits_graph_edge(const struct vprof_waits_graph *g, uint32_t from, uint32_t to)
{
	size_t at = VPROF_BISECT(g->edges.n, i,
				 g->edges.v[i].from < from || (g->edges.v[i].from == from && g->edges.v[i].to < to));

	return at < g->edges.n && g->edges.v[at].from == from && g->edges.v[at].to == to ? (uint32_t)at : VPROF_NONE;
}
