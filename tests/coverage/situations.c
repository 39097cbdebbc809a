/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "situation.h"

#include <math.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define WARM_UP 500 /* requests before the first one: by then a stream has forgotten how it began */

static double uniform(struct stream *s)
{
	return ((double)(hand_random(&s->random) >> 11) + 0.5) / 9007199254740992.0;
}

static double between(struct stream *s, double low, double high)
{
	return low + (high - low) * uniform(s);
}

static double normal(struct stream *s)
{
	double radius = sqrt(-2 * log(uniform(s)));

	return radius * cos(2 * M_PI * uniform(s));
}

static double exponential(struct stream *s, double mean)
{
	return -mean * log(uniform(s));
}

/* Pareto of the second kind; its moments below `index` are finite. */
static double lomax(struct stream *s, double scale, double index)
{
	return scale * (pow(uniform(s), -1 / index) - 1);
}

/* A stationary normal series with this correlation of neighbours, mean 0, variance 1. */
static double follow(struct stream *s, double correlation)
{
	s->level = s->n++ ? correlation * s->level + sqrt(1 - correlation * correlation) * normal(s) : normal(s);
	return s->level;
}

/* parse (f2), execute (f3) with plan (f4) and read (f5), send (f6) */
static const struct part server[] = {
	{ PART_FUNCTION, -1, 1 }, { PART_FUNCTION, 0, 2 }, { PART_FUNCTION, 0, 3 },
	{ PART_FUNCTION, 2, 4 },  { PART_FUNCTION, 2, 5 }, { PART_FUNCTION, 0, 6 },
};
enum { ROOT, PARSE, EXECUTE, CHOOSE, READ, SEND };

static void draw_quiet(struct stream *s, struct request *r)
{
	r->own[ROOT] = 1000;
	r->own[PARSE] = between(s, 5000, 35000);
	r->own[EXECUTE] = 500;
	r->own[CHOOSE] = between(s, 5000, 25000);
	r->own[SEND] = between(s, 5000, 15000);
	r->pause = exponential(s, 20000);
}

static void draw_uniform(struct stream *s, struct request *r)
{
	draw_quiet(s, r);
	r->own[READ] = between(s, 10000, 190000);
}

static void draw_equal(struct stream *s, struct request *r)
{
	r->own[ROOT] = 1000;
	r->own[EXECUTE] = 500;
	r->own[PARSE] = exponential(s, 20000);
	r->own[CHOOSE] = exponential(s, 20000);
	r->own[READ] = exponential(s, 20000);
	r->own[SEND] = exponential(s, 20000);
	r->pause = 1000;
}

/* A hidden size moves two siblings together, and a third against them. */
static void draw_pair(struct stream *s, struct request *r)
{
	double size = exp(0.5 * normal(s));

	draw_quiet(s, r);
	r->own[PARSE] = 20000 * size;
	r->own[CHOOSE] = 15000 * size + between(s, 0, 20000);
	r->own[READ] = 10000 + 20000 * size;
	r->own[SEND] = 40000 / (1 + size);
}

static void draw_log_normal(struct stream *s, struct request *r)
{
	draw_quiet(s, r);
	r->own[CHOOSE] = 10000 * exp(0.7 * normal(s));
	r->own[READ] = 20000 * exp(normal(s));
}

static void draw_heavy(struct stream *s, struct request *r)
{
	draw_quiet(s, r);
	r->own[CHOOSE] = lomax(s, 50000, 5);
	r->own[READ] = lomax(s, 60000, 3.5);
}

static void draw_stalls(struct stream *s, struct request *r, double probability)
{
	draw_quiet(s, r);
	r->own[READ] = between(s, 2000, 40000);
	if (uniform(s) < probability)
		r->own[READ] += 300000 + exponential(s, 300000);
}

static void draw_stalls_20(struct stream *s, struct request *r)
{
	draw_stalls(s, r, 0.02);
}

static void draw_stalls_8(struct stream *s, struct request *r)
{
	draw_stalls(s, r, 0.008);
}

static void draw_stalls_4(struct stream *s, struct request *r)
{
	draw_stalls(s, r, 0.004);
}

static void draw_correlated(struct stream *s, struct request *r)
{
	double load = exp(0.5 * follow(s, 0.8));

	draw_quiet(s, r);
	r->own[READ] = 30000 * load * exp(0.3 * normal(s));
	r->own[SEND] = 10000 * load;
}

/* For 25 requests on average the disk is slow, then for 225 it is not. */
static void draw_bursts(struct stream *s, struct request *r)
{
	if (!s->left) {
		s->is_bad = s->n++ ? !s->is_bad : uniform(s) < 0.1;
		s->left = 1 + (uint32_t)(log(uniform(s)) / log(1 - 1.0 / (s->is_bad ? 25 : 225)));
	}
	s->left--;
	draw_quiet(s, r);
	r->own[READ] = s->is_bad ? 50000 + exponential(s, 100000) : between(s, 5000, 50000);
}

