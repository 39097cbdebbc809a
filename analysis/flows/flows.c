/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/flows/flows.h"

#include <inttypes.h>

#include "analysis/flows/flow_places.h"

#define MOSTLY 10	     /* one in so many is an exception */
#define STORED_LEAST 5	     /* beside one flow so many that others use: it is one of these */
#define TAKEN_LEAST 2	     /* half of what one access takes out, without what may be handed from worker to worker */
#define TAKEN_LEAST_OF_ALL 4 /* a quarter, with it */

struct judged {
	uint32_t pair;
	enum vprof_flow_verdict verdict, alone; /* alone: by the pair's own counts */
	int joins;				/* a flow only because others of its functions are */
	struct vprof_flow_place producer, consumer;
	size_t flow;	/* its index in the answer */
	int is_in_loop; /* as struct vprof_flow */
	int is_by_taker, is_by_producer;
};

struct answer {
	struct vprof_flows *out;
	struct vprof_flow_pairs pairs;
	struct judged *judged; /* as pairs.pairs */
};

static int same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static int same_function(const struct vprof_flow_place *a, const struct vprof_flow_place *b)
{
	return a->n && b->n && same_text(a->functions[0].name, b->functions[0].name) &&
	       same_text(a->functions[0].file, b->functions[0].file);
}

static int same_functions(const struct judged *a, const struct judged *b)
{
	return same_function(&a->producer, &b->producer) && same_function(&a->consumer, &b->consumer);
}

static int is_of(const struct answer *a, size_t i, size_t k)
{
	return same_functions(&a->judged[i], &a->judged[k]) &&
	       a->pairs.pairs.v[i].is_event == a->pairs.pairs.v[k].is_event;
}

/* Of the pairs with the functions of this one: pointers and copied ranges are judged separately. Without their roles.
 */
static struct vprof_flow_pair sum_of(const struct answer *a, size_t i)
{
	struct vprof_flow_pair sum = { .is_event = a->pairs.pairs.v[i].is_event };

	for (size_t k = 0; k < a->pairs.pairs.n; k++) {
		const struct vprof_flow_pair *pair = &a->pairs.pairs.v[k];

		if (!is_of(a, i, k) || pair->is_range != a->pairs.pairs.v[i].is_range)
			continue;
		sum.n_flows += pair->n_flows;
		sum.n_allocator += pair->n_allocator;
		sum.n_again += pair->n_again;
		sum.n_again_others += pair->n_again_others;
		sum.n_own += pair->n_own;
		sum.n_filled += pair->n_filled;
		sum.n_passed_on += pair->n_passed_on;
		sum.n_blind += pair->n_blind;
		sum.n_passed_blind += pair->n_passed_blind;
		sum.n_shared += pair->n_shared;
		sum.n_asked += pair->n_asked;
	}
	return sum;
}

/* Has a pair of these functions with so many flows the verdict? */
static int functions_have(const struct answer *a, size_t i, enum vprof_flow_verdict verdict, uint64_t least)
{
	for (size_t k = 0; k < a->pairs.pairs.n; k++)
		if (a->judged[k].verdict == verdict && a->pairs.pairs.v[k].n_flows >= least && is_of(a, i, k))
			return 1;
	return 0;
}

/* What is rare at each pair may be enough in sum over the pairs of its functions; and a pair that is rare belongs to
 * what its functions do otherwise. What seems to be taken again and again may be one taking at two places, a load and
 * the exchange that follows it. Where pointers or copied ranges are a flow, the other ones' rare ones are of it. So is
 * a pair of which too few were looked at. */
static void judge_rare(struct answer *a)
{
	for (size_t i = 0; i < a->pairs.pairs.n; i++) {
		const struct vprof_flow_pair *pair = &a->pairs.pairs.v[i];
		struct judged *rare = &a->judged[i];
		int is_unwatched = rare->verdict == VPROF_FLOW_UNDECIDED &&
				   !vprof_flow_is_watched(pair->n_flows, pair->n_blind) &&
				   !vprof_flow_is_shared(pair->n_asked, pair->n_shared);
		struct vprof_flow_pair sum;
		int is_flow, is_sum_flow;

		if (rare->verdict != VPROF_FLOW_FEW && rare->verdict != VPROF_FLOW_STATE && !is_unwatched)
			continue;
		if (!pair->n_flows)
			continue;
		sum = sum_of(a, i);
		is_flow = functions_have(a, i, VPROF_FLOW_FLOW, 0);
		is_sum_flow = vprof_flow_judge(&sum) == VPROF_FLOW_FLOW;
		if (rare->verdict == VPROF_FLOW_FEW ? is_flow || (is_sum_flow && !sum.n_own) : is_flow && is_sum_flow) {
			rare->verdict = VPROF_FLOW_FLOW;
			rare->joins = is_flow;
		}
	}
}

