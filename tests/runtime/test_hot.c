/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hot calls: counted exactly, sampled without bias whatever the period of the callee, with an honest error; waits,
 * intervals, forks and jumps inside calls that are skipped. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <time.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define HOT 0x102
#define ODD 0x103
#define WORK 0x104
#define BLOCK_MAX 64 /* calls, of which two are recorded (runtime/hot.c) */
#define N_STRETCHES 1500
#define N_CALLS 3000
#define N_PASSES 200000
#define EVERY 1000
#define N_THREADS 40
/* Both estimates are unbiased, so over N_STRETCHES independent stretches each is off by a normal deviate: its mean over
 * its standard error, as the stretches show it. Of the two tests of eleven periods one fails by chance with a
 * probability of 22 * 1.6e-6 = 3.5e-5. Stretches that are recorded in full, as a slow machine makes them, add 0 to
 * both. */
#define Z_MAX 4.8

static volatile int sink_value;

static void __attribute__((noinline)) odd(void)
{
	VP_FUNCTION(0x103, 0x8UL, 1)
	sink_value++;
}

static void __attribute__((noinline)) hot(int i, int period)
{
	VP_FUNCTION(0x102, 0x4UL, 3)
	if (i % period == 0)
		odd();
}

static void __attribute__((noinline)) calls(int n, int period)
{
	VP_ROOT(0x101, ~0UL, 2)
	for (int i = 0; i < n; i++)
		hot(i, period);
}

static int target_periodic(int period)
{
	for (int i = 0; i < N_STRETCHES; i++) {
		vprof_begin("stretch", i);
		calls(N_CALLS + i % 7, period);
		vprof_end("stretch", i);
	}
	return 0;
}

/* Halfway, every call of hot() is wanted, as when a live session's next round begins. */
static int target_told(void)
{
	struct vp_shm *shm = session_shm(getenv("VPROF_SHM"));

	vprof_begin("stretch", 1);
	calls(N_CALLS, 3);
	shm->every_call[0] = HOT;
	shm->n_every_call = 1;
	calls(N_CALLS, 3);
	vprof_end("stretch", 1);
	return 0;
}

static void *thread_calls(void *arg)
{
	(void)arg;
	calls(N_CALLS, 3);
	return NULL;
}

static int target_threads(void)
{
	for (int i = 0; i < N_THREADS; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, thread_calls, NULL);
		if (i % 2)
			calls(N_CALLS, 3);
		pthread_join(thread, NULL);
	}
	return 0;
}

static void __attribute__((noinline)) work(void)
{
	VP_FUNCTION(0x104, 0x8UL, 1)
	sink_value++;
}

/* One pass of a loop that mostly finds nothing to do. */
static void __attribute__((noinline)) pass(int i, int what)
{
	VP_FUNCTION(0x102, 0x4UL, 3)
	static jmp_buf back;
	struct timespec short_time = { 0, 300000 };
	int status;
	pid_t pid;

	if (i % EVERY != EVERY / 2)
		return;
	switch (what) {
	case 'w':
		nanosleep(&short_time, NULL);
		work();
		break;
	case 'b':
		vprof_begin("request", i);
		work();
		vprof_end("request", i);
		break;
	case 'j':
		if (!setjmp(back))
			longjmp(back, 1);
		break;
	default:
		if (i % (20 * EVERY) != EVERY / 2)
			return;
		pid = fork();
		if (pid == 0) {
			work();
			_exit(0);
		}
		waitpid(pid, &status, 0);
	}
}

static int target_passes(int what)
{
	VP_ROOT(0x101, ~0UL, 2)
	for (int i = 0; i < N_PASSES; i++)
		pass(i, what);
	return 0;
}

/* What the records say of hot(). */

/* the block under way */
struct pair {
	uint32_t block, size;
	double y[2];
};

struct sums {
	double estimate, error2;      /* of the stretch under way */
	double sum, sum2, sum_error2; /* of all, as deviations from the truth */
	double sum_off, sum_off2;     /* of the estimated square of the error, less the square that it was */
	double n_all;
	uint64_t n_stretches, n_odd, n_records;
	uint64_t sampled_odd; /* t of the last callee that was sampled */
	uint64_t id;
	int period;
	struct pair pair;
};

