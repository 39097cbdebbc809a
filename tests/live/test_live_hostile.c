/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Probes are opened and closed at every instruction of functions that are left by longjmp, by an exception or by a
 * coroutine's switch: a debugger stops the program there. And a thousand times within functions in which a hundred
 * threads are. Results, gates and open frames are as they were; each recorded call lies beneath its caller; and every
 * call is recorded that began and ended with its probe open. A breakpoint in an entry is left alone. */
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "analysis/source/source.h"
#include "analysis/timeline/calls.h"
#include "live/gates.h"
#include "tests/live/hostile_target.h"
#include "tests/live/live_test.h"

#define N_CHANGES 1000
#define CHANGES_OF_EPOCH 11 /* odd: every other epoch begins with open probes */
#define MOST_STEPS 100000   /* of passages with one change each; 20 us a step and more */
#define CALLS_BYTES ((size_t)1 << 20)
#define BREAKPOINT 0xcc

static const struct link {
	uint32_t code, caller;
	const char *name;
} links[] = {
	{ JUMP_OUTER, 0, "jump_outer" },
	{ JUMP_INNER, JUMP_OUTER, "jump_inner" },
	{ JUMP_LEAF, JUMP_INNER, "jump_leaf" },
	{ THROW_OUTER, 0, "throw_outer" },
	{ THROW_INNER, THROW_OUTER, "throw_inner" },
	{ THROW_LEAF, THROW_INNER, "throw_leaf" },
	{ SWITCH_OUTER, 0, "switch_outer" },
	{ SWITCH_INNER, SWITCH_OUTER, "switch_inner" },
	{ CROWD, 0, "crowd" },
	{ STEP, CROWD, "step" },
};
#define N_LINKS (sizeof links / sizeof *links)

struct hostile {
	char folder[64], shared_path[96], trace[96];
	struct hostile_shared *shared;
	struct vprof_collector *collector;
	struct vprof_gates *gates;
	struct vprof_plan *plan;
	pid_t pid;
	int is_open;
	uint64_t n_changes, n_steps;
	uint64_t n_wanted[HOSTILE_END - JUMP_OUTER]; /* calls by code that are recorded for certain */
	uint64_t n_seen[HOSTILE_END - JUMP_OUTER];
};

static struct vprof_plan *make_plan(void)
{
	struct vprof_plan *plan = vprof_plan_new("/");

	plan->number = 1;
	for (size_t i = 0; i < N_LINKS; i++) {
		const struct link *l = &links[i];
		struct vprof_probe probe = { .code = l->code,
					     .kind = VPROF_PROBE_FUNCTION,
					     .fact_id = l->code - 0x100,
					     .context = VPROF_CONTEXT_FIRST + (int)i,
					     .is_root = !l->caller,
					     .broken_down = 1,
					     .name = l->name,
					     .display = l->name,
					     .file = "hostile_target.c",
					     .line = 1,
					     .caller = "",
					     .mask = VPROF_MASK_ANY };

		if (l->caller) /* its caller is the one before it */
			probe.mask = UINT64_C(1) << (VPROF_CONTEXT_FIRST + i - 1);
		CHECK(!vprof_plan_add(plan, &probe), "memory");
	}
	return plan;
}

