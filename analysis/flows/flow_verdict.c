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

int vprof_flow_is_shared(uint64_t n_asked, uint64_t n_shared)
{
	return (double)n_shared > VPROF_FLOW_SHARED * (double)n_asked;
}

int vprof_flow_is_watched(uint64_t n_flows, uint64_t n_blind)
{
	return !n_blind || n_flows - n_blind >= VPROF_FLOW_FEWEST_WATCHED;
}

/* A registration stays until it is taken back, and handlers register: neither again nor roles tells anything. */
static enum vprof_flow_verdict judge_event(const struct vprof_flow_pair *pair)
{
	if (pair->n_flows >= VPROF_FLOW_FEWEST)
		return VPROF_FLOW_FLOW;
	return pair->n_own + pair->n_again >= VPROF_FLOW_FEWEST ? VPROF_FLOW_EVENTS : VPROF_FLOW_FEW;
}

enum vprof_flow_verdict vprof_flow_judge(const struct vprof_flow_pair *pair)
{
	double flows = (double)pair->n_flows;

	if (pair->is_event && pair->n_flows + pair->n_allocator < VPROF_FLOW_FEWEST)
		return judge_event(pair);
	if (pair->n_flows + pair->n_allocator < VPROF_FLOW_FEWEST)
		return pair->n_again + pair->n_again_others > 2 * pair->n_flows ? VPROF_FLOW_STATE : VPROF_FLOW_FEW;
	if ((double)pair->n_allocator > VPROF_FLOW_ALLOCATED * (double)(pair->n_flows + pair->n_allocator))
		return VPROF_FLOW_ALLOCATOR;
	if (pair->is_event)
		return judge_event(pair);
	if ((double)pair->n_again_others > VPROF_FLOW_SHARED_AGAIN * flows || pair->n_again > 2 * pair->n_flows)
		return VPROF_FLOW_STATE;
	if ((double)n_mixed(pair) > VPROF_FLOW_MIXED * flows)
		return VPROF_FLOW_ROLES;
	if (pair->n_flows < VPROF_FLOW_FEWEST)
		return VPROF_FLOW_FEW;
	if (2 * (pair->n_passed_on + pair->n_passed_blind) > pair->n_flows &&
	    (!vprof_flow_is_watched(pair->n_flows, pair->n_blind) ||
	     20 * pair->n_filled < pair->n_flows - pair->n_blind))
		return VPROF_FLOW_UNDECIDED;
	if (vprof_flow_is_shared(pair->n_asked, pair->n_shared))
		return VPROF_FLOW_UNDECIDED;
	return VPROF_FLOW_FLOW;
}

const char *vprof_flow_verdict_name(enum vprof_flow_verdict verdict)
{
	static const char *const names[] = { "flow", "events", "allocator", "state", "roles", "undecided", "too few" };

	return names[verdict];
}
