/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's events, in order of time, as segments. Each thread has a state since some time; an event that ends it
 * makes a segment of it. A thread's first event tells what it did before, since the recording began or the thread was
 * first seen: who is switched out was running, who is woken was blocked, who is switched in was runnable.
 *
 * Events may be missing (LOST) or contradict one another: a blocked thread that is switched in was woken by nobody
 * knows whom. No state lasts beyond what is known.
 */
#include "analysis/waits/input/kernel_entities.h"
#include "analysis/waits/input/stack_names.h"
#include "common/search.h"
#include "common/text.h"

struct open_request {
	uint64_t key, issue;	 /* ns */
	uint32_t device, thread; /* entities */
	uint32_t n_bytes;
};

struct known_pair {
	uint64_t ids;
	uint32_t number; /* of the history's stack */
};

struct reading {
	struct vprof_waits_input *input;
	const struct vprof_trace *trace;
	struct vprof_kernel_entities all;
	struct vprof_hash_index by_request;
	VPROF_ARRAY(struct open_request) open; /* key 0: free */
	VPROF_ARRAY(uint32_t) free_open;
	VPROF_ARRAY(uint32_t) begun_unseen; /* requests (of the history) whose issue is missing: begin is not known */
	struct vprof_hash_index by_stacks;  /* pairs of stacks */
	struct vprof_hash_index by_ids;	    /* pairs as they are recorded, in `known` */
	VPROF_ARRAY(struct known_pair) known;
	uint32_t *same; /* [stacks of the tables] the first that is the same */
	uint64_t now;
};

static uint32_t same_stack(const struct reading *g, uint32_t id)
{
	const struct vprof_kernel_tables *t = &g->input->tables;
	const struct vprof_kernel_stack *s = id ? vprof_kernel_stack_find(t, id) : NULL;

	return s ? t->stacks.v[g->same[s - t->stacks.v]].id : id;
}

static uint32_t find_pair(struct reading *g, uint32_t kernel_id, uint32_t user_id)
{
	uint32_t kernel = same_stack(g, kernel_id), user = same_stack(g, user_id);
	uint64_t key = (uint64_t)user << 32 | kernel, hash = vprof_mix(key);
	uint32_t added;
	size_t at;

	if (!key || vprof_hash_index_room(&g->by_stacks, 1))
		return 0;
	VPROF_HASH_EACH(&g->by_stacks, hash, at, i)
	{
		if (g->input->stack_ids.v[i] == key)
			return i;
	}
	added = vprof_waits_input_add_stack(g->input, key, "");
	if (added == VPROF_NONE)
		return 0;
	vprof_hash_index_put(&g->by_stacks, at, hash, added);
	return added;
}

/* Most events have stacks that others had before. */
static uint32_t stack_number(struct reading *g, uint32_t kernel_id, uint32_t user_id)
{
	uint64_t ids = (uint64_t)user_id << 32 | kernel_id, hash = vprof_mix(ids);
	struct known_pair pair = { ids, 0 }, *added;
	size_t at;

	if (!ids || vprof_hash_index_room(&g->by_ids, 1))
		return 0;
	VPROF_HASH_EACH(&g->by_ids, hash, at, i)
	{
		if (g->known.v[i].ids == ids)
			return g->known.v[i].number;
	}
	pair.number = find_pair(g, kernel_id, user_id);
	added = VPROF_PUSH(&g->known);
	if (added) {
		*added = pair;
		vprof_hash_index_put(&g->by_ids, at, hash, (uint32_t)(g->known.n - 1));
	}
	return pair.number;
}

static const uint8_t states[] = {
	[VPROF_KERNEL_THREAD_RUNNING] = VPROF_WAITS_RUNNING,
	[VPROF_KERNEL_THREAD_RUNNABLE] = VPROF_WAITS_RUNNABLE,
	[VPROF_KERNEL_THREAD_BLOCKED] = VPROF_WAITS_BLOCKED,
};

