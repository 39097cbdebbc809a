/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closing is done from below: a small unit is closed once nothing beneath it may still be closed and add to it. Most
 * are small for sure, since the standard deviation of a sum is at most the sum of those of its nodes; only for the rest
 * a pass over the intervals decides. */
#include "analysis/causes/cause_units.h"

#include <math.h>

#include "analysis/variance/quantities.h"
#include "common/hash/hash_index.h"

#define PASSES_MAX 6

/* what lies beneath a node and may still be closed */
struct beneath {
	uint32_t unit; /* one of them, VPROF_NONE: none */
	int is_more;   /* there are others, too */
};

struct closing {
	struct vprof_cause_units *u;
	struct vprof_tree *tree;
	double least_ns2;
	struct beneath *beneath; /* [n_nodes] */
	uint8_t *is_blocked;	 /* [units] another that may be closed lies beneath it */
	int n_passes;
};

void vprof_leaf_sets_join(const struct vprof_results *r, uint32_t *of_set)
{
	for (size_t i = r->n_nodes; i-- > 0;) {
		const struct vprof_node *n = &r->nodes[i];

		if (!n->n_children)
			continue;
		of_set[i] = of_set[n->first_child];
		for (uint32_t c = n->first_child + 1; c < n->first_child + n->n_children; c++)
			if (of_set[c] != of_set[i])
				of_set[i] = VPROF_NONE;
	}
}

int vprof_leaf_set_has(const struct vprof_results *r, const uint32_t *of_set, uint32_t node)
{
	return of_set[node] != VPROF_NONE && (!node || of_set[r->nodes[node].parent] != of_set[node]);
}

