/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_dealt_pairs COMPARISON.json...: how often does the decision of `vprof compare` err over runs of real programs?
 *
 * Each file is what `vprof compare --json` said of runs that were made in turn, of a build and of itself
 * (bench/compare_pairs). Within each pair chance decides which run is whose, 1,000 times with one seed: whatever
 * differs from run to run remains, and there is no difference to be found. Called changed is what has bounds beyond 0
 * at any look, the last one with all the rest of the error, as where time ends a comparison; none ends before because
 * it is settled. Nothing passes or fails.
 */
#include <cjson/cJSON.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats/compare_runs.h"
#include "common/files.h"

#define DEALS 1000

struct pairs {
	struct vprof_run_figures *side[2];
	size_t n;
};

static int read_side(const cJSON *side, struct vprof_run_figures **figures, size_t *n)
{
	const cJSON *run, *runs = cJSON_GetObjectItem(side, "runs");

	*n = 0;
	*figures = calloc((size_t)cJSON_GetArraySize(runs) + 1, sizeof **figures);
	if (!*figures)
		return -1;
	cJSON_ArrayForEach(run, runs)
	{
		struct vprof_run_figures *f = &(*figures)[(*n)++];
		const cJSON *intervals = cJSON_GetObjectItem(run, "n");

		f->n = cJSON_IsNumber(intervals) ? (size_t)intervals->valuedouble : 0;
		for (int i = 0; i < VPROF_FIGURE_COUNT; i++) {
			const cJSON *value = cJSON_GetObjectItem(run, vprof_figure_names[i]);

			f->of[i] = cJSON_IsNumber(value) ? value->valuedouble : NAN;
		}
	}
	return 0;
}

static int read_pairs(const char *path, struct pairs *p)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_error err = { 0 };
	size_t n_new = 0;
	cJSON *root;
	int bad;

	if (vprof_file_read(path, &text, &err)) {
		fprintf(stderr, "bench_dealt_pairs: %s\n", err.message);
		return -1;
	}
	root = cJSON_ParseWithLength(text.s, text.len);
	vprof_text_release(&text);
	bad = !cJSON_IsTrue(cJSON_GetObjectItem(root, "in_turn")) ||
	      read_side(cJSON_GetObjectItem(root, "base"), &p->side[0], &p->n) ||
	      read_side(cJSON_GetObjectItem(root, "new"), &p->side[1], &n_new) || p->n != n_new || !p->n;
	cJSON_Delete(root);
	if (bad)
		fprintf(stderr, "bench_dealt_pairs: %s: not what vprof compare --json says of runs made in turn\n",
			path);
	return bad ? -1 : 0;
}

static int is_changed(const struct pairs *dealt)
{
	for (size_t look = 0; look < VPROF_COMPARE_LOOKS && vprof_compare_looks[look] <= dealt->n; look++) {
		size_t n = vprof_compare_looks[look];
		int is_last = look + 1 == VPROF_COMPARE_LOOKS || vprof_compare_looks[look + 1] > dealt->n;
		struct vprof_change changes[VPROF_FIGURE_COUNT];

		if (vprof_compare_runs(dealt->side[0], n, dealt->side[1], n, 1, vprof_compare_look_error(look, is_last),
				       changes))
			exit(2);
		for (int i = 0; i < VPROF_FIGURE_COUNT; i++)
			if (changes[i].low > 0 || changes[i].high < 0)
				return 1;
	}
	return 0;
}

static int n_changed(const struct pairs *p, gsl_rng *rng)
{
	struct pairs dealt = { { calloc(p->n, sizeof **p->side), calloc(p->n, sizeof **p->side) }, p->n };
	int n = 0;

	if (!dealt.side[0] || !dealt.side[1])
		exit(2);
	for (int k = 0; k < DEALS; k++) {
		for (size_t i = 0; i < p->n; i++) {
			unsigned long swap = gsl_rng_uniform_int(rng, 2);

			dealt.side[swap][i] = p->side[0][i];
			dealt.side[!swap][i] = p->side[1][i];
		}
		n += is_changed(&dealt);
	}
	free(dealt.side[0]);
	free(dealt.side[1]);
	return n;
}

int main(int argc, char **argv)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	long n_all = 0;
	int n_files = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_dealt_pairs COMPARISON.json...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		struct pairs p = { { NULL, NULL }, 0 };
		int n;

		if (read_pairs(argv[i], &p))
			return 2;
		gsl_rng_set(rng, 1);
		n = n_changed(&p, rng);
		printf("%s: %zu pairs, called changed in %d of %d deals\n", argv[i], p.n, n, DEALS);
		n_all += n;
		n_files++;
		free(p.side[0]);
		free(p.side[1]);
	}
	printf("all %d: %.2f %%\n", n_files, 100.0 * (double)n_all / (double)n_files / DEALS);
	gsl_rng_free(rng);
	return 0;
}
