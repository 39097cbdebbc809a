/* Pieces of critical paths to nodes and sparse vectors.
 *
 * Ticks are first put where they were spent (exclusive); a piece that explains another one takes its ticks away from
 * that one's node. Inclusive times are summed from the leaves when the interval is complete.
 */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/variance_tree.h"
#include "analysis/wakes.h"

#define DEPTH_MAX 200	   /* recursion deeper than this is folded into the last frame */
#define NODES_MAX 500000u

struct frame {
	uint32_t call, node;
	uint32_t weight; /* calls for which this one stands, or one around it: there are no chosen calls in chosen ones */
	const struct vprof_sampled *sampled; /* NULL: it stands for no other */
	uint64_t until; /* ... or no longer from here on */
};

struct vprof_tree_private {
	uint32_t *slots; /* hash of nodes by (parent, kind, key, level): index + 1 */
	size_t n_slots;
	int64_t *ticks;	   /* [nodes.cap] of the interval being added; zero between intervals */
	int64_t *below;	   /* [nodes.cap] sums of children, zero between samples */
	uint8_t *is_touched; /* [nodes.cap] */
	size_t n_scratch;
	VPROF_ARRAY(uint32_t) touched;
	VPROF_ARRAY(struct frame) stack;
	VPROF_ARRAY(struct vprof_sample) sample;
	VPROF_ARRAY(struct vprof_sample_noise) sample_noise;
	uint32_t *piece_node;
	size_t n_piece_node;
	size_t *hint;	     /* [n_threads] of calls */
	size_t *off_hint;    /* [n_threads] */
	uint32_t *canonical; /* [timeline->n_names] first name with the same text */
};

static int grow_scratch(struct vprof_tree *tree)
{
	struct vprof_tree_private *p = tree->private;
	size_t n = tree->nodes.cap, old = p->n_scratch;
	void *v;

	if (n <= old)
		return 0;
#define GROW(a)                                                                                                      \
	do {                                                                                                         \
		v = realloc(p->a, n * sizeof *p->a);                                                                 \
		if (!v)                                                                                              \
			return VPROF_ERR_NOMEM;                                                                      \
		p->a = v;                                                                                            \
		memset(p->a + old, 0, (n - old) * sizeof *p->a);                                                     \
	} while (0)
	GROW(ticks);
	GROW(below);
	GROW(is_touched);
#undef GROW
	p->n_scratch = n;
	return 0;
}

int vprof_tree_new(struct vprof_tree **out, const struct vprof_timeline *timeline, const struct vprof_plan *plan,
		   struct vprof_error *err)
{
	struct vprof_tree *tree = calloc(1, sizeof *tree);
	struct vprof_tree_private *p = calloc(1, sizeof *p);
	uint64_t *first;

	*out = NULL;
	if (!tree || !p) {
		free(tree);
		free(p);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the variance tree");
	}
	tree->timeline = timeline;
	tree->plan = plan;
	tree->private = p;
	p->n_slots = 1024;
	tree->noise = vprof_noise_new();
	p->slots = calloc(p->n_slots, sizeof *p->slots);
	p->hint = calloc(timeline->n_threads + 1, sizeof *p->hint);
	p->off_hint = calloc(timeline->n_threads + 1, sizeof *p->off_hint);
	p->canonical = calloc(timeline->n_names + 1, sizeof *p->canonical);
	first = VPROF_PUSH(&tree->first);
	if (!p->slots || !p->hint || !p->off_hint || !p->canonical || !tree->noise || !first || !VPROF_PUSH(&tree->nodes) || grow_scratch(tree)) {
		vprof_tree_free(tree);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the variance tree");
	}
	tree->nodes.v[0].kind = VPROF_NODE_INTERVAL;
	for (size_t i = 0; i < timeline->n_names; i++) {
		size_t k = 0;

		while (strcmp(timeline->names[k], timeline->names[i]))
			k++;
		p->canonical[i] = (uint32_t)k;
	}
	*out = tree;
	return 0;
}

