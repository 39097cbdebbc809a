/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "tests/unit/analysis/hand_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/files.h"

void hand_init(struct hand_trace *h)
{
	memset(h, 0, sizeof *h);
	strcpy(h->dir, "/tmp/vprof-hand-trace-XXXXXX");
	assert_non_null(mkdtemp(h->dir));
}

void hand_release(struct hand_trace *h)
{
	for (size_t i = 0; i < h->n_threads; i++)
		free(h->threads[i].units);
	vprof_dir_remove(h->dir, NULL);
}

struct hand_thread *hand_thread(struct hand_trace *h, uint32_t process_seq)
{
	struct hand_thread *th = &h->threads[h->n_threads++];

	assert_true(h->n_threads <= 16);
	th->thread_seq = (uint32_t)h->n_threads;
	th->process_seq = process_seq;
	return th;
}

void hand_units(struct hand_thread *th, const struct vp_unit *units, size_t n)
{
	if (th->n + n > th->cap) {
		th->cap = 2 * (th->n + n);
		th->units = realloc(th->units, th->cap * sizeof *th->units);
		assert_non_null(th->units);
	}
	memcpy(th->units + th->n, units, n * sizeof *units);
	th->n += n;
}

static uint64_t hash(const char *s)
{
	return vprof_hash(VPROF_HASH_SEED, s, strlen(s));
}

static void string(struct hand_thread *th, const char *s)
{
	struct vp_unit u[1 + VP_STRING_MAX / 16] = { { hash(s), VP_W(VP_KIND_STRING, strlen(s)) } };

	memcpy(u + 1, s, strlen(s));
	hand_units(th, u, 1 + (strlen(s) + 15) / 16);
}

void hand_call(struct hand_thread *th, uint32_t code, uint64_t t0, uint64_t t1)
{
	hand_units(th, &(struct vp_unit){ t0, VP_W(code, t1 - t0) }, 1);
}

void hand_enter(struct hand_thread *th, uint32_t code, uint64_t t)
{
	hand_units(th, &(struct vp_unit){ t, VP_W(VP_KIND_ENTER, code) }, 1);
}

void hand_mark_of(struct hand_thread *th, enum vp_kind kind, const char *name, uint64_t id, uint64_t t)
{
	if (kind == VP_KIND_BEGIN)
		string(th, name);
	hand_units(th, (struct vp_unit[]){ { t, VP_W(kind, 0) }, { id, hash(name) } }, 2);
}

void hand_mark(struct hand_thread *th, enum vp_kind kind, uint64_t id, uint64_t t)
{
	hand_mark_of(th, kind, INTERVAL, id, t);
}

void hand_type(struct hand_thread *th, const char *type, uint64_t t)
{
	string(th, type);
	hand_units(th, (struct vp_unit[]){ { t, VP_W(VP_KIND_TYPE, 1) }, { hash(type), 0 } }, 2);
}

void hand_work(struct hand_thread *th, const char *counter, int64_t amount, uint64_t t)
{
	string(th, counter);
	hand_units(th, (struct vp_unit[]){ { t, VP_W(VP_KIND_WORK, 0) }, { hash(counter), (uint64_t)amount } }, 2);
}

void hand_wait(struct hand_thread *th, enum vp_wait kind, enum vp_call call, uint64_t object, uint32_t ticket,
	       uint64_t t0, uint64_t t1)
{
	hand_units(th, (struct vp_unit[]){ { t0, VP_W(VP_KIND_WAIT, kind) }, { object, ticket }, { t1, call } }, 3);
}

void hand_wake(struct hand_thread *th, enum vp_wait kind, unsigned flags, uint64_t object, uint32_t before,
	       uint32_t after, uint64_t t)
{
	hand_units(th,
		   (struct vp_unit[]){ { t, VP_W(VP_KIND_WAKE, kind | flags << 8) },
				       { object, before | (uint64_t)after << 32 } },
		   2);
}

