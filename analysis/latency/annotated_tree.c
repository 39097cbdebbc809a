/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the history are shared out; each worker has sums of its own, of whole ns, so that their order does not
 * matter. What a gap means for all frames of its stacks is worked out once for each pair of stacks, at the end. */
#include "analysis/latency/annotated_tree.h"

#include "analysis/latency/likely_time.h"
#include "common/parallel.h"
#include "common/search.h"

struct worker {
	struct vprof_latency_inference inference;
	struct vprof_latency_gaps gaps;
	struct vprof_latency_context *contexts;
	uint64_t *own_blocks, *sleep_blocks;
	uint32_t *begun_blocks;
	struct vprof_latency_instance *kept; /* [nodes * n_kept] the slowest of each node, in no order */
	uint32_t *n_kept;		     /* [nodes] */
	uint64_t *direct_ns;		     /* [nodes] own time that is in no pool */
	struct vprof_likely_time likely;
	uint64_t *slept_ns;	     /* [nodes] of the thread that is being looked at, interruptibly */
	VPROF_ARRAY(uint32_t) slept; /* the nodes of which that is not 0 */
	uint64_t n_instances;
	const struct build *build;
};

struct build {
	struct vprof_annotated_tree *out;
	const struct vprof_latency_history *history;
	struct worker *workers;
	int n_workers;
	unsigned char *is_idle; /* [nodes] a function that waits for work, or beneath one */
	uint32_t *groups;	/* [n_groups] first of the history's threads that are one */
	size_t n_groups;
	size_t n_nodes;
	uint32_t n_kept; /* of a node, at most */
};

#define KEPT_MEMORY ((size_t)1 << 18) /* instances of a worker */
#define IDLE_MIN 0.8		      /* of a thread's life: that it sleeps at one place for that long */

/* Which one comes first in the list of the slowest: a total order, so that it does not matter who saw which. */
static int compare_instances(const void *x, const void *y)
{
	const struct vprof_latency_instance *a = x, *b = y;
	int order;

	if (a->node != b->node)
		return vprof_u64_order(a->node, b->node);
	order = vprof_u64_order(vprof_instance_conservative(b), vprof_instance_conservative(a));
	if (!order)
		order = vprof_u64_order(vprof_instance_longest(b), vprof_instance_longest(a));
	if (!order)
		order = vprof_u64_order(a->thread, b->thread);
	if (!order)
		order = vprof_u64_order(a->first, b->first);
	return order ? order : vprof_u64_order(a->before, b->before);
}

/* A heap, the fastest on top. */
static void keep(struct worker *w, const struct vprof_latency_instance *i)
{
	uint32_t most = w->build->n_kept, n = w->n_kept[i->node], at;
	struct vprof_latency_instance *v = w->kept + (size_t)i->node * most;

	if (n < most) {
		for (at = w->n_kept[i->node]++; at && compare_instances(i, &v[(at - 1) / 2]) > 0; at = (at - 1) / 2)
			v[at] = v[(at - 1) / 2];
		v[at] = *i;
		return;
	}
	if (compare_instances(i, v) >= 0)
		return;
	for (at = 0; 2 * at + 1 < n;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < n && compare_instances(&v[child + 1], &v[child]) > 0)
			child++;
		if (compare_instances(&v[child], i) <= 0)
			break;
		v[at] = v[child];
		at = child;
	}
	v[at] = *i;
}

/* In which part of the time observed a time is. */
static uint32_t block_of(const struct build *b, uint64_t t)
{
	return (uint32_t)(vprof_latency_observed(b->history, t) / (b->out->observed_ns / b->out->n_blocks + 1));
}

