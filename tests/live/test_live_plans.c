/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random plans come and go in a running program. Of every request that lies under one plan exactly its calls are there,
 * each beneath its caller; of every request of a baseline none; the rest is known to straddle a change. */
#define _GNU_SOURCE
#include <math.h>
#include <unistd.h>

#include "analysis/analyze.h"
#include "analysis/source/source.h"
#include "analysis/timeline/calls.h"
#include "cli/live/live_contexts.h"
#include "tests/live/live_test.h"

#define N_ROUNDS 6
#define TURNS_AT_LEAST 12
#define REQUESTS_AT_LEAST 400
#define PAUSED_AT_LEAST 100
#define N_PAUSES 2 /* of a round */
#define CALLS_BYTES ((size_t)1 << 20)

struct pauses { /* ticks */
	uint64_t from[N_PAUSES], to[N_PAUSES];
	size_t n;
};

struct seen {
	uint64_t n_measured, n_baseline, n_straddling, n_background, n_paused;
};

/* How often each function is called in one request, and measured where its callers are broken down. */
static uint32_t expected(uint32_t code, uint32_t down)
{
	static const uint32_t n[] = { 1, 1, 2, 4 };

	for (uint32_t c = HANDLE; c < code; c++)
		if (!(down >> (c - HANDLE) & 1))
			return 0;
	return code <= LEAF ? n[code - HANDLE] : 0;
}

static int is_parent(uint32_t parent, uint32_t code)
{
	if (code == OUTER)
		return parent == HANDLE || parent == JOB;
	return parent == (code == INNER ? OUTER : code == LEAF ? INNER : 0);
}

static void check_request(const struct vprof_source *s, struct vprof_calls *calls, const struct vprof_instance *inst,
			  enum vprof_plan_side side, uint32_t down)
{
	const struct vprof_call *v;
	uint32_t n_of[N_CODES_END - HANDLE] = { 0 };
	size_t n;

	CHECK(!vprof_calls_window(calls, inst->begin_thread, &s->timeline->threads[inst->begin_thread].calls,
				  inst->begin, inst->end + 1, &v, &n),
	      "memory");
	for (size_t i = 0; i < n; i++) {
		uint32_t parent = v[i].parent == VPROF_NONE ? 0 : v[v[i].parent].code;

		CHECK(v[i].code >= HANDLE && v[i].code <= LEAF, "code %#x", v[i].code);
		CHECK(v[i].code == HANDLE ? !parent : is_parent(parent, v[i].code), "%#x beneath %#x", v[i].code,
		      parent);
		n_of[v[i].code - HANDLE]++;
	}
	for (uint32_t code = HANDLE; code <= LEAF; code++) {
		uint32_t wanted = side == VPROF_PLAN_BASELINE ? 0 : expected(code, down);

		CHECK(n_of[code - HANDLE] == wanted, "%u calls of %#x instead of %u, side %d, plan %#x",
		      n_of[code - HANDLE], code, wanted, (int)side, down);
	}
}

/* Calls of the background thread that began under the plan, after those that straddle the change. */
static uint64_t check_background(const struct vprof_source *s, struct vprof_calls *calls, uint32_t thread)
{
	const struct vprof_thread_timeline *th = &s->timeline->threads[thread];
	const struct vprof_call *v;
	uint64_t n_checked = 0;
	size_t n;

	for (size_t k = 0; k < s->plans.turns.n; k++) {
		uint64_t from = s->plans.turns.v[k].t1,
			 to = k + 1 < s->plans.turns.n ? s->plans.turns.v[k + 1].t0 : UINT64_MAX / 4;
		size_t n_late = 0;

		CHECK(!vprof_calls_window(calls, thread, &th->calls, from, to, &v, &n), "memory");
		for (size_t i = 0; i < n; i++) {
			uint32_t parent = v[i].parent == VPROF_NONE ? 0 : v[v[i].parent].code;

			if (v[i].t0 < from || v[i].t1 > to || v[i].code == HANDLE || v[i].code == JOB)
				continue;
			/* One can have passed its gate before the change, and read the clock only after it. */
			CHECK(s->plans.turns.v[k].number || !n_late++, "two calls in a baseline");
			CHECK(is_parent(parent, v[i].code), "%#x beneath %#x", v[i].code, parent);
			n_checked += s->plans.turns.v[k].number != 0;
		}
	}
	return n_checked;
}

