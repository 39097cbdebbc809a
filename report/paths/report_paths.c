/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/paths/report_paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/format_value.h"
#include "report/paths/paths_answer.h"
#include "report/paths/visit_lines.h"
#include "report/report_parts.h"

#define DEFAULT_PATTERNS 10
#define NAME_COLUMNS 34
#define CAUSES_SHOWN 5
#define CALLS_SHOWN 10

/* In a sentence, and what makes it less sure. */
static void add_answer(const struct vprof_style *style, const struct vprof_requests_results *r, struct vprof_text *out)
{
	struct vprof_answer answer = VPROF_ANSWER_INIT;

	vprof_paths_answer(r, &answer);
	vprof_answer_print(style, &answer, out);
	vprof_answer_release(&answer);
}

static void add_counts(const struct vprof_style *style, const struct vprof_requests_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "%s in %s: %s certain", vprof_format_count(r->n_requests).s,
			vprof_format_duration(r->duration_ns).s, vprof_format_count(r->n_certain).s);
	if (r->n_inferred)
		vprof_text_addf(&t, ", %s inferred (each with a confidence of %s or more)",
				vprof_format_count(r->n_inferred).s, vprof_format_percent(r->least_confidence).s);
	vprof_text_addf(&t, ", %s ambiguous", vprof_format_count(r->n_ambiguous).s);
	if (r->n_ambiguous)
		vprof_text_add(&t, " (kept apart: no figure contains them)");
	if (r->n_torn)
		vprof_text_addf(&t, ", %s with parts missing", vprof_format_count(r->n_torn).s);
	if (r->n_cut)
		vprof_text_addf(&t, ", %s without a reply", vprof_format_count(r->n_cut).s);
	vprof_report_labelled_text(style, "requests", &t, out);
	vprof_text_add(out, "\n");
}

static void add_tiers(const struct vprof_style *style, const struct vprof_requests_results *r, struct vprof_text *out)
{
	if (!r->n_tiers)
		return;
	vprof_text_add(out, vprof_ink(style, VPROF_INK_BOLD));
	vprof_format_cut(out, "tier", NAME_COLUMNS, 1, NAME_COLUMNS);
	vprof_text_addf(out, "%9s %9s %9s %9s %9s %9s\n", "visits", "p50", "p99", "own time", "variance", "tail");
	vprof_text_add(out, vprof_ink(style, VPROF_INK_PLAIN));
	for (size_t i = 0; i < r->n_tiers; i++) {
		const struct vprof_requests_tier *tier = &r->tiers[i];
		char visits[32] = "";

		if (!tier->is_transit)
			snprintf(visits, sizeof visits, "%.2f", tier->visits_per_request);
		vprof_format_cut(out, tier->name, NAME_COLUMNS - 1, 1, NAME_COLUMNS);
		vprof_text_addf(out, "%9s %9s %9s %9s %9s %9s\n", visits,
				tier->is_transit ? "" : vprof_format_duration(tier->response.p50_ns).s,
				tier->is_transit ? "" : vprof_format_duration(tier->response.p99_ns).s,
				vprof_format_duration(tier->own_ns).s, vprof_format_percent(tier->share).s,
				vprof_format_percent(tier->tail_share).s);
	}
	vprof_text_add(out, "\n");
}

static int has_calls(const struct vprof_requests_results *r)
{
	for (size_t i = 0; i < r->n_calls; i++)
		if (r->calls[i].from != VPROF_NONE)
			return 1;
	return 0;
}

