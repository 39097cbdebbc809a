/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/paths/paths_answer.h"

#include <math.h>

#include "report/format_value.h"

#define NAMED_SHARE 0.2 /* of variance or tail: a tier below it is not called the cause */
#define MANY 0.01	/* of requests or connections: from here on it is a warning */

int vprof_report_paths_is_empty(const struct vprof_requests_results *r)
{
	return !r->latency.n;
}

static const struct vprof_requests_tier *largest(const struct vprof_requests_results *r, int of_tail)
{
	const struct vprof_requests_tier *best = NULL;

	for (size_t i = 0; i < r->n_tiers; i++) {
		double share = of_tail ? r->tiers[i].tail_share : r->tiers[i].share;

		if (isfinite(share) && (!best || share > (of_tail ? best->tail_share : best->share)))
			best = &r->tiers[i];
	}
	return best;
}

static void add_tail_words(const struct vprof_requests_results *r, struct vprof_text *t)
{
	int of_tail = isfinite(r->tail_ns) && r->tail_ns > r->rest_ns;
	const struct vprof_requests_tier *tier = largest(r, of_tail);
	double share = tier ? of_tail ? tier->tail_share : tier->share : 0;

	if (!tier || share < NAMED_SHARE)
		return;
	if (tier->is_transit)
		vprof_text_addf(t, "; %s of ", vprof_format_percent(share).s);
	else
		vprof_text_addf(t, "; %s alone makes %s of ", tier->name, vprof_format_percent(share).s);
	if (of_tail)
		vprof_text_addf(t, "the gap between the slowest 1 %% (%s or longer) and the others",
				vprof_format_duration(r->tail_from_ns).s);
	else
		vprof_text_add(t, "their variance");
	if (tier->is_queue)
		vprof_text_add(t, " is time for which what was sent had come, and its receiver had not read it yet");
	else if (tier->is_transit)
		vprof_text_add(t, " lies between tiers: in networks, queues and buffers");
}

static void add_sentence(const struct vprof_requests_results *r, struct vprof_text *t)
{
	if (vprof_report_paths_is_empty(r)) {
		vprof_text_addf(t, "No request was found of which all is known: %s exchanges on %s connections",
				vprof_format_count(r->n_exchanges).s, vprof_format_count(r->n_connections).s);
		vprof_text_add(t, r->n_exchanges ? "." : ". Record servers while they are under load.");
	} else {
		vprof_text_addf(t, "A request takes %s in the mean (p50 %s, ",
				vprof_format_duration(r->latency.mean_ns).s,
				vprof_format_duration(r->latency.p50_ns).s);
		vprof_text_addf(t, "p99 %s)", vprof_format_duration(r->latency.p99_ns).s);
		add_tail_words(r, t);
		vprof_text_add(t, ".");
	}
}

static int is_many(uint64_t n, uint64_t of)
{
	return n && (double)n >= MANY * (double)of;
}

static void warn_of_gaps(const struct vprof_requests_results *r, struct vprof_answer *answer)
{
	if (*r->missing)
		vprof_text_addf(vprof_answer_warn(answer), "Not recorded: %s.", r->missing);
	if (r->n_lost)
		vprof_text_addf(
			vprof_answer_warn(answer),
			"%s events were lost: record with a larger --memory. Requests that lack a part are left out.",
			vprof_format_count(r->n_lost).s);
	if (r->n_unknown)
		vprof_text_addf(
			vprof_answer_warn(answer),
			"%s sends and receives are of sockets of which nothing else is known: they are left out.",
			vprof_format_count(r->n_unknown).s);
	if (is_many(r->n_torn, r->n_requests))
		vprof_text_addf(vprof_answer_warn(answer), "%s of the requests have parts missing, and are left out.",
				vprof_format_count(r->n_torn).s);
}

static void warn(const struct vprof_requests_results *r, struct vprof_answer *answer)
{
	warn_of_gaps(r, answer);
	if (is_many(r->n_ambiguous, r->n_requests))
		vprof_text_addf(
			vprof_answer_warn(answer),
			"%s of the requests are ambiguous and left out: if they differ from the others, no figure "
			"tells.",
			vprof_format_count(r->n_ambiguous).s);
	if (is_many(r->n_guessed, r->n_connections))
		vprof_text_addf(vprof_answer_warn(answer),
				"%s connection%s not seen being made: ports, or who spoke first, tell who serves.",
				vprof_format_count(r->n_guessed).s, r->n_guessed == 1 ? " was" : "s were");
	for (size_t i = 0, n = 0; i < r->n_clocks && n < 4; i++)
		if (r->clocks[i].is_known && r->clocks[i].error_ns < 0) {
			vprof_text_addf(vprof_answer_warn(answer), "The clock of %s was set during the recording.",
					r->clocks[i].host);
			n++;
		}
}

void vprof_paths_answer(const struct vprof_requests_results *r, struct vprof_answer *answer)
{
	add_sentence(r, &answer->sentence);
	warn(r, answer);
}
