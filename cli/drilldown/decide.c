/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why names and not codes: codes are ids of one scan, decisions outlive it.
 *
 * Sampled stacks give symbols, facts give functions. A symbol can carry a compiler's suffix ("f.constprop.0") or be
 * mangled, and several static functions may share a name: all of them are taken.
 */
#include "cli/drilldown/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf/symbol_name.h"
#include "report/report.h"

#define MATCH_MAX 16
#define UNEXPLAINED_SHARE 0.5
#define OPEN_SHARE 0.1
#define NARROW_CALLEES 3 /* looked ahead through: at most so many callees */
#define NARROW_LEVELS 4

/* A function or pointer site that is broken down and holds nothing unmeasured any more: its children stand for it,
 * where any are measured. */
static int is_spent(const struct vprof_results *r, const struct vprof_factor *f)
{
	if (f->kind != VPROF_FACTOR_VARIANCE || f->can_break_down ||
	    (f->node_kind != VPROF_NODE_FUNCTION && f->node_kind != VPROF_NODE_POINTER))
		return 0;
	for (size_t i = 0; i < f->n_nodes; i++)
		if (r->nodes[f->nodes[i]].broken_down && r->nodes[f->nodes[i]].n_children)
			return 1;
	return 0;
}

/* A wait is put aside only once its wakers were asked for: see vprof_decide_wakers(). Of the scheduler there is nothing
 * to decide. */
static int is_put_aside(const struct vprof_results *r, const struct vprof_factor *f, enum vprof_verdict verdict)
{
	if (f->kind == VPROF_FACTOR_VARIANCE && f->node_kind == VPROF_NODE_PREEMPTED && !verdict)
		return 1;
	return verdict == VPROF_VERDICT_INHERENT || verdict == VPROF_VERDICT_IGNORE ||
	       (verdict != VPROF_VERDICT_CULPRIT && is_spent(r, f)) ||
	       (verdict == VPROF_VERDICT_BROKEN_DOWN && !f->can_break_down && vprof_factor_is_explained(r, f));
}

/* A person's word, if it decides anything. */
static const struct vprof_review *deciding_review(const struct vprof_results *r, const struct vprof_session *s,
						  const char *key)
{
	const struct vprof_review *review = vprof_reviews_find(&s->reviews, r->interval, key);

	return review && review->verdict != VPROF_VERDICT_FIXED && review->verdict != VPROF_VERDICT_TODO ? review :
													   NULL;
}

enum vprof_verdict vprof_decide_verdict(const struct vprof_results *r, const struct vprof_session *s,
					const struct vprof_factor *f)
{
	size_t cause = vprof_results_cause_of(r, (size_t)(f - r->factors));
	const struct vprof_review *review = deciding_review(r, s, f->key);
	enum vprof_verdict verdict;

	if (!review && cause < r->n_causes)
		review = deciding_review(r, s, r->causes[cause].key);
	if (review)
		return review->verdict;
	verdict = vprof_session_verdict(s, f->key);
	/* found to be as specific as it gets, but not where it sits now */
	return verdict == VPROF_VERDICT_CULPRIT && f->can_break_down ? VPROF_VERDICT_NONE : verdict;
}

/* A wait for others, half of whose variance or more their measured functions make up; false for what is not broken
 * down. */
static int is_wait_explained(const struct vprof_results *r, const struct vprof_node *wait)
{
	double share = 0;

	for (uint32_t c = wait->first_child; c < wait->first_child + wait->n_children && c < r->n_nodes; c++)
		if (vprof_node_kind_is_code(r->nodes[c].kind))
			share += r->nodes[c].share;
	return share >= wait->share / 2;
}

/* What breaking down could explain of a node's variance. Where children are measured: its body's. Else all of it, as
 * the functions in which it waits are not known either; but for a wait that is explained already. */
