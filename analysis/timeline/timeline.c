/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records to timelines. One pass over every thread's records, several threads at a time. What is found does not depend
 * on the order in which threads are read.
 */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/timeline/timeline.h"

#include <stdatomic.h>
#include <stdio.h>

#include "analysis/timeline/losses.h"
#include "common/parallel.h"
#include "analysis/timeline/timeline_records.h"
#include "analysis/timeline/timeline_gaps.h"
#include "analysis/timeline/timeline_samples.h"
#include "analysis/timeline/timeline_switches.h"
#include "common/search.h"
#include "trace/walk.h"

#define TIME_MAX VPROF_CALL_TIME_MAX

static const char *const call_names[VP_CALL_COUNT] = {
#define VPROF_CALL_NAME(id, name) [VP_CALL_##id] = name,
	VP_CALLS(VPROF_CALL_NAME)
#undef VPROF_CALL_NAME
};

static const char *const kind_names[VPROF_KIND_NAMES] = {
	[0] = "wait",
	[VP_WAIT_MUTEX] = "pthread_mutex_lock",
	[VP_WAIT_RWLOCK_READ] = "pthread_rwlock_rdlock",
	[VP_WAIT_RWLOCK_WRITE] = "pthread_rwlock_wrlock",
	[VP_WAIT_COND] = "pthread_cond_wait",
	[VP_WAIT_BARRIER] = "pthread_barrier_wait",
	[VP_WAIT_SEMAPHORE] = "sem_wait",
	[VP_WAIT_JOIN] = "pthread_join",
	[VP_WAIT_SPIN] = "spin wait",
	[VP_WAIT_ANNOTATED] = "annotated wait",
	[VP_WAIT_SLEEP] = "sleep",
	[VP_WAIT_DISK] = "disk I/O",
	[VP_WAIT_SOCKET] = "socket I/O",
	[VP_WAIT_PIPE] = "pipe I/O",
	[VP_WAIT_POLL] = "poll",
	[VP_WAIT_CHILD] = "wait for a child process",
	[VP_WAIT_FUTEX] = "futex wait",
	[VP_WAIT_ONCE] = "pthread_once",
	[VP_WAIT_QUEUE] = "message queue",
};

#define SORT(a, order)                                                                                                 \
	do {                                                                                                           \
		size_t i_ = 1;                                                                                         \
		while (i_ < (a)->n && (a)->v[i_].t >= (a)->v[i_ - 1].t)                                                \
			i_++;                                                                                          \
		if (i_ < (a)->n && vprof_array_sort((a)->v, (a)->n, sizeof *(a)->v, order))                            \
			return VPROF_ERR_NOMEM;                                                                        \
	} while (0)

/* Records of one thread are in time order already, but a signal handler or damage can swap two. */
static int sort_marks(struct vprof_thread_timeline *thr)
{
	SORT(&thr->marks, vprof_compare_u64);
	SORT(&thr->messages, vprof_compare_u64);
	SORT(&thr->queue_events, vprof_compare_u64);
	return 0;
}

/* Call records are most of a trace. */
static const struct vp_unit *read_calls(struct vprof_reading *b, const struct vp_unit *at, const struct vp_unit *end)
{
	struct vprof_thread_timeline *thr = b->thr;
	const struct vp_unit *units = at;

	for (; at < end && VP_CODE(at->w) >= VP_CODE_FUNCTION && at->t - 1 < TIME_MAX && !b->pending_stack; at++) {
		thr->t_first = at->t < thr->t_first ? at->t : thr->t_first;
		if (vprof_reading_call(b, at->t, VP_PAYLOAD(at->w), VP_CODE(at->w), 0))
			return NULL;
		b->unit++;
	}
	b->n_records += (uint64_t)(at - units);
	return at;
}

static int read_block(struct vprof_reading *b, const struct vp_chunk_header *chunk)
{
	size_t n_all;
	const struct vp_unit *units = vprof_chunk_units(chunk, &b->buffer, &n_all), *at = units, *u;
	const struct vp_unit *end = units ? units + n_all : NULL;
	uint32_t n_units;

	b->unit = 0;
	if (vprof_call_index_begin(&b->thr->calls))
		return VPROF_ERR_NOMEM;
	if (!units) {
		b->n_bytes_ignored += chunk->n_bytes;
		return 0;
	}
	for (;;) {
		at = read_calls(b, at, end);
		if (!at)
			return VPROF_ERR_NOMEM;
		u = vp_walk_next(&at, end, &n_units);
		if (!u)
			break;
		b->unit = (uint32_t)(u - units);
		if (vprof_reading_record(b, u))
			return VPROF_ERR_NOMEM;
		b->unit = (uint32_t)(at - units);
	}
	b->n_bytes_ignored += (uint64_t)(end - at) * VP_UNIT_BYTES;
	return 0;
}

