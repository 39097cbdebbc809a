/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds. With V the latency's variance, f the time of one factor of the function and s an upper bound of Var(f) / V,
 * the standard deviation of a sum of several is at most the sum of theirs (Cauchy and Schwarz): the share of all
 * together is at most (sum sqrt s)^2, and as 1 - Var(T - f - g) / V differs from the sum of both by 2 Cov(f, g) / V,
 * what would go if all were constant is at most the sum of their bounds and (sum sqrt s)^2 - sum s. An error of what
 * records cost moves f by a time whose standard deviation is at most d = sqrt s - sqrt(s without this error), in units
 * of V's root, and so Cov(T, f) by at most d: 2 d is added.
 *
 * A function is tested once a round, and in a live one twice: at a look and at its end. There, what a bound is above
 * its estimate counts WIDER times, so that both tests together err no more often than one.
 */
#include "cli/drilldown/close.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "common/text.h"
#include "report/format_value.h"

#define NOTICED 0.1  /* of the effect that is too much: less is not worth a function */
#define WIDER 1.1436 /* normal quantiles: of 1 - 0.025 / 2 to that of 1 - 0.025 */

struct closing {
	const struct vprof_results *r;
	const struct vprof_plan *plan;
	const struct vprof_session *s;
	double *records;  /* [n_nodes] of its own calls, in the cost of a record */
	uint8_t *is_gone; /* [n_nodes] not recorded by the next plan */
	double *of_probe; /* [plan->n_probes] sums over the nodes that are not gone; below 0: to stay */
	/* [plan->n_probes + 1] what would go, at most, if all that was closed beneath a function were constant; last:
	 * beneath the interval */
	double *beneath;
	uint8_t *is_caller;	     /* [plan->n_probes + 1] of the probe in question */
	double wider;		     /* bounds, than the results have them */
	double all;		     /* records of all nodes */
	double without_ns, taken_ns; /* the mean latency without recording, and what that took */
	double all_ns;		     /* of it, what all records took */
};

/* A call that was only counted costs less. Beneath calls that stand for others, an estimated number of calls counts as
 * many as were made there. */
static double records_of(const struct vprof_results *r, size_t i)
{
	const struct vprof_node *n = &r->nodes[i];
	double part = 1, counted;

	if (!vprof_node_kind_is_code(n->kind))
		return 0;
	for (size_t at = n->parent; at; at = r->nodes[at].parent)
		if (vprof_node_is_sampled(&r->nodes[at]) && r->nodes[at].n_calls)
			part = (double)r->nodes[at].n_timed / (double)r->nodes[at].n_calls;
	counted = (double)n->n_calls * part - (double)n->n_timed;
	return (double)n->n_timed + (counted > 0 ? counted * VPROF_COST_COUNTED_PART : 0);
}

/* The node's probe, which the plan has; NULL: it has none. */
static const struct vprof_probe *probe_of(const struct closing *c, size_t node)
{
	const struct vprof_node *n = &c->r->nodes[node];

	return vprof_node_kind_is_code(n->kind) ? vprof_plan_probe(c->plan, n->code) : NULL;
}

static void sum_records(struct closing *c)
{
	c->all = 0;
	for (size_t i = 0; i < c->plan->n_probes; i++)
		c->of_probe[i] = c->of_probe[i] < 0 ? -1 : 0;
	for (size_t i = 0; i < c->r->n_nodes; i++) {
		const struct vprof_probe *probe = probe_of(c, i);

		c->all += c->records[i];
		if (probe && !c->is_gone[i] && c->of_probe[probe - c->plan->probes] >= 0)
			c->of_probe[probe - c->plan->probes] += c->records[i];
	}
}

static double saved_ns(const struct closing *c)
{
	double gone = 0;

	for (size_t i = 0; i < c->r->n_nodes; i++)
		gone += c->is_gone[i] ? c->records[i] : 0;
	return c->all > 0 ? c->all_ns * gone / c->all : 0;
}

static double expected_effect(const struct closing *c)
{
	return fmax(0, c->taken_ns - saved_ns(c)) / c->without_ns;
}

