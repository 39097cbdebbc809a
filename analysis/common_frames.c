/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks are innermost first in the trace and are turned round here. A function inlined into another is a frame of its
 * own: it can carry a probe as any other can. Frames without a symbol are left out, so two stacks are compared by the
 * functions that have names. */
#include <stdio.h>

#include "analysis/source/relevance.h"
#include "analysis/common_frames.h"

#define WAKER_SHARE 0.02 /* of the time waited: what holds less cannot explain a factor above the usual threshold */

struct found {
	const struct vprof_symbol *symbol;
	uint64_t n, n_enclosing, n_innermost;
	double depth_sum, waited;
};

#define STACK_MAX (4 * VP_STACK_MAX) /* with inlined functions */

struct stack {
	const struct vprof_symbol *frames[STACK_MAX]; /* outermost first */
	size_t n;
};

struct frame_finder {
	VPROF_ARRAY(struct found) found;
	uint64_t n_pairs;
	double waited; /* for the releases whose stacks were sampled */
};

static struct found *found_of(struct frame_finder *s, const struct vprof_symbol *symbol)
{
	struct found *f;

	for (size_t i = 0; i < s->found.n; i++)
		if (s->found.v[i].symbol == symbol ||
		    (!strcmp(s->found.v[i].symbol->name, symbol->name) &&
		     !strcmp(s->found.v[i].symbol->module, symbol->module) && s->found.v[i].symbol->low == symbol->low))
			return &s->found.v[i];
	f = VPROF_PUSH(&s->found);
	if (f)
		f->symbol = symbol;
	return f;
}

static void resolve(struct stack *out, const struct vprof_stack *in, uint32_t process_seq,
		    struct vprof_symbols *symbols)
{
	out->n = 0;
	for (uint32_t i = in->n; i-- > 0;) {
		uint64_t address = i % 2 ? in->addresses[i / 2].w : in->addresses[i / 2].t;
		const struct vprof_symbol *const *found;
		size_t n = vprof_symbols_find(symbols, process_seq, address, &found);

		/* what called and was not inlined always has room */
		for (int is_outer = 1; n-- > 0 && out->n + (is_outer ? 0 : i) < STACK_MAX; is_outer = 0)
			if (!vprof_symbols_is_runtime(found[n]->module))
				out->frames[out->n++] = found[n];
	}
}

/* `waited`: how long intervals' threads had waited for this release; 0 when it is none. A function that recurs counts
 * once. */
static int count_stack(struct frame_finder *s, const struct stack *stack, double waited)
{
	s->waited += waited;
	for (size_t i = 0; i < stack->n; i++) {
		struct found *f = found_of(s, stack->frames[i]);
		size_t k;

		if (!f)
			return VPROF_ERR_NOMEM;
		f->n++;
		f->depth_sum += (double)i;
		for (k = 0; k < i && stack->frames[k] != stack->frames[i]; k++)
			;
		if (k == i)
			f->waited += waited;
	}
	return 0;
}

static int count_pair(struct frame_finder *s, const struct stack *begin, const struct stack *end)
{
	size_t i;

	s->n_pairs++;
	for (i = 0; i < begin->n && i < end->n && begin->frames[i] == end->frames[i]; i++) {
		struct found *f = found_of(s, begin->frames[i]);

		if (!f)
			return VPROF_ERR_NOMEM;
		f->n_enclosing++;
	}
	if (i)
		found_of(s, begin->frames[i - 1])->n_innermost++;
	return 0;
}

/* Does the stack tell of an interval? *waited: see count_stack. */
static int matters(const struct vprof_stack *stack, const struct vprof_relevance *relevance, double *waited)
{
	*waited = 0;
	if (stack->kind == VP_STACK_INTERVAL)
		return 1;
	if (stack->kind != VP_STACK_WAKE)
		return vprof_relevance_covers(relevance, stack->t);
	*waited = (double)vprof_relevance_waited(relevance, stack->t);
	return *waited > 0;
}

static int take_thread(struct frame_finder *s, const struct vprof_thread_timeline *thr,
		       const struct vprof_relevance *relevance, struct vprof_symbols *symbols)
{
	struct stack begin = { .n = 0 }, now;
	uint64_t begin_t = 0;

	for (size_t i = 0; i < thr->stacks.n; i++) {
		const struct vprof_stack *in = &thr->stacks.v[i];
		double waited;
		size_t next;

		if (!matters(in, relevance, &waited))
			continue;
		resolve(&now, in, thr->process_seq, symbols);
		if (count_stack(s, &now, waited))
			return VPROF_ERR_NOMEM;
		if (in->kind != VP_STACK_INTERVAL)
			continue;
		if (in->next_kind == VP_KIND_BEGIN || in->next_kind == VP_KIND_RESUME) {
			begin = now;
			begin_t = in->t;
			continue;
		}
		if (!begin.n)
			continue;
		/* Only the mark right after the begin ends its segment: stacks are sampled, marks are not. */
		next = VPROF_TIME_SEARCH(&thr->marks, begin_t, 0);
		while (next < thr->marks.n && thr->marks.v[next].kind == VP_KIND_TYPE)
			next++;
		if (next < thr->marks.n && thr->marks.v[next].t == in->t && count_pair(s, &begin, &now))
			return VPROF_ERR_NOMEM;
		begin.n = 0;
	}
	return 0;
}