static void start(struct hostile *h, const char *mode, int is_traced)
{
	struct vprof_collector_options o = { .trace_dir = h->trace };
	struct vprof_error err = { "" };
	int fd;

	*h = (struct hostile){ .folder = "/tmp/vprof-live-XXXXXX" };
	CHECK(mkdtemp(h->folder), "%s", strerror(errno));
	snprintf(h->shared_path, sizeof h->shared_path, "%s/shared", h->folder);
	snprintf(h->trace, sizeof h->trace, "%s/trace", h->folder);
	fd = open(h->shared_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, 4096), "%s", strerror(errno));
	h->shared = mmap(NULL, sizeof *h->shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	CHECK(!vprof_collector_open(&h->collector, &o, &err), "%s", err.message);
	CHECK(!vprof_gates_new(&h->gates, hostile_map(), &err), "%s", err.message);
	h->plan = make_plan();
	h->pid = fork();
	if (h->pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing that runs */
	setenv("VPROF_SHM", vprof_collector_shm(h->collector), 1);
	setenv("LD_PRELOAD", VPROF_LIBRARY, 1);
	if (is_traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(126);
	execl("/proc/self/exe", "target", "target", mode, h->shared_path, (char *)NULL);
	_exit(127);
}

static void drain(struct hostile *h)
{
	while (vprof_collector_drain(h->collector))
		;
}

/* Opens what is closed, or the other way round. */
static void change(struct hostile *h)
{
	struct vprof_gates_result result;

	h->is_open = !h->is_open;
	CHECK(!vprof_gates_set(h->gates, h->is_open ? h->plan : NULL, NULL), "memory");
	CHECK(!vprof_gates_apply(h->gates, &result), "memory");
	CHECK(result.n_processes == 1 && result.n_written && !result.refusal[0], "%zu writes: %s", result.n_written,
	      result.refusal);
	h->n_changes++;
}

static void make(struct hostile *h, int is_open)
{
	if (h->is_open != is_open)
		change(h);
}

static void want(struct hostile *h, uint32_t code, uint64_t n)
{
	h->n_wanted[code - JUMP_OUTER] += n;
}

static uint32_t caller_of(uint32_t code)
{
	for (size_t i = 0; i < N_LINKS; i++)
		if (links[i].code == code)
			return links[i].caller;
	return UINT32_MAX;
}

static void check_calls(struct hostile *h)
{
	struct vprof_source s = { .plan = h->plan };
	struct vprof_error err = { "" };
	struct vprof_calls *calls;

	CHECK(!vprof_source_open(&s, h->trace, 1, NULL, NULL, &err), "%s", err.message);
	calls = vprof_calls_new(s.timeline->n_threads, CALLS_BYTES);
	for (uint32_t i = 0; i < s.timeline->n_threads; i++) {
		const struct vprof_call *v;
		size_t n;

		CHECK(!vprof_calls_window(calls, i, &s.timeline->threads[i].calls, 0, UINT64_MAX / 4, &v, &n),
		      "memory");
		for (size_t k = 0; k < n; k++) {
			uint32_t parent = v[k].parent == VPROF_NONE ? 0 : v[v[k].parent].code;

			CHECK(v[k].code >= JUMP_OUTER && v[k].code < HOSTILE_END, "code %#x", v[k].code);
			CHECK(parent == caller_of(v[k].code), "%#x beneath %#x", v[k].code, parent);
			h->n_seen[v[k].code - JUMP_OUTER]++;
		}
	}
	vprof_calls_free(calls);
	vprof_source_release(&s);
}

/* `exact`: codes of which no call began or ended while its probe was changed. */
static void finish(struct hostile *h, int status, const uint32_t *exact, size_t n_exact)
{
	struct vprof_collector_stats stats;
	struct vprof_error err = { "" };

	CHECK(!status, "the target ended with %#x", status);
	CHECK(!h->shared->n_wrong_results && !h->shared->n_wrong_gates, "%d wrong results, %d gates of %d passages",
	      (int)h->shared->n_wrong_results, (int)h->shared->n_wrong_gates, (int)h->shared->n_passages);
	vprof_gates_free(h->gates);
	CHECK(!vprof_collector_close(h->collector, &stats, &err), "%s", err.message);
	CHECK(!stats.n_dropped, "%d records were dropped: the ring is too small for this test", (int)stats.n_dropped);
	check_calls(h);
	for (uint32_t i = 0; i < HOSTILE_END - JUMP_OUTER; i++)
		CHECK(h->n_seen[i] >= h->n_wanted[i], "%d of at least %d calls of %#x", (int)h->n_seen[i],
		      (int)h->n_wanted[i], JUMP_OUTER + i);
	for (size_t i = 0; i < n_exact; i++)
		CHECK(h->n_seen[exact[i] - JUMP_OUTER] == h->n_wanted[exact[i] - JUMP_OUTER], "%d calls of %#x, not %d",
		      (int)h->n_seen[exact[i] - JUMP_OUTER], exact[i], (int)h->n_wanted[exact[i] - JUMP_OUTER]);
	vprof_plan_free(h->plan);
	munmap(h->shared, sizeof *h->shared);
	vprof_dir_remove(h->folder, NULL);
}

/* ---- one thread, stepped ---- */

static int wait_for_stop(struct hostile *h)
{
	int status;

	CHECK(waitpid(h->pid, &status, 0) == h->pid, "%s", strerror(errno));
	CHECK(!WIFSTOPPED(status) || WSTOPSIG(status) == SIGTRAP, "stopped by signal %d", WSTOPSIG(status));
	return status;
}

static int go_on(struct hostile *h)
{
	CHECK(!ptrace(PTRACE_CONT, h->pid, NULL, NULL), "%s", strerror(errno));
	return wait_for_stop(h);
}

/* Steps through one passage. The state is changed before every instruction `first` + k x `every`. Returns how many
 * instructions there were. */
static uint64_t step_through(struct hostile *h, enum hostile_passage passage, uint64_t first, uint64_t every)
{
	uint64_t n = 0;

	h->shared->passage = (int)passage;
	go_on(h);
	CHECK(h->shared->phase == HOSTILE_BEGIN, "phase %d", h->shared->phase);
	for (; h->shared->phase == HOSTILE_BEGIN; n++) {
		if (n >= first && (n - first) % every == 0)
			change(h);
		CHECK(!ptrace(PTRACE_SINGLESTEP, h->pid, NULL, NULL), "%s", strerror(errno));
		wait_for_stop(h);
	}
	go_on(h);
	CHECK(h->shared->phase == HOSTILE_END_OF_PASSAGE, "phase %d", h->shared->phase);
	h->n_steps += n;
	drain(h);
	return n;
}

/* A passage under an open plan, in which every call is recorded. */
static uint64_t step_measured(struct hostile *h, enum hostile_passage passage)
{
	static const struct {
		uint32_t first;
		int n_codes, n_calls;
	} chains[] = { { JUMP_OUTER, 3, 2 }, { THROW_OUTER, 3, 2 }, { SWITCH_OUTER, 2, 1 } };

	make(h, 1);
	for (int i = 0; i < chains[passage].n_codes; i++)
		want(h, chains[passage].first + (uint32_t)i, (uint64_t)chains[passage].n_calls);
	return step_through(h, passage, UINT64_MAX, 1);
}

static void step_all(struct hostile *h, enum hostile_passage passage)
{
	uint64_t n, by;

	make(h, 0);
	step_through(h, passage, UINT64_MAX, 1); /* the first passage binds symbols */
	step_measured(h, passage);
	for (int is_open = 0; is_open < 2; is_open++) {
		uint64_t before = h->n_changes;

		make(h, 0);
		n = is_open ? step_measured(h, passage) : step_through(h, passage, UINT64_MAX, 1);
		by = n * n / MOST_STEPS + 1;
		for (uint64_t i = 0; i < n; i += by) {
			make(h, is_open);
			step_through(h, passage, i, UINT64_MAX);
		}
		for (uint64_t i = 0; i < 2; i++) { /* at every instruction, and every second one */
			make(h, is_open);
			step_through(h, passage, i, i + 1);
		}
		printf("passage %d, begun %s: %d instructions, %d changes\n", (int)passage, is_open ? "open" : "closed",
		       (int)n, (int)(h->n_changes - before));
	}
	step_measured(h, passage);
}

static void look(struct hostile *h)
{
	struct vprof_error err = { "" };
	int written;

	while (!vprof_gates_n_processes(h->gates))
		CHECK(!vprof_gates_look(h->gates, (uint32_t)h->pid, 1, &written, &err), "%s", err.message);
}

/* Up to where its probes may be changed. */
static void start_stepped(struct hostile *h)
{
	start(h, "stepped", 1);
	wait_for_stop(h); /* it executes the program */
	CHECK(!ptrace(PTRACE_SETOPTIONS, h->pid, NULL, (void *)PTRACE_O_EXITKILL), "%s", strerror(errno));
	go_on(h);
	CHECK(h->shared->phase == HOSTILE_READY, "phase %d", h->shared->phase);
}

static void functions_are_left_in_any_way(void)
{
	struct hostile h;

	start_stepped(&h);
	look(&h);
	for (enum hostile_passage p = 0; p < N_PASSAGES; p++)
		step_all(&h, p);
	h.shared->is_over = 1;
	finish(&h, go_on(&h), NULL, 0);
	printf("%d changes at %d instructions\n", (int)h.n_changes, (int)h.n_steps);
}

/* ---- a debugger's breakpoints ---- */

static unsigned char exchange_byte(pid_t pid, uint64_t address, unsigned char byte)
{
	long word = ptrace(PTRACE_PEEKTEXT, pid, (void *)address, NULL);
	unsigned char before = (unsigned char)word;

	CHECK(!ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)((word & ~0xffL) | byte)), "%s", strerror(errno));
	return before;
}

