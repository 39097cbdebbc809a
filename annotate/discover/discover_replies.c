/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery: a request that one function receives and another one answers, on the same connection.
 *
 * A function receives (sends) on a parameter if it hands it, or a member of it, to a receive (send), or to a function
 * that receives (sends) on what it is handed, also through a pointer. What receiver and sender have in common is the
 * type of the innermost object that is handed on: the connection. A receiver that an event loop calls, and no other
 * receiver, begins requests. The sender that one function calls beside it ends them, else the one that most functions
 * call and that is handed the connection in the same way.
 */
#include "annotate/discover/discover_replies.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 4 /* calls between the function and the receive or send */
#define CHAIN_MAX 2  /* calls between the event loop's handler and the receiver */
#define TARGETS_MAX 16
#define POINTS 40
#define LAYER_POINTS 10
#define ANSWER_CALLS_MIN 3 /* what calls less only hands on */
#define TOGETHER 1000000   /* more than functions that call one */

struct traffic {	   /* of one function in one direction */
	const char *type;  /* of the connection; NULL: none */
	const char *chain; /* from the parameter to the connection: "" or "->conn" */
	const char *given; /* receivers: as `chain`, from whatever the receive is given */
	size_t parameter;
	uint8_t level, is_layered;  /* is_layered: by way of a pointer */
	uint8_t is_inner, is_outer; /* one that does the same calls it; something else does */
};

struct replies {
	struct vprof_ranking *r;
	struct vprof_discovery *d;
	struct traffic *in, *out; /* [n_functions] */
};

/* The length of the first name in `text`, if only members follow: 1 for "c->conn", 4 for "conn"; else 0. */
static size_t root_of(const char *text)
{
	size_t n = 0;
	const char *p;

	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	for (p = text + n; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '.' && strncmp(p, "->", 2) &&
		    (*p != '>' || p[-1] != '-'))
			return 0;
	return n;
}

/* The pointer parameter of `f` at which the expression begins; n: none. */
static size_t parameter_in(struct replies *s, uint32_t f, const char *text, size_t *n)
{
	const struct vprof_parameter *list = vprof_discovery_parameters(s->d, &s->d->facts->functions[f], n);
	size_t root = root_of(text), i;

	for (i = 0; i < *n; i++)
		if (root && list[i].is_pointer && strlen(list[i].name) == root && !strncmp(list[i].name, text, root))
			return i;
	return *n;
}

/* `f` itself calls the system: receive(c->fd, ...). */
static void note_direct(struct replies *s, uint32_t f, const struct vprof_facts_call *call, enum vprof_call_role role,
			struct traffic *all)
{
	const char *text;
	size_t n, i;

	if (call->callee_function || call->kind == VPROF_CALL_POINTER || all[f].type ||
	    !vprof_call_has_role(call, role))
		return;
	text = vprof_discovery_argument(s->d, call, 0);
	i = text ? parameter_in(s, f, text, &n) : 0;
	if (text && i < n)
		all[f] = (struct traffic){
			vprof_discovery_parameters(s->d, &s->d->facts->functions[f], &n)[i].type, "", "", i, 0, 0, 0, 0
		};
}

/* The only parameter of that type; n: none, or several. */
static size_t parameter_of_type(struct replies *s, uint32_t f, const char *type, size_t *n)
{
	const struct vprof_parameter *list = vprof_discovery_parameters(s->d, &s->d->facts->functions[f], n);
	size_t i, found = *n;

	for (i = 0; i < *n; i++) {
		if (strcmp(list[i].type, type))
			continue;
		if (found < *n)
			return *n;
		found = i;
	}
	return found;
}

/* `f` hands something to `g`, which receives or sends on it. A receiver may find what it hands on by way of the
 * connection: c = connGetPrivateData(conn). */
static void note_handed(struct replies *s, uint32_t f, const struct vprof_facts_call *call, uint32_t g,
			struct traffic *all)
{
	const struct traffic *of = &all[g];
	const char *text = vprof_discovery_argument(s->d, call, of->parameter), *chain;
	size_t n = 0, i = text ? parameter_in(s, f, text, &n) : 0;
	int found = text && i < n;

