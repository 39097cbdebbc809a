/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads blocks again and walks them backwards in time: callers come before their callees, so no tree has to be built.
 *
 * A block that was read stays cached until its memory is needed; the least recently used is evicted first.
 */
#include "analysis/timeline/calls.h"

#include "analysis/timeline/preorder.h"
#include "common/error.h"
#include "common/search.h"
#include "trace/walk.h"

#define BUCKETS 4096u
#define BLOCK_CALLS ((uint32_t)((VP_CHUNK_BYTES - sizeof(struct vp_chunk_header)) / VP_UNIT_BYTES))

struct cached_block {
	struct cached_block *next; /* in its bucket */
	struct cached_block *older, *newer;
	uint32_t thread, block, n, hint;
	uint32_t n_max;		   /* room */
	uint8_t is_unordered;	   /* damaged trace: some call ends before the one recorded before it */
	struct vprof_call calls[]; /* in record order */
};

struct vprof_calls {
	struct cached_block **buckets;
	struct cached_block **last; /* [n_threads] used last, or NULL */
	uint32_t *block_hint;	    /* [n_threads] */
	struct cached_block *oldest, *newest;
	size_t n_bytes, n_bytes_max;
	VPROF_ARRAY(uint32_t) open;  /* while parents are found; then chains */
	VPROF_ARRAY(uint32_t) place; /* of the stretch's block: where its calls are in list */
	VPROF_ARRAY(struct vprof_stretch_call) list;
	VPROF_ARRAY(uint32_t) outer; /* of list's first calls: index of the outer call */
	VPROF_ARRAY(uint32_t) kept;
	VPROF_ARRAY(struct vprof_call) window;
	struct vprof_preorder preorder;
	struct vprof_trace_buffer buffer;
};

struct vprof_calls *vprof_calls_new(size_t n_threads, size_t n_bytes_max)
{
	struct vprof_calls *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->n_bytes_max = n_bytes_max;
	c->buckets = calloc(BUCKETS, sizeof(struct cached_block *));
	c->last = calloc(n_threads + 1, sizeof(struct cached_block *));
	c->block_hint = calloc(n_threads + 1, sizeof *c->block_hint);
	if (c->buckets && c->last && c->block_hint)
		return c;
	vprof_calls_free(c);
	return NULL;
}

static struct cached_block **bucket_of(struct vprof_calls *c, uint32_t thread, uint32_t block)
{
	return &c->buckets[vprof_mix((uint64_t)thread << 32 | block) % BUCKETS];
}

static void unlink_age(struct vprof_calls *c, struct cached_block *h)
{
	*(h->older ? &h->older->newer : &c->oldest) = h->newer;
	*(h->newer ? &h->newer->older : &c->newest) = h->older;
}

static void link_newest(struct vprof_calls *c, struct cached_block *h)
{
	h->older = c->newest;
	h->newer = NULL;
	*(c->newest ? &c->newest->newer : &c->oldest) = h;
	c->newest = h;
}

static size_t bytes_of(uint32_t n)
{
	return sizeof(struct cached_block) + (size_t)n * sizeof(struct vprof_call);
}

static void evict(struct vprof_calls *c, struct cached_block *h)
{
	struct cached_block **link = bucket_of(c, h->thread, h->block);

	while (*link != h)
		link = &(*link)->next;
	*link = h->next;
	unlink_age(c, h);
	if (c->last[h->thread] == h)
		c->last[h->thread] = NULL;
	c->n_bytes -= bytes_of(h->n_max);
}

void vprof_calls_free(struct vprof_calls *c)
{
	if (!c)
		return;
	while (c->oldest) {
		struct cached_block *h = c->oldest;

		evict(c, h);
		free(h);
	}
	free(c->buckets);
	free(c->last);
	free(c->block_hint);
	VPROF_ARRAY_RELEASE(&c->open);
	VPROF_ARRAY_RELEASE(&c->place);
	VPROF_ARRAY_RELEASE(&c->list);
	VPROF_ARRAY_RELEASE(&c->outer);
	VPROF_ARRAY_RELEASE(&c->kept);
	VPROF_ARRAY_RELEASE(&c->window);
	vprof_preorder_release(&c->preorder);
	vprof_trace_buffer_release(&c->buffer);
	free(c);
}

