/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Amounts are assigned to intervals by time: to the segment that covers that moment on the thread that recorded it. */
#include "analysis/stats/interval_attributes.h"

#include <stdio.h>

#include "common/hash/hash_index.h"
#include "common/radix.h"

struct tally {
	uint64_t name, n;
};

static int tally_order(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

struct tallies {
	VPROF_ARRAY(struct tally) v;
	size_t last; /* the last name seen */
};

static int count_names(struct tallies *t, const struct vprof_thread_timeline *thr)
{
	for (size_t k = 0; k < thr->amounts.n; k++) {
		uint64_t name = thr->amounts.v[k].name;
		struct tally *new;

		if (t->last < t->v.n && t->v.v[t->last].name == name) {
			t->v.v[t->last].n++;
			continue;
		}
		for (t->last = 0; t->last < t->v.n && t->v.v[t->last].name != name; t->last++)
			;
		if (t->last < t->v.n) {
			t->v.v[t->last].n++;
		} else if (t->v.n < 1000) {
			new = VPROF_PUSH(&t->v);
			if (!new)
				return VPROF_ERR_NOMEM;
			*new = (struct tally){ name, 1 };
		}
	}
	return 0;
}

/* The most frequent names. OK or NOMEM. */
static int find_counters(struct vprof_interval_attributes *t, const struct vprof_source *sources, size_t n_sources)
{
	struct tallies tallies = { { NULL, 0, 0 }, 0 };
	int ret = 0;

	for (size_t s = 0; s < n_sources; s++)
		for (size_t i = 0; i < sources[s].timeline->n_threads && !ret; i++)
			ret = count_names(&tallies, &sources[s].timeline->threads[i]);
	if (tallies.v.n)
		qsort(tallies.v.v, tallies.v.n, sizeof *tallies.v.v, tally_order);
	t->n_counters = tallies.v.n < VPROF_COUNTERS_MAX ? tallies.v.n : VPROF_COUNTERS_MAX;
	t->n_left_out = tallies.v.n - t->n_counters;
	for (size_t i = 0; i < t->n_counters; i++) {
		t->counters[i] = tallies.v.v[i].name;
		for (size_t s = 0; s < n_sources && !t->counter_names[i]; s++)
			t->counter_names[i] = vprof_timeline_string(sources[s].timeline, t->counters[i]);
	}
	VPROF_ARRAY_RELEASE(&tallies.v);
	return ret;
}

static void add_amount(struct vprof_interval_attributes *t, const struct vprof_intervals *intervals,
		       const uint32_t *place, uint32_t thread, const struct vprof_amount *a)
{
	uint32_t s = vprof_intervals_segment_before(intervals, thread, a->t), at = VPROF_NONE;
	const struct vprof_segment *segment;
	size_t c = 0;

	if (s != VPROF_NONE) {
		segment = &intervals->segments.v[intervals->by_thread[s]];
		at = segment->t1 >= a->t ? place[segment->instance] : VPROF_NONE;
	}
	while (c < t->n_counters && t->counters[c] != a->name)
		c++;
	if (at == VPROF_NONE)
		t->n_stray++;
	else if (c < t->n_counters)
		t->amounts[at * t->n_counters + c] += (double)a->amount;
}

static int gather_amounts_of(struct vprof_interval_attributes *t, const struct vprof_source *s)
{
	size_t cap_place = 0;
	uint32_t *place = vprof_array_room(NULL, &cap_place, s->intervals->instances.n + 1, sizeof *place);

	if (!place)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < s->intervals->instances.n; i++)
		place[i] = VPROF_NONE;
	for (size_t i = 0; i < s->chosen.n; i++)
		place[s->chosen.v[i]] = (uint32_t)(s->first + i);
	for (uint32_t i = 0; i < s->timeline->n_threads; i++)
		for (size_t k = 0; k < s->timeline->threads[i].amounts.n; k++)
			add_amount(t, s->intervals, place, i, &s->timeline->threads[i].amounts.v[k]);
	vprof_array_free(place, cap_place, sizeof *place);
	return 0;
}

