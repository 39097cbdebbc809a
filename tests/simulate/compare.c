/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analyze.h"
#include "analysis/paths/critical_path.h"
#include "analysis/variance/tree_part.h"
#include "analysis/variance/variance_tree.h"
#include "analysis/timeline/edges/wakes.h"
#include "tests/simulate/figures.h"
#include "tests/simulate/known.h"
#include "tests/simulate/schedule/hot.h"
#include "tests/simulate/offsets.h"
#include "tests/simulate/schedule/programs.h"

#define PART_CALLS_BYTES ((size_t)1 << 20)
#define TOLD_MAX 3 /* differences printed per schedule, unless --verbose */

struct comparison {
	struct world *const *worlds; /* [n_worlds] whose traces are analysed together */
	size_t n_worlds;
	struct world *w; /* of the current trace */
	const struct vprof_plan *plan;
	struct vprof_trace *trace;
	struct vprof_timeline *timeline;
	struct vprof_intervals *intervals;
	struct vprof_edges *edges;
	struct vprof_path *path;
	struct vprof_tree *tree;
	struct vprof_tree_source source; /* of part, which takes one interval after the other */
	struct vprof_tree_part *part;
	struct truth truth;
	const struct sim_instance *instance;
	unsigned n_differences;
	uint64_t (*states)[TRUTH_STATES]; /* [n_states] of the tree's nodes, before the last interval */
	size_t n_states, cap_states;
	struct sampling_check *sampling;
};

/* False: not printed, since there were enough. */
static bool __attribute__((format(printf, 2, 3))) differ(struct comparison *c, const char *format, ...)
{
	va_list args;

	c->n_differences++;
	if (c->n_differences > TOLD_MAX && !c->w->is_verbose)
		return false;
	fprintf(stderr, "seed %" PRIu64 ": ", c->w->seed);
	if (c->instance)
		fprintf(stderr, "interval %" PRIu64 " begun at %" PRIu64 ": ", c->instance->id, c->instance->begin);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return true;
}

static bool say(void *arg, const char *format, ...)
{
	struct comparison *c = arg;
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return differ(c, "%s", text);
}

/* Either account of a path as a list: depth first, by time; equal neighbours are merged. */
struct row {
	uint64_t from, to, wait_t0, wait_t1;
	uint32_t thread, depth;
	int kind;
};

struct rows {
	struct row *v;
	size_t n, cap;
};

static const char *const kind_names[] = { "runs", "waits", "queued" };

static bool same(const struct row *a, const struct row *b)
{
	return a->from == b->from && a->to == b->to && a->wait_t0 == b->wait_t0 && a->wait_t1 == b->wait_t1 &&
	       a->thread == b->thread && a->depth == b->depth && a->kind == b->kind;
}

/* of either account */
struct piece {
	struct row row;
	size_t parent, index; /* parent: index + 1 */
};

static int piece_order(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->row.from < y->row.from ? -1 : x->row.from > y->row.from;
}

static void flatten(struct rows *rows, const struct piece *pieces, size_t n, size_t parent)
{
	size_t low = 0, high = n, last = SIZE_MAX;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pieces[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && pieces[low].parent == parent; low++) {
		const struct row *r = &pieces[low].row;

		if (last != SIZE_MAX && r->kind == TRUTH_RUN && rows->v[last].kind == TRUTH_RUN &&
		    rows->v[last].thread == r->thread && rows->v[last].to == r->from) {
			rows->v[last].to = r->to;
			continue;
		}
		rows->v = sim_grow(rows->v, rows->n, &rows->cap, sizeof *rows->v);
		last = rows->n;
		rows->v[rows->n++] = *r;
		flatten(rows, pieces, n, pieces[low].index + 1);
		if (rows->n > last + 1)
			last = SIZE_MAX;
	}
}

static struct rows rows_of(struct piece *pieces, size_t n)
{
	struct rows rows = { 0 };

	qsort(pieces, n, sizeof *pieces, piece_order);
	flatten(&rows, pieces, n, 0);
	free(pieces);
	return rows;
}

