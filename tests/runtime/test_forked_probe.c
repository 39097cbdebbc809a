/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fork between a probe's reservation of a unit and its store, as a signal handler may make one: the record is the
 * parent's, wherever the unit lies. The probe's two halves are called by hand, with the fork between them; or the
 * second half is stepped through and forks between any two of its instructions. A handler may also take a chunk when
 * the unit lies in the sink: the record goes into that chunk. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "tests/runtime/session.h"

#define UNIT (VP_CODE_FUNCTION + 1)  /* the record that is under way */
#define FILL (VP_CODE_FUNCTION + 2)  /* what fills chunks */
#define CHILD (VP_CODE_FUNCTION + 3) /* the child's own */
#define ROUND (VP_CODE_FUNCTION + 5) /* one for each of the records under way */
#define CHUNK_UNITS (VP_CHUNK_BYTES / VP_UNIT_BYTES)
#define RING_BYTES (1u << 20)
#define STEPS_BYTES (32u << 20) /* room for a chunk of each child */

static void __attribute__((noinline)) start(void)
{
	VP_FUNCTION(0x104, 0xffffffffffffffffUL, 1)
}

static void fill(unsigned n)
{
	while (n--)
		vp_unit_write(vp_self, vp_ticks(vp_self), FILL);
}

/* As in vp_unit_write(). */
static void finish(unsigned long address)
{
	vp_u64 t = vp_ticks(vp_self);

	if (address >= vp_self->limit) {
		vp_self->api->full(vp_self, address, t, UNIT);
	} else {
		((volatile vp_u64 *)address)[0] = t;
		((volatile vp_u64 *)address)[1] = UNIT;
	}
}

/* Where the unit lies when the fork comes. */
enum place { IN_CHUNK, AT_CHUNKS_END, IN_EARLIER_CHUNK, IN_SINK, N_PLACES };
static const char *const place_names[] = { "chunk", "end", "earlier", "sink" };

/* `low`: the chunk that the child takes lies before those of its parent. */
static int target(enum place place, bool low)
{
	unsigned long address;
	int status = -1;
	pid_t pid;

	start();
	if (low) {
		fill(3 * CHUNK_UNITS);
		raise(SIGSTOP);
	}
	if (place == AT_CHUNKS_END)
		while (vp_self->next < vp_self->limit)
			fill(1);
	if (place == IN_SINK)
		fill(2 * RING_BYTES / VP_UNIT_BYTES);
	address = vp_reserve(vp_self, VP_UNIT_BYTES);
	if (place == IN_EARLIER_CHUNK)
		fill(2 * CHUNK_UNITS);
	if (place == IN_SINK)
		raise(SIGSTOP); /* the ring is drained: the child finds room */
	pid = fork();
	if (pid == 0) {
		const struct vp_shm *shm = session_shm(getenv("VPROF_SHM"));
		uint64_t n_dropped = shm->n_dropped;

		finish(address);
		vp_unit_write(vp_self, vp_ticks(vp_self), CHILD);
		_exit(shm->n_dropped != n_dropped);
	}
	finish(address);
	waitpid(pid, &status, 0);
	_exit(status != 0);
}

/* A chunk is taken between the two halves. */
static int target_taken(void)
{
	unsigned long address;

	start();
	fill(2 * RING_BYTES / VP_UNIT_BYTES);
	address = vp_reserve(vp_self, VP_UNIT_BYTES);
	raise(SIGSTOP); /* the ring is drained */
	while (!vp_self->limit)
		fill(1);
	finish(address);
	_exit(0);
}

#if defined(__x86_64__)

#define SINGLE_STEP 0x100 /* in the flags */

static volatile int n_steps, was_blocked;
static volatile pid_t forked;

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)number;
	(void)info;
	if (n_steps-- > 0) {
		c->uc_mcontext.gregs[REG_EFL] |= SINGLE_STEP;
		return;
	}
	c->uc_mcontext.gregs[REG_EFL] &= ~SINGLE_STEP;
	was_blocked = sigismember(&c->uc_sigmask, SIGUSR1);
	if (!was_blocked)
		forked = fork();
}