static int gather_amounts(struct vprof_interval_attributes *t, const struct vprof_source *sources, size_t n_sources)
{
	int ret = find_counters(t, sources, n_sources);

	if (ret || !t->n_counters)
		return ret;
	t->amounts = vprof_array_room(NULL, &t->cap_amounts, t->n * t->n_counters + 1, sizeof *t->amounts);
	if (!t->amounts)
		return VPROF_ERR_NOMEM;
	memset(t->amounts, 0, t->n * t->n_counters * sizeof *t->amounts);
	for (size_t s = 0; s < n_sources && !ret; s++)
		ret = gather_amounts_of(t, &sources[s]);
	for (size_t i = 0; i < t->n; i++) {
		size_t c = 0;

		while (c < t->n_counters && t->amounts[i * t->n_counters + c] == 0)
			c++;
		t->n_worked += c < t->n_counters;
	}
	return ret;
}

const char *vprof_type_name(struct vprof_results *r, const struct vprof_timeline *timeline, uint8_t kind, uint64_t type)
{
	const char *text = kind == 2 ? vprof_timeline_string(timeline, type) : NULL;
	char number[32];

	if (kind == 0)
		return vprof_results_string(r, "(no type)");
	if (text)
		return vprof_results_string(r, text);
	snprintf(number, sizeof number, kind == 1 ? "%lld" : "type %llx", (long long)type);
	return vprof_results_string(r, number);
}

/* Index of a type in t->types, VPROF_NONE without memory. */
static uint32_t find_type(struct vprof_interval_attributes *t, struct vprof_hash_index *index,
			  const struct vprof_timeline *timeline, const struct vprof_instance *inst,
			  struct vprof_results *r)
{
	uint64_t hash = vprof_mix(inst->type + inst->type_kind);
	struct vprof_interval_type *new;
	size_t at;