static int by_share(const void *a, const void *b)
{
	const struct vprof_requests_call *x = *(const struct vprof_requests_call *const *)a,
					 *y = *(const struct vprof_requests_call *const *)b;

	if (isfinite(x->share) && isfinite(y->share) && x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (isfinite(x->share) != isfinite(y->share))
		return isfinite(x->share) ? -1 : 1;
	return x < y ? -1 : x > y; /* as they are */
}

static void add_call(const struct vprof_requests_results *r, const struct vprof_requests_call *c,
		     struct vprof_text *out)
{
	struct vprof_text name = VPROF_TEXT_INIT;
	char n[32];

	vprof_text_addf(&name, "%s > %s", r->tiers[c->from].name, r->tiers[c->to].name);
	snprintf(n, sizeof n, "%.2f", (double)c->n / (double)r->latency.n);
	vprof_format_cut(out, name.failed ? "" : name.s, NAME_COLUMNS - 1, 1, NAME_COLUMNS);
	vprof_text_addf(out, "%9s %9s %9s %9s %9s %9s\n", n, vprof_format_duration(c->mean_ns).s,
			isfinite(c->transit_ns) ? vprof_format_duration(c->transit_ns).s : "-",
			isfinite(c->queued_ns) ? vprof_format_duration(c->queued_ns).s : "-",
			vprof_format_percent(c->share).s, vprof_format_percent(c->tail_share).s);
	vprof_text_release(&name);
}

/* Which tier's calls of which make requests slow, those that explain most first. */
static void add_calls(const struct vprof_style *style, const struct vprof_requests_results *r, struct vprof_text *out)
{
	const struct vprof_requests_call **calls = calloc(r->n_calls + 1, sizeof(struct vprof_requests_call *));
	size_t n = 0;

	for (size_t i = 0; calls && i < r->n_calls; i++)
		if (r->calls[i].from != VPROF_NONE)
			calls[n++] = &r->calls[i];
	if (n) {
		qsort(calls, n, sizeof *calls, by_share);
		vprof_text_add(out, vprof_ink(style, VPROF_INK_BOLD));
		vprof_format_cut(out, "call", NAME_COLUMNS, 1, NAME_COLUMNS);
		vprof_text_addf(out, "%9s %9s %9s %9s %9s %9s\n", "calls", "mean", "transit", "in queue", "variance",
				"tail");
		vprof_text_add(out, vprof_ink(style, VPROF_INK_PLAIN));
		for (size_t i = 0; i < n && i < CALLS_SHOWN; i++)
			add_call(r, calls[i], out);
		if (n > CALLS_SHOWN)
			vprof_text_addf(out, "%s more: --json\n", vprof_format_count(n - CALLS_SHOWN).s);
		vprof_text_add(out, "\n");
	}
	free(calls);
}

/* What the columns mean. */
static void add_legend(const struct vprof_style *style, const struct vprof_requests_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	if (!r->n_tiers)
		return;
	vprof_text_add(
		&t, "visits: of each request, in the mean; p50, p99: of a visit, with what it calls; own time: of each "
		    "request in the mean, without what is called: these, and the shares of variance and tail, add up");
	if (has_calls(r))
		vprof_text_add(
			&t, "; calls: of each request, in the mean; with all that they call, so they overlap; transit "
			    "and queue of both ways");
	for (size_t i = 0; i < r->n_tiers; i++)
		if (r->tiers[i].is_queue)
			vprof_text_add(&t,
				       "; in receive queues: what was sent had come, and its receiver had not read it "
				       "yet: at least so long");
	vprof_report_labelled_text(style, "", &t, out);
	vprof_text_add(out, "\n");
}

static void add_patterns(const struct vprof_style *style, const struct vprof_requests_results *r, size_t top,
			 struct vprof_text *out)
{
	for (size_t i = 0; i < r->n_patterns && i < top; i++) {
		const struct vprof_requests_pattern *p = &r->patterns[i];
		struct vprof_text t = VPROF_TEXT_INIT;

		vprof_text_addf(&t, "%s  p50 %s   ", p->path, vprof_format_duration(p->latency.p50_ns).s);
		vprof_text_addf(&t, "p99 %s   (%s)", vprof_format_duration(p->latency.p99_ns).s,
				vprof_format_count(p->latency.n).s);
		vprof_report_labelled_text(style, vprof_format_percent((double)p->latency.n / (double)r->latency.n).s,
					   &t, out);
	}
	if (r->n_patterns_all > top && top) {
		struct vprof_text t = VPROF_TEXT_INIT;

		vprof_text_addf(&t, "%s more paths", vprof_format_count(r->n_patterns_all - top).s);
		vprof_report_labelled_text(style, "", &t, out);
	}
	vprof_text_add(out, "\n");
}

/* The functions of the tiers, where the same run has intervals. */
static void add_causes(const struct vprof_style *style, const struct vprof_requests_results *r,
		       const struct vprof_results *of_run, struct vprof_text *out)
{
	size_t n = 0;

	for (size_t i = 0; of_run && i < of_run->n_causes && n < CAUSES_SHOWN; i++) {
		const struct vprof_tier *tier = vprof_results_tier_of(of_run, i);
		const struct vprof_cause *c = &of_run->causes[i];
		struct vprof_text t = VPROF_TEXT_INIT;
		int is_here = 0;

		for (size_t k = 0; tier && k < r->n_tiers; k++)
			is_here |= !strcmp(r->tiers[k].name, tier->name);
		if (!is_here)
			continue;
		vprof_text_addf(&t, "%sin %s: %zu, %s", n ? "" : "vprof report finds ", tier->name, i + 1, c->name);
		if (*c->file)
			vprof_text_addf(&t, " (%s:%d)", c->file, c->line);
		vprof_text_addf(&t, ", %s of the variance of %s", vprof_format_percent(c->share).s, of_run->interval);
		vprof_report_labelled_text(style, n++ ? "" : "causes", &t, out);
	}
	if (n)
		vprof_text_add(out, "\n");
}

static void add_links(const struct vprof_style *style, const struct vprof_requests_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	if (!r->n_links)
		return;
	vprof_text_add(&t, "a call belongs to the request that is ");
	for (size_t i = 0; i < r->n_links; i++)
		vprof_text_addf(&t, "%s%s: %s", i ? "; " : "", r->links[i].how, vprof_format_count(r->links[i].n).s);
	vprof_report_labelled_text(style, "links", &t, out);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void add_unusual_connections(const struct vprof_requests_results *r, struct vprof_text *t)
{
	if (r->n_half_closed)
		vprof_text_addf(t, "; %s connection%s whose one end had closed its direction went on in the other",
				vprof_format_count(r->n_half_closed).s, plural(r->n_half_closed));
	if (r->n_encrypted)
		vprof_text_addf(t, "; %s connection%s read as TLS is: its handshakes count as requests without calls",
				vprof_format_count(r->n_encrypted).s, plural(r->n_encrypted));
	if (r->n_resent)
		vprof_text_addf(t, "; TCP sent %s packet%s of %s connection%s again, which count%s once",
				vprof_format_count(r->n_resent).s, plural(r->n_resent),
				vprof_format_count(r->n_resent_connections).s, plural(r->n_resent_connections),
				r->n_resent == 1 ? "s" : "");
}

static void add_coverage(const struct vprof_style *style, const struct vprof_requests_results *r,
			 struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "%s sends and receives on %s connections", vprof_format_count(r->n_transfers).s,
			vprof_format_count(r->n_connections).s);
	vprof_text_addf(&t, " (%s seen at one end only)", vprof_format_count(r->n_one_end).s);
	if (r->n_hosts > 1)
		vprof_text_addf(&t, " of %s hosts", vprof_format_count(r->n_hosts).s);
	vprof_text_addf(&t, "; %s events lost", vprof_format_count(r->n_lost).s);
	if (r->n_bytes_missing)
		vprof_text_addf(&t, "; %s bytes that nobody was seen to send or receive",
				vprof_format_count(r->n_bytes_missing).s);
	if (r->n_guessed)
		vprof_text_addf(
			&t, "; %s connection%s not seen being made: by ports, or who spoke first, is told who serves",
			vprof_format_count(r->n_guessed).s, r->n_guessed == 1 ? " was" : "s were");
	if (r->n_inside)
		vprof_text_addf(&t, "; %s socket pair%s within a process left out", vprof_format_count(r->n_inside).s,
				r->n_inside == 1 ? "" : "s");
	if (r->n_translated)
		vprof_text_addf(&t,
				"; of %s connections the addresses were translated on the way, their ends are known by "
				"sequence numbers",
				vprof_format_count(r->n_translated).s);
	add_unusual_connections(r, &t);
	if (r->n_outside)
		vprof_text_addf(&t, "; %s calls by servers outside of requests", vprof_format_count(r->n_outside).s);
	if (r->n_detached)
		vprof_text_addf(&t, "; %s calls of which it is not known for which request they were made",
				vprof_format_count(r->n_detached).s);
	if (*r->missing)
		vprof_text_addf(&t, "; not recorded: %s", r->missing);
	vprof_report_labelled_text(style, "coverage", &t, out);
}

void vprof_report_paths_list(const struct vprof_requests_results *r, int opens_visits, struct vprof_text *out)
{
	for (size_t i = 0; i < r->n_listed; i++) {
		const struct vprof_requests_one *q = &r->requests[i];

		vprof_text_addf(out, "%12.6f s %10s  %-9s  ", q->from_ns / 1e9, vprof_format_duration(q->latency_ns).s,
				q->is_whole ? vprof_request_state_names[q->state] : "torn");
		vprof_format_clean(out, q->client);
		vprof_text_add(out, " > ");
		vprof_format_clean(out, q->path);
		vprof_text_add(out, "\n");
		if (opens_visits)
			vprof_visit_list(r, q, out);
	}
}

/* How far the hosts' clocks are known; only what is told of both directions of a call depends on it. */
static void add_clocks(const struct vprof_style *style, const struct vprof_requests_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	size_t n = 0;

	for (size_t i = 0; i < r->n_clocks; i++) {
		const struct vprof_requests_clock *c = &r->clocks[i];

		if (c->is_known && !c->n_messages)
			continue;
		vprof_text_addf(&t, "%s%s ", n++ ? "; " : "", c->host);
		if (!c->is_known)
			vprof_text_add(&t, "is not known: it exchanged no messages with the others");
		else if (c->error_ns < 0)
			vprof_text_add(&t, "was set during the recording: its messages contradict each other");
		else {
			vprof_text_addf(&t, "is %s %s", vprof_format_duration(fabs(c->ahead_ns)).s,
					c->ahead_ns < 0 ? "behind" : "ahead");
			vprof_text_addf(&t, " (within %s), drift %.1f ppm (within %.1f)",
					vprof_format_duration(c->error_ns).s, c->drift * 1e6, c->drift_error * 1e6);
		}
	}
	if (n)
		vprof_report_labelled_text(style, "clocks", &t, out);
	else
		vprof_text_release(&t);
}

void vprof_report_paths(const struct vprof_requests_results *r, const struct vprof_results *of_run,
			const struct vprof_report_options *o, struct vprof_text *out)
{
	struct vprof_style style = vprof_report_style(o);

	add_answer(&style, r, out);
	add_counts(&style, r, out);
	add_patterns(&style, r, o->top ? o->top : DEFAULT_PATTERNS, out);
	add_tiers(&style, r, out);
	add_calls(&style, r, out);
	add_legend(&style, r, out);
	vprof_visit_functions(&style, r, out);
	add_causes(&style, r, of_run, out);
	add_links(&style, r, out);
	add_clocks(&style, r, out);
	add_coverage(&style, r, out);
}
