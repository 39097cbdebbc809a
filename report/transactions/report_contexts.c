/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/transactions/report_contexts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/results/results_json.h"
#include "common/files.h"
#include "report/format_value.h"
#include "report/report_parts.h"
#include "report/transactions/report_crosstalk.h"

#define DEFAULT_CONTEXTS 5
#define INDENT 10
#define SHOWN 0.01	  /* of the context's time, of a node of its tree */
#define SHOWN_ALONE 0.002 /* ... where one context alone is shown */
#define LINES_MAX 40	  /* of a context's tree */
#define LINES_ALONE 400
#define SAMPLED_SHOWN 0.03 /* of the context's samples */
#define SAMPLED_ALONE 0.005
#define SAMPLED_LINES_MAX 12
#define PASSED_THROUGH 0.95 /* of a function's samples, in one that it calls */
#define SAMPLED_DEPTH 128
#define MIN_BOUNDED 60	  /* intervals that bounds need */
#define UNKNOWN_TOLD 0.05 /* of the intervals without all stages known, to be told */

int vprof_contexts_is_empty(const struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_contexts; i++)
		if (!r->contexts[i].is_unknown || r->contexts[i].n_stages > 1)
			return 0;
	return 1;
}

/* "40 % (37 .. 43 %)"; without bounds, or with some that are the same in these figures, the share alone. */
static void add_share(double share, double low, double high, struct vprof_text *t)
{
	struct vprof_text bounds = VPROF_TEXT_INIT;

	vprof_text_add(t, vprof_format_percent(share).s);
	if (isfinite(low) && isfinite(high)) {
		vprof_bound_share_words(low, high, &bounds);
		if (strstr(bounds.s ? bounds.s : "", ".."))
			vprof_text_addf(t, " (%s)", bounds.s);
	}
	t->failed |= bounds.failed;
	vprof_text_release(&bounds);
}

static void add_mean(const struct vprof_context *x, struct vprof_text *t)
{
	vprof_text_addf(t, "mean %s", vprof_format_duration(x->mean_ns).s);
	if (isfinite(x->mean_low) && isfinite(x->mean_high)) {
		vprof_text_add(t, " (");
		vprof_bound_time_words(x->mean_low, x->mean_high, t);
		vprof_text_add(t, ")");
	}
}

/* How many contexts there are and which takes most, in one sentence without an end; else why there is none. */
static void add_answer(const struct vprof_results *r, struct vprof_text *out)
{
	const char *interval = r->interval && *r->interval ? r->interval : "interval";
	const struct vprof_context *x = r->contexts;
	uint64_t n = r->n_contexts + r->n_contexts_left;

	if (vprof_contexts_is_empty(r)) {
		vprof_text_addf(out, "no call paths of %s are known", interval);
		return;
	}
	vprof_text_addf(out, "%s: %s intervals of ", interval, vprof_format_count(r->n_complete).s);
	if (n == 1) {
		vprof_text_addf(out, "one context, %s", x->name);
	} else {
		vprof_text_addf(out, "%s contexts; ", vprof_format_count(n).s);
		add_share(x->share, x->share_low, x->share_high, out);
		vprof_text_addf(out, " of their time is that of %s", x->name);
	}
}

static void add_advice(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	uint64_t n = 0, n_unknown = 0, n_cut = 0, n_few = 0;

	for (size_t i = 0; i < r->n_contexts; i++) {
		n += r->contexts[i].n;
		n_unknown += r->contexts[i].is_unknown ? r->contexts[i].n : 0;
		n_cut += r->contexts[i].is_cut ? r->contexts[i].n : 0;
		n_few += r->contexts[i].n < MIN_BOUNDED;
	}
	if (vprof_contexts_is_empty(r))
		vprof_text_add(&t,
			       "the run was recorded without them, or its programs have no symbols any more: record it "
			       "again with vprof run. ");
	else if (n && (double)n_unknown > UNKNOWN_TOLD * (double)n)
		vprof_text_addf(
			&t,
			"%s of the intervals passed a stage whose call path is not known (?): a thread has more "
			"than 512 of them, or its stacks cannot be walked quickly enough. ",
			vprof_format_percent((double)n_unknown / (double)n).s);
	if (n_cut)
		vprof_text_addf(&t, "%s intervals may have passed more stages than are told apart. ",
				vprof_format_count(n_cut).s);
	if (n_few && !vprof_contexts_is_empty(r))
		vprof_text_addf(
			&t,
			"%s of %s contexts %s fewer than %d intervals, too few for bounds: what is told of %s is "
			"inconclusive. Record a longer run. ",
			vprof_format_count(n_few).s, vprof_format_count(r->n_contexts).s, n_few == 1 ? "has" : "have",
			MIN_BOUNDED, n_few == 1 ? "it" : "them");
	if (t.len)
		vprof_report_labelled_text(style, "warning", &t, out);
	else
		vprof_text_release(&t);
}

