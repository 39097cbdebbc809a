/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OTLP's JSON encoding, one ExportTraceServiceRequest in one line, as the OpenTelemetry Collector's file receiver reads
 * it. Each complete interval is a trace of its own: a root span, and beneath it the pieces of its critical path, which
 * tile it.
 *
 * Names of attributes: OpenTelemetry's where it has one, else vprof.*. Identifiers are made from the run and the
 * interval, so that the same run gives the same trace twice.
 */
#include <inttypes.h>

#include "analysis/paths/wait_states.h"
#include "report/export/export.h"
#include "report/export/otlp_attributes.h"
#include "report/export/put_text.h"

#define PIECES_MAX 64 /* spans of one critical path: the longest */

struct otlp {
	FILE *to;
	const struct vprof_trace_part *part;
	struct vprof_edges *edges;
	struct vprof_path *path;
	VPROF_ARRAY(struct vprof_piece) own; /* the pieces that tile the interval, joined */
	uint64_t n, seed;
};

static uint64_t nonzero(uint64_t x)
{
	return x ? x : 1;
}

static void begin_span(struct otlp *o, uint64_t trace, uint64_t span, uint64_t parent, const char *name, uint64_t from,
		       uint64_t to)
{
	fprintf(o->to, "%s{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"spanId\":\"%016" PRIx64 "\",",
		o->n++ ? "," : "", o->seed, trace, span);
	if (parent)
		fprintf(o->to, "\"parentSpanId\":\"%016" PRIx64 "\",", parent);
	fputs("\"name\":", o->to);
	vprof_put_json(o->to, name);
	fprintf(o->to,
		",\"kind\":1,\"startTimeUnixNano\":\"%" PRIu64 "\",\"endTimeUnixNano\":\"%" PRIu64
		"\",\"attributes\":[",
		vprof_part_unix_ns(o->part, from), vprof_part_unix_ns(o->part, to));
}

static int by_time(const void *a, const void *b)
{
	const struct vprof_piece *x = a, *y = b;

	return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

static int by_length(const void *a, const void *b)
{
	const struct vprof_piece *x = a, *y = b;
	uint64_t m = x->to - x->from, n = y->to - y->from;

	return m != n ? (m > n ? -1 : 1) : by_time(a, b);
}

/* The path's own pieces by time; neighbours that run on one thread are one. Returns how many were left out. */
static int gather(struct otlp *o, uint32_t instance, uint64_t *n_left_out)
{
	const struct vprof_piece *pieces;
	size_t n, n_joined = 0;

	o->own.n = 0;
	*n_left_out = 0;
	if (vprof_path_walk(o->path, instance, &pieces, &n) || VPROF_ROOM(&o->own, n + 1))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		if (pieces[i].parent == VPROF_NONE && pieces[i].to > pieces[i].from)
			o->own.v[o->own.n++] = pieces[i];
	if (vprof_array_sort(o->own.v, o->own.n, sizeof *o->own.v, by_time))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < o->own.n; i++) {
		struct vprof_piece *last = n_joined ? &o->own.v[n_joined - 1] : NULL;

		if (last && last->kind == VPROF_PIECE_RUN && o->own.v[i].kind == VPROF_PIECE_RUN &&
		    last->thread == o->own.v[i].thread && last->to == o->own.v[i].from)
			last->to = o->own.v[i].to;
		else
			o->own.v[n_joined++] = o->own.v[i];
	}
	o->own.n = n_joined;
	if (n_joined > PIECES_MAX) {
		*n_left_out = n_joined - PIECES_MAX;
		qsort(o->own.v, n_joined, sizeof *o->own.v, by_length);
		o->own.n = PIECES_MAX;
		qsort(o->own.v, PIECES_MAX, sizeof *o->own.v, by_time);
	}
	return 0;
}

/* How a wait was spent, where that is not plain blocked time. */
static void put_states(struct otlp *o, const struct vprof_piece *p, const struct vprof_wait *w)
{
	static const char *const names[] = { [VPROF_IN_BLOCK] = "vprof.blocked_ns",
					     [VPROF_IN_KERNEL] = "vprof.kernel_ns",
					     [VPROF_IN_IO] = "vprof.blocked_or_kernel_ns",
					     [VPROF_IN_PREEMPTED] = "vprof.preempted_ns" };
	uint64_t ticks[4] = { 0 };
	struct vprof_wait_walk walk;
	struct vprof_wait_stretch s;

	if (!vprof_wait_is_io(w->kind))
		return;
	vprof_wait_walk_begin(&walk, o->part->timeline, p->thread, w, p->from, p->to, NULL);
	while (vprof_wait_walk_next(&walk, &s))
		ticks[s.state] += s.to - s.from;
	for (size_t i = 0; i < 4; i++)
		if (ticks[i])
			vprof_otlp_count(o->to, names[i], (uint64_t)((double)ticks[i] * o->part->timeline->ns_per_tick),
					 0);
}