/* When what they had joined turned out to be no flow. Returns how many. */
static size_t judge_joined(struct answer *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->pairs.pairs.n; i++) {
		int is_flow = 0;

		if (!a->judged[i].joins || a->judged[i].verdict != VPROF_FLOW_FLOW)
			continue;
		for (size_t k = 0; k < a->pairs.pairs.n && !is_flow; k++)
			is_flow = a->judged[k].verdict == VPROF_FLOW_FLOW && !a->judged[k].joins && is_of(a, i, k);
		if (!is_flow) {
			a->judged[i].verdict = a->judged[i].alone;
			n++;
		}
	}
	return n;
}

/* The links of a structure are as many pairs as they are stored at places. Where one of them tells that its objects may
 * only go back to a pool, or are looked up again and again, and so does the sum, the others do not know better. What is
 * stored once, as a pointer to what all share, is no link. */
static void judge_links(struct answer *a)
{
	for (size_t i = 0; i < a->pairs.pairs.n; i++) {
		struct vprof_flow_pair sum;
		enum vprof_flow_verdict verdict;

		if (a->judged[i].verdict != VPROF_FLOW_FLOW || a->pairs.pairs.v[i].is_event)
			continue;
		sum = sum_of(a, i);
		sum.n_shared = 0; /* says something of its own pair only */
		verdict = vprof_flow_judge(&sum);
		if ((verdict == VPROF_FLOW_UNDECIDED || verdict == VPROF_FLOW_STATE) &&
		    functions_have(a, i, verdict, VPROF_FLOW_FEWEST))
			a->judged[i].verdict = verdict;
	}
}

static uint64_t n_taken(const struct vprof_flow_pair *pair)
{
	return pair->n_flows + pair->n_allocator;
}

/* Of what is taken by the pair's consuming access: the pair that most of what is no flow comes from, NULL where enough
 * of it are flows. */
static const struct judged *judge_taker(const struct answer *a, size_t i)
{
	const struct vprof_flow_pair *of = &a->pairs.pairs.v[i];
	const struct judged *most = NULL;
	uint64_t all = 0, flows = 0, roles = 0;

	for (size_t k = 0; k < a->pairs.pairs.n; k++) {
		const struct vprof_flow_pair *pair = &a->pairs.pairs.v[k];
		const struct judged *judged = &a->judged[k];

		if (pair->consumer != of->consumer || pair->is_event)
			continue;
		all += n_taken(pair);
		roles += judged->verdict == VPROF_FLOW_ROLES ? n_taken(pair) : 0;
		if (judged->verdict == VPROF_FLOW_FLOW)
			flows += pair->n_flows;
		else if (judged->verdict != VPROF_FLOW_FEW &&
			 (!most || n_taken(pair) > n_taken(&a->pairs.pairs.v[most->pair])))
			most = judged;
	}
	return TAKEN_LEAST * flows < all - roles || TAKEN_LEAST_OF_ALL * flows < all ? most : NULL;
}

/* Where mostly what is no flow is taken out, memory is taken, or things are looked up: a few that look handed over
 * (they were marked before they went back, say) are no queue beside it. */
static int judge_takers(struct answer *a, struct vprof_error *err)
{
	size_t n = a->pairs.pairs.n;
	uint8_t *verdicts = malloc(n + 1);

	if (!verdicts)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		const struct judged *most = a->judged[i].verdict == VPROF_FLOW_FLOW && !a->pairs.pairs.v[i].is_event ?
						    judge_taker(a, i) :
						    NULL;

		verdicts[i] = (uint8_t)(most ? most->verdict : a->judged[i].verdict);
	}
	for (size_t i = 0; i < n; i++) {
		a->judged[i].is_by_taker |= a->judged[i].verdict != verdicts[i];
		a->judged[i].verdict = verdicts[i];
	}
	free(verdicts);
	return VPROF_OK;
}

