/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No sort is needed. A call ends after all its callees, so going forward a call adopts the finished subtrees before it
 * that began no earlier than it did; that gives parents and subtree sizes. Going backward, every parent hands out the
 * places of its children from the end of its own range. Both passes are linear.
 */
#include "analysis/timeline/preorder.h"

#include "common/error.h"

struct scratch {
	uint32_t *parent; /* index in order of ends */
	uint32_t *size;	  /* of the subtree; then end of the range not yet handed out */
	uint32_t *place;  /* stack of finished subtrees; then the place in preorder */
};

static void find_parents(const struct vprof_call *ended, size_t n, struct scratch *s)
{
	size_t top = 0;

	for (size_t i = 0; i < n; i++) {
		s->size[i] = 1;
		s->parent[i] = VPROF_NONE;
		while (top && ended[s->place[top - 1]].t0 >= ended[i].t0) {
			uint32_t child = s->place[--top];

			s->parent[child] = (uint32_t)i;
			s->size[i] += s->size[child];
		}
		s->place[top++] = (uint32_t)i;
	}
}

static void find_places(size_t n, struct scratch *s)
{
	uint32_t rest = (uint32_t)n;

	for (size_t i = n; i-- > 0;) {
		uint32_t *end = s->parent[i] == VPROF_NONE ? &rest : &s->size[s->parent[i]];

		s->place[i] = *end - s->size[i];
		*end = s->place[i];
		s->size[i] += s->place[i];
	}
}

/* Cuts what does not nest. Going up from the call before to the parent, the last one left is the elder sibling. */
static void cut_overlaps(struct vprof_call *calls, size_t n)
{
	uint32_t last = VPROF_NONE;

	for (size_t i = 0; i < n; i++) {
		struct vprof_call *c = &calls[i];
		uint32_t elder = VPROF_NONE;

		while (last != c->parent) {
			elder = last;
			last = calls[last].parent;
		}
		if (c->parent != VPROF_NONE) {
			const struct vprof_call *p = &calls[c->parent];

			c->t1 = c->t1 < p->t1 ? c->t1 : p->t1;
			c->t0 = c->t0 < p->t0 ? p->t0 : c->t0 > p->t1 ? p->t1 : c->t0;
		}
		if (elder != VPROF_NONE && c->t0 < calls[elder].t1)
			c->t0 = calls[elder].t1;
		if (c->t1 < c->t0)
			c->t1 = c->t0;
		last = (uint32_t)i;
	}
}

int vprof_preorder_build(struct vprof_preorder *p, const struct vprof_call *ended, size_t n,
			 const struct vprof_call **out)
{
	struct scratch s;

	*out = p->calls.v;
	if (!n)
		return 0;
	if (n >= VPROF_NONE || VPROF_RESERVE(&p->calls, n) || VPROF_RESERVE(&p->scratch, 3 * n))
		return VPROF_ERR_NOMEM;
	s = (struct scratch){ p->scratch.v, p->scratch.v + n, p->scratch.v + 2 * n };
	find_parents(ended, n, &s);
	find_places(n, &s);
	for (size_t i = 0; i < n; i++) {
		struct vprof_call *c = &p->calls.v[s.place[i]];

		*c = ended[i];
		c->parent = s.parent[i] == VPROF_NONE ? VPROF_NONE : s.place[s.parent[i]];
	}
	cut_overlaps(p->calls.v, n);
	*out = p->calls.v;
	return 0;
}

void vprof_preorder_release(struct vprof_preorder *p)
{
	VPROF_ARRAY_RELEASE(&p->calls);
	VPROF_ARRAY_RELEASE(&p->scratch);
}
