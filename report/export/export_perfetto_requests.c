/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of requests as a Perfetto trace (protos/perfetto/trace of Perfetto; field numbers below are theirs). Each tier
 * is a track; beneath it, since it serves several requests at once, as many lanes as it needs, on which its visits are
 * slices. A flow goes from a visit to each that it called.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/chosen_requests.h"
#include "report/export/protobuf.h"

#define SEQUENCE 1
#define CLOCK_OF_REALTIME 1
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { SLICE_BEGIN = 1, SLICE_END = 2 };

struct slice {
	uint64_t from, to;
	uint32_t request;
	size_t visit;
};

struct drawing {
	FILE *to;
	const struct vprof_requests_results *r;
	struct vprof_text packet, event, inner;
	VPROF_ARRAY(struct slice) slices; /* of one tier, by time */
	VPROF_ARRAY(uint64_t) lanes;	  /* when each is free again */
	uint64_t n_tracks;
	int failed;
};

static void put_packet(struct drawing *d, uint64_t flags)
{
	struct vprof_text head = VPROF_TEXT_INIT;

	vprof_protobuf_uint(&d->packet, 10, SEQUENCE);
	vprof_protobuf_uint(&d->packet, 13, flags);
	vprof_protobuf_message(&head, 1, &d->packet);
	d->failed |= head.failed;
	fwrite(head.s, 1, head.len, d->to);
	vprof_text_release(&head);
	vprof_text_clear(&d->packet);
}

/* The clock, for all packets. */
static void put_head(struct drawing *d)
{
	vprof_protobuf_uint(&d->inner, 1, CLOCK_OF_REALTIME);
	vprof_protobuf_uint(&d->inner, 2, d->r->begin_unix_ns);
	vprof_protobuf_message(&d->event, 1, &d->inner);
	vprof_text_clear(&d->inner);
	vprof_protobuf_uint(&d->event, 2, CLOCK_OF_REALTIME);
	vprof_protobuf_message(&d->packet, 6, &d->event);
	vprof_text_clear(&d->event);
	vprof_protobuf_uint(&d->event, 58, CLOCK_OF_REALTIME);
	vprof_protobuf_message(&d->packet, 59, &d->event);
	vprof_text_clear(&d->event);
	vprof_protobuf_uint(&d->packet, 87, 1);
	put_packet(d, FLAG_CLEARED);
}

static uint64_t put_track(struct drawing *d, uint64_t parent, const char *name)
{
	uint64_t track = ++d->n_tracks;

	vprof_protobuf_uint(&d->event, 1, track);
	if (parent)
		vprof_protobuf_uint(&d->event, 5, parent);
	vprof_protobuf_string(&d->event, 2, name);
	vprof_protobuf_message(&d->packet, 60, &d->event);
	put_packet(d, FLAG_NEEDS_STATE);
	vprof_text_clear(&d->event);
	return track;
}

static void put_event(struct drawing *d, uint64_t ns)
{
	vprof_protobuf_uint(&d->packet, 8, ns ? ns : 1);
	vprof_protobuf_message(&d->packet, 11, &d->event);
	put_packet(d, FLAG_NEEDS_STATE);
	vprof_text_clear(&d->event);
}

static void annotate(struct drawing *d, const char *name, const char *text)
{
	vprof_protobuf_string(&d->inner, 10, name);
	vprof_protobuf_string(&d->inner, 6, text);
	vprof_protobuf_message(&d->event, 4, &d->inner);
	vprof_text_clear(&d->inner);
}

