/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes of state of all threads of a group are sorted by time; counts of those that run and that could run tell the
 * virtual thread's state between two changes. */
#include "analysis/waits/history/short_lived.h"

#include "common/hash/hash_index.h"
#include "common/radix.h"

struct change {
	uint32_t entity, segment;
};

struct merge {
	struct vprof_waits_history *h;
	uint32_t n_before;	     /* entities, without virtual ones */
	uint32_t *group;	     /* [n_before] number of its group, VPROF_NONE: it stays */
	VPROF_ARRAY(uint32_t) first; /* [groups] its first thread */
	VPROF_ARRAY(uint32_t) size;
	VPROF_ARRAY(struct vprof_keyed) changes;
	VPROF_ARRAY(struct change) of_change;
};

static int is_short(const struct vprof_waits_history *h, const struct vprof_waits_entity *e, double share)
{
	return e->kind == VPROF_WAITS_THREAD && e->creator != VPROF_NONE && e->born > h->begin && e->ended >= e->born &&
	       (double)(e->ended - e->born) <= share * (double)(h->end - h->begin);
}

/* Threads are known before those that they make, as far as groups go: a creator that comes later counts by itself. */
static int choose_groups(struct merge *m, double share)
{
	struct vprof_hash_index index = { 0 };
	int failed = 0;

	for (uint32_t i = 0; i < m->n_before && !failed; i++) {
		const struct vprof_waits_entity *e = &m->h->entities.v[i];
		uint64_t creator, hash;
		size_t at;

		m->group[i] = VPROF_NONE;
		if (!is_short(m->h, e, share))
			continue;
		creator = e->creator < i && m->group[e->creator] != VPROF_NONE ? UINT64_MAX - m->group[e->creator] :
										 e->creator;
		hash = vprof_mix(creator);
		for (const char *c = e->name; *c; c++)
			hash = vprof_mix(hash + (unsigned char)*c);
		failed = vprof_hash_index_room(&index, 1);
		if (failed)
			break;
		VPROF_HASH_EACH(&index, hash, at, g)
		{
			const struct vprof_waits_entity *f = &m->h->entities.v[m->first.v[g]];
			uint64_t its = f->creator < m->first.v[g] && m->group[f->creator] != VPROF_NONE ?
					       UINT64_MAX - m->group[f->creator] :
					       f->creator;

			if (its == creator && !strcmp(f->name, e->name)) {
				m->group[i] = g;
				m->size.v[g]++;
				break;
			}
		}
		if (m->group[i] != VPROF_NONE)
			continue;
		m->group[i] = (uint32_t)m->first.n;
		vprof_hash_index_put(&index, at, hash, m->group[i]);
		failed = !VPROF_PUSH(&m->first) || !VPROF_PUSH(&m->size);
		if (!failed) {
			m->first.v[m->group[i]] = i;
			m->size.v[m->group[i]] = 1;
		}
	}
	vprof_hash_index_release(&index);
	return failed ? VPROF_ERR_NOMEM : VPROF_OK;
}

static int add_change(struct merge *m, uint64_t t, uint32_t entity, uint32_t segment)
{
	if (VPROF_ROOM(&m->changes, m->changes.n + 1) || VPROF_ROOM(&m->of_change, m->of_change.n + 1))
		return VPROF_ERR_NOMEM;
	m->changes.v[m->changes.n++] = (struct vprof_keyed){ t, (uint32_t)m->of_change.n };
	m->of_change.v[m->of_change.n].entity = entity;
	m->of_change.v[m->of_change.n++].segment = segment;
	return 0;
}

/* At the same time, ends come before begins. */
static int gather(struct merge *m, const uint32_t *members, size_t n)
{
	m->changes.n = m->of_change.n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct vprof_waits_entity *e = &m->h->entities.v[members[i]];

		for (uint32_t s = 0; s < e->segments.n; s++)
			if (e->segments.v[s].state != VPROF_WAITS_BLOCKED &&
			    (add_change(m, 2 * e->segments.v[s].from + 1, members[i], s) ||
			     add_change(m, 2 * e->segments.v[s].to, members[i], s)))
				return VPROF_ERR_NOMEM;
	}
	return vprof_radix_sort(m->changes.v, m->changes.n);
}

static int push(struct vprof_waits_entity *e, uint64_t from, uint64_t to, int state)
{
	struct vprof_waits_segment *last = e->segments.n ? &e->segments.v[e->segments.n - 1] : NULL;

	if (from >= to)
		return 0;
	if (last && last->state == state && state != VPROF_WAITS_BLOCKED && last->to == from) {
		last->to = to;
		return 0;
	}
	last = VPROF_PUSH(&e->segments);
	if (last)
		*last = (struct vprof_waits_segment){
			.from = from, .to = to, .waker = VPROF_NONE, .state = (uint8_t)state
		};
	return last ? 0 : -1;
}

/* What ended the virtual thread's wait: the segment that begins then follows a wait of its thread, or is its first. */
static void blame(const struct merge *m, struct vprof_waits_entity *virtual, uint32_t entity, uint32_t segment)
{
	const struct vprof_waits_entity *e = &m->h->entities.v[entity];
	struct vprof_waits_segment *wait = virtual->segments.n ? &virtual->segments.v[virtual->segments.n - 1] : NULL;
	const struct vprof_waits_segment *before = segment ? &e->segments.v[segment - 1] : NULL;

	if (!wait || wait->state != VPROF_WAITS_BLOCKED || wait->to != e->segments.v[segment].from)
		return;
	if (!before) {
		wait->waker = e->creator;
	} else if (before->state == VPROF_WAITS_BLOCKED && before->to == e->segments.v[segment].from) {
		wait->waker = before->waker;
		wait->wait_stack = before->wait_stack;
		wait->waker_stack = before->waker_stack;
	}
}

