/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rings through which the kernel's events come, two for each CPU (ring_event.h); they are brought into order of
 * time, converted to ticks, and stored as records.
 *
 * Events may lie in a ring in another order than that of time: an interrupt's event can get in between another's time
 * and its place. So the last millisecond stays in its slots until the next call, or less where a ring is too small for
 * that: then an event that comes too late gets the time of the one before.
 */
#ifndef VPROF_RECORDER_RINGS_H
#define VPROF_RECORDER_RINGS_H

#include <stddef.h>

#include "common/error.h"
#include "recorder/gather.h"
#include "recorder/ring_event.h"
#include "recorder/stack_table.h"
#include "trace/clock_tie.h"

/* Events this young are not stored: others may come that are older. */
#define VPROF_RINGS_HOLD_NS 1000000u

struct vprof_rings;

struct vprof_rings_sizes {
	uint32_t n_cpus;
	uint32_t slots_shift; /* of each CPU's number of slots */
	uint64_t ring_bytes;  /* of its other ring */
};

/* `bytes` of each CPU for what is frequent, a power of two; 0: 4 MiB, less with many CPUs. The other ring has as much
 * where there are stacks (0: 16 MiB), else up to 1 MiB. VPROF_ERR_INPUT: there are more CPUs than n_cpus_max, or too
 * much is asked for. */
int vprof_rings_plan(struct vprof_rings_sizes *sizes, uint64_t bytes, int has_stacks, size_t n_cpus_max,
		     struct vprof_error *err);

/* Of a CPU, both. */
static inline uint64_t vprof_rings_bytes(const struct vprof_rings_sizes *sizes)
{
	return ((uint64_t)VP_RING_SLOT_BYTES << sizes->slots_shift) + sizes->ring_bytes;
}

struct vprof_rings_options {
	struct vprof_rings_sizes sizes;
	int slots, rings;			      /* maps: as many slots as planned; CPU -> ring */
	const volatile struct vp_ring_claims *claims; /* by CPU; the kernel's side writes them */
	volatile struct vp_ring_freed *freed;
	enum vp_clock clock;
	double ns_per_tick;
	struct vprof_stacks *stacks; /* NULL: none are recorded */
	vprof_store_chunk *store;
	void *arg;
};

int vprof_rings_open(struct vprof_rings **out, const struct vprof_rings_options *o, struct vprof_error *err);
void vprof_rings_close(struct vprof_rings *r); /* NULL is fine */

/* Takes what the rings hold; returns how many events. now_ns: CLOCK_MONOTONIC. `final`: the kernel adds no more,
 * nothing stays. */
size_t vprof_rings_drain(struct vprof_rings *r, uint64_t now_ns, int final);
void vprof_rings_flush(struct vprof_rings *r); /* stores all chunks that are not empty */

/* Events recorded, stored or not yet; and events lost in the kernel and at the disk. */
void vprof_rings_count(const struct vprof_rings *r, uint64_t *n_events, uint64_t *n_lost);
uint64_t vprof_rings_error_ns(const struct vprof_rings *r);			    /* of times */
const struct vprof_clock_reading *vprof_rings_reading(const struct vprof_rings *r); /* the last */

/* A time of CLOCK_MONOTONIC in ticks; exact only up to vprof_rings_reading(). */
uint64_t vprof_rings_ticks(const struct vprof_rings *r, uint64_t ns);

#endif