static int add_instance(void *worker, const struct vprof_latency_instance *i)
{
	struct worker *w = worker;
	struct vprof_latency_context *c = &w->contexts[i->node];
	uint64_t conservative = vprof_instance_conservative(i), longest = vprof_instance_longest(i);

	c->n++;
	if (!(i->flags & VPROF_INSTANCE_BEGIN_CUT)) {
		c->n_begun++;
		w->begun_blocks[(size_t)i->node * VPROF_LATENCY_BLOCKS + block_of(w->build, i->first)]++;
	}
	c->n_cut += i->flags != 0;
	c->n_unsure += i->n_unsure;
	c->aggressive_ns += vprof_instance_aggressive(i);
	c->longest_ns += longest;
	if (conservative > c->slowest_ns)
		c->slowest_ns = conservative;
	if (longest > c->slowest_longest_ns)
		c->slowest_longest_ns = longest;
	w->n_instances++;
	keep(w, i);
	return 0;
}

/* The node to whose own time a gap counts. */
static uint32_t gap_node(const struct vprof_annotated_tree *t, const struct vprof_latency_gap *gap)
{
	return gap->common.depth ? t->nodes[t->history->stacks.v[gap->stack].first + gap->common.depth - 1] :
				   VPROF_CONTEXT_ROOT;
}

/* Asleep until something happens, or perhaps. */
static int is_sleep(const struct vprof_latency_gap *gap)
{
	return gap->flags & VPROF_LATENCY_UNPAIRED ||
	       (gap->flags & VPROF_LATENCY_OFF_CPU && !(gap->flags & VPROF_LATENCY_DISK));
}

/* Adds up time by part of the recording: blocks[VPROF_LATENCY_BLOCKS]. */
static void add_blocks(const struct build *b, uint64_t *blocks, uint64_t from, uint64_t ns)
{
	uint64_t length = b->out->observed_ns / b->out->n_blocks + 1, end = from + ns;

	for (uint64_t at = from; at < end;) {
		uint64_t block = at / length, next = (block + 1) * length;

		next = next < end ? next : end;
		blocks[block] += next - at;
		at = next;
	}
}

/* Its own time, by time of the recording, and where the thread slept. */
static int add_own(void *worker, const struct vprof_latency_gap *gap, uint64_t from, uint64_t ns)
{
	struct worker *w = worker;
	uint32_t node = gap_node(w->build->out, gap), *slot;
	int ret = vprof_likely_time_gap(&w->likely, gap, from, ns);

	if (ret)
		return ret < 0 ? ret : 0;
	w->direct_ns[node] += ns;
	if (w->build->is_idle[node] && gap->flags & (VPROF_LATENCY_OFF_CPU | VPROF_LATENCY_UNPAIRED))
		return 0; /* add_idle() */
	if (!ns || !is_sleep(gap)) {
		add_blocks(w->build, w->own_blocks + (size_t)node * VPROF_LATENCY_BLOCKS, from, ns);
		return 0;
	}
	slot = w->slept_ns[node] ? &node : VPROF_PUSH(&w->slept);
	if (!slot)
		return VPROF_ERR_NOMEM;
	*slot = node;
	w->slept_ns[node] += ns;
	add_blocks(w->build, w->sleep_blocks + (size_t)node * VPROF_LATENCY_BLOCKS, from, ns);
	return 0;
}

/* The thread's sleeps: idle time where it spent most of its life. */
static void end_sleeps(struct worker *w, uint64_t lived_ns)
{
	for (size_t i = 0; i < w->slept.n; i++) {
		uint32_t node = w->slept.v[i];

		if ((double)w->slept_ns[node] >= IDLE_MIN * (double)lived_ns)
			w->contexts[node].own_idle_ns += w->slept_ns[node];
		w->slept_ns[node] = 0;
	}
	w->slept.n = 0;
}

