/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/request_evidence.h"

#include "common/hash/hash_index.h"
#include "common/search.h"

#define HIGH_MIN 0.9 /* of the requests agree */
#define HIGH_REQUESTS 30
#define MEDIUM_MIN 0.5
#define MEDIUM_REQUESTS 10
#define OFTEN 2.0	/* calls for each request: no more than connections that come and go add */
#define WAIT_EVENTS 256 /* before a receipt, among which a wait for work is looked for */

struct placed { /* a transfer on a stack */
	uint64_t connection, from, t;
	uint32_t thread; /* of the history */
	size_t event;
	int is_send, is_known, is_foreign;
	int is_queued; /* a receipt: the thread did not wait for work since the one before it */
	int is_end;    /* it begins a request, or is the last of a reply */
	int slept;     /* the thread had no CPU in the system call */
	int is_behind; /* a send of which the stack is not known: the event is the thread's next one */
	uint32_t bytes;
	uint32_t survives; /* frames of its stack that are still of the same calls where the thread receives the next
			      request, or sends the next reply; of its last one those that were there at the one before
			      it; of an only one those that are there since the thread began; VPROF_NONE: that is not
			      known */
	size_t next;	   /* event of that; SIZE_MAX: there is none */
	uint32_t waited;   /* frames that were there when the thread last waited for work: not of the request alone */
};

/* what a function may be of a request */
enum part { PART_CALL, PART_BEGIN, PART_END, PARTS };

struct tally {
	uint64_t n[PARTS], counted[PARTS]; /* counted: number of the request for which it was counted last */
	uint64_t depth;			   /* summed over all counts */
	uint64_t n_behind;		   /* of n[PART_CALL]: called behind the receipt */
	uint64_t n_loops; /* of n[PART_CALL]: its code may come to the same place again, and the thread receives more */
};

struct finding {
	struct vprof_request_evidence *out;
	const struct vprof_annotated_tree *tree;
	const struct vprof_latency_history *history;
	const unsigned char *is_project;
	VPROF_ARRAY(struct placed) placed; /* by connection, then time */
	struct tally *tallies;		   /* [functions] */
	unsigned char *is_own_thread;	   /* [threads] of the project's program */
	uint64_t n_slept, n_left, n_queued;
	int is_behind;	 /* what is counted is called behind the receipt */
	int is_followed; /* ... its thread receives another request later */
};

static int by_connection(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->connection != y->connection ? vprof_u64_order(x->connection, y->connection) :
						vprof_u64_order(x->t, y->t);
}

static int by_thread(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->thread != y->thread)
		return vprof_u64_order(x->thread, y->thread);
	return vprof_u64_order(x->event, y->event);
}

/* The last event of the thread that began no earlier than the system call and lies in it. */
static void place(struct finding *f, const struct vprof_transfer *t, struct placed *p)
{
	const struct vprof_latency_history *h = f->history;

	for (uint32_t i = 0; i < h->threads.n; i++) {
		const struct vprof_latency_thread *thread = &h->threads.v[i];
		size_t n, at;

		if (thread->tid != t->tid || t->t < thread->begin || t->t > thread->end)
			continue;
		p->thread = i;
		p->is_foreign = !f->is_own_thread[i];
		n = VPROF_BISECT(thread->n_events, k, h->events.v[thread->first_event + k].t <= t->t);
		at = thread->first_event + n - 1;
		if (!n || h->events.v[at].t < t->from ||
		    h->stacks.v[h->events.v[at].stack].n <= h->stacks.v[h->events.v[at].stack].n_user) {
			p->is_behind = t->is_send && n < thread->n_events;
			p->event = at + 1;
			continue;
		}
		p->event = at;
		p->is_known = 1;
		for (size_t e = at; e > thread->first_event && h->events.v[e].t > t->from; e--)
			p->slept |= (h->events.v[e].flags & VPROF_LATENCY_OFF_CPU) != 0;
		return;
	}
}

/* How many frames at the outer end are of the same calls from one event of a thread to a later one; where they are no
 * more than `least`, only that. */