static void put_slice(struct drawing *d, uint64_t track, const struct slice *s)
{
	const struct vprof_requests_one *q = &d->r->requests[s->request];
	const struct vprof_requests_visit *v = &d->r->visits.v[s->visit];
	char name[64];

	snprintf(name, sizeof name, "request %u", s->request + 1);
	vprof_protobuf_uint(&d->event, 9, SLICE_BEGIN);
	vprof_protobuf_uint(&d->event, 11, track);
	vprof_protobuf_string(&d->event, 23, name);
	if (v->parent == VPROF_NONE)
		annotate(d, "path", q->path);
	else
		annotate(d, "link", v->how);
	annotate(d, "client", v->client);
	for (size_t k = q->first_visit; k < q->first_visit + q->n_visits; k++)
		if (d->r->visits.v[k].parent == s->visit - q->first_visit)
			vprof_protobuf_fixed64(&d->event, 47, k + 1);
	if (v->parent != VPROF_NONE)
		vprof_protobuf_fixed64(&d->event, 48, s->visit + 1);
	put_event(d, s->from);
	vprof_protobuf_uint(&d->event, 9, SLICE_END);
	vprof_protobuf_uint(&d->event, 11, track);
	put_event(d, s->to);
}

static int by_time(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->visit < y->visit ? -1 : x->visit > y->visit;
}

static int gather(struct drawing *d, const struct vprof_chosen_requests *chosen, const char *tier)
{
	d->slices.n = 0;
	for (size_t i = 0; i < chosen->v.n; i++) {
		const struct vprof_requests_one *q = &d->r->requests[chosen->v.v[i]];

		for (size_t k = q->first_visit; k < q->first_visit + q->n_visits; k++) {
			const struct vprof_requests_visit *v = &d->r->visits.v[k];
			struct slice *s = strcmp(v->tier, tier) ? NULL : VPROF_PUSH(&d->slices);

			if (!s && !strcmp(v->tier, tier))
				return VPROF_ERR_NOMEM;
			if (s)
				*s = (struct slice){ vprof_visit_begin(d->r, v), vprof_visit_end(d->r, v),
						     chosen->v.v[i], k };
		}
	}
	return vprof_array_sort(d->slices.v, d->slices.n, sizeof *d->slices.v, by_time) ? VPROF_ERR_NOMEM : VPROF_OK;
}

/* Each visit on the first lane that is free. */
static int put_tier(struct drawing *d, const struct vprof_chosen_requests *chosen, const char *tier)
{
	uint64_t track, first_lane;

	if (gather(d, chosen, tier))
		return VPROF_ERR_NOMEM;
	if (!d->slices.n)
		return VPROF_OK;
	track = put_track(d, 0, tier);
	first_lane = track + 1;
	d->lanes.n = 0;
	for (size_t i = 0; i < d->slices.n; i++) {
		const struct slice *s = &d->slices.v[i];
		size_t lane = 0;

		while (lane < d->lanes.n && d->lanes.v[lane] > s->from)
			lane++;
		if (lane == d->lanes.n) {
			if (!VPROF_PUSH(&d->lanes))
				return VPROF_ERR_NOMEM;
			put_track(d, track, "visits");
		}
		d->lanes.v[lane] = s->to;
		put_slice(d, first_lane + lane, s);
	}
	return VPROF_OK;
}

int vprof_export_perfetto_requests(struct vprof_export *e, struct vprof_error *err)
{
	struct vprof_chosen_requests chosen;
	struct drawing d = { .to = e->to,
			     .r = e->requests,
			     .packet = VPROF_TEXT_INIT,
			     .event = VPROF_TEXT_INIT,
			     .inner = VPROF_TEXT_INIT };
	int ret = vprof_chosen_requests_find(&chosen, e);

	if (!ret)
		put_head(&d);
	for (size_t i = 0; i < e->requests->n_tiers && !ret; i++)
		if (!e->requests->tiers[i].is_transit)
			ret = put_tier(&d, &chosen, e->requests->tiers[i].name);
	if (!ret && (d.failed || d.packet.failed || d.event.failed || d.inner.failed))
		ret = VPROF_ERR_NOMEM;
	vprof_text_release(&d.packet);
	vprof_text_release(&d.event);
	vprof_text_release(&d.inner);
	VPROF_ARRAY_RELEASE(&d.slices);
	VPROF_ARRAY_RELEASE(&d.lanes);
	vprof_chosen_requests_release(&chosen);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}
