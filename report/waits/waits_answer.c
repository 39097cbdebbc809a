/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "report/waits/waits_answer.h"

#include <math.h>
#include <string.h>

#include "report/format_value.h"

#define CYCLE_SHOWN 4	   /* members, in the sentence */
#define FRAMES_SHOWN 2	   /* of a stack, in the sentence */
#define FIDELITY_MAX 0.2   /* by which a replay may be off and still be told */
#define UNKNOWN_MAX 0.2	   /* of the waiting time, without a known waker */
#define CIRCULAR_MAX 0.001 /* of all waits */
#define SHORT_NS 1e9	   /* recordings below say little */
#define GAIN_MIN 0.005
#define GAIN_WEAK 0.05	 /* by no wait of any knot more than that: the CPUs are told first, if they are busy */
#define WEIGHT_WEAK 0.1	 /* of the recording: shorter waits that gain less than that hardly limit */
#define BUSY_MIN 0.9	 /* of the CPUs' time */
#define RUNNABLE_MIN 0.2 /* of the recording, that a knot's threads were without a CPU, to be told in the sentence */

struct vprof_value vprof_waits_share(const struct vprof_waits_results *r, double ns)
{
	return vprof_format_percent(r->duration_ns > 0 ? ns / r->duration_ns : NAN);
}

double vprof_waits_unknown_part(const struct vprof_waits_results *r)
{
	double blocked = 0, unknown = 0;

	for (size_t i = 0; i < r->n_parties; i++) {
		blocked += r->parties[i].blocked_ns;
		unknown += r->parties[i].unknown_ns;
	}
	return blocked > 0 ? unknown / blocked : 0;
}

int vprof_waits_is_empty(const struct vprof_waits_results *r)
{
	return !r->n_groups || r->groups[0].verdict == VPROF_WAITS_ASIDE;
}

int vprof_waits_is_faithful(const struct vprof_waits_results *r)
{
	return isfinite(r->fidelity) && fabs(r->fidelity - 1) <= FIDELITY_MAX;
}

int vprof_waits_has_kind(const struct vprof_waits_results *r, const struct vprof_waits_group *g,
			 enum vprof_waits_party_kind kind)
{
	for (size_t i = 0; i < g->n_parties; i++)
		if (r->parties[g->parties[i]].kind == kind)
			return 1;
	return 0;
}

static int has_loop(const struct vprof_waits_results *r, const struct vprof_waits_group *g)
{
	for (size_t i = 0; i < g->n_arcs; i++)
		if (r->arcs[g->arcs[i]].from == r->arcs[g->arcs[i]].to)
			return 1;
	return 0;
}

const char *vprof_waits_remedy(const struct vprof_waits_results *r, const struct vprof_waits_group *g)
{
	if (g->verdict == VPROF_WAITS_SINK)
		return vprof_waits_has_kind(r, g, VPROF_WAITS_PARTY_THREAD) ?
			       "it hardly waits: its own work is the limit. A CPU profile, or vprof iterate, tells which; "
			       "or share the work among more threads" :
			       "it is busy nearly all the time: only less I/O, or a faster device, helps";
	if (vprof_waits_has_kind(r, g, VPROF_WAITS_PARTY_DISK))
		return "usually helps: more work per flush (batches, group commit), more requests at a time, or I/O that "
		       "nobody waits for";
	if (vprof_waits_has_kind(r, g, VPROF_WAITS_PARTY_NETWORK))
		return "usually helps: several requests at a time (pipelining, batches, more connections), or sending "
		       "ahead";
	if (has_loop(r, g))
		return "usually helps: shorter critical sections, or more and smaller locks; for threads that meet at "
		       "barriers, smaller tasks that are handed out as threads become free";
	return "usually helps: what one of them does alone done in parallel, or ahead; work handed over in larger "
	       "batches; smaller tasks where the load is uneven; shorter critical sections";
}

/* What is estimated to be gained by the edge at most; 0: too little, or not known. */
static double told_gain(const struct vprof_waits_results *r, const struct vprof_waits_arc *a)
{
	double most = a->halved;

	if (!vprof_waits_is_faithful(r) || !isfinite(a->halved))
		return 0;
	most = a->gone > most ? a->gone : most;
	most = a->saved > most ? a->saved : most;
	return most >= GAIN_MIN ? most : 0;
}