static double own_share(const struct vprof_results *r, const struct vprof_node *n)
{
	double body = n->share, explained = 0;

	for (uint32_t c = n->first_child; c < n->first_child + n->n_children && c < r->n_nodes; c++) {
		const struct vprof_node *child = &r->nodes[c];

		if (child->kind == VPROF_NODE_BODY)
			body = child->share;
		else if (child->kind == VPROF_NODE_WAIT && is_wait_explained(r, child))
			explained += child->share;
	}
	return n->broken_down || explained >= n->share / 2 || is_wait_explained(r, n) ? body : n->share;
}

/* Summed over its nodes. */
static double own_share_of(const struct vprof_results *r, const struct vprof_factor *f)
{
	double own = 0;

	for (size_t n = 0; n < f->n_nodes && f->kind == VPROF_FACTOR_VARIANCE; n++)
		own += own_share(r, &r->nodes[f->nodes[n]]);
	return own;
}

/* Is breaking it down worth a choice? */
static int is_open(const struct vprof_results *r, const struct vprof_session *s, const struct vprof_factor *f)
{
	return f->can_break_down && own_share_of(r, f) >= s->threshold;
}

/* The cause that a choice is of. What the scheduler took from several functions is one cause, but not one choice. */
static size_t choice_of(const struct vprof_results *r, size_t factor)
{
	size_t cause = vprof_results_cause_of(r, factor);

	return cause < r->n_causes && r->causes[cause].kind == VPROF_CAUSE_PREEMPTED ? r->n_causes : cause;
}

/* Of what the scheduler took there is nothing to decide, but where functions in it can be told apart, or where it took
 * the CPU from those who were waited for, and these are not known yet. */
static int is_of_scheduler(const struct vprof_results *r, const struct vprof_session *s, size_t factor)
{
	size_t cause = vprof_results_cause_of(r, factor);

	return cause < r->n_causes && r->causes[cause].kind == VPROF_CAUSE_PREEMPTED &&
	       !is_open(r, s, &r->factors[factor]) && !vprof_decide_wants_wakers(r, &r->factors[factor]);
}

/* May its cause be due to chance, and is that surely smaller than another one, which is not? Breaking it down would
 * tell where the machine's noise lies. */
static int is_small_chance(const struct vprof_results *r, size_t factor)
{
	size_t cause = vprof_results_cause_of(r, factor);

	if (cause == r->n_causes || !(r->causes[cause].share_low <= 0))
		return 0;
	for (size_t i = 0; i < r->n_causes; i++)
		if (r->causes[i].kind != VPROF_CAUSE_PREEMPTED && r->causes[i].share_low > r->causes[cause].share_high)
			return 1;
	return 0;
}

/* The one of `chosen` that stands for factor i as well, n when there is none: of the same cause, or the same function
 * once as own work and once as others'. */
static size_t chosen_for(const struct vprof_results *r, const uint32_t *chosen, size_t n, size_t i)
{
	size_t cause = choice_of(r, i), at = 0;

	while (at < n && (cause == r->n_causes || choice_of(r, chosen[at]) != cause) &&
	       r->factors[chosen[at]].counterpart != i + 1)
		at++;
	return at;
}

size_t vprof_decide_choose(const struct vprof_results *r, const struct vprof_session *s, uint32_t *chosen, size_t k)
{
	size_t n = 0, at;

	for (size_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];

		if (!(f->share >= s->threshold) || is_put_aside(r, f, vprof_decide_verdict(r, s, f)) ||
		    is_of_scheduler(r, s, i) || is_small_chance(r, i))
			continue;
		at = chosen_for(r, chosen, n, i);
		if (at == n && n < k)
			chosen[n++] = (uint32_t)i;
		else if (at < n && !is_open(r, s, &r->factors[chosen[at]]) && is_open(r, s, f))
			chosen[at] = (uint32_t)i; /* what can be broken down says more of the cause */
	}
	return n;
}