static uint32_t surviving(const struct finding *f, size_t from, size_t to, uint32_t least)
{
	const struct vprof_latency_history *h = f->history;
	uint32_t depth = h->stacks.v[h->events.v[from].stack].n_user;

	for (size_t i = from + 1; i <= to && depth > least; i++) {
		struct vprof_latency_common c = vprof_latency_common_depth(h, h->events.v[i - 1].stack,
									   h->events.v[i].stack, h->events.v[i].flags);

		depth = c.depth < depth ? c.depth : depth;
	}
	return depth;
}

/* Is the event's thread in a system call that waits for work? */
static int is_idle(const struct vprof_latency_history *h, const struct vprof_latency_event *e)
{
	const struct vprof_latency_stack *s = &h->stacks.v[e->stack];

	for (uint32_t d = s->n_user; d < s->n; d++)
		if (h->functions.v[h->frames.v[s->first + d].function].is_idle)
			return 1;
	return 0;
}

/* before: the thread's last receipt, or NULL. */
static void find_waited(const struct finding *f, struct placed *p, const struct placed *before)
{
	const struct vprof_latency_history *h = f->history;
	size_t first = h->threads.v[p->thread].first_event, n = 0;

	p->waited = 0;
	p->is_queued = before != NULL;
	for (size_t e = p->event; e-- > first && n < WAIT_EVENTS; n++)
		if (is_idle(h, &h->events.v[e])) {
			p->waited = surviving(f, e, p->event, 0);
			p->is_queued &= before && e < before->event;
			return;
		}
}

/* Of a thread's only receipt or reply: the frames that are of the same calls since it began. A process that was made
 * for one connection begins within its maker's calls. */
static uint32_t surviving_since_begin(const struct finding *f, const struct placed *p)
{
	const struct vprof_latency_thread *thread = &f->history->threads.v[p->thread];

	return thread->begin_is_cut ? VPROF_NONE : surviving(f, thread->first_event, p->event, 0);
}

/* Which frames are of another one, too: that behind it; of the thread's last one that before it. */
static void find_last(struct finding *f, struct placed *p, const struct placed *before)
{
	if (p && p->survives == VPROF_NONE)
		p->survives = before ? surviving(f, before->event, p->event, 0) : surviving_since_begin(f, p);
}

/* Sorted by thread meanwhile. */
static int find_survivors(struct finding *f)
{
	struct placed *v = f->placed.v, *last[2] = { NULL, NULL }, *before[2] = { NULL, NULL };

	if (vprof_array_sort(v, f->placed.n, sizeof *v, by_thread))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < f->placed.n; i++) {
		struct placed **at = &last[v[i].is_send != 0], **at_before = &before[v[i].is_send != 0];

		v[i].survives = VPROF_NONE;
		v[i].next = SIZE_MAX;
		v[i].waited = 0;
		if (!v[i].is_known || !v[i].is_end)
			continue; /* what is known behind a send only is not where it was sent */
		if (!v[i].is_send)
			find_waited(f, &v[i], *at && (*at)->thread == v[i].thread ? *at : NULL);
		if (*at && (*at)->thread == v[i].thread) {
			(*at)->survives = surviving(f, (*at)->event, v[i].event, 0);
			(*at)->next = v[i].event;
			*at_before = *at;
		} else {
			find_last(f, *at, *at_before);
			*at_before = NULL;
		}
		*at = &v[i];
	}
	find_last(f, last[0], before[0]);
	find_last(f, last[1], before[1]);
	return vprof_array_sort(v, f->placed.n, sizeof *v, by_connection) ? VPROF_ERR_NOMEM : VPROF_OK;
}

static int may_repeat(const struct vprof_latency_history *h, const struct vprof_latency_frame *frame)
{
	return h->may_follow && h->may_follow(h->arg, frame->function, frame->place, frame->place);
}

