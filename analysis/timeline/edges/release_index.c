/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared objects are named by their offset in the page, since processes map them at different addresses, and by their
 * host. */
#include "analysis/timeline/edges/release_index.h"

#include "analysis/timeline/edges/lock_holders.h"
#include "analysis/timeline/edges/wake_class.h"

#define PROCESSES_MAX 64 /* that share one object and are looked at */

uint32_t vprof_release_scope(uint8_t kind, uint8_t flags, uint32_t process_seq)
{
	return vprof_wake_class(kind, flags) << 28 | (flags & VP_FLAG_SHARED ? 0 : process_seq & 0xfffffff);
}

uint64_t vprof_release_key(uint8_t kind, uint8_t flags, uint64_t object)
{
	return flags & VP_FLAG_SHARED && !(flags & VP_FLAG_CHANNEL) && kind != VP_WAIT_CHILD ?
		       object & (4095 | VP_OBJECT_HOST) :
		       object;
}

static int release_order(const void *a, const void *b)
{
	const struct vprof_release_entry *x = a, *y = b;
	int order = vprof_u64_order(x->scope, y->scope);

	order = order ? order : vprof_u64_order(x->key, y->key);
	order = order ? order : vprof_u64_order(x->t, y->t);
	return order ? order : vprof_u64_order(x->thread, y->thread);
}

/* Objects at the same place of different shared pages have one key and are told apart by address; but processes that
 * map one object at different addresses may differ too. As long as no process names two addresses it is one object. */
static void mark_only(struct vprof_release_index *index)
{
	struct {
		uint32_t process;
		uint64_t object;
	} seen[PROCESSES_MAX];
	struct vprof_release_entry *v = index->entries.v;
	size_t end;

	for (size_t begin = 0; begin < index->entries.n; begin = end) {
		size_t n = 0;
		int several = 0;

		for (end = begin;
		     end < index->entries.n && v[end].scope == v[begin].scope && v[end].key == v[begin].key; end++) {
			uint32_t process = index->timeline->threads[v[end].thread].process_seq;
			size_t i = 0;

			while (i < n && seen[i].process != process)
				i++;
			if (i < n) {
				several |= seen[i].object != v[end].object;
			} else if (n < PROCESSES_MAX) {
				seen[n].process = process;
				seen[n++].object = v[end].object;
			} else {
				several = 1; /* too many to tell */
			}
		}
		for (size_t i = begin; i < end; i++)
			v[i].is_only = !several, v[i].one = v[begin].object;
	}
}

/* Held by one thread at a time, but for readers. Not semaphores: their tokens are alike, and who posts need not have
 * held one. */
static int is_lock(uint32_t scope)
{
	uint32_t class = vprof_release_class(scope);

	return class == VPROF_WAKE_CLASS_MUTEX || class == VPROF_WAKE_CLASS_RWLOCK || class == VPROF_WAKE_CLASS_SPIN ||
	       class == VPROF_WAKE_CLASS_ANNOTATED;
}

static int object_order(const void *a, const void *b)
{
	const struct vprof_release_entry *x = *(struct vprof_release_entry *const *)a;
	const struct vprof_release_entry *y = *(struct vprof_release_entry *const *)b;

	return x->object < y->object ? -1 : x->object > y->object;
}

typedef VPROF_ARRAY(struct vprof_release_entry *) entry_list;

/* Releases of one lock, by time. */
static int add_lock(struct vprof_timeline *timeline, struct vprof_release_entry *const *v, size_t n)
{
	uint32_t lock;

	if (vprof_lock_holders_begin(timeline))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct vprof_wake wake = { .t = v[i]->t,
						 .before = v[i]->before,
						 .after = v[i]->after,
						 .seq = v[i]->seq,
						 .kind = v[i]->kind,
						 .flags = v[i]->flags };

		if (vprof_lock_holders_add(timeline, v[i]->thread, &wake))
			return VPROF_ERR_NOMEM;
	}
	lock = vprof_lock_holders_end(timeline);
	for (size_t i = 0; i < n; i++)
		v[i]->lock = lock;
	return 0;
}

/* Releases of one key, by time: of one lock, or of several that their addresses tell apart. */
static int add_key(struct vprof_timeline *timeline, struct vprof_release_entry *v, size_t n, entry_list *of_key)
{
	size_t end;

	of_key->n = 0;
	if (VPROF_ROOM(of_key, n))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		of_key->v[of_key->n++] = &v[i];
	if (v->is_only)
		return add_lock(timeline, of_key->v, n);
	if (vprof_array_sort(of_key->v, n, sizeof *of_key->v, object_order))
		return VPROF_ERR_NOMEM;
	for (size_t begin = 0; begin < n; begin = end) {
		for (end = begin + 1; end < n && of_key->v[end]->object == of_key->v[begin]->object; end++)
			;
		if (add_lock(timeline, of_key->v + begin, end - begin))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static int add_locks(struct vprof_release_index *index, struct vprof_timeline *timeline)
{
	struct vprof_release_entry *v = index->entries.v;
	entry_list of_key = { NULL, 0, 0 };
	size_t end;
	int ret = 0;

	for (size_t begin = 0; begin < index->entries.n && !ret; begin = end) {
		for (end = begin + 1;
		     end < index->entries.n && v[end].scope == v[begin].scope && v[end].key == v[begin].key; end++)
			;
		if (is_lock(v[begin].scope) && end - begin > 1)
			ret = add_key(timeline, v + begin, end - begin, &of_key);
	}
	VPROF_ARRAY_RELEASE(&of_key);
	return ret;
}

static int gather(struct vprof_release_index *index)
{
	for (size_t i = 0; i < index->timeline->n_threads; i++) {
		const struct vprof_thread_timeline *thr = &index->timeline->threads[i];

		for (size_t k = 0; k < thr->wakes.n; k++) {
			const struct vprof_wake *w = &thr->wakes.v[k];
			struct vprof_release_entry *r = VPROF_PUSH(&index->entries);

			if (!r)
				return VPROF_ERR_NOMEM;
			r->t = w->t;
			r->key = vprof_release_key(w->kind, w->flags, w->object);
			r->object = w->object;
			r->scope = vprof_release_scope(w->kind, w->flags, thr->process_seq);
			r->thread = (uint32_t)i;
			r->before = w->before;
			r->after = w->after;
			r->seq = w->seq;
			r->flags = w->flags;
			r->kind = w->kind;
			r->lock = VPROF_NONE;
			r->n_left = w->flags & VP_FLAG_ALL ? UINT32_MAX : 1;
			if (w->kind == VP_WAIT_FUTEX && w->seq)
				r->n_left = w->seq;
		}
	}
	return vprof_array_sort(index->entries.v, index->entries.n, sizeof *index->entries.v, release_order) ?
		       VPROF_ERR_NOMEM :
		       0;
}

int vprof_release_index_build(struct vprof_release_index *index, struct vprof_timeline *timeline)
{
	*index = (struct vprof_release_index){ .timeline = timeline };
	if (gather(index))
		return VPROF_ERR_NOMEM;
	mark_only(index);
	return add_locks(index, timeline);
}

void vprof_release_index_release(struct vprof_release_index *index)
{
	VPROF_ARRAY_RELEASE(&index->entries);
}

size_t vprof_release_index_until(const struct vprof_release_index *index, uint32_t scope, uint64_t key, uint64_t t)
{
	const struct vprof_release_entry probe = { .t = t, .key = key, .scope = scope, .thread = VPROF_NONE };
	return VPROF_BISECT(index->entries.n, i, release_order(&index->entries.v[i], &probe) <= 0);
}