/* When the chunk's first record with a time was written; 0: there is none. */
static uint64_t first_time(struct vprof_reading *b, const struct vp_chunk_header *chunk)
{
	size_t n_all;
	const struct vp_unit *at = vprof_chunk_units(chunk, &b->buffer, &n_all), *end = at ? at + n_all : NULL, *u;
	uint32_t n_units;

	while (at && (u = vp_walk_next(&at, end, &n_units))) {
		uint32_t code = VP_CODE(u->w);

		if (code == VP_KIND_STRING || code == VP_KIND_MODULE || code == VP_KIND_BUILD_ID || u->t > TIME_MAX)
			continue;
		return code == VP_KIND_WAIT ? u[2].t : code >= VP_CODE_FUNCTION ? u->t + VP_PAYLOAD(u->w) : u->t;
	}
	return 0;
}

static int build_thread(struct vprof_reading *b, const struct vprof_trace_thread *thread)
{
	struct vprof_thread_timeline *thr = b->thr;

	thr->thread_seq = thread->thread_seq;
	thr->process_seq = thread->process_seq;
	thr->pid = thread->pid;
	thr->tid = thread->tid;
	thr->t_first = UINT64_MAX;
	thr->calls.source = thread;
	for (size_t i = 0; i < thread->n_chunks; i++) {
		/* 0: the same chunk goes on, which a live session stored piece by piece */
		if (i && thread->chunks[i]->chunk_seq - thread->chunks[i - 1]->chunk_seq > 1 &&
		    vprof_reading_lost(b, first_time(b, thread->chunks[i])))
			return VPROF_ERR_NOMEM;
		vprof_trace_expect(b->timeline->trace, thread->chunks[i]);
		if (read_block(b, thread->chunks[i]))
			return VPROF_ERR_NOMEM;
	}
	b->unit = UINT32_MAX;
	while (b->open.n)
		if (vprof_reading_close(b))
			return VPROF_ERR_NOMEM;
	vprof_call_index_finish(&thr->calls);
	return vprof_samples_sort(thr) || vprof_gaps_sort(thr) ? VPROF_ERR_NOMEM : sort_marks(thr);
}

struct pass {
	struct vprof_timeline *timeline;
	uint32_t *order; /* threads, the longest first */
	_Atomic size_t n_done, n_chunks;
	_Atomic uint64_t n_records, n_calls, n_sampled, n_unclosed, n_bad, n_dropped_marks, n_bytes_ignored;
	void (*progress)(void *arg, double done);
	void *progress_arg;
};

static int read_thread(void *arg, int worker, size_t item)
{
	struct pass *r = arg;
	uint32_t thread = r->order[item];
	const struct vprof_trace_thread *source = &r->timeline->trace->threads[thread];
	struct vprof_reading b = { .timeline = r->timeline, .thr = &r->timeline->threads[thread] };
	int ret = build_thread(&b, source);

	VPROF_ARRAY_RELEASE(&b.open);
	vprof_trace_buffer_release(&b.buffer);
	r->n_records += b.n_records;
	r->n_calls += b.n_calls;
	r->n_sampled += b.n_sampled;
	r->n_unclosed += b.n_unclosed;
	r->n_bad += b.n_bad;
	r->n_dropped_marks += b.n_dropped_marks;
	r->n_bytes_ignored += b.n_bytes_ignored;
	r->n_done += source->n_chunks;
	if (!worker && r->progress)
		r->progress(r->progress_arg, (double)r->n_done / (double)(r->n_chunks ? r->n_chunks : 1));
	return ret;
}

static int length_order(const void *a, const void *b, void *arg)
{
	const struct vprof_trace *trace = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	size_t x = trace->threads[i].n_chunks, y = trace->threads[k].n_chunks;

	return x != y ? (x > y ? -1 : 1) : i < k ? -1 : i > k;
}

