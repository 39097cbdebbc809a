/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/transactions/crosstalk_bounds.h"

#include <math.h>

#include "analysis/stats/bootstrap.h"

#define SUMS 3			    /* of a pair in a block */
#define SEED UINT64_C(0x63726f7373) /* any: the same bounds every time */

uint32_t vprof_crosstalk_block_of(const struct vprof_run_blocks *blocks, size_t n_intervals, size_t interval)
{
	const struct vprof_reduction reduction = { .n_items = n_intervals,
						   .n_blocks = blocks->n,
						   .block_first = blocks->first };

	return (uint32_t)vprof_block_of(&reduction, interval);
}

/* sums: of each pair its waiter's intervals, their latencies, and of these what the pair waited; values: mean, share.
 */
static void evaluate(void *arg, const double *sums, double *values)
{
	for (size_t i = 0; i < *(const size_t *)arg; i++) {
		const double *s = sums + SUMS * i;

		values[2 * i] = s[0] > 0 ? s[2] / s[0] : NAN;
		values[2 * i + 1] = s[1] > 0 ? s[2] / s[1] : NAN;
	}
}

int vprof_crosstalk_bounds(struct vprof_results *r, const struct vprof_run_blocks *blocks,
			   const struct vprof_crosstalk_sums *sums, int n_threads)
{
	size_t n = r->n_crosstalk < VPROF_CROSSTALK_BOUNDED ? r->n_crosstalk : VPROF_CROSSTALK_BOUNDED;
	struct vprof_bootstrap_values drawn = { 0 };
	double *rows;
	int ret;

	if (blocks->n < 2 || !n)
		return VPROF_OK;
	rows = calloc(blocks->n * SUMS * n, sizeof *rows);
	if (!rows)
		return VPROF_ERR_NOMEM;
	for (size_t b = 0; b < blocks->n; b++)
		for (size_t i = 0; i < n; i++) {
			rows[(b * n + i) * SUMS] = sums->n[r->crosstalk[i].waiter * blocks->n + b];
			rows[(b * n + i) * SUMS + 1] = sums->latency_ns[r->crosstalk[i].waiter * blocks->n + b];
			rows[(b * n + i) * SUMS + 2] = sums->waited_ns[i * blocks->n + b];
		}
	ret = vprof_bootstrap_run(&(struct vprof_bootstrap){ .n_blocks = blocks->n,
							     .n_sums = SUMS * n,
							     .n_statistics = 2 * n,
							     .n_runs = blocks->run_first ? blocks->n_runs : 0,
							     .run_first = blocks->run_first,
							     .seed = SEED,
							     .rows = rows,
							     .evaluate = evaluate,
							     .arg = &n,
							     .n_threads = n_threads },
				  &drawn);
	for (size_t i = 0; i < n && !ret; i++)
		if (r->parties[r->crosstalk[i].waiter].n >= VPROF_BOUNDS_MIN) {
			vprof_bootstrap_bounds_within(&drawn, 2 * i, 0, INFINITY, &r->crosstalk[i].mean_low,
						      &r->crosstalk[i].mean_high);
			vprof_bootstrap_bounds_within(&drawn, 2 * i + 1, 0, 1, &r->crosstalk[i].share_low,
						      &r->crosstalk[i].share_high);
		}
	vprof_bootstrap_release(&drawn);
	free(rows);
	return ret;
}