/* Whatever the history has of one thread. */
static int infer_thread(void *build, int worker, size_t group)
{
	const struct build *b = build;
	const struct vprof_latency_history *h = b->history;
	size_t end = group + 1 < b->n_groups ? b->groups[group + 1] : h->threads.n;
	struct worker *w = &b->workers[worker];
	uint64_t lived_ns = 0;
	int ret = 0;

	for (size_t i = b->groups[group]; i < end && !ret; i++) {
		const struct vprof_latency_thread *t = &h->threads.v[i];

		ret = vprof_latency_infer(&w->inference, (uint32_t)i);
		lived_ns += vprof_latency_observed(h, t->end) - vprof_latency_observed(h, t->begin);
	}
	vprof_likely_time_end(&w->likely);
	end_sleeps(w, lived_ns);
	return ret;
}

/* From `depth` on the two stacks are of different calls: their functions may have been there for the gap's time. */
static void add_beyond(struct vprof_annotated_tree *t, const struct vprof_latency_gap *gap, uint32_t depth)
{
	const struct vprof_latency_stack *a = gap->stack == VPROF_NONE ? NULL : &t->history->stacks.v[gap->stack];
	const struct vprof_latency_stack *b = gap->next == VPROF_NONE ? NULL : &t->history->stacks.v[gap->next];
	uint32_t n_a = a ? a->n : 0, n_b = b ? b->n : 0;

	for (uint32_t d = depth; d < n_a || d < n_b; d++) {
		uint32_t x = d < n_a ? t->nodes[a->first + d] : VPROF_NONE;
		uint32_t y = d < n_b ? t->nodes[b->first + d] : VPROF_NONE;

		if (x != VPROF_NONE) {
			t->contexts[x].high_ns += gap->ns;
			t->contexts[x].own_high_ns += gap->ns;
		}
		if (y != VPROF_NONE && y != x) {
			t->contexts[y].high_ns += gap->ns;
			t->contexts[y].own_high_ns += gap->ns;
		}
	}
}

static void spread_gap(struct vprof_annotated_tree *t, const struct vprof_latency_gap *gap)
{
	uint32_t node = gap_node(t, gap), depth = gap->common.depth, sure = gap->common.sure_depth;
	const struct vprof_latency_stack *a = gap->stack == VPROF_NONE ? NULL : &t->history->stacks.v[gap->stack];
	const struct vprof_latency_stack *b = gap->next == VPROF_NONE ? NULL : &t->history->stacks.v[gap->next];
	int is_whole = a && b && depth == a->n && depth == b->n && sure == depth;

	t->total_ns += gap->ns;
	t->unsure_ns += sure < depth ? gap->ns : 0;
	t->contexts[node].own_ns += gap->ns;
	t->contexts[node].own_off_ns += gap->flags & VPROF_LATENCY_OFF_CPU ? gap->ns : 0;
	t->contexts[node].own_sleep_ns += is_sleep(gap) ? gap->ns : 0;
	t->contexts[node].own_unpaired_ns += gap->flags & VPROF_LATENCY_UNPAIRED ? gap->ns : 0;
	t->contexts[node].own_low_ns += is_whole ? gap->ns : 0;
	if (!depth)
		t->contexts[node].own_high_ns += gap->ns;
	for (uint32_t d = 0; d < depth; d++) {
		struct vprof_latency_context *c = &t->contexts[t->nodes[a->first + d]];

		c->low_ns += gap->ns;
		c->high_ns += gap->ns;
		c->own_high_ns += d + 1 >= sure ? gap->ns : 0;
	}
	add_beyond(t, gap, depth);
}

static void add_contexts(struct vprof_latency_context *to, const struct vprof_latency_context *from)
{
	to->n += from->n;
	to->n_begun += from->n_begun;
	to->n_cut += from->n_cut;
	to->n_unsure += from->n_unsure;
	to->own_idle_ns += from->own_idle_ns;
	to->aggressive_ns += from->aggressive_ns;
	to->longest_ns += from->longest_ns;
	to->slowest_ns = to->slowest_ns > from->slowest_ns ? to->slowest_ns : from->slowest_ns;
	to->slowest_longest_ns = to->slowest_longest_ns > from->slowest_longest_ns ? to->slowest_longest_ns :
										     from->slowest_longest_ns;
}