static const char *kind_of(const struct vprof_profile_node *n)
{
	switch (n->kind) {
	case VPROF_NODE_INTERVAL:
		return "";
	case VPROF_NODE_WAIT:
		return " (wait)";
	case VPROF_NODE_QUEUED:
	case VPROF_NODE_PREEMPTED:
		return "";
	default:
		return n->is_blame ? " (others)" : "";
	}
}

static void add_line(const struct vprof_style *style, const struct vprof_context *x, const struct vprof_profile_node *n,
		     struct vprof_text *out)
{
	int is_stage = n->kind == VPROF_NODE_INTERVAL;

	vprof_text_addf(out, "%*s", INDENT, vprof_format_percent(n->total_ns / x->total_ns).s);
	vprof_text_addf(out, "%8s", n->own_ns > 0 ? vprof_format_percent(n->own_ns / x->total_ns).s : "-");
	vprof_text_addf(out, "  %*s%s%s", (int)(2 * (n->depth < 40 ? n->depth : 40)), "",
			is_stage ? vprof_ink(style, VPROF_INK_BOLD) : "", is_stage ? "-> " : "");
	vprof_format_clean(out, n->name);
	vprof_text_addf(out, "%s%s", is_stage ? vprof_ink(style, VPROF_INK_PLAIN) : "", kind_of(n));
	if (*n->file) {
		vprof_text_add(out, vprof_ink(style, VPROF_INK_DIM));
		vprof_text_add(out, "  ");
		vprof_format_clean(out, vprof_path_name(n->file));
		vprof_text_addf(out, ":%d%s", n->line, vprof_ink(style, VPROF_INK_PLAIN));
	}
	vprof_text_add(out, "\n");
}

static void add_tree(const struct vprof_style *style, const struct vprof_context *x, int is_alone,
		     struct vprof_text *out)
{
	size_t n_lines = 0, n_more = 0;

	vprof_text_addf(out, "%s%*s%8s%s\n", vprof_ink(style, VPROF_INK_DIM), INDENT, "total", "own",
			vprof_ink(style, VPROF_INK_PLAIN));
	for (size_t i = 0; i < x->n_profile; i++) {
		if (!(x->profile[i].total_ns >= (is_alone ? SHOWN_ALONE : SHOWN) * x->total_ns))
			continue;
		if (n_lines++ < (is_alone ? LINES_ALONE : LINES_MAX))
			add_line(style, x, &x->profile[i], out);
		else
			n_more++;
	}
	if (n_more)
		vprof_text_addf(out, "%*s%zu more lines: %s\n", INDENT, "", n_more,
				is_alone ? "--json" : "--context shows one context alone");
}

/* Does the function only lead to the one that follows it? */
static int is_passed_through(const struct vprof_context *x, size_t i)
{
	const struct vprof_sampled_function *f = &x->sampled[i];

	return i + 1 < x->n_sampled && f[1].depth == f->depth + 1 && (double)f[1].n >= PASSED_THROUGH * (double)f->n;
}

static void add_sampled(const struct vprof_style *style, const struct vprof_sampled_function *f, uint64_t n,
			uint32_t depth, struct vprof_text *out)
{
	vprof_text_addf(out, "%*s", INDENT, vprof_format_percent((double)f->n / (double)n).s);
	vprof_text_addf(out, "%8s", f->n_own ? vprof_format_percent((double)f->n_own / (double)n).s : "-");
	vprof_text_addf(out, "  %*s", (int)(2 * (depth < 40 ? depth : 40)), "");
	vprof_format_clean(out, f->name);
	vprof_text_add(out, vprof_ink(style, VPROF_INK_DIM));
	vprof_text_add(out, *f->name == '[' ? "" : "  "); /* code in no file */
	vprof_format_clean(out, *f->name == '[' ? "" : *f->file ? f->file : "kernel");
	vprof_text_addf(out, "%s\n", vprof_ink(style, VPROF_INK_PLAIN));
}

/* Functions that only lead to others, such as main() and loops, are left out, and what they lead to stands in their
 * place. */
static void add_samples(const struct vprof_style *style, const struct vprof_context *x, int is_alone,
			struct vprof_text *out)
{
	uint32_t left_out[SAMPLED_DEPTH] = { 0 }; /* of the functions around, those left out */
	uint64_t n = 0;
	size_t n_lines = 0;

	for (size_t i = 0; i < x->n_sampled; i++)
		n += x->sampled[i].depth ? 0 : x->sampled[i].n;
	if (!n)
		return;
	vprof_text_addf(out, "%s%*s%8s  of %s samples, by function%s\n", vprof_ink(style, VPROF_INK_DIM), INDENT,
			"total", "own", vprof_format_count(n).s, vprof_ink(style, VPROF_INK_PLAIN));
	for (size_t i = 0; i < x->n_sampled; i++) {
		const struct vprof_sampled_function *f = &x->sampled[i];
		uint32_t depth = f->depth < SAMPLED_DEPTH - 1 ? f->depth : SAMPLED_DEPTH - 2;

		left_out[depth + 1] = left_out[depth] + (uint32_t)is_passed_through(x, i);
		if (left_out[depth + 1] > left_out[depth] ||
		    (double)f->n < (is_alone ? SAMPLED_ALONE : SAMPLED_SHOWN) * (double)n)
			continue;
		if (n_lines++ < (is_alone ? LINES_ALONE : SAMPLED_LINES_MAX))
			add_sampled(style, f, n, f->depth - left_out[depth], out);
	}
	if (n_lines > (is_alone ? LINES_ALONE : SAMPLED_LINES_MAX))
		vprof_text_addf(out, "%*s%zu more lines: %s\n", INDENT, "",
				n_lines - (is_alone ? LINES_ALONE : SAMPLED_LINES_MAX),
				is_alone ? "--json" : "--context shows one context alone");
}

