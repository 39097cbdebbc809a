/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The collector: open, drain, close. The shared memory itself is made by shm_file.c.
 *
 * Invariants:
 * - every record that a target wrote is either in records.vpt or in n_dropped;
 * - nothing that a target can overwrite is used as a size, an index or a pointer without a check; sizes and
 *   offsets of the shared memory are the collector's own copies.
 */
#include "trace/collector/collector_inside.h"
#include "trace/collector/collector_live.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/walk.h"

#define DEFAULT_STACK_SAMPLES 200
#define LIFE_CHECK_NS 200000000u /* how often a taken chunk's process is looked for */
#define SPILL_BYTES 1024u
#define NOT_ASKED "context switches were not recorded in this run"
#define TOO_MANY                                                                                                               \
	"context switches or thread starts are too frequent to record without slowing the program; --switches on (vprof run, " \
	"vprof iterate) records them all the same"
#define UNIT_NS 9 /* what one unit costs the thread that writes it: half a recorded call (docs/performance.md) */
#define WINDOW_MARGIN_NS 50000u		     /* until every thread sees that a window has opened */
#define WATCHED_MAX_NS UINT64_C(10000000000) /* of an older interval the end is missing */

static int has_switches(const struct vprof_collector *c)
{
	return c->processors && !vprof_processors_stopped(c->processors);
}

void vprof_collector_fill_header(struct vprof_collector *c)
{
	struct vp_file_header *h = &c->file.header;

	h->n_dropped = atomic_load(&c->shm.shm->n_dropped) + c->n_lost;
	h->has_switches = has_switches(c);
	h->n_switches_lost = vprof_processors_lost(c->processors);
	h->record_ns = c->cost.ns;
	h->record_inside_ns = c->cost.inside_ns;
	memcpy(h->no_switches, c->no_switches, sizeof h->no_switches);
}

/* End of what was written in a chunk that nobody handed over: the last unit that is not zero, and behind it the zero
 * units that still belong to the last record. */
static uint32_t find_units_end(const struct vp_unit *units)
{
	size_t n = VP_UNITS_MAX_BYTES / VP_UNIT_BYTES;
	const struct vp_unit *at = units, *end = units + n, *behind = units;
	uint32_t n_units;

	while (n && !units[n - 1].t && !units[n - 1].w)
		n--;
	while (at < units + n && vp_walk_next(&at, end, &n_units))
		behind = at;
	if (behind > units + n)
		n = (size_t)(behind - units);
	return (uint32_t)(n * VP_UNIT_BYTES);
}

/* Records that the target wrote. A DROPPED note is none: the records that it reports are in the shared n_dropped since
 * they were dropped. */
static uint64_t count_records(const struct vp_unit *units, uint32_t n_bytes)
{
	const struct vp_unit *at = units, *end = units + n_bytes / VP_UNIT_BYTES, *u;
	uint64_t n = 0;
	uint32_t n_units;

	while ((u = vp_walk_next(&at, end, &n_units)))
		n += VP_CODE(u->w) != VP_KIND_DROPPED;
	return n;
}

int vprof_collector_append(struct vprof_collector *c, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	return c->is_discarding ? 0 : vprof_records_append(&c->file, h, units);
}

static int append_chunk(void *collector, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	return vprof_collector_append(collector, h, units);
}

const struct vprof_clock *vprof_collector_clock(const struct vprof_collector *c)
{
	return &c->file.clock;
}

struct vp_file_header *vprof_collector_header(struct vprof_collector *c)
{
	return &c->file.header;
}

/* Moves one chunk's units to the file, or counts them as lost. Leaves the shared memory as it is; returns how many
 * bytes of units were in use. */
