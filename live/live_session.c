/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/live_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/array.h"
#include "trace/clock.h"
#include "trace/shm.h"

#define LOOK_EVERY_NS UINT64_C(1000000000) /* at all processes' modules, whether or not anything was told */
#define MARGIN_NS UINT64_C(50000)	   /* until every thread sees what was written */
#define TAIL_MIN_NS UINT64_C(1000000)
#define FORGET_NS UINT64_C(5000000000) /* after which a long interval counts half as long */
#define TAILS 2			       /* windows last as long besides: at least half of the time counts */

struct failing {
	uint32_t process_seq;
	uint64_t since; /* ticks */
};

struct vprof_live {
	struct vprof_collector *collector;
	struct vprof_gates *gates;
	struct vprof_live_options options;
	const struct vprof_plan *plan; /* of the round; NULL: between rounds */
	struct vprof_live_state state;
	uint64_t random;
	uint64_t tail_ns;
	uint64_t tail_at_ns;	/* when it was set */
	uint64_t turn_end_ns;	/* when this turn's window closes */
	uint64_t window_ns;	/* when its window opens, or has opened */
	uint64_t looked_ns;	/* when all processes were looked at */
	uint64_t known_ticks;	/* all modules known until then */
	uint64_t pid_namespace; /* our own */
	uint32_t n_changes;
	VPROF_ARRAY(uint32_t) out_of_reach;  /* processes, by process_seq, of which the round's trace says so */
	VPROF_ARRAY(struct failing) failing; /* processes whose memory was not yet as expected at the last look */
};

static double draw(struct vprof_live *live)
{
	live->random ^= live->random << 13;
	live->random ^= live->random >> 7;
	live->random ^= live->random << 17;
	return (double)(live->random >> 11) / 9007199254740992.0;
}

static uint64_t now_ticks(const struct vprof_live *live)
{
	return vprof_clock_ticks(vprof_collector_clock(live->collector)->kind);
}

static uint64_t ticks_of(const struct vprof_live *live, uint64_t ns)
{
	return (uint64_t)((double)ns / vprof_collector_clock(live->collector)->ns_per_tick);
}

int vprof_live_new(struct vprof_live **out, struct vprof_collector *collector, const struct vprof_probe_map *map,
		   const struct vprof_live_options *o, struct vprof_error *err)
{
	struct vprof_live *live = calloc(1, sizeof *live);
	struct stat st;
	int rc;

	*out = NULL;
	if (!live)
		return vprof_error_no_memory(err);
	live->collector = collector;
	live->options = *o;
	if (!live->options.turn_ns)
		live->options.turn_ns = VPROF_LIVE_TURN_NS;
	live->random = o->seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	live->tail_ns = TAIL_MIN_NS;
	live->pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	live->n_changes = vprof_collector_changes(collector) - 1;
	rc = vprof_gates_new(&live->gates, map, err);
	if (rc) {
		free(live);
		return rc;
	}
	vprof_gates_limit(live->gates, o->user);
	*out = live;
	return VPROF_OK;
}

/* Writes the plan into all processes, and the change into the trace. */
static int change(struct vprof_live *live, const struct vprof_plan *plan, size_t *n_missing, struct vprof_error *err)
{
	struct vprof_plan_change record = { .number = plan ? plan->number : 0 };
	struct vprof_gates_result result;
	uint64_t before_ns, tail = ticks_of(live, live->tail_ns + MARGIN_NS);
	int rc = vprof_gates_set(live->gates, plan, n_missing);

	if (rc)
		return vprof_error_no_memory(err);
	before_ns = vprof_clock_monotonic_ns();
	record.begin = now_ticks(live);
	record.last_begin = record.begin > tail && !live->state.is_paused ? record.begin - tail : 0;
	rc = vprof_gates_apply(live->gates, &result);
	record.end = now_ticks(live) + ticks_of(live, MARGIN_NS);
	vprof_collector_plan(live->collector, &record);
	live->state.number = record.number;
	live->state.n_changes++;
	live->state.change_ns = vprof_clock_monotonic_ns() - before_ns;
	if (live->state.change_ns > live->state.change_max_ns)
		live->state.change_max_ns = live->state.change_ns;
	live->state.n_processes = result.n_processes;
	live->state.n_refused = result.n_refused;
	if (result.refusal[0])
		strcpy(live->state.refusal, result.refusal);
	return rc ? vprof_error_no_memory(err) : VPROF_OK;
}