/* The thread was in `was` (its state, unless that is unknown) until now; then it is in `next`. */
static int change(struct reading *g, struct vprof_kernel_thread *t, uint8_t was, uint8_t next, uint32_t waker,
		  uint32_t waker_stack)
{
	uint8_t state = t->state == VPROF_KERNEL_THREAD_UNKNOWN ? was : t->state;
	struct vprof_waits_segment *s;

	if (state != VPROF_KERNEL_THREAD_UNKNOWN && state != VPROF_KERNEL_THREAD_GONE && t->since < g->now) {
		s = VPROF_PUSH(&g->input->history.entities.v[t->entity].segments);
		if (!s)
			return VPROF_ERR_NOMEM;
		*s = (struct vprof_waits_segment){
			.from = t->since, .to = g->now, .waker = VPROF_NONE, .state = states[state]
		};
		if (state == VPROF_KERNEL_THREAD_BLOCKED) {
			s->waker = waker == t->entity ? VPROF_NONE : waker;
			s->wait_stack = t->stack;
			s->waker_stack = waker_stack;
		}
	}
	t->state = next;
	t->since = g->now;
	t->stack = 0;
	return VPROF_OK;
}

static int switch_out(struct reading *g, const struct vprof_kernel_event *e)
{
	struct vprof_kernel_thread *t = vprof_kernel_entities_thread(&g->all, e->sched.prev_tid);
	uint8_t next = VPROF_KERNEL_THREAD_BLOCKED;
	int ret;

	if (!t)
		return VPROF_ERR_NOMEM;
	if (t->state == VPROF_KERNEL_THREAD_GONE || !t->is_followed)
		return VPROF_OK;
	if (e->sched.state == VP_TASK_STATE_RUNNABLE || e->sched.state == VP_TASK_STATE_PREEMPTED)
		next = VPROF_KERNEL_THREAD_RUNNABLE;
	else if (e->sched.state == VP_TASK_STATE_DEAD)
		next = VPROF_KERNEL_THREAD_GONE;
	ret = change(g, t, VPROF_KERNEL_THREAD_RUNNING, next, VPROF_NONE, 0);
	t->is_early &= next == VPROF_KERNEL_THREAD_BLOCKED;
	if (next == VPROF_KERNEL_THREAD_BLOCKED)
		t->stack = stack_number(g, e->sched.kernel_stack, e->sched.user_stack);
	else if (next == VPROF_KERNEL_THREAD_GONE)
		g->input->history.entities.v[t->entity].ended = g->now;
	return ret;
}

static int on_switch(struct reading *g, const struct vprof_kernel_event *e)
{
	struct vprof_kernel_thread *t;

	if (e->sched.prev_tid && switch_out(g, e))
		return VPROF_ERR_NOMEM;
	if (!e->sched.next_tid)
		return VPROF_OK;
	t = vprof_kernel_entities_thread(&g->all, e->sched.next_tid);
	if (!t)
		return VPROF_ERR_NOMEM;
	if (!t->is_followed)
		return VPROF_OK;
	if (t->state == VPROF_KERNEL_THREAD_BLOCKED && t->is_early)
		t->state = VPROF_KERNEL_THREAD_RUNNABLE;
	t->is_early = 0;
	g->input->n_assumed += t->state == VPROF_KERNEL_THREAD_BLOCKED;
	return change(g, t, VPROF_KERNEL_THREAD_RUNNABLE, VPROF_KERNEL_THREAD_RUNNING, VPROF_NONE, 0);
}

/* A running thread that is woken was about to block: it goes on, or is switched out and in again without another
 * wake-up, and was runnable meanwhile. */