/* Is `a` rather to be told than `b`? Waits of the program before those of clients for it; then what gains most, where
 * a wait for a client's next request counts half, since the load may be meant to be as it is; then waits within the
 * program; then the heaviest. */
static int is_better(const struct vprof_waits_results *r, const struct vprof_waits_arc *a,
		     const struct vprof_waits_arc *b)
{
	int a_outside = r->parties[a->to].is_outside, b_outside = r->parties[b->to].is_outside;
	double a_gain = told_gain(r, a) / (a_outside ? 2 : 1), b_gain = told_gain(r, b) / (b_outside ? 2 : 1);

	if (r->parties[a->from].is_outside != r->parties[b->from].is_outside)
		return r->parties[b->from].is_outside;
	if (a_gain < b_gain || a_gain > b_gain)
		return a_gain > b_gain;
	return a_outside != b_outside ? b_outside : a->weight_ns > b->weight_ns;
}

/* Idle time is none to improve. */
static const struct vprof_waits_arc *first_edge(const struct vprof_waits_results *r, const struct vprof_waits_group *g)
{
	const struct vprof_waits_arc *best = NULL;

	for (size_t i = 0; i < g->n_arcs; i++) {
		const struct vprof_waits_arc *a = &r->arcs[g->arcs[i]];

		if (!a->is_idle && (!best || is_better(r, a, best)))
			best = a;
	}
	return best;
}

/* The end of the first n frames of a stack, without what it waited for in the kernel. */
static const char *frames_end(const char *stack, int n)
{
	const char *kernel = strstr(stack, " [kernel: "), *end = kernel ? kernel : stack + strlen(stack);

	for (const char *at = stack; n--; at++) {
		at = strstr(at, " < ");
		if (!at || at > end)
			return end;
		if (!n)
			return at;
	}
	return end;
}

/* "server+0x1c3d0": says less than libc's function that it calls. */
static int is_offset(const char *frame)
{
	return memmem(frame, (size_t)(frames_end(frame, 1) - frame), "+0x", strlen("+0x")) != NULL;
}

/* The innermost frames that say something: no inner ones of libc, nor wrappers of vprof's; all where there are no
 * others. What follows is in the list of stacks. */
static void add_innermost(const char *stack, struct vprof_text *t)
{
	const char *end = frames_end(stack, 1), *from = stack;

	while (*end == ' ' && end[1] == '<' && !is_offset(end + strlen(" < ")) &&
	       (*from == '_' || memmem(from, (size_t)(end - from), "(sync_", strlen("(sync_")))) {
		from = end + strlen(" < ");
		end = frames_end(from, 1);
	}
	end = frames_end(from, FRAMES_SHOWN);
	vprof_text_append(t, from, (size_t)(end - from));
}

static void add_edge(const struct vprof_waits_results *r, const struct vprof_waits_arc *a, struct vprof_text *t)
{
	const char *stack = a->n_stacks ? a->stacks[0].wait : "";
	double most;

	if (a->from == a->to)
		vprof_text_addf(t, "threads of %s wait for one another", r->parties[a->from].name);
	else
		vprof_text_addf(t, "%s waits for %s", r->parties[a->from].name, r->parties[a->to].name);
	vprof_text_addf(t, " for %s of the recording", vprof_waits_share(r, a->own_ns).s);
	if (*stack) {
		vprof_text_add(t, a->n_stacks > 1 ? ", most of it in " : ", in ");
		add_innermost(stack, t);
	}
	if (!vprof_waits_is_faithful(r) || !isfinite(a->halved) || !isfinite(a->gone))
		return;
	most = isfinite(a->saved) && a->saved > a->gone ? a->saved : a->gone;
	if (a->halved < GAIN_MIN)
		vprof_text_addf(t, "; with these waits alone %s, throughput would hardly change",
				most < GAIN_MIN ? "shorter" : "half as long");
	else
		vprof_text_addf(t, "; with these waits half as long, throughput would be up to %s higher",
				vprof_format_percent(a->halved).s);
	if (most >= GAIN_MIN && most > a->halved)
		vprof_text_addf(t, "; without them%s, up to %s", most > a->gone ? " and the I/O" : "",
				vprof_format_percent(most).s);
}