static size_t irregular_before(const struct vprof_call_index *index, uint32_t block)
{
	return VPROF_BISECT(index->irregular.n, i, index->irregular.v[i].block < block);
}

/* of a block's calls */
struct filler {
	const struct vprof_call_index *index;
	struct cached_block *h;
	uint32_t n_max;
	size_t next_irregular; /* the next one */
};

static inline void put(struct filler *f, uint64_t t0, uint64_t t1, uint32_t code, int is_sampled)
{
	if (f->h->n < f->n_max)
		f->h->calls[f->h->n++] =
			(struct vprof_call){ t0, t1, code & VP_CODE_MASK, is_sampled != 0, VPROF_NONE };
}

/* Adds the irregular calls of this place; does one of them replace the record? */
static int put_odds(struct filler *f, uint32_t unit)
{
	int replaces = 0;

	for (; f->next_irregular < f->index->irregular.n; f->next_irregular++) {
		const struct vprof_irregular_call *o = &f->index->irregular.v[f->next_irregular];

		if (o->block != f->h->block || o->unit != unit)
			break;
		put(f, o->t0, o->t1, o->code, o->is_sampled);
		replaces |= o->replaces;
	}
	return replaces;
}

static uint32_t put_plain(struct vprof_call *to, uint32_t n_max, const struct vp_unit *at, const struct vp_unit *end)
{
	uint32_t n = 0;

	while (n < n_max && at < end && VP_CODE(at->w) >= VP_CODE_FUNCTION && at->t - 1 < VPROF_CALL_TIME_MAX) {
		to[n++] = (struct vprof_call){ at->t, at->t + VP_PAYLOAD(at->w), VP_CODE(at->w), 0, VPROF_NONE };
		at++;
	}
	return n;
}

/* The same calls as in the first pass, in the same order. */
static void fill(struct filler *f, const struct vp_unit *units, const struct vp_unit *end)
{
	int has_irregular = f->next_irregular < f->index->irregular.n &&
			    f->index->irregular.v[f->next_irregular].block == f->h->block;
	const struct vp_unit *at = units, *u;
	uint32_t n;

	while (f->h->n < f->n_max) {
		if (!has_irregular) {
			n = put_plain(f->h->calls + f->h->n, f->n_max - f->h->n, at, end);
			f->h->n += n;
			at += n;
		}
		u = vp_walk_next(&at, end, &n);
		if (!u)
			break;
		if (u->t > VPROF_CALL_TIME_MAX || (has_irregular && put_odds(f, (uint32_t)(u - units))))
			continue;
		if (VP_CODE(u->w) >= VP_CODE_FUNCTION)
			put(f, u->t, u->t + VP_PAYLOAD(u->w), VP_CODE(u->w), 0);
		else if (VP_CODE(u->w) == VP_KIND_SAMPLE && u[1].t <= VP_PAYLOAD_MAX &&
			 VP_CODE(u[1].w) >= VP_CODE_FUNCTION)
			put(f, u->t, u->t + u[1].t, VP_CODE(u[1].w), 1);
	}
	put_odds(f, UINT32_MAX);
}

/* A chunk that cannot be decompressed has only calls that its thread had not ended, which other chunks imply. */
static void fill_unreadable(struct filler *f)
{
	for (;
	     f->next_irregular < f->index->irregular.n && f->index->irregular.v[f->next_irregular].block == f->h->block;
	     f->next_irregular++) {
		const struct vprof_irregular_call *o = &f->index->irregular.v[f->next_irregular];

		put(f, o->t0, o->t1, o->code, o->is_sampled);
	}
}

