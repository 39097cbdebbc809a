/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/latency/latency_answer.h"

#include <math.h>
#include <string.h>

#include "report/format_value.h"

#define NAMES_IN_SENTENCE 6
#define WIDE 0.5	   /* bounds are too wide when the lower is less than this part of the upper, ... */
#define LEFT_OUT 0.05	   /* of the events: worth a word */
#define UNSURE 0.2	   /* of the time: worth a word */
#define UNNAMED 0.2	   /* of the frames: worth a word */
#define PATHS_LOOKED_AT 10 /* that a report shows */
#define MATTERS 0.05	   /* of all costs */

static const struct vprof_latency_name *function_of(const struct vprof_latency_results *r, uint32_t node)
{
	return &r->names[r->nodes[node].function];
}

static int is_start(const char *name)
{
	static const char *const names[] = { "_start",
					     "__libc_start_main",
					     "__libc_start_main_impl",
					     "__libc_start_call_main",
					     "start_thread",
					     "clone3",
					     "__clone3",
					     "__clone",
					     "clone",
					     "thread_start" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

/* Which of n functions, the last n_kernel of them the kernel's, are shown when at most `most` are: the first of the
 * program and of the kernel, and the innermost of both. */
static int is_shown(size_t i, size_t n, size_t n_kernel, size_t most)
{
	size_t n_user = n - n_kernel, kernel = n_kernel < most / 2 ? n_kernel : most / 2, user = most - kernel;

	if (!most || n <= most)
		return 1;
	if (i < n_user)
		return !i || i + user > n_user;
	return i == n_user || i + kernel > n;
}

void vprof_latency_path_words(const struct vprof_latency_results *r, const struct vprof_latency_path_result *p,
			      size_t most, struct vprof_text *out)
{
	size_t first = 0, n, n_kernel = 0;
	int is_left_out = 0;

	while (first + 1 < p->n_steps && is_start(function_of(r, p->steps[first].context)->name))
		first++;
	n = p->n_steps - first;
	while (n_kernel < n &&
	       function_of(r, p->steps[first + n - n_kernel - 1].context)->layer == VPROF_LATENCY_RESULTS_KERNEL)
		n_kernel++;
	for (size_t i = 0; i < n; i++) {
		int shown = is_shown(i, n, n_kernel, most);

		if (shown)
			vprof_text_addf(out, "%s%s%s", i ? " > " : "", i == n - n_kernel ? "[kernel] " : "",
					function_of(r, p->steps[first + i].context)->name);
		else if (!is_left_out)
			vprof_text_add(out, " > ...");
		is_left_out = !shown;
	}
}

const char *vprof_latency_extent(const struct vprof_latency_results *r, const struct vprof_latency_path_result *p,
				 size_t n)
{
	uint32_t context = p->steps[n - 1].context;

	for (size_t i = context + 1; i < r->n_nodes; i++)
		if (r->nodes[i].parent == context)
			return p->is_own && n == p->n_own ? " by itself" : " with all that it calls";
	return "";
}

double vprof_latency_cost(const struct vprof_latency_results *r, int side)
{
	const struct vprof_latency_side *s = &r->sides[side];

	return s->n_units > 0 && s->total_ns > s->idle_ns ? (s->total_ns - s->idle_ns) / s->n_units : 0;
}

/* Does another path's interval reach above the first one's lower end, while that is wide? */
static int is_undecided(const struct vprof_latency_results *r)
{
	const struct vprof_latency_path_result *p = r->paths;

	if (p->low_ns >= WIDE * p->high_ns)
		return 0;
	for (size_t i = 1; i < r->n_paths; i++)
		if (r->paths[i].high_ns > p->low_ns)
			return 1;
	return p->low_ns <= 0;
}

static enum vprof_latency_outcome answer_alone(const struct vprof_latency_results *r, struct vprof_text *out)
{
	const struct vprof_latency_path_result *p = r->paths;
	double all = vprof_latency_cost(r, 1);
	const struct vprof_latency_figures *f;

	if (!r->n_paths || all <= 0) {
		vprof_text_add(out, "The recording shows no function at work.");
		return VPROF_LATENCY_UNDECIDED;
	}
	f = &r->nodes[p->steps[p->n_steps - 1].context].side[1];
	if (is_undecided(r)) {
		vprof_text_add(out, "It is not settled which function takes most: ");
		vprof_latency_path_words(r, p, NAMES_IN_SENTENCE, out);
		vprof_text_add(out, " takes ");
		vprof_bound_share_words(p->low_ns / all, p->high_ns / all, out);
		vprof_text_add(out, " of the time in which threads were not idle.");
		return VPROF_LATENCY_UNDECIDED;
	}
	vprof_latency_path_words(r, p, NAMES_IN_SENTENCE, out);
	vprof_text_add(out, " takes most by itself: ");
	vprof_bound_share_words(p->low_ns / all, p->high_ns / all, out);
	vprof_text_addf(out, " of the %s in which threads were not idle",
			vprof_format_duration(r->sides[1].total_ns - r->sides[1].idle_ns).s);
	if (f->own_ns > 0 && f->own_off_ns > f->own_idle_ns)
		vprof_text_addf(
			out, ", %s of it waiting for something or for a CPU",
			vprof_format_percent((f->own_off_ns - f->own_idle_ns) / (f->own_ns - f->own_idle_ns)).s);
	vprof_text_add(out, ".");
	return VPROF_LATENCY_ANSWERED;
}

/* What is told of: the calls of the innermost function on the path; of those that the base has, too. */
static void add_per_call(const struct vprof_latency_results *r, const struct vprof_latency_path_result *p,
			 struct vprof_text *out)
{
	const struct vprof_latency_node *n = &r->nodes[p->steps[p->n_steps - 1].context];

	if (!n->side[1].is_there || n->side[1].n <= 0)
		return;
	vprof_text_add(out, "; a call takes ");
	vprof_bound_time_words(n->side[1].call_low_ns, n->side[1].call_high_ns, out);
	if (n->side[0].is_there && n->side[0].n > 0) {
		vprof_text_add(out, ", was ");
		vprof_bound_time_words(n->side[0].call_low_ns, n->side[0].call_high_ns, out);
	} else {
		vprof_text_add(out, ", and was not seen in the base run");
	}
}

static enum vprof_latency_outcome answer_comparison(const struct vprof_latency_results *r, struct vprof_text *out)
{
	const struct vprof_latency_path_result *p = NULL;
	double all = vprof_latency_cost(r, 1);

	for (size_t i = 0; i < r->n_paths && !p; i++)
		if (r->paths[i].verdict == VPROF_LATENCY_PATH_SETTLED)
			p = &r->paths[i];
	if (p) {
		struct vprof_latency_path_result known = *p;

		known.n_steps = p->n_whole ? p->n_whole : p->n_own;
		vprof_latency_path_words(r, &known, NAMES_IN_SENTENCE, out);
		vprof_text_addf(out,
				"%s costs most more than in the base run: ", vprof_latency_extent(r, p, known.n_steps));
		vprof_bound_time_words(p->low_ns, p->high_ns, out);
		vprof_text_addf(out, " per %s", r->unit);
		add_per_call(r, &known, out);
		vprof_text_add(out, ".");
		return VPROF_LATENCY_ANSWERED;
	}
	for (size_t i = 0; i < r->n_paths && i < 3 && !p; i++)
		if (r->paths[i].verdict == VPROF_LATENCY_PATH_UNBOUNDED && r->paths[i].cost_ns > 0.05 * all)
			p = &r->paths[i];
	if (!p) {
		vprof_text_add(out, "No function takes longer than in the base run, beyond what varies within both.");
		return VPROF_LATENCY_SAME;
	}
	vprof_text_add(out, "It is not settled what takes longer: ");
	vprof_latency_path_words(r, p, NAMES_IN_SENTENCE, out);
	vprof_text_add(out, " may cost ");
	vprof_text_addf(out, "%s less or %s more per %s.", vprof_format_duration(p->low_ns < 0 ? -p->low_ns : 0).s,
			vprof_format_duration(p->high_ns).s, r->unit);
	return VPROF_LATENCY_UNDECIDED;
}

static enum vprof_latency_outcome tell(const struct vprof_latency_results *r, struct vprof_text *out)
{
	return r->is_comparison ? answer_comparison(r, out) : answer_alone(r, out);
}

static double part(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : 0;
}

static int add_reason(uint64_t n, const char *why, int is_first, struct vprof_text *out)
{
	if (n)
		vprof_text_addf(out, "%s%s %s", is_first ? "" : ", ", vprof_format_count(n).s, why);
	return is_first && !n;
}

int vprof_latency_left_out_words(const struct vprof_latency_side *s, struct vprof_text *out)
{
	uint64_t told = s->n_deep + s->n_long + s->n_untabled + s->n_gone;
	int is_first = add_reason(s->n_deep, "whose stacks reach too far (more than 31 KiB)", 1, out);

	is_first = add_reason(s->n_untabled, "in code that has no unwind tables, as a JIT's", is_first, out);
	is_first = add_reason(s->n_gone, "of processes that ended before their files were known", is_first, out);
	is_first = add_reason(s->n_long, "with more than 127 frames", is_first, out);
	is_first = add_reason(s->n_cut > told ? s->n_cut - told : 0, "without their outer frames", is_first, out);
	is_first = add_reason(s->n_kernel_only, "with the kernel's stack alone", is_first, out);
	is_first = add_reason(s->n_without > s->n_kernel_only ? s->n_without - s->n_kernel_only : 0,
			      "whose stacks found no room", is_first, out);
	return !is_first;
}

static void warn_of_side(const struct vprof_latency_results *r, int side, struct vprof_answer *answer)
{
	const struct vprof_latency_side *s = &r->sides[side];
	uint64_t n = s->n_events + s->n_without + s->n_cut + s->n_unpaired;
	const char *which = !r->is_comparison ? "" : side ? " of the new run" : " of the base run";

	if (s->unsure_ns > UNSURE * (s->total_ns - s->idle_ns))
		vprof_text_addf(
			vprof_answer_warn(answer),
			"in %s of the working time%s a function may have returned and been called again between two "
			"events: such calls count as one",
			vprof_format_percent(s->unsure_ns / (s->total_ns - s->idle_ns)).s, which);
	if (part(s->n_cut + s->n_without, n) >= LEFT_OUT) {
		struct vprof_text *t = vprof_answer_warn(answer);

		vprof_text_addf(t, "%s of the events%s were left out, which widens the bounds: ",
				vprof_format_percent(part(s->n_cut + s->n_without, n)).s, which);
		vprof_latency_left_out_words(s, t);
	}
	if (part(s->n_unnamed, s->n_frames) >= UNNAMED)
		vprof_text_addf(
			vprof_answer_warn(answer),
			"%s of the functions%s have no name: the programs are stripped, or were built again since; "
			"install their debug files, and analyse again",
			vprof_format_percent(part(s->n_unnamed, s->n_frames)).s, which);
	if (s->n_lost)
		vprof_text_addf(vprof_answer_warn(answer),
				"%s events%s were lost, which widens the bounds: record with more --memory",
				vprof_format_count(s->n_lost).s, which);
	if (*s->missing)
		vprof_text_addf(vprof_answer_warn(answer), "not recorded%s: %s", which, s->missing);
}

enum vprof_latency_outcome vprof_latency_outcome(const struct vprof_latency_results *r)
{
	struct vprof_text unused = VPROF_TEXT_INIT;
	enum vprof_latency_outcome outcome = tell(r, &unused);

	vprof_text_release(&unused);
	return outcome;
}

/* Of a comparison the first path of those shown whose bounds do not tell and that may be a twentieth of all costs;
 * NULL: there is none. */
static const struct vprof_latency_path_result *first_unbounded(const struct vprof_latency_results *r)
{
	for (size_t i = 0; r->is_comparison && i < r->n_paths && i < PATHS_LOOKED_AT; i++)
		if (r->paths[i].verdict == VPROF_LATENCY_PATH_UNBOUNDED &&
		    r->paths[i].high_ns > MATTERS * vprof_latency_cost(r, 1))
			return &r->paths[i];
	return NULL;
}

/* Where bounds are too wide to decide: what would make them narrower. */
static void advise(const struct vprof_latency_results *r, enum vprof_latency_outcome outcome,
		   struct vprof_answer *answer)
{
	const struct vprof_latency_path_result *p = outcome == VPROF_LATENCY_UNDECIDED ? NULL : first_unbounded(r);
	struct vprof_text *t;

	if ((outcome != VPROF_LATENCY_UNDECIDED && !p) || !r->n_paths)
		return;
	t = vprof_answer_warn(answer);
	if (p) {
		vprof_text_add(t, "the bounds of some paths are too wide to tell (first: ");
		vprof_latency_path_words(r, p, NAMES_IN_SENTENCE, t);
		vprof_text_add(t, "): ");
	}
	/* in windows, more events would make the windows shorter */
	vprof_text_addf(t, "%s, or measure these functions with probes (vprof init --from RUN)",
			r->sides[0].n_windows || r->sides[1].n_windows ?
				"stacks were taken in windows of time only: for narrower bounds record for longer, the "
				"program in question alone (--name), or all the time (--budget 0)" :
				"record with more events for narrower bounds (--spacing 1ns, --timer 4000)");
}

void vprof_latency_answer(const struct vprof_latency_results *r, struct vprof_answer *answer)
{
	advise(r, tell(r, &answer->sentence), answer);
	for (int side = !r->is_comparison; side < 2; side++)
		warn_of_side(r, side, answer);
}
