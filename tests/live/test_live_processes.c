/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans change while processes fork, execute and end, and while a library is loaded and unloaded; another build is left
 * alone; and when the collector is killed, no thread records any more. */
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>

#include "analysis/source/source.h"
#include "analysis/timeline/calls.h"
#include "live/process_memory.h"
#include "tests/live/live_test.h"

#define N_CHANGES_AT_LEAST 60
#define N_FORKS_AT_LEAST 20
#define SHUT_NS UINT64_C(30000000000) /* far beyond the second that it may take */

static uint32_t n_calls_of_request(const struct vprof_source *s, struct vprof_calls *calls,
				   const struct vprof_instance *inst)
{
	const struct vprof_call *v;
	size_t n;

	CHECK(!vprof_calls_window(calls, inst->begin_thread, &s->timeline->threads[inst->begin_thread].calls,
				  inst->begin, inst->end + 1, &v, &n),
	      "memory");
	return (uint32_t)n;
}

/* All requests of all processes: 8 calls under the plan, none in baselines. Returns how many children's were seen. */
static uint64_t check_trace(const char *dir, const struct vprof_plan *plan)
{
	struct vprof_source s = { .plan = plan };
	struct vprof_error err = { "" };
	struct vprof_calls *calls;
	uint64_t n_children = 0;

	CHECK(!vprof_source_open(&s, dir, 1, NULL, NULL, &err), "%s", err.message);
	calls = vprof_calls_new(s.timeline->n_threads, (size_t)1 << 20);
	for (size_t i = 0; i < s.intervals->instances.n; i++) {
		const struct vprof_instance *inst = &s.intervals->instances.v[i];
		uint32_t number, n;
		size_t turn;
		enum vprof_plan_side side;

		if (inst->state != VPROF_INSTANCE_COMPLETE)
			continue;
		side = vprof_plan_list_side(&s.plans, inst->process_seq, inst->begin, inst->end, &number, &turn);
		if (side != VPROF_PLAN_MEASURED && side != VPROF_PLAN_BASELINE)
			continue;
		if (side == VPROF_PLAN_MEASURED && !vprof_window_list_contains(&s.windows, inst->begin))
			continue; /* it does not count */
		n = n_calls_of_request(&s, calls, inst);
		CHECK(n == (side == VPROF_PLAN_MEASURED ? 8u : 0u), "process %u has %u calls in a request, side %d",
		      inst->process_seq, n, (int)side);
		n_children += inst->process_seq > 1 && side == VPROF_PLAN_MEASURED;
	}
	vprof_calls_free(calls);
	vprof_source_release(&s);
	return n_children;
}

/* Whoever looks at the process anew, and wants nothing open, has nothing to write. */
static void nothing_is_open(pid_t pid)
{
	struct vprof_error err = { "" };
	struct vprof_gates *gates;
	int written;

	CHECK(!vprof_gates_new(&gates, live_target_map(), &err), "%s", err.message);
	CHECK(!vprof_gates_look(gates, (uint32_t)pid, 1, &written, &err), "%s", err.message);
	CHECK(!written && vprof_gates_n_processes(gates) == 1, "something is open still");
	vprof_gates_free(gates);
}

static void processes_come_and_go(void)
{
	struct live_test t = { .pid = 0 };
	struct vprof_plan *plan = live_target_plan(1, 0x1f);
	struct vprof_live_state state = { 0 };
	struct vprof_error err = { "" };
	uint64_t n_children;
	char dir[96];

	live_test_files(&t);
	t.shared->is_forking = 1;
	live_test_start(&t, "processes", 8000000);
	snprintf(dir, sizeof dir, "%s/round", t.folder);
	CHECK(!vprof_live_begin(t.live, plan, dir, NULL, &err), "%s", err.message);
	while (state.n_changes < N_CHANGES_AT_LEAST || t.shared->n_forks < N_FORKS_AT_LEAST || !t.shared->n_execs ||
	       t.shared->n_module_steps < 2000 || t.shared->n_replaced < 3) {
		CHECK(!vprof_live_step(t.live, &err), "%s", err.message);
		usleep(1000);
		vprof_live_look(t.live, &state);
		t.shared->n_changes = state.n_changes;
		t.shared->is_executing = t.shared->n_forks % 4 == 3;
	}
	CHECK(!state.refusal[0], "%s", state.refusal);
	CHECK(!vprof_live_end(t.live, &err), "%s", err.message);
	nothing_is_open(t.pid);
	n_children = check_trace(dir, plan);
	CHECK(n_children, "no request of a child was measured");
	printf("%zu forks, %zu of them executed, %zu changes, %zu requests of children measured\n",
	       (size_t)t.shared->n_forks, (size_t)t.shared->n_execs, (size_t)state.n_changes, (size_t)n_children);
	live_test_end(&t);
	vprof_plan_free(plan);
}

static void another_build_is_left_alone(void)
{
	struct vprof_probe_map map = *live_target_map();
	struct vprof_probe_module modules[2] = { map.modules[0], map.modules[1] };
	struct vprof_error err = { "" };
	struct vprof_gates *gates;
	int written, rc;
	pid_t pid;

	modules[0].build_id = "0123456789abcdef0123456789abcdef01234567";
	map.modules = modules;
	CHECK(!vprof_gates_new(&gates, &map, &err), "%s", err.message);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	while (!(rc = vprof_gates_look(gates, (uint32_t)pid, 1, &written, &err))) {
		/* it might be executing a program; nothing that ends meanwhile counts */
		CHECK(vprof_gates_fails(gates, 1) && !vprof_gates_n_processes(gates), "it is as wanted");
		usleep(10000);
	}
	CHECK(rc == VPROF_ERR_FAILED && strstr(err.message, "another build"), "%s", err.message);
	CHECK(vprof_gates_refuses(gates, 1) && !vprof_gates_fails(gates, 1), "it is looked at again");
	CHECK(!written && !vprof_gates_n_processes(gates), "it was written to");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(vprof_gates_look(gates, (uint32_t)pid, 2, &written, &err) == VPROF_ERR_MISSING, "%s", err.message);
	vprof_gates_free(gates);
}

