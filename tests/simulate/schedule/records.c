/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/schedule/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/schedule/hot.h"

#define TAIL_TICKS 100000

const char *const records_names[] = { "request", "compaction", "lwlock_acquire", RECORDS_APART, NULL };

uint64_t records_hash(const char *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return h;
}

static void append(struct sim_thread *th, const struct vp_unit *units, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		th->units = sim_grow(th->units, th->n_units, &th->cap_units, sizeof *th->units);
		th->units[th->n_units++] = units[i];
	}
}

static void add_gap(struct sim_thread *th, uint64_t to, bool is_told)
{
	struct world *w = th->world;

	w->gaps = sim_grow(w->gaps, w->n_gaps, &w->cap_gaps, sizeof *w->gaps);
	w->gaps[w->n_gaps++] = (struct sim_gap){ th, th->t_last, to, is_told };
}

bool records_put(struct sim_thread *th, const struct vp_unit *units, size_t n)
{
	struct world *w = th->world;

	if (w->now < w->record_from)
		return false;
	if (w->now >= th->lose_from && w->now < th->lose_to) {
		if (!th->n_lost++)
			add_gap(th, SIM_NEVER, false);
		w->n_lost++;
		return false;
	}
	if (th->n_lost) {
		append(th, &(struct vp_unit){ w->now, VP_W(VP_KIND_DROPPED, th->n_lost) }, 1);
		for (size_t i = 0; i < w->n_gaps; i++)
			if (w->gaps[i].th == th && !w->gaps[i].is_told)
				w->gaps[i] = (struct sim_gap){ th, w->gaps[i].from, w->now, true };
		th->n_lost = 0;
		th->t_last = w->now;
	}
	append(th, units, n);
	th->t_first = units->t < th->t_first ? units->t : th->t_first;
	if (VP_CODE(units->w) >= VP_CODE_FUNCTION || VP_CODE(units->w) == VP_KIND_WAIT ||
	    VP_CODE(units->w) == VP_KIND_SAMPLE)
		th->t_last = w->now; /* it ended now */
	else if (units->t > th->t_last)
		th->t_last = units->t;
	return true;
}

bool records_one(struct sim_thread *th, uint64_t t, uint64_t w)
{
	return records_put(th, &(struct vp_unit){ t, w }, 1);
}

bool records_two(struct sim_thread *th, uint64_t t, uint64_t w, uint64_t t1, uint64_t w1)
{
	return records_put(th, (struct vp_unit[]){ { t, w }, { t1, w1 } }, 2);
}

bool records_wait(struct sim_thread *th, const struct sim_wait_record *r)
{
	hot_unskip(th, r->t0);
	return records_put(th,
			   (struct vp_unit[]){ { r->t0, VP_W(VP_KIND_WAIT, r->kind | (uint64_t)r->flags << 8 |
										   (uint64_t)r->seq << VP_SEQ_SHIFT) },
					       { r->object, r->ticket },
					       { th->world->now, r->result ? r->result : r->call } },
			   3);
}

bool records_wake(struct sim_thread *th, uint8_t kind, uint32_t flags, uint32_t seq, uint64_t object, uint32_t before,
		  uint32_t after, uint64_t t)
{
	return records_two(th, t, VP_W(VP_KIND_WAKE, kind | (uint64_t)flags << 8 | (uint64_t)seq << VP_SEQ_SHIFT),
			   object, before | (uint64_t)after << 32);
}

static void put_switch(struct world *w, size_t cpu, uint64_t word)
{
	w->switches[cpu] = sim_grow(w->switches[cpu], w->n_switches[cpu], &w->cap_switches[cpu], sizeof **w->switches);
	w->switches[cpu][w->n_switches[cpu]++] = (struct vp_unit){ w->now, word };
}

