/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A debugger steps a thread through every instruction of a probe's paths and of the wrappers, and delivers a signal
 * between any two of them: its handler records, fills whole chunks, forks, or jumps away. Then the trace holds exactly
 * what was recorded, and gate and list of open frames are as before. In the program's own code, and in a shared
 * library's.
 *
 * A stretch with blocked signals counts as one instruction: a signal arrives behind it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tests/runtime/session.h"
#include "tests/runtime/harmless/step.h"

#if defined(__x86_64__)

#define N_STEPS 8000   /* about as many in one run, each 20 us */
#define FIRST_EVERY 16 /* the first passage defines strings, walks stacks: thousands of instructions */
#define N_AT_ONCE 32   /* children, or a ring's worth of floods */

static struct step_shared *shared;
static char shared_path[] = "/tmp/vprof-runtime-shared-XXXXXX";

struct run {
	const struct step_passage *passage;
	enum step_handler handler;
	struct session session;
	struct vprof_collector *collector;
	pid_t pid, tid; /* the target; its stopped thread, 0: none */
	int send;	/* the signal that it stopped for */
	uint64_t n_steps, n_delivered;
};

static void shared_new(void)
{
	int fd = mkstemp(shared_path);

	if (fd < 0 || ftruncate(fd, sizeof(*shared)) || setenv("VPROF_TEST_SHARED", shared_path, 1))
		exit(1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared == MAP_FAILED)
		exit(1);
}

/* Does the worker sleep in the kernel? */
static bool is_asleep(const struct run *r)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)r->pid, (int)r->tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d %*s %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'S';
}

/* Until the worker stops. False: the target has ended. */
static bool stopped(struct run *r)
{
	int status;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, __WALL | (r->passage->contends ? WNOHANG : 0));
		if (pid == 0) {
			if (shared->phase == STEP_BEGIN && is_asleep(r)) /* in the lock: its holder may release it */
				shared->release = 1;
			sched_yield();
			continue;
		}
		if (pid < 0)
			return false;
		if (WIFSTOPPED(status)) {
			r->tid = pid;
			r->send = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
			return true;
		}
		if (pid == r->pid) {
			r->session.status = status;
			return false;
		}
	}
}

/* Runs on to the next trap. */
static bool go_on(struct run *r, int signal)
{
	r->send = signal;
	do {
		if (r->tid && ptrace(PTRACE_CONT, r->tid, NULL, (void *)(intptr_t)r->send))
			r->tid = 0;
		if (!stopped(r))
			return false;
	} while (r->send);
	return true;
}

static bool is_blocked(const struct run *r)
{
	uint64_t mask = 0;

	ptrace(PTRACE_GETSIGMASK, r->tid, (void *)sizeof(mask), &mask);
	return mask >> (SIGUSR1 - 1) & 1;
}

/* One instruction, or until signals are unblocked. */
static bool step(struct run *r)
{
	do {
		if (ptrace(is_blocked(r) ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, r->tid, NULL,
			   (void *)(intptr_t)r->send) ||
		    !stopped(r))
			return false;
	} while (r->send || (shared->phase == STEP_BEGIN && is_blocked(r)));
	return true;
}

static unsigned long program_counter(const struct run *r)
{
	return (unsigned long)ptrace(PTRACE_PEEKUSER, r->tid, (void *)offsetof(struct user_regs_struct, rip), NULL);
}

static long drained(struct run *r, long n)
{
	while (vprof_collector_drain(r->collector))
		;
	return n;
}

/* The signal, its handler, and back to where it interrupted. */
static bool deliver(struct run *r)
{
	r->n_delivered++;
	if (!go_on(r, SIGUSR1))
		return false;
	if (r->handler == STEP_FLOOD)
		drained(r, 0);
	if (shared->phase != STEP_HANDLED)
		return true;
	shared->phase = STEP_BEGIN;
	for (int i = 0; i < 1000 && program_counter(r) != shared->handler_pc; i++)
		if (!step(r))
			return false;
	return true;
}

static bool go_to_passage(struct run *r)
{
	do {
		if (!go_on(r, 0))
			return false;
		if (shared->phase == STEP_DRAIN)
			drained(r, 0);
	} while (shared->phase != STEP_BEGIN);
	return true;
}

/* Delivers at every `every`th instruction from the first on. How many there were, or -1. */
static long passage(struct run *r, uint64_t first, uint64_t every)
{
	long n = 0;

	if (!go_to_passage(r))
		return -1;
	for (;; n++) {
		if (every && (uint64_t)n % every == first && !deliver(r))
			return -1;
		if (shared->phase != STEP_BEGIN || !step(r))
			break;
		r->n_steps++;
		if (shared->phase != STEP_BEGIN)
			break;
	}
	return n;
}

