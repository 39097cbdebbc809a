/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each thread is compared with the first thread of every group so far, in the order of entities. */
#include "analysis/waits/alike.h"

#include <ctype.h>

struct counted_stack {
	uint32_t stack;
	uint64_t n;
};

struct profile {
	size_t first, n; /* in all.v */
	uint64_t n_waits;
	int has_stacks; /* else it is over what ended the waits */
};

typedef VPROF_ARRAY(struct counted_stack) counted_stacks;

static int by_stack(const void *a, const void *b)
{
	const struct counted_stack *x = a, *y = b;

	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* The waits of one entity, counted by stack, or by what ended them: 1 for threads, else a number of its own. */
static int add_profile(struct profile *p, counted_stacks *all, const struct vprof_waits_history *h,
		       const struct vprof_waits_reason *r, size_t n)
{
	size_t kept;

	*p = (struct profile){ .first = all->n };
	for (size_t i = 0; i < n; i++)
		p->has_stacks |= r[i].wait_stack != 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t by = h->entities.v[r[i].to].kind == VPROF_WAITS_THREAD ? 1 : 2 + r[i].to;
		struct counted_stack *c;

		if (p->has_stacks && !r[i].wait_stack)
			continue;
		c = VPROF_PUSH(all);
		if (!c)
			return VPROF_ERR_NOMEM;
		*c = (struct counted_stack){ p->has_stacks ? r[i].wait_stack : by, r[i].n_waits };
		p->n_waits += r[i].n_waits;
	}
	if (all->n == p->first)
		return VPROF_OK;
	if (vprof_array_sort(all->v + p->first, all->n - p->first, sizeof *all->v, by_stack))
		return VPROF_ERR_NOMEM;
	kept = p->first + 1;
	for (size_t i = kept; i < all->n; i++) {
		if (all->v[i].stack == all->v[kept - 1].stack)
			all->v[kept - 1].n += all->v[i].n;
		else
			all->v[kept++] = all->v[i];
	}
	all->n = kept;
	p->n = kept - p->first;
	return VPROF_OK;
}

static double overlap(const counted_stacks *all, const struct profile *a, const struct profile *b)
{
	const struct counted_stack *x = all->v + a->first, *y = all->v + b->first;
	double sum = 0;

	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		if (x[i].stack == y[k].stack) {
			double p = (double)x[i++].n / (double)a->n_waits, q = (double)y[k++].n / (double)b->n_waits;

			sum += p < q ? p : q;
		} else if (x[i].stack < y[k].stack) {
			i++;
		} else {
			k++;
		}
	}
	return sum;
}

static size_t stem(const char *name)
{
	size_t n = strlen(name);

	while (n && isdigit((unsigned char)name[n - 1]))
		n--;
	return n;
}

static int same_pool(const struct vprof_waits_entity *a, const struct vprof_waits_entity *b)
{
	size_t n = stem(a->name);

	if (a->pid != b->pid || (a->pid && (a->tid == a->pid || b->tid == b->pid)))
		return 0;
	return n && n == stem(b->name) && !memcmp(a->name, b->name, n);
}

int vprof_waits_find_alike(uint32_t *representative, const struct vprof_waits_history *h,
			   const struct vprof_waits_reasons *reasons, const unsigned char *is_kept, double min_overlap)
{
	struct profile *profiles = calloc(h->entities.n + 1, sizeof *profiles);
	VPROF_ARRAY(uint32_t) groups = { NULL, 0, 0 };
	counted_stacks all = { NULL, 0, 0 };
	int ret = profiles ? VPROF_OK : VPROF_ERR_NOMEM;
	size_t at = 0, end;

	for (uint32_t e = 0; e < h->entities.n && !ret; e++, at = end) {
		int is_alike = 0;

		representative[e] = e;
		for (end = at; end < reasons->v.n && reasons->v.v[end].from == e; end++)
			;
		ret = add_profile(&profiles[e], &all, h, reasons->v.v + at, end - at);
		if (ret || end == at || !is_kept[e] || h->entities.v[e].kind != VPROF_WAITS_THREAD)
			continue;
		for (size_t g = 0; g < groups.n && !is_alike; g++) {
			const struct profile *p = &profiles[groups.v[g]];

			is_alike = p->has_stacks == profiles[e].has_stacks &&
				   (p->has_stacks || same_pool(&h->entities.v[groups.v[g]], &h->entities.v[e])) &&
				   overlap(&all, p, &profiles[e]) >= min_overlap;
			if (is_alike)
				representative[e] = groups.v[g];
		}
		if (!is_alike) {
			uint32_t *g = VPROF_PUSH(&groups);

			ret = g ? VPROF_OK : VPROF_ERR_NOMEM;
			if (g)
				*g = e;
		}
	}
	VPROF_ARRAY_RELEASE(&groups);
	VPROF_ARRAY_RELEASE(&all);
	free(profiles);
	return ret;
}
