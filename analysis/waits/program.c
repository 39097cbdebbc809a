/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First all waits get numbers, then what ends them is sorted by time and dealt out to the threads that did it, then
 * each thread's segments and these acts are merged. */
#include "analysis/waits/program.h"

#include "common/radix.h"
#include "common/search.h"

#define LOOK_BACK_MAX 64 /* completions among which a wait's request is searched */

struct act { /* of a thread: a wake-up, or a request */
	uint64_t t;
	uint32_t thread, number;
	uint8_t kind; /* enum vprof_waits_step_kind */
};

typedef VPROF_ARRAY(struct act) acts_array;
typedef VPROF_ARRAY(struct vprof_keyed) keyed_array;

struct building {
	struct vprof_waits_program *p;
	const struct vprof_waits_history *h;
	const struct vprof_waits_graph *graph;
	uint32_t *edge_of; /* [n_edge_of] by reason; VPROF_NONE, and of reasons beyond: between none of the graph */
	size_t n_edge_of;
	enum vprof_waits_cpu_model cpus;
	acts_array acts;		 /* by thread, then time */
	VPROF_ARRAY(uint32_t) completed; /* requests by device, then completion */
	size_t *n_segments;		 /* [n entities] in the part that the programs hold */
	size_t at;			 /* next act */
	uint32_t next_wait;
};