/* Functions of the project within frames [from, to) of an event's stack, each once for a request. */
static void count(struct finding *f, size_t event, uint32_t from, uint32_t to, enum part part)
{
	const struct vprof_latency_history *h = f->history;
	const struct vprof_latency_stack *s = &h->stacks.v[h->events.v[event].stack];

	for (uint32_t d = from; d < to && d < s->n_user; d++) {
		uint32_t function = h->frames.v[s->first + d].function;
		struct tally *t = &f->tallies[function];

		if (f->is_project[function] != VPROF_EVIDENCE_CANDIDATE || t->counted[part] == f->out->n_requests)
			continue;
		t->counted[part] = f->out->n_requests;
		t->n[part]++;
		t->n_behind += f->is_behind != 0;
		t->n_loops += part == PART_CALL && f->is_followed && may_repeat(h, &h->frames.v[s->first + d]);
		t->depth += d;
	}
}

/* A call that begins right behind the receipt, and has the reply in it: what was seen first after the receipt lies in
 * it, no later than halfway to the reply. */
static void count_behind(struct finding *f, const struct placed *received, const struct placed *sent, uint32_t from)
{
	const struct vprof_latency_history *h = f->history;
	size_t first = received->event + 1;
	uint32_t both, next, others = from > sent->survives ? from : sent->survives;

	while (first < sent->event && (h->events.v[first].flags & VPROF_LATENCY_HELD))
		first++; /* still in the receipt's system call */

	if (!sent->is_known || first >= sent->event || h->events.v[first].t >= sent->from ||
	    h->events.v[first].t - received->t > (sent->from - received->t) / 2)
		return;
	both = surviving(f, first, sent->event, others);
	next = both > others && received->next != SIZE_MAX ? surviving(f, first, received->next, others) : 0;
	others = next > others ? next : others;
	f->is_behind = 1;
	count(f, first, others, both, PART_CALL);
	f->is_behind = 0;
}

static int add_request(struct finding *f, struct placed *received, struct placed *sent)
{
	uint32_t both = 0, from, least;

	if (!received->is_known || !(sent->is_known || (sent->is_behind && sent->thread == received->thread))) {
		f->out->n_unplaced++;
		return VPROF_OK;
	}
	if (received->survives == VPROF_NONE || (sent->is_known && sent->survives == VPROF_NONE))
		return VPROF_OK; /* the only one of a thread that was there before: what encloses others is not known */
	from = received->survives > received->waited ? received->survives : received->waited;
	/* replies of an event loop come long after: what other requests have in between ends the search */
	least = sent->is_known && sent->survives < from ? sent->survives : from;
	if (received->thread == sent->thread)
		both = surviving(f, received->event, sent->event, least);
	if (!sent->is_known && both <= from) {
		f->out->n_unplaced++; /* from what was called since the receipt, but not from what */
		return VPROF_OK;
	}
	f->out->n_requests++;
	f->n_slept += received->slept != 0;
	f->n_queued += received->is_queued != 0;
	f->n_left += received->next != SIZE_MAX && received->thread == sent->thread && received->next < sent->event;
	f->is_followed = received->next != SIZE_MAX;
	count(f, received->event, from, both, PART_CALL);
	if (received->thread == sent->thread)
		count_behind(f, received, sent, from);
	count(f, received->event, both > from ? both : from, UINT32_MAX, PART_BEGIN);
	if (sent->is_known)
		count(f, sent->event, both > sent->survives ? both : sent->survives, UINT32_MAX, PART_END);
	return VPROF_OK;
}

static int mark_request(struct finding *f, struct placed *received, struct placed *sent)
{
	(void)f;
	received->is_end = sent->is_end = 1;
	return VPROF_OK;
}

/* Requests with replies, one connection after the other. */
static int each_request(struct finding *f, int (*request)(struct finding *, struct placed *, struct placed *))
{
	struct placed *received = NULL, *sent = NULL;
	int ret = VPROF_OK;

	for (size_t i = 0; i < f->placed.n && !ret; i++) {
		struct placed *p = &f->placed.v[i];
		int is_other = i && p->connection != p[-1].connection;

		if (received && sent && (is_other || !p->is_send))
			ret = request(f, received, sent);
		if (is_other || (sent && !p->is_send))
			received = sent = NULL;
		if (p->is_send)
			sent = received ? p : NULL;
		else if (!received && p->bytes)
			received = p;
	}
	return ret || !received || !sent ? ret : request(f, received, sent);
}