static struct rows true_rows(const struct truth *t)
{
	struct piece *pieces = calloc(t->n_pieces + 1, sizeof *pieces);

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct truth_piece *p = &t->pieces[i];

		pieces[i] = (struct piece){ { p->from, p->to, p->wait ? p->wait->t0 : 0, p->wait ? p->wait->t1 : 0,
					      p->th->seq, p->depth, (int)p->kind },
					    p->parent,
					    i };
	}
	return rows_of(pieces, t->n_pieces);
}

static struct rows found_rows(const struct vprof_timeline *timeline, const struct vprof_piece *found, size_t n)
{
	struct piece *pieces = calloc(n + 1, sizeof *pieces);

	for (size_t i = 0; i < n; i++) {
		const struct vprof_piece *p = &found[i];
		const struct vprof_thread_timeline *line = &timeline->threads[p->thread];
		const struct vprof_wait *w = p->kind == VPROF_PIECE_WAIT ? &line->waits.v[p->wait] : NULL;
		int kind = p->kind == VPROF_PIECE_RUN  ? TRUTH_RUN :
			   p->kind == VPROF_PIECE_WAIT ? TRUTH_WAIT :
							 TRUTH_QUEUED;

		pieces[i] = (struct piece){ { p->from, p->to, w ? w->t0 : 0, w ? w->t1 : 0, line->thread_seq, p->depth,
					      kind },
					    p->parent == VPROF_NONE ? 0 : p->parent + 1,
					    i };
	}
	return rows_of(pieces, n);
}

static void print_row(const char *who, const struct row *r)
{
	fprintf(stderr, "  %s %*s%" PRIu64 "..%" PRIu64 " thread %u %s", who, (int)(2 * r->depth), "", r->from, r->to,
		r->thread, kind_names[r->kind]);
	if (r->kind == TRUTH_WAIT)
		fprintf(stderr, " (%" PRIu64 "..%" PRIu64 ")", r->wait_t0, r->wait_t1);
	fputc('\n', stderr);
}

static void compare_rows(struct comparison *c, const struct rows *is, const struct rows *found)
{
	size_t i = 0;

	while (i < is->n && i < found->n && same(&is->v[i], &found->v[i]))
		i++;
	if (i == is->n && i == found->n)
		return;
	if (!differ(c, "the path differs at piece %zu of %zu (analysis: %zu)", i, is->n, found->n))
		return;
	for (size_t k = c->w->is_verbose || i < 3 ? 0 : i - 3; k < is->n && (c->w->is_verbose || k < i + 3); k++)
		print_row(k == i ? "truth   >" : "truth    ", &is->v[k]);
	for (size_t k = c->w->is_verbose || i < 3 ? 0 : i - 3; k < found->n && (c->w->is_verbose || k < i + 3); k++)
		print_row(k == i ? "analysis>" : "analysis ", &found->v[k]);
}

/* Every tick of the interval is covered once. */
static void check_tiles(struct comparison *c, const struct rows *found)
{
	uint64_t t = c->instance->begin;

	for (size_t i = 0; i < found->n; i++) {
		if (found->v[i].depth)
			continue;
		if (found->v[i].from != t)
			differ(c, "pieces leave out or repeat %" PRIu64 "..%" PRIu64, t, found->v[i].from);
		t = found->v[i].to;
	}
	if (t != c->instance->end)
		differ(c, "pieces end at %" PRIu64, t);
}

static bool node_is(const struct comparison *c, const struct vprof_tree_node *n, const struct truth_node *is)
{
	if (n->level != is->level)
		return false;
	switch (n->kind) {
	case VPROF_NODE_WAIT:
		return is->class == TRUTH_BLOCKED && !strcmp(is->name, c->timeline->names[n->key]);
	case VPROF_NODE_QUEUED:
		return is->class == TRUTH_DELAY;
	case VPROF_NODE_PREEMPTED:
		return is->class == TRUTH_PREEMPTED;
	default:
		return is->class == TRUTH_FRAME && n->key == is->code;
	}
}

