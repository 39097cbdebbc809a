/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording windows: within one every call of the intervals that begin there is recorded, to the end of those that
 * outlast it; between two nothing is but the intervals' marks. Calls that last from a pause into a window hide nothing.
 *
 * The target opens and closes the windows itself, where the collector would, and records when it did: each turn lies
 * between two marks. So what must be recorded is known, however the threads are scheduled. (When the collector opens
 * and closes windows: tests/unit/trace/.) */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define INNER 0x202
#define LEAF 0x203
#define STEP 0x212
#define JOB_STEP 0x222
#define N_INNER 4
#define N_ROUNDS 200 /* of requests around turns of their own thread */
#define N_TURNS 60   /* beside requests of other threads */
#define N_WORKERS 2
#define N_BACKGROUND 2
#define AT_LEAST 20 /* requests of each worker between two turns */
#define STEPS_AT_LEAST 2
#define AT_MOST 500 /* of either, so that the ring has room for all */
#define N_WINDOWS 1000

static volatile int sink_value;
static struct vp_shm *shm;
static _Atomic int is_over;
static _Atomic uint64_t n_turns, n_made[N_WORKERS + N_BACKGROUND]; /* requests or steps since the last turn */

/* Before and after each turn of the window, by the thread that turns it. Another processor sees the turn a little after
 * it, and may look before it has read the time: the collector allows for that with as large a margin. */
#define MARGIN_NS 50000

static void margin(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < MARGIN_NS);
}

static void mark(const char *what)
{
	vprof_work(what, (int64_t)vp_ticks(vp_self));
}

static void window_turn(void)
{
	static uint32_t n_pauses;
	bool opens = shm->closed != 0;

	mark(opens ? "opens" : "closes");
	margin();
	shm->closed = opens ? 0 : ++n_pauses;
	margin();
	mark(opens ? "opened" : "closed");
	for (int i = 0; i < N_WORKERS + N_BACKGROUND; i++)
		n_made[i] = 0;
	n_turns++;
}

static void __attribute__((noinline)) leaf(void)
{
	VP_FUNCTION(0x203, 0x8UL, 1)
	sink_value++;
}

static void __attribute__((noinline)) inner(void)
{
	VP_FUNCTION(0x202, 0x4UL, 3)
	leaf();
}

static void __attribute__((noinline)) request(uint64_t id, bool turns)
{
	VP_ROOT(0x201, ~0UL, 2)

	vprof_begin("request", id);
	for (int k = 0; k < N_INNER; k++) {
		inner();
		if (k == 1 && turns)
			window_turn();
	}
	vprof_end("request", id);
}

/* Two in a window and one that outlasts it, two in a pause and one that lasts into the next window. */
static void requests_around_turns(void)
{
	for (int i = 0; i < 6 * N_ROUNDS; i++)
		request(i, i % 3 == 2);
}

/* The thread makes what the window's turns need, and not more than there is room for. */
static void made(int who)
{
	uint64_t turn = n_turns;

	n_made[who]++;
	while (n_made[who] >= AT_MOST && n_turns == turn && !is_over)
		sched_yield();
}

static void *worker(void *arg)
{
	int who = (int)(intptr_t)arg;

	for (uint64_t i = 0; !is_over; i++) {
		request((uint64_t)(who + 1) << 32 | i, false);
		made(who);
	}
	return NULL;
}

static void __attribute__((noinline)) step(void)
{
	VP_FUNCTION(0x212, 0x4UL, 1)
	sink_value++;
}

/* A thread in one call for ever. */
static void *background(void *arg)
{
	VP_ROOT(0x211, ~0UL, 2)
	while (!is_over) {
		step();
		made((int)(intptr_t)arg);
	}
	return NULL;
}

static void __attribute__((noinline)) job_step(void)
{
	VP_FUNCTION(0x222, 0x4UL, 1)
	sink_value++;
}

/* Calls about as long as a window. */
static void __attribute__((noinline)) job(int who)
{
	VP_ROOT(0x221, ~0UL, 2)
	for (int i = 0; i < AT_MOST / 2 && !is_over; i++) {
		job_step();
		made(who);
	}
}

static void *jobs(void *arg)
{
	while (!is_over)
		job((int)(intptr_t)arg);
	return NULL;
}

/* Each step that is awaited was begun after the turn. */
static void until_made(void)
{
	for (int i = 0; i < N_WORKERS + N_BACKGROUND; i++)
		while (n_made[i] <= (i < N_WORKERS ? AT_LEAST : STEPS_AT_LEAST))
			sched_yield();
}