static int read_threads(struct pass *r, int n_workers)
{
	struct vprof_timeline *timeline = r->timeline;
	const struct vprof_trace *trace = timeline->trace;
	int ret;

	r->order = malloc((trace->n_threads + 1) * sizeof *r->order);
	if (!r->order)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < trace->n_threads; i++) {
		r->order[i] = (uint32_t)i;
		r->n_chunks += trace->threads[i].n_chunks;
	}
	qsort_r(r->order, trace->n_threads, sizeof *r->order, length_order, (void *)trace);
	timeline->n_threads = trace->n_threads;
	ret = vprof_parallel_run(n_workers, trace->n_threads, read_thread, r);
	free(r->order);
	timeline->n_records = r->n_records;
	timeline->n_calls = r->n_calls;
	timeline->n_sampled = r->n_sampled;
	timeline->n_unclosed = r->n_unclosed;
	timeline->n_bad = r->n_bad;
	timeline->n_dropped_marks = r->n_dropped_marks;
	timeline->n_bytes_ignored = r->n_bytes_ignored;
	return ret;
}

/* Times and modules of all threads, in their order. */
static int join_threads(struct vprof_timeline *timeline)
{
	timeline->t_first = UINT64_MAX;
	for (size_t i = 0; i < timeline->n_threads; i++) {
		struct vprof_thread_timeline *thr = &timeline->threads[i];

		if (thr->t_first == UINT64_MAX)
			thr->t_first = thr->t_last;
		else if (thr->t_first < timeline->t_first)
			timeline->t_first = thr->t_first;
		if (thr->t_last > timeline->t_last)
			timeline->t_last = thr->t_last;
		for (size_t k = 0; k < thr->modules.n; k++) {
			struct vprof_module *m = VPROF_PUSH(&timeline->modules);

			if (!m)
				return VPROF_ERR_NOMEM;
			*m = thr->modules.v[k];
		}
		VPROF_ARRAY_RELEASE(&thr->modules);
	}
	if (timeline->t_first == UINT64_MAX)
		timeline->t_first = timeline->t_last;
	return 0;
}

static int init_names(struct vprof_timeline_private *p)
{
	for (size_t i = 0; i < VP_CALL_COUNT + VPROF_KIND_NAMES; i++) {
		const char **name = VPROF_PUSH(&p->names);

		if (!name)
			return VPROF_ERR_NOMEM;
		*name = i < VP_CALL_COUNT ? call_names[i] : kind_names[i - VP_CALL_COUNT];
	}
	return 0;
}