static void print_path(const struct comparison *c, size_t node)
{
	const struct truth_node *n = &c->truth.nodes[node];

	if (!node)
		return;
	print_path(c, n->parent);
	if (n->class == TRUTH_FRAME)
		fprintf(stderr, "/%s%u", n->code >= VP_CODE_SITE ? "site" : "f", n->code & 0xff);
	else
		fprintf(stderr, "/%s",
			n->class == TRUTH_BLOCKED ? n->name :
			n->class == TRUTH_DELAY	  ? "queued" :
						    "preempted");
	fprintf(stderr, ":%u", n->level);
}

static void print_node(const struct comparison *c, size_t node)
{
	fputs("  ", stderr);
	print_path(c, node);
	fputc('\n', stderr);
}

static void print_found(const struct comparison *c, uint32_t node)
{
	const struct vprof_tree_node *n = &c->part->nodes.v[node];

	if (!node) {
		fputs("  ", stderr);
		return;
	}
	print_found(c, n->parent);
	if (n->kind == VPROF_NODE_WAIT)
		fprintf(stderr, "/%s:%u", c->timeline->names[n->key], n->level);
	else if (n->kind == VPROF_NODE_QUEUED || n->kind == VPROF_NODE_PREEMPTED)
		fprintf(stderr, "/%s:%u", n->kind == VPROF_NODE_QUEUED ? "queued" : "preempted", n->level);
	else
		fprintf(stderr, "/%s%u:%u", n->key >= VP_CODE_SITE ? "site" : "f", n->key & 0xff, n->level);
}

/* How the last interval's waits at one node were spent. Where switches were lost, saying nothing is right and saying
 * something wrong is not. */
static void compare_states(struct comparison *c, uint32_t node, size_t at)
{
	static const uint64_t none[TRUTH_STATES];
	const struct vprof_tree_node *n = &c->part->nodes.v[node];
	const struct truth_node *is = &c->truth.nodes[at];
	const uint64_t *before = node < c->n_states ? c->states[node] : none;
	uint64_t off = n->blocked_ticks - before[TRUTH_SUSPENDED], kernel = n->kernel_ticks - before[TRUTH_KERNEL];
	uint64_t either = n->io_ticks - before[TRUTH_EITHER];
	bool is_right = off == is->state[TRUTH_SUSPENDED] && kernel == is->state[TRUTH_KERNEL] &&
			either == is->state[TRUTH_EITHER];

	if (c->w->n_switch_gaps)
		is_right = off <= is->state[TRUTH_SUSPENDED] + is->spun && kernel <= is->state[TRUTH_KERNEL] &&
			   off + kernel + either ==
				   is->state[TRUTH_SUSPENDED] + is->state[TRUTH_KERNEL] + is->state[TRUTH_EITHER];
	if (!is_right &&
	    differ(c,
		   "blocked %" PRIu64 ", in the kernel %" PRIu64 ", either %" PRIu64 "; the analysis says %" PRIu64
		   ", %" PRIu64 ", %" PRIu64 ", of the node",
		   is->state[TRUTH_SUSPENDED], is->state[TRUTH_KERNEL], is->state[TRUTH_EITHER], off, kernel, either))
		print_node(c, at);
}

static void remember_states(struct comparison *c)
{
	const struct vprof_tree_part *tree = c->part;

	for (size_t i = 0; i < tree->nodes.n; i++) {
		const struct vprof_tree_node *n = &tree->nodes.v[i];

		if (i == c->n_states) {
			c->states = sim_grow(c->states, c->n_states, &c->cap_states, sizeof *c->states);
			c->n_states++;
		}
		c->states[i][TRUTH_SUSPENDED] = n->blocked_ticks;
		c->states[i][TRUTH_KERNEL] = n->kernel_ticks;
		c->states[i][TRUTH_EITHER] = n->io_ticks;
	}
}

