/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run in the formats of other tools (docs/exports.md). One file writes each format; formats.c lists them.
 *
 * Invariant: whatever bytes names hold, what is written is valid in its format: text is UTF-8, and what is no UTF-8
 * becomes U+FFFD. Formats of the trace are bounded by a limit; what was left out stands in the part's note
 * (trace_part.h).
 */
#ifndef VPROF_EXPORT_H
#define VPROF_EXPORT_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/results/requests_results.h"
#include "analysis/results/results.h"
#include "common/error.h"
#include "report/export/trace_part.h"

struct vprof_export {
	const struct vprof_results *results; /* NULL: the run is not analysed; only formats of the trace do without */
	const struct vprof_trace_part *part; /* NULL for formats of the results */
	const struct vprof_requests_results
		*requests;   /* of a recording of sends and receives, with all listed; else NULL */
	const char *root;    /* folder that the files' names are relative to */
	const char *version; /* of vprof */
	FILE *to;	     /* the caller checks ferror */
	uint64_t limit;	     /* of requests */
	uint64_t n_left_out; /* written by a format: more than the part's note tells; of requests all */
};

struct vprof_export_format {
	const char *name, *summary;
	int is_binary;
	enum vprof_part_kind part; /* NONE: made of the results alone */
	uint64_t limit;		   /* of the part, unless another one is asked for; 0: none */
	int (*write)(struct vprof_export *e, struct vprof_error *err);
	int (*write_requests)(struct vprof_export *e, struct vprof_error *err); /* their paths; NULL: it has none */
};

extern const struct vprof_export_format vprof_export_formats[];
extern const size_t vprof_n_export_formats;

const struct vprof_export_format *vprof_export_find(const char *name); /* or NULL */

/* Results whose indices do not fit together (a damaged file): INPUT. */
int vprof_export_check(const struct vprof_results *r, struct vprof_error *err);

/* One for each format; OK or NOMEM. */
int vprof_export_folded_time(struct vprof_export *e, struct vprof_error *err);
int vprof_export_folded_causes(struct vprof_export *e, struct vprof_error *err);
int vprof_export_folded_variance(struct vprof_export *e, struct vprof_error *err);
int vprof_export_folded_contexts(struct vprof_export *e, struct vprof_error *err);
int vprof_export_folded_samples(struct vprof_export *e, struct vprof_error *err);
int vprof_export_pprof(struct vprof_export *e, struct vprof_error *err);
int vprof_export_speedscope(struct vprof_export *e, struct vprof_error *err);
int vprof_export_csv_factors(struct vprof_export *e, struct vprof_error *err);
int vprof_export_csv_nodes(struct vprof_export *e, struct vprof_error *err);
int vprof_export_csv_intervals(struct vprof_export *e, struct vprof_error *err);
int vprof_export_sarif(struct vprof_export *e, struct vprof_error *err);
int vprof_export_perfetto(struct vprof_export *e, struct vprof_error *err);
int vprof_export_chrome(struct vprof_export *e, struct vprof_error *err);
int vprof_export_otlp(struct vprof_export *e, struct vprof_error *err);

/* Paths of requests: those that are whole and not ambiguous, as many of the slowest as `limit`; 0: all. */
int vprof_export_otlp_requests(struct vprof_export *e, struct vprof_error *err);
int vprof_export_perfetto_requests(struct vprof_export *e, struct vprof_error *err);

#endif
