/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/latency/watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/latency/input/latency_input.h"
#include "analysis/latency/input/transfers.h"
#include "analysis/latency/item_evidence.h"
#include "report/format_value.h"

/* One in so many functions seen of a file is the project's, or there is no file with more of them. */
#define OWN_SHARE 4
#define RARE 10 /* requests; fewer say less than the code does */

struct seen_file {
	const char *name;
	size_t n, n_project;
};

/* Heap array, NULL without memory. */
static struct seen_file *count_files(const struct vprof_latency_history *h, const unsigned char *is_named,
				     uint32_t *file_of, size_t *n_files)
{
	struct seen_file *files = calloc(h->functions.n + 1, sizeof *files);
	size_t n = 0;

	for (size_t i = 0; files && i < h->functions.n; i++) {
		const struct vprof_latency_function *f = &h->functions.v[i];
		size_t at = 0;

		while (at < n && strcmp(files[at].name, f->file))
			at++;
		n += at == n;
		files[at].name = f->file;
		files[at].n += f->layer != VPROF_LATENCY_KERNEL;
		files[at].n_project += is_named[i];
		file_of[i] = (uint32_t)at;
	}
	*n_files = n;
	return files;
}

/* What each of the history's functions is to the project: enum vprof_evidence_function. A function of one of its names
 * in another program's file is not the project's. NULL without memory. */
static unsigned char *find_project(const struct vprof_latency_history *h, const struct vprof_facts *facts)
{
	unsigned char *is_project = calloc(h->functions.n + 1, 1);
	uint32_t *file_of = calloc(h->functions.n + 1, sizeof *file_of);
	struct seen_file *files = NULL;
	size_t n_files = 0, most = 0;

	for (size_t i = 0; is_project && i < h->functions.n; i++)
		is_project[i] = h->functions.v[i].layer != VPROF_LATENCY_KERNEL && !h->functions.v[i].is_start &&
				vprof_watched_function(facts, h->functions.v[i].name) != 0;
	if (is_project && file_of)
		files = count_files(h, is_project, file_of, &n_files);
	for (size_t i = 0; files && i < n_files; i++)
		most = files[i].n_project > most ? files[i].n_project : most;
	for (size_t i = 0; files && i < h->functions.n; i++) {
		const struct seen_file *file = &files[file_of[i]];
		int is_own = file->n_project && h->functions.v[i].layer != VPROF_LATENCY_KERNEL &&
			     (file->n_project == most || file->n_project * OWN_SHARE >= file->n);

		is_project[i] = !is_own	      ? VPROF_EVIDENCE_FOREIGN :
				is_project[i] ? VPROF_EVIDENCE_CANDIDATE :
						VPROF_EVIDENCE_OWN;
	}
	if (!files) {
		free(is_project);
		is_project = NULL;
	}
	free(files);
	free(file_of);
	return is_project;
}

static const char *word_of(enum vprof_evidence_confidence confidence)
{
	return confidence == VPROF_EVIDENCE_HIGH ? "high" : confidence == VPROF_EVIDENCE_MEDIUM ? "medium" : "low";
}

static size_t keep_names(struct vprof_watch *w, const struct vprof_latency_history *h, const uint32_t *functions,
			 uint32_t n, const char **names)
{
	for (uint32_t i = 0; i < n; i++)
		names[i] = vprof_strings_keep(&w->strings, h->functions.v[functions[i]].name);
	return n;
}

static void describe_items(char *why, size_t size, const struct vprof_request_evidence *e)
{
	int n = snprintf(
		why, size,
		"seen under load: nothing was asked for over connections; %s calls of it, one after the other, took %s of "
		"its threads' time",
		vprof_format_count(e->n_requests).s, vprof_format_percent(e->share).s);

	if (e->n_agreeing && n > 0 && (size_t)n < size)
		snprintf(why + n, size - (size_t)n,
			 "; %s of them opened %u file%s each and read, %s were opened in between",
			 vprof_format_count(e->n_agreeing).s, e->n_opened, e->n_opened == 1 ? "" : "s",
			 vprof_format_count(e->n_outside).s);
}