static uint32_t store_chunk(struct vprof_collector *c, uint32_t i, int handed_over)
{
	const struct vp_chunk_header *shared = vprof_shm_chunk(&c->shm, i);
	const struct vp_unit *units = (const void *)(shared + 1);
	struct vp_chunk_header h;
	uint32_t n_bytes, n_stored = 0;

	memcpy(&h, (const void *)shared, sizeof h); /* one look: the target may write meanwhile */
	if (!handed_over || !h.n_bytes || h.n_bytes > VP_UNITS_MAX_BYTES || h.n_bytes % VP_UNIT_BYTES)
		h.n_bytes = find_units_end(units);
	n_bytes = h.n_bytes;
	if (c->stored_bytes) {
		n_stored = c->stored_bytes[i] < h.n_bytes ? c->stored_bytes[i] : h.n_bytes;
		c->stored_bytes[i] = 0;
		h.n_bytes -= n_stored;
		units += n_stored / VP_UNIT_BYTES;
	}
	if (!h.n_bytes)
		return n_bytes;
	c->n_unit_bytes += h.n_bytes;
	/* Units whose owner is unknown are useless; those of reserved numbers are not the target's to write. */
	if (h.magic != VP_CHUNK_MAGIC || !h.thread_seq || h.thread_seq >= VP_THREAD_RESERVED || !h.process_seq ||
	    (c->definitions && vprof_definitions_add(c->definitions, &h, units)) ||
	    vprof_collector_append(c, &h, units))
		c->n_lost += count_records(units, h.n_bytes);
	return n_bytes;
}

/* A signal handler may have recorded behind n_bytes while its thread handed the chunk over: those few are cleared too,
 * or they would look like the next owner's. */
static void recycle_chunk(struct vprof_collector *c, uint32_t i, uint32_t n_bytes)
{
	uint32_t n = n_bytes + SPILL_BYTES < VP_UNITS_MAX_BYTES ? n_bytes + SPILL_BYTES : VP_UNITS_MAX_BYTES;

	memset(vprof_shm_chunk(&c->shm, i), 0, sizeof(struct vp_chunk_header) + n);
	atomic_store_explicit(&c->shm.states[i], VP_CHUNK_FREE, memory_order_release);
}