/* Since when a process is not as wanted: from its beginning, or from the last look. Where it fails, it stays so until a
 * look finds it as wanted, and what was known meanwhile is not of it. */
static int not_wanted_since(struct vprof_live *live, uint32_t process_seq, int is_known, uint64_t *since)
{
	int is_failing = vprof_gates_fails(live->gates, process_seq);
	struct failing *f;
	size_t i = 0;

	*since = is_known ? live->known_ticks : 1;
	while (i < live->failing.n && live->failing.v[i].process_seq != process_seq)
		i++;
	if (i < live->failing.n) {
		*since = live->failing.v[i].since;
		if (!is_failing)
			live->failing.v[i] = live->failing.v[--live->failing.n];
	} else if (is_failing) {
		f = VPROF_PUSH(&live->failing);
		if (!f)
			return VPROF_ERR_NOMEM;
		*f = (struct failing){ process_seq, *since };
	}
	return VPROF_OK;
}

/* The process was not as wanted until now. */
static void tell_process(struct vprof_live *live, uint32_t process_seq, uint64_t since)
{
	const struct vprof_plan_change record = { .begin = since,
						  .end = now_ticks(live) + ticks_of(live, MARGIN_NS),
						  .number = live->state.number,
						  .process_seq = process_seq };

	vprof_collector_plan(live->collector, &record);
}

/* Its probes cannot be switched: none of its intervals counts, or they would count as measured with nothing in them. */
static int tell_out_of_reach(struct vprof_live *live, uint32_t process_seq)
{
	const struct vprof_plan_change record = { .begin = 1, .end = INT64_MAX, .process_seq = process_seq };
	uint32_t *slot;

	for (size_t i = 0; i < live->out_of_reach.n; i++)
		if (live->out_of_reach.v[i] == process_seq)
			return VPROF_OK;
	slot = VPROF_PUSH(&live->out_of_reach);
	if (!slot)
		return VPROF_ERR_NOMEM;
	*slot = process_seq;
	vprof_collector_plan(live->collector, &record);
	return VPROF_OK;
}

static int look_at(struct vprof_live *live, const struct vprof_collector_process *process, struct vprof_error *err)
{
	struct vprof_error refusal = { "" };
	int is_known = vprof_gates_knows(live->gates, process->pid, process->process_seq);
	int was_failing = vprof_gates_fails(live->gates, process->process_seq), written, rc;
	uint64_t since;

	if (process->pid_namespace != live->pid_namespace) {
		live->state.n_elsewhere++;
		return tell_out_of_reach(live, process->process_seq) ? vprof_error_no_memory(err) : VPROF_OK;
	}
	rc = vprof_gates_look(live->gates, process->pid, process->process_seq, &written, &refusal);
	if (rc == VPROF_ERR_NOMEM || not_wanted_since(live, process->process_seq, is_known, &since))
		return vprof_error_no_memory(err);
	if (rc == VPROF_ERR_MISSING)
		vprof_collector_forget(live->collector, process);
	else if (rc)
		snprintf(live->state.refusal, sizeof live->state.refusal, "%.*s", (int)sizeof live->state.refusal - 1,
			 refusal.message);
	/* Also of one that ended before anybody looked, or before its memory was as expected: nothing is known of its
	 * probes. And of one that was executed: it may have been written to, under its number before, while it began.
	 */
	if (written || was_failing || (!is_known && !process->parent_seq) ||
	    (rc && !(is_known && rc == VPROF_ERR_MISSING)))
		tell_process(live, process->process_seq, since);
	if (rc == VPROF_ERR_FAILED || (!rc && vprof_gates_refuses(live->gates, process->process_seq)))
		return tell_out_of_reach(live, process->process_seq) ? vprof_error_no_memory(err) : VPROF_OK;
	return VPROF_OK;
}

/* Of a pid that executed another program, the newest number is the right one. */
static int is_newest(const struct vprof_collector_process *all, size_t n, const struct vprof_collector_process *p)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].pid == p->pid && all[i].pid_namespace == p->pid_namespace &&
		    all[i].process_seq > p->process_seq)
			return 0;
	return 1;
}