static void start(struct run *r, int number, const char *module)
{
	struct vprof_collector_options o = { .trace_dir = r->session.dir,
					     .memory_bytes = 32u << 20,
					     .stack_samples = 1 };
	struct vprof_error err = { "" };

	memset(shared, 0, sizeof(*shared));
	strcpy(r->session.dir, "/tmp/vprof-runtime-XXXXXX");
	if (!mkdtemp(r->session.dir) || vprof_collector_open(&r->collector, &o, &err)) {
		printf("collector: %s\n", err.message);
		exit(1);
	}
	r->pid = fork();
	if (r->pid == 0) {
		char what[2][16];

		snprintf(what[0], sizeof(what[0]), "%d", number);
		snprintf(what[1], sizeof(what[1]), "%d", (int)r->handler);
		setenv("VPROF_SHM", vprof_collector_shm(r->collector), 1);
		setenv("LD_PRELOAD", VPROF_LIBRARY, 1);
		execl(VPROF_TEST_TARGET, "target", "target", what[0], what[1], module, (char *)NULL);
		_exit(127);
	}
}

static void finish(struct run *r)
{
	struct vprof_error err = { "" };

	shared->phase = STEP_OVER;
	while (go_on(r, 0)) {
		while (vprof_collector_drain(r->collector))
			;
		shared->phase = STEP_OVER;
	}
	if (vprof_collector_close(r->collector, &r->session.stats, &err) ||
	    vprof_trace_open(&r->session.trace, r->session.dir, &err)) {
		printf("trace: %s\n", err.message);
		exit(1);
	}
	vprof_trace_check(r->session.trace);
}

/* The trace. */

#define N_FORKS 8192

struct judged {
	const struct run *run;
	uint32_t thread_seq;
	int n_frames, n_others, child; /* since the last passage; child: index of its fork, or -1 */
	uint64_t n_whole, n_wrong, n_lost, n_handler, n_fill, n_children, n_wrong_children;
	/* forks: what the parent had recorded of its passage */
	struct {
		uint64_t token;
		int n_frames, n_others;
	} forks[N_FORKS];
	int n_forks;
};

static void child_judge(struct judged *j)
{
	const struct step_passage *p = j->run->passage;
	int frames, others;

	if (j->child < 0)
		return;
	frames = j->n_frames + j->forks[j->child].n_frames - p->n_frames;
	others = j->n_others + j->forks[j->child].n_others - p->n_others;
	j->n_children++;
	if (frames || others)
		j->n_wrong_children++;
	j->child = -1;
}

static void passage_judge(struct judged *j)
{
	const struct step_passage *p = j->run->passage;
	bool whole = j->n_frames == p->n_frames && j->n_others == p->n_others;

	if (whole)
		j->n_whole++;
	else if (j->run->handler == STEP_JUMP && j->n_frames <= p->n_frames && j->n_others <= p->n_others)
		j->n_lost++;
	else
		j->n_wrong++;
	j->n_frames = j->n_others = 0;
}

static void judge_one(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct judged *j = arg;

	(void)n;
	if (th->thread_seq != j->thread_seq) {
		child_judge(j);
		j->thread_seq = th->thread_seq;
		j->n_frames = j->n_others = 0;
	}
	switch (VP_CODE(u->w)) {
	case STEP_CALL:
	case STEP_LEAF:
	case STEP_ROOT:
	case STEP_SITE:
		j->n_frames++;
		break;
	case VP_KIND_ENTER:
	case VP_KIND_BEGIN:
	case VP_KIND_END:
	case VP_KIND_TYPE:
	case VP_KIND_WORK:
	case VP_KIND_ENQUEUE:
		j->n_others++;
		break;
	case VP_KIND_DEQUEUE:
		passage_judge(j);
		break;
	case STEP_HANDLER:
		j->n_handler++;
		break;
	case STEP_FILL:
		j->n_fill++;
		break;
	case VP_KIND_CREATE:
		if (u[1].w == 1 && j->n_forks < N_FORKS) {
			j->forks[j->n_forks].token = u[1].t;
			j->forks[j->n_forks].n_frames = j->n_frames;
			j->forks[j->n_forks++].n_others = j->n_others;
		}
		break;
	case VP_KIND_START:
		for (int i = 0; u[1].t && i < j->n_forks; i++)
			if (j->forks[i].token == u[1].t)
				j->child = i;
		break;
	}
}