static int depth_order(const void *a, const void *b)
{
	const struct vprof_common_frame *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int fill(struct frame_finder *s, struct vprof_results *r)
{
	r->common_frames = calloc(s->found.n ? s->found.n : 1, sizeof *r->common_frames);
	if (!r->common_frames)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < s->found.n; i++) {
		const struct found *f = &s->found.v[i];
		struct vprof_common_frame *out = &r->common_frames[r->n_common_frames];
		int encloses = f->n_enclosing && f->n_enclosing * 10 >= s->n_pairs;
		int is_waker = f->waited > 0 && f->waited >= WAKER_SHARE * s->waited;

		if (!f->n || (f->waited > 0 && !is_waker && !encloses))
			continue; /* neither where intervals live nor what they wait for */
		out->name = vprof_results_string(r, f->symbol->name);
		out->module = vprof_results_string(r, f->symbol->module);
		if (!out->name || !out->module)
			return VPROF_ERR_NOMEM;
		out->n = f->n;
		out->depth = f->depth_sum / (double)f->n;
		out->encloses = encloses;
		out->innermost_enclosing = f->n_innermost && f->n_innermost * 10 >= s->n_pairs;
		out->is_waker = is_waker;
		r->n_common_frames++;
	}
	qsort(r->common_frames, r->n_common_frames, sizeof *r->common_frames, depth_order);
	return 0;
}

static int take_source(struct frame_finder *s, const struct vprof_timeline *timeline, struct vprof_symbols *symbols)
{
	struct vprof_relevance *relevance;
	int rc = vprof_relevance_find(&relevance, timeline);

	for (size_t i = 0; i < timeline->n_threads && !rc; i++)
		rc = take_thread(s, &timeline->threads[i], &relevance[i], symbols);
	vprof_relevance_free(relevance, timeline->n_threads);
	return rc;
}

/* What the run's earlier analysis found while its modules were still there. Is it taken? */
static int keep_earlier(struct vprof_results *r, const char *path)
{
	struct vprof_results *earlier;
	struct vprof_common_frame *common_frames;
	int kept;

	if (vprof_results_read(&earlier, path, NULL))
		return 0; /* there is none, or it is of another version */
	/* (of the same trace: a run's folder may be written again) */
	common_frames = earlier->n_records == r->n_records && earlier->n_common_frames > r->n_common_frames ?
				calloc(earlier->n_common_frames, sizeof *common_frames) :
				NULL;
	kept = common_frames != NULL;
	for (size_t i = 0; kept && i < earlier->n_common_frames; i++) {
		common_frames[i] = earlier->common_frames[i];
		common_frames[i].name = vprof_results_string(r, earlier->common_frames[i].name);
		common_frames[i].module = vprof_results_string(r, earlier->common_frames[i].module);
		kept = common_frames[i].name && common_frames[i].module;
	}
	if (kept) {
		free(r->common_frames);
		r->common_frames = common_frames;
		r->n_common_frames = earlier->n_common_frames;
	} else {
		free(common_frames);
	}
	vprof_results_free(earlier);
	return kept;
}

static void find_changed(struct vprof_changed_modules *changed, struct vprof_symbols *const *symbols, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const char *first;
		size_t n_changed = vprof_symbols_changed(symbols[k], &first);
		const char *damage = vprof_symbols_damage(symbols[k]);

		if (damage && !*changed->damage)
			snprintf(changed->damage, sizeof changed->damage, "%s", damage);

		changed->first = changed->n ? changed->first : first;
		changed->n += n_changed;
	}
}

int vprof_common_frames_find(struct vprof_results *r, const struct vprof_source *sources, size_t n_sources,
			     const char *earlier, struct vprof_changed_modules *changed, struct vprof_error *err)
{
	/* names are needed until the end */
	struct vprof_symbols **symbols = calloc(n_sources + 1, sizeof(struct vprof_symbols *));
	struct frame_finder s = { .n_pairs = 0 };
	int ret = symbols ? 0 : VPROF_ERR_NOMEM;

	for (size_t k = 0; k < n_sources && !ret; k++) {
		symbols[k] = vprof_symbols_new(sources[k].timeline);
		ret = symbols[k] ? 0 : VPROF_ERR_NOMEM;
		if (!ret)
			ret = take_source(&s, sources[k].timeline, symbols[k]);
	}
	if (!ret)
		ret = fill(&s, r);
	*changed = (struct vprof_changed_modules){ 0 };
	if (!ret)
		find_changed(changed, symbols, n_sources);
	if (changed->n && earlier)
		changed->is_kept = keep_earlier(r, earlier);
	VPROF_ARRAY_RELEASE(&s.found);
	for (size_t k = 0; k < n_sources && symbols; k++)
		vprof_symbols_free(symbols[k]);
	free(symbols);
	if (ret)
		vprof_error_set(err, ret, "not enough memory for the sampled call stacks");
	return ret;
}