/* The last interval of the tree, node by node. */
static void compare_nodes(struct comparison *c)
{
	const struct vprof_tree_part *tree = c->part;
	struct truth *t = &c->truth;
	size_t *as = calloc(tree->nodes.n, sizeof *as); /* truth node + 1 */
	int64_t *sums = calloc(t->n_nodes, sizeof *sums);

	for (size_t i = t->n_nodes; i-- > 0;) {
		sums[i] += t->nodes[i].ticks;
		if (i)
			sums[t->nodes[i].parent] += sums[i];
	}
	for (uint64_t e = tree->first.v[tree->first.n - 2]; e < tree->first.v[tree->first.n - 1]; e++) {
		uint32_t node = tree->entry_node.v[e];
		const struct vprof_tree_node *n = &tree->nodes.v[node];
		size_t is = 0;

		if (!node) {
			as[0] = 1;
		} else if (as[n->parent]) {
			for (is = as[n->parent]; is < t->n_nodes; is++)
				if (t->nodes[is].parent == as[n->parent] - 1 && node_is(c, n, &t->nodes[is]))
					break;
			as[node] = is < t->n_nodes ? is + 1 : 0;
		}
		if (!as[node]) {
			if (tree->entry_ticks.v[e] &&
			    differ(c, "%" PRIu64 " ticks, the truth does not have the node", tree->entry_ticks.v[e])) {
				print_found(c, node);
				fputc('\n', stderr);
			}
			continue;
		}
		compare_states(c, node, is);
		if (tree->entry_ticks.v[e] != (uint64_t)sums[is]) {
			if (differ(c, "%" PRId64 " ticks, the analysis says %" PRIu64 ", of the node", sums[is],
				   tree->entry_ticks.v[e]))
				print_node(c, is);
		}
		sums[is] = 0;
	}
	for (size_t i = 0; i < t->n_nodes; i++) {
		if (sums[i] && differ(c, "%" PRId64 " ticks, the analysis does not have the node", sums[i]))
			print_node(c, i);
	}
	free(as);
	free(sums);
}

static void compare_wait(struct comparison *c, const struct sim_thread *th, const struct sim_wait *is,
			 const struct vprof_wait *found)
{
	uint64_t t;
	const struct sim_thread *waker = truth_waker(th, is, &t);
	uint32_t seq = found->waker == VPROF_NONE ? 0 : c->timeline->threads[found->waker].thread_seq;

	if (truth_wait_lossy(th, is)) { /* no waker is right, a wrong one is not */
		COVER(c->w, LOSSY_WAITS);
		if (!seq || found->wake_t == found->t0 || (waker && waker->seq == seq && is->kind == VP_WAIT_ANNOTATED))
			return; /* an annotated lock may get its waker from the wait inside, at a slightly different
				   time */
		COVER(c->w, LOSSY_WAKERS);
	} else if (truth_wait_unknowable(th, is)) {
		COVER(c->w, UNKNOWABLE_WAITS);
		return;
	}
	COVER(c->w, WAITS);
	if (found->t0 != is->t0 || found->t1 != is->t1)
		differ(c, "thread %u waited %" PRIu64 "..%" PRIu64 ", in the analysis %" PRIu64 "..%" PRIu64, th->seq,
		       is->t0, is->t1, found->t0, found->t1);
	else if (waker && waker->seq == seq && (found->wake_t == t || t == is->t0))
		COVER(c->w, WAKERS);
	/* a wait that was over when it began tells nothing */
	else if (waker ? t > is->t0 || seq : seq && found->wake_t > found->t0)
		differ(c,
		       "thread %u waited %" PRIu64 "..%" PRIu64 " (%s) for thread %u until %" PRIu64
		       ", in the analysis for %u"
		       " until %" PRIu64,
		       th->seq, is->t0, is->t1, is->name, waker ? waker->seq : 0, t, seq, seq ? found->wake_t : 0);
}