/* When the changes that were under way at `from` are over, that of the pause among them: a little later, once every
 * thread can have seen them. Until then a request straddles them. */
static uint64_t changes_end(const struct vprof_plan_turn *turns, size_t n, uint64_t from)
{
	uint64_t end = from;

	for (size_t i = 0; i < n; i++)
		if (turns[i].t0 <= from && turns[i].t1 >= end)
			end = turns[i].t1 + 1;
	return end;
}

static int is_paused(const struct vprof_source *s, const struct pauses *pauses, const struct vprof_instance *inst)
{
	for (size_t i = 0; i < pauses->n; i++)
		if (inst->begin >= changes_end(s->plans.turns.v, s->plans.turns.n, pauses->from[i]) &&
		    inst->begin >= changes_end(s->plans.of_process.v, s->plans.of_process.n, pauses->from[i]) &&
		    inst->end <= pauses->to[i])
			return 1;
	return 0;
}

static void check_trace(const char *dir, const struct vprof_plan *plan, uint32_t down, const struct pauses *pauses,
			struct seen *seen)
{
	struct vprof_source s = { .plan = plan };
	struct vprof_error err = { "" };
	struct vprof_calls *calls;
	uint64_t n_chosen = 0;

	CHECK(!vprof_source_open(&s, dir, 1, NULL, NULL, &err), "%s", err.message);
	CHECK(s.plans.is_live && s.plans.turns.n > 1, "no PLAN records");
	calls = vprof_calls_new(s.timeline->n_threads, CALLS_BYTES);
	for (size_t i = 0; i < s.intervals->instances.n; i++) {
		const struct vprof_instance *inst = &s.intervals->instances.v[i];
		enum vprof_plan_side side;
		uint32_t number;
		size_t turn;

		if (inst->state != VPROF_INSTANCE_COMPLETE)
			continue;
		side = vprof_plan_list_side(&s.plans, inst->process_seq, inst->begin, inst->end, &number, &turn);
		seen->n_straddling += side == VPROF_PLAN_STRADDLES;
		if (is_paused(&s, pauses, inst)) {
			CHECK(side == VPROF_PLAN_UNUSED, "a request in a pause is of side %d", (int)side);
			seen->n_paused++;
		}
		if (side != VPROF_PLAN_MEASURED && side != VPROF_PLAN_BASELINE)
			continue;
		CHECK(number == (side == VPROF_PLAN_MEASURED ? plan->number : 0), "plan %u", number);
		check_request(&s, calls, inst, side, down);
		seen->n_measured += side == VPROF_PLAN_MEASURED;
		seen->n_baseline += side == VPROF_PLAN_BASELINE;
	}
	for (uint32_t i = 0; i < s.timeline->n_threads; i++)
		seen->n_background += check_background(&s, calls, i);
	CHECK(!vprof_source_choose(&s, s.intervals->names.v[0].name, 1, 0, 0, 0), "memory");
	n_chosen = s.chosen.n;
	CHECK(n_chosen && s.n_outside && s.latencies.n == n_chosen + s.n_outside, "%zu chosen of %zu, %zu outside",
	      (size_t)n_chosen, s.intervals->instances.n, (size_t)s.n_outside);
	vprof_calls_free(calls);
	vprof_source_release(&s);
}

/* The parts of the mean add up to it. */
static void check_tiles(const char *dir, const struct vprof_plan *plan)
{
	struct vprof_analyze_options o = { .trace_dir = dir, .plan = plan, .k = 3, .threshold = 0.02, .n_threads = 1 };
	struct vprof_results *r = NULL;
	struct vprof_error err = { "" };
	double sum = 0;

	CHECK(!vprof_analyze(&r, &o, &err), "%s", err.message);
	for (size_t i = 0; i < r->n_contributions; i++)
		sum += r->contributions[i].mean_ns;
	CHECK(r->n_complete > 0 && fabs(sum - r->mean_ns) < 1e-6 * r->mean_ns, "parts %g of %g ns, %zu intervals", sum,
	      r->mean_ns, (size_t)r->n_complete);
	vprof_results_free(r);
}

/* Until a hundred requests have begun and ended meanwhile. Before the change is over (changes_end) each worker, which
 * sleeps after a request, can have begun one more. */