	if (!text || !root_of(text))
		return;
	chain = vprof_arena_printf(s->d->arena, "%s%s", text + root_of(text), of->chain);
	if (!found && all == s->in)
		i = parameter_of_type(s, f, of->type, &n);
	if (i == n || !chain)
		return;
	all[f] = (struct traffic){ of->type,
				   found ? chain : "",
				   chain,
				   i,
				   (uint8_t)(of->level + 1),
				   of->is_layered || call->kind == VPROF_CALL_POINTER,
				   0,
				   0 };
}

static const char *last_member(const char *text)
{
	const char *p = text + strlen(text);

	while (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_'))
		p--;
	return p;
}

/* Is the function ever put into a member of that name? */
static int is_put_into(const struct vprof_facts *facts, uint32_t f, const char *member)
{
	size_t i;

	for (i = 0; i < facts->n_addresses; i++)
		if (facts->addresses[i].function == f + 1 && !strcmp(last_member(facts->addresses[i].target), member))
			return 1;
	return 0;
}

/* Of functions of one type, those that are put into the member that is called: c->read is not c->write. All, if none
 * is. */
static size_t only_members(const struct vprof_facts *facts, const char *member, uint32_t *targets, size_t n)
{
	size_t i, n_put = 0;
	uint32_t f;

	for (i = 0; i < n; i++) {
		if (!is_put_into(facts, targets[i], member))
			continue;
		f = targets[n_put];
		targets[n_put++] = targets[i];
		targets[i] = f;
	}
	return n_put ? n_put : n;
}

/* What a call may reach, if there is traffic in it. */
static size_t targets_of(const struct replies *s, const struct vprof_facts_call *call, const struct traffic *all,
			 uint32_t *targets)
{
	size_t n, i;

	if (call->callee_function) {
		targets[0] = call->callee_function - 1;
		return all[targets[0]].type != NULL;
	}
	if (call->kind != VPROF_CALL_POINTER)
		return 0;
	n = vprof_facts_pointer_targets(s->d->facts, call->signature, targets, TARGETS_MAX);
	n = n < TARGETS_MAX ? n : TARGETS_MAX;
	for (i = 0; i < n && !all[targets[i]].type; i++)
		;
	return i < n ? only_members(s->d->facts, last_member(call->callee), targets, n) : 0;
}

static void spread(struct replies *s, struct traffic *all, int level)
{
	const struct vprof_facts *facts = s->d->facts;
	uint32_t f, i, targets[TARGETS_MAX];
	size_t n, j;

	for (f = 0; f < facts->n_functions; f++)
		for (i = 0; i < facts->functions[f].n_calls && !all[f].type; i++)
			for (n = targets_of(s, vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i), all,
					    targets),
			    j = 0;
			     j < n && !all[f].type; j++)
				if (targets[j] != f && all[targets[j]].type && all[targets[j]].level == level)
					note_handed(s, f,
						    vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i),
						    targets[j], all);
}

static int is_both(const struct replies *s, uint32_t f)
{
	return s->in[f].type && s->out[f].type && !strcmp(s->in[f].type, s->out[f].type);
}

/* Which functions are called by one that does the same (and not the opposite too), and which by something else. */
static void mark_inner(struct replies *s, struct traffic *all)
{
	const struct vprof_facts *facts = s->d->facts;
	uint32_t f, i, targets[TARGETS_MAX];
	size_t n, j;

	for (f = 0; f < facts->n_functions; f++)
		for (i = 0; i < facts->functions[f].n_calls; i++)
			for (n = targets_of(s, vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i), all,
					    targets),
			    j = 0;
			     j < n; j++) {
				struct traffic *t = &all[targets[j]];

				if (targets[j] == f || !t->type)
					continue;
				t->is_inner |= all[f].type && !strcmp(t->type, all[f].type) && !is_both(s, f);
				t->is_outer |= !all[f].type || strcmp(t->type, all[f].type) || is_both(s, f);
			}
}

static int find_traffic(struct replies *s, enum vprof_call_role role, struct traffic **all)
{
	const struct vprof_facts *facts = s->d->facts;
	uint32_t f, i;
	int level;

	*all = calloc(facts->n_functions + 1, sizeof **all);
	if (!*all)
		return -1;
	for (f = 0; f < facts->n_functions; f++)
		for (i = 0; i < facts->functions[f].n_calls; i++)
			note_direct(s, f, vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i), role, *all);
	for (level = 0; level < LEVELS_MAX; level++)
		spread(s, *all, level);
	return 0;
}