void records_switches_lost(struct world *w, size_t cpu)
{
	uint64_t last = w->n_switches[cpu] ? w->switches[cpu][w->n_switches[cpu] - 1].t : 0;

	if (!w->n_switches_lost[cpu])
		return;
	put_switch(w, cpu, VP_W(VP_KIND_SWITCHES_LOST, w->n_switches_lost[cpu]));
	w->n_switches_lost[cpu] = 0;
	w->switch_gaps = sim_grow(w->switch_gaps, w->n_switch_gaps, &w->cap_switch_gaps, sizeof *w->switch_gaps);
	w->switch_gaps[w->n_switch_gaps++] = (struct sim_gap){ NULL, last, w->now, true };
	COVER(w, SWITCH_GAPS);
}

void records_switch(struct sim_thread *th, uint32_t flags)
{
	struct world *w = th->world;
	size_t cpu = world_below(w, SIM_PROCESSORS);

	if (!w->with_switches)
		return;
	if (w->now >= w->lose_switches_from[cpu] && w->now < w->lose_switches_to[cpu]) {
		w->n_switches_lost[cpu]++;
		return;
	}
	records_switches_lost(w, cpu);
	put_switch(w, cpu, VP_W(VP_KIND_SWITCH, th->tid | (uint64_t)flags << 32));
}

static void put_chunk(FILE *f, struct vp_chunk_header *c, const struct vp_unit *units, size_t n)
{
	c->n_bytes = (uint32_t)(n * sizeof *units);
	fwrite(c, sizeof *c, 1, f);
	fwrite(units, sizeof *units, n, f);
	c->chunk_seq++;
}

/* Returns how many chunks it took. */
static uint64_t put_units(FILE *f, struct vp_chunk_header *c, const struct vp_unit *units, size_t n)
{
	const size_t room = (VP_CHUNK_BYTES - sizeof *c) / sizeof *units;

	for (size_t at = 0, end; at < n; at = end) {
		for (end = at; end < n;) {
			size_t record = vp_record_units(units[end].w);

			if (end + record - at > room)
				break;
			end += record;
		}
		put_chunk(f, c, units + at, end - at);
	}
	return c->chunk_seq;
}

static void put_names(FILE *f, struct vp_chunk_header *c)
{
	for (size_t i = 0; records_names[i]; i++) {
		size_t n = strlen(records_names[i]);
		struct vp_unit u[3] = { { records_hash(records_names[i]), VP_W(VP_KIND_STRING, n) } };

		memcpy(u + 1, records_names[i], n);
		put_chunk(f, c, u, 1 + (n + 15) / 16);
	}
}

static void add_offset(struct vp_unit *units, size_t n, uint64_t offset)
{
	for (size_t i = 0; i < n; i++)
		units[i].t = units[i].t * SIM_TICK_PARTS + offset;
}

static uint64_t put_windows(FILE *f, const struct world *w, bool has_offsets)
{
	struct vp_chunk_header c = { .magic = VP_CHUNK_MAGIC, .thread_seq = VP_THREAD_WINDOWS, .process_seq = 1 };
	struct vp_unit units[2 * SIM_WINDOWS];
	size_t n = 0;

	for (size_t i = 0; i < w->n_windows; i++) {
		units[n++] = (struct vp_unit){ w->windows[i].from, VP_W(VP_KIND_WINDOW, 1) };
		units[n++] = (struct vp_unit){ w->windows[i].to, VP_W(VP_KIND_WINDOW, 0) };
	}
	if (has_offsets)
		add_offset(units, n, 0);
	return n ? put_units(f, &c, units, n) : 0;
}

static uint64_t clock_time(const struct sim_thread *th, uint64_t t)
{
	uint64_t offset = th->n_clocks ? th->clocks[0].offset : 0;

	for (size_t i = 0; i < th->n_clocks && th->clocks[i].t <= t; i++)
		offset = th->clocks[i].offset;
	return t * SIM_TICK_PARTS + offset;
}