static double block_close(struct pair *p)
{
	double n = p->size, d = p->y[0] - p->y[1];

	memset(p, 0, sizeof(*p));
	return n * (n - 2) / 4 * d * d;
}

static double pair_add(struct pair *p, uint64_t payload, double y)
{
	uint32_t block = VP_SAMPLE_BLOCK(payload), size = 2 * VP_SAMPLE_WEIGHT(payload);
	double closed = 0;

	if (p->block != block || p->size != size)
		closed = block_close(p);
	p->block = block;
	p->size = size;
	p->y[VP_SAMPLE_SECOND(payload)] = y;
	return closed;
}

static void stretch_close(struct sums *s)
{
	int n = N_CALLS + (int)(s->id % 7);
	double truth = (double)((n + s->period - 1) / s->period), d;

	s->error2 += block_close(&s->pair);
	d = s->estimate - truth;
	s->sum += d;
	s->sum2 += d * d;
	s->sum_error2 += s->error2;
	s->sum_off += s->error2 - d * d;
	s->sum_off2 += (s->error2 - d * d) * (s->error2 - d * d);
	s->n_stretches++;
	s->estimate = s->error2 = 0;
}

static void sample(struct sums *s, const struct vp_unit *u)
{
	uint64_t p = VP_PAYLOAD(u->w);

	s->n_all += VP_SAMPLE_WEIGHT(p) ? VP_SAMPLE_REPRESENTED(p) : 0;
	s->estimate += VP_SAMPLE_WEIGHT(p) * (double)s->n_odd;
	s->error2 += pair_add(&s->pair, p, (double)s->n_odd);
	s->n_odd = 0;
}

static void take(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct sums *s = arg;

	(void)th;
	(void)n;
	s->n_records++;
	switch (VP_CODE(u->w)) {
	case VP_KIND_BEGIN:
		s->id = u[1].t;
		break;
	case VP_KIND_END:
		stretch_close(s);
		break;
	case VP_KIND_SAMPLE:
		if (VP_CODE(u[1].w) == HOT) {
			CHECK(s->sampled_odd < u->t, "a call chosen within a chosen call");
			sample(s, u);
		} else { /* of a call that is not hot, on a slow machine, for one that is */
			s->n_odd += VP_SAMPLE_WEIGHT(VP_PAYLOAD(u->w));
			s->sampled_odd = u->t;
		}
		break;
	case VP_KIND_COUNT:
		if ((VP_PAYLOAD(u->w) & VP_CODE_MASK) == HOT)
			s->n_all += (double)(VP_PAYLOAD(u->w) >> VP_CODE_BITS);
		break;
	case ODD:
		s->n_odd++;
		break;
	case HOT:
		s->estimate += (double)s->n_odd;
		s->n_odd = 0;
		s->n_all++;
		break;
	default:
		break;
	}
}

/* The callee's period may be that of the samples, of their blocks, or neither. */
static void check_periodic(int period)
{
	struct sums s = { .period = period };
	struct session session;
	double n, expected = 0, mean, error, ratio, off;
	char mode[16];

	snprintf(mode, sizeof(mode), "p%d", period);
	session_sample_after = 64;
	if (session_run(&session, mode, 0, 0)) {
		n_failed++;
		return;
	}
	session_each(&session, take, &s);
	for (int i = 0; i < N_STRETCHES; i++)
		expected += N_CALLS + i % 7;
	n = (double)s.n_stretches;
	mean = s.sum / n;
	error = sqrt(s.sum_error2) / n;
	ratio = s.sum_error2 / s.sum2;
	off = s.sum_off2 > 0 ? s.sum_off / sqrt(s.sum_off2) : 0;
	printf("period %d: %.0f of %.0f calls counted, %.1f %% recorded; estimates off by %.4f, expected %.4f; error "
	       "squared %.3f of what it is\n",
	       period, s.n_all, expected, 100 * (double)s.n_records / expected, mean, error, ratio);
	CHECK(s.n_all == expected, "%.0f calls counted, %.0f made", s.n_all, expected);
	CHECK(fabs(mean) <= Z_MAX * error, "off by %g, the error is %g", mean, error);
	CHECK(fabs(off) <= Z_MAX, "the error's square is estimated at %g of what it is: %g standard errors off", ratio,
	      off);
	session_end(&session);
}

