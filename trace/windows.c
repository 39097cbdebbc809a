/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/windows.h"

#define FIRST_COST_NS 1e8
#define LENGTH_NS 20000000u
#define QUIET_NS 1000000000u /* after so long at a low cost the account begins anew */
#define BETWEEN_MAX_NS 1e10
#define CLOSED_RATE_MAX 0.9 /* of the share */

static double draw(struct vprof_windows *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (double)(w->random >> 11) / 9007199254740992.0;
}

void vprof_windows_start(struct vprof_windows *w, double share, uint64_t now_ns, uint64_t seed)
{
	*w = (struct vprof_windows){ .share = share,
				     .is_open = 1,
				     .is_first = 1,
				     .first_cost_ns = FIRST_COST_NS,
				     .length_ns = LENGTH_NS,
				     .since_ns = now_ns,
				     .start_ns = now_ns,
				     .random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1,
				     .n = 1 };
}

/* For how long nothing may be recorded after a window of `open` ns that cost `cost`. */
static double between(struct vprof_windows *w, double open, double cost)
{
	double left = cost - w->share * open, most = CLOSED_RATE_MAX * w->share;
	double ns = left / (w->share - (w->closed_rate < most ? w->closed_rate : most));

	ns *= 0.5 + draw(w);
	return ns < BETWEEN_MAX_NS ? ns : BETWEEN_MAX_NS;
}

int vprof_windows_step(struct vprof_windows *w, uint64_t now_ns, double cost_ns, uint64_t longest_ns)
{
	double spent = cost_ns - w->since_cost_ns, lasted = (double)(now_ns - w->since_ns);

	if (!(w->share > 0))
		return 0;
	if (longest_ns > w->tail_ns)
		w->tail_ns = longest_ns < VPROF_WINDOW_TAIL_NS ? longest_ns : VPROF_WINDOW_TAIL_NS;
	if (!w->is_open) {
		if (now_ns < w->reopen_ns)
			return 0;
		w->closed_rate = lasted > 0 ? spent / lasted : 0;
		w->n++;
	} else if (spent <= w->share * lasted) {
		if (!w->is_first && lasted > QUIET_NS) {
			w->open_ns += now_ns - w->since_ns;
			w->since_ns = now_ns;
			w->since_cost_ns = cost_ns;
		}
		return 0;
	} else {
		if (lasted < w->length_ns + (double)w->tail_ns || (w->is_first && spent < w->first_cost_ns))
			return 0;
		/* The first one need not be made up for: short runs would see little else. */
		w->reopen_ns = now_ns + (uint64_t)(w->is_first ?
							   between(w, w->length_ns, spent / lasted * w->length_ns) :
							   between(w, lasted, spent));
		w->open_ns += now_ns - w->since_ns;
		w->is_first = 0;
	}
	w->is_open = !w->is_open;
	w->since_ns = now_ns;
	w->since_cost_ns = cost_ns;
	return 1;
}

double vprof_windows_open_share(const struct vprof_windows *w, uint64_t now_ns)
{
	uint64_t open = w->open_ns + (w->is_open ? now_ns - w->since_ns : 0);

	return now_ns > w->start_ns ? (double)open / (double)(now_ns - w->start_ns) : 1;
}
