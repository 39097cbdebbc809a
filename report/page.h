/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results as one HTML file that needs nothing else: no network, no other file. Layout and drawing are the page's own
 * script's (report/page/, bundled with d3 when vprof is built); here its data are put together, and made safe to stand
 * in HTML (page_fill.h).
 */
#ifndef VPROF_PAGE_H
#define VPROF_PAGE_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/results/results.h"
#include "common/error.h"
#include "common/facts/facts.h"
#include "common/text.h"

#define VPROF_PAGE_ROUND_FACTORS 3

/* of the drill-down; what is not known is NULL, 0 or NaN */
struct vprof_page_round {
	char *run, *state;
	int is_analysed, inconclusive;
	uint64_t n_complete;
	double mean_ns, sd_ns, p50_ns, p99_ns;
	struct vprof_page_factor {
		char *name;
		double share;
	} top[VPROF_PAGE_ROUND_FACTORS];
	size_t n_top;
};

/* of a cause or a factor */
struct vprof_page_verdict {
	const char *key;
	enum vprof_verdict verdict;
	const char *name, *note, *run;
	const char *date; /* NULL: by rule */
};

/* Another view of the same run. */
struct vprof_page_view {
	const char *name;    /* "waits", "paths", "latency", "interval" */
	const cJSON *data;   /* of its own page, e.g. from vprof_waits_page_data; NULL: there are none */
	const char *missing; /* then: why, and how to get them */
};

struct vprof_page {
	const struct vprof_results *results; /* of a run without intervals: with nothing but its name */
	int views_only;			     /* there are no intervals */
	const struct vprof_page_view *views;
	size_t n_views;
	const struct vprof_facts *facts; /* NULL: excerpts are the lines around a place, without the calls */
	const char *root;		 /* folder that the results' files are relative to */
	const char *version;		 /* of vprof */
	const char *run_date;		 /* "2026-11-21 08:30"; "" when not known */
	int64_t run_time; /* sources younger than this (seconds) are marked as changed since; 0: not known */
	const struct vprof_page_round *rounds;
	size_t n_rounds;
	/* all of the session's, also of factors that are not in the results */
	const struct vprof_page_verdict *verdicts;
	size_t n_verdicts;
	const char *ending; /* why the drill-down is over; NULL or "" */
};

/* Takes over what a round shows of its results. OK or NOMEM. */
int vprof_page_round_fill(struct vprof_page_round *round, const struct vprof_results *r);
void vprof_page_round_release(struct vprof_page_round *round);

/* Appends the page. NOMEM; sources that cannot be read are left out and said to be. */
int vprof_report_page(const struct vprof_page *p, struct vprof_text *out, struct vprof_error *err);

#endif