/* Of all workers' slowest instances the slowest of each node. */
static int join_kept(struct build *b)
{
	struct vprof_annotated_tree *t = b->out;
	size_t n = 0, from = 0;

	for (int w = 0; w < b->n_workers; w++)
		for (size_t node = 0; node < b->n_nodes; node++)
			n += b->workers[w].n_kept[node];
	if (VPROF_RESERVE(&t->kept, n + 1))
		return VPROF_ERR_NOMEM;
	for (int w = 0; w < b->n_workers; w++)
		for (size_t node = 0; node < b->n_nodes; node++) {
			memcpy(t->kept.v + t->kept.n, b->workers[w].kept + node * b->n_kept,
			       b->workers[w].n_kept[node] * sizeof *t->kept.v);
			t->kept.n += b->workers[w].n_kept[node];
		}
	if (vprof_array_sort(t->kept.v, t->kept.n, sizeof *t->kept.v, compare_instances))
		return VPROF_ERR_NOMEM;
	n = 0;
	for (size_t node = 0; node < b->n_nodes; node++) {
		size_t first = from;

		t->first_kept[node] = n;
		for (; from < t->kept.n && t->kept.v[from].node == node; from++)
			if (from - first < b->n_kept)
				t->kept.v[n++] = t->kept.v[from];
	}
	t->first_kept[b->n_nodes] = t->kept.n = n;
	return VPROF_OK;
}

static int is_other_call(const struct vprof_latency_function *f)
{
	return f->layer == VPROF_LATENCY_KERNEL && !strncmp(f->name, "sys_", 4) && strcmp(f->name, "sys_futex") != 0;
}

/* What a thread calls again and again only to wait for a condition variable, without any other system call, takes work
 * off a queue. What sleeps there is idle, however much there is to do. */