/* The first call recorded after a call that began no later is the one around it. */
static void find_parents(struct cached_block *h, uint32_t *open)
{
	struct vprof_call *v = h->calls;
	uint32_t top = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		while (top && v[open[top - 1]].t0 >= v[i].t0)
			v[open[--top]].parent = i;
		open[top++] = i;
	}
}

/* Memory for a block: new as long as the cache is small, else that of the least recently used block. */
static struct cached_block *take_room(struct vprof_calls *c, uint32_t n)
{
	struct cached_block *h = NULL;
	/* most blocks fit into the memory of another */
	uint32_t n_max = n > BLOCK_CALLS || n < BLOCK_CALLS / 8 ? n : BLOCK_CALLS;

	while (c->oldest && c->n_bytes + bytes_of(n_max) > c->n_bytes_max) {
		free(h);
		h = c->oldest;
		evict(c, h);
		if (h->n_max == n_max)
			break;
	}
	if (!h || h->n_max != n_max) {
		free(h);
		h = malloc(bytes_of(n_max));
	}
	if (h) {
		h->n_max = n_max;
		c->n_bytes += bytes_of(n_max);
	}
	return h;
}

static struct cached_block *read_block(struct vprof_calls *c, uint32_t thread, const struct vprof_call_index *index,
				       uint32_t block)
{
	uint32_t n = index->blocks.v[block].n_calls;
	const struct vp_unit *units;
	size_t n_units;
	struct cached_block *h, **bucket = bucket_of(c, thread, block);
	struct filler f = { .index = index, .n_max = n, .next_irregular = irregular_before(index, block) };

	if (VPROF_RESERVE(&c->open, (size_t)n + 1) || VPROF_RESERVE(&c->place, (size_t)n + 1))
		return NULL;
	units = vprof_chunk_units(index->source->chunks[block], &c->buffer, &n_units);
	h = units || (c->buffer.units && c->buffer.context) ? take_room(c, n) : NULL;
	if (!h)
		return NULL;
	*h = (struct cached_block){ .thread = thread, .block = block, .n_max = h->n_max };
	f.h = h;
	if (units)
		fill(&f, units, units + n_units);
	else
		fill_unreadable(&f);
	find_parents(h, c->open.v);
	for (uint32_t i = 1; i < h->n; i++)
		h->is_unordered |= h->calls[i].t1 < h->calls[i - 1].t1;
	h->next = *bucket;
	*bucket = h;
	link_newest(c, h);
	return h;
}

static struct cached_block *cached_block(struct vprof_calls *c, uint32_t thread, const struct vprof_call_index *index,
					 uint32_t block)
{
	struct cached_block *h = c->last[thread];

	if (h && h->block == block)
		return h;
	h = *bucket_of(c, thread, block);
	while (h && (h->block != block || h->thread != thread))
		h = h->next;
	if (!h) {
		h = read_block(c, thread, index, block);
	} else if (h != c->newest) {
		unlink_age(c, h);
		link_newest(c, h);
	}
	if (h)
		c->last[thread] = h;
	return h;
}

/* Number of calls that end at or before t, galloping from where the last search ended; among unordered calls always
 * from the first, because otherwise the answer would depend on earlier searches. */
static uint32_t ended_by(struct cached_block *h, uint64_t t)
{
	size_t hint = h->is_unordered ? 0 : h->hint;

	return h->hint = (uint32_t)vprof_time_search(&h->calls[0].t1, sizeof *h->calls, h->n, t, hint);
}

/* The block that holds what was recorded at `t`: the first one in which a call begins at or after it, else the last. */
static uint32_t block_at(struct vprof_calls *c, uint32_t thread, const struct vprof_call_index *index, uint64_t t)
{
	size_t b = VPROF_TIME_SEARCH(&index->blocks, t ? t - 1 : 0, c->block_hint[thread]);

	b = b < index->blocks.n ? b : index->blocks.n - 1;
	return c->block_hint[thread] = (uint32_t)b;
}