static int gains_something(const struct vprof_waits_results *r, const struct vprof_waits_group *g)
{
	for (size_t i = 0; i < g->n_arcs; i++)
		if (told_gain(r, &r->arcs[g->arcs[i]]) > 0)
			return 1;
	return 0;
}

/* Where no wait of the knot gains anything, the lack of CPUs may be what limits it. */
static void add_cpu_time(const struct vprof_waits_results *r, const struct vprof_waits_group *g, struct vprof_text *t)
{
	if (vprof_waits_is_faithful(r) && !gains_something(r, g) && g->runnable_ns >= RUNNABLE_MIN * r->duration_ns)
		vprof_text_addf(t,
				". No wait of the knot gains anything by itself; its threads were ready to run "
				"without a CPU for %s of the recording (summed)",
				vprof_waits_share(r, g->runnable_ns).s);
}

static double busy_part(const struct vprof_waits_results *r)
{
	double running = 0;

	for (size_t i = 0; i < r->n_parties; i++)
		if (r->parties[i].kind == VPROF_WAITS_PARTY_THREAD)
			running += r->parties[i].running_ns;
	return r->n_cpus && r->duration_ns > 0 ? running / (r->duration_ns * r->n_cpus) : 0;
}

/* Are the gains and weights of all knots' waits below these? */
static int are_below(const struct vprof_waits_results *r, double gain, double weight_ns)
{
	for (size_t i = 0; i < r->n_groups; i++)
		for (size_t k = 0; r->groups[i].verdict != VPROF_WAITS_ASIDE && k < r->groups[i].n_arcs; k++) {
			const struct vprof_waits_arc *a = &r->arcs[r->groups[i].arcs[k]];

			if (told_gain(r, a) >= gain || a->own_ns >= weight_ns)
				return 0;
		}
	return vprof_waits_is_faithful(r);
}

/* What limits throughput rather than the waits: the CPUs, which have no time left for more; or nothing that was
 * recorded, where all waits are short and none gains much. */
static void add_limit(const struct vprof_waits_results *r, struct vprof_text *out)
{
	if (busy_part(r) >= BUSY_MIN && are_below(r, GAIN_WEAK, INFINITY))
		vprof_text_addf(
			out,
			"Throughput is limited by the CPUs, which were busy for %s of the recording; of the waits, by ",
			vprof_format_percent(busy_part(r)).s);
	else if (are_below(r, GAIN_WEAK, WEIGHT_WEAK * r->duration_ns))
		vprof_text_add(out, "Throughput is hardly limited by waits: most by ");
	else
		vprof_text_add(out, "Throughput is limited by ");
}

/* A short cycle, or the first few of many. */
static void add_knot(const struct vprof_waits_results *r, const struct vprof_waits_group *g, struct vprof_text *out)
{
	add_limit(r, out);
	if (g->n_parties < CYCLE_SHOWN) {
		vprof_text_add(out, "the knot ");
		vprof_waits_add_members(r, g, out);
		return;
	}
	vprof_text_addf(out, "a knot of %zu, ", g->n_parties);
	for (size_t i = 0; i < CYCLE_SHOWN - 1; i++)
		vprof_text_addf(out, "%s%s", i ? ", " : "", r->parties[g->parties[i]].name);
	vprof_text_addf(out, " and %zu more", g->n_parties - (CYCLE_SHOWN - 1));
}