/* Every wait of every thread, within an interval or not. */
static void compare_waits(struct comparison *c)
{
	for (size_t i = 0; i < c->timeline->n_threads; i++) {
		const struct vprof_thread_timeline *line = &c->timeline->threads[i];
		const struct sim_thread *th = c->w->threads[line->thread_seq - 1];
		size_t n = 0;

		for (size_t k = 0; k < th->n_waits; k++) {
			if (!truth_wait_counts(th, &th->waits[k]) || th->waits[k].t0 == th->waits[k].t1)
				continue;
			while (n < line->waits.n && line->waits.v[n].t0 == line->waits.v[n].t1)
				n++;
			if (n < line->waits.n)
				compare_wait(c, th, &th->waits[k], &line->waits.v[n]);
			n++;
		}
		while (n < line->waits.n && line->waits.v[n].t0 == line->waits.v[n].t1)
			n++;
		if (n != line->waits.n)
			differ(c, "thread %u waited %zu times, %zu in the analysis", th->seq, n, line->waits.n);
	}
}

static const struct sim_instance *find_instance(const struct world *w, const struct vprof_instance *found)
{
	for (const struct sim_instance *i = w->instances; i; i = i->older)
		if (i->id == found->id && i->name == found->name && i->begin == found->begin && !i->is_before_trace)
			return i;
	return NULL;
}

static int compare_instance(struct comparison *c, uint32_t index)
{
	const struct vprof_instance *found = &c->intervals->instances.v[index];
	const struct vprof_piece *pieces;
	struct rows is, rows;
	enum truth_loss loss;
	size_t n;

	c->instance = find_instance(c->w, found);
	if (!c->instance) {
		differ(c, "the analysis found an interval %" PRIu64 " begun at %" PRIu64, found->id, found->begin);
		return 0;
	}
	loss = truth_loss(c->w, c->instance);
	if (loss != TRUTH_NO_LOSS) {
		if (found->state == VPROF_INSTANCE_COMPLETE && found->is_lossy)
			COVER(c->w, LOSSY);
		if (found->state == VPROF_INSTANCE_COMPLETE && loss == TRUTH_LOSSY && !found->is_lossy)
			differ(c, "it is not left out, though records are missing");
		return 0;
	}
	if (found->is_lossy)
		differ(c, "it is left out, though no record is missing");
	if ((found->state == VPROF_INSTANCE_COMPLETE) != c->instance->is_complete ||
	    (found->state == VPROF_INSTANCE_RESTARTED) != c->instance->is_restarted)
		differ(c, "its state is %u in the analysis", found->state);
	if (!c->instance->is_complete || found->state != VPROF_INSTANCE_COMPLETE) {
		if (!c->instance->is_restarted)
			COVER(c->w, CUT_END);
		return 0;
	}
	if (found->end != c->instance->end)
		differ(c, "it ended at %" PRIu64 ", not at %" PRIu64, c->instance->end, found->end);
	if (vprof_path_walk(c->path, index, &pieces, &n) || vprof_tree_part_add(c->part, pieces, n))
		return -1;
	truth_find(&c->truth, c->w, c->instance);
	is = true_rows(&c->truth);
	rows = found_rows(c->timeline, pieces, n);
	check_tiles(c, &rows);
	if (c->truth.is_unknowable) {
		COVER(c->w, UNKNOWABLE);
	} else {
		COVER(c->w, INTERVALS);
		compare_rows(c, &is, &rows);
		compare_nodes(c);
	}
	sampling_add(c->sampling, &c->truth);
	remember_states(c);
	free(is.v);
	free(rows.v);
	return 0;
}

static void check_sum(struct comparison *c, const char *what, double sum, double is, double scale)
{
	if (!(fabs(sum - is) <= 1e-9 * (scale + fabs(is))))
		differ(c, "%s sum to %.17g, not %.17g", what, sum, is);
}

/* Sampling seems to explain more than all of its variance: it was raised to 0, and its siblings' sum with it. */
static bool is_raised(const struct vprof_node *n)
{
	return n->noise_ns2 > 0 && n->var_ns2 == 0;
}

