/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/collector/collector_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/collector/collector_inside.h"

int vprof_collector_live_start(struct vprof_collector *c)
{
	c->stored_bytes = calloc(c->shm.n_chunks, sizeof *c->stored_bytes);
	c->definitions = vprof_definitions_new();
	return c->stored_bytes && c->definitions ? VPROF_OK : VPROF_ERR_NOMEM;
}

void vprof_collector_live_release(struct vprof_collector *c)
{
	free(c->stored_bytes);
	vprof_definitions_free(c->definitions);
}

void vprof_collector_every_call(struct vprof_collector *c, const uint32_t *codes, size_t n)
{
	struct vp_shm *shm = c->shm.shm;

	n = n < VP_EVERY_CALL_MAX ? n : VP_EVERY_CALL_MAX;
	atomic_store_explicit(&shm->n_every_call, 0, memory_order_release);
	for (size_t i = 0; i < n; i++)
		atomic_store_explicit(&shm->every_call[i], codes[i], memory_order_relaxed);
	atomic_store_explicit(&shm->n_every_call, (uint32_t)n, memory_order_release);
}

static int is_dead(void *collector, const struct vp_chunk_header *h)
{
	return vprof_collector_is_dead(collector, h->pid, h->pid_namespace);
}

/* Of a process that is gone: it takes no chunk any more. */
static int is_under_way(void *collector, const struct vp_chunk_header *h)
{
	const struct vprof_collector *c = collector;

	for (uint32_t i = 0; i < c->shm.n_chunks; i++) {
		const volatile struct vp_chunk_header *other = vprof_shm_chunk(&c->shm, i);

		if (atomic_load_explicit(&c->shm.states[i], memory_order_acquire) != VP_CHUNK_FREE &&
		    other->process_seq == h->process_seq)
			return 1;
	}
	return 0;
}

static void forget_dead(struct vprof_collector *c)
{
	const struct vprof_definitions_judge judge = { is_dead, is_under_way, c };

	vprof_definitions_forget(c->definitions, &judge); /* without memory: next time */
}

void vprof_collector_live_drained(struct vprof_collector *c)
{
	if (c->definitions && vprof_definitions_is_due(c->definitions))
		forget_dead(c);
}

/* How many bytes from `from` on are whole records. A record's first unit is written last, t of it or w: where one is
 * missing, a thread is writing. */
static uint32_t whole_bytes(const struct vp_unit *units, uint32_t from)
{
	uint32_t i = from / VP_UNIT_BYTES, n = VP_UNITS_MAX_BYTES / VP_UNIT_BYTES;

	while (i < n) {
		uint64_t t = __atomic_load_n(&units[i].t, __ATOMIC_ACQUIRE);
		uint64_t w = __atomic_load_n(&units[i].w, __ATOMIC_ACQUIRE);
		uint32_t n_units = t && w ? vp_record_units(w) : 0;

		if (!n_units || n_units > n - i)
			break;
		i += n_units;
	}
	return i * VP_UNIT_BYTES - from;
}

static void flush_chunk(struct vprof_collector *c, uint32_t i)
{
	const struct vp_chunk_header *shared = vprof_shm_chunk(&c->shm, i);
	struct vp_chunk_header h;
	const struct vp_unit *units = (const void *)(shared + 1);
	uint32_t n;

	memcpy(&h, (const void *)shared, sizeof h);
	if (h.magic != VP_CHUNK_MAGIC || !h.pid || !h.thread_seq || h.thread_seq >= VP_THREAD_RESERVED ||
	    !h.process_seq)
		return;
	n = whole_bytes(units, c->stored_bytes[i]);
	if (!n)
		return;
	h.n_bytes = n;
	units += c->stored_bytes[i] / VP_UNIT_BYTES;
	if (vprof_definitions_add(c->definitions, &h, units) || vprof_collector_append(c, &h, units))
		return; /* once more when it is handed over */
	c->stored_bytes[i] += n;
	c->n_unit_bytes += n;
}

/* What threads have written into chunks that they still fill. */
static void store_filling(struct vprof_collector *c)
{
	while (vprof_collector_drain(c))
		;
	for (uint32_t i = 0; i < c->shm.n_chunks; i++)
		if (atomic_load_explicit(&c->shm.states[i], memory_order_acquire) == VP_CHUNK_TAKEN)
			flush_chunk(c, i);
	vprof_processors_flush(c->processors);
	vprof_collector_fill_header(c);
}

void vprof_collector_seal(struct vprof_collector *c)
{
	if (c->file.is_sealed)
		return;
	store_filling(c);
	if (!c->is_discarding)
		vprof_records_seal(&c->file);
}

