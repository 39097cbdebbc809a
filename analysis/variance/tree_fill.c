/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals to parts: threads take them in batches, each walks its own and adds them to its own part.
 *
 * Who takes what is left to chance; which part holds which batch is kept, so that interval i is found whoever took it.
 */
#include "analysis/variance/tree_fill.h"

#include <stdatomic.h>

#include "analysis/paths/critical_path.h"
#include "common/parallel.h"

#define CALLS_BYTES ((size_t)128 << 20) /* of calls that all parts together hold */
#define CALLS_BYTES_MIN ((size_t)1 << 20)
/* for each thread of the trace as long as they are few: memory that is new costs more than a cache */
#define BLOCK_BYTES ((size_t)3 << 16)
#define BATCH_MIN 64
#define BATCH_MAX 16384
#define BATCHES 256 /* wanted */

/* of intervals that one part took in a row */
struct batch {
	uint32_t part;
	uint64_t first; /* of the part's intervals */
};

struct source {
	struct vprof_tree_source of;
	size_t first, n; /* this rank's intervals of it */
	size_t first_batch, batch_size;
};

struct vprof_tree_taken {
	VPROF_ARRAY(struct source *) sources; /* in the order of their intervals */
	struct vprof_tree_part **parts;
	size_t n_parts;
	/* in the order of intervals */
	VPROF_ARRAY(struct batch) batches;
};

static void release_parts(struct vprof_tree_taken *t)
{
	for (size_t i = 0; i < t->n_parts; i++)
		vprof_tree_part_free(t->parts[i]);
	free(t->parts);
	t->parts = NULL;
	t->n_parts = 0;
	VPROF_ARRAY_RELEASE(&t->batches);
}

struct vprof_tree_taken *vprof_tree_taken_new(void)
{
	return calloc(1, sizeof(struct vprof_tree_taken));
}

void vprof_tree_taken_free(struct vprof_tree_taken *t)
{
	if (!t)
		return;
	release_parts(t);
	for (size_t i = 0; i < t->sources.n; i++) {
		free(t->sources.v[i]->of.canonical);
		free(t->sources.v[i]);
	}
	VPROF_ARRAY_RELEASE(&t->sources);
	free(t);
}

static uint32_t name_index(struct vprof_tree *tree, const char *text)
{
	const char **name;

	for (size_t i = 0; i < tree->names.n; i++)
		if (!strcmp(tree->names.v[i], text))
			return (uint32_t)i;
	name = VPROF_PUSH(&tree->names);
	if (!name)
		return VPROF_NONE;
	*name = text;
	return (uint32_t)tree->names.n - 1;
}

int vprof_tree_add_source(struct vprof_tree *tree, const struct vprof_timeline *timeline)
{
	struct source *s = calloc(1, sizeof *s), **slot = s ? VPROF_PUSH(&tree->taken->sources) : NULL;

	if (!slot) {
		free(s);
		return VPROF_ERR_NOMEM;
	}
	*slot = s;
	if (tree->taken->sources.n == 1) {
		tree->ns_per_tick = timeline->ns_per_tick;
		tree->has_switches = 1;
	}
	tree->has_switches &= timeline->has_switches != 0;
	s->of.timeline = timeline;
	s->of.ratio = timeline->ns_per_tick / tree->ns_per_tick;
	if (timeline->trace)
		vprof_call_cost_fill(&s->of.cost, timeline->trace->header.record_ns,
				     timeline->trace->header.record_inside_ns, tree->ns_per_tick);
	tree->has_cost |= vprof_tree_cost_is_known(&s->of);
	s->of.canonical = calloc(timeline->n_names + 1, sizeof *s->of.canonical);
	for (size_t i = 0; tree->taken->sources.n == 1 && i < timeline->n_names; i++) { /* keep their places */
		const char **name = VPROF_PUSH(&tree->names);

		if (!name)
			return VPROF_ERR_NOMEM;
		*name = timeline->names[i];
	}
	for (size_t i = 0; s->of.canonical && i < timeline->n_names; i++) {
		s->of.canonical[i] = name_index(tree, timeline->names[i]);
		if (s->of.canonical[i] == VPROF_NONE)
			return VPROF_ERR_NOMEM;
	}
	return s->of.canonical ? 0 : VPROF_ERR_NOMEM;
}

