/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/waits_results.h"

#include <stdlib.h>

#include "analysis/results/results_writer.h"

const char *const vprof_waits_party_names[] = {
	[VPROF_WAITS_PARTY_THREAD] = "thread",	     [VPROF_WAITS_PARTY_DISK] = "disk",
	[VPROF_WAITS_PARTY_NETWORK] = "network",     [VPROF_WAITS_PARTY_TIMER] = "timer",
	[VPROF_WAITS_PARTY_INTERRUPT] = "interrupt", [VPROF_WAITS_PARTY_OUTSIDE] = "outside",
};
const char *const vprof_waits_verdict_names[] = {
	[VPROF_WAITS_KNOT] = "knot",
	[VPROF_WAITS_SINK] = "sink",
	[VPROF_WAITS_ASIDE] = "background",
};
const char *const vprof_waits_ending_names[] = {
	[VPROF_WAITS_ENDING_VERTEX] = "vertex",		[VPROF_WAITS_ENDING_CYCLE] = "cycle",
	[VPROF_WAITS_ENDING_HEAVY] = "heavy",		[VPROF_WAITS_ENDING_PARTS] = "parts",
	[VPROF_WAITS_ENDING_BACKGROUND] = "background",
};

struct vprof_waits_results *vprof_waits_results_new(void)
{
	struct vprof_waits_results *r = calloc(1, sizeof *r);

	if (r) {
		r->run = r->missing = r->interval = "";
		r->fidelity = NAN;
	}
	return r;
}

void vprof_waits_results_free(struct vprof_waits_results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_arcs; i++)
		free(r->arcs[i].stacks);
	for (size_t i = 0; i < r->n_groups; i++) {
		free(r->groups[i].parties);
		free(r->groups[i].arcs);
		free(r->groups[i].through);
	}
	free(r->parties);
	free(r->arcs);
	free(r->groups);
	vprof_strings_release(&r->strings);
	free(r);
}

/* clang-format off */
#define PARTY_FIELDS(U, D, I, S, E)                                                                                     \
	S(name) S(role) E(kind, vprof_waits_party_names) U(n_threads) I(is_outside) D(running_ns) D(runnable_ns) D(blocked_ns) D(unknown_ns)
#define STACK_FIELDS(U, D, I, S, E) S(wait) S(waker) U(n) D(weight_ns)
#define ARC_FIELDS(U, D, I, S, E)                                                                                       \
	U(from) U(to) I(is_idle) I(is_sleep) U(n_waits) D(own_ns) D(weight_ns) D(halved) D(gone) D(saved)
#define THROUGH_FIELDS(U, D, I, S, E)                                                                                   \
	S(type) U(n) D(mean_ns) D(sd_ns) D(through_ns) D(own_ns) D(share) D(share_low) D(share_high) D(if_constant)         \
	D(if_constant_low) D(if_constant_high)
#define GROUP_FIELDS(U, D, I, S, E)                                                                                     \
	E(verdict, vprof_waits_verdict_names) E(ending, vprof_waits_ending_names) D(busy_ns) D(runnable_ns)
#define RESULTS_FIELDS(U, D, I, S, E)                                                                                   \
	S(run) I(is_kernel) D(duration_ns) U(n_events) U(n_lost) U(n_assumed) U(n_circular) U(n_threads) U(n_cpus) D(threshold) \
	D(fidelity) I(cpus_simulated) D(replayed) S(missing) S(interval)
/* clang-format on */

WRITER(write_party, vprof_waits_party, PARTY_FIELDS)
WRITER(write_stack, vprof_waits_stack, STACK_FIELDS)
WRITER(write_through, vprof_waits_through, THROUGH_FIELDS)

static int write_arc(cJSON *o, const struct vprof_waits_arc *x)
{
	int ok = 1;

	W_FIELDS(ARC_FIELDS)
	WRITE_LIST(stacks, n_stacks, write_stack);
	return ok;
}

static int write_group(cJSON *o, const struct vprof_waits_group *x)
{
	int ok = 1;

	W_FIELDS(GROUP_FIELDS)
	ok &= vprof_json_add_indices(o, "parties", x->parties, x->n_parties) &&
	      vprof_json_add_indices(o, "edges", x->arcs, x->n_arcs);
	WRITE_LIST(through, n_through, write_through);
	return ok;
}

static int write_all(cJSON *o, const struct vprof_waits_results *x)
{
	int ok = vprof_json_add_number(o, "version", 1);

	W_FIELDS(RESULTS_FIELDS)
	WRITE_LIST(parties, n_parties, write_party);
	WRITE_LIST_AS("edges", arcs, n_arcs, write_arc);
	WRITE_LIST_AS("knots", groups, n_groups, write_group);
	return ok;
}

JSON_OF(vprof_waits_results_json, vprof_waits_results, write_all)
