/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording windows: within one every call of the intervals that begin there is recorded, to the end of the long ones;
 * between two nothing is but the intervals' marks; and recording takes its share of the processor. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define INNER 0x202
#define LEAF 0x203
#define STEP 0x212
#define JOB_STEP 0x222
#define N_INNER 4
#define BUDGET (SESSION_EMULATED ? 0.05 : 0.15) /* less on a machine so slow that recording all takes less */
#define BUDGET_MIN 0.002
#define SECONDS (SESSION_EMULATED ? 8 : 4) /* and as long as that many requests take, on a slow machine */
#define SECONDS_MAX 60
#define N_REQUESTS 1500000
#define LONG_EVERY 20000
#define LONG_NS 30000000
#define N_WINDOWS 1000

static volatile int sink_value;
static _Atomic int is_over;

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

static void __attribute__((noinline)) request(int i)
{
	VP_ROOT(0x201, ~0UL, 2)
	const struct timespec pause = { 0, LONG_NS };

	vprof_begin("request", i);
	for (int k = 0; k < N_INNER; k++) {
		inner();
		if (k == 1 && i % LONG_EVERY == LONG_EVERY - 1)
			nanosleep(&pause, NULL);
	}
	vprof_end("request", i);
}

static void __attribute__((noinline)) step(void)
{
	VP_FUNCTION(0x212, 0x4UL, 1)
	for (volatile int i = 0; i < 1000; i++)
		;
}

/* A thread in one call for ever. */
static void *background(void *arg)
{
	VP_ROOT(0x211, ~0UL, 2)
	(void)arg;
	while (!is_over)
		step();
	return NULL;
}

static void __attribute__((noinline)) job_step(void)
{
	VP_FUNCTION(0x222, 0x4UL, 1)
	for (volatile int i = 0; i < 1000; i++)
		;
}

/* Calls as long as a window. */
static void __attribute__((noinline)) job(void)
{
	VP_ROOT(0x221, ~0UL, 2)
	for (int i = 0; i < 20000 && !is_over; i++)
		job_step();
}

static void *jobs(void *arg)
{
	(void)arg;
	while (!is_over)
		job();
	return NULL;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int target(void)
{
	double start = now_s();
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, background, NULL);
	pthread_create(&threads[1], NULL, jobs, NULL);
	for (int i = 0; i % 100 || now_s() - start < (i < N_REQUESTS ? SECONDS_MAX : SECONDS); i++)
		request(i);
	is_over = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}

struct window {
	uint64_t t0, t1, n_steps, n_job_steps;
};

struct findings {
	struct window windows[N_WINDOWS];
	size_t n;
	uint64_t begin;
	int n_inner, n_leaf, is_under_way;
	uint64_t n_chosen, n_short, n_outside, n_bare, n_long, n_begun, n_ended;
	uint64_t long_ticks;
};

static struct window *window_of(struct findings *f, uint64_t t)
{
	for (size_t i = 0; i < f->n; i++)
		if (t >= f->windows[i].t0 && t < f->windows[i].t1)
			return &f->windows[i];
	return NULL;
}

static void read_windows(const struct session *s, struct findings *f)
{
	struct vprof_trace_cursor c;
	const struct vp_unit *u;
	uint32_t n;

	CHECK(s->trace->windows != NULL, "no windows");
	if (!s->trace->windows)
		return;
	vprof_trace_cursor_init(&c, s->trace->windows);
	while ((u = vprof_trace_next(&c, &n))) {
		CHECK(VP_CODE(u->w) == VP_KIND_WINDOW, "0x%x", VP_CODE(u->w));
		if (VP_PAYLOAD(u->w) && f->n < N_WINDOWS)
			f->windows[f->n++] = (struct window){ u->t, UINT64_MAX, 0, 0 };
		else if (f->n)
			f->windows[f->n - 1].t1 = u->t;
	}
}

static void take_end(struct findings *f, uint64_t t)
{
	int is_whole = f->n_inner == N_INNER && f->n_leaf == N_INNER;

	f->n_ended++;
	f->is_under_way = 0;
	if (window_of(f, f->begin)) {
		f->n_chosen++;
		f->n_short += !is_whole;
		f->n_long += t - f->begin > f->long_ticks;
	} else {
		f->n_outside++;
		f->n_bare += !f->n_inner && !f->n_leaf;
	}
}

static void take(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct findings *f = arg;
	struct window *w;

	(void)th;
	(void)n;
	switch (VP_CODE(u->w)) {
	case VP_KIND_BEGIN:
		f->begin = u->t;
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

/* 0: recording everything took less than the budget. */
static int check(double budget)
{
	static struct findings f;
	uint64_t n_quiet = 0;
	struct session s;
	double took, start = now_s();

	memset(&f, 0, sizeof f);
	session_budget = budget;
	if (session_run(&s, "target", 0, 0))
		exit(1);
	took = now_s() - start;
	read_windows(&s, &f);
	f.long_ticks = (uint64_t)(LONG_NS / s.trace->header.ns_per_tick);
	session_each(&s, take, &f);
	for (size_t i = 0; i < f.n; i++)
		n_quiet += !f.windows[i].n_steps || !f.windows[i].n_job_steps;
	took = ((double)s.stats.n_bytes / 16 * 9 - 1e8) / (took * 1e9);
	printf("%d windows, %.0f %% of the time: %llu intervals in them, %llu without all their calls, %llu long; %llu outside, %llu "
	       "with calls\n",
	       (int)f.n, 100 * s.stats.recorded_share, (unsigned long long)f.n_chosen, (unsigned long long)f.n_short,
	       (unsigned long long)f.n_long, (unsigned long long)f.n_outside,
	       (unsigned long long)(f.n_outside - f.n_bare));
	printf("recording after the first window took %.3f of a processor, and the collector what it needed\n", took);
	if (f.n == 1 && s.stats.recorded_share == 1 && took < budget && budget > BUDGET_MIN) {
		session_end(&s);
		return 0;
	}
	CHECK(s.stats.n_dropped == 0, "%d dropped", (int)s.stats.n_dropped);
	CHECK(f.n_begun == f.n_ended && f.n_begun > 10000, "%d of %d", (int)f.n_ended, (int)f.n_begun);
	CHECK(f.n > 3 && f.n == s.stats.n_windows, "%d windows, %d told", (int)f.n, (int)s.stats.n_windows);
	CHECK(f.n_short == 0, "%d", (int)f.n_short);
	CHECK(f.n_long > 0, "no long interval among those chosen");
	/* Between a window's last begin and its close calls are recorded, too. */
	CHECK(f.n_bare * 10 > f.n_outside * 3, "%d of %d", (int)f.n_bare, (int)f.n_outside);
	/* A window is as short as 20 ms: a thread may have had no processor in it. */
	CHECK(n_quiet * 2 <= f.n, "%d windows of %d without the calls of background threads", (int)n_quiet, (int)f.n);
	CHECK(took < 1.5 * budget, "%.3f", took);
	session_end(&s);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "target") == 0)
		return target();
	for (double budget = BUDGET; !check(budget);)
		budget /= 5;
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