/* At a chunk's end, where the second half takes the slow path: up to where it blocks signals. */
static int target_steps(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	const struct vp_shm *shm = session_shm(getenv("VPROF_SHM"));
	int status, n_wrong = 0;

	sigaction(SIGTRAP, &action, NULL);
	start();
	for (int n = 0; !was_blocked; n++) {
		unsigned long address;

		do
			fill(1);
		while (vp_self->next < vp_self->limit);
		address = vp_reserve(vp_self, VP_UNIT_BYTES);
		n_steps = n;
		forked = -1;
		__asm__ volatile("int3" ::: "memory");
		finish(address);
		if (forked == 0)
			_exit(shm->n_dropped != 0);
		status = 0;
		if (forked > 0)
			waitpid(forked, &status, 0);
		n_wrong += status != 0;
		vp_unit_write(vp_self, vp_ticks(vp_self), ROUND);
		raise(SIGSTOP);
	}
	_exit(n_wrong != 0);
}

#endif

struct found {
	uint64_t n_parents, n_childs, n_child, n_rounds;
};

static void take(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct found *f = arg;

	(void)n;
	f->n_parents += VP_CODE(u->w) == UNIT && !th->parent_seq;
	f->n_childs += VP_CODE(u->w) == UNIT && th->parent_seq;
	f->n_child += VP_CODE(u->w) == CHILD;
	f->n_rounds += VP_CODE(u->w) == ROUND;
}

static void check_taken(void)
{
	struct found f = { 0, 0, 0, 0 };
	struct session s;

	if (session_run(&s, "taken", RING_BYTES, 1))
		exit(1);
	session_each(&s, take, &f);
	CHECK(f.n_parents == 1 && s.trace->n_dropped > 0, "taken: %d", (int)f.n_parents);
	session_end(&s);
}

#if defined(__x86_64__)

static void check_steps(void)
{
	struct found f = { 0, 0, 0, 0 };
	struct session s;

	if (session_run(&s, "steps", STEPS_BYTES, 1))
		exit(1);
	session_each(&s, take, &f);
	printf("forked between %d instructions\n", (int)f.n_rounds);
	CHECK(f.n_rounds > 10 && f.n_parents == f.n_rounds, "steps: %d by the parent", (int)f.n_parents);
	CHECK(f.n_childs == 0, "steps: %d by the children", (int)f.n_childs);
	CHECK(s.trace->n_dropped == 0, "steps: %d dropped", (int)s.trace->n_dropped);
	session_end(&s);
}

#endif

static void check(enum place place, bool low)
{
	struct found f = { 0, 0, 0, 0 };
	struct session s;
	char mode[16];

	snprintf(mode, sizeof(mode), "%s%s", low ? "low-" : "", place_names[place]);
	if (session_run(&s, mode, RING_BYTES, 1))
		exit(1);
	session_each(&s, take, &f);
	/* In the sink it may be one of those that wait for the next look for room. */
	CHECK(f.n_parents == 1 || (place == IN_SINK && f.n_parents == 0), "%s: %d by the parent", mode,
	      (int)f.n_parents);
	CHECK(f.n_childs == 0, "%s: %d by the child", mode, (int)f.n_childs);
	CHECK(f.n_child == 1, "%s: %d of the child's own records", mode, (int)f.n_child);
	CHECK((s.trace->n_dropped > 0) == (place == IN_SINK), "%s: %d dropped", mode, (int)s.trace->n_dropped);
	session_end(&s);
}

int main(int argc, char **argv)
{
	bool low = argc > 2 && strncmp(argv[2], "low-", 4) == 0;

	for (int i = 0; argc > 2 && i < N_PLACES; i++)
		if (strcmp(argv[2] + (low ? 4 : 0), place_names[i]) == 0)
			return target((enum place)i, low);
	if (argc > 2 && strcmp(argv[2], "taken") == 0)
		return target_taken();
#if defined(__x86_64__)
	if (argc > 2)
		return target_steps();
#endif
	session_drains_at_stops = 1;
	for (int i = 0; i < N_PLACES; i++) {
		check((enum place)i, false);
		check((enum place)i, true);
	}
	check_taken();
#if defined(__x86_64__)
	if (!SESSION_EMULATED)
		check_steps();
#endif
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