	if (vprof_hash_index_room(index, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(index, hash, at, i)
	if (t->types.v[i].type == inst->type && t->types.v[i].kind == inst->type_kind)
		return i;
	new = VPROF_PUSH(&t->types);
	if (!new)
		return VPROF_NONE;
	*new = (struct vprof_interval_type){ inst->type, inst->type_kind,
					     vprof_type_name(r, timeline, inst->type_kind, inst->type), 0 };
	vprof_hash_index_put(index, at, hash, (uint32_t)t->types.n - 1);
	return new->name ? (uint32_t)t->types.n - 1 : VPROF_NONE;
}

struct named {
	const char *name;
	uint32_t index;
};

static int named_order(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Names are interned: the same name is the same pointer. */
static int join_names(struct vprof_interval_attributes *t)
{
	struct named *named = malloc((t->types.n + 1) * sizeof *named);

	if (!named)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < t->types.n; i++)
		named[i] = (struct named){ t->types.v[i].name, i };
	qsort(named, t->types.n, sizeof *named, named_order);
	for (size_t i = 0; i < t->types.n; i++)
		t->types.v[named[i].index].same =
			i && named[i].name == named[i - 1].name ? t->types.v[named[i - 1].index].same : named[i].index;
	free(named);
	for (size_t i = 0; i < t->n; i++)
		t->type[i] = t->types.v[t->type[i]].same;
	return 0;
}

/* Neighbours are often of one type. */
static int gather_types_of(struct vprof_interval_attributes *t, struct vprof_hash_index *index,
			   const struct vprof_source *s, struct vprof_results *r)
{
	const struct vprof_instance *before = NULL;

	for (size_t i = 0; i < s->chosen.n; i++) {
		const struct vprof_instance *inst = &s->intervals->instances.v[s->chosen.v[i]];
		uint32_t *type = &t->type[s->first + i];

		*type = before && before->type == inst->type && before->type_kind == inst->type_kind ?
				type[-1] :
				find_type(t, index, s->timeline, inst, r);
		if (*type == VPROF_NONE)
			return VPROF_ERR_NOMEM;
		before = inst;
	}
	return 0;
}

static int gather_types(struct vprof_interval_attributes *t, const struct vprof_source *sources, size_t n_sources,
			struct vprof_results *r)
{
	struct vprof_hash_index index = { 0 };
	int ret = 0;

	for (size_t s = 0; s < n_sources && !ret; s++)
		ret = gather_types_of(t, &index, &sources[s], r);
	vprof_hash_index_release(&index);
	return ret ? ret : join_names(t);
}

static int sort_latencies(struct vprof_interval_attributes *t)
{
	size_t cap = 0;
	struct vprof_keyed *keyed = vprof_array_room(NULL, &cap, t->n + 1, sizeof *keyed);
	int ret = keyed ? 0 : VPROF_ERR_NOMEM;

	for (size_t i = 0; !ret && i < t->n; i++)
		keyed[i] = (struct vprof_keyed){ vprof_falling_key(t->ns[i]), (uint32_t)i };
	if (!ret)
		ret = vprof_radix_sort(keyed, t->n);
	for (size_t i = 0; !ret && i < t->n; i++)
		t->slowest[i] = keyed[i].item;
	vprof_array_free(keyed, cap, sizeof *keyed);
	return ret;
}

int vprof_interval_attributes_gather(struct vprof_interval_attributes *t, const struct vprof_source *sources,
				     size_t n_sources, struct vprof_results *r)
{
	size_t n = 0;

	for (size_t i = 0; i < n_sources; i++)
		n += sources[i].chosen.n;
	*t = (struct vprof_interval_attributes){ .n = n };
	t->ns = vprof_array_room(NULL, &t->cap_ns, n + 1, sizeof *t->ns);
	t->at_ns = vprof_array_room(NULL, &t->cap_at_ns, n + 1, sizeof *t->at_ns);
	t->slowest = vprof_array_room(NULL, &t->cap_slowest, n + 1, sizeof *t->slowest);
	t->type = vprof_array_room(NULL, &t->cap_type, n + 1, sizeof *t->type);
	t->run_first = malloc((n_sources + 1) * sizeof *t->run_first);
	if (!t->ns || !t->at_ns || !t->slowest || !t->type || !t->run_first)
		return VPROF_ERR_NOMEM;
	for (const struct vprof_source *s = sources; s < sources + n_sources; s++) {
		if (s->chosen.n)
			t->run_first[t->n_runs++] = s->first;
		for (size_t i = 0; i < s->chosen.n; i++) {
			const struct vprof_instance *inst = &s->intervals->instances.v[s->chosen.v[i]];
			uint64_t at = inst->begin > s->start ? inst->begin - s->start : 0;

			t->ns[s->first + i] = (double)(inst->end - inst->begin) * s->timeline->ns_per_tick;
			t->at_ns[s->first + i] = s->from_ns + (double)at * s->timeline->ns_per_tick;
		}
	}
	t->run_first[t->n_runs] = n;
	if (sort_latencies(t) || gather_types(t, sources, n_sources, r))
		return VPROF_ERR_NOMEM;
	return gather_amounts(t, sources, n_sources);
}

void vprof_interval_attributes_release(struct vprof_interval_attributes *t)
{
	vprof_array_free(t->ns, t->cap_ns, sizeof *t->ns);
	vprof_array_free(t->at_ns, t->cap_at_ns, sizeof *t->at_ns);
	vprof_array_free(t->slowest, t->cap_slowest, sizeof *t->slowest);
	vprof_array_free(t->type, t->cap_type, sizeof *t->type);
	free(t->run_first);
	VPROF_ARRAY_RELEASE(&t->types);
	vprof_array_free(t->amounts, t->cap_amounts, sizeof *t->amounts);
	*t = (struct vprof_interval_attributes){ 0 };
}