/* Where the target was loaded: its file's first mapping. */
static uint64_t bias_of(pid_t pid, const char *path)
{
	char name[64], line[1024];
	uint64_t bias = 0;
	FILE *maps;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	maps = fopen(name, "re");
	while (maps && !bias && fgets(line, sizeof line, maps))
		if (strstr(line, path))
			bias = strtoull(line, NULL, 16);
	CHECK(maps && bias, "no %s in %s", path, name);
	fclose(maps);
	return bias;
}

/* Until the process is refused. Nothing is decided by how long that takes. */
static void look_until_refused(struct hostile *h)
{
	struct vprof_error err = { "" };
	int written, rc;

	while (!(rc = vprof_gates_look(h->gates, (uint32_t)h->pid, 1, &written, &err)))
		usleep(10000); /* it might be executing a program */
	CHECK(rc == VPROF_ERR_FAILED && strstr(err.message, "another tool"), "%s", err.message);
	CHECK(!vprof_gates_n_processes(h->gates), "it is still written to");
}

/* The breakpoint stands in an entry before the session comes (is_open 0), or is set into an entry that it has opened:
 * it is told, the breakpoint stays, and when the debugger takes it away the program goes on as it was. */
static void a_breakpoint_is_left_alone(int is_open)
{
	const struct vprof_probe_map *map = hostile_map();
	struct vprof_gates_result result;
	struct hostile h;
	uint64_t entry;
	unsigned char before;

	start_stepped(&h);
	if (is_open) {
		look(&h);
		make(&h, 1);
	}
	entry = bias_of(h.pid, map->modules[0].path) + map->copies[0].entries[0];
	before = exchange_byte(h.pid, entry, BREAKPOINT);
	CHECK(before == (is_open ? 0xe9 : 0xa9), "%#x at the entry", before);
	if (is_open) {
		CHECK(!vprof_gates_set(h.gates, NULL, NULL) && !vprof_gates_apply(h.gates, &result), "memory");
		h.is_open = 0;
	}
	look_until_refused(&h);
	CHECK(exchange_byte(h.pid, entry, before) == BREAKPOINT, "it was written over");
	for (enum hostile_passage p = 0; p < N_PASSAGES; p++)
		step_through(&h, p, UINT64_MAX, 1);
	h.shared->is_over = 1;
	finish(&h, go_on(&h), NULL, 0);
}