static size_t heaviest_open(const struct vprof_results *r, const struct vprof_session *s, const char *seen,
			    double least)
{
	double heaviest = least > s->threshold ? least : s->threshold;
	size_t found = r->n_factors;

	for (size_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];
		enum vprof_verdict verdict = vprof_decide_verdict(r, s, f);
		double own;

		if (seen[i] || f->kind != VPROF_FACTOR_VARIANCE || !f->can_break_down || is_small_chance(r, i) ||
		    (verdict && verdict != VPROF_VERDICT_BROKEN_DOWN))
			continue;
		own = own_share_of(r, f);
		if (own >= heaviest) {
			heaviest = own;
			found = i;
		}
	}
	return found;
}

size_t vprof_decide_heaviest_open(const struct vprof_results *r, const struct vprof_session *s, const char *seen)
{
	return heaviest_open(r, s, seen, OPEN_SHARE);
}

size_t vprof_decide_left_open(const struct vprof_results *r, const struct vprof_session *s, const char *seen)
{
	return heaviest_open(r, s, seen, 0);
}

/* "Culprit" is a word for what is settled. */
static enum vprof_verdict by_rule(const struct vprof_results *r, enum vprof_verdict verdict, size_t cause)
{
	if (verdict != VPROF_VERDICT_CULPRIT)
		return verdict;
	return cause < r->n_causes && r->causes[cause].status == VPROF_CAUSE_SETTLED ? VPROF_VERDICT_CULPRIT :
										       VPROF_VERDICT_CANDIDATE;
}

static const char *note_of(struct vprof_results *r, const struct vprof_review *review)
{
	const char *copy = vprof_results_string(r, review ? review->note : "");

	return copy ? copy : "";
}

/* A cause is what was said of it or of the function that it is called by; else what a rule found for a factor of it. */
static void set_cause_verdict(struct vprof_results *r, const struct vprof_session *s, size_t cause)
{
	struct vprof_cause *c = &r->causes[cause];
	const struct vprof_review *review = vprof_reviews_find(&s->reviews, r->interval, c->key);

	c->verdict = VPROF_VERDICT_NONE;
	for (size_t i = 0; i < c->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[c->factors[i]];

		if (!review && !strcmp(f->name, c->name))
			review = vprof_reviews_find(&s->reviews, r->interval, f->key);
		if (vprof_session_verdict(s, f->key) == VPROF_VERDICT_CULPRIT &&
		    !vprof_reviews_find(&s->reviews, r->interval, f->key))
			c->verdict = by_rule(r, VPROF_VERDICT_CULPRIT, cause);
	}
	if (review)
		c->verdict = review->verdict;
	c->note = note_of(r, review);
}

void vprof_decide_verdicts(struct vprof_results *r, const struct vprof_session *s)
{
	for (size_t i = 0; i < r->n_factors; i++) {
		struct vprof_factor *f = &r->factors[i];
		const struct vprof_review *review = vprof_reviews_find(&s->reviews, r->interval, f->key);

		f->verdict = review ? review->verdict :
				      by_rule(r, vprof_session_verdict(s, f->key), vprof_results_cause_of(r, i));
		if (!f->verdict && is_spent(r, f))
			f->verdict = VPROF_VERDICT_BROKEN_DOWN;
		f->note = note_of(r, review);
	}
	for (size_t i = 0; i < r->n_causes; i++)
		set_cause_verdict(r, s, i);
}

/* 1 when a name was added, 0 when there is nothing to break down. */
static int add_target(const struct vprof_results *r, const struct vprof_plan *plan, uint32_t node,
		      struct vprof_name_list *targets)
{
	const struct vprof_node *n = &r->nodes[node];
	const struct vprof_probe *probe;

