/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/input/socket_input.h"

#include <stdio.h>

#include "analysis/requests/input/marks_input.h"
#include "trace/kernel_tables.h"

#define BEFORE_NS UINT64_C(3600000000000) /* the history's 0 before the first trace: others may begin earlier */

struct known { /* by tid, pid or cookie */
	uint64_t key;
	uint32_t item; /* tenure, process or socket */
};

struct tenure { /* of a tid by a thread */
	uint64_t since;
	uint32_t thread, before; /* before: an earlier tenure, or VPROF_NONE */
	int is_guessed;		 /* of which process is not known */
};

typedef VPROF_ARRAY(struct known) known_list;

struct reading {
	struct vprof_socket_input *input;
	struct vprof_socket_history *h;
	const struct vprof_trace *trace;
	uint32_t host;
	uint64_t start_ns; /* of the trace, in the history's time */
	struct vprof_hash_index by_tid, by_pid, by_cookie;
	known_list tids, pids, cookies;
	VPROF_ARRAY(struct tenure) tenures;
};

static uint64_t to_ns(const struct reading *g, uint64_t ticks)
{
	double ns = (double)g->start_ns + vprof_trace_ns(g->trace, ticks);

	return ns <= 0 ? 0 : ns >= (double)VPROF_REQUESTS_TIME_MAX ? VPROF_REQUESTS_TIME_MAX : (uint64_t)ns;
}

/* Of the key; NULL without memory. *is_new: it was not known, its item is to be filled in. */
static struct known *look(struct vprof_hash_index *index, known_list *all, uint64_t key, int *is_new)
{
	uint64_t hash = vprof_mix(key);
	struct known *added;
	size_t at;

	*is_new = 0;
	if (vprof_hash_index_room(index, 1))
		return NULL;
	VPROF_HASH_EACH(index, hash, at, i)
	{
		if (all->v[i].key == key)
			return &all->v[i];
	}
	added = VPROF_PUSH(all);
	if (!added)
		return NULL;
	vprof_hash_index_put(index, at, hash, (uint32_t)(all->n - 1));
	*added = (struct known){ key, VPROF_NONE };
	*is_new = 1;
	return added;
}

/* A new process of that number, or with `is_fresh` another one that has it now. VPROF_NONE without memory. */
static uint32_t process_of(struct reading *g, uint32_t pid, const char *name, int is_fresh)
{
	int is_new;
	struct known *k = look(&g->by_pid, &g->pids, pid, &is_new);
	const char *kept = vprof_strings_keep(&g->input->strings, name);
	struct vprof_socket_process *p;

	if (!k || !kept)
		return VPROF_NONE;
	if (k->item != VPROF_NONE && !is_fresh)
		return k->item;
	p = VPROF_PUSH(&g->h->processes);
	if (!p)
		return VPROF_NONE;
	*p = (struct vprof_socket_process){ g->host, pid, kept };
	k->item = (uint32_t)(g->h->processes.n - 1);
	return k->item;
}

/* Another thread has this tid from `since` on. */
static uint32_t make_thread(struct reading *g, const struct vprof_kernel_event *e, uint64_t since, int is_fresh)
{
	int is_new;
	struct known *k = look(&g->by_tid, &g->tids, e->task.tid, &is_new);
	uint32_t process = process_of(g, e->task.pid, e->task.comm, is_fresh && e->task.tid == e->task.pid);
	const char *kept = vprof_strings_keep(&g->input->strings, e->task.comm);
	struct tenure *tenure = k ? VPROF_PUSH(&g->tenures) : NULL;
	struct vprof_socket_thread *t = tenure && kept && process != VPROF_NONE ? VPROF_PUSH(&g->h->threads) : NULL;

	if (!t)
		return VPROF_NONE;
	*t = (struct vprof_socket_thread){ process, e->task.tid, kept };
	*tenure = (struct tenure){ since, (uint32_t)(g->h->threads.n - 1), k->item, 0 };
	k->item = (uint32_t)(g->tenures.n - 1);
	return tenure->thread;
}