/* Adds a factor to those of one function; 0 when there are too many. */
static int add_distinct(uint32_t *factors, size_t *n, uint32_t factor)
{
	for (size_t i = 0; i < *n; i++)
		if (factors[i] == factor)
			return 1;
	if (!factor || *n == VPROF_CODE_FACTORS_MAX)
		return !factor;
	factors[(*n)++] = factor;
	return 1;
}

/* The factors + 1 of a probe's nodes, without what the scheduler took there, and of what is undivided beside them; 0
 * when there are too many. */
static size_t factors_of(const struct closing *c, const struct vprof_probe *probe, uint32_t *factors)
{
	const struct vprof_results *r = c->r;
	size_t n = 0;

	for (size_t i = 1; i < r->n_nodes; i++) {
		const struct vprof_node *parent = &r->nodes[r->nodes[i].parent];

		if (probe_of(c, i) != probe)
			continue;
		if (!add_distinct(factors, &n, r->nodes[i].factor))
			return 0;
		for (uint32_t k = parent->first_child; k < parent->first_child + parent->n_children; k++)
			if (r->nodes[k].kind == VPROF_NODE_UNDIVIDED && !add_distinct(factors, &n, r->nodes[k].factor))
				return 0;
	}
	return n;
}

static double widened(const struct closing *c, double estimate, double high)
{
	return isfinite(estimate) ? estimate + c->wider * (high - estimate) : high;
}

static double share_high(const struct closing *c, const struct vprof_factor *f)
{
	return fmax(0, widened(c, f->code_share, f->code_share_high));
}

static double constant_high(const struct closing *c, const struct vprof_factor *f)
{
	return widened(c, f->code_constant, f->code_constant_high);
}

/* Of the variance, at most: the function's share, and what would go if it were constant. Infinite: not known. */
static double bound_of(const struct closing *c, const struct vprof_probe *probe)
{
	uint32_t factors[VPROF_CODE_FACTORS_MAX];
	size_t n = factors_of(c, probe, factors);
	double deviation = 0, shares = 0, constant = 0;

	for (size_t i = 0; i < n; i++) {
		const struct vprof_factor *f = &c->r->factors[factors[i] - 1];

		if (!isfinite(f->code_share_high) || !isfinite(f->code_constant_high))
			return INFINITY;
		deviation += sqrt(share_high(c, f));
		shares += share_high(c, f);
		constant += constant_high(c, f);
	}
	shares = deviation * deviation - shares;
	return n ? fmax(deviation * deviation, constant + shares) : INFINITY;
}

/* As bound_of, of the part that may be added up: what would go if several were constant is twice their covariance with
 * the latency, less a variance; c + s of each is twice its covariance. */
static double addend_of(const struct closing *c, const struct vprof_probe *probe)
{
	uint32_t factors[VPROF_CODE_FACTORS_MAX];
	size_t n = factors_of(c, probe, factors);
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct vprof_factor *f = &c->r->factors[factors[i] - 1];

		sum += fmax(0, constant_high(c, f) + share_high(c, f));
	}
	return sum;
}

/* Marks the functions that call it, as far as they are measured. */
static void find_callers(const struct closing *c, const struct vprof_probe *probe)
{
	memset(c->is_caller, 0, c->plan->n_probes + 1);
	for (size_t i = 1; i < c->r->n_nodes; i++) {
		const struct vprof_probe *caller = NULL;
		size_t at = c->r->nodes[i].parent;

		if (probe_of(c, i) != probe || c->is_gone[i])
			continue;
		for (; at && !(caller = probe_of(c, at)); at = c->r->nodes[at].parent)
			;
		c->is_caller[caller ? (size_t)(caller - c->plan->probes) : c->plan->n_probes] = 1;
	}
}

/* Each alone cannot matter, but the time of all that are closed beneath one function becomes its own. 1: together with
 * this one, which counts from now on, they cannot matter either. */
static int join(struct closing *c, const struct vprof_probe *probe, double threshold)
{
	double addend = addend_of(c, probe);

	find_callers(c, probe);
	for (size_t i = 0; i <= c->plan->n_probes; i++)
		if (c->is_caller[i] && c->beneath[i] > 0 && !(c->beneath[i] + addend < threshold))
			return 0;
	for (size_t i = 0; i <= c->plan->n_probes; i++)
		c->beneath[i] += c->is_caller[i] ? addend : 0;
	return 1;
}

