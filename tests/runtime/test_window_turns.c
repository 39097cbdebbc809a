/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording window opens or closes while an interval begins: by the time that its BEGIN carries it lies in the window
 * and has all its calls, or it lies outside.
 *
 * The target's clock is this program's clock_gettime. On request it turns the window at its n-th reading, right before
 * or right after the time is taken, as if the thread had been preempted there. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define CALL (VP_CODE_FUNCTION + 2)
#define N_CALLS 3
#define N_READINGS 6 /* more than one vprof_begin makes */

enum turn { CLOSE_BEFORE, CLOSE_AFTER, OPEN_BEFORE, OPEN_AFTER, N_TURNS };

static struct vp_shm *shm;
static int readings_left; /* until the turn; 0: none is to come */
static enum turn turn;
static uint64_t turned_ns;

static uint64_t real_ns(clockid_t clock, struct timespec *t)
{
	syscall(SYS_clock_gettime, clock, t);
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* Right after it a thread cannot read a time that lies before it. */
static void turn_now(void)
{
	struct timespec t;

	shm->closed = turn == CLOSE_BEFORE || turn == CLOSE_AFTER ? 7 : 0;
	do
		turned_ns = real_ns(CLOCK_MONOTONIC, &t);
	while (real_ns(CLOCK_MONOTONIC, &t) == turned_ns);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	bool is_turn = clock == CLOCK_MONOTONIC && readings_left && --readings_left == 0;

	if (is_turn && (turn == CLOSE_BEFORE || turn == OPEN_BEFORE))
		turn_now();
	real_ns(clock, t);
	if (is_turn && (turn == CLOSE_AFTER || turn == OPEN_AFTER))
		turn_now();
	return 0;
}

static void __attribute__((noinline)) call(void)
{
	VP_FUNCTION(0x102, 0x4UL, 1)
	__asm__ volatile("");
}

static void __attribute__((noinline)) request(int id, int n)
{
	VP_ROOT(0x101, ~0UL, 2)
	bool opens = turn == OPEN_BEFORE || turn == OPEN_AFTER;

	shm->closed = opens ? 6 : 0;
	readings_left = n;
	vprof_begin("request", id);
	readings_left = 0;
	for (int i = 0; i < N_CALLS; i++)
		call();
	vprof_end("request", id);
	vprof_work(opens ? "opened" : "closed", (int64_t)turned_ns);
	turned_ns = 0;
}

static int target(void)
{
	shm = session_shm(getenv("VPROF_SHM"));
	for (int id = 0; id < N_TURNS * N_READINGS; id++) {
		turn = (enum turn)(id / N_READINGS);
		request(id, 1 + id % N_READINGS);
	}
	return 0;
}

/* The judge. */

struct found {
	uint64_t opened, id, begin, n_calls;
	int n_in, n_out, n_turned;
	unsigned turned; /* a bit for each enum turn */
};

static void judge(struct found *f, uint64_t turned, bool opened)
{
	bool in_window = !turned || (opened ? f->begin > turned : f->begin <= turned);

	if (!turned && opened) /* the window did not open while the interval began */
		in_window = false;
	f->n_turned += turned != 0;
	f->turned |= turned ? 1u << f->id / N_READINGS : 0;
	f->n_in += in_window;
	f->n_out += !in_window;
	CHECK(!in_window || f->n_calls == N_CALLS, "request %d, in the window: %d calls", (int)f->id, (int)f->n_calls);
}

static void take(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct found *f = arg;

	(void)th;
	(void)n;
	switch (VP_CODE(u->w)) {
	case VP_KIND_BEGIN:
		f->id = u[1].t;
		f->begin = u->t;
		f->n_calls = 0;
		break;
	case CALL:
		f->n_calls++;
		break;
	case VP_KIND_WORK:
		judge(f, u[1].w, u[1].t == f->opened);
		break;
	default:
		break;
	}
}

static void clock_is_monotonic(const char *path)
{
	shm = session_shm(path);
	shm->clock = VP_CLOCK_MONOTONIC;
}

int main(int argc, char **argv)
{
	struct found f = { .opened = vprof_hash(VPROF_HASH_SEED, "opened", 6) };
	struct session s;

	(void)argv;
	if (argc > 2)
		return target();
	session_adjust = clock_is_monotonic;
	if (session_run(&s, "target", 1u << 20, 1))
		exit(1);
	session_each(&s, take, &f);
	printf("%d intervals in a window, %d outside, %d with a turn as they began\n", f.n_in, f.n_out, f.n_turned);
	CHECK(f.n_in + f.n_out == N_TURNS * N_READINGS, "intervals");
	CHECK(f.n_in > 0 && f.n_out > 0 && f.turned == (1u << N_TURNS) - 1, "turns %#x", f.turned);
	session_end(&s);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