/* Places for n more parts. */
static int add_parts(struct vprof_tree_taken *t, size_t n)
{
	struct vprof_tree_part **grown = realloc(t->parts, (t->n_parts + n) * sizeof(struct vprof_tree_part *));

	if (!grown)
		return VPROF_ERR_NOMEM;
	t->parts = grown;
	for (; n; n--)
		t->parts[t->n_parts++] = NULL;
	return 0;
}

/* One of n parts for a source's intervals, unless it is there. The thread that fills it makes it, so that it lies apart
 * from what other threads write. */
static int make_part(const struct vprof_tree *tree, const struct source *source, struct vprof_tree_part **part,
		     size_t n)
{
	size_t n_bytes = CALLS_BYTES / n, enough = CALLS_BYTES_MIN + source->of.timeline->n_threads * BLOCK_BYTES;

	n_bytes = enough < n_bytes ? enough : n_bytes;
	if (!*part)
		*part = vprof_tree_part_new(tree, &source->of, n_bytes > CALLS_BYTES_MIN ? n_bytes : CALLS_BYTES_MIN);
	return *part ? 0 : VPROF_ERR_NOMEM;
}

struct vprof_tree_part *const *vprof_tree_parts(const struct vprof_tree *tree, size_t *n)
{
	*n = tree->taken->n_parts;
	return tree->taken->parts;
}

/* of one source */
struct filling {
	const struct vprof_tree *tree;
	struct vprof_tree_taken *taken;
	const struct source *source;
	const struct vprof_edges *edges;
	struct vprof_path **paths; /* [n_parts] of each thread its own */
	size_t first_part, n_parts;
	const uint32_t *chosen;
	size_t n, n_all; /* n_all: of all sources */
	_Atomic size_t n_done;
	_Atomic uint64_t *left; /* [n_parts] first << 32 | end: batches that the thread has before it */
	void (*progress)(void *arg, double done);
	void *progress_arg;
};

/* Neighbouring batches read blocks of calls in common, so each thread has a row of them to take from the front; one
 * that has done its own takes from the end of the longest. There are as many turns as batches: one is always left. */
static size_t take_batch(struct filling *f, size_t worker)
{
	for (;;) {
		size_t of = worker;
		uint64_t range = atomic_load(&f->left[of]), first = range >> 32, end = (uint32_t)range, n = 0;

		for (size_t i = 0; first == end && i < f->n_parts; i++) {
			uint64_t other = atomic_load(&f->left[i]);

			if ((uint32_t)other - (other >> 32) > n) {
				n = (uint32_t)other - (other >> 32);
				range = other;
				of = i;
			}
		}
		if (of == worker && first == end)
			continue;
		first = range >> 32;
		end = (uint32_t)range;
		if (atomic_compare_exchange_strong(&f->left[of], &range,
						   of == worker ? range + (UINT64_C(1) << 32) : range - 1))
			return of == worker ? first : end - 1;
	}
}

static int fill_batch(void *arg, int worker, size_t turn)
{
	struct filling *f = arg;
	size_t n_part = f->first_part + (size_t)worker, size = f->source->batch_size,
	       item = take_batch(f, (size_t)worker);
	size_t from = item * size, to = f->n - from < size ? f->n : from + size;
	struct vprof_tree_part *part;

	(void)turn;

	if (make_part(f->tree, f->source, &f->taken->parts[n_part], f->n_parts) ||
	    (!f->paths[worker] && vprof_path_new(&f->paths[worker], f->edges, NULL)))
		return VPROF_ERR_NOMEM;
	part = f->taken->parts[n_part];
	f->taken->batches.v[f->source->first_batch + item] = (struct batch){ (uint32_t)n_part, part->first.n - 1 };
	for (size_t i = from; i < to; i++) {
		const struct vprof_piece *pieces;
		size_t n;
		int ret = vprof_path_walk(f->paths[worker], f->chosen[i], &pieces, &n);

		if (!ret)
			ret = vprof_tree_part_add(part, pieces, n);
		if (ret)
			return ret;
	}
	f->n_done += to - from;
	if (!worker && f->progress)
		f->progress(f->progress_arg, (double)f->n_done / (double)f->n_all);
	return 0;
}

static int is_refused(const struct vprof_tree_taken *t)
{
	for (size_t i = 0; i < t->n_parts; i++)
		if (t->parts[i] && t->parts[i]->n_refused)
			return 1;
	return 0;
}

