/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Futility. Bounds over n runs reach t(n - 1) s / sqrt n to each side, s^2 = Q / (n - 1), and Q, the sum of squares
 * around the mean, never falls when runs are added. So m runs give bounds that are at least
 * t(m - 1) / sqrt(m (m - 1)) : t(n - 1) / sqrt(n (n - 1)) as wide: what this least width would not settle, more runs do
 * not. Shares are not quite means, and their bounds are cut at 0 and 1: the error is in docs/design/statistics.md.
 */
#include "analysis/results/repeat.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static double reach(size_t n)
{
	return gsl_cdf_tdist_Pinv(0.975, (double)(n - 1)) / sqrt((double)n * (double)(n - 1));
}

static double width_of(const struct vprof_factor *f)
{
	return f->share_high - f->share_low;
}

static const struct vprof_cause *cause_of(const struct vprof_results *r, size_t factor)
{
	size_t cause = vprof_results_cause_of(r, factor);

	return cause < r->n_causes ? &r->causes[cause] : NULL;
}

static int is_known(const struct vprof_results *r, size_t factor)
{
	const struct vprof_cause *c = cause_of(r, factor);

	return width_of(&r->factors[factor]) <= VPROF_REPEATED_WIDTH || (c && c->status == VPROF_CAUSE_SETTLED);
}

/* With bounds that are `part` as wide, the estimates being the same. Bounds that are not known exclude nothing. */
static int can_be_known(const struct vprof_results *r, size_t factor, double part)
{
	const struct vprof_cause *c = cause_of(r, factor);
	double least, low;

	if (!(part * width_of(&r->factors[factor]) > VPROF_REPEATED_WIDTH))
		return 1;
	if (!c || c->kind == VPROF_CAUSE_UNDIVIDED)
		return 0;
	least = fmax(r->threshold, c->if_constant / 2); /* as causes are judged */
	low = c->if_constant - part * (c->if_constant - c->if_constant_low);
	return !(low < least);
}

enum vprof_repeat vprof_repeat_judge(const struct vprof_results *r, size_t n_max)
{
	size_t n_unknown = 0, n_open = 0;

	if (r->n_runs < VPROF_REPEATS_MIN)
		return r->n_runs < n_max ? VPROF_REPEAT_MORE : VPROF_REPEAT_SPENT;
	for (size_t i = 0; i < r->n_selected; i++) {
		n_unknown += !is_known(r, i);
		n_open += !is_known(r, i) && r->n_runs < n_max && can_be_known(r, i, reach(n_max) / reach(r->n_runs));
	}
	if (!n_unknown && !r->inconclusive)
		return VPROF_REPEAT_KNOWN;
	if (r->n_runs >= n_max)
		return VPROF_REPEAT_SPENT;
	return n_unknown && !n_open ? VPROF_REPEAT_FUTILE : VPROF_REPEAT_MORE;
}

size_t vprof_repeat_next(size_t n_runs, size_t n_max)
{
	size_t next = n_runs < VPROF_REPEATS_MIN ? VPROF_REPEATS_MIN : n_runs + VPROF_REPEATS_STEP;

	return next < n_max ? next : n_max;
}

const struct vprof_factor *vprof_repeat_widest(const struct vprof_results *r)
{
	size_t widest = 0;

	for (size_t i = 1; i < r->n_selected; i++) {
		int more = is_known(r, widest) - is_known(r, i);

		if (more > 0 || (!more && width_of(&r->factors[i]) > width_of(&r->factors[widest])))
			widest = i;
	}
	return r->n_selected ? &r->factors[widest] : NULL;
}

int vprof_repeat_is_narrow(const struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_selected; i++)
		if (!(width_of(&r->factors[i]) <= VPROF_REPEATED_WIDTH))
			return 0;
	return 1;
}
