/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/transactions/working_for.h"

#include "analysis/stats/interval_attributes.h"
#include "common/text.h"

static uint64_t kind_hash(const struct vprof_instance *i)
{
	return vprof_mix(i->name ^ vprof_mix(i->type + i->type_kind));
}

static int is_kind(const struct vprof_interval_kind *k, const struct vprof_instance *i)
{
	return k->name == i->name && k->type_kind == i->type_kind && (!i->type_kind || k->type == i->type);
}

/* The type's name; of other intervals than the one under analysis, and without a type, the interval's, too. */
static const char *party_name(struct vprof_results *r, const struct vprof_timeline *timeline,
			      const struct vprof_instance *i, int is_other)
{
	const char *interval = vprof_timeline_string(timeline, i->name), *type, *name = NULL;
	struct vprof_text t = VPROF_TEXT_INIT;

	interval = interval ? interval : "interval";
	if (!i->type_kind)
		return vprof_results_string(r, interval);
	type = vprof_type_name(r, timeline, i->type_kind, i->type);
	if (!type || !is_other)
		return type;
	vprof_text_addf(&t, "%s %s", interval, type);
	if (!t.failed)
		name = vprof_results_string(r, t.s);
	vprof_text_release(&t);
	return name;
}

static int add_kind(struct vprof_working_for *w, struct vprof_results *r, const struct vprof_timeline *timeline,
		    const struct vprof_instance *i, uint64_t analysed)
{
	uint64_t hash = kind_hash(i);
	struct vprof_interval_kind *kind;
	const char *name, **slot;
	uint32_t party = 0;
	size_t at;

	if (vprof_hash_index_room(&w->by_kind, 1))
		return VPROF_ERR_NOMEM;
	VPROF_HASH_EACH(&w->by_kind, hash, at, k)
	if (is_kind(&w->kinds.v[k], i))
		return VPROF_OK;
	name = party_name(r, timeline, i, i->name != analysed);
	kind = name ? VPROF_PUSH(&w->kinds) : NULL;
	if (!kind)
		return VPROF_ERR_NOMEM;
	while (party < w->parties.n && w->parties.v[party] != name)
		party++;
	if (party == w->parties.n) {
		slot = VPROF_PUSH(&w->parties);
		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = name;
	}
	*kind = (struct vprof_interval_kind){ i->name, i->type, i->type_kind, party };
	vprof_hash_index_put(&w->by_kind, at, hash, (uint32_t)w->kinds.n - 1);
	return VPROF_OK;
}

int vprof_working_for_find(struct vprof_working_for *w, struct vprof_results *r, const struct vprof_source *sources,
			   size_t n_sources, uint64_t name)
{
	*w = (struct vprof_working_for){ .sources = sources, .n_sources = n_sources };
	w->first_thread = calloc(n_sources + 1, sizeof *w->first_thread);
	if (!w->first_thread)
		return VPROF_ERR_NOMEM;
	for (size_t s = 0; s < n_sources; s++) {
		const struct vprof_intervals *intervals = sources[s].intervals;

		w->first_thread[s] = w->n_threads;
		w->n_threads += sources[s].timeline->n_threads;
		for (size_t i = 0; i < intervals->instances.n; i++)
			if (add_kind(w, r, sources[s].timeline, &intervals->instances.v[i], name))
				return VPROF_ERR_NOMEM;
	}
	return w->parties.n + w->n_threads < VPROF_NONE - VPROF_HOLDER_FIRST ? VPROF_OK : VPROF_ERR_NOMEM;
}

void vprof_working_for_release(struct vprof_working_for *w)
{
	VPROF_ARRAY_RELEASE(&w->parties);
	VPROF_ARRAY_RELEASE(&w->kinds);
	vprof_hash_index_release(&w->by_kind);
	free(w->first_thread);
	*w = (struct vprof_working_for){ 0 };
}

uint32_t vprof_party_of(const struct vprof_working_for *w, const struct vprof_instance *instance)
{
	size_t at;

	VPROF_HASH_EACH(&w->by_kind, kind_hash(instance), at, k)
	if (is_kind(&w->kinds.v[k], instance))
		return w->kinds.v[k].party;
	return 0; /* all kinds were found */
}

size_t vprof_n_holders(const struct vprof_working_for *w)
{
	return VPROF_HOLDER_FIRST + w->parties.n + w->n_threads;
}

int vprof_holder_is_thread(const struct vprof_working_for *w, uint32_t holder, size_t *source, uint32_t *thread)
{
	size_t at = holder - VPROF_HOLDER_FIRST - w->parties.n;

	if (holder < VPROF_HOLDER_FIRST + w->parties.n)
		return 0;
	*source = w->n_sources - 1;
	while (w->first_thread[*source] > at)
		--*source;
	*thread = (uint32_t)(at - w->first_thread[*source]);
	return 1;
}

uint32_t vprof_holder_at(const struct vprof_working_for *w, size_t source, uint32_t thread, uint64_t t,
			 uint32_t instance, uint64_t *until)
{
	const struct vprof_intervals *v = w->sources[source].intervals;
	uint32_t at = vprof_intervals_segment_before(v, thread, t), next = v->thread_first[thread];

	*until = UINT64_MAX;
	if (at != VPROF_NONE) {
		const struct vprof_segment *s = &v->segments.v[v->by_thread[at]];

		if (t < s->t1) {
			*until = s->t1;
			return s->instance == instance ?
				       VPROF_HOLDER_SELF :
				       VPROF_HOLDER_FIRST + vprof_party_of(w, &v->instances.v[s->instance]);
		}
		next = at + 1;
	}
	if (next < v->thread_first[thread + 1])
		*until = v->segments.v[v->by_thread[next]].t0;
	return (uint32_t)(VPROF_HOLDER_FIRST + w->parties.n + w->first_thread[source] + thread);
}