/* Of all that live, by what is known of them now. */
static void count_processes(struct vprof_live *live, struct vprof_collector_process *all)
{
	size_t n = vprof_collector_processes(live->collector, all, VP_PROCESS_COUNT), n_refused = 0, n_left_out;

	for (size_t i = 0; i < n; i++)
		n_refused += vprof_gates_refuses(live->gates, all[i].process_seq) != 0;
	live->state.n_processes = vprof_gates_n_processes(live->gates);
	live->state.n_refused = n_refused;
	n_left_out = live->state.n_processes + n_refused + live->state.n_elsewhere;
	live->state.n_others = n > n_left_out ? n - n_left_out : 0;
}

static int look_for_processes(struct vprof_live *live, uint64_t now_ns, struct vprof_error *err)
{
	uint32_t n_changes = vprof_collector_changes(live->collector);
	uint64_t began = now_ticks(live);
	struct vprof_collector_process *all;
	int rc = VPROF_OK;
	size_t n;

	if (n_changes == live->n_changes && now_ns - live->looked_ns < LOOK_EVERY_NS) {
		live->known_ticks = began;
		return VPROF_OK;
	}
	all = calloc(VP_PROCESS_COUNT, sizeof *all);
	if (!all)
		return vprof_error_no_memory(err);
	live->state.n_elsewhere = 0;
	n = vprof_collector_processes(live->collector, all, VP_PROCESS_COUNT);
	for (size_t i = 0; i < n && !rc; i++) {
		if (is_newest(all, n, &all[i])) {
			rc = look_at(live, &all[i], err);
			continue;
		}
		if (!vprof_gates_knows(live->gates, all[i].pid, all[i].process_seq))
			tell_process(live, all[i].process_seq, 1);
		vprof_collector_forget(live->collector, &all[i]);
	}
	count_processes(live, all);
	free(all);
	live->n_changes = n_changes;
	live->looked_ns = now_ns;
	live->known_ticks = began;
	return rc;
}

/* One that was longer than all others must not stretch every turn from then on. */
static void learn_tail(struct vprof_live *live, uint64_t now_ns)
{
	uint64_t longest = vprof_collector_longest_ns(live->collector);

	if (now_ns - live->tail_at_ns > FORGET_NS) {
		live->tail_ns = live->tail_ns / 2 > TAIL_MIN_NS ? live->tail_ns / 2 : TAIL_MIN_NS;
		live->tail_at_ns = now_ns;
	}
	if (longest > live->state.longest_ns)
		live->state.longest_ns = longest;
	if (longest >= live->tail_ns) {
		live->tail_ns = longest < VPROF_LIVE_TAIL_NS ? longest : VPROF_LIVE_TAIL_NS;
		live->tail_at_ns = now_ns;
	}
}

static void open_window(struct vprof_live *live)
{
	if (live->state.number)
		vprof_collector_window(live->collector, now_ticks(live) + ticks_of(live, MARGIN_NS), 1);
	live->state.is_window = 1;
}

static void close_window(struct vprof_live *live, uint64_t now_ns)
{
	uint64_t tail = ticks_of(live, live->tail_ns + MARGIN_NS), now = now_ticks(live);
	uint64_t length = now_ns - live->window_ns;

	length = length > live->tail_ns ? length - live->tail_ns : 0;
	if (live->state.number) {
		vprof_collector_window(live->collector, now > tail ? now - tail : 0, 0);
		live->state.measured_ns += length;
	} else {
		live->state.baseline_ns += length;
	}
	live->state.is_window = 0;
}

/* The next turn begins; two of a kind in succession are one. */
static int turn(struct vprof_live *live, uint64_t now_ns, struct vprof_error *err)
{
	int is_baseline = draw(live) < live->options.baseline_share, rc = VPROF_OK;
	double length = (double)live->options.turn_ns * (0.5 + draw(live)) + (double)(TAILS * live->tail_ns);

	live->state.n_turns++;
	live->state.n_baselines += is_baseline != 0;
	if (is_baseline == !live->state.number && live->state.n_changes > 1 && live->state.is_window) {
		live->turn_end_ns = now_ns + (uint64_t)length;
		return VPROF_OK;
	}
	if (live->state.is_window)
		close_window(live, now_ns);
	rc = change(live, is_baseline ? NULL : live->plan, NULL, err);
	now_ns = vprof_clock_monotonic_ns();
	live->window_ns = now_ns + live->tail_ns;
	live->turn_end_ns = live->window_ns + live->tail_ns + (uint64_t)length;
	return rc;
}