void vprof_tree_free(struct vprof_tree *tree)
{
	struct vprof_tree_private *p;

	if (!tree)
		return;
	p = tree->private;
	VPROF_ARRAY_RELEASE(&tree->nodes);
	VPROF_ARRAY_RELEASE(&tree->entry_node);
	VPROF_ARRAY_RELEASE(&tree->entry_ticks);
	VPROF_ARRAY_RELEASE(&tree->first);
	vprof_noise_free(tree->noise);
	VPROF_ARRAY_RELEASE(&p->touched);
	VPROF_ARRAY_RELEASE(&p->stack);
	VPROF_ARRAY_RELEASE(&p->sample);
	VPROF_ARRAY_RELEASE(&p->sample_noise);
	free(p->slots);
	free(p->ticks);
	free(p->below);
	free(p->is_touched);
	free(p->piece_node);
	free(p->hint);
	free(p->off_hint);
	free(p->canonical);
	free(p);
	free(tree);
}

/* Nodes of different classes may share a key. */
enum node_class { CLASS_FRAME, CLASS_WAIT, CLASS_QUEUED, CLASS_PREEMPTED };

static uint8_t class_of(const struct vprof_tree_node *n)
{
	switch (n->kind) {
	case VPROF_NODE_WAIT:
		return CLASS_WAIT;
	case VPROF_NODE_QUEUED:
		return CLASS_QUEUED;
	case VPROF_NODE_PREEMPTED:
		return CLASS_PREEMPTED;
	default:
		return CLASS_FRAME;
	}
}

static size_t slot_of(const struct vprof_tree *tree, uint32_t parent, uint8_t class, uint32_t key, uint32_t level)
{
	const struct vprof_tree_private *p = tree->private;
	size_t i = vprof_mix((uint64_t)parent << 32 ^ (uint64_t)level << 27 ^ (uint64_t)class << 25 ^ key) &
		   (p->n_slots - 1);

	for (; p->slots[i]; i = (i + 1) & (p->n_slots - 1)) {
		const struct vprof_tree_node *n = &tree->nodes.v[p->slots[i] - 1];

		if (n->parent == parent && class_of(n) == class && n->key == key && n->level == level)
			break;
	}
	return i;
}

static int slots_grow(struct vprof_tree *tree)
{
	struct vprof_tree_private *p = tree->private;
	uint32_t *slots = calloc(p->n_slots * 2, sizeof *slots);

	if (!slots)
		return VPROF_ERR_NOMEM;
	free(p->slots);
	p->slots = slots;
	p->n_slots *= 2;
	for (size_t i = 1; i < tree->nodes.n; i++) {
		const struct vprof_tree_node *n = &tree->nodes.v[i];

		p->slots[slot_of(tree, n->parent, class_of(n), n->key, n->level)] = (uint32_t)i + 1;
	}
	return 0;
}

/* VPROF_NONE when there is no memory. */
static uint32_t child_of(struct vprof_tree *tree, uint32_t parent, uint8_t class, uint32_t key, uint32_t level)
{
	static const uint8_t kinds[] = { VPROF_NODE_FUNCTION, VPROF_NODE_WAIT, VPROF_NODE_QUEUED,
					 VPROF_NODE_PREEMPTED };
	static const uint8_t probe_kinds[] = { [VPROF_PROBE_FUNCTION] = VPROF_NODE_FUNCTION,
					       [VPROF_PROBE_SITE] = VPROF_NODE_SITE,
					       [VPROF_PROBE_POINTER] = VPROF_NODE_POINTER };
	size_t slot = slot_of(tree, parent, class, key, level);
	struct vprof_tree_node *n;

	if (tree->private->slots[slot])
		return tree->private->slots[slot] - 1;
	if (tree->nodes.v[parent].depth >= DEPTH_MAX || tree->nodes.n >= NODES_MAX) {
		tree->n_folded++;
		return parent;
	}
	if (2 * tree->nodes.n >= tree->private->n_slots) {
		if (slots_grow(tree))
			return VPROF_NONE;
		slot = slot_of(tree, parent, class, key, level);
	}
	n = VPROF_PUSH(&tree->nodes);
	if (!n || grow_scratch(tree))
		return VPROF_NONE;
	n->parent = parent;
	n->depth = tree->nodes.v[parent].depth + 1;
	n->key = key;
	n->level = level;
	n->kind = kinds[class];
	if (class == CLASS_FRAME) {
		n->probe = vprof_plan_probe(tree->plan, key);
		tree->n_unknown_codes += !n->probe;
		if (n->probe && (unsigned)n->probe->kind < sizeof probe_kinds)
			n->kind = probe_kinds[n->probe->kind];
	}
	tree->nodes.v[parent].n_children++;
	if (level > tree->nodes.v[parent].level)
		tree->nodes.v[parent].is_explained = 1;
	return (tree->private->slots[slot] = (uint32_t)tree->nodes.n) - 1;
}