/* What is told of the context as a whole; shares of the tree's lines are those of this run. */
static void add_figures(const struct vprof_style *style, const struct vprof_context *x, struct vprof_text *out)
{
	const struct {
		const char *name;
		double ns, low, high;
	} parts[] = { { "running", x->running_ns, x->running_low, x->running_high },
		      { "waiting", x->waiting_ns, x->waiting_low, x->waiting_high },
		      { "queued", x->queued_ns, x->queued_low, x->queued_high },
		      { "preempted", x->preempted_ns, x->preempted_low, x->preempted_high } };
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "%s, ", vprof_format_count(x->n).s);
	add_mean(x, &t);
	vprof_text_add(&t, ", ");
	add_share(x->share, x->share_low, x->share_high, &t);
	vprof_text_addf(&t, " of the time of all%s", x->n < MIN_BOUNDED ? " (inconclusive: too few for bounds)" : "");
	vprof_report_labelled_text(style, "", &t, out);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		vprof_text_addf(&t, "%s%s ", i ? ", " : "", parts[i].name);
		add_share(parts[i].ns / x->total_ns, parts[i].low, parts[i].high, &t);
	}
	vprof_report_labelled_text(style, "", &t, out);
}

static void add_context(const struct vprof_style *style, const struct vprof_results *r, size_t i, int is_alone,
			struct vprof_text *out)
{
	const struct vprof_context *x = &r->contexts[i];
	struct vprof_text t = VPROF_TEXT_INIT;
	char label[24];

	snprintf(label, sizeof label, "%zu", i + 1);
	vprof_text_add(out, vprof_ink(style, VPROF_INK_BOLD));
	vprof_report_labelled(style, label, x->name, out);
	vprof_text_add(out, vprof_ink(style, VPROF_INK_PLAIN));
	add_figures(style, x, out);
	for (size_t k = 0; k < x->n_stages; k++) {
		const struct vprof_context_stage *s = &x->stages[k];

		vprof_text_addf(&t, "%zu. %s%s%s", k + 1, s->program, *s->program ? ": " : "",
				*s->path ? s->path : "the call path is not known");
		vprof_report_labelled_text(style, "", &t, out);
	}
	if (x->total_ns > 0)
		add_tree(style, x, is_alone, out);
	add_samples(style, x, is_alone, out);
	vprof_text_add(out, "\n");
}

/* Its place, n_contexts: there is none. */
static size_t find_context(const struct vprof_results *r, const char *wanted)
{
	char *end;
	unsigned long number = strtoul(wanted, &end, 10);

	for (size_t i = 0; i < r->n_contexts; i++)
		if (!strcmp(r->contexts[i].name, wanted))
			return i;
	return *wanted >= '0' && *wanted <= '9' && !*end && number && number <= r->n_contexts ? number - 1 :
												r->n_contexts;
}

int vprof_report_contexts(const struct vprof_results *r, const char *wanted, const struct vprof_report_options *o,
			  struct vprof_text *out, struct vprof_error *err)
{
	struct vprof_style style = vprof_report_style(o);
	size_t top = o->top ? o->top : DEFAULT_CONTEXTS, only = wanted ? find_context(r, wanted) : 0;
	struct vprof_text t = VPROF_TEXT_INIT;

	if (wanted && only == r->n_contexts)
		return vprof_error_set(
			err, VPROF_ERR_MISSING,
			"no context \"%s\" in run %s: give one of the names or numbers that vprof report "
			"transactions --by context shows",
			wanted, r->run ? r->run : "");
	add_answer(r, &t);
	vprof_report_labelled_text(&style, "", &t, out);
	add_advice(&style, r, out);
	vprof_report_effect(&style, r, out);
	vprof_text_add(out, "\n");
	for (size_t i = only; i < r->n_contexts && i < (wanted ? only + 1 : top); i++)
		add_context(&style, r, i, wanted != NULL, out);
	if (!wanted && r->n_contexts > top)
		vprof_text_addf(out, "%*s%zu lighter contexts (--top shows them)\n", INDENT, "", r->n_contexts - top);
	return VPROF_OK;
}

cJSON *vprof_contexts_json(const struct vprof_results *r)
{
	return vprof_results_json_part(r, (const char *[]){ "version", "interval", "run", "n_runs", "n_complete",
							    "n_not_drawn", "warnings", "contexts", "n_contexts_left",
							    NULL });
}
