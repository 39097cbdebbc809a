/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function is tested once a round, and in a live one up to VPROF_CLOSE_TESTS times: at looks and at its end. There,
 * what a bound is above its estimate counts WIDER times, so that all tests together err no more often than one.
 */
#include "cli/drilldown/close.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/drilldown/decide.h"
#include "common/text.h"
#include "report/format_value.h"

#define NOTICED 0.01 /* of the effect that is too much: less is not worth a function */
#define WIDER 1.2744 /* normal quantiles: of 1 - 0.025 / VPROF_CLOSE_TESTS to that of 1 - 0.025 */

struct closing {
	const struct vprof_results *r;
	const struct vprof_plan *plan;
	const struct vprof_session *s;
	double *records;  /* [n_nodes] of its own calls, in the cost of a record */
	uint8_t *is_gone; /* [n_nodes] not recorded by the next plan */
	double *of_probe; /* [plan->n_probes] sums over the nodes that are not gone; below 0: to stay */
	/* [plan->n_probes] the factor that tells of all of a probe's function: its nodes are of that one, or of that
	 * beneath waits. NULL: nothing is known of it */
	const struct vprof_factor **function;
	uint8_t *is_called; /* [plan->n_probes] it has nodes */
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

static const struct vprof_factor *function_of(const struct closing *c, const struct vprof_probe *probe)
{
	return c->function[probe - c->plan->probes];
}

/* Fills function and is_called. */
static void find_functions(struct closing *c)
{
	const struct vprof_factor *factors = c->r->factors;

	for (size_t i = 1; i < c->r->n_nodes; i++) {
		const struct vprof_probe *probe = probe_of(c, i);
		uint32_t factor = c->r->nodes[i].factor;
		size_t at = probe ? (size_t)(probe - c->plan->probes) : 0;

		if (!probe || (c->is_called[at] && !c->function[at]))
			continue;
		if (!c->is_called[at] && factor)
			c->function[at] = &factors[factor - 1];
		else if (!factor || (c->function[at] != &factors[factor - 1] && c->function[at]->counterpart != factor))
			c->function[at] = NULL;
		c->is_called[at] = 1;
	}
	for (size_t i = 0; i < c->plan->n_probes; i++)
		if (c->function[i] &&
		    !(isfinite(c->function[i]->code_share_high) && isfinite(c->function[i]->code_constant_high)))
			c->function[i] = NULL;
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

/* Of the variance, at most: the function's share, and what would go if it were constant; of what was never called, 0.
 * Infinite: not known. */
static double bound_of(const struct closing *c, const struct vprof_probe *probe)
{
	const struct vprof_factor *f = function_of(c, probe);

	if (!c->is_called[probe - c->plan->probes])
		return probe->is_root ? INFINITY : 0;
	return f ? fmax(share_high(c, f), constant_high(c, f)) : INFINITY;
}

/* As bound_of, of the part that may be added up: what would go if several were constant is twice their covariance with
 * the latency, less a variance; c + s of each is twice its covariance. */
static double addend_of(const struct closing *c, const struct vprof_probe *probe)
{
	const struct vprof_factor *f = function_of(c, probe);

	if (!c->is_called[probe - c->plan->probes])
		return 0;
	return f ? fmax(0, constant_high(c, f) + share_high(c, f)) : INFINITY;
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

static int is_judged(const struct closing *c, uint32_t factor)
{
	const struct vprof_review *review =
		factor ? vprof_reviews_find(&c->s->reviews, c->r->interval, c->r->factors[factor - 1].key) : NULL;

	return review && review->verdict != VPROF_VERDICT_INHERENT && review->verdict != VPROF_VERDICT_IGNORE;
}

/* A person has judged it, or what is undivided beside it, to be a culprit, fixed or to do. */
static int is_judged_anywhere(const struct closing *c, const struct vprof_probe *probe)
{
	for (size_t i = 1; i < c->r->n_nodes && c->s->reviews.n; i++) {
		const struct vprof_node *parent = &c->r->nodes[c->r->nodes[i].parent];

		if (probe_of(c, i) != probe)
			continue;
		if (is_judged(c, c->r->nodes[i].factor))
			return 1;
		for (uint32_t k = parent->first_child; k < parent->first_child + parent->n_children; k++)
			if (c->r->nodes[k].kind == VPROF_NODE_UNDIVIDED && is_judged(c, c->r->nodes[k].factor))
				return 1;
	}
	return 0;
}

static int is_named_by_person(const struct closing *c, const struct vprof_probe *probe)
{
	for (size_t i = 0; i < c->s->keep_open.n; i++)
		if (is_named(&c->s->keep_open.items[i], probe->name, probe->display, probe->file))
			return 1;
	return is_judged_anywhere(c, probe);
}

/* Somebody wants to know more of it: a person, or this round's decisions. */
static int is_wanted(const struct closing *c, const struct vprof_probe *probe)
{
	const struct vprof_session *s = c->s;

	return is_named_by_person(c, probe) ||
	       (!probe->is_root && vprof_name_list_has(&s->roots, probe->name, probe->file, probe->caller)) ||
	       (!probe->broken_down && vprof_name_list_has(&s->broken_down, probe->name, probe->file, probe->caller)) ||
	       (!probe->every_call && vprof_name_list_has(&s->every_call, probe->name, probe->file, probe->caller));
}

/* All beneath goes, but for roots, and for what others ran meanwhile. */
static int goes_with_parent(const struct closing *c, size_t i)
{
	const struct vprof_node *n = &c->r->nodes[i];
	const struct vprof_probe *own = probe_of(c, i);

	return c->is_gone[n->parent] && !(own && own->is_root) && n->is_blame == c->r->nodes[n->parent].is_blame;
}

static void mark_gone(struct closing *c, const struct vprof_probe *probe)
{
	for (size_t i = 1; i < c->r->n_nodes; i++)
		c->is_gone[i] |= probe_of(c, i) == probe || goes_with_parent(c, i);
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

/* Would the next plan record it? What lies beneath what is closed goes with it. */
static int is_left(const struct closing *c, const struct vprof_probe *probe)
{
	int is_left = !c->is_called[probe - c->plan->probes];

	for (size_t i = 1; !is_left && i < c->r->n_nodes; i++)
		is_left = !c->is_gone[i] && probe_of(c, i) == probe;
	return is_left;
}

/* What else cannot matter, the least first: where an entry is open, each call passes it, also those that are not
 * recorded, which may be thousands a request, and nothing counts them. Only where the same process tells what recording
 * does to it: from one run to another everything differs. */
static int close_rest(struct closing *c, struct vprof_session *s, struct vprof_close_choice *choice)
{
	size_t n = c->plan->n_probes;
	double *bounds = malloc((n + 1) * sizeof *bounds);

	for (size_t i = 0; bounds && i < n; i++)
		bounds[i] = c->of_probe[i] < 0 || is_wanted(c, &c->plan->probes[i]) ? INFINITY :
										      bound_of(c, &c->plan->probes[i]);
	for (size_t at = 0; bounds && at < n; bounds[at] = INFINITY) {
		at = 0;
		for (size_t i = 1; i < n; i++)
			at = bounds[i] < bounds[at] ? i : at;
		if (!(bounds[at] < s->threshold))
			break;
		if (!is_left(c, &c->plan->probes[at]) || !join(c, &c->plan->probes[at], s->threshold))
			continue;
		if (close_one(c, s, &c->plan->probes[at], bounds[at])) {
			free(bounds);
			return VPROF_ERR_NOMEM;
		}
		choice->n_closed++;
	}
	free(bounds);
	return bounds ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int close_costly(struct closing *c, struct vprof_session *s, struct vprof_close_choice *choice)
{
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
		choice->n_closed++;
	}
	return s->is_live && expected_effect(c) >= c->s->effect ? close_rest(c, s, choice) : VPROF_OK;
}

/* The innermost measured function around the node, in the same thread; NULL: none. */
static const struct vprof_probe *around(const struct closing *c, size_t node)
{
	const struct vprof_node *nodes = c->r->nodes;

	for (size_t at = nodes[node].parent; at && nodes[at].is_blame == nodes[node].is_blame; at = nodes[at].parent)
		if (probe_of(c, at) || nodes[at].kind == VPROF_NODE_WAIT || nodes[at].kind == VPROF_NODE_QUEUED)
			return probe_of(c, at);
	return NULL;
}

/* Is it a root that is not needed as one? It could not be chosen, a function around it stands for its time, but where
 * that is below the threshold, too; and nobody waits for it. */
static int is_spare_root(const struct closing *c, const struct vprof_probe *probe)
{
	double alone = 0;

	if (!probe->is_root || probe->broken_down || is_named_by_person(c, probe))
		return 0;
	for (size_t i = 1; i < c->r->n_nodes; i++) {
		const struct vprof_node *n = &c->r->nodes[i];

		if (probe_of(c, i) != probe)
			continue;
		if (n->factor && c->r->factors[n->factor - 1].share >= c->s->threshold)
			return 0;
		alone += around(c, i) ? 0 : sqrt(fmax(0, n->share));
	}
	return alone * alone < c->s->threshold && !vprof_decide_is_waker(c->r, probe->name);
}

/* From now on it is measured where what calls it is broken down. */
static void narrow(struct closing *c, struct vprof_session *s, const struct vprof_probe *probe)
{
	for (size_t i = 1; i < c->r->n_nodes; i++) {
		int is_own = probe_of(c, i) == probe;
		const struct vprof_probe *caller = is_own ? around(c, i) : NULL;

		c->is_gone[i] |= (is_own && !(caller && caller->broken_down)) || goes_with_parent(c, i);
	}
	for (size_t i = s->roots.n; i-- > 0;)
		if (!strcmp(s->roots.items[i].name, probe->name) && !strcmp(s->roots.items[i].file, probe->file))
			vprof_name_list_remove(&s->roots, i);
}

/* Roots are measured wherever they are called, since a sampled stack had them. One that costs much, and lies within
 * what is measured, is measured only there where that is broken down: it is found again from above if it matters. */
static void narrow_roots(struct closing *c, struct vprof_session *s, struct vprof_close_choice *choice)
{
	const struct vprof_probe *probe;

	while (expected_effect(c) >= s->effect && (sum_records(c), probe = costliest(c))) {
		c->of_probe[probe - c->plan->probes] = -1;
		if (!is_spare_root(c, probe))
			continue;
		narrow(c, s, probe);
		choice->n_narrowed++;
	}
	for (size_t i = 0; i < c->plan->n_probes; i++) /* each may be closed */
		c->of_probe[i] = 0;
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
	c->function = calloc(c->plan->n_probes + 1, sizeof(const struct vprof_factor *));
	c->is_called = calloc(c->plan->n_probes + 1, 1);
	c->beneath = calloc(c->plan->n_probes + 1, sizeof *c->beneath);
	c->is_caller = calloc(c->plan->n_probes + 1, 1);
	if (!c->records || !c->is_gone || !c->of_probe || !c->function || !c->is_called || !c->beneath || !c->is_caller)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < r->n_nodes; i++)
		c->records[i] = records_of(r, i);
	find_functions(c);
	sum_records(c);
	return VPROF_OK;
}

static void release(struct closing *c)
{
	free(c->records);
	free(c->is_gone);
	free(c->of_probe);
	free(c->function);
	free(c->is_called);
	free(c->beneath);
	free(c->is_caller);
}

int vprof_close_choose(const struct vprof_results *r, const struct vprof_plan *plan, struct vprof_session *s,
		       struct vprof_close_choice *choice)
{
	struct closing c = { .r = r, .plan = plan, .s = s, .wider = s->is_live ? WIDER : 1 };
	int rc;

	*choice = (struct vprof_close_choice){ .expected = r->effect };
	if (r->inconclusive || !r->n_nodes || !(r->nodes[0].var_ns2 > 0) || !(r->effect >= s->effect) ||
	    !(r->probe_ns > 0))
		return VPROF_OK;
	rc = weigh(&c);
	if (!rc) {
		narrow_roots(&c, s, choice);
		rc = close_costly(&c, s, choice);
	}
	if (choice->n_closed + choice->n_narrowed)
		choice->expected = expected_effect(&c);
	release(&c);
	return rc;
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

void vprof_close_tell(const struct vprof_session *s, const struct vprof_close_choice *choice, double effect)
{
	size_t n = choice->n_closed + choice->n_narrowed;
	struct vprof_text line = VPROF_TEXT_INIT;

	for (size_t i = s->n_closed - choice->n_closed; i < s->n_closed; i++) {
		const struct vprof_closed *c = &s->closed[i];

		vprof_text_clear(&line);
		vprof_format_cut(&line, c->display, 60, 1, 0);
		vprof_text_addf(&line, ": closed: at most %s of the variance is in it, and recording it took %s",
				vprof_format_at_most(c->bound).s, vprof_format_duration(c->saved_ns).s);
		vprof_say("%s (%s of the mean)", line.s, vprof_format_percent(c->saved).s);
	}
	if (choice->n_narrowed)
		vprof_say(
			"%zu function%s that sampled stacks had, and that cost much: measured only where the functions "
			"around %s are broken down",
			choice->n_narrowed, choice->n_narrowed == 1 ? "" : "s",
			choice->n_narrowed == 1 ? "it" : "them");
	if (n)
		vprof_say("without %s, recording is expected to slow the intervals by %s instead of %s",
			  n == 1 ? "it" : "these", vprof_format_percent(choice->expected).s,
			  vprof_format_percent(effect).s);
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