/* Whose tid it was at t, in the order of the events or, for what a program recorded itself, after all of them. */
static uint32_t thread_at(struct reading *g, uint32_t tid, uint64_t t)
{
	int is_new;
	struct known *k = look(&g->by_tid, &g->tids, tid, &is_new);
	struct vprof_kernel_event guess = { .task = { .tid = tid, .pid = tid } };
	uint32_t thread, i;

	if (!k)
		return VPROF_NONE;
	for (i = k->item; i != VPROF_NONE; i = g->tenures.v[i].before)
		if (g->tenures.v[i].since <= t || g->tenures.v[i].before == VPROF_NONE)
			return g->tenures.v[i].thread;
	snprintf(guess.task.comm, sizeof guess.task.comm, "thread %u", tid);
	thread = make_thread(g, &guess, 0, 0);
	if (thread != VPROF_NONE)
		g->tenures.v[g->tenures.n - 1].is_guessed = 1;
	return thread;
}

static uint32_t thread_of(struct reading *g, uint32_t tid)
{
	return thread_at(g, tid, UINT64_MAX);
}

/* Told of a thread that was there before. It may be known: from earlier events, or because it is told of once more as
 * it wakes somebody while its process ends. */
static uint32_t tell_thread(struct reading *g, const struct vprof_kernel_event *e)
{
	int is_new;
	struct known *k = look(&g->by_tid, &g->tids, e->task.tid, &is_new);
	struct tenure *tenure = k && k->item != VPROF_NONE ? &g->tenures.v[k->item] : NULL;
	struct vprof_socket_thread *t = tenure ? &g->h->threads.v[tenure->thread] : NULL;

	if (!t || (!tenure->is_guessed && g->h->processes.v[t->process].pid != e->task.pid))
		return make_thread(g, e, t ? to_ns(g, e->t) : 0, 0);
	if (!tenure->is_guessed)
		return tenure->thread;
	tenure->is_guessed = 0;
	t->process = process_of(g, e->task.pid, e->task.comm, 0);
	t->name = vprof_strings_keep(&g->input->strings, e->task.comm);
	if (t->process == VPROF_NONE || !t->name)
		return VPROF_NONE;
	if (e->task.tid == e->task.pid)
		g->h->processes.v[t->process].name = t->name;
	return tenure->thread;
}

static uint32_t thread_called(void *reading, uint32_t tid, uint64_t t)
{
	return thread_at(reading, tid, t);
}

static uint64_t time_called(void *reading, uint64_t ticks)
{
	return to_ns(reading, ticks);
}

static int take_task(struct reading *g, const struct vprof_kernel_event *e)
{
	uint32_t thread, maker;
	struct vprof_thread_wake *w;

	switch (e->kind) {
	case VP_KIND_KERNEL_FORK:
		maker = thread_of(g, e->task.by_tid);
		thread = make_thread(g, e, to_ns(g, e->t), 1);
		w = maker != VPROF_NONE && thread != VPROF_NONE ? VPROF_PUSH(&g->h->wakes) : NULL;
		if (w)
			*w = (struct vprof_thread_wake){ to_ns(g, e->t), maker, thread, 1, 0 };
		return w ? VPROF_OK : VPROF_ERR_NOMEM;
	case VP_KIND_KERNEL_TASK:
		if (!(e->task.flags & VP_TASK_RENAMED))
			return tell_thread(g, e) == VPROF_NONE ? VPROF_ERR_NOMEM : VPROF_OK;
		thread = thread_of(g, e->task.tid);
		if (thread == VPROF_NONE)
			return VPROF_ERR_NOMEM;
		if (e->task.tid == e->task.pid) {
			const char *kept = vprof_strings_keep(&g->input->strings, e->task.comm);

			if (!kept)
				return VPROF_ERR_NOMEM;
			g->h->processes.v[g->h->threads.v[thread].process].name = kept;
		}
		return VPROF_OK;
	case VP_KIND_KERNEL_EXEC:
		return make_thread(g, e, to_ns(g, e->t), 1) == VPROF_NONE ? VPROF_ERR_NOMEM : VPROF_OK;
	default:
		return VPROF_OK;
	}
}