static int calls_by_name(const struct replies *s, uint32_t f, uint32_t callee)
{
	uint32_t i;

	for (i = 0; i < s->d->facts->functions[f].n_calls; i++)
		if (vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i)->callee_function == callee + 1)
			return 1;
	return 0;
}

/* Does one function call both, with its own connection? */
static int are_called_together(const struct replies *s, uint32_t begin, uint32_t end)
{
	uint32_t f;

	for (f = 0; f < s->d->facts->n_functions; f++)
		if (is_both(s, f) && calls_by_name(s, f, begin) && calls_by_name(s, f, end))
			return 1;
	return 0;
}

static int n_callers(const struct replies *s, uint32_t callee)
{
	uint32_t f;
	int n = 0;

	for (f = 0; f < s->d->facts->n_functions; f++)
		n += calls_by_name(s, f, callee);
	return n;
}

static int may_be(const struct replies *s, const struct traffic *all, uint32_t f)
{
	const struct vprof_facts_function *function = &s->d->facts->functions[f];

	return all[f].type && !is_both(s, f) && function->instrumentable && !function->is_tiny;
}

/* The sender that answers what `begin` receives, the one that most call; index + 1, or 0. */
static uint32_t answer_of(const struct replies *s, uint32_t begin)
{
	uint32_t f, best = 0;
	int worth, best_worth = 0;

	for (f = 0; f < s->d->facts->n_functions; f++) {
		if (f == begin || !may_be(s, s->out, f) || strcmp(s->out[f].type, s->in[begin].type) ||
		    s->d->facts->functions[f].n_calls < ANSWER_CALLS_MIN || (s->out[f].is_inner && !s->out[f].is_outer))
			continue;
		worth = n_callers(s, f);
		if (worth && are_called_together(s, begin, f))
			worth += TOGETHER;
		else if (strcmp(s->out[f].chain, s->in[begin].given))
			worth = 0;
		if (worth > best_worth) {
			best_worth = worth;
			best = f + 1;
		}
	}
	return best;
}

static void observe_answer(struct replies *s, uint32_t begin, uint32_t end)
{
	struct vprof_discovery *d = s->d;
	struct vprof_candidate *c = &s->r->all[begin];
	const struct vprof_facts_function *function = &d->facts->functions[end];
	size_t n;

	c->end = end + 1;
	c->id = vprof_arena_printf(
		d->arena, "%s%s",
		vprof_discovery_parameters(d, &d->facts->functions[begin], &n)[s->in[begin].parameter].name,
		s->in[begin].chain);
	c->end_id = vprof_arena_printf(d->arena, "%s%s",
				       vprof_discovery_parameters(d, function, &n)[s->out[end].parameter].name,
				       s->out[end].chain);
	c->is_left = !are_called_together(s, begin, end);
	vprof_ranking_observe(s->r, begin,
			      POINTS + (s->in[begin].is_layered && s->out[end].is_layered ? LAYER_POINTS : 0),
			      vprof_arena_printf(d->arena, "%s (%s) sends to the connection that it receives from",
						 function->name, vprof_discovery_where(d, function)));
}

void vprof_observe_replies(struct vprof_ranking *r)
{
	struct replies s = { r, r->d, NULL, NULL };
	uint32_t f, end;

	if (find_traffic(&s, VPROF_ROLE_RECEIVE, &s.in) || find_traffic(&s, VPROF_ROLE_SEND, &s.out)) {
		r->d->arena->failed = 1;
		goto out;
	}
	mark_inner(&s, s.in);
	mark_inner(&s, s.out);
	for (f = 0; f < r->d->facts->n_functions; f++) {
		if (s.in[f].is_inner || !may_be(&s, s.in, f))
			continue;
		end = r->chain[f] <= CHAIN_MAX && !r->all[f].end ? answer_of(&s, f) : 0;
		if (end)
			observe_answer(&s, f, end - 1);
	}
out:
	free(s.in);
	free(s.out);
}