static int is_named(const struct vprof_name *name, const char *of, const char *display, const char *file)
{
	size_t n = strlen(name->file), length = strlen(file);

	return (!strcmp(name->name, of) || !strcmp(name->name, display)) && n <= length &&
	       !strcmp(file + length - n, name->file);
}

/* Somebody wants to know more of it: a person, or this round's decisions. */
static int is_wanted(const struct closing *c, const struct vprof_probe *probe)
{
	const struct vprof_session *s = c->s;
	uint32_t factors[VPROF_CODE_FACTORS_MAX];
	size_t n = factors_of(c, probe, factors);

	for (size_t i = 0; i < s->keep_open.n; i++)
		if (is_named(&s->keep_open.items[i], probe->name, probe->display, probe->file))
			return 1;
	for (size_t i = 0; i < n; i++) {
		const struct vprof_review *review =
			vprof_reviews_find(&s->reviews, c->r->interval, c->r->factors[factors[i] - 1].key);

		if (review && review->verdict != VPROF_VERDICT_INHERENT && review->verdict != VPROF_VERDICT_IGNORE)
			return 1;
	}
	return probe->is_root || vprof_name_list_has(&s->roots, probe->name, probe->file, probe->caller) ||
	       (!probe->broken_down && vprof_name_list_has(&s->broken_down, probe->name, probe->file, probe->caller)) ||
	       (!probe->every_call && vprof_name_list_has(&s->every_call, probe->name, probe->file, probe->caller));
}

/* With all beneath it, but for roots, and for what others ran meanwhile. */
static void mark_gone(struct closing *c, const struct vprof_probe *probe)
{
	for (size_t i = 1; i < c->r->n_nodes; i++) {
		const struct vprof_node *n = &c->r->nodes[i];
		const struct vprof_probe *own = probe_of(c, i);

		c->is_gone[i] |= own == probe || (c->is_gone[n->parent] && !(own && own->is_root) &&
						  n->is_blame == c->r->nodes[n->parent].is_blame);
	}
}

/* The one whose own records cost most; NULL: what is left would not be noticed. */
static const struct vprof_probe *costliest(const struct closing *c)
{
	size_t best = 0;

	for (size_t i = 1; i < c->plan->n_probes; i++)
		if (c->of_probe[i] > c->of_probe[best])
			best = i;
	if (!c->plan->n_probes || !(c->all > 0) ||
	    !(c->of_probe[best] > 0 &&
	      c->all_ns * c->of_probe[best] / c->all >= NOTICED * c->s->effect * c->without_ns))
		return NULL;
	return &c->plan->probes[best];
}

static int close_one(struct closing *c, struct vprof_session *s, const struct vprof_probe *probe, double bound)
{
	double before = saved_ns(c);
	struct vprof_closed closed = { .name = probe->name,
				       .file = probe->file,
				       .caller = probe->caller,
				       .display = probe->display,
				       .line = probe->line,
				       .bound = fmax(0, bound),
				       .run = c->r->run ? c->r->run : "" };

	mark_gone(c, probe);
	closed.saved_ns = saved_ns(c) - before;
	closed.saved = closed.saved_ns / c->without_ns;
	return vprof_session_close(s, &closed);
}

static int close_costly(struct closing *c, struct vprof_session *s)
{
	int n = 0;

	while (expected_effect(c) >= c->s->effect) {
		const struct vprof_probe *probe;
		double bound;

		sum_records(c);
		probe = costliest(c);
		if (!probe)
			break;
		bound = is_wanted(c, probe) ? INFINITY : bound_of(c, probe);
		c->of_probe[probe - c->plan->probes] = -1;
		if (!(bound < s->threshold) || !join(c, probe, s->threshold))
			continue;
		if (close_one(c, s, probe, bound))
			return VPROF_ERR_NOMEM;
		n++;
	}
	return n;
}

