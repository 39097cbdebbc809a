/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/wake_programs.h"

#include <stdio.h>

#include <bpf/libbpf.h>

#include "recorder/requirements.h"
#include "trace/clock.h"

/* clang-format off: the skeleton uses its structs */
#include "recorder/ring_event.h"
#include "record.skel.h"
/* clang-format on */

/* Hard interrupts that irq_handler_entry does not report; a kernel has some of them. */
static const char *const vectors[VPROF_VECTORS] = { "local_timer", "call_function_single", "irq_work", "ipi" };

static void name_tracepoints(size_t i, char entry[48], char leave[48])
{
	snprintf(entry, 48, "%s_entry", vectors[i]);
	snprintf(leave, 48, "%s_exit", vectors[i]);
}

/* At the start, what the kernel refuses is left alone from then on: a wake-up may be attributed to who was interrupted.
 * 0: some were refused later. */
static int attach_vectors(struct vprof_wake_programs *w, int is_start)
{
	int ok = 1;

	for (size_t i = 0; i < VPROF_VECTORS; i++) {
		char entry[48], leave[48];
		struct bpf_link *in, *out;

		if (!w->has_vector[i])
			continue;
		name_tracepoints(i, entry, leave);
		/* The exit first: an entry without its exit would count for ever. */
		out = bpf_program__attach_raw_tracepoint(w->bpf->progs.leave_vector, leave);
		in = out ? bpf_program__attach_raw_tracepoint(w->bpf->progs.enter_vector, entry) : NULL;
		if (!in) {
			bpf_link__destroy(out);
			w->has_vector[i] = !is_start;
			ok &= is_start;
			continue;
		}
		w->vectors[w->n_vectors++] = in;
		w->vectors[w->n_vectors++] = out;
	}
	return ok;
}

static void detach_vectors(struct vprof_wake_programs *w)
{
	for (size_t i = 0; i < w->n_vectors; i++)
		bpf_link__destroy(w->vectors[i]);
	w->n_vectors = 0;
}

void vprof_wake_programs_start(struct vprof_wake_programs *w, struct record_bpf *bpf, int has_vectors,
			       const struct vprof_kernel_symbols *symbols)
{
	*w = (struct vprof_wake_programs){ .bpf = bpf };
	for (size_t i = 0; i < VPROF_VECTORS && has_vectors; i++) {
		char entry[48], leave[48];

		name_tracepoints(i, entry, leave);
		w->has_vector[i] = vprof_recorder_has_tracepoint(entry) && vprof_recorder_has_tracepoint(leave);
	}
	attach_vectors(w, 1);
	vprof_soft_interrupts_start(&w->soft_interrupts, bpf, symbols);
	w->is_attached = 1;
}

void vprof_wake_programs_detach(struct vprof_wake_programs *w)
{
	if (!w->is_attached)
		return;
	w->is_attached = 0;
	bpf_link__destroy(w->bpf->links.record_waking);
	w->bpf->links.record_waking = NULL;
	detach_vectors(w);
	vprof_soft_interrupts_pause(&w->soft_interrupts, vprof_clock_monotonic_ns());
}

int vprof_wake_programs_attach(struct vprof_wake_programs *w)
{
	if (w->is_attached)
		return 1;
	w->is_attached = 1;
	if (vprof_soft_interrupts_resume(&w->soft_interrupts, vprof_clock_monotonic_ns()) && attach_vectors(w, 0))
		w->bpf->links.record_waking = bpf_program__attach(w->bpf->progs.record_waking);
	if (!w->bpf->links.record_waking)
		vprof_wake_programs_detach(w);
	return w->is_attached;
}

void vprof_wake_programs_stop(struct vprof_wake_programs *w)
{
	if (!w->bpf)
		return;
	detach_vectors(w);
	vprof_soft_interrupts_stop(&w->soft_interrupts);
}