/* Means, variances and shares of children sum to their parents'. */
static void check_results(struct comparison *c, const struct vprof_results *r)
{
	double *mean = calloc(r->n_nodes + 1, sizeof *mean), *var = calloc(r->n_nodes + 1, sizeof *var);
	double *scale = calloc(r->n_nodes + 1, sizeof *scale), share = 0;

	for (size_t i = 1; i < r->n_nodes; i++) {
		mean[r->nodes[i].parent] += r->nodes[i].mean_ns;
		var[r->nodes[i].parent] += r->nodes[i].var_ns2;
		scale[r->nodes[i].parent] += r->nodes[i].var_ns2;
		if (is_raised(&r->nodes[i]) || is_raised(&r->nodes[r->nodes[i].parent]))
			scale[r->nodes[i].parent] = INFINITY;
		if (!r->nodes[i].parent)
			share += r->nodes[i].share;
	}
	for (size_t i = 0; i < r->n_covariances; i++) {
		const struct vprof_covariance *v = &r->covariances[i];

		var[r->nodes[v->a].parent] += 2 * v->cov_ns2;
		scale[r->nodes[v->a].parent] += 2 * fabs(v->cov_ns2);
		if (!r->nodes[v->a].parent)
			share += v->share;
	}
	for (size_t i = 0; i < r->n_nodes; i++) {
		if (!r->nodes[i].n_children)
			continue;
		check_sum(c, "means of a node's children", mean[i], r->nodes[i].mean_ns, 0);
		check_sum(c, "variances of a node's children", var[i], r->nodes[i].var_ns2, scale[i]);
	}
	if (r->n_nodes && r->nodes[0].n_children && r->nodes[0].var_ns2 > 0)
		check_sum(c, "contributions", share, 1, scale[0] / r->nodes[0].var_ns2);
	free(mean);
	free(var);
	free(scale);
}

struct counts {
	uint64_t n_complete, n_cut, n_restarted, n_lossy, n_untold, n_outside;
	long double outside_ns;
};

static void count_world(struct counts *n, const struct world *w)
{
	for (const struct sim_instance *i = w->instances; i; i = i->older) {
		if (i->name != records_hash("request"))
			continue;
		if (i->is_before_trace) {
			/* Only its END is recorded; reused ids hide it. */
			if (i->is_complete && i->end >= w->record_from)
				COVER(w, CUT_BEGIN);
			continue;
		}
		n->n_lossy += i->is_complete && windows_contain(w, i->begin) && truth_loss(w, i) == TRUTH_LOSSY;
		n->n_untold += i->is_complete && windows_contain(w, i->begin) && truth_loss(w, i) == TRUTH_LOSS_UNTOLD;
		if (i->is_complete && !windows_contain(w, i->begin)) {
			n->n_outside++;
			n->outside_ns += (long double)(i->end - i->begin) * w->ns_per_tick;
			COVER(w, WINDOW_OUTSIDE);
		} else {
			n->n_complete += i->is_complete;
		}
		n->n_restarted += i->is_restarted;
		n->n_cut += !i->is_complete && !i->is_restarted;
	}
}

static void compare_counts(struct comparison *c, const struct vprof_results *r)
{
	struct counts n = { 0 };
	bool has_gaps = false;

	for (size_t i = 0; i < c->n_worlds; i++) {
		count_world(&n, c->worlds[i]);
		has_gaps |= c->worlds[i]->n_gaps > 0;
	}
	if (!has_gaps && r->n_outside != n.n_outside)
		differ(c, "%" PRIu64 " intervals began outside of windows, %" PRIu64 " in the analysis", n.n_outside,
		       r->n_outside);
	else if (!has_gaps && n.n_outside &&
		 fabsl(n.outside_ns / n.n_outside - r->outside_mean_ns) > FIGURES_ROUNDING * n.outside_ns)
		differ(c, "their mean latency is %.17Lg, %.17g in the analysis", n.outside_ns / n.n_outside,
		       r->outside_mean_ns);
	if (has_gaps) { /* each was compared above; those that lack records and do not tell may be left out or not */
		n.n_complete -= n.n_lossy;
		if (r->n_complete <= n.n_complete && r->n_complete + n.n_untold >= n.n_complete)
			n.n_complete = r->n_complete;
		n.n_restarted = r->n_restarted;
		n.n_cut = 0;
	}
	if (r->n_complete != n.n_complete || r->n_restarted != n.n_restarted || r->n_cut < n.n_cut)
		differ(c,
		       "%" PRIu64 " complete, %" PRIu64 " restarted, %" PRIu64 " cut; the analysis says %" PRIu64
		       ", %" PRIu64 ", %" PRIu64,
		       n.n_complete, n.n_restarted, n.n_cut, r->n_complete, r->n_restarted, r->n_cut);
}