/* Of what all pairs with the producer's function hand over under the same lock, most is found and used by others: the
 * few of which that was not seen are no queue beside it. */
static int is_stored_for_all(const struct answer *a, size_t i)
{
	uint64_t flows = 0, shared = 0;

	for (size_t k = 0; k < a->pairs.pairs.n; k++) {
		const struct vprof_flow_pair *pair = &a->pairs.pairs.v[k];
		const struct judged *judged = &a->judged[k];

		if (pair->is_event || pair->lock != a->pairs.pairs.v[i].lock ||
		    !same_function(&a->judged[i].producer, &judged->producer))
			continue;
		if (judged->verdict == VPROF_FLOW_FLOW || judged->is_by_producer)
			flows += pair->n_flows;
		else if (judged->verdict == VPROF_FLOW_STATE || (judged->verdict == VPROF_FLOW_UNDECIDED &&
								 vprof_flow_is_shared(pair->n_asked, pair->n_shared)))
			shared += pair->n_flows;
	}
	return STORED_LEAST * flows < shared;
}

static void judge_producers(struct answer *a)
{
	for (size_t i = 0; i < a->pairs.pairs.n; i++)
		if (a->judged[i].verdict == VPROF_FLOW_FLOW && !a->pairs.pairs.v[i].is_event &&
		    is_stored_for_all(a, i)) {
			a->judged[i].verdict = VPROF_FLOW_UNDECIDED;
			a->judged[i].is_by_producer = 1;
		}
}

static void copy_place(struct vprof_arena *arena, struct vprof_flow_place *to, const struct vprof_flow_place *from)
{
	*to = *from;
	for (size_t i = 0; i < to->n; i++) {
		struct vprof_flow_function *f = &to->functions[i];

		f->name = vprof_arena_printf(arena, "%s", f->name);
		f->file = f->file ? vprof_arena_printf(arena, "%s", f->file) : NULL;
	}
}

static const char *reason_of(struct vprof_arena *arena, const struct vprof_flow *f)
{
	if (f->is_by_taker)
		return vprof_arena_printf(
			arena, "%" PRIu64 " items look handed over, but most of what is taken there is no flow",
			f->n_items);
	if (f->is_by_producer)
		return vprof_arena_printf(
			arena,
			"%" PRIu64
			" items look handed over, but most of what is stored there is found and used by others",
			f->n_items);
	switch (f->verdict) {
	case VPROF_FLOW_EVENTS:
		return vprof_arena_printf(
			arena,
			"%" PRIu64
			" events of what the thread itself had registered: a handler, to be named in \"resume\" of an interval that goes on in it",
			f->n_own + f->n_again);
	case VPROF_FLOW_FLOW:
		if (f->is_event)
			return vprof_arena_printf(
				arena,
				"%" PRIu64 " registrations by one thread whose first event another handled (%" PRIu64
				" further events)",
				f->n_items, f->n_again + f->n_again_others);
		return vprof_arena_printf(arena,
					  "%" PRIu64 " items that one thread stored were used by another after its %s",
					  f->n_items, f->is_atomic ? "load" : "critical section");
	case VPROF_FLOW_ALLOCATOR:
		return vprof_arena_printf(
			arena, "%" PRIu64 " of %" PRIu64 " were only written by whoever took them: memory, not work",
			f->n_allocator, f->n_allocator + f->n_flows);
	case VPROF_FLOW_STATE:
		return vprof_arena_printf(
			arena, "taken over again and again: %" PRIu64 " times, %" PRIu64 " of them by other threads",
			f->n_again + f->n_again_others, f->n_again_others);
	case VPROF_FLOW_ROLES:
		return vprof_arena_printf(arena, "the threads that store also take");
	case VPROF_FLOW_UNDECIDED:
		if (vprof_flow_is_shared(f->n_asked, f->n_shared))
			return vprof_arena_printf(
				arena,
				"%" PRIu64 " of %" PRIu64
				" were found elsewhere and used between being stored and being taken, by the threads that stored them or by others: either work on what all look up, or what is waiting to be written back or removed",
				f->n_shared, f->n_asked);
		if (!vprof_flow_is_watched(f->n_flows, f->n_blind))
			return vprof_arena_printf(arena,
						  "stored so rarely among other sections that what filled in %" PRIu64
						  " of %" PRIu64
						  " was not looked at: a shorter run, or one with more of it, tells",
						  f->n_blind, f->n_flows);
		return vprof_arena_printf(
			arena,
			"either constructed objects going back to a pool, or work that was filled in by code not compiled for discovery");
	case VPROF_FLOW_FEW:
		return vprof_arena_printf(arena, "%" PRIu64 " items are too few to tell; the least is %u", f->n_flows,
					  VPROF_FLOW_FEWEST);
	}
	return "";
}