void vprof_stretch_begin(struct vprof_stretch *s, struct vprof_calls *calls, uint32_t thread,
			 const struct vprof_call_index *index, uint64_t from, uint64_t to)
{
	*s = (struct vprof_stretch){
		.calls = calls, .index = index, .from = from, .to = to, .limit = to, .thread = thread
	};
	s->block = index->blocks.n && from < to ? block_at(calls, thread, index, to) : VPROF_NONE;
}

/* Adds a call to the list, clipped so that it nests. */
static uint32_t add(struct vprof_stretch *s, const struct vprof_call *call, uint32_t parent)
{
	struct vprof_calls *c = s->calls;
	uint64_t *limit = parent == VPROF_NONE ? &s->limit : &c->list.v[parent].limit;
	uint64_t low = parent == VPROF_NONE ? s->from : c->list.v[parent].low;
	uint64_t high = call->t1 < *limit ? call->t1 : *limit;

	low = call->t0 > low ? call->t0 : low;
	low = low < high ? low : high;
	*limit = low;
	c->list.v[c->list.n] = (struct vprof_stretch_call){
		low, high, high, call->t0, call->t1, call->code, call->is_sampled, parent
	};
	return (uint32_t)c->list.n++;
}

static int overlaps(const struct vprof_stretch *s, uint64_t t0, uint64_t t1)
{
	return t0 < s->to && t1 > s->from;
}

/* Room in the list for calls around the block, which the index knows, and those in it. */
static int make_room(struct vprof_stretch *s, const struct cached_block *h, size_t n_outer)
{
	struct vprof_calls *c = s->calls;

	return VPROF_RESERVE(&c->list, c->list.n + n_outer + h->n + 1) ||
	       VPROF_RESERVE(&c->outer, c->list.n + n_outer + h->n + 1) ||
	       VPROF_RESERVE(&c->kept, c->list.n + n_outer + h->n + 1);
}

/* The calls around the end of the stretch, outermost first: those of later blocks, then of its last block from `place`
 * on. Returns the innermost one of later blocks. NOMEM: -1 in *ret. */
static uint32_t add_around(struct vprof_stretch *s, const struct cached_block *h, uint32_t place, int *ret)
{
	struct vprof_calls *c = s->calls;
	uint32_t parent = VPROF_NONE, innermost;
	size_t n = 0;

	c->open.n = 0;
	for (uint32_t o = s->index->blocks.v[s->block].above; o != VPROF_NONE; o = s->index->outers.v[o].parent) {
		uint32_t *slot =
			overlaps(s, s->index->outers.v[o].t0, s->index->outers.v[o].t1) ? VPROF_PUSH(&c->open) : NULL;

		if (slot)
			*slot = o;
		else if (overlaps(s, s->index->outers.v[o].t0, s->index->outers.v[o].t1))
			*ret = VPROF_ERR_NOMEM;
	}
	if (*ret || make_room(s, h, c->open.n)) {
		*ret = VPROF_ERR_NOMEM;
		return VPROF_NONE;
	}
	for (size_t i = c->open.n; i-- > 0;) {
		const struct vprof_outer *o = &s->index->outers.v[c->open.v[i]];
		const struct vprof_call call = { o->t0, o->t1, o->code, o->is_sampled, VPROF_NONE };

		c->outer.v[c->list.n] = c->open.v[i];
		parent = add(s, &call, parent);
	}
	innermost = parent;
	if (VPROF_RESERVE(&c->open, (size_t)h->n + 1)) {
		*ret = VPROF_ERR_NOMEM;
		return VPROF_NONE;
	}
	for (uint32_t i = place < h->n ? place : VPROF_NONE; i != VPROF_NONE; i = h->calls[i].parent)
		c->open.v[n++] = i;
	while (n-- > 0) {
		uint32_t i = c->open.v[n];

		if (overlaps(s, h->calls[i].t0, h->calls[i].t1))
			parent = add(s, &h->calls[i], parent);
		c->place.v[i] = parent;
	}
	return innermost;
}