/* Of one record. */
static void set_clock(const struct sim_thread *th, struct vp_unit *u)
{
	uint64_t t = u->t, payload = VP_PAYLOAD(u->w);
	uint32_t code = VP_CODE(u->w);

	u->t = clock_time(th, t);
	if (code >= VP_CODE_FUNCTION || code == VP_KIND_SEND)
		u->w = VP_W(code, clock_time(th, t + payload) - u->t);
	else if (code == VP_KIND_RECEIVE)
		u->w = VP_W(code, u->t - clock_time(th, t - payload));
	else if (code == VP_KIND_SAMPLE)
		u[1].t = clock_time(th, t + u[1].t) - u->t;
	else if (code == VP_KIND_WAIT)
		u[2].t = clock_time(th, u[2].t);
}

static struct vp_unit *units_of(const struct sim_thread *th, enum records_how how)
{
	struct vp_unit *units = malloc((th->n_units + 1) * sizeof *units);

	if (th->n_units)
		memcpy(units, th->units, th->n_units * sizeof *units);
	for (size_t i = 0; how == RECORDS_OFFSETS && i < th->n_units; i += vp_record_units(th->units[i].w))
		set_clock(th, &units[i]);
	for (size_t i = 0; how == RECORDS_KNOWN && i < th->n_marks; i++)
		if (th->marks[i].instance->is_apart)
			units[th->marks[i].unit + 1].w = records_hash(RECORDS_APART);
	return units;
}

bool records_write(const struct world *w, const char *dir, enum records_how how)
{
	bool has_offsets = how == RECORDS_OFFSETS;
	struct vp_file_header header = { .magic = VP_FILE_MAGIC,
					 .version = VP_FORMAT_VERSION,
					 .clock = w->ns_per_tick == 1 ? VP_CLOCK_MONOTONIC : VP_CLOCK_TSC,
					 .ns_per_tick = w->ns_per_tick,
					 .start_ticks = 1,
					 .start_ns = 1,
					 .has_switches = w->with_switches,
					 .n_dropped = w->n_lost,
					 .end_ticks = w->now + TAIL_TICKS,
					 .end_ns = w->now + TAIL_TICKS };
	char path[4096];
	FILE *f;
	bool ok;

	if (has_offsets) {
		header.clock = VP_CLOCK_TSC;
		header.ns_per_tick /= SIM_TICK_PARTS;
		header.end_ticks *= SIM_TICK_PARTS;
	}

	snprintf(path, sizeof path, "%s/records.vpt", dir);
	f = fopen(path, "w");
	if (!f)
		return false;
	fwrite(&header, sizeof header, 1, f);
	for (size_t i = 0; i < w->n_threads; i++) {
		const struct sim_thread *th = w->threads[i];
		struct vp_unit *units;
		struct vp_chunk_header c = { .magic = VP_CHUNK_MAGIC,
					     .pid = th->pid,
					     .tid = th->tid,
					     .thread_seq = th->seq,
					     .process_seq = th->process,
					     .parent_seq = w->parent_of[th->process - 1] };

		units = units_of(th, how);
		if (!i)
			put_names(f, &c);
		header.n_chunks += put_units(f, &c, units, th->n_units);
		free(units);
	}
	for (uint32_t i = 0; i < SIM_PROCESSORS; i++) {
		struct vp_chunk_header c = {
			.magic = VP_CHUNK_MAGIC, .tid = i, .thread_seq = VP_THREAD_PROCESSOR, .process_seq = i + 1
		};

		if (has_offsets)
			add_offset(w->switches[i], w->n_switches[i], w->clock_offsets[i]);
		header.n_chunks += put_units(f, &c, w->switches[i], w->n_switches[i]);
	}
	header.n_chunks += put_windows(f, w, has_offsets);
	rewind(f);
	fwrite(&header, sizeof header, 1, f);
	ok = !ferror(f);
	return fclose(f) == 0 && ok;
}