static void check_threads(void)
{
	struct sums s = { .period = 3 };
	struct session session;

	if (session_run(&session, "threads", 0, 0)) {
		n_failed++;
		return;
	}
	session_each(&session, take, &s);
	CHECK(s.n_all == 1.5 * N_THREADS * N_CALLS, "%.0f calls counted", s.n_all);
	session_end(&session);
}

static void count_hot(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	(void)th;
	(void)n;
	*(int *)arg += VP_CODE(u->w) == HOT;
}

/* The block under way ends first. */
static void check_told(void)
{
	struct session session;
	int n = 0;

	if (session_run(&session, "every", 0, 0)) {
		n_failed++;
		return;
	}
	session_each(&session, count_hot, &n);
	CHECK(n >= N_CALLS - BLOCK_MAX, "%d calls recorded", n);
	session_end(&session);
}

/* Frames of pass() around each wait and each begin. */

struct frames {
	uint64_t from[4 * N_PASSES / EVERY], to[4 * N_PASSES / EVERY];
	uint64_t moments[2 * N_PASSES / EVERY];
	size_t n_frames, n_moments;
	uint64_t n_work;
};

static void gather(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct frames *f = arg;
	uint32_t code = VP_CODE(u->w);

	(void)th;
	(void)n;
	f->n_work += code == WORK;
	if ((code == VP_KIND_WAIT || code == VP_KIND_BEGIN) &&
	    f->n_moments < sizeof(f->moments) / sizeof(f->moments[0]))
		f->moments[f->n_moments++] = u->t;
	if (code == HOT || (code == VP_KIND_SAMPLE && VP_CODE(u[1].w) == HOT)) {
		uint64_t t1 = u->t + (code == HOT ? VP_PAYLOAD(u->w) : u[1].t);

		if (f->n_moments && f->moments[f->n_moments - 1] >= u->t && f->moments[f->n_moments - 1] <= t1 &&
		    f->n_frames < sizeof(f->from) / sizeof(f->from[0])) {
			f->from[f->n_frames] = u->t;
			f->to[f->n_frames++] = t1;
		}
	}
}

static void check_passes(const char *mode, uint64_t n_moments, uint64_t n_work)
{
	static struct frames f;
	struct session session;
	uint64_t n_found = 0;

	memset(&f, 0, sizeof(f));
	if (session_run(&session, mode, 0, 0)) {
		n_failed++;
		return;
	}
	session_each(&session, gather, &f);
	for (size_t i = 0; i < f.n_moments; i++)
		for (size_t k = 0; k < f.n_frames; k++)
			if (f.from[k] <= f.moments[i] && f.moments[i] <= f.to[k]) {
				n_found++;
				break;
			}
	CHECK(f.n_moments >= n_moments, "%s: %zu", mode, f.n_moments);
	CHECK(n_found == f.n_moments, "%s: %d of %zu inside a recorded frame", mode, (int)n_found, f.n_moments);
	CHECK(f.n_work == n_work, "%s: %d", mode, (int)f.n_work);
	session_end(&session);
}

static int target(const char *mode)
{
	switch (mode[0]) {
	case 'p':
		return target_periodic(atoi(mode + 1));
	case 't':
		return target_threads();
	case 'e':
		return target_told();
	default:
		return target_passes(mode[0]);
	}
}

int main(int argc, char **argv)
{
	static const int periods[] = { 1, 2, 3, 4, 7, 8, 16, 61, 64, 100, 128 };

	if (argc > 2 && strcmp(argv[1], "target") == 0)
		return target(argv[2]);
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++)
		check_periodic(periods[i]);
	check_threads();
	check_told();
	check_passes("wait", N_PASSES / EVERY, N_PASSES / EVERY);
	check_passes("begin", N_PASSES / EVERY, N_PASSES / EVERY);
	check_passes("jump", 0, 0);
	check_passes("fork", N_PASSES / EVERY / 20, N_PASSES / EVERY / 20);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