static int hash_order(const void *a, const void *b)
{
	const struct vprof_annotated_name *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Names of annotated functions were numbered as they were seen; now by their hashes. */
static void renumber_names(struct vprof_timeline *timeline)
{
	struct vprof_timeline_private *p = timeline->private;
	const uint32_t first = VP_CALL_COUNT + VPROF_KIND_NAMES;
	uint32_t place[4096];

	if (p->annotated.n < 2)
		return;
	qsort(p->annotated.v, p->annotated.n, sizeof *p->annotated.v, hash_order);
	for (size_t i = 0; i < p->annotated.n; i++) {
		place[p->annotated.v[i].index - first] = first + (uint32_t)i;
		p->annotated.v[i].index = first + (uint32_t)i;
	}
	for (size_t i = 0; i < timeline->n_threads; i++)
		for (size_t k = 0; k < timeline->threads[i].waits.n; k++)
			if (timeline->threads[i].waits.v[k].name >= first)
				timeline->threads[i].waits.v[k].name =
					place[timeline->threads[i].waits.v[k].name - first];
}

static void finish_names(struct vprof_timeline *timeline)
{
	struct vprof_timeline_private *p = timeline->private;

	renumber_names(timeline);
	for (size_t i = 0; i < p->annotated.n; i++) {
		const char *text = vprof_timeline_string(timeline, p->annotated.v[i].hash);

		p->names.v[p->annotated.v[i].index] = text && *text ? text : kind_names[VP_WAIT_ANNOTATED];
	}
	timeline->names = p->names.v;
	timeline->n_names = p->names.n;
}

int vprof_timeline_build(struct vprof_timeline **out, const struct vprof_trace *trace, int n_threads,
			 void (*progress)(void *arg, double done), void *arg, struct vprof_error *err)
{
	struct vprof_timeline *timeline = calloc(1, sizeof *timeline);
	struct pass r = { .timeline = timeline, .progress = progress, .progress_arg = arg };
	int ret = VPROF_ERR_NOMEM;

	*out = NULL;
	if (!timeline)
		goto out;
	timeline->trace = trace;
	timeline->ns_per_tick = trace->header.ns_per_tick;
	timeline->private = calloc(1, sizeof *timeline->private);
	timeline->threads = calloc(trace->n_threads ? trace->n_threads : 1, sizeof *timeline->threads);
	if (!timeline->private || !timeline->threads || init_names(timeline->private))
		goto out;
	pthread_mutex_init(&timeline->private->lock, NULL);
	if (read_threads(&r, vprof_parallel_count(n_threads)) || join_threads(timeline) ||
	    vprof_hot_functions_fill(timeline) || vprof_losses_gather(timeline) || vprof_off_cpu_build(timeline))
		goto out;
	finish_names(timeline);
	*out = timeline;
	timeline = NULL;
	ret = 0;
out:
	vprof_timeline_free(timeline);
	if (ret)
		vprof_error_set(err, ret,
				"not enough memory for the trace's timeline: record a shorter run, or "
				"analyse on a machine with more memory");
	return ret;
}

uint32_t vprof_timeline_add_name(struct vprof_timeline *timeline, const char *text)
{
	struct vprof_timeline_private *p = timeline->private;
	uint64_t hash;
	const char **name;

	if (vprof_timeline_add_string(timeline, text, &hash))
		return VPROF_NONE;
	name = VPROF_PUSH(&p->names);
	if (!name)
		return VPROF_NONE;
	*name = vprof_timeline_string(timeline, hash);
	timeline->names = p->names.v;
	timeline->n_names = p->names.n;
	return (uint32_t)(p->names.n - 1);
}

int vprof_timeline_add_threads(struct vprof_timeline *timeline, size_t n)
{
	static const struct vprof_trace_thread nothing; /* no chunks: the calls of such a thread are never read */
	struct vprof_thread_timeline *grown = realloc(timeline->threads, (timeline->n_threads + n + 1) * sizeof *grown);
	uint32_t thread_seq = 0, process_seq = 0;

	if (!grown)
		return VPROF_ERR_NOMEM;
	timeline->threads = grown;
	for (size_t i = 0; i < timeline->n_threads; i++) {
		thread_seq = grown[i].thread_seq > thread_seq ? grown[i].thread_seq : thread_seq;
		process_seq = grown[i].process_seq > process_seq ? grown[i].process_seq : process_seq;
	}
	for (; n; n--)
		grown[timeline->n_threads++] = (struct vprof_thread_timeline){ .thread_seq = ++thread_seq,
									       .process_seq = ++process_seq,
									       .calls.source = &nothing };
	return VPROF_OK;
}

static void line_release(struct vprof_thread_timeline *thr)
{
	vprof_call_index_release(&thr->calls);
	VPROF_ARRAY_RELEASE(&thr->modules);
	VPROF_ARRAY_RELEASE(&thr->waits);
	VPROF_ARRAY_RELEASE(&thr->wakes);
	VPROF_ARRAY_RELEASE(&thr->queue_events);
	VPROF_ARRAY_RELEASE(&thr->marks);
	VPROF_ARRAY_RELEASE(&thr->amounts);
	VPROF_ARRAY_RELEASE(&thr->creations);
	VPROF_ARRAY_RELEASE(&thr->stacks);
	VPROF_ARRAY_RELEASE(&thr->paths);
	VPROF_ARRAY_RELEASE(&thr->received);
	VPROF_ARRAY_RELEASE(&thr->messages);
	VPROF_ARRAY_RELEASE(&thr->ready);
	VPROF_ARRAY_RELEASE(&thr->samples);
	VPROF_ARRAY_RELEASE(&thr->gaps);
	VPROF_ARRAY_RELEASE(&thr->losses);
	VPROF_ARRAY_RELEASE(&thr->off_cpu);
	VPROF_ARRAY_RELEASE(&thr->cpu_unknown);
}

void vprof_timeline_free(struct vprof_timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < timeline->n_threads; i++)
		line_release(&timeline->threads[i]);
	free(timeline->threads);
	VPROF_ARRAY_RELEASE(&timeline->modules);
	VPROF_ARRAY_RELEASE(&timeline->outlasting);
	VPROF_ARRAY_RELEASE(&timeline->hot);
	VPROF_ARRAY_RELEASE(&timeline->losses);
	VPROF_ARRAY_RELEASE(&timeline->lock_holders);
	VPROF_ARRAY_RELEASE(&timeline->locks);
	if (timeline->private) {
		for (size_t i = 0; i < timeline->private->texts.n; i++)
			free(timeline->private->texts.v[i]);
		VPROF_ARRAY_RELEASE(&timeline->private->texts);
		VPROF_ARRAY_RELEASE(&timeline->private->annotated);
		VPROF_ARRAY_RELEASE(&timeline->private->names);
		VPROF_ARRAY_RELEASE(&timeline->private->strings);
		vprof_hash_index_release(&timeline->private->by_hash);
		free(timeline->private);
	}
	free(timeline);
}