/* Wakers of threads of their own process only: others hand nothing over. */
static int take_waking(struct reading *g, const struct vprof_kernel_event *e)
{
	uint32_t waker, wakee;
	struct vprof_thread_wake *w;

	if (e->waking.context != VP_CONTEXT_TASK || !e->waking.current_tid ||
	    e->waking.current_tid == e->waking.wakee_tid)
		return VPROF_OK;
	waker = thread_of(g, e->waking.current_tid);
	wakee = thread_of(g, e->waking.wakee_tid);
	if (waker == VPROF_NONE || wakee == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	if (g->h->threads.v[waker].process != g->h->threads.v[wakee].process)
		return VPROF_OK;
	w = VPROF_PUSH(&g->h->wakes);
	if (w)
		*w = (struct vprof_thread_wake){ to_ns(g, e->t), waker, wakee, 0,
						 e->waking.source == VP_SOURCE_FUTEX ? e->waking.source_id : 0 };
	return w ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int take_socket(struct reading *g, const struct vprof_kernel_event *e)
{
	int is_new, is_unix = (e->socket.flags & VP_SOCKET_UNIX) != 0;
	struct known *k = look(&g->by_cookie, &g->cookies, e->socket.cookie, &is_new);
	/* its transfers may come first: where the ring had no room to tell it, it is told later */
	int is_fresh = k && k->item == VPROF_NONE;
	struct vprof_socket *s = is_fresh ? VPROF_PUSH(&g->h->sockets) : NULL;
	char path[VP_SOCKET_PATH_BYTES + 1] = "";

	if (!k || (is_fresh && !s))
		return VPROF_ERR_NOMEM;
	if (is_fresh)
		k->item = (uint32_t)(g->h->sockets.n - 1);
	s = &g->h->sockets.v[k->item];
	if (is_fresh)
		*s = (struct vprof_socket){ .closer = VPROF_NONE };
	if (e->socket.flags & VP_SOCKET_CLOSED && !s->closed_ns) {
		s->closed_ns = to_ns(g, e->t);
		s->closer = e->socket.tid ? thread_of(g, e->socket.tid) : VPROF_NONE;
	}
	s->n_resent += (e->socket.flags & VP_SOCKET_RESENT) != 0;
	if (!is_fresh &&
	    e->socket.flags & (VP_SOCKET_CLOSED | VP_SOCKET_RESENT)) /* its port may be given back by now */
		return VPROF_OK;
	*s = (struct vprof_socket){
		.closed_ns = s->closed_ns,
		.closer = s->closer,
		.n_resent = s->n_resent,
		.host = g->host,
		.kind = is_unix ? VPROF_SOCKET_UNIX : VPROF_SOCKET_TCP,
		.role = e->socket.flags & VP_SOCKET_CLIENT ? VPROF_ROLE_CLIENT :
			e->socket.flags & VP_SOCKET_SERVER ? VPROF_ROLE_SERVER :
							     VPROF_ROLE_UNKNOWN,
		.cookie = e->socket.cookie,
		.peer = is_unix ? e->socket.peer : 0,
		.network = e->socket.network,
		.connect_ns = e->socket.connected ? to_ns(g, e->socket.connected) : 0,
		.established_ns = e->socket.established ? to_ns(g, e->socket.established) : 0,
	};
	if (is_unix) {
		memcpy(path, e->socket.path, VP_SOCKET_PATH_BYTES);
	} else {
		memcpy(s->local.bytes, e->socket.local, sizeof s->local.bytes);
		memcpy(s->remote.bytes, e->socket.remote, sizeof s->remote.bytes);
		s->local.port = e->socket.local_port;
		s->remote.port = e->socket.remote_port;
	}
	s->path = vprof_strings_keep(&g->input->strings, path);
	return s->path ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int take_transfer(struct reading *g, const struct vprof_kernel_event *e)
{
	int is_new;
	struct known *k = look(&g->by_cookie, &g->cookies, e->transfer.cookie, &is_new);
	uint32_t thread = thread_of(g, e->transfer.tid);
	struct vprof_transfer *t;

	if (!k || thread == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	if (k->item == VPROF_NONE) {
		g->input->n_unknown++;
		return VPROF_OK;
	}
	t = VPROF_PUSH(&g->h->transfers);
	if (!t)
		return VPROF_ERR_NOMEM;
	*t = (struct vprof_transfer){ to_ns(g, e->transfer.from),
				      to_ns(g, e->t),
				      e->transfer.position,
				      e->transfer.bytes,
				      k->item,
				      thread,
				      (e->transfer.flags & VP_TRANSFER_SEND) != 0,
				      e->transfer.flags & VP_TRANSFER_ARRIVAL ? e->transfer.waited_ns : 0 };
	if (t->from > t->to)
		t->from = t->to;
	g->input->n_transfers++;
	return VPROF_OK;
}

static int take(struct reading *g, const struct vprof_kernel_event *e)
{
	switch (e->kind) {
	case VP_KIND_KERNEL_FORK:
	case VP_KIND_KERNEL_EXEC:
	case VP_KIND_KERNEL_TASK:
		return take_task(g, e);
	case VP_KIND_KERNEL_WAKING:
		return take_waking(g, e);
	case VP_KIND_KERNEL_SOCKET:
		return take_socket(g, e);
	case VP_KIND_KERNEL_TRANSFER:
		return take_transfer(g, e);
	case VP_KIND_KERNEL_LOST:
		g->h->n_lost += e->n_lost;
		return VPROF_OK;
	default:
		return VPROF_OK;
	}
}

/* The 32 bits of TCP's numbers as 64, by direction, while a socket's transfers come in their order. */
static int unwrap_positions(struct vprof_socket_history *h, size_t first)
{
	struct last {
		uint64_t v[2];
	} *last = calloc(h->sockets.n + 1, sizeof *last);

	for (size_t i = first; last && i < h->transfers.n; i++) {
		struct vprof_transfer *t = &h->transfers.v[i];
		uint64_t *before = &last[t->socket].v[t->is_send != 0];

		if (h->sockets.v[t->socket].kind != VPROF_SOCKET_TCP)
			continue;
		if (!*before)
			*before = (UINT64_C(1) << 33) + (uint32_t)t->position;
		else
			*before += (uint64_t)(int64_t)(int32_t)((uint32_t)t->position - (uint32_t)*before);
		t->position = *before;
	}
	free(last);
	return last ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* A thread's transfers do not overlap: who was found to have been in another call has told too early a begin. */
static int settle_begins(struct vprof_socket_history *h, size_t first)
{
	uint64_t *before = calloc(h->threads.n + 1, sizeof *before);

	for (size_t i = first; before && i < h->transfers.n; i++) {
		struct vprof_transfer *t = &h->transfers.v[i];

		t->from = t->from < before[t->thread] ? before[t->thread] : t->from;
		t->from = t->from < t->to ? t->from : t->to;
		before[t->thread] = t->to;
	}
	free(before);
	return before ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* The first of two Unix sockets to be told could not name the other: that one had no number yet. */
static void name_peers(struct reading *g, size_t first)
{
	for (size_t i = first; i < g->h->sockets.n; i++) {
		const struct vprof_socket *s = &g->h->sockets.v[i];
		size_t at;

		if (s->kind != VPROF_SOCKET_UNIX || !s->peer)
			continue;
		VPROF_HASH_EACH(&g->by_cookie, vprof_mix(s->peer), at, k)
		{
			struct known *other = &g->cookies.v[k];

			if (other->key == s->peer && other->item != VPROF_NONE && !g->h->sockets.v[other->item].peer)
				g->h->sockets.v[other->item].peer = s->cookie;
		}
	}
}

/* Threads that were there before the recording. */
static int read_tables(struct reading *g, struct vprof_error *err)
{
	struct vprof_kernel_tables tables = { 0 };
	int ret = vprof_kernel_tables_read(&tables, g->trace, err);

	for (size_t i = 0; i < tables.tasks.n && !ret; i++)
		ret = take_task(g, &tables.tasks.v[i]);
	vprof_kernel_tables_release(&tables);
	return ret;
}

static int read_events(struct reading *g, struct vprof_error *err)
{
	struct vprof_socket_history *h = g->h;
	size_t first_transfer = h->transfers.n, first_socket = h->sockets.n;
	struct vprof_kernel_stream *stream;
	struct vprof_kernel_event e;
	int ret = vprof_kernel_stream_open(&stream, g->trace, err);

	while (!ret && vprof_kernel_stream_next(stream, &e)) {
		uint64_t t = to_ns(g, e.t);

		h->begin = h->begin && h->begin < t ? h->begin : t;
		h->end = t > h->end ? t : h->end;
		ret = take(g, &e);
	}
	vprof_kernel_stream_close(stream);
	if (!ret)
		ret = unwrap_positions(h, first_transfer);
	if (!ret)
		ret = settle_begins(h, first_transfer);
	name_peers(g, first_socket);
	return ret;
}

/* Two traces of one host have one clock. VPROF_NONE without memory. */
static uint32_t host_of(struct vprof_socket_input *input, const struct vprof_trace *trace)
{
	char name[sizeof trace->header.host + 1];
	const char *kept, **host;

	snprintf(name, sizeof name, "%.*s", (int)sizeof trace->header.host, trace->header.host);
	kept = vprof_strings_keep(&input->strings, name);
	for (uint32_t i = 0; kept && i < input->history.hosts.n; i++)
		if (input->history.hosts.v[i] == kept)
			return i;
	host = kept ? VPROF_PUSH(&input->history.hosts) : NULL;
	if (!host)
		return VPROF_NONE;
	*host = kept;
	return (uint32_t)(input->history.hosts.n - 1);
}

int vprof_socket_input_add(struct vprof_socket_input *input, const struct vprof_trace *trace, struct vprof_error *err)
{
	struct reading g = { .input = input, .h = &input->history, .trace = trace };
	struct vprof_socket_source *source;
	int ret;

	if (!(trace->header.kernel_kinds & VP_KERNEL_SOCKETS))
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"the trace does not tell who sends and receives: record it with vprof record --paths%s%s",
			*trace->header.no_kernel ? "; not recorded: " : "", trace->header.no_kernel);
	if (!input->history.hosts.n)
		input->base_ns = trace->header.start_realtime_ns - BEFORE_NS;
	g.start_ns = trace->header.start_realtime_ns - input->base_ns;
	g.host = host_of(input, trace);
	source = g.host == VPROF_NONE ? NULL : VPROF_PUSH(&input->sources);
	if (source)
		*source = (struct vprof_socket_source){ g.host, g.start_ns };
	ret = source ? VPROF_OK : VPROF_ERR_NOMEM;
	if (!ret)
		ret = read_tables(&g, err);
	if (!ret)
		ret = read_events(&g, err);
	if (!ret)
		ret = vprof_marks_input_add(g.h, trace, &(struct vprof_marks_reader){ thread_called, time_called, &g });
	if (!ret) {
		input->missing = vprof_strings_keep(&input->strings, trace->header.no_kernel);
		ret = input->missing ? VPROF_OK : VPROF_ERR_NOMEM;
	}
	vprof_hash_index_release(&g.by_tid);
	vprof_hash_index_release(&g.by_pid);
	vprof_hash_index_release(&g.by_cookie);
	VPROF_ARRAY_RELEASE(&g.tids);
	VPROF_ARRAY_RELEASE(&g.pids);
	VPROF_ARRAY_RELEASE(&g.cookies);
	VPROF_ARRAY_RELEASE(&g.tenures);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_socket_input_release(struct vprof_socket_input *input)
{
	vprof_socket_history_release(&input->history);
	VPROF_ARRAY_RELEASE(&input->sources);
	vprof_strings_release(&input->strings);
}