static int find_pools(const struct build *b)
{
	struct vprof_annotated_tree *t = b->out;
	size_t n = t->tree.nodes.n;
	uint32_t *repeated = calloc(n, sizeof *repeated); /* the outermost one of such around each node */
	unsigned char *is_in_wait = calloc(n, 1), *is_busy = calloc(n, 1);
	uint64_t *slept_ns = calloc(n, sizeof *slept_ns);
	int is_there = repeated && is_in_wait && is_busy && slept_ns;

	for (uint32_t i = 1; i < n && is_there; i++) {
		const struct vprof_latency_function *f = vprof_annotated_function(t, i);
		uint32_t parent = t->tree.nodes.v[i].parent;
		const struct vprof_latency_context *c = &t->contexts[i];

		repeated[i] = repeated[parent]				   ? repeated[parent] :
			      c->n_begun > t->contexts[parent].n_begun + 1 ? i :
									     0;
		is_in_wait[i] = is_in_wait[parent] || f->is_idle == VPROF_LATENCY_IDLE_CONDITION;
		is_busy[repeated[i]] |= (unsigned char)is_other_call(f);
		slept_ns[repeated[i]] += is_in_wait[i] ? c->own_sleep_ns : 0;
	}
	for (uint32_t i = 1; i < n && is_there; i++) {
		uint32_t r = repeated[i];

		if (r && is_in_wait[i] && !is_busy[r] &&
		    (double)slept_ns[r] >= IDLE_MIN * (double)t->contexts[r].low_ns)
			t->contexts[i].own_idle_ns = t->contexts[i].own_sleep_ns;
	}
	free(repeated);
	free(is_in_wait);
	free(is_busy);
	free(slept_ns);
	return is_there ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* What sleeps in a function that waits for work, or beneath one, is idle. */
static void add_idle(const struct build *b)
{
	struct vprof_annotated_tree *t = b->out;

	for (uint32_t i = 1; i < t->tree.nodes.n; i++) {
		if (b->is_idle[i])
			t->contexts[i].own_idle_ns = t->contexts[i].own_off_ns + t->contexts[i].own_unpaired_ns;
		t->idle_ns += t->contexts[i].own_idle_ns;
	}
}

/* The C library in poll for a function of its own: the wrapper's caller is of its file, too. */
static int is_for_itself(const struct vprof_annotated_tree *t, uint32_t poll)
{
	uint32_t wrapper = t->tree.nodes.v[poll].parent, caller = wrapper ? t->tree.nodes.v[wrapper].parent : 0;
	const struct vprof_latency_function *f, *g;

	if (!caller)
		return 0;
	f = vprof_annotated_function(t, wrapper);
	g = vprof_annotated_function(t, caller);
	return f->layer == VPROF_LATENCY_LIBRARY && g->layer == VPROF_LATENCY_LIBRARY && !strcmp(f->file, g->file);
}

static int waits_for_work(const struct vprof_annotated_tree *t, uint32_t node)
{
	uint8_t is_idle = vprof_annotated_function(t, node)->is_idle;

	return is_idle == VPROF_LATENCY_IDLE_POLL ? !is_for_itself(t, node) : is_idle == 1;
}

/* Own time as it likely was, of all workers' pools. */
static int share_pools(struct build *b)
{
	struct vprof_annotated_tree *t = b->out;
	const struct vprof_likely_time **parts = malloc(((size_t)b->n_workers + 1) * sizeof *parts);
	double *likely_ns = calloc(b->n_nodes, sizeof *likely_ns);
	int ret = parts && likely_ns ? VPROF_OK : VPROF_ERR_NOMEM;

	for (int w = 0; w < b->n_workers && !ret; w++) {
		parts[w] = &b->workers[w].likely;
		for (size_t node = 0; node < b->n_nodes; node++)
			likely_ns[node] += (double)b->workers[w].direct_ns[node];
	}
	if (!ret && b->n_workers)
		ret = vprof_likely_time_share(parts, b->n_workers, likely_ns, t->own_blocks, VPROF_LATENCY_BLOCKS);
	for (size_t node = 0; node < b->n_nodes && !ret; node++)
		t->contexts[node].likely_ns = likely_ns[node];
	free(parts);
	free(likely_ns);
	return ret;
}

static int find_idle(struct build *b)
{
	const struct vprof_annotated_tree *t = b->out;

	b->is_idle = calloc(t->tree.nodes.n, 1);
	for (uint32_t i = 1; b->is_idle && i < t->tree.nodes.n; i++)
		b->is_idle[i] = (unsigned char)(b->is_idle[t->tree.nodes.v[i].parent] || waits_for_work(t, i));
	return b->is_idle ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int join(struct build *b)
{
	struct vprof_annotated_tree *t = b->out;

	for (int w = 0; w < b->n_workers; w++) {
		const struct worker *from = &b->workers[w];

		for (size_t node = 0; node < b->n_nodes; node++)
			add_contexts(&t->contexts[node], &from->contexts[node]);
		for (size_t i = 0; i < b->n_nodes * VPROF_LATENCY_BLOCKS; i++) {
			t->own_blocks[i] += (double)from->own_blocks[i];
			t->sleep_blocks[i] += from->sleep_blocks[i];
			t->begun_blocks[i] += from->begun_blocks[i];
		}
		for (size_t i = 0; i < from->gaps.v.n; i++)
			spread_gap(t, &from->gaps.v.v[i]);
		if (VPROF_ROOM(&t->gaps, t->gaps.n + from->gaps.v.n))
			return VPROF_ERR_NOMEM;
		if (from->gaps.v.n)
			memcpy(t->gaps.v + t->gaps.n, from->gaps.v.v, from->gaps.v.n * sizeof *t->gaps.v);
		t->gaps.n += from->gaps.v.n;
		t->n_instances += from->n_instances;
	}
	if (find_pools(b) || share_pools(b))
		return VPROF_ERR_NOMEM;
	add_idle(b);
	return join_kept(b);
}

static int prepare(struct build *b)
{
	for (int i = 0; i < b->n_workers; i++) {
		struct worker *w = &b->workers[i];

		w->build = b;
		w->contexts = calloc(b->n_nodes, sizeof *w->contexts);
		w->own_blocks = calloc(b->n_nodes * VPROF_LATENCY_BLOCKS, sizeof *w->own_blocks);
		w->begun_blocks = calloc(b->n_nodes * VPROF_LATENCY_BLOCKS, sizeof *w->begun_blocks);
		w->kept = calloc(b->n_nodes * b->n_kept, sizeof *w->kept);
		w->n_kept = calloc(b->n_nodes, sizeof *w->n_kept);
		w->sleep_blocks = calloc(b->n_nodes * VPROF_LATENCY_BLOCKS, sizeof *w->sleep_blocks);
		w->slept_ns = calloc(b->n_nodes, sizeof *w->slept_ns);
		w->direct_ns = calloc(b->n_nodes, sizeof *w->direct_ns);
		w->likely = (struct vprof_likely_time){ .history = b->history,
							.tree = &b->out->tree,
							.nodes = b->out->nodes,
							.block_length = b->out->observed_ns / b->out->n_blocks + 1,
							.n_blocks = b->out->n_blocks };
		if (!w->contexts || !w->own_blocks || !w->begun_blocks || !w->kept || !w->n_kept || !w->slept_ns ||
		    !w->sleep_blocks || !w->direct_ns || vprof_likely_time_begin(&w->likely))
			return VPROF_ERR_NOMEM;
		w->inference = (struct vprof_latency_inference){ .history = b->history,
								 .tree = &b->out->tree,
								 .nodes = b->out->nodes,
								 .paths = b->out->paths,
								 .gaps = &w->gaps,
								 .instance = add_instance,
								 .gap = add_own,
								 .arg = w };
	}
	return VPROF_OK;
}

static void release_workers(struct build *b)
{
	for (int i = 0; b->workers && i < b->n_workers; i++) {
		vprof_latency_gaps_release(&b->workers[i].gaps);
		free(b->workers[i].contexts);
		free(b->workers[i].own_blocks);
		free(b->workers[i].begun_blocks);
		free(b->workers[i].kept);
		free(b->workers[i].n_kept);
		free(b->workers[i].slept_ns);
		free(b->workers[i].direct_ns);
		vprof_likely_time_release(&b->workers[i].likely);
		free(b->workers[i].sleep_blocks);
		VPROF_ARRAY_RELEASE(&b->workers[i].slept);
	}
	free(b->workers);
	free(b->groups);
	free(b->is_idle);
}

/* Threads that were seen with breaks are one. */
static int find_groups(struct build *b)
{
	b->groups = malloc((b->history->threads.n + 1) * sizeof *b->groups);
	for (size_t i = 0; b->groups && i < b->history->threads.n; i++)
		if (!i || !b->history->threads.v[i].is_continued)
			b->groups[b->n_groups++] = (uint32_t)i;
	return b->groups ? VPROF_OK : VPROF_ERR_NOMEM;
}

static uint32_t count_blocks(size_t n_windows)
{
	if (n_windows < 2 || n_windows >= (size_t)2 * VPROF_LATENCY_BLOCKS)
		return VPROF_LATENCY_BLOCKS;
	return n_windows < 4 ? 2 : (uint32_t)n_windows / 2;
}

int vprof_annotated_tree_build(struct vprof_annotated_tree *out, const struct vprof_latency_history *h, int n_threads,
			       struct vprof_error *err)
{
	struct build b = { .out = out, .history = h, .n_workers = vprof_parallel_count(n_threads) };
	int ret = VPROF_ERR_NOMEM;

	*out = (struct vprof_annotated_tree){ .history = h,
					      .n_blocks = count_blocks(h->windows.n),
					      .observed_ns = vprof_latency_observed(h, h->end) };
	if ((size_t)b.n_workers > h->threads.n)
		b.n_workers = h->threads.n ? (int)h->threads.n : 1;
	out->nodes = malloc((h->frames.n + 1) * sizeof *out->nodes);
	out->paths = malloc((h->stacks.n + 1) * sizeof *out->paths);
	if (out->nodes && out->paths)
		ret = vprof_context_tree_build(&out->tree, h, out->nodes, out->paths);
	b.n_nodes = out->tree.nodes.n;
	if (!ret) {
		out->contexts = calloc(b.n_nodes, sizeof *out->contexts);
		out->own_blocks = calloc(b.n_nodes * VPROF_LATENCY_BLOCKS, sizeof *out->own_blocks);
		out->sleep_blocks = calloc(b.n_nodes * VPROF_LATENCY_BLOCKS, sizeof *out->sleep_blocks);
		out->begun_blocks = calloc(b.n_nodes * VPROF_LATENCY_BLOCKS, sizeof *out->begun_blocks);
		out->first_kept = calloc(b.n_nodes + 1, sizeof *out->first_kept);
		b.workers = calloc((size_t)b.n_workers, sizeof *b.workers);
		b.n_kept = KEPT_MEMORY / b.n_nodes < VPROF_LATENCY_KEPT ? (uint32_t)(KEPT_MEMORY / b.n_nodes) + 1 :
									  VPROF_LATENCY_KEPT;
		ret = out->contexts && out->own_blocks && out->sleep_blocks && out->begun_blocks && out->first_kept &&
				      b.workers && !find_idle(&b) ?
			      prepare(&b) :
			      VPROF_ERR_NOMEM;
	}
	if (!ret)
		ret = find_groups(&b);
	if (!ret)
		ret = vprof_parallel_run(b.n_workers, b.n_groups, infer_thread, &b);
	if (!ret)
		ret = join(&b);
	release_workers(&b);
	return ret ? vprof_error_set(err, ret,
				     "not enough memory for the functions of %zu events: record a shorter run",
				     h->events.n) :
		     VPROF_OK;
}

void vprof_annotated_tree_release(struct vprof_annotated_tree *t)
{
	vprof_context_tree_release(&t->tree);
	VPROF_ARRAY_RELEASE(&t->gaps);
	VPROF_ARRAY_RELEASE(&t->kept);
	free(t->nodes);
	free(t->paths);
	free(t->contexts);
	free(t->own_blocks);
	free(t->sleep_blocks);
	free(t->begun_blocks);
	free(t->first_kept);
	*t = (struct vprof_annotated_tree){ 0 };
}

const struct vprof_latency_function *vprof_annotated_function(const struct vprof_annotated_tree *t, uint32_t node)
{
	uint32_t function = t->tree.nodes.v[node].function;

	return function == VPROF_NONE ? NULL : &t->history->functions.v[function];
}

uint64_t vprof_annotated_calls(const struct vprof_annotated_tree *t, const char *name, double *blocks)
{
	uint64_t n = 0;

	for (uint32_t b = 0; blocks && b < t->n_blocks; b++)
		blocks[b] = 0;
	for (uint32_t i = 1; i < t->tree.nodes.n; i++) {
		uint32_t node = t->tree.nodes.v[i].parent;

		if (strcmp(vprof_annotated_function(t, i)->name, name))
			continue;
		while (node && strcmp(vprof_annotated_function(t, node)->name, name))
			node = t->tree.nodes.v[node].parent;
		if (node)
			continue;
		n += t->history->windows.n ? t->contexts[i].n_begun : t->contexts[i].n;
		for (uint32_t b = 0; blocks && b < t->n_blocks; b++)
			blocks[b] += t->begun_blocks[(size_t)i * VPROF_LATENCY_BLOCKS + b];
	}
	return n;
}
