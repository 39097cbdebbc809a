/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chrome's trace event format, JSON object form: complete events for calls and waits, nestable asynchronous events for
 * intervals, flow events from wakers to those they woke. Times are microseconds since the trace's begin.
 */
#include <inttypes.h>

#include "report/export/export.h"
#include "report/export/put_text.h"
#include "report/export/slices.h"

struct chrome {
	FILE *to;
	const struct vprof_trace_part *part;
	uint64_t n; /* events */
};

static void put_us(FILE *to, uint64_t ns)
{
	fprintf(to, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

/* Everything up to the name and the time; the caller adds members and the brace. */
static void begin_event(struct chrome *c, const char *phase, const char *category, const char *name, uint32_t thread,
			uint64_t ticks)
{
	const struct vprof_thread_timeline *line = &c->part->timeline->threads[thread];

	fprintf(c->to, "%s{\"ph\":\"%s\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":", c->n++ ? ",\n" : "\n", phase,
		category, line->pid, line->tid);
	put_us(c->to, vprof_part_ns(c->part, ticks));
	fputs(",\"name\":", c->to);
	vprof_put_json(c->to, name);
}

static void put_names(struct chrome *c)
{
	const struct vprof_timeline *timeline = c->part->timeline;

	for (uint32_t i = 0; i < timeline->n_threads; i++) {
		const struct vprof_thread_timeline *line = &timeline->threads[i];
		struct vprof_part_name name;

		if (!i || timeline->threads[i - 1].process_seq != line->process_seq) {
			fprintf(c->to,
				"%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":",
				c->n++ ? ",\n" : "\n", line->pid, line->tid);
			vprof_put_json(c->to, *c->part->program ? c->part->program : "process");
			fputs("}}", c->to);
		}
		fprintf(c->to, "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":",
			c->n++ ? ",\n" : "\n", line->pid, line->tid);
		vprof_put_json(c->to, vprof_part_thread(c->part, i, &name));
		fputs("}}", c->to);
	}
}

static void put_length(struct chrome *c, uint64_t low, uint64_t high)
{
	fputs(",\"dur\":", c->to);
	put_us(c->to, vprof_part_ns(c->part, high) - vprof_part_ns(c->part, low));
}

static void put_call(struct chrome *c, uint32_t thread, const struct vprof_slice *x)
{
	struct vprof_part_name room;
	const char *name;
	const struct vprof_probe *probe = vprof_part_call(c->part, x->index, &name, &room);

	begin_event(c, "X", x->is_sampled ? "call,sampled" : "call", name, thread, x->low);
	put_length(c, x->low, x->high);
	if (probe && probe->file && *probe->file) {
		fputs(",\"args\":{\"file\":", c->to);
		vprof_put_json(c->to, probe->file);
		fprintf(c->to, ",\"line\":%d%s}", probe->line, x->is_cut ? ",\"cut\":true" : "");
	} else if (x->is_cut) {
		fputs(",\"args\":{\"cut\":true}", c->to);
	}
	putc('}', c->to);
}

static void put_wait(struct chrome *c, uint32_t thread, const struct vprof_slice *x)
{
	const struct vprof_wait *w = &c->part->timeline->threads[thread].waits.v[x->index];
	struct vprof_part_name name;

	begin_event(c, "X", "wait", vprof_part_wait(c->part, w), thread, x->low);
	put_length(c, x->low, x->high);
	fprintf(c->to, ",\"args\":{\"object\":\"0x%" PRIx64 "\"", w->object);
	if (w->waker < c->part->timeline->n_threads)
		fprintf(c->to, ",\"ended by\":\"%s\"", vprof_part_thread(c->part, w->waker, &name));
	fputs("}}", c->to);
}

/* An arrow from the waker to the end of the wait. Arrows are bound to slices, so the waker gets one of 1 ns. */
static void put_wake(struct chrome *c, uint32_t thread, const struct vprof_wait *w, uint64_t id)
{
	struct vprof_part_name name;
	char text[80];

	snprintf(text, sizeof text, "wakes %s", vprof_part_thread(c->part, thread, &name));
	begin_event(c, "X", "wake", text, w->waker, w->wake_t);
	fputs(",\"dur\":0.001}", c->to);
	begin_event(c, "s", "wake", "wake", w->waker, w->wake_t);
	fprintf(c->to, ",\"id\":%" PRIu64 "}", id);
	begin_event(c, "f", "wake", "wake", thread, w->t1 > w->wake_t && w->t1 > w->t0 ? w->t1 - 1 : w->t1);
	fprintf(c->to, ",\"bp\":\"e\",\"id\":%" PRIu64 "}", id);
}

static void put_interval(struct chrome *c, uint32_t index)
{
	const struct vprof_instance *x = &c->part->intervals->instances.v[index];
	const char *name = vprof_part_interval_name(c->part, x);
	struct vprof_part_name type;
	uint64_t end = x->state == VPROF_INSTANCE_OPEN ? c->part->timeline->t_last : x->end;

	if (x->state == VPROF_INSTANCE_RESTARTED || end < x->begin)
		return;
	begin_event(c, "b", "interval", name, x->begin_thread, x->begin);
	fprintf(c->to, ",\"id\":\"0x%" PRIx32 "\",\"args\":{\"id\":\"%" PRIu64 "\",\"type\":", index, x->id);
	vprof_put_json(c->to, vprof_part_type(c->part, x, &type));
	fprintf(c->to, ",\"complete\":%s}}", x->state == VPROF_INSTANCE_COMPLETE ? "true" : "false");
	begin_event(c, "e", "interval", name, x->begin_thread, end);
	fprintf(c->to, ",\"id\":\"0x%" PRIx32 "\"}", index);
}

static int put_threads(struct chrome *c, struct vprof_slices *s)
{
	uint64_t flow = 0;

	for (uint32_t t = 0; t < c->part->timeline->n_threads; t++) {
		if (vprof_slices_gather(s, t))
			return VPROF_ERR_NOMEM;
		for (size_t i = 0; i < s->v.n; i++) {
			const struct vprof_slice *x = &s->v.v[i];
			const struct vprof_wait *w = NULL;

			if (x->kind == VPROF_SLICE_CALL) {
				put_call(c, t, x);
			} else if (x->kind == VPROF_SLICE_WAIT) {
				put_wait(c, t, x);
				w = &c->part->timeline->threads[t].waits.v[x->index];
			} else {
				begin_event(c, "X", "preempted", "preempted", t, x->low);
				put_length(c, x->low, x->high);
				putc('}', c->to);
			}
			if (w && vprof_slices_is_woken(c->part, w))
				put_wake(c, t, w, ++flow);
		}
	}
	return 0;
}

int vprof_export_chrome(struct vprof_export *e, struct vprof_error *err)
{
	struct chrome c = { .to = e->to, .part = e->part };
	struct vprof_slices s;
	int ret = vprof_slices_init(&s, e->part);

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"source\":\"vprof\",\"version\":", c.to);
	vprof_put_json(c.to, e->version);
	fputs(",\"left out\":", c.to);
	vprof_put_json(c.to, e->part->note);
	fputs("},\n\"traceEvents\":[", c.to);
	put_names(&c);
	for (size_t i = 0; i < e->part->instances.n; i++)
		put_interval(&c, e->part->instances.v[i]);
	if (!ret)
		ret = put_threads(&c, &s);
	fputs("\n]}\n", c.to);
	e->n_left_out = s.n_left_out;
	vprof_slices_release(&s);
	return ret ? vprof_error_set(
			     err, ret,
			     "not enough memory for this part of the trace: take a shorter one with --from and --to") :
		     0;
}
