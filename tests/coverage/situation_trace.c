/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the trace that a situation's requests would have left: one tick is one ns. */
#include <math.h>
#include <string.h>

#include "situation.h"

#define LOCK 0x10
#define WINDOW_NS UINT64_C(2000000) /* a third of them is open */

struct writer {
	const struct situation *of;
	struct hand_thread *server, *other; /* other: a lock's holder, or the dispatcher */
	struct hand_thread *processor;	    /* the server's; NULL: no switches are recorded */
	uint64_t number;		    /* of the request */
	uint64_t other_end;		    /* end of the last call of `other` */
};

static uint64_t ticks(double ns)
{
	return (uint64_t)rint(ns);
}

static uint64_t write_part(struct writer *w, const struct request *r, size_t part, uint64_t t);

static uint64_t write_wait(struct writer *w, const struct request *r, size_t part, uint64_t t)
{
	uint64_t at = t, end, begin = t - ticks(r->held);

	if (t - w->other_end < ticks(r->held))
		begin = w->other_end;
	for (size_t i = part + 1; i < w->of->n_parts; i++)
		if (w->of->parts[i].parent == (int)part) {
			end = at + ticks(r->own[i]);
			if (end == at)
				continue;
			hand_call(w->other, F(w->of->parts[i].function), begin, end);
			w->other_end = begin = at = end;
		}
	if (at == t)
		return t;
	hand_wake(w->other, VP_WAIT_MUTEX, 0, LOCK, (uint32_t)w->number, (uint32_t)w->number, at);
	hand_wait(w->server, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, LOCK, (uint32_t)w->number, t, at);
	return at;
}

/* Of each block of eight calls two are timed, as the runtime chooses them (trace/format.h). */
static uint64_t write_sampled(struct writer *w, const struct request *r, size_t part, uint64_t t, uint64_t *random)
{
	const uint32_t code = F(w->of->parts[part].function), weight = 4;
	uint64_t since = 0, first = 0, second = 0, block = 0;

	for (size_t i = 0; i < r->n_calls; i++) {
		uint64_t end = t + ticks(r->calls[i]), in_block = i % (2 * weight);

		if (!in_block) {
			first = hand_random(random) % (2 * weight);
			second = hand_random(random) % (2 * weight - 1);
			second += second >= first;
			block = (w->number * CALLS_MAX + i) / (2 * weight) & 0xffffff;
		}
		since++;
		if (in_block == first || in_block == second) {
			uint64_t is_second = in_block == (first > second ? first : second);

			hand_units(w->server,
				   (struct vp_unit[]){ { t, VP_W(VP_KIND_SAMPLE,
								 weight | is_second << 7 | since << 8 | block << 16) },
						       { end - t, code } },
				   2);
			since = 0;
		}
		t = end;
	}
	if (since)
		hand_units(w->server, &(struct vp_unit){ t, VP_W(VP_KIND_COUNT, code | since << 24) }, 1);
	return t;
}

static uint64_t write_preempted(struct writer *w, const struct request *r, size_t part, uint64_t t)
{
	uint64_t end = t + ticks(r->own[part]);

	if (end > t) {
		hand_switch(w->processor, t, w->server->thread_seq, VP_SWITCH_OUT | VP_SWITCH_PREEMPTED);
		hand_switch(w->processor, end, w->server->thread_seq, 0);
	}
	return end;
}

static uint64_t write_function(struct writer *w, const struct request *r, size_t part, uint64_t t)
{
	uint64_t begin = t, own = ticks(r->own[part]) + 2; /* no call takes no time: its place would be ambiguous */

	t += own / 2;
	for (size_t i = part + 1; i < w->of->n_parts; i++)
		if (w->of->parts[i].parent == (int)part)
			t = write_part(w, r, i, t);
	t += own - own / 2;
	hand_call(w->server, F(w->of->parts[part].function), begin, t);
	return t;
}

static uint64_t write_part(struct writer *w, const struct request *r, size_t part, uint64_t t)
{
	uint64_t random = w->number * 2 + 1;

	switch (w->of->parts[part].kind) {
	case PART_WAIT:
		return write_wait(w, r, part, t);
	case PART_SAMPLED:
		return write_sampled(w, r, part, t, &random);
	case PART_PREEMPTED:
		return write_preempted(w, r, part, t);
	default:
		return write_function(w, r, part, t);
	}
}

/* Returns when the thread is free again. */
static uint64_t write_request(struct writer *w, const struct request *r, uint64_t t)
{
	static const char *const types[] = { "get", "put", "scan" };

	hand_mark(w->server, VP_KIND_BEGIN, w->number, t);
	if (w->of->has_types)
		hand_type(w->server, types[r->type], t);
	if (w->of->has_work)
		hand_work(w->server, "rows", r->work, t);
	t = write_part(w, r, 0, t);
	hand_mark(w->server, VP_KIND_END, w->number, t);
	return t;
}

/* The dispatcher hands it to the worker, who takes it up when the one before is done. Returns its end. */
static uint64_t write_queued(struct writer *w, const struct request *r, uint64_t arrives, uint64_t is_free)
{
	uint64_t t = (arrives > is_free ? arrives : is_free) + 3;

	hand_mark(w->other, VP_KIND_BEGIN, w->number, arrives);
	hand_queue(w->other, VP_KIND_ENQUEUE, w->number, arrives + 1);
	hand_mark(w->other, VP_KIND_SUSPEND, w->number, arrives + 2);
	hand_queue(w->server, VP_KIND_DEQUEUE, w->number, t - 1);
	hand_mark(w->server, VP_KIND_RESUME, w->number, t);
	t = write_part(w, r, 0, t);
	hand_mark(w->server, VP_KIND_END, w->number, t);
	return t;
}

static void write_windows(struct hand_trace *h)
{
	struct hand_thread *th = hand_thread(h, 1);

	th->thread_seq = VP_THREAD_WINDOWS;
	for (uint64_t t = WINDOW_NS; t < h->end; t += WINDOW_NS)
		hand_units(th, &(struct vp_unit){ t, VP_W(VP_KIND_WINDOW, t / WINDOW_NS % 3 == 1) }, 1);
}

size_t situation_write(struct hand_trace *h, const struct situation *of, uint64_t seed, double *ns)
{
	struct writer w = { .of = of, .server = hand_thread(h, 1), .other = hand_thread(h, 1) };
	int is_queue = of->n_parts > 3 && of->parts[3].kind == PART_QUEUED;
	uint64_t t = 1000, arrives = 1000;
	struct stream stream;
	size_t n = 0;

	for (size_t i = 0; i < of->n_parts && !w.processor; i++)
		if (of->parts[i].kind == PART_PREEMPTED) {
			w.processor = hand_processor(h, 0);
			hand_switch(w.processor, 1, w.server->thread_seq, 0);
		}
	stream_start(&stream, of, seed);
	for (size_t i = 0; i < of->n; i++) {
		struct request r;
		uint64_t begin;

		memset(&r, 0, sizeof r);
		of->draw(&stream, &r);
		w.number = i + 1;
		begin = t += is_queue ? 0 : 1 + ticks(r.pause);
		if (is_queue) {
			begin = arrives += 5 + ticks(r.pause);
			t = write_queued(&w, &r, arrives, t);
		} else {
			t = write_request(&w, &r, t);
		}
		if (!of->has_windows || begin / WINDOW_NS % 3 == 1)
			ns[n++] = (double)(t - begin);
	}
	h->end = t + 1000;
	if (of->has_windows)
		write_windows(h);
	hand_write(h);
	return n;
}
