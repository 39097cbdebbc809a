/* Generation by generation: the waits in the newest stretches name the threads that ended them, and the wait's time until then is
 * a stretch of that thread. A wait is followed once; a generation costs at most one look at each wait. */
#include "analysis/concern.h"

#define GENERATIONS 16

struct search {
	const struct vprof_timeline *timeline;
	struct vprof_concern *found;
	struct vprof_concern *newest, *next; /* their stretches only */
	unsigned char **followed;	     /* [thread][wait] */
};

static int by_from(const void *a, const void *b)
{
	const struct vprof_concern_span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static int by_t(const void *a, const void *b)
{
	const struct vprof_release *x = a, *y = b;

	return x->t < y->t ? -1 : x->t > y->t;
}

/* Sorts and joins what overlaps. OK or NOMEM. */
static int join(struct vprof_concern *c)
{
	size_t kept = 0;

	if (vprof_array_sort(c->stretches.v, c->stretches.n, sizeof *c->stretches.v, by_from))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < c->stretches.n; i++) {
		struct vprof_concern_span s = c->stretches.v[i], *last = kept ? &c->stretches.v[kept - 1] : NULL;

		if (last && s.from <= last->to)
			last->to = s.to > last->to ? s.to : last->to;
		else
			c->stretches.v[kept++] = s;
	}
	c->stretches.n = kept;
	return 0;
}

static int add_stretch(struct vprof_concern *c, uint64_t from, uint64_t to)
{
	struct vprof_concern_span *s = VPROF_PUSH(&c->stretches);

	if (!s)
		return VPROF_ERR_NOMEM;
	*s = (struct vprof_concern_span){ from, to };
	return 0;
}

static void widen(struct vprof_concern_span *s, uint64_t t)
{
	s->from = t < s->from ? t : s->from;
	s->to = t > s->to ? t : s->to;
}

/* From a thread's first mark or queue event to its last. */
static int add_marked(struct vprof_concern *c, const struct vprof_line *line)
{
	struct vprof_concern_span s = { UINT64_MAX, 0 };

	for (size_t i = 0; i < line->marks.n; i++)
		widen(&s, line->marks.v[i].t);
	for (size_t i = 0; i < line->queue_events.n; i++)
		if (!line->queue_events.v[i].is_message)
			widen(&s, line->queue_events.v[i].t);
	return s.from <= s.to ? add_stretch(c, s.from, s.to) : 0;
}

static int follow(struct search *s, const struct vprof_wait *w, size_t thread)
{
	struct vprof_release *release;

	if (w->waker == VPROF_NONE || w->waker == thread || w->waker >= s->timeline->n_threads)
		return 0;
	release = VPROF_PUSH(&s->found[w->waker].releases);
	if (!release)
		return VPROF_ERR_NOMEM;
	*release = (struct vprof_release){ w->wake_t, w->t1 - w->t0 };
	return add_stretch(&s->next[w->waker], w->t0, w->wake_t);
}

static int take_stretch(struct search *s, size_t thread, const struct vprof_concern_span *stretch)
{
	const struct vprof_line *line = &s->timeline->threads[thread];
	size_t i = vprof_time_search(line->waits.v, sizeof *line->waits.v, line->waits.n, stretch->from, 0);
	int rc = add_stretch(&s->found[thread], stretch->from, stretch->to);

	if (i && line->waits.v[i - 1].t1 > stretch->from)
		i--; /* began before, lasts into it */
	for (; !rc && i < line->waits.n && line->waits.v[i].t0 < stretch->to; i++) {
		if (s->followed[thread][i])
			continue;
		s->followed[thread][i] = 1;
		rc = follow(s, &line->waits.v[i], thread);
	}
	return rc;
}

/* *grew tells whether there is a further generation. */
static int take_generation(struct search *s, int *grew)
{
	struct vprof_concern *swap = s->newest;
	int rc = 0;

	*grew = 0;
	for (size_t t = 0; !rc && t < s->timeline->n_threads; t++) {
		rc = join(&s->newest[t]);
		for (size_t i = 0; !rc && i < s->newest[t].stretches.n; i++)
			rc = take_stretch(s, t, &s->newest[t].stretches.v[i]);
		s->newest[t].stretches.n = 0;
	}
	for (size_t t = 0; t < s->timeline->n_threads; t++)
		*grew |= s->next[t].stretches.n > 0;
	s->newest = s->next;
	s->next = swap;
	return rc;
}

static int search(struct search *s)
{
	const struct vprof_timeline *timeline = s->timeline;
	int rc = 0, grew = 1;

	for (size_t t = 0; t < timeline->n_threads; t++) {
		s->followed[t] = calloc(timeline->threads[t].waits.n + 1, 1);
		if (!s->followed[t] || add_marked(&s->newest[t], &timeline->threads[t]))
			return VPROF_ERR_NOMEM;
	}
	for (int g = 0; g < GENERATIONS && grew && !rc; g++)
		rc = take_generation(s, &grew);
	for (size_t t = 0; t < timeline->n_threads && !rc; t++) {
		rc = join(&s->found[t]);
		if (!rc && vprof_array_sort(s->found[t].releases.v, s->found[t].releases.n, sizeof *s->found[t].releases.v, by_t))
			rc = VPROF_ERR_NOMEM;
	}
	return rc;
}

int vprof_concern_find(struct vprof_concern **out, const struct vprof_timeline *timeline)
{
	size_t n = timeline->n_threads;
	struct search s = {
		.timeline = timeline,
		.found = calloc(n + 1, sizeof *s.found),
		.newest = calloc(n + 1, sizeof *s.newest),
		.next = calloc(n + 1, sizeof *s.next),
		.followed = calloc(n + 1, sizeof *s.followed),
	};
	int rc = s.found && s.newest && s.next && s.followed ? search(&s) : VPROF_ERR_NOMEM;

	for (size_t t = 0; s.followed && t < n; t++)
		free(s.followed[t]);
	free(s.followed);
	vprof_concern_free(s.newest, n);
	vprof_concern_free(s.next, n);
	if (rc) {
		vprof_concern_free(s.found, n);
		s.found = NULL;
	}
	*out = s.found;
	return rc;
}

void vprof_concern_free(struct vprof_concern *concern, size_t n_threads)
{
	for (size_t t = 0; concern && t < n_threads; t++) {
		VPROF_ARRAY_RELEASE(&concern[t].stretches);
		VPROF_ARRAY_RELEASE(&concern[t].releases);
	}
	free(concern);
}

int vprof_concern_holds(const struct vprof_concern *c, uint64_t t)
{
	size_t i = vprof_time_search(c->stretches.v, sizeof *c->stretches.v, c->stretches.n, t, 0);

	return i && t <= c->stretches.v[i - 1].to;
}

uint64_t vprof_concern_waited(const struct vprof_concern *c, uint64_t t)
{
	size_t i = vprof_time_search(c->releases.v, sizeof *c->releases.v, c->releases.n, t, 0);
	uint64_t sum = 0;

	while (i && c->releases.v[i - 1].t == t)
		sum += c->releases.v[--i].waited;
	return sum;
}