static int by_number(const void *a, const void *b)
{
	return vprof_u64_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Do processes receive requests of their own, one thread each? */
static int find_processes(struct finding *f)
{
	const struct vprof_latency_history *h = f->history;
	unsigned char *is_counted = calloc(h->threads.n + 1, 1);
	VPROF_ARRAY(uint32_t) pids = { NULL, 0, 0 };
	size_t n = 0;
	int ret = is_counted ? VPROF_OK : VPROF_ERR_NOMEM;

	for (size_t i = 0; i < f->placed.n && !ret; i++) {
		const struct placed *p = &f->placed.v[i];
		uint32_t *pid;

		if (p->is_send || !p->is_known || !p->is_end || is_counted[p->thread])
			continue;
		is_counted[p->thread] = 1;
		pid = VPROF_PUSH(&pids);
		if (pid)
			*pid = h->threads.v[p->thread].pid;
		ret = pid ? VPROF_OK : VPROF_ERR_NOMEM;
	}
	if (pids.n)
		qsort(pids.v, pids.n, sizeof *pids.v, by_number);
	for (size_t i = 0; i < pids.n; i++)
		n += !i || pids.v[i] != pids.v[i - 1];
	f->out->has_processes = n > 1 && n == pids.n;
	free(is_counted);
	VPROF_ARRAY_RELEASE(&pids);
	return ret;
}

static double mean_depth(const struct tally *t)
{
	uint64_t n = t->n[PART_CALL] + t->n[PART_BEGIN] + t->n[PART_END];

	return n ? (double)t->depth / (double)n : 0;
}

/* Calls of a function that were seen, wherever. */
static uint64_t count_calls(const struct finding *f, uint32_t function)
{
	uint64_t n = 0;

	for (uint32_t x = 1; x < f->tree->tree.nodes.n; x++)
		n += f->tree->tree.nodes.v[x].function == function ? f->tree->contexts[x].n : 0;
	return n;
}

/* A turn of a loop may enclose one request, but there are many turns without any: of functions that may be it, those
 * are left that are called much more often than requests come, if there are others. *calls: of the one that is called
 * least. */
static uint32_t leave_out_turns(const struct finding *f, uint32_t *chosen, uint32_t n, uint64_t *calls)
{
	uint64_t counts[VPROF_EVIDENCE_MOST];
	uint32_t left = 0;

	*calls = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		counts[i] = count_calls(f, chosen[i]);
		*calls = counts[i] < *calls ? counts[i] : *calls;
	}
	for (uint32_t i = 0; i < n; i++)
		if ((double)counts[i] <= OFTEN * (double)*calls || counts[i] <= OFTEN * (double)f->out->n_requests)
			chosen[left++] = chosen[i];
	return left;
}

/* The functions that are this part of at least so many requests, the outermost first. *least: of the one with fewest.
 */
static uint32_t choose(const struct finding *f, enum part part, double at_least, uint32_t *chosen, uint64_t *least)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->history->functions.n; i++) {
		const struct tally *t = &f->tallies[i];
		uint32_t at = n;

		if (!t->n[part] || (double)t->n[part] < at_least)
			continue;
		while (at && mean_depth(&f->tallies[chosen[at - 1]]) > mean_depth(t))
			at--;
		if (at == VPROF_EVIDENCE_MOST)
			continue;
		n += n < VPROF_EVIDENCE_MOST;
		memmove(chosen + at + 1, chosen + at, (n - at - 1) * sizeof *chosen);
		chosen[at] = i;
		*least = t->n[part] < *least ? t->n[part] : *least;
	}
	return n;
}

static uint64_t most(const struct finding *f, enum part part)
{
	uint64_t n = 0;

	for (size_t i = 0; i < f->history->functions.n; i++)
		n = f->tallies[i].n[part] > n ? f->tallies[i].n[part] : n;
	return n;
}