static int spend(struct vprof_tree *tree, uint32_t node, int64_t ticks)
{
	struct vprof_tree_private *p = tree->private;

	for (uint32_t i = node; !p->is_touched[i]; i = tree->nodes.v[i].parent) {
		uint32_t *t = VPROF_PUSH(&p->touched);

		if (!t)
			return VPROF_ERR_NOMEM;
		*t = i;
		p->is_touched[i] = 1;
		if (!i)
			break;
	}
	p->ticks[node] += ticks;
	return 0;
}

/* How long a chosen call stands for others: up to its first wait, since from there on those that were not chosen are recorded
 * too, and no longer than its function's calls usually last. */
static uint64_t stands_until(const struct vprof_line *line, const struct vprof_call *call, const struct vprof_sampled *sampled)
{
	uint64_t until = call->t0 + sampled->limit;
	size_t i;

	if (!line->waits.n)
		return until;
	i = vprof_time_search(line->waits.v, sizeof *line->waits.v, line->waits.n, call->t0 - 1, 0);
	return i < line->waits.n && line->waits.v[i].t0 < until ? line->waits.v[i].t0 : until;
}

/* What the frame's call stands for at t, outer being what the one around it stands for. */
static void weigh(struct frame *f, const struct vprof_line *line, uint32_t outer, uint64_t t)
{
	const struct vprof_call *call = &line->calls.v[f->call];

	f->weight = outer;
	f->until = UINT64_MAX;
	f->sampled = call->is_sampled && outer == 1 ? vprof_line_sampled(line, call) : NULL;
	if (f->sampled && f->sampled->weight >= 2)
		f->until = stands_until(line, call, f->sampled);
	if (f->until == UINT64_MAX || t >= f->until)
		f->sampled = NULL;
	else
		f->weight = f->sampled->weight;
}

static void count_call(struct vprof_tree *tree, const struct vprof_line *line, const struct frame *f, uint32_t outer)
{
	const struct vprof_call *call = &line->calls.v[f->call];
	const struct vprof_sampled *s = call->is_sampled ? vprof_line_sampled(line, call) : NULL;
	struct vprof_tree_node *n = &tree->nodes.v[f->node];

	n->n_calls += (s ? s->represented : 1u) * (uint64_t)outer;
	n->n_timed += !s || s->weight;
}

/* Fills the stack with the frames open at t, outermost first. Returns the innermost one's node (base when there is
 * none), VPROF_NONE without memory. */
static uint32_t open_frames(struct vprof_tree *tree, const struct vprof_piece *piece, uint32_t base, size_t *next)
{
	struct vprof_tree_private *p = tree->private;
	const struct vprof_line *line = &tree->timeline->threads[piece->thread];
	uint32_t call = vprof_line_call_at(line, piece->from, next, &p->hint[piece->thread]), outer = 1;

	p->stack.n = 0;
	for (; call != VPROF_NONE; call = line->calls.v[call].parent) {
		struct frame *f = VPROF_PUSH(&p->stack);

		if (!f)
			return VPROF_NONE;
		f->call = call;
	}
	for (size_t i = 0; i < p->stack.n / 2; i++) {
		struct frame f = p->stack.v[i];

		p->stack.v[i] = p->stack.v[p->stack.n - 1 - i];
		p->stack.v[p->stack.n - 1 - i] = f;
	}
	for (size_t i = 0; i < p->stack.n; i++) {
		struct frame *f = &p->stack.v[i];

		base = f->node = child_of(tree, base, CLASS_FRAME, line->calls.v[f->call].code, piece->depth);
		if (base == VPROF_NONE)
			return VPROF_NONE;
		weigh(f, line, outer, piece->from);
		if (line->calls.v[f->call].t0 == piece->from)
			count_call(tree, line, f, outer);
		outer = f->weight;
	}
	return base;
}