/* The unit of that name; names are interned, so equal ones are one pointer. VPROF_NONE without memory. */
static uint32_t unit_named(struct vprof_cause_units *u, struct vprof_hash_index *by_name, uint32_t node)
{
	const char *name = u->r->nodes[node].name;
	int is_undivided = u->r->nodes[node].kind == VPROF_NODE_UNDIVIDED;
	uint64_t hash = vprof_mix((uintptr_t)name);
	struct vprof_cause_unit *unit;
	size_t at;

	if (vprof_hash_index_room(by_name, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(by_name, hash, at, item)
	if (u->units.v[item].name == name && u->units.v[item].is_undivided == is_undivided)
		return item;
	unit = VPROF_PUSH(&u->units);
	if (!unit)
		return VPROF_NONE;
	*unit = (struct vprof_cause_unit){
		.name = name, .node = node, .is_undivided = is_undivided, .function = (uint32_t)u->units.n - 1
	};
	vprof_hash_index_put(by_name, at, hash, (uint32_t)u->units.n - 1);
	return (uint32_t)u->units.n - 1;
}

static uint32_t function_around(const struct vprof_cause_units *u, uint32_t node)
{
	while (node && u->function[node] == VPROF_NONE)
		node = u->r->nodes[node].parent;
	return node ? u->function[node] : VPROF_NONE;
}

static int find_functions(struct vprof_cause_units *u)
{
	struct vprof_hash_index by_name = { 0 };
	int ret = 0;

	for (uint32_t i = 0; i < u->r->n_nodes && !ret; i++) {
		uint32_t unit = VPROF_NONE, kind = u->r->nodes[i].kind;

		if (vprof_node_is_unit(&u->r->nodes[i]) || kind == VPROF_NODE_UNDIVIDED) {
			unit = unit_named(u, &by_name, i);
			ret = unit == VPROF_NONE ? VPROF_ERR_NOMEM : 0;
		}
		u->function[i] = kind != VPROF_NODE_UNDIVIDED ? unit : VPROF_NONE;
		u->undivided[i] = kind == VPROF_NODE_UNDIVIDED ? unit : VPROF_NONE;
		if (!ret && kind == VPROF_NODE_UNDIVIDED)
			u->units.v[unit].function = function_around(u, i);
	}
	vprof_hash_index_release(&by_name);
	return ret;
}

static int fill_heights(struct vprof_cause_units *u)
{
	const struct vprof_results *r = u->r;
	uint32_t *height = calloc(r->n_nodes + 1, sizeof *height);

	if (!height)
		return VPROF_ERR_NOMEM;
	for (size_t i = r->n_nodes; i-- > 1;) {
		uint32_t above = r->nodes[i].parent;
		int is_call = u->function[i] != VPROF_NONE;

		if (is_call && height[i] > u->units.v[u->function[i]].height)
			u->units.v[u->function[i]].height = height[i];
		if (height[i] + (uint32_t)is_call > height[above])
			height[above] = height[i] + (uint32_t)is_call;
	}
	free(height);
	return 0;
}

static uint32_t unit_of_leaf(const struct vprof_cause_units *u, const uint32_t *owner, uint32_t i)
{
	const struct vprof_node *n = &u->r->nodes[i];
	const struct vprof_cause_unit *units = u->units.v;

	if (n->kind == VPROF_NODE_PREEMPTED && !units[VPROF_UNIT_PREEMPTED].is_closed)
		return VPROF_UNIT_PREEMPTED;
	if ((n->kind == VPROF_NODE_QUEUED || (n->is_unexplained && u->r->nodes[n->parent].kind == VPROF_NODE_QUEUED)) &&
	    !units[VPROF_UNIT_QUEUED].is_closed)
		return VPROF_UNIT_QUEUED;
	return u->undivided[i] != VPROF_NONE && !units[u->undivided[i]].is_closed ? u->undivided[i] : owner[i];
}

/* Every leaf goes to the innermost function around it that is not closed. of_node first holds these. */
static void assign(struct vprof_cause_units *u)
{
	uint32_t *owner = u->of_node;

	owner[0] = VPROF_UNIT_OUTSIDE;
	for (uint32_t i = 0; i < u->r->n_nodes; i++) {
		uint32_t own = u->function[i];

		owner[i] = own != VPROF_NONE && !u->units.v[own].is_closed ? own :
			   i						   ? owner[u->r->nodes[i].parent] :
									     VPROF_UNIT_OUTSIDE;
	}
	for (uint32_t i = 0; i < u->r->n_nodes; i++)
		if (!u->r->nodes[i].n_children)
			u->of_node[i] = unit_of_leaf(u, owner, i);
	vprof_leaf_sets_join(u->r, u->of_node);
}

/* Sorts nodes into members by counting. What a unit was measured at stays valid while its members are the same. */
static void list_members(struct vprof_cause_units *u)
{
	size_t next = 0;

	for (size_t k = 0; k < u->units.n; k++) {
		struct vprof_cause_unit *unit = &u->units.v[k];

		unit->to = 0;
	}
	for (uint32_t i = 0; i < u->r->n_nodes; i++)
		if (vprof_leaf_set_has(u->r, u->of_node, i))
			u->units.v[u->of_node[i]].to++;
	for (size_t k = 0; k < u->units.n; k++) {
		struct vprof_cause_unit *unit = &u->units.v[k];
		size_t n = unit->to;

		unit->from = unit->to = next;
		next += n;
	}
	for (uint32_t i = 0; i < u->r->n_nodes; i++)
		if (vprof_leaf_set_has(u->r, u->of_node, i))
			u->members[u->units.v[u->of_node[i]].to++] = i;
	for (size_t k = 0; k < u->units.n; k++) {
		struct vprof_cause_unit *unit = &u->units.v[k];
		double sd = 0, sum = 0;

		for (size_t i = unit->from; i < unit->to; i++) {
			sum += u->r->nodes[u->members[i]].var_ns2;
			sd += sqrt(u->r->nodes[u->members[i]].var_ns2);
		}
		if (sum != unit->node_var_ns2)
			unit->var_ns2 = NAN;
		unit->node_var_ns2 = sum;
		unit->bound_ns2 = sd * sd;
		if (unit->to - unit->from < 2)
			unit->var_ns2 = unit->bound_ns2;
	}
}

static int is_unknown(const struct closing *c, const struct vprof_cause_unit *unit)
{
	return unit->bound_ns2 >= c->least_ns2 && isnan(unit->var_ns2);
}

static int is_small(const struct closing *c, const struct vprof_cause_unit *unit)
{
	return unit->bound_ns2 < c->least_ns2 || unit->var_ns2 < c->least_ns2;
}

/* One that may be closed, now or later. */
static int is_pending(const struct closing *c, uint32_t k)
{
	const struct vprof_cause_unit *unit = &c->u->units.v[k];

	return k != VPROF_UNIT_OUTSIDE && !unit->is_closed && (is_small(c, unit) || is_unknown(c, unit));
}

static void add_beneath(struct beneath *to, uint32_t unit, int is_more)
{
	if (unit == VPROF_NONE)
		return;
	to->is_more |= is_more || (to->unit != VPROF_NONE && to->unit != unit);
	to->unit = unit;
}

/* What belongs to the scheduler or the queue, or is undivided, is closed before the functions that it would belong to.
 */
static uint32_t unit_at(const struct closing *c, uint32_t i)
{
	const struct vprof_node *n = &c->u->r->nodes[i];

	if (n->kind == VPROF_NODE_PREEMPTED)
		return VPROF_UNIT_PREEMPTED;
	if (n->kind == VPROF_NODE_UNDIVIDED)
		return c->u->undivided[i];
	return n->kind == VPROF_NODE_QUEUED ? VPROF_UNIT_QUEUED : c->u->function[i];
}

static void find_blocked(struct closing *c)
{
	const struct vprof_results *r = c->u->r;

	memset(c->is_blocked, 0, c->u->units.n);
	for (size_t i = 0; i < r->n_nodes; i++)
		c->beneath[i] = (struct beneath){ .unit = VPROF_NONE };
	for (uint32_t i = (uint32_t)r->n_nodes; i-- > 1;) {
		uint32_t unit = unit_at(c, i);
		struct beneath *above = &c->beneath[r->nodes[i].parent];

		if (unit != VPROF_NONE && c->beneath[i].unit != VPROF_NONE &&
		    (c->beneath[i].is_more || c->beneath[i].unit != unit))
			c->is_blocked[unit] = 1;
		if (unit != VPROF_NONE && is_pending(c, unit))
			add_beneath(above, unit, 0);
		add_beneath(above, c->beneath[i].unit, c->beneath[i].is_more);
	}
}

/* Measures those of which the bounds do not tell. */
static int measure(struct closing *c)
{
	struct vprof_cause_units *u = c->u;
	struct vprof_quantities q = { 0 };
	struct vprof_quantity_pair *pairs = malloc((u->units.n + 1) * sizeof *pairs);
	uint32_t *unit_of = malloc((u->units.n + 1) * sizeof *unit_of);
	int ret = pairs && unit_of ? 0 : VPROF_ERR_NOMEM;

	for (uint32_t k = 0; k < u->units.n && !ret; k++) {
		const struct vprof_cause_unit *unit = &u->units.v[k];

		if (unit->is_closed || !is_unknown(c, unit))
			continue;
		pairs[q.n] = (struct vprof_quantity_pair){ .a = (uint32_t)q.n, .b = (uint32_t)q.n };
		unit_of[q.n] = k;
		ret = vprof_quantities_add_apart(&q, u->r, u->members + unit->from, unit->to - unit->from);
	}
	if (!ret)
		ret = vprof_quantities_finish(&q, u->r->n_nodes);
	if (!ret)
		ret = vprof_quantities_covariances(&q, c->tree, pairs, q.n);
	for (size_t i = 0; i < q.n && !ret; i++)
		u->units.v[unit_of[i]].var_ns2 = pairs[i].cov_ns2;
	vprof_quantities_release(&q);
	free(pairs);
	free(unit_of);
	return ret;
}

/* Functions that call one another: beneath each small one lies another. The smaller ones go first. */
static size_t close_circle(struct closing *c)
{
	struct vprof_cause_units *u = c->u;
	double sum = 0;
	size_t n = 0, n_closed = 0;

	for (uint32_t k = VPROF_UNIT_QUEUED; k < u->units.n; k++)
		if (!u->units.v[k].is_closed && is_small(c, &u->units.v[k])) {
			sum += u->units.v[k].node_var_ns2;
			n++;
		}
	for (uint32_t k = VPROF_UNIT_QUEUED; k < u->units.n; k++)
		if (!u->units.v[k].is_closed && is_small(c, &u->units.v[k]) &&
		    u->units.v[k].node_var_ns2 * (double)n <= sum * (1 + 1e-9)) {
			u->units.v[k].is_closed = 1;
			n_closed++;
		}
	return n_closed;
}

/* Closes what is small and has nothing beneath it that may be; 0 when there is none. */
static size_t close_small(struct closing *c)
{
	struct vprof_cause_units *u = c->u;
	size_t n_closed = 0, n_unknown = 0;

	find_blocked(c);
	for (uint32_t k = VPROF_UNIT_QUEUED; k < u->units.n; k++) {
		struct vprof_cause_unit *unit = &u->units.v[k];

		if (unit->is_closed)
			continue;
		n_unknown += is_unknown(c, unit) != 0;
		if (is_small(c, unit) && !c->is_blocked[k]) {
			unit->is_closed = 1;
			n_closed++;
		}
	}
	return n_closed || n_unknown ? n_closed : close_circle(c);
}

static int has_unknown(const struct closing *c)
{
	for (size_t k = VPROF_UNIT_QUEUED; k < c->u->units.n; k++)
		if (!c->u->units.v[k].is_closed && is_unknown(c, &c->u->units.v[k]))
			return 1;
	return 0;
}

/* Of functions that call one another each pass decides little: as if their nodes did not correlate, then. */
static void estimate(struct closing *c)
{
	for (size_t k = 0; k < c->u->units.n; k++)
		if (isnan(c->u->units.v[k].var_ns2))
			c->u->units.v[k].var_ns2 = c->u->units.v[k].node_var_ns2;
}

static int close_all(struct closing *c)
{
	int ret;

	for (;;) {
		assign(c->u);
		list_members(c->u);
		if (c->n_passes == PASSES_MAX)
			estimate(c);
		if (close_small(c))
			continue;
		if (!has_unknown(c))
			return 0;
		ret = measure(c);
		if (ret)
			return ret;
		c->n_passes++;
	}
}

int vprof_cause_units_take(struct vprof_cause_units *u, const struct vprof_results *r, struct vprof_tree *tree,
			   double share)
{
	struct closing c = { .u = u, .tree = tree, .least_ns2 = share * r->nodes[0].var_ns2 };
	int ret = VPROF_ERR_NOMEM;

	*u = (struct vprof_cause_units){ .r = r };
	u->function = malloc((r->n_nodes + 1) * sizeof *u->function);
	u->undivided = malloc((r->n_nodes + 1) * sizeof *u->undivided);
	u->of_node = malloc((r->n_nodes + 1) * sizeof *u->of_node);
	u->members = malloc((r->n_nodes + 1) * sizeof *u->members);
	c.beneath = malloc((r->n_nodes + 1) * sizeof *c.beneath);
	for (int i = 0; i < VPROF_UNIT_FUNCTIONS; i++) {
		struct vprof_cause_unit *unit = VPROF_PUSH(&u->units);

		if (!unit)
			goto out;
		unit->function = VPROF_NONE;
	}
	if (!u->function || !u->undivided || !u->of_node || !u->members || !c.beneath || find_functions(u) ||
	    fill_heights(u))
		goto out;
	c.is_blocked = calloc(u->units.n + 1, 1);
	if (c.is_blocked)
		ret = close_all(&c);
out:
	free(c.beneath);
	free(c.is_blocked);
	return ret;
}

void vprof_cause_units_release(struct vprof_cause_units *u)
{
	VPROF_ARRAY_RELEASE(&u->units);
	free(u->function);
	free(u->undivided);
	free(u->of_node);
	free(u->members);
	*u = (struct vprof_cause_units){ 0 };
}