	while (n->kind == VPROF_NODE_BODY || n->kind == VPROF_NODE_WAIT || n->kind == VPROF_NODE_QUEUED ||
	       n->kind == VPROF_NODE_UNDIVIDED)
		n = &r->nodes[n->parent];
	if ((n->kind != VPROF_NODE_FUNCTION && n->kind != VPROF_NODE_POINTER) || n->broken_down)
		return 0;
	probe = vprof_plan_probe(plan, n->code);
	if (!probe || probe->broken_down || !probe->n_children)
		return 0;
	return vprof_name_list_add(targets, probe->name, probe->file, probe->caller);
}

/* Calls `add` for each node of the factor. */
static int each_node(const struct vprof_results *r, const struct vprof_plan *plan, const struct vprof_factor *f,
		     struct vprof_name_list *list,
		     int (*add)(const struct vprof_results *r, const struct vprof_plan *plan, uint32_t node,
				struct vprof_name_list *list))
{
	int added = 0, rc;

	for (size_t i = 0; i < f->n_nodes; i++) {
		uint32_t members[2] = { f->nodes[i], f->nodes[i] };
		size_t n_members = 1;

		if (f->kind == VPROF_FACTOR_COVARIANCE) {
			members[0] = r->covariances[f->nodes[i]].a;
			members[1] = r->covariances[f->nodes[i]].b;
			n_members = 2;
		}
		for (size_t m = 0; m < n_members; m++) {
			rc = add(r, plan, members[m], list);
			if (rc < 0)
				return rc;
			added += rc;
		}
	}
	return added;
}

int vprof_decide_targets(const struct vprof_results *r, const struct vprof_plan *plan, const struct vprof_factor *f,
			 struct vprof_name_list *targets)
{
	return each_node(r, plan, f, targets, add_target);
}

/* The hot functions beside undivided time that are still sampled. */
static int add_sampled(const struct vprof_results *r, const struct vprof_plan *plan, uint32_t node,
		       struct vprof_name_list *list)
{
	const struct vprof_node *parent = &r->nodes[r->nodes[node].parent];
	int added = 0, rc;

	for (uint32_t c = parent->first_child;
	     r->nodes[node].kind == VPROF_NODE_UNDIVIDED && c < parent->first_child + parent->n_children; c++) {
		const struct vprof_probe *probe =
			vprof_node_is_sampled(&r->nodes[c]) ? vprof_plan_probe(plan, r->nodes[c].code) : NULL;

		if (!probe || probe->every_call)
			continue;
		rc = vprof_name_list_add(list, probe->name, probe->file, probe->caller);
		if (rc < 0)
			return rc;
		added += rc;
	}
	return added;
}

int vprof_decide_every_call(const struct vprof_results *r, const struct vprof_plan *plan, const struct vprof_factor *f,
			    struct vprof_name_list *functions)
{
	return each_node(r, plan, f, functions, add_sampled);
}

/* A demangled name as facts display it: without unnamed namespaces, template arguments, ABI tags and the parameters of
 * the functions around; a lambda's operator is "(lambda)". In place: no part becomes longer. */
static void as_displayed(char *name)
{
	static const char unnamed[] = "(anonymous namespace)::", lambda[] = "(lambda)",
			  call[] = "}::operator()", operator[] = "operator", constant[] = " const";
	char *to = name;

	for (const char *at = name, *end; *at;) {
		if (!strncmp(at, unnamed, sizeof unnamed - 1)) {
			at += sizeof unnamed - 1;
		} else if (!strncmp(at, "{lambda(", 8) && (end = strstr(at, call))) {
			memcpy(to, lambda, sizeof lambda - 1);
			to += sizeof lambda - 1;
			at = end + sizeof call - 1;
		} else if (!strncmp(at, operator, sizeof operator- 1)) { /* its signs are its name */
			size_t n = sizeof operator- 1;

			n += strncmp(at + n, "()", 2) ? strspn(at + n, "<>=-+*/%&|^!~,") : 2;
			memmove(to, at, n);
			to += n;
			at += n;
		} else if (*at == '<' || *at == '[' || *at == '(') {
			const char *pair = *at == '<' ? "<>" : *at == '[' ? "[]" : "()";
			int depth = 0;

			do {
				depth += (*at == pair[0]) - (*at == pair[1]);
			} while (*at++ && depth && *at);
			at += strncmp(at, constant, sizeof constant - 1) ? 0 : sizeof constant - 1;
		} else {
			*to++ = *at++;
		}
	}
	*to = 0;
}