void hand_queue(struct hand_thread *th, enum vp_kind kind, uint64_t item, uint64_t t)
{
	hand_units(th, (struct vp_unit[]){ { t, VP_W(kind, 0) }, { item, 0 } }, 2);
}

struct hand_thread *hand_processor(struct hand_trace *h, uint32_t cpu)
{
	struct hand_thread *th = hand_thread(h, cpu + 1);

	th->thread_seq = VP_THREAD_PROCESSOR;
	h->has_switches = 1;
	return th;
}

struct hand_thread *hand_kernel(struct hand_trace *h, uint32_t cpu)
{
	struct hand_thread *th = hand_thread(h, cpu + 1);

	th->thread_seq = VP_THREAD_KERNEL;
	return th;
}

void hand_switch(struct hand_thread *processor, uint64_t t, uint32_t tid, uint32_t flags)
{
	hand_units(processor, &(struct vp_unit){ t, VP_W(VP_KIND_SWITCH, tid | (uint64_t)flags << 32) }, 1);
}

void hand_switches_lost(struct hand_thread *processor, uint64_t t, uint64_t n)
{
	hand_units(processor, &(struct vp_unit){ t, VP_W(VP_KIND_SWITCHES_LOST, n) }, 1);
}

void hand_write(struct hand_trace *h)
{
	const size_t room = (VP_CHUNK_BYTES - sizeof(struct vp_chunk_header)) / VP_UNIT_BYTES;
	struct vp_file_header header = { .magic = VP_FILE_MAGIC,
					 .version = VP_FORMAT_VERSION,
					 .clock = VP_CLOCK_MONOTONIC,
					 .ns_per_tick = 1,
					 .start_ticks = 1,
					 .start_ns = 1 };
	char *path = vprof_path_join(h->dir, "records.vpt");
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	header.has_switches = (uint64_t)h->has_switches;
	header.n_switches_lost = h->n_switches_lost;
	header.n_kernel_lost = h->n_kernel_lost;
	header.record_ns = h->record_ns;
	header.record_inside_ns = h->record_inside_ns;
	if (h->no_switches)
		snprintf(header.no_switches, sizeof header.no_switches, "%s", h->no_switches);
	header.end_ticks = header.end_ns = h->is_unfinished ? 0 : h->end ? h->end : 1000000000;
	fwrite(&header, sizeof header, 1, f);
	for (size_t i = 0; i < h->n_threads; i++) {
		struct hand_thread *th = &h->threads[i];
		uint32_t seq = 0;

		for (size_t at = 0, n; at < th->n; at += n) {
			struct vp_chunk_header c = { .magic = VP_CHUNK_MAGIC,
						     .pid = th->process_seq,
						     .tid = th->thread_seq,
						     .thread_seq = th->thread_seq,
						     .chunk_seq = seq++,
						     .process_seq = th->process_seq };

			for (n = 0; at + n < th->n;) { /* whole records only */
				size_t units = vp_record_units(th->units[at + n].w);

				if (!units || n + units > room)
					break;
				n += units;
			}
			assert_true(n > 0);
			c.n_bytes = (uint32_t)(n * VP_UNIT_BYTES);
			if (h->lost_chunk && c.chunk_seq == h->lost_chunk)
				continue;
			header.n_chunks++;
			fwrite(&c, sizeof c, 1, f);
			fwrite(th->units + at, VP_UNIT_BYTES, n, f);
		}
	}
	rewind(f); /* the number of chunks is known now */
	fwrite(&header, sizeof header, 1, f);
	assert_int_equal(fclose(f), 0);
	free(path);
}

void hand_steps(struct hand_steps *s, const struct hand_trace *h)
{
	struct vprof_error err;

	memset(s, 0, sizeof *s);
	assert_int_equal(vprof_trace_open(&s->trace, h->dir, &err), 0);
	assert_int_equal(vprof_timeline_build(&s->timeline, s->trace, 1, NULL, NULL, &err), 0);
	assert_int_equal(vprof_wakes_match(s->timeline, &s->wakes, &err), 0);
	assert_int_equal(vprof_intervals_build(&s->intervals, s->timeline, &err), 0);
	assert_int_equal(vprof_edges_new(&s->edges, s->timeline, s->intervals, &err), 0);
	assert_int_equal(vprof_path_new(&s->path, s->edges, &err), 0);
}