static int fill(struct merge *m, struct vprof_waits_entity *virtual)
{
	uint64_t t = m->h->begin;
	long n_of[2] = { 0, 0 }; /* running, runnable */

	for (size_t i = 0; i < m->changes.n; i++) {
		uint32_t entity = m->of_change.v[m->changes.v[i].item].entity;
		uint32_t segment = m->of_change.v[m->changes.v[i].item].segment;
		const struct vprof_waits_segment *s = &m->h->entities.v[entity].segments.v[segment];
		int is_begin = (int)(m->changes.v[i].key & 1);
		uint64_t to = m->changes.v[i].key / 2;

		if (push(virtual, t, to,
			 n_of[0] ? VPROF_WAITS_RUNNING :
			 n_of[1] ? VPROF_WAITS_RUNNABLE :
				   VPROF_WAITS_BLOCKED))
			return VPROF_ERR_NOMEM;
		t = to;
		if (is_begin && !n_of[0] && !n_of[1])
			blame(m, virtual, entity, segment);
		n_of[s->state] += is_begin ? 1 : -1;
		if (is_begin) {
			uint64_t *sum = s->state ? &virtual->merged_runnable_ns : &virtual->merged_running_ns;

			*sum += s->to - s->from;
		}
	}
	return push(virtual, t, m->h->end, VPROF_WAITS_BLOCKED) ? VPROF_ERR_NOMEM : VPROF_OK;
}

static int make_virtual(struct merge *m, const uint32_t *members, size_t n, uint32_t *number)
{
	struct vprof_waits_entity virtual = m->h->entities.v[members[0]];
	struct vprof_waits_entity *added;
	int ret;

	memset(&virtual.segments, 0, sizeof virtual.segments);
	virtual.n_merged = (uint32_t)n;
	virtual.born = m->h->begin;
	virtual.ended = m->h->end;
	ret = gather(m, members, n);
	if (!ret)
		ret = fill(m, &virtual);
	added = ret ? NULL : VPROF_PUSH(&m->h->entities);
	if (!added) {
		VPROF_ARRAY_RELEASE(&virtual.segments);
		return VPROF_ERR_NOMEM;
	}
	*added = virtual;
	*number = (uint32_t)(m->h->entities.n - 1);
	for (size_t i = 0; i < n; i++) {
		VPROF_ARRAY_RELEASE(&m->h->entities.v[members[i]].segments);
		m->h->entities.v[members[i]].merged_into = *number + 1;
	}
	return VPROF_OK;
}

static uint32_t merged(const struct vprof_waits_history *h, uint32_t entity)
{
	return entity != VPROF_NONE && h->entities.v[entity].merged_into ? h->entities.v[entity].merged_into - 1 :
									   entity;
}

static void point_at_virtual(struct vprof_waits_history *h)
{
	for (uint32_t e = 0; e < h->entities.n; e++) {
		struct vprof_waits_entity *entity = &h->entities.v[e];

		entity->creator = merged(h, entity->creator);
		for (size_t i = 0; i < entity->segments.n; i++) {
			struct vprof_waits_segment *s = &entity->segments.v[i];

			if (s->state != VPROF_WAITS_BLOCKED)
				continue;
			s->waker = merged(h, s->waker);
			if (s->waker == e) /* one of its threads, which was seen doing nothing then */
				s->waker = VPROF_NONE;
		}
	}
	for (size_t i = 0; i < h->requests.n; i++)
		h->requests.v[i].thread = merged(h, h->requests.v[i].thread);
}

/* Members of all groups, group by group. */
static int merge_groups(struct merge *m)
{
	size_t *end = calloc(m->first.n + 1, sizeof *end);
	uint32_t *members = malloc((m->n_before + 1) * sizeof *members), number = 0;
	int ret = end && members ? VPROF_OK : VPROF_ERR_NOMEM;
	size_t sum = 0;

	for (size_t g = 0; g < m->first.n && !ret; g++) {
		end[g] = sum;
		sum += m->size.v[g];
	}
	for (uint32_t i = 0; i < m->n_before && !ret; i++)
		if (m->group[i] != VPROF_NONE)
			members[end[m->group[i]]++] = i;
	for (size_t g = 0; g < m->first.n && !ret; g++)
		if (m->size.v[g] > 1)
			ret = make_virtual(m, members + end[g] - m->size.v[g], m->size.v[g], &number);
	free(members);
	free(end);
	return ret;
}

int vprof_waits_merge_short_lived(struct vprof_waits_history *h, double share, struct vprof_error *err)
{
	struct merge m = { .h = h, .n_before = (uint32_t)h->entities.n };
	int ret = VPROF_ERR_NOMEM;

	m.group = malloc((m.n_before + 1) * sizeof *m.group);
	if (m.group)
		ret = choose_groups(&m, share);
	if (!ret)
		ret = merge_groups(&m);
	if (!ret && h->entities.n > m.n_before)
		point_at_virtual(h);
	free(m.group);
	VPROF_ARRAY_RELEASE(&m.first);
	VPROF_ARRAY_RELEASE(&m.size);
	VPROF_ARRAY_RELEASE(&m.changes);
	VPROF_ARRAY_RELEASE(&m.of_change);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}