/* The recording's begin: the last moment up to which there are at most max_segments segments. */
static uint64_t choose_end(const struct vprof_waits_history *h, size_t max_segments)
{
	uint64_t low = h->begin, high = h->end;

	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;
		size_t n = 0;

		for (size_t e = 0; e < h->entities.n; e++)
			n += VPROF_BISECT(h->entities.v[e].segments.n, i, h->entities.v[e].segments.v[i].from < middle);
		if (n <= max_segments)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static int count_segments(struct building *b)
{
	b->n_segments = malloc((b->h->entities.n + 1) * sizeof *b->n_segments);
	for (size_t e = 0; b->n_segments && e < b->h->entities.n; e++) {
		const struct vprof_waits_entity *x = &b->h->entities.v[e];

		b->n_segments[e] = VPROF_BISECT(x->segments.n, i, x->segments.v[i].from < b->p->end);
	}
	return b->n_segments ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Is the request a step of a program? */
static int is_step(const struct building *b, const struct vprof_waits_request *r)
{
	return r->thread != VPROF_NONE && r->issue < b->p->end && b->n_segments[r->thread];
}

/* The request whose completion ended a wait of `thread` for a device: its own latest one, else anybody's. What comes
 * from a network answers what was sent before, however long ago. */
static uint32_t find_request(const struct building *b, uint32_t thread, const struct vprof_waits_segment *s)
{
	const struct vprof_waits_request *r = b->h->requests.v;
	size_t end = VPROF_BISECT(b->completed.n, i,
				  r[b->completed.v[i]].device < s->waker || (r[b->completed.v[i]].device == s->waker &&
									     r[b->completed.v[i]].complete <= s->to));
	int is_disk = b->h->entities.v[s->waker].kind == VPROF_WAITS_DISK;
	uint32_t any = VPROF_NONE;

	for (size_t i = end; i > 0 && end - i < LOOK_BACK_MAX; i--) {
		uint32_t n = b->completed.v[i - 1];

		if (r[n].device != s->waker || (is_disk && r[n].complete <= s->from))
			break;
		if (!is_step(b, &r[n]))
			continue;
		if (r[n].thread == thread)
			return n;
		any = any == VPROF_NONE ? n : any;
	}
	return any;
}

static int add_act(struct building *b, uint64_t t, uint32_t thread, uint32_t number, enum vprof_waits_step_kind kind)
{
	struct act *a = VPROF_PUSH(&b->acts);

	if (!a)
		return VPROF_ERR_NOMEM;
	*a = (struct act){ t, thread, number, (uint8_t)kind };
	return VPROF_OK;
}

static int add_answer(struct building *b, uint32_t wait, uint32_t request, uint64_t t)
{
	struct vprof_waits_answer *a = VPROF_PUSH(&b->p->answers);
	struct vprof_waits_service *r = &b->p->requests.v[request];

	if (!a)
		return VPROF_ERR_NOMEM;
	*a = (struct vprof_waits_answer){ t - b->h->requests.v[request].complete, wait, r->first_answer };
	r->first_answer = (uint32_t)(b->p->answers.n - 1);
	return VPROF_OK;
}

static int add_wait(struct building *b, uint32_t thread, const struct vprof_waits_segment *s, uint64_t runnable_ns)
{
	struct vprof_waits_wait *w = VPROF_PUSH(&b->p->waits);
	uint32_t number = (uint32_t)(b->p->waits.n - 1), request;

	if (!w || number == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	w->ended = s->to;
	w->length_ns = s->to - s->from;
	w->latency_ns = runnable_ns;
	w->thread = thread;
	w->waker = s->waker;
	w->edge = s->reason < b->n_edge_of ? b->edge_of[s->reason] : VPROF_NONE;
	w->ended_by = VPROF_WAITS_BY_TIME;
	if (s->waker == VPROF_NONE)
		return VPROF_OK;
	if (b->h->entities.v[s->waker].segments.n) {
		w->ended_by = VPROF_WAITS_BY_THREAD;
		return add_act(b, s->to, s->waker, number, VPROF_WAITS_WAKE);
	}
	request = find_request(b, thread, s);
	if (request == VPROF_NONE)
		return VPROF_OK;
	w->ended_by = VPROF_WAITS_BY_REQUEST;
	return add_answer(b, number, request, s->to);
}

/* A thread that was made during the recording begins with a wait for its creator. */
static int is_made(const struct building *b, const struct vprof_waits_entity *e)
{
	return e->segments.n && !e->n_merged && e->creator != VPROF_NONE && e->born > b->h->begin &&
	       e->born <= e->segments.v[0].from && b->h->entities.v[e->creator].segments.n;
}

static int number_waits(struct building *b)
{
	for (uint32_t i = 0; i < b->h->entities.n; i++) {
		const struct vprof_waits_entity *e = &b->h->entities.v[i];
		size_t n = b->n_segments[i];

		if (n && is_made(b, e)) {
			const struct vprof_waits_segment birth = {
				.from = e->born, .to = e->born, .waker = e->creator, .reason = VPROF_NONE
			};

			if (add_wait(b, i, &birth, 0))
				return VPROF_ERR_NOMEM;
		}
		for (size_t k = 0; k < n; k++) {
			const struct vprof_waits_segment *s = &e->segments.v[k];
			int is_runnable = k + 1 < n && s[1].state == VPROF_WAITS_RUNNABLE && s[1].from == s->to;

			if (s->state == VPROF_WAITS_BLOCKED && add_wait(b, i, s, is_runnable ? s[1].to - s[1].from : 0))
				return VPROF_ERR_NOMEM;
		}
	}
	for (uint32_t i = 0; i < b->h->requests.n; i++)
		if (is_step(b, &b->h->requests.v[i]) &&
		    add_act(b, b->h->requests.v[i].issue, b->h->requests.v[i].thread, i, VPROF_WAITS_SUBMIT))
			return VPROF_ERR_NOMEM;
	return VPROF_OK;
}

static int sort_acts(struct building *b)
{
	VPROF_ARRAY(struct vprof_keyed) keyed = { NULL, 0, 0 };
	size_t *place = calloc(b->h->entities.n + 2, sizeof *place);
	struct act *sorted = malloc((b->acts.n + 1) * sizeof *sorted);
	int ret = place && sorted && !VPROF_RESERVE(&keyed, b->acts.n + 1) ? VPROF_OK : VPROF_ERR_NOMEM;

	for (size_t i = 0; i < b->acts.n && !ret; i++) {
		keyed.v[i] = (struct vprof_keyed){ b->acts.v[i].t, (uint32_t)i };
		place[b->acts.v[i].thread + 1]++;
	}
	if (!ret)
		ret = vprof_radix_sort(keyed.v, b->acts.n);
	for (size_t e = 0; e < b->h->entities.n && !ret; e++)
		place[e + 1] += place[e];
	for (size_t i = 0; i < b->acts.n && !ret; i++) {
		const struct act *a = &b->acts.v[keyed.v[i].item];

		sorted[place[a->thread]++] = *a;
	}
	if (!ret && b->acts.n)
		memcpy(b->acts.v, sorted, b->acts.n * sizeof *sorted);
	free(sorted);
	free(place);
	VPROF_ARRAY_RELEASE(&keyed);
	return ret;
}

static int add_step(struct building *b, enum vprof_waits_step_kind kind, uint64_t n)
{
	struct vprof_waits_step *s;

	if (kind <= VPROF_WAITS_PASS && kind != VPROF_WAITS_YIELD && !n)
		return VPROF_OK;
	if (kind == VPROF_WAITS_WAKE)
		n = vprof_waits_wake((uint32_t)n, b->p->waits.v[n].thread);
	s = VPROF_PUSH(&b->p->steps);
	if (!s)
		return VPROF_ERR_NOMEM;
	*s = (struct vprof_waits_step){ kind, n < VPROF_WAITS_STEP_MAX ? n : VPROF_WAITS_STEP_MAX };
	return VPROF_OK;
}

/* The thread's acts up to and at `until`, and what it did between them from `t` on: steps of `kind`. */
static int add_until(struct building *b, uint32_t thread, uint64_t t, uint64_t until, enum vprof_waits_step_kind kind)
{
	int ret = VPROF_OK;

	for (; b->at < b->acts.n && b->acts.v[b->at].thread == thread && !ret; b->at++) {
		const struct act *a = &b->acts.v[b->at];

		if (a->t > until)
			break;
		if (a->t > t) {
			ret = add_step(b, kind, a->t - t);
			t = a->t;
		}
		ret = ret ? ret : add_step(b, a->kind, a->number);
	}
	return ret ? ret : add_step(b, kind, until > t ? until - t : 0);
}

/* A blocked thread wakes nobody: such wake-ups are not its own, and the waits that they ended take their time. */
static int add_blocked(struct building *b, uint32_t thread, const struct vprof_waits_segment *s, int is_last)
{
	struct vprof_waits_wait *w = &b->p->waits.v[b->next_wait];
	uint32_t number = b->next_wait++;
	int ret = VPROF_OK;

	for (; b->at < b->acts.n && b->acts.v[b->at].thread == thread && b->acts.v[b->at].t < s->to && !ret; b->at++) {
		const struct act *a = &b->acts.v[b->at];

		if (a->kind == VPROF_WAITS_WAKE)
			b->p->waits.v[a->number].ended_by = VPROF_WAITS_BY_TIME;
		else
			ret = add_step(b, a->kind, a->number);
	}
	if (is_last && s->waker == VPROF_NONE)
		return ret; /* still waiting when the recording ended */
	if (w->ended_by == VPROF_WAITS_BY_TIME)
		b->p->paced_ns[thread] += w->length_ns;
	else if (b->h->entities.v[w->waker].kind == VPROF_WAITS_NETWORK)
		b->p->answered_ns[thread] += w->length_ns;
	return ret ? ret : add_step(b, VPROF_WAITS_WAIT, number);
}

static int add_thread(struct building *b, uint32_t thread)
{
	const struct vprof_waits_entity *e = &b->h->entities.v[thread];
	size_t n = b->n_segments[thread];
	uint64_t t = b->h->begin;
	int ret = VPROF_OK;

	while (b->at < b->acts.n && b->acts.v[b->at].thread < thread)
		b->at++;
	if (n && is_made(b, e)) {
		ret = add_step(b, VPROF_WAITS_WAIT, b->next_wait++);
		t = e->born;
	}
	for (size_t i = 0; i < n && !ret; i++) {
		const struct vprof_waits_segment *s = &e->segments.v[i];

		ret = add_until(b, thread, t, s->from, VPROF_WAITS_PASS);
		t = s->to;
		if (ret)
			break;
		if (s->state == VPROF_WAITS_RUNNING) {
			ret = add_until(b, thread, s->from, s->to, VPROF_WAITS_WORK);
			if (!ret && i + 1 < n && s[1].state == VPROF_WAITS_RUNNABLE)
				ret = b->cpus == VPROF_WAITS_CPUS_SIMULATED ?
					      add_step(b, VPROF_WAITS_YIELD, 0) :
					      add_step(b, VPROF_WAITS_PASS, s[1].to - s[1].from);
		} else if (s->state == VPROF_WAITS_BLOCKED) {
			ret = add_blocked(b, thread, s, i + 1 == n);
		}
	}
	/* what happened as its last segment ended, or later */
	for (; b->at < b->acts.n && b->acts.v[b->at].thread == thread && !ret; b->at++)
		ret = add_step(b, b->acts.v[b->at].kind, b->acts.v[b->at].number);
	return ret;
}

static int sort_completed(struct building *b)
{
	VPROF_ARRAY(struct vprof_keyed) keyed = { NULL, 0, 0 };
	size_t n = b->h->requests.n;
	int ret = VPROF_RESERVE(&keyed, n + 1) || VPROF_RESERVE(&b->completed, n + 1) ? VPROF_ERR_NOMEM : VPROF_OK;

	for (int pass = 0; pass < 2 && !ret; pass++) { /* by completion, then stably by device */
		for (size_t i = 0; i < n; i++) {
			uint32_t r = pass ? b->completed.v[i] : (uint32_t)i;

			keyed.v[i] =
				(struct vprof_keyed){ pass ? b->h->requests.v[r].device : b->h->requests.v[r].complete,
						      r };
		}
		ret = vprof_radix_sort(keyed.v, n);
		for (size_t i = 0; i < n && !ret; i++)
			b->completed.v[i] = keyed.v[i].item;
	}
	b->completed.n = n;
	VPROF_ARRAY_RELEASE(&keyed);
	return ret;
}

static uint32_t edge_of_request(const struct vprof_waits_graph *graph, const struct vprof_waits_request *r)
{
	uint32_t from = r->thread == VPROF_NONE ? VPROF_NONE : graph->vertex_of[r->thread];
	uint32_t to = graph->vertex_of[r->device];

	return from == VPROF_NONE || to == VPROF_NONE ? VPROF_NONE : vprof_waits_graph_edge(graph, from, to);
}

/* In the order of completions: a request kept its device busy since it was issued, or since the one before it was
 * complete. What one takes at least is how long it took, or the median of those that found the device idle. Requests of
 * others are not replayed: what they held up takes longer instead. */
static int measure_requests(struct building *b)
{
	VPROF_ARRAY(struct vprof_keyed) alone = { NULL, 0, 0 };
	size_t n = b->completed.n, end;
	int ret = VPROF_RESERVE(&b->p->requests, n + 1) || VPROF_RESERVE(&alone, n + 1) ? VPROF_ERR_NOMEM : VPROF_OK;

	b->p->requests.n = ret ? 0 : n;
	for (size_t i = 0; i < n && !ret; i = end) {
		uint32_t device = b->h->requests.v[b->completed.v[i]].device;
		uint64_t last = 0, median;

		alone.n = 0;
		for (end = i; end < n && b->h->requests.v[b->completed.v[end]].device == device; end++) {
			const struct vprof_waits_request *r = &b->h->requests.v[b->completed.v[end]];
			uint64_t from = r->issue > last ? r->issue : last;

			if (r->issue >= last)
				alone.v[alone.n++] = (struct vprof_keyed){ r->complete - r->issue, 0 };
			b->p->requests.v[b->completed.v[end]] = (struct vprof_waits_service){
				.device = device,
				.first_answer = VPROF_NONE,
				.edge = edge_of_request(b->graph, r),
				.busy_ns = r->complete - from,
				.least_ns = r->complete - r->issue,
			};
			last = is_step(b, r) ? r->complete : last;
		}
		ret = vprof_radix_sort(alone.v, alone.n);
		median = alone.n ? alone.v[alone.n / 2].key : UINT64_MAX;
		for (size_t k = i; k < end; k++) {
			struct vprof_waits_service *r = &b->p->requests.v[b->completed.v[k]];

			r->least_ns = r->least_ns < median ? r->least_ns : median;
		}
	}
	VPROF_ARRAY_RELEASE(&alone);
	return ret;
}

/* The lower quartile of how long woken threads waited for a CPU: what that takes when one is free. */
static int measure_latency(const struct building *b, uint64_t *latency_ns)
{
	VPROF_ARRAY(uint64_t) all = { NULL, 0, 0 };
	int failed = 0;

	for (size_t e = 0; e < b->h->entities.n && !failed; e++) {
		const struct vprof_waits_entity *x = &b->h->entities.v[e];

		failed = VPROF_ROOM(&all, all.n + x->segments.n / 2 + 1);
		for (size_t i = 1; i < x->segments.n && !failed; i++) {
			const struct vprof_waits_segment *s = &x->segments.v[i];

			if (s->state == VPROF_WAITS_RUNNABLE && s[-1].state == VPROF_WAITS_BLOCKED)
				all.v[all.n++] = s->to - s->from;
		}
	}
	*latency_ns = !failed && all.n ? vprof_radix_nth(all.v, all.n, all.n / 4) : 0;
	VPROF_ARRAY_RELEASE(&all);
	return failed ? VPROF_ERR_NOMEM : VPROF_OK;
}

enum moment { MOMENT_END, MOMENT_BEGIN, MOMENT_WAKES };

static uint32_t moment_of(enum moment kind, uint32_t wait)
{
	return kind == MOMENT_WAKES ? MOMENT_WAKES + 2 * wait : MOMENT_WAKES + 2 * wait + 1;
}

/* Ends and begins of running segments; of those that a wake-up led to also that, and both with the wait that it ended;
 * in order of time. */
static int sort_moments(const struct building *b, keyed_array *moments)
{
	uint32_t wait = 0;

	for (uint32_t e = 0; e < b->h->entities.n; e++) {
		const struct vprof_waits_entity *x = &b->h->entities.v[e];
		int is_woken = 0;

		if (VPROF_ROOM(moments, moments->n + 3 * b->n_segments[e] + 1))
			return VPROF_ERR_NOMEM;
		wait += b->n_segments[e] && is_made(b, x);
		for (size_t i = 0; i < b->n_segments[e]; i++) {
			const struct vprof_waits_segment *s = &x->segments.v[i];
			struct vprof_keyed *m = moments->v + moments->n;

			if (s->state == VPROF_WAITS_RUNNING) {
				if (is_woken)
					*m++ = (struct vprof_keyed){ b->p->waits.v[wait - 1].ended,
								     moment_of(MOMENT_WAKES, wait - 1) };
				*m++ = (struct vprof_keyed){ s->from, is_woken ? moment_of(MOMENT_BEGIN, wait - 1) :
										 MOMENT_BEGIN };
				*m++ = (struct vprof_keyed){ s->to, MOMENT_END };
				moments->n = (size_t)(m - moments->v);
			}
			wait += s->state == VPROF_WAITS_BLOCKED;
			is_woken = s->state == VPROF_WAITS_BLOCKED || (is_woken && s->state != VPROF_WAITS_RUNNING);
		}
	}
	return vprof_radix_sort(moments->v, moments->n);
}

/* Where threads are to wait for a CPU in the replay, a wake-up's own latency is all of what it took when a CPU was
 * free, and else as much as one takes at least. Whoever is woken when one is free has it from then on. */
static int limit_latencies(struct building *b)
{
	struct vprof_waits_wait *waits = b->p->waits.v;
	unsigned char *has_cpu = calloc(b->p->waits.n + 1, 1);
	keyed_array moments = { NULL, 0, 0 };
	uint64_t least_ns = 0, n_taken = 0;
	int ret = has_cpu ? measure_latency(b, &least_ns) : VPROF_ERR_NOMEM;

	ret = ret ? ret : sort_moments(b, &moments);
	for (size_t i = 0; i < moments.n && !ret; i++) {
		uint32_t m = moments.v[i].item, wait = (m - MOMENT_WAKES) / 2;

		if (m == MOMENT_END) {
			n_taken--;
		} else if (m == MOMENT_BEGIN || m == moment_of(MOMENT_BEGIN, wait)) {
			n_taken += m == MOMENT_BEGIN || !has_cpu[wait];
		} else if (n_taken < b->p->n_cpus) {
			n_taken++;
			has_cpu[wait] = 1;
		} else if (waits[wait].latency_ns > least_ns) {
			waits[wait].latency_ns = least_ns;
		}
	}
	free(has_cpu);
	VPROF_ARRAY_RELEASE(&moments);
	return ret;
}

static int fill_edge_of(struct building *b, const struct vprof_waits_graph *graph)
{
	for (size_t i = 0; i < graph->by_edge.n; i++)
		if (graph->by_edge.v[i] >= b->n_edge_of)
			b->n_edge_of = (size_t)graph->by_edge.v[i] + 1;
	b->edge_of = malloc((b->n_edge_of + 1) * sizeof *b->edge_of);
	if (!b->edge_of)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < b->n_edge_of; i++)
		b->edge_of[i] = VPROF_NONE;
	for (uint32_t e = 0; e < graph->edges.n; e++)
		for (uint32_t i = 0; i < graph->edges.v[e].n_reasons; i++)
			b->edge_of[graph->by_edge.v[graph->edges.v[e].first_reason + i]] = e;
	return VPROF_OK;
}

int vprof_waits_program_build(struct vprof_waits_program *p, const struct vprof_waits_history *h,
			      const struct vprof_waits_graph *graph, size_t max_segments,
			      enum vprof_waits_cpu_model cpus)
{
	struct building b = { .p = p, .h = h, .graph = graph, .cpus = cpus };
	int ret = VPROF_ERR_NOMEM;

	memset(p, 0, sizeof *p);
	p->history = h;
	p->n_cpus = cpus == VPROF_WAITS_CPUS_SIMULATED ? h->n_cpus : 0;
	p->end = choose_end(h, max_segments);
	p->first = calloc(h->entities.n + 1, sizeof *p->first);
	p->paced_ns = calloc(h->entities.n + 1, sizeof *p->paced_ns);
	p->answered_ns = calloc(h->entities.n + 1, sizeof *p->answered_ns);
	if (h->entities.n < VPROF_WAITS_ENTITIES_MAX && p->first && p->paced_ns && p->answered_ns)
		ret = fill_edge_of(&b, graph);
	if (!ret && !(ret = count_segments(&b)) && !(ret = sort_completed(&b)) && !(ret = measure_requests(&b)) &&
	    !(ret = number_waits(&b)) && cpus == VPROF_WAITS_CPUS_SIMULATED)
		ret = limit_latencies(&b);
	if (!ret)
		ret = sort_acts(&b);
	for (uint32_t e = 0; e < h->entities.n && !ret; e++) {
		ret = add_thread(&b, e);
		p->first[e + 1] = p->steps.n;
	}
	free(b.edge_of);
	free(b.n_segments);
	VPROF_ARRAY_RELEASE(&b.acts);
	VPROF_ARRAY_RELEASE(&b.completed);
	return ret;
}

void vprof_waits_program_release(struct vprof_waits_program *p)
{
	VPROF_ARRAY_RELEASE(&p->steps);
	VPROF_ARRAY_RELEASE(&p->waits);
	VPROF_ARRAY_RELEASE(&p->answers);
	VPROF_ARRAY_RELEASE(&p->requests);
	free(p->first);
	free(p->paced_ns);
	free(p->answered_ns);
}