/* handle (f1), parse (f2), get (f3) with a wait for a lock, which the holder spends in compact (f5), flush (f6) */
static const struct part locked[] = {
	{ PART_FUNCTION, -1, 1 }, { PART_FUNCTION, 0, 2 }, { PART_FUNCTION, 0, 3 },
	{ PART_WAIT, 2, 0 },	  { PART_BENEATH, 3, 5 },  { PART_BENEATH, 3, 6 },
};
enum { WAIT = 3, COMPACT, FLUSH };

/* A request that does not wait. */
static void draw_unblocked(struct stream *s, struct request *r)
{
	memset(r->own, 0, sizeof r->own);
	r->own[ROOT] = 1000;
	r->own[PARSE] = between(s, 5000, 35000);
	r->own[EXECUTE] = between(s, 5000, 25000);
	r->pause = 200000 + exponential(s, 10000);
}

static void draw_lock(struct stream *s, struct request *r)
{
	draw_unblocked(s, r);
	if (uniform(s) < 0.1) {
		r->own[COMPACT] = 5000 + exponential(s, 30000);
		r->own[FLUSH] = uniform(s) < 0.3 ? 10000 + exponential(s, 60000) : 1000;
	}
}

/* The compactor comes for some 10 requests of 100, each of which waits for the rest of what it does. */
static void draw_lock_in_turns(struct stream *s, struct request *r)
{
	if (!s->left) {
		s->is_bad = s->n++ ? !s->is_bad : uniform(s) < 0.1;
		s->left = s->is_bad ? 8 + (uint32_t)(5 * uniform(s)) : 60 + (uint32_t)(61 * uniform(s));
		s->level = s->is_bad ? 20000 + exponential(s, 20000) : 0;
	}
	s->left--;
	draw_unblocked(s, r);
	if (s->is_bad) {
		r->own[COMPACT] = s->level * uniform(s);
		r->own[FLUSH] = between(s, 1000, 30000);
	}
}

/* The holder's two calls last five windows of recording, and were mostly under way when the window opened. */
static void draw_long_holder(struct stream *s, struct request *r)
{
	draw_unblocked(s, r);
	if (uniform(s) < 0.05) {
		double all = 10000000, left = between(s, 0, all), flush = 3000000;

		r->own[COMPACT] = left > flush ? left - flush : 0;
		r->own[FLUSH] = left > flush ? flush : left;
		r->held = left > flush ? all - left : flush - left;
		r->pause += r->held;
	}
}

/* A queue with one worker, which renders (f2) and sends (f3): while a request waits the worker runs those before it. */
static const struct part queued[] = {
	{ PART_FUNCTION, -1, 1 }, { PART_FUNCTION, 0, 2 }, { PART_FUNCTION, 0, 3 },
	{ PART_QUEUED, -1, 0 },	  { PART_BENEATH, 3, 1 },
};

static void draw_queue(struct stream *s, struct request *r)
{
	double arrives = exponential(s, 50000);

	memset(r->own, 0, sizeof r->own);
	s->backlog = s->backlog > arrives ? s->backlog - arrives : 0;
	r->pause = arrives;
	r->own[4] = s->backlog;
	r->own[0] = 1000;
	r->own[1] = 5000 + exponential(s, 15000);
	r->own[2] = between(s, 2000, 8000);
	s->backlog += rint(r->own[0]) + rint(r->own[1]) + rint(r->own[2]);
}

/* parse (f2), tokens (f3) whose calls of next (f4) are sampled, send (f5) */
static const struct part hot[] = {
	{ PART_FUNCTION, -1, 1 }, { PART_FUNCTION, 0, 2 }, { PART_FUNCTION, 0, 3 },
	{ PART_SAMPLED, 2, 4 },	  { PART_FUNCTION, 0, 5 },
};

static void draw_hot(struct stream *s, struct request *r)
{
	double difficulty = exp(0.4 * normal(s));

	memset(r->own, 0, sizeof r->own);
	r->own[0] = 500;
	r->own[1] = between(s, 1000, 9000);
	r->own[2] = 3000;
	r->own[4] = between(s, 1000, 7000);
	r->pause = 5000;
	r->n_calls = 64;
	for (size_t i = 0; i < r->n_calls; i++)
		r->calls[i] = rint(difficulty * (20 + exponential(s, 80)));
	for (size_t i = 0; i < r->n_calls; i++)
		r->own[3] += r->calls[i];
}

/* parse (f2), match (f3), during which a rival on the same CPU may run */
static const struct part rivalled[] = {
	{ PART_FUNCTION, -1, 1 },
	{ PART_FUNCTION, 0, 2 },
	{ PART_FUNCTION, 0, 3 },
	{ PART_PREEMPTED, 2, 0 },
};
#define SLICE_NS 3000000.0 /* after which the other one of two that want the CPU has it */