static int target(void)
{
	void *(*const run[])(void *) = { worker, worker, background, jobs };
	pthread_t threads[N_WORKERS + N_BACKGROUND];

	shm = session_shm(getenv("VPROF_SHM"));
	mark("opened");
	requests_around_turns();
	window_turn(); /* the background's calls begin in a pause */
	for (int i = 0; i < N_WORKERS + N_BACKGROUND; i++)
		if (pthread_create(&threads[i], NULL, run[i], (void *)(intptr_t)i))
			return 1;
	for (int i = 0; i < N_TURNS; i++) {
		until_made();
		window_turn();
	}
	is_over = 1;
	for (int i = 0; i < N_WORKERS + N_BACKGROUND; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* The judge. A window and the pause after it: the marks around its opening and its closing. */

struct window {
	uint64_t opens, opened, closes, closed;
	uint64_t n_steps, n_job_steps;
};

struct findings {
	struct window windows[N_WINDOWS];
	size_t n;
	uint64_t opens, opened, closes, closed; /* hashes */
	uint64_t begin;
	uint32_t thread_seq;
	int n_inner, n_leaf, is_under_way;
	uint64_t n_inside, n_short, n_outlasting, n_between, n_recorded_between, n_begun, n_ended;
};

static void take_mark(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct findings *f = arg;
	struct window *w = f->n ? &f->windows[f->n - 1] : NULL;

	(void)th;
	(void)n;
	if (VP_CODE(u->w) != VP_KIND_WORK)
		return;
	if (u[1].t == f->opens && f->n < N_WINDOWS)
		f->windows[f->n++] = (struct window){ u[1].w, 0, UINT64_MAX, UINT64_MAX, 0, 0 };
	else if (u[1].t == f->opened && !f->n)
		f->windows[f->n++] = (struct window){ 0, u[1].w, UINT64_MAX, UINT64_MAX, 0, 0 };
	else if (u[1].t == f->opened && w)
		w->opened = u[1].w;
	else if (u[1].t == f->closes && w)
		w->closes = u[1].w;
	else if (u[1].t == f->closed && w)
		w->closed = u[1].w;
}

static struct window *window_of(struct findings *f, uint64_t t)
{
	for (size_t i = 0; i < f->n; i++)
		if (t >= f->windows[i].opened && t < f->windows[i].closes)
			return &f->windows[i];
	return NULL;
}

static bool is_between(const struct findings *f, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < f->n; i++)
		if (begin >= f->windows[i].closed && (i + 1 == f->n || end < f->windows[i + 1].opens))
			if (i + 1 == f->n || begin < f->windows[i + 1].opens)
				return true;
	return false;
}

static void take_end(struct findings *f, uint64_t t)
{
	const struct window *w = window_of(f, f->begin);

	f->n_ended++;
	f->is_under_way = 0;
	if (w) {
		f->n_inside++;
		f->n_short += f->n_inner != N_INNER || f->n_leaf != N_INNER;
		f->n_outlasting += t >= w->closed;
	} else if (is_between(f, f->begin, t)) {
		f->n_between++;
		f->n_recorded_between += f->n_inner || f->n_leaf;
	}
}

static void take(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct findings *f = arg;
	struct window *w;

	(void)n;
	f->is_under_way &= th->thread_seq == f->thread_seq;
	switch (VP_CODE(u->w)) {
	case VP_KIND_BEGIN:
		f->begin = u->t;
		f->thread_seq = th->thread_seq;
		f->n_inner = f->n_leaf = 0;
		f->is_under_way = 1;
		f->n_begun++;
		break;
	case VP_KIND_END:
		if (f->is_under_way)
			take_end(f, u->t);
		break;
	case INNER:
		f->n_inner++;
		break;
	case LEAF:
		f->n_leaf++;
		break;
	case STEP:
	case JOB_STEP:
		w = window_of(f, u->t);
		if (w && VP_CODE(u->w) == STEP)
			w->n_steps++;
		else if (w)
			w->n_job_steps++;
		break;
	default:
		break;
	}
}

static uint64_t hash(const char *name)
{
	return vprof_hash(VPROF_HASH_SEED, name, strlen(name));
}

int main(int argc, char **argv)
{
	static struct findings f;
	uint64_t n_quiet = 0, n_beside = 0;
	struct session s;

	if (argc > 1 && strcmp(argv[1], "target") == 0)
		return target();
	f.opens = hash("opens");
	f.opened = hash("opened");
	f.closes = hash("closes");
	f.closed = hash("closed");
	if (session_run(&s, "target", 128u << 20, 1))
		exit(1);
	session_each(&s, take_mark, &f);
	session_each(&s, take, &f);
	for (size_t i = N_ROUNDS + 1; i < f.n; i++, n_beside++)
		n_quiet += f.windows[i].n_steps < STEPS_AT_LEAST || f.windows[i].n_job_steps < STEPS_AT_LEAST;
	printf("%d windows: %d intervals begun in them, %d outlasted them; %d between windows\n", (int)f.n,
	       (int)f.n_inside, (int)f.n_outlasting, (int)f.n_between);
	CHECK(s.stats.n_dropped == 0, "%d dropped", (int)s.stats.n_dropped);
	CHECK(f.n_begun == f.n_ended && f.n == 1 + N_ROUNDS + N_TURNS / 2, "%d of %d intervals, %d windows",
	      (int)f.n_ended, (int)f.n_begun, (int)f.n);
	CHECK(f.n_inside >= 3 * N_ROUNDS + N_TURNS / 2 * AT_LEAST && f.n_short == 0, "%d of %d lack calls",
	      (int)f.n_short, (int)f.n_inside);
	CHECK(f.n_outlasting >= N_ROUNDS, "%d outlast their windows", (int)f.n_outlasting);
	CHECK(f.n_between >= 2 * N_ROUNDS && f.n_recorded_between == 0, "%d of %d have calls",
	      (int)f.n_recorded_between, (int)f.n_between);
	CHECK(n_beside == N_TURNS / 2 && n_quiet == 0, "%d windows of %d without the calls of background threads",
	      (int)n_quiet, (int)n_beside);
	session_end(&s);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