void vprof_collector_go_on(struct vprof_collector *c)
{
	if (!c->is_discarding)
		vprof_records_go_on(&c->file);
}

static int store(void *collector, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	return vprof_collector_append(collector, h, units);
}

static int end_file(struct vprof_collector *c, struct vprof_error *err)
{
	int failed;

	store_filling(c);
	if (c->is_discarding)
		return VPROF_OK;
	failed = vprof_records_finish(&c->file);
	vprof_records_release(&c->file);
	c->is_discarding = 1;
	if (!failed)
		return VPROF_OK;
	return vprof_error_set(err, VPROF_ERR_FAILED,
			       "cannot finish a round's trace: %s; free space on the disk, and begin again",
			       strerror(failed));
}

static int begin_file(struct vprof_collector *c, const char *trace_dir, struct vprof_error *err)
{
	struct vprof_records_file before;
	int rc;

	vprof_clock_calibrate(&c->file.clock);
	before = c->file;
	/* The rate is that of the whole session; the file begins now. */
	c->file = (struct vprof_records_file){ .clock = c->file.clock, .fd = -1 };
	c->file.clock.start_realtime_ns += before.clock.now_ns - before.clock.start_ns;
	c->file.clock.start_ticks = c->file.clock.now_ticks;
	c->file.clock.start_ns = c->file.clock.now_ns;
	vprof_collector_fill_header(c);
	rc = vprof_records_open(&c->file, trace_dir, before.max_bytes, before.compress, err);
	if (!rc)
		c->is_discarding = 0;
	forget_dead(c);
	if (!rc && vprof_definitions_store(c->definitions, store, c))
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot write the trace in %s; free space on the disk",
				     trace_dir);
	if (rc)
		vprof_records_release(&c->file);
	c->is_discarding |= rc != 0;
	return rc;
}

int vprof_collector_turn(struct vprof_collector *c, const char *trace_dir, struct vprof_error *err)
{
	int rc = end_file(c, err);

	return rc || !trace_dir ? rc : begin_file(c, trace_dir, err);
}

static void append(struct vprof_collector *c, uint32_t thread_seq, uint32_t *chunk_seq, const struct vp_unit *units,
		   uint32_t n)
{
	const struct vp_chunk_header h = { .magic = VP_CHUNK_MAGIC,
					   .n_bytes = n * VP_UNIT_BYTES,
					   .thread_seq = thread_seq,
					   .chunk_seq = (*chunk_seq)++,
					   .process_seq = 1 };

	vprof_collector_append(c, &h, units);
}

void vprof_collector_plan(struct vprof_collector *c, const struct vprof_plan_change *change)
{
	const struct vp_unit units[] = { { change->begin, VP_W(VP_KIND_PLAN, change->number) },
					 { change->end, change->process_seq },
					 { change->last_begin, 0 } };

	append(c, VP_THREAD_PLANS, &c->n_plan_chunks, units, 3);
}

void vprof_collector_window(struct vprof_collector *c, uint64_t t, int is_open)
{
	const struct vp_unit unit = { t, VP_W(VP_KIND_WINDOW, (uint64_t)(is_open != 0)) };

	append(c, VP_THREAD_WINDOWS, &c->n_window_chunks, &unit, 1);
}

size_t vprof_collector_processes(const struct vprof_collector *c, struct vprof_collector_process *out, size_t max)
{
	const struct vp_shm *shm = c->shm.shm;
	size_t n = 0;

	for (uint32_t i = 0; i < VP_PROCESS_COUNT && n < max; i++) {
		uint64_t who = atomic_load_explicit(&shm->processes[i].who, memory_order_acquire);

		if (who >> 32)
			out[n++] = (struct vprof_collector_process){
				(uint32_t)who, (uint32_t)(who >> 32),
				atomic_load_explicit(&shm->processes[i].parent_seq, memory_order_relaxed),
				atomic_load_explicit(&shm->processes[i].pid_namespace, memory_order_relaxed)
			};
	}
	return n;
}

void vprof_collector_forget(struct vprof_collector *c, const struct vprof_collector_process *process)
{
	struct vp_shm *shm = c->shm.shm;

	for (uint32_t i = 0; i < VP_PROCESS_COUNT; i++) {
		uint64_t who = (uint64_t)process->process_seq << 32 | process->pid;

		atomic_compare_exchange_strong(&shm->processes[i].who, &who, 0);
	}
}

uint32_t vprof_collector_changes(const struct vprof_collector *c)
{
	return atomic_load(&c->shm.shm->n_changes);
}