static int push_frame(struct vprof_tree *tree, const struct vprof_piece *piece, const struct frame *top, uint32_t parent,
		      size_t call)
{
	const struct vprof_line *line = &tree->timeline->threads[piece->thread];
	uint32_t outer = top ? top->weight : 1;
	struct frame *f = VPROF_PUSH(&tree->private->stack);

	if (!f)
		return VPROF_ERR_NOMEM;
	f->call = (uint32_t)call;
	f->node = child_of(tree, parent, CLASS_FRAME, line->calls.v[call].code, piece->depth);
	if (f->node == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	weigh(f, line, outer, line->calls.v[call].t0);
	count_call(tree, line, f, outer);
	return 0;
}

/* Place in the stack of the frame that stands for others; one does. */
static size_t chosen_frame(const struct vprof_tree_private *p)
{
	size_t at = p->stack.n - 1;

	while (!p->stack.v[at].sampled)
		at--;
	return at;
}

/* Preempted between t and until; offs before `off` ended earlier. */
static uint64_t preempted_ticks(const struct vprof_line *line, size_t off, uint64_t t, uint64_t until)
{
	uint64_t sum = 0;

	for (; off < line->offs.n && line->offs.v[off].t0 < until; off++) {
		const struct vprof_off *o = &line->offs.v[off];
		uint64_t from = o->t0 > t ? o->t0 : t, to = o->t1 < until ? o->t1 : until;

		if (o->is_preempted && from < to)
			sum += to - from;
	}
	return sum;
}

/* From here on it stands for itself alone. What of its time does not count for others is remembered. */
static void stand_alone(struct vprof_tree *tree, const struct vprof_line *line, size_t off, uint64_t t)
{
	struct vprof_tree_private *p = tree->private;
	size_t at = chosen_frame(p);
	const struct frame *f = &p->stack.v[at];
	const struct vprof_call *call = &line->calls.v[f->call];

	if (t >= call->t0 + f->sampled->limit && t < call->t1)
		tree->nodes.v[f->node].rare_ticks += (f->sampled->weight - 1u) *
						     (call->t1 - t - preempted_ticks(line, off, t, call->t1));
	p->stack.v[at].sampled = NULL;
	for (size_t k = at; k < p->stack.n; k++)
		p->stack.v[k].weight = 1;
}

/* A chosen call's time stands for that of others: what it gains beyond the time that passed, the frame around it
 * loses. */
static int spend_weighted(struct vprof_tree *tree, const struct vprof_piece *piece, uint32_t base, uint64_t ticks)
{
	const struct vprof_tree_private *p = tree->private;
	const struct frame *top = &p->stack.v[p->stack.n - 1];
	size_t at = chosen_frame(p);

	for (size_t k = at; k < p->stack.n; k++)
		if ((k == at || p->stack.v[k].node != p->stack.v[k - 1].node) &&
		    vprof_noise_spend(tree->noise, p->stack.v[at].sampled, piece->thread, p->stack.v[k].node, ticks))
			return VPROF_ERR_NOMEM;
	if (spend(tree, top->node, (int64_t)(top->weight * ticks)))
		return VPROF_ERR_NOMEM;
	return spend(tree, at ? p->stack.v[at - 1].node : base, -(int64_t)((top->weight - 1) * ticks));
}

/* All of it is known, so it counts once also within a call that stands for others. */
static int spend_preempted(struct vprof_tree *tree, const struct vprof_piece *piece, uint32_t node,
			   const struct vprof_off *off, uint64_t t, uint64_t until)
{
	uint32_t child;

	if (until == t)
		return 0;
	child = child_of(tree, node, CLASS_PREEMPTED, 0, piece->depth);
	if (child == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	if (tree->nodes.v[child].kind == VPROF_NODE_PREEMPTED && t == off->t0) {
		tree->nodes.v[child].n_calls++;
		tree->nodes.v[child].n_timed++;
	}
	if (!piece->depth) {
		tree->preempted_ticks += until - t;
		tree->by_own_ticks += off->by != VPROF_NONE ? until - t : 0;
	}
	return spend(tree, child, (int64_t)(until - t));
}

/* The first time without a processor that ends after t; offs.n when there is none. */
static size_t first_off(const struct vprof_line *line, uint64_t t, size_t *hint)
{
	size_t i = vprof_time_search(line->offs.v, sizeof *line->offs.v, line->offs.n, t, *hint);

	*hint = i;
	return i && line->offs.v[i - 1].t1 > t ? i - 1 : i;
}

/* Time from t to until, in which nothing changes, on top of the stack. off: the thread has no processor, or NULL. */
static int spend_stretch(struct vprof_tree *tree, const struct vprof_piece *piece, uint32_t base,
			 const struct vprof_off *off, uint64_t t, uint64_t until)
{
	const struct vprof_tree_private *p = tree->private;
	const struct frame *top = p->stack.n ? &p->stack.v[p->stack.n - 1] : NULL;
	uint32_t node = top ? top->node : base, weight = top ? top->weight : 1;

	if (off && off->is_preempted)
		return spend_preempted(tree, piece, node, off, t, until);
	if (off) /* blocked, but in no wait that was recorded: a page on its way from disk */
		tree->nodes.v[node].blocked_ticks += weight * (until - t);
	if (weight > 1)
		return spend_weighted(tree, piece, base, until - t);
	return spend(tree, node, (int64_t)(until - t));
}

static int add_run(struct vprof_tree *tree, const struct vprof_piece *piece, uint32_t base)
{
	struct vprof_tree_private *p = tree->private;
	const struct vprof_line *line = &tree->timeline->threads[piece->thread];
	size_t next, i = first_off(line, piece->from, &p->off_hint[piece->thread]);
	uint64_t t = piece->from;

	if (open_frames(tree, piece, base, &next) == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	while (t < piece->to) {
		const struct frame *top = p->stack.n ? &p->stack.v[p->stack.n - 1] : NULL;
		uint64_t stands = top && top->weight > 1 ? p->stack.v[chosen_frame(p)].until : UINT64_MAX;
		uint64_t leave = top ? line->calls.v[top->call].t1 : UINT64_MAX;
		uint64_t enter = next < line->calls.n ? line->calls.v[next].t0 : UINT64_MAX;
		uint64_t until = leave <= enter ? leave : enter, edge = UINT64_MAX;
		uint32_t node = top ? top->node : base;
		struct frame above = top ? *top : (struct frame){ .weight = 1 };
		const struct vprof_off *off = NULL;

		while (i < line->offs.n && line->offs.v[i].t1 <= t)
			i++;
		if (t >= stands) {
			stand_alone(tree, line, i, t);
			continue;
		}
		if (i < line->offs.n) {
			off = line->offs.v[i].t0 <= t ? &line->offs.v[i] : NULL;
			edge = off ? off->t1 : line->offs.v[i].t0;
		}
		if (until > piece->to)
			until = piece->to;
		if (until > edge)
			until = edge;
		if (until > stands)
			until = stands;
		if (spend_stretch(tree, piece, base, off, t, until))
			return VPROF_ERR_NOMEM;
		t = until;
		if (t >= piece->to)
			break;
		if (t < leave && t < enter)
			continue;
		if (leave <= enter)
			p->stack.n--;
		else if (push_frame(tree, piece, top ? &above : NULL, node, next++))
			return VPROF_ERR_NOMEM;
	}
	p->hint[piece->thread] = next;
	return 0;
}

static uint32_t wait_node(struct vprof_tree *tree, const struct vprof_piece *piece, uint32_t base)
{
	const struct vprof_wait *w = &tree->timeline->threads[piece->thread].waits.v[piece->wait];
	uint32_t name = tree->private->canonical[w->name], node;
	const struct vprof_tree_node *top;
	struct vprof_tree_node *n;
	size_t next;

	node = open_frames(tree, piece, base, &next);
	if (node == VPROF_NONE)
		return node;
	top = &tree->nodes.v[node];
	if (node == base || !top->probe || strcmp(top->probe->name, tree->timeline->names[name]))
		node = child_of(tree, node, CLASS_WAIT, name, piece->depth);
	if (node == VPROF_NONE)
		return node;
	n = &tree->nodes.v[node];
	if (vprof_wait_has_waker(w->kind)) { /* the object of I/O is a file descriptor: says little */
		if (!n->objects)
			n->object = w->object;
		n->objects = n->objects && (n->objects > 1 || n->object != w->object) ? 2 : 1;
	}
	if (n->kind == VPROF_NODE_WAIT && piece->from == w->t0) {
		n->n_calls++;
		n->n_timed++;
	}
	return node;
}

static int add_piece(struct vprof_tree *tree, const struct vprof_piece *piece, uint32_t *node)
{
	const uint32_t base = piece->parent == VPROF_NONE ? 0 : tree->private->piece_node[piece->parent];
	int64_t ticks = (int64_t)(piece->to - piece->from);

	if (piece->parent != VPROF_NONE && spend(tree, base, -ticks))
		return VPROF_ERR_NOMEM;
	*node = base;
	if (piece->kind == VPROF_PIECE_RUN)
		return add_run(tree, piece, base);
	*node = piece->kind == VPROF_PIECE_WAIT ? wait_node(tree, piece, base) : child_of(tree, base, CLASS_QUEUED, 0, 0);
	if (*node == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	if (piece->kind == VPROF_PIECE_WAIT) {
		tree->nodes.v[*node].blocked_ticks += (uint64_t)ticks;
	} else {
		tree->nodes.v[*node].n_calls++;
		tree->nodes.v[*node].n_timed++;
	}
	return spend(tree, *node, ticks);
}

static int index_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Few, nearly sorted items: insertion; many: qsort. */
static void sort_indices(uint32_t *v, size_t n)
{
	if (n > 64) {
		qsort(v, n, sizeof *v, index_order);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		uint32_t x = v[i];
		size_t k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

static uint32_t parent_of(const void *tree, uint32_t node)
{
	return ((const struct vprof_tree *)tree)->nodes.v[node].parent;
}

static int store(struct vprof_tree *tree)
{
	struct vprof_tree_private *p = tree->private;
	uint64_t *first;

	sort_indices(p->touched.v, p->touched.n);
	for (size_t i = p->touched.n; i-- > 1;)
		p->ticks[tree->nodes.v[p->touched.v[i]].parent] += p->ticks[p->touched.v[i]];
	for (size_t i = 0; i < p->touched.n; i++) {
		uint32_t node = p->touched.v[i], *entry = VPROF_PUSH(&tree->entry_node);
		uint64_t *ticks = VPROF_PUSH(&tree->entry_ticks);

		if (!entry || !ticks)
			return VPROF_ERR_NOMEM;
		*entry = node;
		*ticks = p->ticks[node] < 0 ? 0 : (uint64_t)p->ticks[node];
		tree->nodes.v[node].total_ticks += *ticks;
		p->ticks[node] = 0;
		p->is_touched[node] = 0;
	}
	p->touched.n = 0;
	first = VPROF_PUSH(&tree->first);
	if (!first)
		return VPROF_ERR_NOMEM;
	*first = tree->entry_node.n;
	tree->n_intervals++;
	return vprof_noise_store(tree->noise, parent_of, tree);
}

int vprof_tree_add(struct vprof_tree *tree, const struct vprof_piece *pieces, size_t n_pieces)
{
	struct vprof_tree_private *p = tree->private;

	if (n_pieces > p->n_piece_node) {
		uint32_t *v = realloc(p->piece_node, 2 * n_pieces * sizeof *v);

		if (!v)
			return VPROF_ERR_NOMEM;
		p->piece_node = v;
		p->n_piece_node = 2 * n_pieces;
	}
	if (spend(tree, 0, 0))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n_pieces; i++)
		if (add_piece(tree, &pieces[i], &p->piece_node[i]))
			return VPROF_ERR_NOMEM;
	return store(tree);
}

static int time_order(const void *a, const void *b, void *arg)
{
	const struct vprof_tree_node *nodes = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (nodes[i].total_ticks != nodes[k].total_ticks)
		return nodes[i].total_ticks > nodes[k].total_ticks ? -1 : 1;
	return i < k ? -1 : i > k;
}

int vprof_tree_number(struct vprof_tree *tree)
{
	size_t n = tree->nodes.n, n_queue = 1;
	uint32_t *first = calloc(n + 1, sizeof *first), *children = malloc(n * sizeof *children);
	uint32_t *queue = malloc(n * sizeof *queue), next = 1;
	int ret = VPROF_ERR_NOMEM;

	if (!first || !children || !queue)
		goto out;
	for (size_t i = 0; i < n; i++)
		first[i + 1] = first[i] + tree->nodes.v[i].n_children;
	for (size_t i = 1; i < n; i++)
		children[first[tree->nodes.v[i].parent]++] = (uint32_t)i;
	for (size_t i = n; i-- > 0;)
		first[i] -= tree->nodes.v[i].n_children;
	queue[0] = 0;
	tree->nodes.v[0].final_id = 0;
	for (size_t k = 0; k < n_queue; k++) {
		struct vprof_tree_node *node = &tree->nodes.v[queue[k]];
		uint32_t *list = children + first[queue[k]];

		node->body_id = VPROF_NONE;
		if (!node->n_children)
			continue;
		qsort_r(list, node->n_children, sizeof *list, time_order, tree->nodes.v);
		for (uint32_t i = 0; i < node->n_children; i++) {
			tree->nodes.v[list[i]].final_id = next++;
			queue[n_queue++] = list[i];
		}
		node->body_id = next++;
	}
	tree->n_final = next;
	ret = 0;
out:
	free(first);
	free(children);
	free(queue);
	return ret;
}

static int sample_order(const void *a, const void *b)
{
	const struct vprof_sample *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

static void sort_sample(struct vprof_sample *v, size_t n)
{
	if (n > 64) {
		qsort(v, n, sizeof *v, sample_order);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct vprof_sample x = v[i];
		size_t k = i;

		for (; k > 0 && v[k - 1].node > x.node; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

const struct vprof_sample *vprof_tree_sample(struct vprof_tree *tree, size_t i, size_t *n)
{
	struct vprof_tree_private *p = tree->private;
	uint64_t from = tree->first.v[i], to = tree->first.v[i + 1];
	double ns = tree->timeline->ns_per_tick;

	*n = 0;
	if (p->sample.cap < 2 * (to - from)) {
		struct vprof_sample *v = realloc(p->sample.v, 4 * (to - from) * sizeof *v);

		if (!v)
			return NULL;
		p->sample.v = v;
		p->sample.cap = 4 * (to - from);
	}
	for (uint64_t e = from + 1; e < to; e++)
		p->below[tree->nodes.v[tree->entry_node.v[e]].parent] += (int64_t)tree->entry_ticks.v[e];
	for (uint64_t e = from; e < to; e++) {
		const struct vprof_tree_node *node = &tree->nodes.v[tree->entry_node.v[e]];
		int64_t ticks = (int64_t)tree->entry_ticks.v[e], below = p->below[tree->entry_node.v[e]];

		p->below[tree->entry_node.v[e]] = 0;
		p->sample.v[(*n)++] = (struct vprof_sample){ node->final_id, (double)ticks * ns };
		if (node->body_id != VPROF_NONE && ticks != below)
			p->sample.v[(*n)++] = (struct vprof_sample){ node->body_id, (double)(ticks - below) * ns };
	}
	sort_sample(p->sample.v, *n);
	return p->sample.v;
}

static const struct vprof_sample_noise no_noise;

static uint32_t place_of(const struct vprof_tree *tree, uint32_t noise_node)
{
	const struct vprof_tree_node *node = &tree->nodes.v[noise_node & ~VPROF_NOISE_BODY];

	return noise_node & VPROF_NOISE_BODY ? node->body_id : node->final_id;
}

const struct vprof_sample_noise *vprof_tree_noise(struct vprof_tree *tree, size_t i, size_t *n)
{
	struct vprof_tree_private *p = tree->private;
	double ns2 = tree->timeline->ns_per_tick * tree->timeline->ns_per_tick;
	size_t n_items;
	const struct vprof_noise_item *items = vprof_noise_items(tree->noise, i, &n_items);

	p->sample_noise.n = 0;
	for (size_t k = 0; k < n_items; k++) {
		uint32_t a = place_of(tree, items[k].a), b = place_of(tree, items[k].b);
		struct vprof_sample_noise *item;

		if (a == VPROF_NONE || b == VPROF_NONE) /* a body that is not there */
			continue;
		item = VPROF_PUSH(&p->sample_noise);
		if (!item)
			return NULL;
		*item = (struct vprof_sample_noise){ a < b ? a : b, a < b ? b : a, items[k].ticks2 * ns2 };
	}
	*n = p->sample_noise.n;
	return *n ? p->sample_noise.v : &no_noise;
}