static int on_waking(struct reading *g, const struct vprof_kernel_event *e)
{
	struct vprof_kernel_thread *t = vprof_kernel_entities_thread(&g->all, e->waking.wakee_tid);
	uint32_t waker;

	if (!t)
		return VPROF_ERR_NOMEM;
	if (!t->is_followed)
		return VPROF_OK;
	if (t->state != VPROF_KERNEL_THREAD_BLOCKED && t->state != VPROF_KERNEL_THREAD_UNKNOWN) {
		t->is_early = t->state == VPROF_KERNEL_THREAD_RUNNING;
		return VPROF_OK;
	}
	waker = vprof_kernel_entities_waker(&g->all, e);
	t = vprof_kernel_entities_thread(&g->all, e->waking.wakee_tid); /* the waker may be new */
	if (!t || waker == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	return change(g, t, VPROF_KERNEL_THREAD_BLOCKED, VPROF_KERNEL_THREAD_RUNNABLE, waker,
		      stack_number(g, e->waking.kernel_stack, e->waking.user_stack));
}

/* The tid is another thread's from now on, or the recording ends: the thread ended with its EXIT, if it had one. */
static int retire(struct reading *g, struct vprof_kernel_thread *t)
{
	uint64_t now = g->now;
	int ret;

	if (t->exit && t->state != VPROF_KERNEL_THREAD_GONE)
		g->now = t->exit > t->since ? t->exit : t->since;
	ret = change(g, t, VPROF_KERNEL_THREAD_UNKNOWN, VPROF_KERNEL_THREAD_GONE, VPROF_NONE, 0);
	g->now = now;
	return ret;
}

static int on_fork(struct reading *g, const struct vprof_kernel_event *e)
{
	struct vprof_kernel_thread *t = vprof_kernel_entities_thread(&g->all, e->task.by_tid);
	uint32_t creator = t ? t->entity : VPROF_NONE;

	t = t ? vprof_kernel_entities_thread(&g->all, e->task.tid) : NULL;
	if (!t || retire(g, t))
		return VPROF_ERR_NOMEM;
	t = vprof_kernel_entities_make(&g->all, e->task.tid, e->task.pid, e->task.comm, creator, g->now);
	if (t)
		t->state = VPROF_KERNEL_THREAD_RUNNABLE;
	return t ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* A new name; a thread that is seen first was not recorded before. */
static int on_task(struct reading *g, const struct vprof_kernel_event *e)
{
	struct vprof_kernel_thread *t = vprof_kernel_entities_thread(&g->all, e->task.tid);
	struct vprof_waits_entity *entity;

	if (t && t->state == VPROF_KERNEL_THREAD_GONE && e->kind == VP_KIND_KERNEL_TASK) { /* another has its tid */
		t = vprof_kernel_entities_make(&g->all, e->task.tid, e->task.pid, e->task.comm, VPROF_NONE, g->now);
		if (t)
			t->is_followed = 0;
	}
	if (!t)
		return VPROF_ERR_NOMEM;
	entity = &g->input->history.entities.v[t->entity];
	t->pid = entity->pid = e->task.pid;
	if (*e->task.comm)
		entity->name = vprof_strings_keep(&g->input->strings, e->task.comm);
	if (e->kind == VP_KIND_KERNEL_TASK && !(e->task.flags & VP_TASK_RENAMED) &&
	    (e->task.flags & VP_TASK_SESSION || !t->is_followed))
		entity->is_foreign = g->all.is_tree && !(e->task.flags & VP_TASK_SESSION);
	else if (e->kind == VP_KIND_KERNEL_EXEC)
		entity->is_foreign = 0;
	if (t->state == VPROF_KERNEL_THREAD_UNKNOWN && !entity->segments.n)
		t->since = g->now;
	t->is_followed = 1;
	return entity->name ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int on_thread_exit(struct reading *g, const struct vprof_kernel_event *e)
{
	struct vprof_kernel_thread *t = vprof_kernel_entities_thread(&g->all, e->task.tid);

	if (!t || t->state == VPROF_KERNEL_THREAD_GONE || !t->is_followed)
		return t ? VPROF_OK : VPROF_ERR_NOMEM;
	g->input->history.entities.v[t->entity].ended = t->exit = g->now;
	return VPROF_OK;
}

static uint64_t request_key(const struct vprof_kernel_event *e)
{
	return vprof_mix(e->block.request) ^ e->block.device;
}

static uint32_t find_request(struct reading *g, uint64_t key, size_t *at)
{
	VPROF_HASH_EACH(&g->by_request, key, *at, i)
	{
		if (g->open.v[i].key == key)
			return i;
	}
	return VPROF_NONE;
}

static int on_issue(struct reading *g, const struct vprof_kernel_event *e)
{
	uint32_t device = vprof_kernel_entities_device(&g->all, VP_SOURCE_BLOCK, e->block.device), i;
	const struct vprof_kernel_thread *t = e->block.tid ? vprof_kernel_entities_thread(&g->all, e->block.tid) : NULL;
	uint64_t key = request_key(e);
	size_t at;

	if (device == VPROF_NONE || (e->block.tid && !t) || vprof_hash_index_room(&g->by_request, 1))
		return VPROF_ERR_NOMEM;
	i = find_request(g, key, &at);
	if (i == VPROF_NONE) {
		if (g->free_open.n) {
			i = g->free_open.v[--g->free_open.n];
		} else {
			if (!VPROF_PUSH(&g->open))
				return VPROF_ERR_NOMEM;
			i = (uint32_t)(g->open.n - 1);
		}
		vprof_hash_index_put(&g->by_request, at, key, i);
	}
	g->open.v[i] = (struct open_request){ key, g->now, device, t ? t->entity : VPROF_NONE, e->block.bytes };
	return VPROF_OK;
}

static int add_request(struct reading *g, const struct open_request *o, uint64_t complete, uint64_t n_bytes)
{
	struct vprof_waits_request *r = VPROF_PUSH(&g->input->history.requests);

	if (r)
		*r = (struct vprof_waits_request){ o->issue, complete, n_bytes, o->device, o->thread };
	return r ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* A request of which only the completion was seen. */
static int add_unseen(struct reading *g, const struct open_request *o)
{
	uint32_t *added = VPROF_PUSH(&g->begun_unseen);

	if (!added)
		return VPROF_ERR_NOMEM;
	*added = (uint32_t)g->input->history.requests.n;
	return add_request(g, o, g->now, o->n_bytes);
}

/* Of a request that completes in parts the last one counts. An empty one that was never issued has a flush as its only
 * part, which the kernel sends by a request of its own. */
static int on_complete(struct reading *g, const struct vprof_kernel_event *e)
{
	uint32_t device = vprof_kernel_entities_device(&g->all, VP_SOURCE_BLOCK, e->block.device), i, *room;
	struct open_request before = { 0, g->now, device, VPROF_NONE, e->block.bytes };
	size_t at;

	if (device == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	i = find_request(g, request_key(e), &at);
	if (i == VPROF_NONE)
		return e->block.before || !e->block.bytes ? VPROF_OK : add_unseen(g, &before);
	if (e->block.bytes < g->open.v[i].n_bytes && !e->block.error) {
		g->open.v[i].n_bytes -= e->block.bytes;
		return VPROF_OK;
	}
	room = VPROF_PUSH(&g->free_open);
	if (!room)
		return VPROF_ERR_NOMEM;
	*room = i;
	vprof_hash_index_remove(&g->by_request, at);
	before = g->open.v[i];
	g->open.v[i].key = 0;
	return add_request(g, &before, g->now, e->block.bytes);
}

static int on_send(struct reading *g, const struct vprof_kernel_event *e)
{
	struct open_request sent = { 0, g->now, VPROF_NONE, VPROF_NONE, e->net.bytes };
	const struct vprof_kernel_thread *t;

	sent.device = vprof_kernel_entities_device(&g->all, VP_SOURCE_NET, e->net.interface);
	if (sent.device == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	if (e->net.context == VP_CONTEXT_TASK && e->net.current_tid) {
		t = vprof_kernel_entities_thread(&g->all, e->net.current_tid);
		if (!t)
			return VPROF_ERR_NOMEM;
		sent.thread = t->entity;
	}
	return add_request(g, &sent, g->now, e->net.bytes);
}

static int take(struct reading *g, const struct vprof_kernel_event *e)
{
	g->input->n_events++;
	switch (e->kind) {
	case VP_KIND_KERNEL_SWITCH:
		return on_switch(g, e);
	case VP_KIND_KERNEL_WAKING:
		return on_waking(g, e);
	case VP_KIND_KERNEL_FORK:
		return on_fork(g, e);
	case VP_KIND_KERNEL_EXEC:
	case VP_KIND_KERNEL_TASK:
		return on_task(g, e);
	case VP_KIND_KERNEL_EXIT:
		return on_thread_exit(g, e);
	case VP_KIND_KERNEL_BLOCK_ISSUE:
		return on_issue(g, e);
	case VP_KIND_KERNEL_BLOCK_COMPLETE:
		return on_complete(g, e);
	case VP_KIND_KERNEL_NET_SEND:
		return on_send(g, e);
	default:
		return VPROF_OK;
	}
}

/* How long requests of the device took that were seen whole: in the median, and at most. 0: there were none. */
static int measure_device(const struct reading *g, uint32_t device, size_t n_seen, uint64_t *median, uint64_t *most)
{
	const struct vprof_waits_request *r = g->input->history.requests.v;
	VPROF_ARRAY(uint64_t) lengths = { NULL, 0, 0 };
	size_t unseen = 0;
	int ret = VPROF_RESERVE(&lengths, n_seen + 1) ? VPROF_ERR_NOMEM : VPROF_OK;

	for (size_t i = 0; i < n_seen && !ret; i++) {
		if (unseen < g->begun_unseen.n && g->begun_unseen.v[unseen] == i)
			unseen++;
		else if (r[i].device == device)
			lengths.v[lengths.n++] = r[i].complete - r[i].issue;
	}
	if (!ret && lengths.n)
		ret = vprof_array_sort(lengths.v, lengths.n, sizeof *lengths.v, vprof_compare_u64) ? VPROF_ERR_NOMEM :
												     VPROF_OK;
	*median = lengths.n ? lengths.v[lengths.n / 2] : 0;
	*most = lengths.n ? lengths.v[lengths.n - 1] : 0;
	VPROF_ARRAY_RELEASE(&lengths);
	return ret;
}

/* Disks' requests that were not seen whole took as long as the device's others in the median. One that was not complete
 * at the end is on its way until then, unless that is longer than any other took: then its completion is missing. */
static int guess_requests(struct reading *g)
{
	struct vprof_waits_history *h = &g->input->history;
	size_t n_seen = h->requests.n;

	for (uint32_t device = 0; device < h->entities.n; device++) {
		uint64_t median, most;

		if (h->entities.v[device].kind != VPROF_WAITS_DISK)
			continue;
		if (measure_device(g, device, n_seen, &median, &most))
			return VPROF_ERR_NOMEM;
		for (size_t i = 0; i < g->begun_unseen.n; i++) {
			struct vprof_waits_request *r = &h->requests.v[g->begun_unseen.v[i]];

			if (r->device == device)
				r->issue = r->complete - h->begin > median ? r->complete - median : h->begin;
		}
		for (size_t i = 0; i < g->open.n; i++) {
			const struct open_request *o = &g->open.v[i];

			if (o->key && o->device == device &&
			    add_request(g, o, median && h->end - o->issue > most ? o->issue + median : h->end,
					o->n_bytes))
				return VPROF_ERR_NOMEM;
		}
	}
	return VPROF_OK;
}

/* What was still going on when the recording ended. */
static int finish(struct reading *g)
{
	struct vprof_waits_history *h = &g->input->history;

	h->end = g->now;
	for (size_t i = 0; i < g->all.threads.n; i++)
		if (retire(g, &g->all.threads.v[i]))
			return VPROF_ERR_NOMEM;
	if (guess_requests(g))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < h->requests.n; i++) /* of threads of which nothing else is known */
		if (h->requests.v[i].thread != VPROF_NONE && !h->entities.v[h->requests.v[i].thread].segments.n)
			h->requests.v[i].thread = VPROF_NONE;
	for (size_t e = 0; e < h->entities.n; e++)
		if (h->entities.v[e].ended > h->end)
			h->entities.v[e].ended = h->end;
	return VPROF_OK;
}

static int read_events(struct reading *g, struct vprof_error *err)
{
	struct vprof_kernel_stream *stream;
	struct vprof_kernel_event e;
	int ret = vprof_kernel_stream_open(&stream, g->trace, err), is_first = 1;

	while (!ret && vprof_kernel_stream_next(stream, &e)) {
		uint64_t t = vprof_waits_time(vprof_trace_ns(g->trace, e.t));

		if (e.t > g->input->tables.wakes_until)
			break;
		if (is_first) {
			g->input->history.begin = g->all.begin = g->now = t;
			ret = vprof_kernel_entities_read_tables(&g->all, g->trace);
			is_first = 0;
		}
		g->now = t > g->now ? t : g->now; /* in a damaged trace times may go back */
		if (e.kind == VP_KIND_KERNEL_LOST)
			g->input->n_lost += e.n_lost;
		ret = ret ? ret : take(g, &e);
	}
	vprof_kernel_stream_close(stream);
	return ret ? ret : finish(g);
}

/* The rest of the recording has wake-ups here and there only. */
static int tell_rest(struct vprof_waits_input *input, const struct vprof_trace *trace)
{
	uint64_t until = input->tables.wakes_until;
	struct vprof_text text = VPROF_TEXT_INIT;

	if (until == UINT64_MAX || !input->missing)
		return input->missing ? VPROF_OK : VPROF_ERR_NOMEM;
	vprof_text_addf(
		&text,
		"%s%swake-ups after the first %.1f s, but for some moments, since they took too much of the program's CPU "
		"time (vprof record --stacks --waits records them throughout)",
		input->missing, *input->missing ? ", " : "", vprof_trace_ns(trace, until) / 1e9);
	input->missing = text.failed ? NULL : vprof_strings_keep(&input->strings, text.s);
	vprof_text_release(&text);
	return input->missing ? VPROF_OK : VPROF_ERR_NOMEM;
}

int vprof_waits_input_kernel(struct vprof_waits_input *input, const struct vprof_trace *trace, double bytes_per_s,
			     struct vprof_error *err)
{
	struct reading g = { .input = input, .trace = trace };
	int ret;

	memset(input, 0, sizeof *input);
	input->is_kernel = 1;
	if (!trace->n_kernel)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "the trace has no events of the kernel: record one with vprof record");
	if ((trace->header.kernel_kinds & (VP_KERNEL_SOCKETS | VP_KERNEL_SCHEDULING)) == VP_KERNEL_SOCKETS)
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"the trace has sends and receives only: what threads wait for is recorded with vprof "
			"record, or together with vprof record --paths --waits");
	g.all.input = input;
	g.all.bytes_per_s = bytes_per_s;
	g.all.is_tree = trace->header.kernel_scope == VP_KERNEL_TREE;
	ret = vprof_waits_input_add_stack(input, 0, "") == VPROF_NONE ? VPROF_ERR_NOMEM : VPROF_OK;
	input->missing = vprof_strings_keep(&input->strings, trace->header.no_kernel);
	input->history.n_cpus = (uint32_t)trace->n_kernel;
	if (!ret)
		ret = vprof_kernel_tables_read(&input->tables, trace, err);
	if (!ret)
		ret = tell_rest(input, trace);
	g.same = calloc(input->tables.stacks.n + 1, sizeof *g.same);
	if (!ret)
		ret = g.same ? vprof_stacks_find_same(g.same, &input->tables) : VPROF_ERR_NOMEM;
	if (!ret)
		ret = input->missing ? read_events(&g, err) : VPROF_ERR_NOMEM;
	if (input->n_lost < trace->header.n_kernel_lost)
		input->n_lost = trace->header.n_kernel_lost;
	vprof_kernel_entities_release(&g.all);
	vprof_hash_index_release(&g.by_request);
	vprof_hash_index_release(&g.by_stacks);
	vprof_hash_index_release(&g.by_ids);
	VPROF_ARRAY_RELEASE(&g.known);
	free(g.same);
	VPROF_ARRAY_RELEASE(&g.open);
	VPROF_ARRAY_RELEASE(&g.free_open);
	VPROF_ARRAY_RELEASE(&g.begun_unseen);
	return ret ? vprof_error_set(err, ret, "not enough memory for the kernel's events: record a shorter run") :
		     VPROF_OK;
}
