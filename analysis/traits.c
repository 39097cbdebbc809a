/* Amounts are found their interval by time: the segment that covers the moment on the thread that recorded it. */
#include "analysis/traits.h"

#include <stdio.h>

#include "analysis/latency.h"

#define TYPES_KNOWN 1024

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

/* The most frequent names. OK or NOMEM. */
static int find_counters(struct vprof_traits *t, const struct vprof_timeline *timeline)
{
	VPROF_ARRAY(struct tally) tallies = { NULL, 0, 0 };
	size_t last = 0;

	for (size_t i = 0; i < timeline->n_threads; i++) {
		for (size_t k = 0; k < timeline->threads[i].amounts.n; k++) {
			uint64_t name = timeline->threads[i].amounts.v[k].name;
			struct tally *new;

			if (last < tallies.n && tallies.v[last].name == name) {
				tallies.v[last].n++;
				continue;
			}
			for (last = 0; last < tallies.n && tallies.v[last].name != name; last++)
				;
			if (last < tallies.n) {
				tallies.v[last].n++;
			} else if (tallies.n < 1000) {
				new = VPROF_PUSH(&tallies);
				if (!new)
					goto nomem;
				*new = (struct tally){ name, 1 };
			}
		}
	}
	if (tallies.n)
		qsort(tallies.v, tallies.n, sizeof *tallies.v, tally_order);
	t->n_counters = tallies.n < VPROF_COUNTERS_MAX ? tallies.n : VPROF_COUNTERS_MAX;
	t->n_left_out = tallies.n - t->n_counters;
	for (size_t i = 0; i < t->n_counters; i++)
		t->counters[i] = tallies.v[i].name;
	VPROF_ARRAY_RELEASE(&tallies);
	return 0;
nomem:
	VPROF_ARRAY_RELEASE(&tallies);
	return VPROF_ERR_NOMEM;
}

static void add_amount(struct vprof_traits *t, const struct vprof_intervals *intervals, const uint32_t *place, uint32_t thread,
		       const struct vprof_amount *a)
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

static int gather_amounts(struct vprof_traits *t, const struct vprof_timeline *timeline,
			  const struct vprof_intervals *intervals, const uint32_t *chosen, size_t n)
{
	size_t cap_place = 0;
	uint32_t *place;

	if (find_counters(t, timeline))
		return VPROF_ERR_NOMEM;
	if (!t->n_counters)
		return 0;
	place = vprof_array_room(NULL, &cap_place, intervals->instances.n + 1, sizeof *place);
	t->amounts = vprof_array_room(NULL, &t->cap_amounts, n * t->n_counters + 1, sizeof *t->amounts);
	if (!place || !t->amounts) {
		vprof_array_free(place, cap_place, sizeof *place);
		return VPROF_ERR_NOMEM;
	}
	memset(t->amounts, 0, n * t->n_counters * sizeof *t->amounts);
	for (size_t i = 0; i < intervals->instances.n; i++)
		place[i] = VPROF_NONE;
	for (size_t i = 0; i < n; i++)
		place[chosen[i]] = (uint32_t)i;
	for (uint32_t i = 0; i < timeline->n_threads; i++)
		for (size_t k = 0; k < timeline->threads[i].amounts.n; k++)
			add_amount(t, intervals, place, i, &timeline->threads[i].amounts.v[k]);
	vprof_array_free(place, cap_place, sizeof *place);
	for (size_t i = 0; i < n; i++) {
		size_t c = 0;

		while (c < t->n_counters && t->amounts[i * t->n_counters + c] == 0)
			c++;
		t->n_worked += c < t->n_counters;
	}
	return 0;
}

struct known_type {
	uint64_t type;
	uint32_t index;
	uint8_t kind, is_used;
};

static int find_type(const struct vprof_timeline *timeline, struct vprof_results *r, struct known_type *t)
{
	const char *name = vprof_latency_type_name(r, timeline, t->kind, t->type);

	if (!name)
		return VPROF_ERR_NOMEM;
	for (t->index = 0; t->index < r->n_types && r->types[t->index].name != name; t->index++)
		;
	if (t->index == r->n_types)
		t->index = VPROF_NONE;
	t->is_used = 1;
	return 0;
}

/* Types repeat: the last answer for each place of a small table is kept. */
static int gather_types(struct vprof_traits *t, const struct vprof_timeline *timeline, const struct vprof_intervals *intervals,
			const uint32_t *chosen, struct vprof_results *r)
{
	struct known_type *known = calloc(TYPES_KNOWN, sizeof *known);
	int ret = known ? 0 : VPROF_ERR_NOMEM;

	for (size_t i = 0; i < t->n && !ret; i++) {
		const struct vprof_instance *inst = &intervals->instances.v[chosen[i]];
		struct known_type *k = &known[vprof_mix(inst->type + inst->type_kind) % TYPES_KNOWN];

		if (!k->is_used || k->type != inst->type || k->kind != inst->type_kind) {
			*k = (struct known_type){ .type = inst->type, .kind = inst->type_kind };
			ret = find_type(timeline, r, k);
		}
		t->type[i] = k->index;
	}
	free(known);
	return ret;
}

int vprof_traits_gather(struct vprof_traits *t, const struct vprof_timeline *timeline,
			const struct vprof_intervals *intervals, const uint32_t *chosen, size_t n, struct vprof_results *r)
{
	*t = (struct vprof_traits){ .n = n };
	t->ns = vprof_array_room(NULL, &t->cap_ns, n + 1, sizeof *t->ns);
	t->type = vprof_array_room(NULL, &t->cap_type, n + 1, sizeof *t->type);
	if (!t->ns || !t->type)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct vprof_instance *inst = &intervals->instances.v[chosen[i]];

		t->ns[i] = (double)(inst->end - inst->begin) * timeline->ns_per_tick;
	}
	if (gather_types(t, timeline, intervals, chosen, r))
		return VPROF_ERR_NOMEM;
	return gather_amounts(t, timeline, intervals, chosen, n);
}

void vprof_traits_release(struct vprof_traits *t)
{
	vprof_array_free(t->ns, t->cap_ns, sizeof *t->ns);
	vprof_array_free(t->type, t->cap_type, sizeof *t->type);
	vprof_array_free(t->amounts, t->cap_amounts, sizeof *t->amounts);
	*t = (struct vprof_traits){ 0 };
}