static void describe(struct vprof_watch *w, const struct vprof_request_evidence *e,
		     const struct vprof_latency_history *h)
{
	char why[512];

	switch (e->kind) {
	case VPROF_EVIDENCE_CALL:
		snprintf(
			why, sizeof why,
			"seen under load: one call of it, from the receipt or right behind it, enclosed the reply, and no other request's, of %s of %s requests",
			vprof_format_count(e->n_agreeing).s, vprof_format_count(e->n_requests).s);
		break;
	case VPROF_EVIDENCE_SPLIT:
		snprintf(
			why, sizeof why,
			"seen under load: %s of %s requests were received in a call of it and replied to in one of the other, of their "
			"own each",
			vprof_format_count(e->n_agreeing).s, vprof_format_count(e->n_requests).s);
		break;
	default:
		describe_items(why, sizeof why, e);
	}
	w->is_found = 1;
	w->seen = (struct vprof_watched){ .why = vprof_strings_keep(&w->strings, why),
					  .confidence = word_of(e->confidence),
					  .is_split = e->kind == VPROF_EVIDENCE_SPLIT,
					  .is_left = e->is_left,
					  .in_processes = (e->kind == VPROF_EVIDENCE_CALL || e->is_in_call) &&
							  e->has_processes,
					  .is_rare = e->kind != VPROF_EVIDENCE_ITEMS && e->n_agreeing < RARE,
					  .is_guess = e->kind == VPROF_EVIDENCE_ITEMS && !e->n_agreeing,
					  .begins_at_exit = e->kind == VPROF_EVIDENCE_SPLIT && e->waits };
	w->seen.n_begins = keep_names(w, h, e->begins, e->n_begins, w->seen.begins);
	w->seen.n_ends = keep_names(w, h, e->ends, e->n_ends, w->seen.ends);
}

/* Without memory a name is missing. */
static int is_complete(const struct vprof_watched *w)
{
	for (size_t i = 0; i < w->n_begins; i++)
		if (!w->begins[i])
			return 0;
	for (size_t i = 0; i < w->n_ends; i++)
		if (!w->ends[i])
			return 0;
	return w->why != NULL;
}

static const char *say_not(const struct vprof_request_evidence *e, const struct vprof_transfers *transfers)
{
	if (e->n_unplaced)
		return "requests were seen, but not where on the stack: see vprof report latency";
	if (transfers->v.n)
		return "no request with a reply was seen, followed by another: is the load long enough?";
	return "nothing was asked for over connections, and no function repeats that has half of the time";
}

static int find(struct vprof_watch *w, const struct vprof_latency_input *input, const struct vprof_trace *trace,
		const struct vprof_facts *facts, struct vprof_error *err)
{
	struct vprof_annotated_tree tree = { .nodes = NULL };
	struct vprof_transfers transfers = { .v = { NULL, 0, 0 } };
	struct vprof_request_evidence e = { .kind = VPROF_EVIDENCE_NONE };
	unsigned char *is_project = find_project(&input->history, facts);
	int rc = is_project ? vprof_annotated_tree_build(&tree, &input->history, 0, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_transfers_read(&transfers, trace, err);
	if (!rc && vprof_request_evidence_find(&e, &tree, transfers.v.v, transfers.v.n, is_project))
		rc = vprof_error_no_memory(err);
	if (!rc && e.kind == VPROF_EVIDENCE_NONE && !e.n_transfers && vprof_item_evidence_find(&e, &tree, is_project))
		rc = vprof_error_no_memory(err);
	if (!rc && e.kind != VPROF_EVIDENCE_NONE)
		describe(w, &e, &input->history);
	else if (!rc)
		w->why_not = say_not(&e, &transfers);
	if (!rc && w->is_found && !is_complete(&w->seen))
		rc = vprof_error_no_memory(err);
	free(is_project);
	vprof_transfers_release(&transfers);
	vprof_annotated_tree_release(&tree);
	return rc;
}

int vprof_watch_read(struct vprof_watch *w, const char *dir, const struct vprof_facts *facts, struct vprof_error *err)
{
	struct vprof_latency_input input;
	struct vprof_trace *trace = NULL;
	int rc = vprof_trace_open(&trace, dir, err);

	*w = (struct vprof_watch){ .why_not = "" };
	if (!rc) {
		rc = vprof_latency_input_read(&input, trace, err);
		if (!rc)
			rc = find(w, &input, trace, facts, err);
		vprof_latency_input_release(&input);
	}
	vprof_trace_free(trace);
	return rc;
}

int vprof_watch_name(struct vprof_watch *w, const char *function, const char *run, struct vprof_error *err)
{
	char why[512];

	snprintf(why, sizeof why, "named as the interval of %.200s: its calls are what was recorded", run);
	w->is_found = 1;
	w->seen = (struct vprof_watched){ .why = vprof_strings_keep(&w->strings, why),
					  .confidence = "high",
					  .n_begins = 1 };
	w->seen.begins[0] = vprof_strings_keep(&w->strings, function);
	return is_complete(&w->seen) ? VPROF_OK : vprof_error_no_memory(err);
}

void vprof_watch_release(struct vprof_watch *w)
{
	vprof_strings_release(&w->strings);
}