static int fill_source(struct filling *f, struct vprof_tree *tree, struct source *source,
		       const struct vprof_edges *edges, size_t n_parts)
{
	struct vprof_tree_taken *t = tree->taken;
	size_t n = f->n, n_batches;
	int ret = VPROF_ERR_NOMEM;

	source->batch_size = n / BATCHES < BATCH_MIN ? BATCH_MIN : n / BATCHES > BATCH_MAX ? BATCH_MAX : n / BATCHES;
	source->first_batch = t->batches.n;
	n_batches = (n + source->batch_size - 1) / source->batch_size;
	n_parts = n_parts > n_batches ? n_batches : n_parts;
	f->source = source;
	f->edges = edges;
	f->first_part = t->n_parts;
	f->n_parts = n_parts;
	f->paths = calloc(n_parts, sizeof(struct vprof_path *));
	f->left = calloc(n_parts, sizeof *f->left);
	for (size_t i = 0; i < n_parts && f->left; i++)
		f->left[i] = (uint64_t)(n_batches * i / n_parts) << 32 | (n_batches * (i + 1) / n_parts);
	if (!f->paths || !f->left || add_parts(t, n_parts) || VPROF_RESERVE(&t->batches, t->batches.n + n_batches))
		goto out;
	t->batches.n += n_batches;
	ret = vprof_parallel_run((int)n_parts, n_batches, fill_batch, f);
out:
	for (size_t i = 0; i < n_parts && f->paths; i++)
		vprof_path_free(f->paths[i]);
	for (size_t i = f->first_part; i < t->n_parts && !ret; i++) /* of threads that came too late to take any */
		ret = make_part(tree, source, &t->parts[i], n_parts);
	free(f->paths);
	free((void *)f->left);
	return ret;
}

static int fill_sources(struct filling *f, struct vprof_tree *tree, const struct vprof_tree_intervals *of_source,
			size_t n_parts)
{
	struct vprof_tree_taken *t = tree->taken;
	size_t at = 0, own_from, own_to;
	int ret = 0;

	release_parts(t);
	f->n_done = 0;
	vprof_team_own(&tree->team, tree->n_intervals, &own_from, &own_to);
	f->n_all = own_to - own_from;
	for (size_t i = 0; i < t->sources.n && !ret; at += of_source[i++].n) {
		size_t from = at > own_from ? at : own_from;
		size_t to = at + of_source[i].n < own_to ? at + of_source[i].n : own_to;

		t->sources.v[i]->first = from;
		t->sources.v[i]->n = from < to ? to - from : 0;
		if (from >= to)
			continue;
		f->chosen = of_source[i].chosen + (from - at);
		f->n = to - from;
		ret = fill_source(f, tree, t->sources.v[i], of_source[i].edges, n_parts);
	}
	return ret;
}

int vprof_tree_fill(struct vprof_tree *tree, const struct vprof_tree_intervals *of_source, int n_threads,
		    void (*progress)(void *arg, double done), void *arg)
{
	struct vprof_tree_taken *t = tree->taken;
	struct filling f = { .tree = tree, .taken = t, .progress = progress, .progress_arg = arg };
	int ret;

	tree->n_intervals = 0;
	for (size_t i = 0; i < t->sources.n; i++)
		tree->n_intervals += of_source[i].n;
	tree->team.n_threads = vprof_parallel_count(n_threads);
	ret = fill_sources(&f, tree, of_source, (size_t)tree->team.n_threads);
	/* which nodes a full tree refuses must not depend on the number of threads */
	if (!ret && tree->team.n_threads > 1 && is_refused(t))
		ret = fill_sources(&f, tree, of_source, 1);
	tree->is_full = is_refused(t);
	return ret;
}

const struct vprof_tree_part *vprof_tree_part_of(const struct vprof_tree *tree, size_t i, size_t *k)
{
	const struct vprof_tree_taken *t = tree->taken;
	const struct source *s = t->sources.v[0];
	const struct batch *b;

	for (size_t n = 1; i >= s->first + s->n && n < t->sources.n; n++)
		s = t->sources.v[n];
	i -= s->first;
	b = &t->batches.v[s->first_batch + i / s->batch_size];
	*k = (size_t)b->first + i % s->batch_size;
	return t->parts[b->part];
}