/* The name that facts know a symbol by: without compiler suffixes; for C++ the qualified name without parameters. */
static char *source_name(const char *symbol)
{
	char *name = vprof_symbol_name(symbol), *cut;

	if (!name)
		return NULL;
	cut = strstr(name, "::") || !*name ? NULL : strchr(name + 1, '.');
	if (cut)
		*cut = 0;
	as_displayed(name);
	return name;
}

/* 1 when the function can be measured (added or already there), 0 when it cannot, or NOMEM. */
static int add_function(struct vprof_name_list *list, const struct vprof_facts *facts,
			const struct vprof_facts_function *f)
{
	const struct vprof_facts_file *file = vprof_facts_file(facts, f->file);
	const char *path = file ? file->path : "";
	size_t root = strlen(facts->root);
	int rc;

	if (!f->instrumentable)
		return 0;
	if (!strncmp(path, facts->root, root) && path[root] == '/')
		path += root + 1;
	rc = vprof_name_list_add(list, f->name, path, "");
	return rc < 0 ? rc : 1;
}

/* Adds every function of that name ("name@file" narrows); returns how many can be measured, or NOMEM. */
static int add_functions(struct vprof_name_list *list, const struct vprof_facts *facts, const char *symbol)
{
	uint32_t found[MATCH_MAX];
	const char *at = strchr(symbol, '@'), *file = at ? at + 1 : NULL;
	char *copy = at ? strndup(symbol, (size_t)(at - symbol)) : strdup(symbol);
	char *name = copy ? source_name(copy) : NULL;
	size_t n = name ? vprof_facts_find(facts, copy, file, found, MATCH_MAX) : 0;
	int added = 0, rc = 0;

	free(copy);
	if (!name)
		return VPROF_ERR_NOMEM;
	if (!n)
		n = vprof_facts_find(facts, name, file, found, MATCH_MAX);
	for (size_t i = 0; i < n && i < MATCH_MAX && rc >= 0; i++) {
		rc = add_function(list, facts, &facts->functions[found[i]]);
		added += rc > 0;
	}
	free(name);
	return rc < 0 ? rc : added;
}

/* Distinct project functions that `f` calls and that can be measured; NARROW_CALLEES + 1 when there are more. */
static size_t narrow_callees(const struct vprof_facts *facts, const struct vprof_facts_function *f,
			     const struct vprof_facts_function **callees)
{
	size_t n = 0, i;

	for (uint32_t c = 0; c < f->n_calls; c++) {
		const struct vprof_facts_call *call = &facts->calls[facts->calls_by_caller[f->first_call + c]];
		const struct vprof_facts_function *callee =
			call->callee_function ? &facts->functions[call->callee_function - 1] : NULL;

		if (!callee || callee->is_tiny || !callee->instrumentable || callee == f)
			continue;
		for (i = 0; i < n && callees[i] != callee; i++)
			;
		if (i < n)
			continue;
		if (n == NARROW_CALLEES)
			return n + 1;
		callees[n++] = callee;
	}
	return n;
}

static int look_ahead(struct vprof_session *s, const struct vprof_facts *facts, const struct vprof_facts_function *f,
		      int levels)
{
	const struct vprof_facts_function *callees[NARROW_CALLEES];
	size_t n = levels ? narrow_callees(facts, f, callees) : 0;
	int rc = 0;

	for (size_t i = 0; i < n && n <= NARROW_CALLEES && rc >= 0; i++) {
		if (!callees[i]->n_calls || vprof_facts_is_shared(facts, f->file, callees[i]->file))
			continue;
		rc = add_function(&s->broken_down, facts, callees[i]);
		if (rc > 0)
			rc = look_ahead(s, facts, callees[i], levels - 1);
	}
	return rc;
}