/* Calls of the block that were recorded before `place`. 0: past the start of the stretch. */
static int add_block(struct vprof_stretch *s, const struct cached_block *h, uint32_t place, uint32_t around)
{
	struct vprof_calls *c = s->calls;

	while (place-- > 0) {
		const struct vprof_call *call = &h->calls[place];
		uint32_t parent;

		if (call->t1 <= s->from)
			return 0;
		if (call->t0 >= s->to)
			continue;
		if (call->parent != VPROF_NONE) {
			parent = c->place.v[call->parent];
		} else {
			while (around != VPROF_NONE && c->list.v[around].t0 > call->t0)
				around = c->list.v[around].parent;
			parent = around;
		}
		c->place.v[place] = add(s, call, parent);
	}
	return 1;
}

/* Of the list, keeps the calls around the block before this one. */
static int keep(struct vprof_stretch *s, size_t n_outer)
{
	struct vprof_calls *c = s->calls;
	const struct vprof_call_index *index = s->index;
	uint32_t in_block = s->block + 1 < index->blocks.n ? index->blocks.v[s->block + 1].first_outer :
							     (uint32_t)index->outers.n;
	size_t n;

	c->kept.n = 0;
	if (VPROF_RESERVE(&c->kept, c->list.n + 1))
		return VPROF_ERR_NOMEM;
	for (uint32_t o = index->blocks.v[s->block - 1].above; o != VPROF_NONE; o = index->outers.v[o].parent) {
		if (!overlaps(s, index->outers.v[o].t0, index->outers.v[o].t1) || c->kept.n >= c->list.n)
			continue;
		if (o < in_block) {
			uint32_t i = c->place.v[index->outers.v[o].place];

			if (i < c->list.n)
				c->outer.v[c->kept.v[c->kept.n++] = i] = o;
			continue;
		}
		while (n_outer && c->outer.v[n_outer - 1] < o)
			n_outer--;
		if (n_outer && c->outer.v[n_outer - 1] == o)
			c->kept.v[c->kept.n++] = (uint32_t)--n_outer;
	}
	n = c->kept.n;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t swap = c->kept.v[i];

		c->kept.v[i] = c->kept.v[n - 1 - i];
		c->kept.v[n - 1 - i] = swap;
	}
	for (size_t i = 0; i < n; i++) {
		c->outer.v[i] = c->outer.v[c->kept.v[i]];
		c->list.v[i] = c->list.v[c->kept.v[i]];
		c->list.v[i].parent = i ? (uint32_t)i - 1 : VPROF_NONE;
	}
	c->list.n = n;
	return 0;
}

/* Reads the block and begins its part of the list; calls before *place are to be added. */
static struct cached_block *enter_block(struct vprof_stretch *s, uint32_t *place, uint32_t *around)
{
	struct vprof_calls *c = s->calls;
	struct cached_block *h;
	int ret = 0;

	if (!s->is_begun) {
		c->list.n = c->kept.n = 0;
	} else {
		if (keep(s, s->n_outer))
			return NULL;
		s->block--;
	}
	h = cached_block(c, s->thread, s->index, s->block);
	if (!h || make_room(s, h, 0))
		return NULL;
	if (s->is_begun) {
		*place = h->n;
		*around = c->list.n ? (uint32_t)c->list.n - 1 : VPROF_NONE;
	} else {
		*place = ended_by(h, s->to);
		*around = add_around(s, h, *place, &ret);
	}
	s->n_outer = *around == VPROF_NONE ? 0 : (size_t)*around + 1;
	return ret ? NULL : h;
}

int vprof_stretch_next(struct vprof_stretch *s)
{
	struct vprof_calls *c = s->calls;
	uint32_t place, around;
	const struct cached_block *h;

	if (s->block == VPROF_NONE || s->is_last ||
	    (s->is_begun && (!s->block || s->index->blocks.v[s->block - 1].t1_max <= s->from)))
		return 0;
	h = enter_block(s, &place, &around);
	if (!h)
		return VPROF_ERR_NOMEM;
	s->is_begun = 1;
	s->n_kept = c->kept.n;
	s->is_last = !add_block(s, h, place, around);
	s->v = c->list.v;
	s->n = c->list.n;
	s->kept = c->kept.v;
	return 1;
}