/* The rival sleeps, then wants the CPU for some milliseconds, and has it at once; then they take turns until it is
 * done. backlog: what it still wants; level: what the server has of the CPU until its next turn. */
static void draw_preempted(struct stream *s, struct request *r)
{
	double left = between(s, 1400000, 1600000);

	memset(r->own, 0, sizeof r->own);
	r->own[0] = 1000;
	r->own[1] = between(s, 1000, 3000);
	r->own[2] = left;
	r->pause = 10000;
	while (s->level <= left) {
		double slice = s->backlog < SLICE_NS ? s->backlog : SLICE_NS;

		left -= s->level;
		r->own[3] += slice;
		s->backlog -= slice;
		s->level = SLICE_NS;
		if (s->backlog <= 0) {
			s->level = between(s, 500000, 6000000);
			s->backlog = between(s, 500000, 5000000);
		}
	}
	s->level -= left;
}

static void draw_types(struct stream *s, struct request *r)
{
	static const double mean[] = { 20000, 30000, 90000 };

	draw_quiet(s, r);
	r->type = uniform(s) < 0.6 ? 0 : uniform(s) < 0.75 ? 1 : 2;
	r->own[READ] = mean[r->type] / 2 + exponential(s, mean[r->type] / 2);
}

static void draw_work(struct stream *s, struct request *r)
{
	draw_quiet(s, r);
	r->work = 1 + (uint32_t)exponential(s, 30);
	r->own[READ] = 1000.0 * r->work + exponential(s, 20000);
}

#define SERVER server, COUNT(server)
const struct situation situations[] = {
	{ "uniform", "four functions with uniform times", 350, SERVER, draw_uniform },
	{ "uniform, short", "the same, 100 requests", 100, SERVER, draw_uniform },
	{ "equal", "four equal factors, exponential", 1000, SERVER, draw_equal },
	{ "pair", "a hidden size moves four functions together or apart", 500, SERVER, draw_pair },
	{ "log-normal", "sigma 1 and 0.7", 1000, SERVER, draw_log_normal },
	{ "heavy tail", "Pareto of index 3.5: no fourth moment", 2000, SERVER, draw_heavy },
	{ "20 stalls", "in 1,000 requests", 1000, SERVER, draw_stalls_20 },
	{ "8 stalls", "in 1,000 requests", 1000, SERVER, draw_stalls_8 },
	{ "4 stalls", "in 1,000 requests", 1000, SERVER, draw_stalls_4 },
	{ "correlated", "load with correlation 0.8 of neighbours", 1000, SERVER, draw_correlated },
	{ "correlated, short", "the same, 200 requests", 200, SERVER, draw_correlated },
	{ "bursts", "25 slow requests, then 225 others, on average", 3000, SERVER, draw_bursts },
	{ "lock", "one request in ten waits for a holder's two functions", 1000, locked, COUNT(locked), draw_lock },
	{ "lock, in turns", "some ten requests in a row wait for it", 2000, locked, COUNT(locked), draw_lock_in_turns },
	{ "queue", "one worker, busy half of the time", 2000, queued, COUNT(queued), draw_queue },
	{ "sampled", "64 calls of a hot function, 16 of them timed", 500, hot, COUNT(hot), draw_hot },
	{ "windows", "log-normal, a third of the time recorded", 3000, SERVER, draw_log_normal, .has_windows = 1 },
	{ "long holder", "a lock is held for five windows, a third of the time is recorded", 3000, locked,
	  COUNT(locked), draw_long_holder, .has_windows = 1 },
	{ "preempted", "by a rival that wants the CPU now and then", 300, rivalled, COUNT(rivalled), draw_preempted },
	{ "types", "three types of request", 800, SERVER, draw_types, .has_types = 1 },
	{ "work", "rows, exponential", 800, SERVER, draw_work, .has_work = 1 },
};
const size_t n_situations = COUNT(situations);

void stream_start(struct stream *s, const struct situation *of, uint64_t seed)
{
	struct request r;

	*s = (struct stream){ .random = seed };
	for (int i = 0; i < WARM_UP; i++) {
		memset(&r, 0, sizeof r);
		of->draw(s, &r);
	}
}

double request_part(const struct situation *of, const struct request *r, size_t part)
{
	double sum = r->own[part];

	for (size_t i = part + 1; i < of->n_parts; i++)
		if (of->parts[i].parent == (int)part)
			sum += request_part(of, r, i);
	return sum;
}

double request_latency(const struct situation *of, const struct request *r)
{
	double sum = 0;

	for (size_t i = 0; i < of->n_parts; i++)
		if (of->parts[i].parent < 0)
			sum += request_part(of, r, i);
	return sum;
}