int vprof_decide_look_ahead(struct vprof_session *s, const struct vprof_facts *facts, const char *name,
			    const char *file)
{
	uint32_t found[MATCH_MAX];
	size_t n = vprof_facts_find(facts, name, file, found, MATCH_MAX);
	int rc = 0;

	for (size_t i = 0; i < n && i < MATCH_MAX && rc >= 0; i++)
		rc = look_ahead(s, facts, &facts->functions[found[i]], NARROW_LEVELS);
	return rc < 0 ? rc : VPROF_OK;
}

/* main encloses everything and tells nothing, unless nothing else encloses the interval. */
static int is_plain_main(const struct vprof_common_frame *s)
{
	return !strcmp(s->name, "main") && !s->innermost_enclosing;
}

/* The functions that hold the annotations: those that vprof.json names, and the callers of vprof_begin() and the like
 * in the code (the scan sees them as calls). */
static int add_annotated(struct vprof_name_list *list, const struct vprof_facts *facts,
			 const struct vprof_annotations *a)
{
	static const char *const in_code[] = { "vprof_begin", "vprof_resume", "vprof_end" };
	int rc = 0;

	for (size_t i = 0; i < a->n_hooks && rc >= 0; i++) {
		const struct vprof_hook *h = &a->hooks[i];

		if (h->kind == VPROF_HOOK_BEGIN || h->kind == VPROF_HOOK_RESUME || h->kind == VPROF_HOOK_END)
			rc = add_functions(list, facts, h->function);
	}
	for (size_t i = 0; i < facts->n_calls && rc >= 0; i++)
		for (size_t w = 0; w < sizeof in_code / sizeof *in_code && rc >= 0; w++) {
			const struct vprof_facts_function *f;

			if (strcmp(facts->calls[i].callee, in_code[w]))
				continue;
			f = vprof_facts_function(facts, facts->calls[i].caller);
			rc = f ? add_function(list, facts, f) : 0;
		}
	return rc < 0 ? rc : 0;
}

static int by_depth(const void *a, const void *b)
{
	const struct vprof_common_frame *x = *(const struct vprof_common_frame *const *)a,
					*y = *(const struct vprof_common_frame *const *)b;

	return x->depth < y->depth ? -1 : x->depth > y->depth ? 1 : strcmp(x->name, y->name);
}

/* The wanted common frames, outermost first; heap array. */
static const struct vprof_common_frame **ordered(const struct vprof_results *r, int wakers, size_t *n)
{
	const struct vprof_common_frame **list = calloc(r->n_common_frames + 1, sizeof *list);

	*n = 0;
	for (size_t i = 0; list && i < r->n_common_frames; i++) {
		const struct vprof_common_frame *s = &r->common_frames[i];

		if (wakers ? s->is_waker : s->encloses || s->innermost_enclosing || !s->is_waker)
			list[(*n)++] = s;
	}
	if (list)
		qsort(list, *n, sizeof *list, by_depth);
	return list;
}

/* Breaks down the innermost enclosing function that the facts know: the one marked so, else the next outer one. */
static int break_innermost(struct vprof_session *s, const struct vprof_common_frame *const *common_frames, size_t n,
			   const struct vprof_facts *facts)
{
	size_t i = n;
	int rc = 0;

	while (i > 0 && !common_frames[i - 1]->innermost_enclosing)
		i--;
	if (!i)
		for (i = n; i > 0 && !common_frames[i - 1]->encloses;)
			i--;
	for (; i > 0 && rc == 0; i--)
		if ((common_frames[i - 1]->encloses || common_frames[i - 1]->innermost_enclosing) &&
		    !is_plain_main(common_frames[i - 1]))
			rc = add_functions(&s->broken_down, facts, common_frames[i - 1]->name);
	return rc;
}