/* Adds the pairs to the flows of their functions and verdict. */
static int group(struct answer *a, struct vprof_error *err)
{
	struct vprof_flows *out = a->out;

	uint64_t *n_ranges = calloc(a->pairs.pairs.n + 1, sizeof *n_ranges);

	out->flows = calloc(a->pairs.pairs.n + 1, sizeof *out->flows);
	if (!out->flows || !n_ranges) {
		free(n_ranges);
		return vprof_error_no_memory(err);
	}
	for (size_t i = 0; i < a->pairs.pairs.n; i++) {
		const struct vprof_flow_pair *pair = &a->pairs.pairs.v[i];
		struct judged *judged = &a->judged[i];
		struct vprof_flow *flow;
		size_t k;

		for (k = 0; k < i; k++)
			if (a->judged[k].verdict == judged->verdict &&
			    a->judged[k].is_by_taker == judged->is_by_taker &&
			    a->judged[k].is_by_producer == judged->is_by_producer &&
			    same_functions(&a->judged[k], judged))
				break;
		judged->flow = k < i ? a->judged[k].flow : out->n_flows++;
		flow = &out->flows[judged->flow];
		if (k == i) {
			flow->verdict = judged->verdict;
			copy_place(&out->arena, &flow->producer, &judged->producer);
			copy_place(&out->arena, &flow->consumer, &judged->consumer);
			flow->is_atomic = !pair->lock;
			flow->is_event = pair->is_event;
			flow->is_in_loop = judged->is_in_loop;
			flow->is_by_taker = judged->is_by_taker;
			flow->is_by_producer = judged->is_by_producer;
		}
		flow->n_pairs++;
		n_ranges[judged->flow] += pair->is_range ? pair->n_flows : 0;
		flow->n_flows += pair->n_flows;
		flow->n_allocator += pair->n_allocator;
		flow->n_own += pair->n_own;
		flow->n_again += pair->n_again;
		flow->n_again_others += pair->n_again_others;
		flow->n_filled += pair->n_filled;
		flow->n_passed_on += pair->n_passed_on;
		flow->n_blind += pair->n_blind;
		flow->n_shared += pair->n_shared;
		flow->n_asked += pair->n_asked;
	}
	for (size_t i = 0; i < out->n_flows; i++)
		out->flows[i].is_range = out->flows[i].n_flows &&
					 MOSTLY * (out->flows[i].n_flows - n_ranges[i]) < out->flows[i].n_flows;
	free(n_ranges);
	return out->arena.failed ? vprof_error_no_memory(err) : VPROF_OK;
}

struct handed { /* one event, by what counts as one item */
	size_t flow;
	uint64_t from, to;
	uint32_t pair;
};

static int by_item(const void *a, const void *b)
{
	const struct handed *x = a, *y = b;

	if (x->flow != y->flow)
		return x->flow < y->flow ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* Items: between two sections, the most events of any one pair. */
static int count_items(struct answer *a, struct vprof_error *err)
{
	size_t n = a->pairs.events.n;
	struct handed *list = malloc((n + 1) * sizeof *list);
	uint64_t most = 0, run = 0;

	if (!list)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		const struct vprof_flow_event *e = &a->pairs.events.v[i];

		list[i] = (struct handed){ a->judged[e->pair].flow, e->from, e->to, e->pair };
	}
	if (vprof_array_sort(list, n, sizeof *list, by_item)) {
		free(list);
		return vprof_error_no_memory(err);
	}
	for (size_t i = 0; i < n; i++) {
		int is_last = i + 1 == n || list[i + 1].flow != list[i].flow || list[i + 1].from != list[i].from ||
			      list[i + 1].to != list[i].to;

		run++;
		most = run > most ? run : most;
		if (is_last || list[i + 1].pair != list[i].pair)
			run = 0;
		if (is_last) {
			a->out->flows[list[i].flow].n_items += most;
			most = 0;
		}
	}
	free(list);
	return VPROF_OK;
}