/* While nothing is open: a thread that asks meanwhile, in a call that began before, may find none. */
static void tell_every_call(struct vprof_live *live, const struct vprof_plan *plan)
{
	uint32_t codes[VP_EVERY_CALL_MAX];

	vprof_collector_every_call(live->collector, codes, vprof_plan_every_call(plan, codes, VP_EVERY_CALL_MAX));
}

int vprof_live_begin(struct vprof_live *live, const struct vprof_plan *plan, const char *trace_dir, size_t *n_missing,
		     struct vprof_error *err)
{
	size_t n = 0;
	int rc = vprof_gates_set(live->gates, plan, &n) ? vprof_error_no_memory(err) : VPROF_OK;

	if (n_missing)
		*n_missing = n;
	if (!rc)
		rc = vprof_gates_set(live->gates, NULL, NULL);
	if (!rc)
		rc = vprof_collector_turn(live->collector, trace_dir, err);
	if (rc)
		return rc;
	live->plan = plan;
	live->state.is_paused = 0;
	live->out_of_reach.n = 0;
	live->state.n_turns = live->state.n_baselines = live->state.n_changes = 0;
	live->state.measured_ns = live->state.baseline_ns = live->state.change_max_ns = 0;
	vprof_collector_window(live->collector, now_ticks(live), 0);
	rc = look_for_processes(live, vprof_clock_monotonic_ns() + LOOK_EVERY_NS, err);
	if (!rc)
		rc = change(live, NULL, NULL, err);
	if (rc)
		return rc;
	tell_every_call(live, plan);
	return turn(live, vprof_clock_monotonic_ns(), err);
}

int vprof_live_step(struct vprof_live *live, struct vprof_error *err)
{
	uint64_t now_ns;
	int rc;

	while (vprof_collector_drain(live->collector))
		;
	now_ns = vprof_clock_monotonic_ns();
	rc = look_for_processes(live, now_ns, err);
	learn_tail(live, now_ns);
	if (rc || !live->plan || live->state.is_paused)
		return rc;
	if (!live->state.is_window) {
		if (now_ns >= live->window_ns)
			open_window(live);
		return VPROF_OK;
	}
	return now_ns < live->turn_end_ns ? VPROF_OK : turn(live, now_ns, err);
}

int vprof_live_pause(struct vprof_live *live, struct vprof_error *err)
{
	int rc;

	if (!live->plan || live->state.is_paused)
		return VPROF_OK;
	if (live->state.is_window)
		close_window(live, vprof_clock_monotonic_ns());
	rc = change(live, NULL, NULL, err);
	live->state.is_paused = 1;
	return rc;
}

int vprof_live_resume(struct vprof_live *live, struct vprof_error *err)
{
	int rc = live->state.is_paused ? turn(live, vprof_clock_monotonic_ns(), err) : VPROF_OK;

	live->state.is_paused = 0;
	return rc;
}

int vprof_live_end(struct vprof_live *live, struct vprof_error *err)
{
	int rc, turned;

	if (!live->plan)
		return VPROF_OK;
	if (live->state.is_window)
		close_window(live, vprof_clock_monotonic_ns());
	live->plan = NULL;
	rc = look_for_processes(live, vprof_clock_monotonic_ns() + LOOK_EVERY_NS, err);
	if (!rc)
		rc = change(live, NULL, NULL, err);
	live->state.is_paused = 0;
	turned = vprof_collector_turn(live->collector, NULL, rc ? NULL : err);
	return rc ? rc : turned;
}

void vprof_live_free(struct vprof_live *live)
{
	struct vprof_gates_result result;

	if (!live)
		return;
	vprof_gates_set(live->gates, NULL, NULL);
	vprof_gates_apply(live->gates, &result);
	vprof_gates_free(live->gates);
	VPROF_ARRAY_RELEASE(&live->out_of_reach);
	VPROF_ARRAY_RELEASE(&live->failing);
	free(live);
}

void vprof_live_look(const struct vprof_live *live, struct vprof_live_state *state)
{
	*state = live->state;
}