int vprof_collector_is_dead(const struct vprof_collector *c, uint32_t pid, uint64_t pid_namespace)
{
	if (pid_namespace && pid_namespace != c->pid_namespace)
		return 0;
	return pid && pid <= INT32_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Of the chunk's process; asks the kernel at most every LIFE_CHECK_NS. In another pid namespace its chunks stay taken
 * until the end. */
static int owner_is_dead(struct vprof_collector *c, uint32_t i, uint64_t now_ns)
{
	const volatile struct vp_chunk_header *h = vprof_shm_chunk(&c->shm, i);
	uint32_t pid = __atomic_load_n(&h->pid, __ATOMIC_ACQUIRE);
	uint64_t namespace = h->pid_namespace;

	if (now_ns - c->checked_ns[i] < LIFE_CHECK_NS)
		return 0;
	c->checked_ns[i] = now_ns;
	return vprof_collector_is_dead(c, pid, namespace);
}

static void append_window(struct vprof_collector *c, uint64_t t, int is_open)
{
	const struct vp_unit unit = { t, VP_W(VP_KIND_WINDOW, (uint64_t)is_open) };
	const struct vp_chunk_header h = { .magic = VP_CHUNK_MAGIC,
					   .n_bytes = sizeof unit,
					   .thread_seq = VP_THREAD_WINDOWS,
					   .chunk_seq = c->n_window_chunks++,
					   .process_seq = 1 };

	vprof_collector_append(c, &h, &unit);
}

uint64_t vprof_collector_longest_ns(struct vprof_collector *c)
{
	struct vp_shm *shm = c->shm.shm;
	uint64_t longest = atomic_exchange(&shm->longest_ticks, 0), now = vprof_clock_ticks(c->file.clock.kind);

	for (uint32_t i = 0; i < VP_WATCHED_COUNT; i++) {
		uint64_t begin = atomic_load_explicit(&shm->watched[i].begin, memory_order_relaxed);

		if (begin && now > begin && now - begin > longest &&
		    (double)(now - begin) * c->file.clock.ns_per_tick < (double)WATCHED_MAX_NS)
			longest = now - begin;
	}
	return (uint64_t)((double)longest * c->file.clock.ns_per_tick);
}

static void turn_windows(struct vprof_collector *c, uint64_t now_ns)
{
	double cost = (double)(c->n_unit_bytes / VP_UNIT_BYTES * UNIT_NS) +
		      (double)(vprof_clock_ns(CLOCK_THREAD_CPUTIME_ID) - c->own_start_ns);
	double ticks_per_ns = 1 / c->file.clock.ns_per_tick;

	if (!c->windows.share || !vprof_windows_step(&c->windows, now_ns, cost, vprof_collector_longest_ns(c)))
		return;
	atomic_store(&c->shm.shm->closed, c->windows.is_open ? 0 : (uint32_t)c->windows.n);
	if (c->windows.is_open)
		append_window(c, vprof_clock_ticks(c->file.clock.kind) + (uint64_t)(WINDOW_MARGIN_NS * ticks_per_ns),
			      1);
	else
		append_window(c,
			      vprof_clock_ticks(c->file.clock.kind) -
				      (uint64_t)((double)(c->windows.tail_ns + WINDOW_MARGIN_NS) * ticks_per_ns),
			      0);
}

int vprof_collector_drain(struct vprof_collector *c)
{
	uint64_t now_ns = vprof_clock_monotonic_ns();
	int n = 0;

	vprof_processors_drain(c->processors);
	if (vprof_processors_stopped(c->processors))
		strcpy(c->no_switches, TOO_MANY);
	for (uint32_t i = 0; i < c->shm.n_chunks; i++) {
		uint32_t state = atomic_load_explicit(&c->shm.states[i], memory_order_acquire);

		if (state == VP_CHUNK_FREE)
			continue;
		if (state == VP_CHUNK_TAKEN && !owner_is_dead(c, i, now_ns))
			continue;
		recycle_chunk(c, i, store_chunk(c, i, state == VP_CHUNK_FULL));
		n++;
	}
	vprof_collector_live_drained(c);
	turn_windows(c, now_ns);
	if (!c->is_discarding && vprof_records_step(&c->file, now_ns)) {
		vprof_processors_flush(c->processors);
		vprof_collector_fill_header(c);
		vprof_records_refresh(&c->file);
	}
	return n;
}

/* Chunks that are still taken belong to dead processes, or to threads that stop recording now, since `stopped` is set.
 */
static void take_the_rest(struct vprof_collector *c)
{
	const struct timespec pause = { 0, 2000000 };

	atomic_store(&c->shm.shm->stopped, 1);
	nanosleep(&pause, NULL); /* a record takes nanoseconds, but its thread may be preempted */
	while (vprof_collector_drain(c))
		;
	for (uint32_t i = 0; i < c->shm.n_chunks; i++) {
		uint32_t state = atomic_load_explicit(&c->shm.states[i], memory_order_acquire);

		if (state != VP_CHUNK_FREE)
			store_chunk(c, i, state == VP_CHUNK_FULL);
	}
}

int vprof_collector_open(struct vprof_collector **out, const struct vprof_collector_options *o, struct vprof_error *err)
{
	struct vprof_collector *c = calloc(1, sizeof *c);
	struct stat st;
	int code;

	*out = NULL;
	if (!c)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the collector");
	c->file.fd = -1;
	c->pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	code = vprof_shm_file_open(&c->shm, o->memory_bytes, err);
	if (!code && o->user)
		code = vprof_shm_file_give(&c->shm, *o->user, err);
	if (code)
		goto out;
	c->checked_ns = calloc(c->shm.n_chunks, sizeof *c->checked_ns);
	if (!c->checked_ns) {
		code = vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for %u chunks", c->shm.n_chunks);
		goto out;
	}
	if (o->is_live && vprof_collector_live_start(c)) {
		code = vprof_error_no_memory(err);
		goto out;
	}
	vprof_clock_start(&c->file.clock, vprof_clock_choose());
	vprof_record_cost_measure(&c->cost, &c->file.clock);
	strcpy(c->no_switches, NOT_ASKED);
	vprof_collector_fill_header(c);
	code = vprof_records_open(&c->file, o->trace_dir, o->max_trace_bytes, o->compress, err);
	if (code)
		goto out;
	c->shm.shm->clock = c->file.clock.kind;
	c->shm.shm->sample_after = o->sample_after;
	vprof_collector_every_call(c, o->every_call, o->n_every_call);
	c->shm.shm->records_hosts = o->records_hosts != 0;
	c->shm.shm->watches_intervals = o->budget > 0 || o->is_live;
	c->own_start_ns = vprof_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	vprof_windows_start(&c->windows, o->is_live ? 0 : o->budget, vprof_clock_monotonic_ns(),
			    c->file.clock.start_ticks);
	if (o->budget > 0 && !o->is_live)
		append_window(c, c->file.clock.start_ticks, 1);
	c->shm.shm->stack_samples = o->stack_samples > 0 ? (uint32_t)o->stack_samples : DEFAULT_STACK_SAMPLES;
	*out = c;
	return VPROF_OK;
out:
	vprof_records_release(&c->file);
	vprof_shm_file_close(&c->shm);
	free(c->checked_ns);
	vprof_collector_live_release(c);
	free(c);
	return code;
}

void vprof_collector_begin(struct vprof_collector *c)
{
	c->own_start_ns = vprof_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int vprof_collector_watch(struct vprof_collector *c, pid_t pid, uint32_t most, struct vprof_error *err)
{
	struct vprof_processors_options o = {
		.pid = pid, .clock = c->file.clock.kind, .most = most, .store = append_chunk, .arg = c
	};
	int code = vprof_processors_open(&c->processors, &o, err);

	if (code && err)
		snprintf(c->no_switches, sizeof c->no_switches, "%.*s", (int)sizeof c->no_switches - 1, err->message);
	else if (!code)
		memset(c->no_switches, 0, sizeof c->no_switches);
	return code;
}

const char *vprof_collector_shm(const struct vprof_collector *c)
{
	return c->shm.path;
}

uint64_t vprof_collector_nonce(const struct vprof_collector *c)
{
	return c->shm.shm->nonce;
}

void vprof_collector_abandon(const struct vprof_collector *c)
{
	atomic_store(&c->shm.shm->stopped, 1);
	unlink(c->shm.path);
}

static uint64_t count_handed_out(const _Atomic uint32_t *next)
{
	uint32_t n = atomic_load(next);

	return n ? n - 1 : 0;
}

/* Bytes in use of a chunk that its thread is filling, by bisection: it is filled from the front. */
static uint64_t count_filled(const struct vp_chunk_header *h)
{
	const volatile struct vp_unit *units = (const void *)(h + 1);
	size_t low = 0, high = VP_UNITS_MAX_BYTES / VP_UNIT_BYTES;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (units[middle].w || units[middle].t)
			low = middle + 1;
		else
			high = middle;
	}
	return low * VP_UNIT_BYTES;
}

void vprof_collector_look(const struct vprof_collector *c, struct vprof_collector_state *state)
{
	uint32_t n_used = 0;

	*state = (struct vprof_collector_state){ .n_unit_bytes = c->n_unit_bytes,
						 .n_dropped = atomic_load(&c->shm.shm->n_dropped) + c->n_lost,
						 .n_threads = count_handed_out(&c->shm.shm->next_thread_seq) };
	for (uint32_t i = 0; i < c->shm.n_chunks; i++) {
		if (atomic_load_explicit(&c->shm.states[i], memory_order_acquire) == VP_CHUNK_FREE)
			continue;
		n_used++;
		state->n_unit_bytes += count_filled(vprof_shm_chunk(&c->shm, i));
	}
	state->full_share = c->shm.n_chunks ? (double)n_used / c->shm.n_chunks : 0;
}

int vprof_collector_close(struct vprof_collector *c, struct vprof_collector_stats *stats, struct vprof_error *err)
{
	int failed, code = VPROF_OK;

	if (!c)
		return VPROF_OK;
	take_the_rest(c);
	vprof_processors_flush(c->processors);
	vprof_collector_fill_header(c);
	failed = c->is_discarding ? 0 : vprof_records_finish(&c->file);
	if (failed)
		code = vprof_error_set(err, VPROF_ERR_FAILED,
				       "cannot finish the trace: %s; what was written before can be "
				       "read",
				       strerror(failed));
	if (stats) {
		*stats = (struct vprof_collector_stats){
			.n_bytes = c->file.n_bytes,
			.n_chunks = c->file.n_chunks,
			.disk_failed = c->file.disk_failed,
			.n_dropped = atomic_load(&c->shm.shm->n_dropped) + c->n_lost,
			.n_processes = count_handed_out(&c->shm.shm->next_process_seq),
			.n_threads = count_handed_out(&c->shm.shm->next_thread_seq),
			.has_switches = has_switches(c),
			.n_switches = vprof_processors_count(c->processors),
			.n_unit_bytes = c->n_unit_bytes,
			.n_switches_lost = vprof_processors_lost(c->processors),
			.n_windows = c->windows.n,
			.recorded_share = vprof_windows_open_share(&c->windows, vprof_clock_monotonic_ns()),
		};
		memcpy(stats->no_switches, c->no_switches, sizeof stats->no_switches);
	}
	vprof_processors_close(c->processors);
	vprof_shm_file_close(&c->shm);
	vprof_records_release(&c->file);
	free(c->checked_ns);
	vprof_collector_live_release(c);
	free(c);
	return code;
}