void hand_steps_release(struct hand_steps *s)
{
	vprof_path_free(s->path);
	vprof_edges_free(s->edges);
	vprof_intervals_free(s->intervals);
	vprof_timeline_free(s->timeline);
	vprof_trace_free(s->trace);
}

void hand_walk(struct hand_steps *s, uint32_t instance)
{
	assert_int_equal(vprof_path_walk(s->path, instance, &s->pieces, &s->n_pieces), 0);
}

int hand_has(const struct hand_steps *s, uint8_t kind, uint32_t thread, uint64_t from, uint64_t to, int depth)
{
	for (size_t i = 0; i < s->n_pieces; i++)
		if (s->pieces[i].kind == kind && s->pieces[i].thread == thread && s->pieces[i].from == from &&
		    s->pieces[i].to == to && s->pieces[i].depth == depth)
			return 1;
	return 0;
}

void hand_plan_function(struct vprof_plan *plan, uint32_t i, struct vprof_probe as)
{
	char name[32];

	snprintf(name, sizeof name, "f%u", i);
	as.code = F(i);
	as.kind = VPROF_PROBE_FUNCTION;
	as.fact_id = i;
	as.broken_down = 1;
	as.n_children = 3;
	as.name = as.display = name;
	as.file = "src/f.c";
	as.line = (int)(10 * i);
	as.caller = "";
	assert_int_equal(vprof_plan_add(plan, &as), 0);
}

struct vprof_plan *hand_plan(int n)
{
	struct vprof_plan *plan = vprof_plan_new("/project");

	assert_non_null(plan);
	plan->graph_height = (uint32_t)n;
	for (int i = 1; i <= n; i++)
		hand_plan_function(plan, (uint32_t)i,
				   (struct vprof_probe){ .mask = VPROF_MASK_ANY,
							 .context = VPROF_CONTEXT_FIRST,
							 .height = (uint32_t)(n - i) });
	for (int i = 1; i <= 2; i++) {
		const char *callee = i == 1 ? "fdatasync" : "pthread_mutex_lock";

		assert_int_equal(vprof_plan_add(plan, &(struct vprof_probe){ .code = S((uint32_t)i),
									     .kind = VPROF_PROBE_SITE,
									     .fact_id = (uint32_t)i,
									     .mask = VPROF_MASK_ANY,
									     .context = VPROF_CONTEXT_LEAF,
									     .name = callee,
									     .display = callee,
									     .file = "src/f.c",
									     .line = 5,
									     .caller = "f1",
									     .caller_line = 10 }),
				 0);
	}
	return plan;
}

struct vprof_results *hand_analyze(const struct hand_trace *h, const struct vprof_plan *plan)
{
	return hand_analyze_most(h, plan, 0);
}

struct vprof_results *hand_analyze_most(const struct hand_trace *h, const struct vprof_plan *plan, size_t most)
{
	const struct vprof_analyze_options o = {
		.trace_dir = h->dir, .plan = plan, .k = 3, .min_intervals = 2, .most_intervals = most
	};
	struct vprof_results *r = NULL;
	struct vprof_error err = { "" };

	if (vprof_analyze(&r, &o, &err))
		fail_msg("%s", err.message);
	return r;
}

const struct vprof_node *hand_node(const struct vprof_results *r, const char *name, uint32_t parent)
{
	for (size_t i = 0; i < r->n_nodes; i++)
		if (!strcmp(r->nodes[i].name, name) && (parent == VPROF_NONE || (i && r->nodes[i].parent == parent)))
			return &r->nodes[i];
	return NULL;
}

const struct vprof_factor *hand_factor(const struct vprof_results *r, const char *key)
{
	for (size_t i = 0; i < r->n_factors; i++)
		if (!strcmp(r->factors[i].key, key))
			return &r->factors[i];
	return NULL;
}

uint64_t hand_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}
