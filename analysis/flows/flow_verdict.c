/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/flows/flow_verdict.h"

/* Flows that come from threads which consume at the pair as well. */
static uint64_t n_mixed(const struct vprof_flow_pair *pair)
{
	uint64_t n = 0;

	for (size_t i = 0; i < pair->roles.n; i++)
		if (pair->roles.v[i].n_consumed)
			n += pair->roles.v[i].n_produced;
	return n;
}

enum vprof_flow_verdict vprof_flow_judge(const struct vprof_flow_pair *pair)
{
	double flows = (double)pair->n_flows;

	if (pair->n_flows + pair->n_allocator < VPROF_FLOW_FEWEST)
		return pair->n_again + pair->n_again_others > 2 * pair->n_flows ? VPROF_FLOW_STATE : VPROF_FLOW_FEW;
	if ((double)pair->n_allocator > VPROF_FLOW_ALLOCATED * (double)(pair->n_flows + pair->n_allocator))
		return VPROF_FLOW_ALLOCATOR;
	if ((double)pair->n_again_others > VPROF_FLOW_SHARED_AGAIN * flows || pair->n_again > 2 * pair->n_flows)
		return VPROF_FLOW_STATE;
	if ((double)n_mixed(pair) > VPROF_FLOW_MIXED * flows)
		return VPROF_FLOW_ROLES;
	if (pair->n_flows < VPROF_FLOW_FEWEST)
		return VPROF_FLOW_FEW;
	if (20 * pair->n_filled < pair->n_flows && 2 * pair->n_passed_on > pair->n_flows)
		return VPROF_FLOW_UNDECIDED;
	return VPROF_FLOW_FLOW;
}

const char *vprof_flow_verdict_name(enum vprof_flow_verdict verdict)
{
	static const char *const names[] = { "flow", "allocator", "state", "roles", "undecided", "too few" };

	return names[verdict];
}