static int weigh(struct closing *c)
{
	const struct vprof_results *r = c->r;

	c->without_ns = r->mean_ns / (1 + r->effect);
	c->taken_ns = r->mean_ns - c->without_ns;
	c->all_ns = fmax(r->probe_ns, r->mean_ns - r->mean_ns / (1 + fmax(0, r->effect_low)));
	c->records = calloc(r->n_nodes + 1, sizeof *c->records);
	c->is_gone = calloc(r->n_nodes + 1, 1);
	c->of_probe = calloc(c->plan->n_probes + 1, sizeof *c->of_probe);
	c->beneath = calloc(c->plan->n_probes + 1, sizeof *c->beneath);
	c->is_caller = calloc(c->plan->n_probes + 1, 1);
	if (!c->records || !c->is_gone || !c->of_probe || !c->beneath || !c->is_caller)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < r->n_nodes; i++)
		c->records[i] = records_of(r, i);
	sum_records(c);
	return VPROF_OK;
}

static void release(struct closing *c)
{
	free(c->records);
	free(c->is_gone);
	free(c->of_probe);
	free(c->beneath);
	free(c->is_caller);
}

int vprof_close_choose(const struct vprof_results *r, const struct vprof_plan *plan, struct vprof_session *s,
		       double *expected)
{
	struct closing c = { .r = r, .plan = plan, .s = s, .wider = s->is_live ? WIDER : 1 };
	int n;

	*expected = r->effect;
	if (r->inconclusive || !r->n_nodes || !(r->nodes[0].var_ns2 > 0) || !(r->effect >= s->effect) ||
	    !(r->probe_ns > 0))
		return 0;
	n = weigh(&c);
	if (!n)
		n = close_costly(&c, s);
	if (n > 0)
		*expected = expected_effect(&c);
	release(&c);
	return n;
}

int vprof_close_one(const struct vprof_results *r, const struct vprof_plan *plan, struct vprof_session *s,
		    const struct vprof_probe *probe)
{
	struct closing c = { .r = r, .plan = plan, .s = s, .wider = 1 };
	const struct vprof_closed unknown = { .name = probe->name,
					      .file = probe->file,
					      .caller = probe->caller,
					      .display = probe->display,
					      .line = probe->line,
					      .bound = 1,
					      .run = "" };
	int rc;

	if (!r || !r->n_nodes || !isfinite(r->effect) || !(r->mean_ns > 0) || !isfinite(r->probe_ns))
		return vprof_session_close(s, &unknown);
	rc = weigh(&c);
	if (!rc)
		rc = close_one(&c, s, probe, fmin(1, bound_of(&c, probe)));
	release(&c);
	return rc;
}

void vprof_close_tell(const struct vprof_session *s, size_t n, double effect, double expected)
{
	struct vprof_text line = VPROF_TEXT_INIT;

	for (size_t i = s->n_closed - n; i < s->n_closed; i++) {
		const struct vprof_closed *c = &s->closed[i];

		vprof_text_clear(&line);
		vprof_format_cut(&line, c->display, 60, 1, 0);
		vprof_text_addf(&line, ": closed: at most %s of the variance is in it, and recording it took %s",
				vprof_format_at_most(c->bound).s, vprof_format_duration(c->saved_ns).s);
		vprof_say("%s (%s of the mean)", line.s, vprof_format_percent(c->saved).s);
	}
	if (n)
		vprof_say("without %s, recording is expected to slow the intervals by %s instead of %s",
			  n == 1 ? "it" : "these", vprof_format_percent(expected).s, vprof_format_percent(effect).s);
	vprof_text_release(&line);
}

int vprof_close_keep_open(struct vprof_session *s, const char *name)
{
	const char *at = strrchr(name, '@');
	size_t n_bare = at && at != name ? (size_t)(at - name) : strlen(name);
	char *bare = strndup(name, n_bare);
	const struct vprof_name wanted = { bare, name[n_bare] ? at + 1 : "", "" };
	int rc = bare ? vprof_name_list_add(&s->keep_open, wanted.name, wanted.file, wanted.caller) : VPROF_ERR_NOMEM;
	int n = 0;

	for (size_t i = s->n_closed; i-- > 0 && rc >= 0;)
		if (is_named(&wanted, s->closed[i].name, s->closed[i].display, s->closed[i].file)) {
			vprof_session_open_again(s, i);
			n++;
		}
	free(bare);
	return rc < 0 ? rc : n;
}