static int analyze(struct vprof_results **r, const struct comparison *c, const char *const *dirs,
		   struct vprof_error *err)
{
	const struct vprof_analyze_options o = { .trace_dir = dirs[0],
						 .trace_dirs = dirs,
						 .n_trace_dirs = c->n_worlds > 1 ? c->n_worlds : 0,
						 .plan = c->plan,
						 .interval = "request",
						 .min_intervals = 2 };

	return vprof_analyze(r, &o, err);
}

/* Of the intervals whose figures are known, and of no others. */
static void compare_figures(struct comparison *c, const struct vprof_results *r)
{
	struct figures *f = figures_new(c->plan, c->w->coverage);

	for (size_t i = 0; i < c->n_worlds; i++)
		known_add(f, c->worlds[i]);
	if (r->n_complete != figures_count(f))
		differ(c, "%zu intervals have figures that are known, the analysis has %" PRIu64, figures_count(f),
		       r->n_complete);
	else
		figures_compare(f, r, say, c);
	if (!figures_count(f))
		COVER(c->w, EMPTY);
	else if (c->n_worlds > 1)
		COVER(c->w, SEVERAL_TRACES);
	figures_free(f);
}

static int compare_results(struct comparison *c, const char *const *dirs, struct vprof_error *err)
{
	char known[SIM_TRACES][4300];
	const char *known_dirs[SIM_TRACES];
	struct vprof_results *r;
	bool has_apart = false;

	c->w = c->worlds[0];
	c->instance = NULL;
	for (size_t i = 0; i < c->n_worlds; i++) {
		snprintf(known[i], sizeof known[i], "%s/known", dirs[i]);
		known_dirs[i] = known[i];
		has_apart |= known_has_apart(c->worlds[i]);
	}
	if (analyze(&r, c, dirs, err))
		return -1;
	check_results(c, r);
	compare_counts(c, r);
	if (has_apart) {
		vprof_results_free(r);
		if (analyze(&r, c, known_dirs, err))
			return -1;
		check_results(c, r);
	}
	compare_figures(c, r);
	vprof_results_free(r);
	return 0;
}

static int open_part(struct comparison *c)
{
	c->source = (struct vprof_tree_source){ .timeline = c->timeline, .ratio = 1 };
	c->source.canonical = calloc(c->timeline->n_names + 1, sizeof *c->source.canonical);
	for (size_t i = 0; c->source.canonical && i < c->timeline->n_names; i++)
		c->source.canonical[i] = (uint32_t)i;
	c->part = c->source.canonical ? vprof_tree_part_new(c->tree, &c->source, PART_CALLS_BYTES) : NULL;
	return c->part ? 0 : -1;
}