static void pause_run(struct live_test *t, struct pauses *pauses)
{
	uint32_t kind = vprof_collector_clock(t->collector)->kind;
	uint64_t inside = t->shared->n_inside;
	struct vprof_error err = { "" };

	CHECK(pauses->n < N_PAUSES, "too many pauses");
	CHECK(!vprof_live_pause(t->live, &err), "%s", err.message);
	pauses->from[pauses->n] = vprof_clock_ticks(kind);
	t->shared->turn = UINT32_MAX;
	while (t->shared->n_inside < inside + PAUSED_AT_LEAST + N_WORKERS) {
		CHECK(!vprof_live_step(t->live, &err), "%s", err.message);
		usleep(2000);
	}
	t->shared->turn = 0;
	pauses->to[pauses->n++] = vprof_clock_ticks(kind);
	CHECK(!vprof_live_resume(t->live, &err), "%s", err.message);
}

static void round_run(struct live_test *t, struct vprof_live_contexts *contexts, uint32_t number, uint32_t down,
		      struct seen *seen)
{
	struct vprof_plan *plan = live_target_plan(number, down);
	struct vprof_live_state state = { 0 };
	struct vprof_error err = { "" };
	struct seen again = { 0 };
	uint64_t inside = t->shared->n_inside, n_turns = 0;
	struct pauses pauses = { .n = 0 };
	size_t n_missing;
	char dir[96];

	snprintf(dir, sizeof dir, "%s/round-%u", t->folder, number);
	CHECK(!vprof_live_contexts_assign(contexts, plan), "memory");
	for (size_t i = 0; i < plan->n_probes; i++) /* none has to wait for calls of the plan before */
		CHECK(!plan->probes[i].is_changed, "another context bit than in the plan before");
	CHECK(!vprof_live_begin(t->live, plan, dir, &n_missing, &err), "%s", err.message);
	CHECK(!n_missing, "%zu probes are missing", n_missing);
	while (state.n_turns < TURNS_AT_LEAST || t->shared->n_inside < inside + REQUESTS_AT_LEAST ||
	       !state.n_baselines || state.n_baselines == state.n_turns) {
		t->shared->turn = 0;
		CHECK(!vprof_live_step(t->live, &err), "%s", err.message);
		vprof_live_look(t->live, &state);
		if (state.n_processes && state.n_turns > n_turns + 3 && pauses.n < N_PAUSES) {
			pause_run(t, &pauses);
			n_turns = state.n_turns;
			vprof_live_look(t->live, &state);
		}
		t->shared->turn = state.number && state.is_window ? state.n_changes + 1 : 0;
		usleep(2000);
	}
	t->shared->turn = 0;
	CHECK(!state.n_refused && !state.refusal[0], "%s", state.refusal);
	CHECK(state.n_processes == 1, "%zu processes", state.n_processes);
	CHECK(!vprof_live_end(t->live, &err), "%s", err.message);
	check_trace(dir, plan, down, &pauses, seen);
	check_tiles(dir, plan);
	for (size_t i = 0; i < plan->n_probes && number > 1; i++) /* as if they had another */
		plan->probes[i].is_changed = 1;
	check_trace(dir, plan, down, &pauses, &again);
	vprof_plan_free(plan);
}

int main(int argc, char **argv)
{
	struct live_test t = { .pid = 0 };
	struct vprof_live_contexts contexts = { .v = { NULL, 0, 0 } };
	struct seen seen = { 0 };
	uint32_t random = 12345;

	if (argc > 2)
		return live_target_main(argv[argc - 2], argv[argc - 1]);
	live_test_files(&t);
	live_test_start(&t, "plans", 20000000);
	for (uint32_t i = 1; i <= N_ROUNDS; i++) {
		random = random * 1103515245 + 12345;
		round_run(&t, &contexts, i, i == 1 ? 0x1f : random >> 16 & 0x1f, &seen);
	}
	live_test_end(&t);
	vprof_live_contexts_release(&contexts);
	printf("%zu requests measured, %zu in baselines, %zu across a change, %zu in pauses; %zu calls of the background thread\n",
	       (size_t)seen.n_measured, (size_t)seen.n_baseline, (size_t)seen.n_straddling, (size_t)seen.n_paused,
	       (size_t)seen.n_background);
	CHECK(seen.n_measured && seen.n_baseline && seen.n_background && seen.n_paused >= N_ROUNDS * PAUSED_AT_LEAST,
	      "a situation did not occur");
	return 0;
}