/* Threads that wait for nobody: their work is the limit, unless they lacked CPUs for longer than they ran. */
static void add_work(const struct vprof_waits_results *r, const struct vprof_waits_group *g, struct vprof_text *out)
{
	const struct vprof_waits_party *p = &r->parties[g->parties[0]];
	int lacks_cpus = g->runnable_ns > p->running_ns;

	vprof_text_addf(out, "Throughput is limited by the %s ", lacks_cpus ? "lack of CPUs for" : "work of");
	vprof_waits_add_party(r, g->parties[0], out);
	vprof_text_addf(out, ", which runs for %s of the recording", vprof_waits_share(r, p->running_ns).s);
	if (lacks_cpus)
		vprof_text_addf(out, ", is ready to run without a CPU for %s%s,",
				vprof_waits_share(r, g->runnable_ns).s,
				p->n_threads > 1 ? " (summed over its threads)" : "");
	vprof_text_add(out, " and waits for nobody");
}

static void tell(const struct vprof_waits_results *r, struct vprof_text *out)
{
	const struct vprof_waits_group *g = r->groups;
	size_t n = 0;

	if (vprof_waits_is_empty(r)) {
		vprof_text_add(
			out, "No wait limits throughput in this recording: all threads sleep now and then, as they do "
			     "when there is not enough load, or when what they wait for is not recorded.");
		return;
	}
	while (n < r->n_groups && r->groups[n].verdict != VPROF_WAITS_ASIDE)
		n++;
	if (g->verdict == VPROF_WAITS_KNOT) {
		const struct vprof_waits_arc *a = first_edge(r, g);

		add_knot(r, g, out);
		if (a) {
			vprof_text_add(out, ": ");
			add_edge(r, a, out);
			add_cpu_time(r, g, out);
		}
	} else if (vprof_waits_has_kind(r, g, VPROF_WAITS_PARTY_THREAD)) {
		add_work(r, g, out);
	} else {
		vprof_text_addf(out, "Throughput is limited by %s, which is busy nearly all the time",
				r->parties[g->parties[0]].name);
	}
	if (n > 1)
		vprof_text_addf(out, "; %zu more knot%s limit%s it, too", n - 1, n == 2 ? "" : "s", n == 2 ? "s" : "");
	vprof_text_add(out, ".");
}

static void warn_of_replay(const struct vprof_waits_results *r, struct vprof_answer *answer)
{
	if (isfinite(r->fidelity) && !vprof_waits_is_faithful(r))
		vprof_text_addf(vprof_answer_warn(answer),
				"the replay of the unchanged recording takes %s of the real time: too far off, so that "
				"no gains are shown",
				vprof_format_percent(r->fidelity).s);
	else if (isinf(r->fidelity))
		vprof_text_add(vprof_answer_warn(answer),
			       "the replay of the unchanged recording does not come to its end, so that "
			       "no gains are shown");
	else if (isfinite(r->fidelity) && r->replayed < 0.995)
		vprof_text_addf(vprof_answer_warn(answer), "gains are from a replay of the first %s of the recording",
				vprof_format_percent(r->replayed).s);
}

static void warn(const struct vprof_waits_results *r, struct vprof_answer *answer)
{
	double unknown = vprof_waits_unknown_part(r), n_waits = 0;

	for (size_t i = 0; i < r->n_arcs; i++)
		n_waits += (double)r->arcs[i].n_waits;
	if (r->n_lost)
		vprof_text_addf(vprof_answer_warn(answer), "%s of %s events were lost: waits may be missing",
				vprof_format_count(r->n_lost).s, vprof_format_count(r->n_lost + r->n_events).s);
	if (unknown > UNKNOWN_MAX)
		vprof_text_addf(vprof_answer_warn(answer),
				"%s of the waiting time has no known waker: edges may be missing",
				vprof_format_percent(unknown).s);
	if ((double)r->n_circular > CIRCULAR_MAX * n_waits)
		vprof_text_addf(vprof_answer_warn(answer), "%s waits contradict one another: events are missing",
				vprof_format_count(r->n_circular).s);
	warn_of_replay(r, answer);
	if (r->duration_ns < SHORT_NS)
		vprof_text_addf(vprof_answer_warn(answer), "only %s were recorded: a longer run says more",
				vprof_format_duration(r->duration_ns).s);
	if (*r->missing)
		vprof_text_addf(vprof_answer_warn(answer), "not recorded: %s", r->missing);
}

void vprof_waits_answer(const struct vprof_waits_results *r, struct vprof_answer *answer)
{
	tell(r, &answer->sentence);
	warn(r, answer);
}
