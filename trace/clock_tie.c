/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A reading is as good as the time between the two readings of the kernel's clock that enclose that of the ticks; the
 * best of several tries is kept, so a preemption in between does no harm.
 */
#include "trace/clock_tie.h"

#define ANCHOR_NS 1000000u /* between two readings of the clocks, at least */
#define READ_TRIES 16

static struct vprof_clock_reading read_clocks(const struct vprof_clock_tie *tie)
{
	struct vprof_clock_reading best = { 0, 0, 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < READ_TRIES; i++) {
		uint64_t a = vprof_clock_ns(tie->clockid), t = vprof_clock_ticks(tie->clock),
			 b = vprof_clock_ns(tie->clockid);

		if (b - a >= least)
			continue;
		least = b - a;
		best = (struct vprof_clock_reading){ t, a + least / 2, (least + 1) / 2 };
	}
	return best;
}

void vprof_clock_tie_start(struct vprof_clock_tie *tie, enum vp_clock clock, clockid_t clockid)
{
	*tie = (struct vprof_clock_tie){ .clock = clock, .clockid = clockid };
	tie->before = tie->after = read_clocks(tie);
}

void vprof_clock_tie_step(struct vprof_clock_tie *tie)
{
	struct vprof_clock_reading now;

	do
		now = read_clocks(tie);
	while (tie->before.ns == tie->after.ns && now.ns - tie->after.ns < ANCHOR_NS); /* the first time */
	if (now.ns - tie->after.ns < ANCHOR_NS)
		return;
	tie->before = tie->after;
	tie->after = now;
	tie->rate = (double)(tie->after.ticks - tie->before.ticks) / (double)(tie->after.ns - tie->before.ns);
	if (tie->clock != VP_CLOCK_MONOTONIC && now.error_ns > tie->error_ns)
		tie->error_ns = now.error_ns;
}

uint64_t vprof_clock_tie_ticks(const struct vprof_clock_tie *tie, uint64_t ns)
{
	if (tie->clock == VP_CLOCK_MONOTONIC)
		return ns;
	return tie->before.ticks + (uint64_t)(int64_t)((double)(int64_t)(ns - tie->before.ns) * tie->rate);
}