static int is_named(const struct vprof_facts *facts, const struct vprof_facts_function *f,
		    const struct vprof_name *name)
{
	const struct vprof_facts_file *file = vprof_facts_file(facts, f->file);
	size_t n = file ? strlen(file->path) : 0, m = strlen(name->file);

	return !strcmp(f->name, name->name) && n >= m && !strcmp(file->path + n - m, name->file);
}

/* Is it called where that is measured, by a function that is broken down? Through a pointer or by a library: no. */
static int is_called(const struct vprof_session *s, const struct vprof_facts *facts, const struct vprof_name *name)
{
	for (size_t i = 0; i < facts->n_calls; i++) {
		const struct vprof_facts_call *c = &facts->calls[i];
		const struct vprof_facts_function *caller = vprof_facts_function(facts, c->caller);

		if (!c->callee_function || !caller || !is_named(facts, &facts->functions[c->callee_function - 1], name))
			continue;
		for (size_t k = 0; k < s->broken_down.n; k++)
			if (is_named(facts, caller, &s->broken_down.items[k]))
				return 1;
	}
	return 0;
}

/* What vprof.json wants measured first, a hot path: all of it is broken down at once. A function that no other one on
 * the path calls by its name becomes a root, or it would never be measured. */
static int add_first(struct vprof_session *s, const struct vprof_facts *facts, const struct vprof_annotations *a)
{
	size_t before = s->broken_down.n;
	int rc = 0;

	for (size_t i = 0; i < a->n_measure_first && rc >= 0; i++)
		rc = add_functions(&s->broken_down, facts, a->measure_first[i]);
	for (size_t i = before; i < s->broken_down.n && rc >= 0; i++) {
		const struct vprof_name *f = &s->broken_down.items[i];

		rc = is_called(s, facts, f) ? 0 : vprof_name_list_add(&s->roots, f->name, f->file, "");
	}
	return rc;
}

/* From what the drill-down starts with, as from what it breaks down later. */
static int look_ahead_from(struct vprof_session *s, const struct vprof_facts *facts)
{
	size_t n = s->broken_down.n;
	int rc = VPROF_OK;

	for (size_t i = 0; i < n && !rc; i++)
		rc = vprof_decide_look_ahead(s, facts, s->broken_down.items[i].name, s->broken_down.items[i].file);
	return rc;
}

int vprof_decide_roots(struct vprof_session *s, const struct vprof_results *baseline, const struct vprof_facts *facts,
		       const struct vprof_annotations *a, int *from_stacks)
{
	size_t n;
	const struct vprof_common_frame **common_frames = ordered(baseline, 0, &n);
	int rc = common_frames ? 0 : VPROF_ERR_NOMEM, known = 0;

	for (size_t i = 0; i < a->n_roots && rc >= 0; i++)
		rc = add_functions(&s->roots, facts, a->roots[i]);
	for (size_t i = 0; i < a->n_roots && rc >= 0; i++) /* a person wants them */
		rc = add_functions(&s->keep_open, facts, a->roots[i]);
	for (size_t i = 0; i < n && rc >= 0; i++) {
		rc = is_plain_main(common_frames[i]) ? 0 : add_functions(&s->roots, facts, common_frames[i]->name);
		known += rc > 0;
	}
	*from_stacks = known > 0;
	if (rc >= 0)
		rc = add_annotated(&s->roots, facts, a);
	if (rc >= 0 && known)
		rc = break_innermost(s, common_frames, n, facts);
	/* Nothing encloses the interval: its own functions are the best start. */
	if (rc >= 0 && !s->broken_down.n)
		for (size_t i = 0; i < s->roots.n && rc >= 0; i++)
			rc = vprof_name_list_add(&s->broken_down, s->roots.items[i].name, s->roots.items[i].file, "");
	free(common_frames);
	if (rc >= 0)
		rc = look_ahead_from(s, facts);
	if (rc >= 0)
		rc = add_first(s, facts, a);
	return rc < 0 ? rc : VPROF_OK;
}