/* ---- a hundred threads ---- */

static void wait_for_crowd(struct hostile *h, uint64_t epoch)
{
	int status;

	while (h->shared->n_arrived < N_CROWD * (epoch + 1)) {
		CHECK(!waitpid(h->pid, &status, WNOHANG), "the target ended with %#x", status);
		drain(h);
		usleep(500);
	}
}

static void a_crowd_is_inside(void)
{
	static const uint32_t exact[] = { CROWD };
	struct hostile h;
	uint64_t epoch = 0;
	int status;

	start(&h, "crowd", 0);
	wait_for_crowd(&h, epoch);
	look(&h);
	for (; h.n_changes < N_CHANGES; epoch++) {
		wait_for_crowd(&h, epoch);
		for (int i = 0; i < CHANGES_OF_EPOCH; i++) {
			change(&h);
			drain(&h);
		}
		if (h.is_open) /* they come back, each by an open entry */
			want(&h, CROWD, N_CROWD);
		h.shared->epoch++;
	}
	wait_for_crowd(&h, epoch);
	h.shared->is_over = 1;
	h.shared->epoch++;
	while (!waitpid(h.pid, &status, WNOHANG)) {
		drain(&h);
		usleep(500);
	}
	finish(&h, status, exact, 1);
	CHECK(h.n_seen[STEP - JUMP_OUTER], "no call within was seen");
	printf("%d changes while %d threads were inside; %d of their calls were recorded\n", (int)h.n_changes, N_CROWD,
	       (int)h.n_seen[STEP - JUMP_OUTER]);
}

static int may_trace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* A step takes a third of the time. */
static void stay_on_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return hostile_main(argv[argc - 2], argv[argc - 1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	a_crowd_is_inside();
	if (!may_trace()) {
		printf("skipped: single steps: this system forbids ptrace\n");
		return 0;
	}
	stay_on_one_processor();
	functions_are_left_in_any_way();
	a_breakpoint_is_left_alone(0);
	a_breakpoint_is_left_alone(1);
	return 0;
}