/* Functions of `part` on which nine of ten requests agree; where fewer do those on which most do. */
static uint32_t choose_best(struct finding *f, enum part part, uint32_t *chosen)
{
	double enough = HIGH_MIN * (double)f->out->n_requests, best = (double)most(f, part);

	return choose(f, part, enough < best ? enough : best, chosen, &f->out->n_agreeing);
}

/* Of the functions that may be the request those that are called when it has been received. */
static uint32_t keep_behind(const struct finding *f, uint32_t *chosen, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (2 * f->tallies[chosen[i]].n_behind > f->tallies[chosen[i]].n[PART_CALL])
			chosen[kept++] = chosen[i];
	return kept;
}

/* A call that sleeps until its request comes: one within that is called when it has come is the request. Else that
 * begins where the function returns that received it, and ends with the call. If there is neither, the call has the
 * client's time in it: that is never sure. */
static void begin_behind_receipt(struct finding *f)
{
	struct vprof_request_evidence *out = f->out;
	uint32_t begins[VPROF_EVIDENCE_MOST], n, n_calls;

	memcpy(begins, out->begins, sizeof begins);
	n_calls = keep_behind(f, begins, out->n_begins);
	if (n_calls) {
		memcpy(out->begins, begins, sizeof begins);
		out->n_begins = n_calls;
		out->waits = 0;
		return;
	}
	n = choose_best(f, PART_BEGIN, begins);
	if (!n) {
		out->waits = 0;
		out->n_agreeing = out->n_agreeing < MEDIUM_REQUESTS ? out->n_agreeing : MEDIUM_REQUESTS - 1;
		return;
	}
	out->kind = VPROF_EVIDENCE_SPLIT;
	out->is_in_call = 1;
	memcpy(out->ends, out->begins, sizeof out->ends);
	out->n_ends = out->n_begins;
	memcpy(out->begins, begins, sizeof begins);
	out->n_begins = n;
}

/* A call that loops around the receipt may take one request after the other, as a scheduler of tasks does. That it does
 * not shows only where requests were waiting. Of several functions those that do not loop are kept. */
static int may_take_several(struct finding *f)
{
	struct vprof_request_evidence *out = f->out;
	uint32_t kept[VPROF_EVIDENCE_MOST], n = 0;

	if (f->n_queued >= MEDIUM_REQUESTS)
		return 0;
	for (uint32_t i = 0; i < out->n_begins; i++)
		if (2 * f->tallies[out->begins[i]].n_loops <= f->tallies[out->begins[i]].n[PART_CALL])
			kept[n++] = out->begins[i];
	if (!n)
		return 1;
	memcpy(out->begins, kept, n * sizeof *kept);
	out->n_begins = n;
	return 0;
}

static void decide_split(struct finding *f)
{
	struct vprof_request_evidence *out = f->out;

	out->kind = VPROF_EVIDENCE_SPLIT;
	out->n_agreeing = UINT64_MAX;
	out->n_begins = choose_best(f, PART_BEGIN, out->begins);
	out->n_ends = choose_best(f, PART_END, out->ends);
	out->is_left = 100 * f->n_left > out->n_requests;
}