static int by_verdict(const void *a, const void *b)
{
	const struct vprof_flow *x = a, *y = b;
	uint64_t n = x->n_flows + x->n_allocator + x->n_again, m = y->n_flows + y->n_allocator + y->n_again;

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (n != m)
		return n < m ? 1 : -1;
	if (!x->producer.n || !y->producer.n)
		return 0;
	return strcmp(x->producer.functions[0].name, y->producer.functions[0].name);
}

/* An event is handled by what the function calls that waits for all of them, unless it handles it itself. */
static void leave_out_loop(struct judged *judged)
{
	struct vprof_flow_place *place = &judged->consumer;

	judged->is_in_loop = place->n <= 1;
	if (place->n > 1)
		memmove(place->functions, place->functions + 1, --place->n * sizeof *place->functions);
}

static int answer_trace(struct answer *a, const struct vprof_flow_trace *trace, struct vprof_error *err)
{
	struct vprof_flow_places places;
	int rc = vprof_flow_places_open(&places, trace, err);

	if (!rc)
		rc = vprof_flow_pairs_find(&a->pairs, trace, vprof_flow_place_owner, &places, err);
	a->judged = calloc(a->pairs.pairs.n + 1, sizeof *a->judged);
	if (!rc && !a->judged)
		rc = vprof_error_no_memory(err);
	for (size_t i = 0; !rc && i < a->pairs.pairs.n; i++) {
		const struct vprof_flow_pair *pair = &a->pairs.pairs.v[i];
		enum vprof_flow_verdict verdict = vprof_flow_judge(pair);

		a->judged[i] =
			(struct judged){ .pair = (uint32_t)i,
					 .verdict = verdict,
					 .alone = verdict,
					 .producer = vprof_flow_place_of(&places, &a->pairs.sites.v[pair->producer]),
					 .consumer = vprof_flow_place_of(&places, &a->pairs.sites.v[pair->consumer]) };
	}
	for (size_t i = 0; !rc && i < a->pairs.pairs.n; i++)
		if (a->pairs.pairs.v[i].is_event)
			leave_out_loop(&a->judged[i]);
	if (!rc)
		judge_rare(a);
	if (!rc)
		judge_links(a);
	do { /* what is no flow any more may have made another look like one */
		rc = rc ? rc : judge_takers(a, err);
		if (!rc)
			judge_producers(a);
	} while (!rc && judge_joined(a));
	if (!rc)
		rc = group(a, err);
	if (!rc)
		rc = count_items(a, err);
	if (!rc)
		rc = vprof_flow_requests_find(&a->out->requests, trace, &places, &a->out->arena, err);
	vprof_flow_places_release(&places);
	return rc;
}

int vprof_flows_find(struct vprof_flows *out, const char *folder, struct vprof_error *err)
{
	struct answer a = { .out = out };
	struct vprof_flow_trace trace;
	int rc;

	memset(out, 0, sizeof *out);
	rc = vprof_flow_trace_open(&trace, folder, err);
	if (!rc)
		rc = answer_trace(&a, &trace, err);
	for (size_t i = 0; !rc && i < out->n_flows; i++)
		out->flows[i].reason = reason_of(&out->arena, &out->flows[i]);
	if (!rc && vprof_array_sort(out->flows, out->n_flows, sizeof *out->flows, by_verdict))
		rc = vprof_error_no_memory(err);
	out->n_sections = trace.n_sections;
	out->n_unwritten = trace.n_unwritten;
	out->n_cut = trace.n_cut;
	out->n_nested = trace.n_nested;
	out->n_deep = trace.n_deep;
	out->n_displaced = trace.n_displaced;
	out->n_enough = trace.n_enough;
	out->n_damaged = trace.n_damaged;
	out->n_processes = trace.files.n;
	vprof_flow_pairs_release(&a.pairs);
	free(a.judged);
	vprof_flow_trace_release(&trace);
	return rc;
}

void vprof_flows_release(struct vprof_flows *f)
{
	free(f->flows);
	vprof_arena_release(&f->arena);
	memset(f, 0, sizeof *f);
}