static void put_piece(struct otlp *o, uint64_t trace, uint64_t parent, size_t index)
{
	static const char *const kinds[] = { "run", "wait", "queued" };
	const struct vprof_piece *p = &o->own.v[index];
	const struct vprof_thread_timeline *line = p->kind != VPROF_PIECE_QUEUED &&
								   p->thread < o->part->timeline->n_threads ?
							   &o->part->timeline->threads[p->thread] :
							   NULL;
	const struct vprof_wait *w =
		line && p->kind == VPROF_PIECE_WAIT && p->wait < line->waits.n ? &line->waits.v[p->wait] : NULL;

	begin_span(o, trace, nonzero(vprof_mix(parent + index + 1)), parent,
		   w ? vprof_part_wait(o->part, w) : kinds[p->kind], p->from, p->to);
	vprof_otlp_text(o->to, "vprof.state", kinds[p->kind], 1);
	if (line) {
		vprof_otlp_count(o->to, "thread.id", line->tid, 0);
		vprof_otlp_count(o->to, "process.pid", line->pid, 0);
	}
	if (w)
		put_states(o, p, w);
	if (w && w->waker < o->part->timeline->n_threads)
		vprof_otlp_count(o->to, "vprof.waker.thread.id", o->part->timeline->threads[w->waker].tid, 0);
	fputs("]}", o->to);
}

static int put_interval(struct otlp *o, uint32_t index)
{
	const struct vprof_instance *x = &o->part->intervals->instances.v[index];
	const struct vprof_thread_timeline *line = &o->part->timeline->threads[x->begin_thread];
	uint64_t trace = nonzero(vprof_mix(x->begin ^ vprof_mix(x->id ^ vprof_mix(x->name + x->process_seq))));
	uint64_t span = nonzero(vprof_mix(trace)), n_left_out;
	struct vprof_part_name room;
	const char *type = vprof_part_type(o->part, x, &room);
	char id[32];

	if (x->state != VPROF_INSTANCE_COMPLETE || x->end < x->begin)
		return 0;
	if (gather(o, index, &n_left_out))
		return VPROF_ERR_NOMEM;
	snprintf(id, sizeof id, "%" PRIu64, x->id);
	begin_span(o, trace, span, 0, vprof_part_interval_name(o->part, x), x->begin, x->end);
	vprof_otlp_text(o->to, "vprof.interval.id", id, 1);
	if (*type)
		vprof_otlp_text(o->to, "vprof.interval.type", type, 0);
	vprof_otlp_count(o->to, "process.pid", line->pid, 0);
	vprof_otlp_count(o->to, "thread.id", line->tid, 0);
	if (n_left_out)
		vprof_otlp_count(o->to, "vprof.pieces_left_out", n_left_out, 0);
	fputs("]}", o->to);
	for (size_t i = 0; i < o->own.n; i++)
		put_piece(o, trace, span, i);
	return 0;
}

int vprof_export_otlp(struct vprof_export *e, struct vprof_error *err)
{
	const struct vprof_trace_part *part = e->part;
	struct otlp o = { .to = e->to,
			  .part = part,
			  .seed = nonzero(vprof_mix(part->trace->header.start_realtime_ns ^ vprof_mix(part->start))) };
	char host[sizeof part->trace->header.host + 1];
	int ret = vprof_edges_new(&o.edges, part->timeline, part->intervals, err);

	if (!ret)
		ret = vprof_path_new(&o.path, o.edges, err);
	if (ret) {
		vprof_edges_free(o.edges);
		return ret;
	}
	snprintf(host, sizeof host, "%.*s", (int)sizeof part->trace->header.host, part->trace->header.host);
	fputs("{\"resourceSpans\":[{\"resource\":{\"attributes\":[", o.to);
	vprof_otlp_text(o.to, "service.name", *part->program ? part->program : "unknown_service", 1);
	if (*host)
		vprof_otlp_text(o.to, "host.name", host, 0);
	vprof_otlp_text(o.to, "telemetry.sdk.name", "vprof", 0);
	vprof_otlp_text(o.to, "telemetry.sdk.version", e->version, 0);
	vprof_otlp_text(o.to, "telemetry.sdk.language", "cpp", 0);
	fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":\"vprof\",\"version\":", o.to);
	vprof_put_json(o.to, e->version);
	fputs("},\"spans\":[", o.to);
	for (size_t i = 0; !ret && i < part->instances.n; i++)
		ret = put_interval(&o, part->instances.v[i]);
	fputs("]}]}]}\n", o.to);
	vprof_path_free(o.path);
	vprof_edges_free(o.edges);
	VPROF_ARRAY_RELEASE(&o.own);
	return ret ? vprof_error_set(err, ret, "not enough memory for the intervals: take fewer with --limit") : 0;
}
