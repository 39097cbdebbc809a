/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run has as many blocks as its own correlation allows; where all of them together were too many, each has fewer. */
#include "analysis/stats/run_blocks.h"

#include <stdlib.h>

#include "analysis/stats/bootstrap.h"

void vprof_run_blocks_release(struct vprof_run_blocks *b)
{
	free(b->first);
	free(b->run_first);
	*b = (struct vprof_run_blocks){ 0 };
}

static int choose_equal(struct vprof_run_blocks *b, const struct vprof_interval_attributes *a)
{
	size_t length = vprof_bootstrap_block_length(a->ns, a->n);

	if (!length)
		return VPROF_ERR_NOMEM;
	b->n = a->n / length;
	if (b->n < VPROF_BOOTSTRAP_BLOCKS_MIN || a->n < VPROF_BOUNDS_MIN)
		b->n = 1;
	return 0;
}

/* How many blocks each run has, count[n_runs]; their sum, 0 without memory. */
static size_t count_blocks(const struct vprof_interval_attributes *a, size_t *count)
{
	size_t sum = 0, reduced = 0;

	for (size_t k = 0; k < a->n_runs; k++) {
		size_t n = a->run_first[k + 1] - a->run_first[k],
		       length = vprof_bootstrap_block_length(a->ns + a->run_first[k], n);

		if (!length)
			return 0;
		count[k] = n / length > 0 ? n / length : 1;
		sum += count[k];
	}
	for (size_t k = 0; k < a->n_runs && sum > VPROF_BOOTSTRAP_BLOCKS_MAX; k++) {
		count[k] = count[k] * VPROF_BOOTSTRAP_BLOCKS_MAX / sum;
		count[k] += !count[k];
		reduced += count[k];
	}
	return reduced ? reduced : sum;
}

int vprof_run_blocks_choose(struct vprof_run_blocks *b, const struct vprof_interval_attributes *a)
{
	size_t *count = NULL, at = 0;
	int ret = VPROF_ERR_NOMEM;

	*b = (struct vprof_run_blocks){ .n_runs = a->n_runs };
	if (a->n_runs < 2 || a->n < VPROF_BOUNDS_MIN)
		return choose_equal(b, a);
	count = calloc(a->n_runs, sizeof *count);
	b->n = count ? count_blocks(a, count) : 0;
	b->first = malloc((b->n + 1) * sizeof *b->first);
	b->run_first = malloc((a->n_runs + 1) * sizeof *b->run_first);
	if (b->n && b->first && b->run_first) {
		for (size_t k = 0; k < a->n_runs; k++) {
			size_t from = a->run_first[k], n = a->run_first[k + 1] - from;

			b->run_first[k] = at;
			for (size_t i = 0; i < count[k]; i++)
				b->first[at++] = from + n * i / count[k];
		}
		b->run_first[a->n_runs] = at;
		ret = 0;
	}
	free(count);
	return ret;
}