static void judge(const struct run *r, const char *where)
{
	static const char *const handlers[] = { "nothing", "probes", "flood", "fork", "jump" };
	static struct judged j;
	const struct session *s = &r->session;

	memset(&j, 0, sizeof(j));
	j.run = r;
	j.child = -1;
	session_each(s, judge_one, &j);
	child_judge(&j);
	printf("%-10s %-8s %-8s %6llu instructions, %5llu signals, %4llu passages, %llu cut\n", r->passage->name,
	       handlers[r->handler], where, (unsigned long long)r->n_steps, (unsigned long long)r->n_delivered,
	       (unsigned long long)shared->n_passages, (unsigned long long)j.n_lost);
	CHECK(WIFEXITED(s->status) && WEXITSTATUS(s->status) == 42, "status 0x%x", s->status);
	CHECK(!s->trace->n_dropped && !s->trace->n_bytes_ignored, "%d dropped, %d damaged", (int)s->trace->n_dropped,
	      (int)s->trace->n_bytes_ignored);
	CHECK(!shared->n_bad_states, "gate or open frames are wrong %d times", (int)shared->n_bad_states);
	CHECK(!j.n_wrong && j.n_whole + j.n_lost == shared->n_passages, "%d wrong, %d whole of %d", (int)j.n_wrong,
	      (int)j.n_whole, (int)shared->n_passages);
	CHECK(j.n_handler == shared->n_handled + shared->n_forked, "handlers: %d of %d", (int)j.n_handler,
	      (int)(shared->n_handled + shared->n_forked));
	CHECK(shared->n_handled == r->n_delivered, "%d handled", (int)shared->n_handled);
	CHECK(j.n_fill == shared->n_filled, "floods: %d of %d", (int)j.n_fill, (int)shared->n_filled);
	CHECK(j.n_children == shared->n_forked && !j.n_wrong_children, "%d children of %d, %d wrong", (int)j.n_children,
	      (int)shared->n_forked, (int)j.n_wrong_children);
}

/* `n`: instructions of one passage, which is the result too. Only STEP_PROBES interrupts what is done but once. */
static long run(const struct step_code *code, int number, enum step_handler handler, const char *module, long n)
{
	static struct run r;
	uint64_t every, by = 1;
	long got = 0;

	memset(&r, 0, sizeof(r));
	r.passage = &code->passages[number];
	r.handler = handler;
	start(&r, number, module);
	if (handler == STEP_PROBES)
		got = passage(&r, 0, FIRST_EVERY);
	else
		got = go_to_passage(&r) ? 0 : -1;
	if (handler == STEP_NOTHING) {
		got = passage(&r, 0, 0);
	} else if (handler == STEP_JUMP) { /* one signal a passage */
		by += (uint64_t)(n * n / 2 / (2 * N_STEPS));
		for (uint64_t i = 0; got >= 0 && i < (uint64_t)n; i += by)
			got = drained(&r, passage(&r, i, UINT64_MAX));
	} else {
		every = (uint64_t)(N_STEPS / (n + 1)) + 1;
		if (handler != STEP_PROBES)
			every = (uint64_t)(n / N_AT_ONCE) + 1;
		by += every * (uint64_t)n / (2 * N_STEPS);
		for (uint64_t i = 0; got >= 0 && i < every; i += by)
			got = drained(&r, passage(&r, i, every));
	}
	CHECK(got >= 0, "%s: the target ended too early, status 0x%x", r.passage->name, r.session.status);
	finish(&r);
	judge(&r, *module ? "library" : "program");
	session_end(&r.session);
	return got;
}

static bool may_trace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
	cpu_set_t one;

	if (argc > 4)
		return step_target(argv);
	if (!may_trace()) {
		printf("skipped: this system forbids ptrace\n");
		return 77;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one); /* a step takes a third of the time */
	sched_setaffinity(0, sizeof(one), &one);
	shared_new();
	for (int i = 0; i < step_code.n_passages; i++) {
		const struct step_passage *p = &step_code.passages[i];

		for (int library = 0; library < 1 + p->in_library; library++) {
			const char *module = library ? VPROF_TEST_STEP_MODULE : "";
			long n = run(&step_code, i, STEP_NOTHING, module, 0);

			run(&step_code, i, STEP_PROBES, module, n);
			run(&step_code, i, STEP_FLOOD, module, n);
			if (p->forks)
				run(&step_code, i, STEP_FORK, module, n);
			if (p->jumps)
				run(&step_code, i, STEP_JUMP, module, n);
		}
	}
	unlink(shared_path);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}

#else

int main(void)
{
	printf("skipped: needs a processor whose single steps this test knows (x86-64)\n");
	return 77;
}

#endif