/* The first block with a call that ends after t, or VPROF_NONE. What is open at t was recorded there, or is an
 * outer call. */
static uint32_t block_ending_after(const struct vprof_call_index *index, uint64_t t)
{
	size_t low = VPROF_BISECT(index->blocks.n, i, index->blocks.v[i].t1_max <= t);

	return low < index->blocks.n ? (uint32_t)low : VPROF_NONE;
}

int vprof_calls_open(struct vprof_calls *c, uint32_t thread, const struct vprof_call_index *index, uint64_t t,
		     const struct vprof_call **v, size_t *n)
{
	struct vprof_stretch s = { .calls = c, .index = index, .from = t, .to = t + 1, .thread = thread };
	struct cached_block *h;
	uint32_t i;

	*v = NULL;
	*n = 0;
	s.block = block_ending_after(index, t);
	if (s.block == VPROF_NONE)
		return 0;
	h = cached_block(c, thread, index, s.block);
	if (!h)
		return VPROF_ERR_NOMEM;
	c->window.n = 0;
	i = ended_by(h, t);
	for (i = i < h->n ? i : VPROF_NONE; i != VPROF_NONE; i = h->calls[i].parent) {
		struct vprof_call *slot = overlaps(&s, h->calls[i].t0, h->calls[i].t1) ? VPROF_PUSH(&c->window) : NULL;

		if (slot)
			*slot = h->calls[i];
		else if (overlaps(&s, h->calls[i].t0, h->calls[i].t1))
			return VPROF_ERR_NOMEM;
	}
	for (uint32_t o = index->blocks.v[s.block].above; o != VPROF_NONE; o = index->outers.v[o].parent) {
		const struct vprof_outer *outer = &index->outers.v[o];
		struct vprof_call *slot = overlaps(&s, outer->t0, outer->t1) ? VPROF_PUSH(&c->window) : NULL;

		if (slot)
			*slot = (struct vprof_call){ outer->t0, outer->t1, outer->code, outer->is_sampled, VPROF_NONE };
		else if (overlaps(&s, outer->t0, outer->t1))
			return VPROF_ERR_NOMEM;
	}
	for (size_t k = 0; k < c->window.n; k++)
		c->window.v[k].parent = k + 1 < c->window.n ? (uint32_t)k + 1 : VPROF_NONE;
	*v = c->window.v;
	*n = c->window.n;
	return 0;
}

int vprof_calls_window(struct vprof_calls *c, uint32_t thread, const struct vprof_call_index *index, uint64_t from,
		       uint64_t to, const struct vprof_call **v, size_t *n)
{
	struct vprof_stretch s;
	int ret;

	c->window.n = 0;
	vprof_stretch_begin(&s, c, thread, index, from, to);
	while ((ret = vprof_stretch_next(&s)) > 0) {
		if (VPROF_RESERVE(&c->window, c->window.n + s.n - s.n_kept + 1))
			return VPROF_ERR_NOMEM;
		for (size_t i = s.n_kept; i < s.n; i++)
			c->window.v[c->window.n++] =
				(struct vprof_call){ s.v[i].t0, s.v[i].t1, s.v[i].code, s.v[i].is_sampled, VPROF_NONE };
	}
	for (size_t i = 0; i < c->window.n / 2; i++) {
		struct vprof_call swap = c->window.v[i];

		c->window.v[i] = c->window.v[c->window.n - 1 - i];
		c->window.v[c->window.n - 1 - i] = swap;
	}
	if (!ret)
		ret = vprof_preorder_build(&c->preorder, c->window.v, c->window.n, v);
	*n = c->window.n;
	return ret;
}
