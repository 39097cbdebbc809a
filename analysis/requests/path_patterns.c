/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/path_patterns.h"

#include "common/hash/hash_index.h"
#include "common/search.h"

#define DEPTH_MAX 32

struct telling {
	const struct vprof_exchanges *x;
	const struct vprof_request_trees *t;
	const struct vprof_tiers *tiers;
	uint64_t *hash; /* of each exchange: its tree's; NULL while a path is told */
	size_t end;	/* of the text */
};

static uint32_t tier_of(const struct telling *g, uint32_t exchange)
{
	return g->tiers->of_connection.v[g->x->v.v[exchange].connection];
}

/* Calls before their callers: `nodes` has parents first. */
static uint64_t hash_request(struct telling *g, const struct vprof_request *r)
{
	for (uint32_t i = r->n_nodes; i-- > 0;) {
		uint32_t node = g->t->nodes.v[r->first_node + i];
		uint64_t hash = vprof_mix((uint64_t)tier_of(g, node) + 1);

		for (uint32_t k = g->t->first_call.v[node]; k < g->t->first_call.v[node + 1]; k++)
			hash = vprof_mix(hash * 31 + g->hash[g->t->calls.v[k]]);
		g->hash[node] = vprof_mix(hash + 1);
	}
	return g->hash[r->root];
}

static int order(const void *a, const void *b)
{
	const struct vprof_path_pattern *x = a, *y = b;

	if (x->n_requests != y->n_requests)
		return x->n_requests > y->n_requests ? -1 : 1;
	return vprof_u64_order(x->example, y->example);
}

/* The patterns' numbers after sorting. */
static int renumber(struct vprof_path_patterns *p)
{
	uint32_t *number = malloc((p->v.n + 1) * sizeof *number);
	int ret;

	if (!number)
		return VPROF_ERR_NOMEM;
	ret = vprof_array_sort(p->v.v, p->v.n, sizeof *p->v.v, order) ? VPROF_ERR_NOMEM : VPROF_OK;
	for (uint32_t i = 0; i < p->v.n && !ret; i++)
		number[p->of_request.v[p->v.v[i].example]] = i;
	for (size_t i = 0; i < p->of_request.n && !ret; i++)
		if (p->of_request.v[i] != VPROF_NONE)
			p->of_request.v[i] = number[p->of_request.v[i]];
	free(number);
	return ret;
}

static int add_request(struct vprof_path_patterns *p, struct vprof_hash_index *index, uint32_t request, uint64_t hash)
{
	struct vprof_path_pattern *added;
	size_t at;

	if (vprof_hash_index_room(index, 1))
		return VPROF_ERR_NOMEM;
	VPROF_HASH_EACH(index, hash, at, i)
	{
		if (p->v.v[i].hash != hash)
			continue;
		p->v.v[i].n_requests++;
		p->of_request.v[request] = i;
		return VPROF_OK;
	}
	added = VPROF_PUSH(&p->v);
	if (!added)
		return VPROF_ERR_NOMEM;
	*added = (struct vprof_path_pattern){ hash, request, 1 };
	p->of_request.v[request] = (uint32_t)(p->v.n - 1);
	vprof_hash_index_put(index, at, hash, (uint32_t)(p->v.n - 1));
	return VPROF_OK;
}

int vprof_path_patterns_find(struct vprof_path_patterns *p, const struct vprof_exchanges *x,
			     const struct vprof_request_trees *t, const struct vprof_tiers *tiers,
			     const unsigned char *is_used)
{
	struct telling g = { x, t, tiers, malloc((x->v.n + 1) * sizeof *g.hash), 0 };
	struct vprof_hash_index index = { 0 };
	int ret = g.hash ? VPROF_OK : VPROF_ERR_NOMEM;

	memset(p, 0, sizeof *p);
	if (!ret && VPROF_RESERVE(&p->of_request, t->requests.n + 1))
		ret = VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < t->requests.n && !ret; i++) {
		p->of_request.v[p->of_request.n++] = VPROF_NONE;
		if (is_used[i])
			ret = add_request(p, &index, i, hash_request(&g, &t->requests.v[i]));
	}
	if (!ret)
		ret = renumber(p);
	free(g.hash);
	vprof_hash_index_release(&index);
	return ret;
}

void vprof_path_patterns_release(struct vprof_path_patterns *p)
{
	VPROF_ARRAY_RELEASE(&p->v);
	VPROF_ARRAY_RELEASE(&p->of_request);
}

static int same_tree(const struct telling *g, uint32_t a, uint32_t b, int depth)
{
	uint32_t from_a = g->t->first_call.v[a], from_b = g->t->first_call.v[b], n = g->t->first_call.v[a + 1] - from_a;

	if (tier_of(g, a) != tier_of(g, b) || n != g->t->first_call.v[b + 1] - from_b || depth > DEPTH_MAX)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (!same_tree(g, g->t->calls.v[from_a + i], g->t->calls.v[from_b + i], depth + 1))
			return 0;
	return 1;
}

/* How many of the calls from `from` on are like it, one after the other. */
static uint32_t run_length(const struct telling *g, uint32_t from, uint32_t end)
{
	uint32_t n = 1;

	while (from + n < end && same_tree(g, g->t->calls.v[from], g->t->calls.v[from + n], 0))
		n++;
	return n;
}

static void tell_node(const struct telling *g, struct vprof_text *to, uint32_t node, uint32_t n, int depth)
{
	uint32_t from = g->t->first_call.v[node], end = g->t->first_call.v[node + 1];
	int is_first = 1, several = from < end && run_length(g, from, end) < end - from;

	vprof_text_add(to, g->tiers->names.kept.v[tier_of(g, node)]);
	if (n > 1)
		vprof_text_addf(to, " x %u", n);
	if (from == end)
		return;
	vprof_text_add(to, several ? " > (" : " > ");
	while (from < end) {
		uint32_t length = run_length(g, from, end);

		vprof_text_add(to, is_first ? "" : ", ");
		is_first = 0;
		if (depth >= DEPTH_MAX || to->len > g->end) {
			vprof_text_add(to, "...");
			break;
		}
		tell_node(g, to, g->t->calls.v[from], length, depth + 1);
		from += length;
	}
	vprof_text_add(to, several ? ")" : "");
}

void vprof_path_tell(struct vprof_text *to, uint32_t request, size_t n_bytes, const struct vprof_exchanges *x,
		     const struct vprof_request_trees *t, const struct vprof_tiers *tiers)
{
	const struct telling g = { x, t, tiers, NULL, n_bytes < SIZE_MAX - to->len ? to->len + n_bytes : SIZE_MAX };

	tell_node(&g, to, t->requests.v[request].root, 1, 0);
}