static void decide(struct finding *f)
{
	struct vprof_request_evidence *out = f->out;
	uint64_t call = most(f, PART_CALL), begin = most(f, PART_BEGIN), end = most(f, PART_END);
	uint64_t split = begin < end ? begin : end, calls;
	double enough = HIGH_MIN * (double)out->n_requests, share;
	int is_call = (double)call >= enough || call >= split, is_unsure = out->n_unplaced > out->n_requests;
	enum part call_part = PART_CALL;

	/* received by the loop itself: what it calls to reply is the request, as far as a function has it */
	if (!begin && end > call)
		call_part = PART_END;
	/* where replies are sent is not known: of the functions around the receipt it is likely, not sure */
	if (!end && begin > call)
		call_part = PART_BEGIN;
	if (!call && !split && call_part == PART_CALL)
		return;
	out->waits = 2 * f->n_slept > out->n_requests;
	if (is_call || call_part != PART_CALL) {
		out->kind = VPROF_EVIDENCE_CALL;
		out->n_agreeing = UINT64_MAX;
		out->n_begins = choose_best(f, call_part, out->begins);
		is_unsure |= call_part == PART_BEGIN;
	} else {
		decide_split(f);
	}
	if (out->kind == VPROF_EVIDENCE_CALL && call_part == PART_CALL && may_take_several(f)) {
		if ((double)split >= enough)
			decide_split(f);
		else
			is_unsure = 1;
	}
	if (out->kind == VPROF_EVIDENCE_CALL && out->waits && call_part == PART_CALL)
		begin_behind_receipt(f);
	share = (double)out->n_agreeing / (double)out->n_requests;
	out->n_begins = leave_out_turns(f, out->begins, out->n_begins, &calls);
	is_unsure |= (double)calls > OFTEN * (double)out->n_requests;
	out->confidence = share >= HIGH_MIN && out->n_agreeing >= HIGH_REQUESTS && !is_unsure ? VPROF_EVIDENCE_HIGH :
			  share >= MEDIUM_MIN && out->n_agreeing >= MEDIUM_REQUESTS	      ? VPROF_EVIDENCE_MEDIUM :
												VPROF_EVIDENCE_LOW;
}

/* The load may run other servers, and their clients. */
static int find_own_threads(struct finding *f)
{
	const struct vprof_latency_history *h = f->history;
	unsigned char *is_own_stack = calloc(h->stacks.n + 1, 1);

	f->is_own_thread = calloc(h->threads.n + 1, 1);
	for (size_t i = 0; is_own_stack && i < h->stacks.n; i++)
		for (uint32_t d = 0; d < h->stacks.v[i].n_user && !is_own_stack[i]; d++)
			is_own_stack[i] = f->is_project[h->frames.v[h->stacks.v[i].first + d].function] != 0;
	for (size_t t = 0; is_own_stack && f->is_own_thread && t < h->threads.n; t++)
		for (size_t e = 0; e < h->threads.v[t].n_events && !f->is_own_thread[t]; e++)
			f->is_own_thread[t] = is_own_stack[h->events.v[h->threads.v[t].first_event + e].stack];
	free(is_own_stack);
	return is_own_stack && f->is_own_thread ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int add_transfer(struct finding *f, const struct vprof_transfer *t)
{
	struct placed *p = VPROF_PUSH(&f->placed);

	if (!p)
		return VPROF_ERR_NOMEM;
	*p = (struct placed){
		.connection = t->connection, .from = t->from, .t = t->t, .is_send = t->is_send, .bytes = t->bytes
	};
	place(f, t, p);
	f->placed.n -= p->is_foreign != 0;
	return VPROF_OK;
}

int vprof_request_evidence_find(struct vprof_request_evidence *out, const struct vprof_annotated_tree *t,
				const struct vprof_transfer *transfers, size_t n_transfers,
				const unsigned char *is_project)
{
	struct finding f = { .out = out, .tree = t, .history = t->history, .is_project = is_project };
	int ret = VPROF_OK;

	*out = (struct vprof_request_evidence){ .kind = VPROF_EVIDENCE_NONE };
	f.tallies = calloc(t->history->functions.n + 1, sizeof *f.tallies);
	ret = f.tallies ? VPROF_OK : VPROF_ERR_NOMEM;
	if (!ret)
		ret = find_own_threads(&f);
	for (size_t i = 0; i < n_transfers && !ret; i++)
		ret = add_transfer(&f, &transfers[i]);
	if (!ret)
		ret = vprof_array_sort(f.placed.v, f.placed.n, sizeof *f.placed.v, by_connection) ? VPROF_ERR_NOMEM :
												    VPROF_OK;
	if (!ret)
		ret = each_request(&f, mark_request);
	if (!ret)
		ret = find_survivors(&f);
	if (!ret)
		ret = each_request(&f, add_request);
	if (!ret)
		ret = find_processes(&f);
	if (!ret)
		decide(&f);
	out->n_transfers = f.placed.n;
	VPROF_ARRAY_RELEASE(&f.placed);
	free(f.tallies);
	free(f.is_own_thread);
	return ret;
}
