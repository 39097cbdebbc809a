/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run/run_kernel.h"

#include <stdio.h>
#include <string.h>

#include "common/process.h"
#include "recorder/requirements.h"

#define FLUSH_EVERY_S 1

static int store(void *collector, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	return vprof_collector_append(collector, h, units);
}

int vprof_run_kernel_open(struct vprof_run_kernel *k, struct vprof_collector *collector, pid_t pid, uint32_t kinds,
			  struct vprof_error *err)
{
	const struct vprof_clock *clock = vprof_collector_clock(collector);
	struct vprof_recorder_options o = { .clock = clock->kind,
					    .ns_per_tick = clock->ns_per_tick,
					    .kinds = kinds,
					    .spacing_ns = VPROF_RECORDER_SPACING_NS,
					    .timer_hz = kinds & VP_KERNEL_CALLS ? VPROF_RECORDER_TIMER_HZ : 0,
					    .store = store,
					    .arg = collector };
	int rc = vprof_recorder_require(err);

	k->collector = collector;
	k->flushed_s = vprof_clock_s();
	if (!rc)
		rc = vprof_recorder_open(&k->recorder, &o, err);
	if (!rc)
		rc = vprof_recorder_add(k->recorder, pid, err);
	return rc < 0 ? rc : VPROF_OK;
}

static void tell(const struct vprof_run_kernel *k)
{
	struct vp_file_header *h = vprof_collector_header(k->collector);
	struct vprof_recorder_state state;

	vprof_recorder_look(k->recorder, &state);
	h->kernel_scope = VP_KERNEL_TREE;
	h->kernel_kinds = state.kinds;
	h->n_kernel_events = state.n_events;
	h->n_kernel_lost = state.n_lost;
	h->n_kernel_unseen = state.n_unseen;
	h->kernel_error_ns = state.error_ns;
	memcpy(h->no_kernel, state.missing, sizeof h->no_kernel);
}

void vprof_run_kernel_drain(struct vprof_run_kernel *k)
{
	double now_s;

	if (!k->recorder)
		return;
	vprof_recorder_drain(k->recorder);
	now_s = vprof_clock_s();
	if (now_s - k->flushed_s < FLUSH_EVERY_S)
		return;
	k->flushed_s = now_s;
	vprof_recorder_flush(k->recorder);
	tell(k);
}

void vprof_run_kernel_close(struct vprof_run_kernel *k)
{
	if (!k->recorder)
		return;
	vprof_recorder_stop(k->recorder);
	tell(k);
	vprof_recorder_close(k->recorder);
	k->recorder = NULL;
}