/* Part of the factor's mean that no measured function of its wakers explains. That a waker was itself waiting, say for
 * the disk, explains nothing before it is known in which function. A wait for nobody (I/O, sleep) has no
 * object and counts as explained. */
static double unexplained(const struct vprof_results *r, const struct vprof_factor *f)
{
	double total = 0, rest = 0;

	for (size_t i = 0; i < f->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[f->nodes[i]];
		double explained = 0;

		total += n->mean_ns;
		if (!n->object || !*n->object)
			continue;
		for (uint32_t c = 0; c < n->n_children; c++)
			if (n->first_child + c < r->n_nodes &&
			    vprof_node_kind_is_code(r->nodes[n->first_child + c].kind))
				explained += r->nodes[n->first_child + c].mean_ns;
		rest += n->blocked_ns - explained;
	}
	return total > 0 ? rest / total : 0;
}

/* Somebody ends it. Where the call that waits is measured at its site, the site is the wait's node. */
static int has_wakers(const struct vprof_results *r, const struct vprof_factor *f)
{
	if (f->kind != VPROF_FACTOR_VARIANCE || (f->node_kind != VPROF_NODE_WAIT && f->node_kind != VPROF_NODE_SITE))
		return 0;
	for (size_t i = 0; i < f->n_nodes; i++)
		if (r->nodes[f->nodes[i]].object && *r->nodes[f->nodes[i]].object)
			return r->n_waits_matched > 0;
	return 0;
}

int vprof_decide_wants_wakers(const struct vprof_results *r, const struct vprof_factor *f)
{
	return has_wakers(r, f) && unexplained(r, f) > UNEXPLAINED_SHARE;
}

int vprof_decide_is_waker(const struct vprof_results *r, const char *name)
{
	int is = 0;

	for (size_t i = 0; i < r->n_common_frames && !is; i++) {
		char *known_by = r->common_frames[i].is_waker ? source_name(r->common_frames[i].name) : NULL;

		is = r->common_frames[i].is_waker && (!known_by || !strcmp(known_by, name));
		free(known_by);
	}
	return is;
}

/* What becomes a root from the n-th on is measured, also if it was closed before. */
static void open_roots(struct vprof_session *s, size_t n)
{
	for (; n < s->roots.n; n++)
		for (size_t i = s->n_closed; i-- > 0;)
			if (!strcmp(s->closed[i].name, s->roots.items[n].name) &&
			    !strcmp(s->closed[i].file, s->roots.items[n].file) && !*s->closed[i].caller)
				vprof_session_open_again(s, i);
}

int vprof_decide_wakers(struct vprof_session *s, const struct vprof_results *r, const struct vprof_factor *f,
			const struct vprof_facts *facts)
{
	size_t n, before = s->roots.n + s->broken_down.n;
	const struct vprof_common_frame **common_frames;
	int rc = 0;

	if (!has_wakers(r, f))
		return 0;
	common_frames = ordered(r, 1, &n);
	if (!common_frames)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n && rc >= 0; i++) {
		size_t n_roots = s->roots.n;

		if (is_plain_main(common_frames[i]))
			continue;
		rc = add_functions(&s->roots, facts, common_frames[i]->name);
		/* The stacks of several threads are mixed here, so every new one counts as somebody's innermost. */
		open_roots(s, n_roots);
		if (rc > 0 && s->roots.n > n_roots)
			rc = add_functions(&s->broken_down, facts, common_frames[i]->name);
	}
	free(common_frames);
	return rc < 0 ? rc : (int)(s->roots.n + s->broken_down.n - before);
}