/* What the test could not wait for is a damaged file: an entry that is neither byte is never written to. */
static void unexpected_code_is_left_alone(void)
{
	struct vprof_probe_map map = *live_target_map();
	struct vprof_probe_copy copies[1] = { map.copies[0] };
	uint64_t entry = copies[0].entries[0] + 1;
	struct vprof_error err = { "" };
	struct vprof_gates *gates;
	int written, rc;
	pid_t pid;

	copies[0].entries = &entry;
	map.copies = copies;
	map.n_copies = 1;
	CHECK(!vprof_gates_new(&gates, &map, &err), "%s", err.message);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	while (!(rc = vprof_gates_look(gates, (uint32_t)pid, 1, &written, &err)))
		usleep(10000);
	CHECK(rc == VPROF_ERR_FAILED && !written && !vprof_gates_n_processes(gates), "%s", err.message);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	vprof_gates_free(gates);
}

/* Needs root, who can become another user. */
static void another_user_is_refused(void)
{
	pid_t victim, thief;
	int status;

	if (getuid()) {
		printf("skipped: another user's processes: needs root\n");
		return;
	}
	victim = fork();
	if (!victim) {
		pause();
		_exit(0);
	}
	thief = fork();
	if (!thief) {
		struct vprof_error err = { "" };
		struct vprof_gates *gates;
		int written, rc;

		if (setgid(65534) || setuid(65534) || vprof_gates_new(&gates, live_target_map(), &err))
			_exit(1);
		rc = vprof_gates_look(gates, (uint32_t)victim, 1, &written, &err);
		_exit(rc == VPROF_ERR_FAILED && !written && strstr(err.message, "only its own user and root") ? 0 : 2);
	}
	CHECK(waitpid(thief, &status, 0) == thief && !status, "status %#x", status);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
}

/* A program tells root of processes that are not its user's. */
static void strangers_are_left_alone(void)
{
	struct vprof_error err = { "" };
	struct vprof_gates *gates;
	pid_t stranger = fork();
	int written, rc;

	if (!stranger) {
		pause();
		_exit(0);
	}
	if (vprof_gates_new(&gates, live_target_map(), &err))
		exit(1);
	vprof_gates_limit(gates, getuid() + 1);
	rc = vprof_gates_look(gates, (uint32_t)stranger, 1, &written, &err);
	CHECK(rc == VPROF_ERR_FAILED && !written && strstr(err.message, "another user"), "%d: %s", rc, err.message);
	CHECK(vprof_gates_refuses(gates, 1) && !vprof_gates_n_processes(gates), "it is known");
	vprof_gates_limit(gates, getuid());
	rc = vprof_gates_look(gates, (uint32_t)stranger, 2, &written, &err);
	CHECK(!rc && !vprof_gates_refuses(gates, 2), "its own user's: %s", err.message);
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
	vprof_gates_free(gates);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Until every worker has looked at its gate from the beginning. */
static void let_all_look(struct live_shared *shared)
{
	uint64_t n_looks[N_WORKERS];

	for (int i = 0; i < N_WORKERS; i++)
		n_looks[i] = shared->n_looks[i];
	shared->gates_open = 0;
	for (int i = 0; i < N_WORKERS; i++)
		while (shared->n_looks[i] < n_looks[i] + 2) /* the first may have begun before */
			usleep(1000);
}

static void collector_is_killed(void)
{
	struct live_test t = { .outlives = 1 };
	uint64_t killed_ns;
	pid_t session;

	live_test_files(&t);
	t.shared->is_forking = 0;
	session = fork();
	if (!session) {
		struct vprof_plan *plan = live_target_plan(1, 0x1f);
		struct vprof_error err = { "" };
		char dir[96];

		live_test_start(&t, "plans", 5000000);
		snprintf(dir, sizeof dir, "%s/round", t.folder);
		if (vprof_live_begin(t.live, plan, dir, NULL, &err))
			_exit(1);
		for (;;) {
			vprof_live_step(t.live, &err);
			usleep(500);
		}
	}
	while (t.shared->n_requests < 1000)
		usleep(1000);
	kill(session, SIGKILL);
	waitpid(session, NULL, 0);
	killed_ns = now_ns();
	do
		let_all_look(t.shared);
	while (t.shared->gates_open && now_ns() - killed_ns < SHUT_NS);
	CHECK(!t.shared->gates_open, "gates are open: %#llx", (unsigned long long)t.shared->gates_open);
	printf("gates shut within %.0f ms of the collector's death\n", (double)(now_ns() - killed_ns) * 1e-6);
	t.shared->is_over = 1;
	vprof_dir_remove(t.folder, NULL);
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return live_target_main(argv[argc - 2], argv[argc - 1]);
	another_build_is_left_alone();
	unexpected_code_is_left_alone();
	another_user_is_refused();
	strangers_are_left_alone();
	processes_come_and_go();
	collector_is_killed();
	return 0;
}