static int compare_trace(struct comparison *c, const char *dir, struct vprof_error *err)
{
	struct vprof_wake_counts counts;
	char with_offsets[4300];
	int ret = 0;

	c->n_states = 0;
	if (vprof_trace_open(&c->trace, dir, err) || vprof_timeline_build(&c->timeline, c->trace, 1, NULL, NULL, err) ||
	    vprof_wakes_match(c->timeline, &counts, err) || vprof_intervals_build(&c->intervals, c->timeline, err) ||
	    vprof_edges_new(&c->edges, c->timeline, c->intervals, err) || vprof_path_new(&c->path, c->edges, err) ||
	    vprof_tree_new(&c->tree, c->timeline, c->plan, err) || open_part(c))
		ret = -1;
	if (!ret)
		compare_waits(c);
	for (size_t i = 0; !ret && i < c->intervals->instances.n; i++)
		ret = compare_instance(c, (uint32_t)i);
	c->instance = NULL;
	if (!ret && c->w->with_offsets) {
		snprintf(with_offsets, sizeof with_offsets, "%s/offsets", dir);
		ret = offsets_compare(c->w, with_offsets, c->timeline, c->intervals, c->path, say, c, err);
	}
	vprof_tree_part_free(c->part);
	free(c->source.canonical);
	vprof_tree_free(c->tree);
	vprof_path_free(c->path);
	vprof_edges_free(c->edges);
	vprof_intervals_free(c->intervals);
	vprof_timeline_free(c->timeline);
	vprof_trace_free(c->trace);
	c->part = NULL;
	c->source.canonical = NULL;
	c->tree = NULL;
	c->path = NULL;
	c->edges = NULL;
	c->intervals = NULL;
	c->timeline = NULL;
	c->trace = NULL;
	return ret;
}

unsigned compare_worlds(struct world *const *worlds, const char *const *dirs, size_t n, const struct vprof_plan *plan,
			struct sampling_check *sampling)
{
	struct comparison c = { .worlds = worlds, .n_worlds = n, .plan = plan, .sampling = sampling };
	struct vprof_error err = { "not enough memory" };
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		c.w = worlds[i];
		c.instance = NULL;
		ret = compare_trace(&c, dirs[i], &err);
	}
	if (ret || compare_results(&c, dirs, &err))
		differ(&c, "%s", err.message);
	truth_release(&c.truth);
	free(c.states);
	return c.n_differences;
}

struct vprof_plan *compare_plan(void)
{
	struct vprof_plan *plan = vprof_plan_new("/project");
	char name[32];

	plan->graph_height = SIM_FUNCTIONS;
	for (uint32_t i = 1; i <= SIM_FUNCTIONS; i++) {
		snprintf(name, sizeof name, "f%u", i);
		vprof_plan_add(plan, &(struct vprof_probe){ .code = VP_CODE_FUNCTION + i,
							    .kind = VPROF_PROBE_FUNCTION,
							    .fact_id = i,
							    .mask = VPROF_MASK_ANY,
							    .context = VPROF_CONTEXT_FIRST,
							    .broken_down = 1,
							    .is_root = i == 1,
							    .height = SIM_FUNCTIONS - i,
							    .n_children = 3,
							    .name = name,
							    .display = name,
							    .file = "f.c",
							    .line = (int)i,
							    .caller = "" });
	}
	for (int i = 0; i < SIM_HOT; i++) {
		snprintf(name, sizeof name, "f%u", SIM_HOT_CODE(i) - VP_CODE_FUNCTION);
		vprof_plan_add(plan, &(struct vprof_probe){ .code = SIM_HOT_CODE(i),
							    .kind = VPROF_PROBE_FUNCTION,
							    .fact_id = SIM_HOT_CODE(i) - VP_CODE_FUNCTION,
							    .mask = VPROF_MASK_ANY,
							    .context = VPROF_CONTEXT_FIRST,
							    .broken_down = 1,
							    .height = (uint32_t)(SIM_HOT - 1 - i),
							    .n_children = 3,
							    .name = name,
							    .display = name,
							    .file = "f.c",
							    .line = 50 + i,
							    .caller = "" });
	}
	for (uint32_t i = 1; i <= SIM_SITES; i++)
		vprof_plan_add(plan, &(struct vprof_probe){ .code = VP_CODE_SITE + i,
							    .kind = VPROF_PROBE_SITE,
							    .fact_id = i,
							    .mask = VPROF_MASK_ANY,
							    .context = VPROF_CONTEXT_LEAF,
							    .name = sim_site_names[i - 1],
							    .display = sim_site_names[i - 1],
							    .file = "f.c",
							    .line = 5,
							    .caller = "f1",
							    .caller_line = 1 });
	return plan;
}
