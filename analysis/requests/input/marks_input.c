/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An interval is known by its process, name and id from its BEGIN to its END (docs/design/contracts.md); a RESUME that
 * its process does not know may be of another's. An item is what was put last under its number in the same process. */
#include "analysis/requests/input/marks_input.h"

#include "common/hash/hash_index.h"
#include "common/search.h"

struct mark {
	uint64_t t, name, id; /* t: of the history */
	uint32_t thread;
	uint8_t kind; /* enum vp_kind */
};

struct open_mark { /* an interval that has begun, or an item that was put */
	uint64_t name, id, t;
	uint32_t process;
	uint32_t item; /* interval, or the thread that put it; VPROF_NONE: over */
};

struct at_work {
	uint64_t since;
	uint32_t interval; /* VPROF_NONE */
};

struct marking {
	struct vprof_socket_history *h;
	VPROF_ARRAY(struct mark) marks;
	VPROF_ARRAY(struct open_mark) open;
	struct vprof_hash_index index;
	struct at_work *threads;
};

static int gather(struct marking *m, const struct vprof_trace *trace, const struct vprof_marks_reader *reader)
{
	for (size_t i = 0; i < trace->n_threads; i++) {
		struct vprof_trace_cursor cursor;
		const struct vp_unit *u;
		uint32_t n_units;
		int ret = VPROF_OK;

		vprof_trace_cursor_init(&cursor, &trace->threads[i]);
		while (!ret && (u = vprof_trace_next(&cursor, &n_units))) {
			uint32_t kind = VP_CODE(u->w), thread;
			uint64_t t;
			struct mark *mark;

			if ((kind < VP_KIND_BEGIN || kind > VP_KIND_END) && kind != VP_KIND_ENQUEUE &&
			    kind != VP_KIND_DEQUEUE)
				continue;
			t = reader->time_of(reader->arg, u->t);
			thread = reader->thread_of(reader->arg, trace->threads[i].tid, t);
			mark = thread == VPROF_NONE ? NULL : VPROF_PUSH(&m->marks);
			if (mark)
				*mark = (struct mark){ t, kind <= VP_KIND_END ? u[1].w : 0, u[1].t, thread,
						       (uint8_t)kind };
			else
				ret = VPROF_ERR_NOMEM;
		}
		vprof_trace_cursor_release(&cursor);
		if (ret)
			return ret;
	}
	return VPROF_OK;
}

static int order(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return vprof_u64_order(x->t, y->t);
}

/* The place of a mark's interval or item in its process; NULL without memory. */
static struct open_mark *look(struct marking *m, const struct mark *mark, uint32_t process)
{
	uint64_t hash = vprof_mix(mark->id ^ vprof_mix(mark->name + process));
	struct open_mark *added;
	size_t at;

	if (vprof_hash_index_room(&m->index, 1))
		return NULL;
	VPROF_HASH_EACH(&m->index, hash, at, i)
	{
		struct open_mark *o = &m->open.v[i];

		if (o->id == mark->id && o->name == mark->name && o->process == process)
			return o;
	}
	added = VPROF_PUSH(&m->open);
	if (!added)
		return NULL;
	*added = (struct open_mark){ mark->name, mark->id, mark->t, process, VPROF_NONE };
	vprof_hash_index_put(&m->index, at, hash, (uint32_t)(m->open.n - 1));
	return added;
}

static int leave(struct marking *m, const struct mark *mark)
{
	struct at_work *t = &m->threads[mark->thread];
	struct vprof_work_span *span = t->interval != VPROF_NONE ? VPROF_PUSH(&m->h->spans) : NULL;

	if (t->interval == VPROF_NONE)
		return VPROF_OK;
	if (!span)
		return VPROF_ERR_NOMEM;
	*span = (struct vprof_work_span){ t->since, mark->t, mark->thread, t->interval };
	t->interval = VPROF_NONE;
	return VPROF_OK;
}

static int take_item(struct marking *m, const struct mark *mark, struct open_mark *item)
{
	struct vprof_item_handed_on *handed;

	if (mark->kind == VP_KIND_ENQUEUE) {
		item->item = mark->thread;
		item->t = mark->t;
		return VPROF_OK;
	}
	if (item->item == VPROF_NONE)
		return VPROF_OK;
	handed = VPROF_PUSH(&m->h->items);
	if (!handed)
		return VPROF_ERR_NOMEM;
	*handed = (struct vprof_item_handed_on){ item->t, mark->t, item->item, mark->thread };
	item->item = VPROF_NONE;
	return VPROF_OK;
}

static int take(struct marking *m, const struct mark *mark)
{
	uint32_t process = m->h->threads.v[mark->thread].process;
	struct open_mark *o = look(m, mark, process);
	struct at_work *t = &m->threads[mark->thread];

	if (!o)
		return VPROF_ERR_NOMEM;
	if (mark->kind == VP_KIND_ENQUEUE || mark->kind == VP_KIND_DEQUEUE)
		return take_item(m, mark, o);
	if (mark->kind == VP_KIND_BEGIN)
		o->item = m->h->n_intervals++;
	if (mark->kind == VP_KIND_SUSPEND && t->interval != o->item)
		return VPROF_OK;
	if (leave(m, mark))
		return VPROF_ERR_NOMEM;
	if (mark->kind == VP_KIND_BEGIN || mark->kind == VP_KIND_RESUME)
		*t = (struct at_work){ mark->t, o->item };
	else if (mark->kind == VP_KIND_END)
		o->item = VPROF_NONE;
	return VPROF_OK;
}

int vprof_marks_input_add(struct vprof_socket_history *h, const struct vprof_trace *trace,
			  const struct vprof_marks_reader *reader)
{
	struct marking m = { .h = h };
	int ret = gather(&m, trace, reader);

	if (!ret && m.marks.n) {
		m.threads = malloc(h->threads.n * sizeof *m.threads);
		ret = !m.threads || vprof_array_sort(m.marks.v, m.marks.n, sizeof *m.marks.v, order) ? VPROF_ERR_NOMEM :
												       VPROF_OK;
	}
	for (size_t i = 0; i < h->threads.n && m.threads && !ret; i++)
		m.threads[i].interval = VPROF_NONE;
	for (size_t i = 0; i < m.marks.n && !ret; i++)
		ret = take(&m, &m.marks.v[i]);
	for (uint32_t i = 0; i < h->threads.n && m.threads && m.marks.n && !ret; i++)
		ret = leave(&m, &(struct mark){ .t = m.marks.v[m.marks.n - 1].t, .thread = i });
	VPROF_ARRAY_RELEASE(&m.marks);
	VPROF_ARRAY_RELEASE(&m.open);
	vprof_hash_index_release(&m.index);
	free(m.threads);
	return ret;
}
