/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the wait analysis costs: events (a wait's begin, its wake-up, the switch to a CPU) per second of CPU time, for
 * three shapes: a server (many short waits, two deep), a pipeline (waits as deep as it has stages), and a ring in which
 * each thread waits for the one before it (as deep as there are threads). With --json one object.
 *
 *	bench_waits [--events N] [--threads N] [--json]
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analysis/waits/waits.h"

struct shape {
	const char *name;
	int (*make)(struct vprof_waits_history *h, uint32_t n_threads, uint64_t n_events);
};

static uint64_t random_next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static int add(struct vprof_waits_history *h, uint32_t thread, uint64_t from, uint64_t to, int state, uint32_t waker)
{
	struct vprof_waits_segment *s = from < to ? VPROF_PUSH(&h->entities.v[thread].segments) : NULL;

	if (!s)
		return from < to ? -1 : 0;
	*s = (struct vprof_waits_segment){ .from = from, .to = to, .waker = waker, .state = (uint8_t)state };
	return 0;
}

static int add_threads(struct vprof_waits_history *h, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct vprof_waits_entity *e = VPROF_PUSH(&h->entities);

		if (!e)
			return -1;
		e->name = "t";
		e->creator = VPROF_NONE;
	}
	return 0;
}

/* One thread after the other has the floor for a while, wakes another one and waits for a random one. */
static int make_server(struct vprof_waits_history *h, uint32_t n_threads, uint64_t n_events)
{
	uint64_t *since = calloc(n_threads, sizeof *since), t = 0, seed = 1;
	int failed = !since || add_threads(h, n_threads);

	for (uint64_t i = 0; i < n_events / 3 && !failed; i++) {
		uint32_t own = (uint32_t)(i % 2 ? 0 : 1 + random_next(&seed) % (n_threads - 1));
		uint32_t next = i % 2 ? (uint32_t)(1 + random_next(&seed) % (n_threads - 1)) : 0;

		t += 100 + random_next(&seed) % 1000;
		failed = add(h, next, since[next], t, VPROF_WAITS_BLOCKED, own == next ? VPROF_NONE : own) ||
			 add(h, next, t, t + 20, VPROF_WAITS_RUNNABLE, VPROF_NONE) ||
			 add(h, next, t + 20, t + 90, VPROF_WAITS_RUNNING, VPROF_NONE);
		since[next] = t + 90;
	}
	h->end = t + 1000;
	free(since);
	return failed;
}

/* Tokens pass through stages of `depth` threads each; a stage waits for the one before it. */
static int make_chains(struct vprof_waits_history *h, uint32_t n_threads, uint64_t n_events, uint32_t depth)
{
	uint64_t *since = calloc(n_threads, sizeof *since), t = 0;
	int failed = !since || add_threads(h, n_threads);

	for (uint64_t i = 0; i < n_events / 3 && !failed; i++) {
		uint32_t chain = (uint32_t)(i / depth % (n_threads / depth)), stage = (uint32_t)(i % depth);
		uint32_t own = chain * depth + stage, before = chain * depth + (stage + depth - 1) % depth;

		t += 500;
		failed = add(h, own, since[own], t, VPROF_WAITS_BLOCKED, before) ||
			 add(h, own, t, t + 20, VPROF_WAITS_RUNNABLE, VPROF_NONE) ||
			 add(h, own, t + 20, t + 500, VPROF_WAITS_RUNNING, VPROF_NONE);
		since[own] = t + 500;
	}
	h->end = t + 1000;
	free(since);
	return failed;
}

static int make_pipeline(struct vprof_waits_history *h, uint32_t n_threads, uint64_t n_events)
{
	return make_chains(h, n_threads, n_events, 4);
}

static int make_ring(struct vprof_waits_history *h, uint32_t n_threads, uint64_t n_events)
{
	return make_chains(h, n_threads, n_events, n_threads);
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int measure(const struct shape *shape, uint32_t n_threads, uint64_t n_events, int is_json, int is_first)
{
	struct vprof_waits_options options = vprof_waits_defaults();
	struct vprof_waits_history h = { 0 };
	struct vprof_error err = { "" };
	struct vprof_waits waits;
	double begin, all, without;

	if (shape->make(&h, n_threads, n_events))
		return 1;
	begin = cpu_s();
	if (vprof_waits_analyze(&waits, &h, &options, &err)) {
		fprintf(stderr, "bench_waits: %s\n", err.message);
		return 1;
	}
	all = cpu_s() - begin;
	vprof_waits_release(&waits);
	options.replay_segments = 0;
	begin = cpu_s();
	if (vprof_waits_analyze(&waits, &h, &options, &err))
		return 1;
	without = cpu_s() - begin;
	vprof_waits_release(&waits);
	vprof_waits_history_release(&h);
	printf(is_json ? "%s\"%s\": {\"million_events_per_s\": %.2f, \"replay_s\": %.2f}" :
			 "%s%-10s %6.2f million events/s; replays %.2f s\n",
	       is_json && !is_first ? ", " : "", shape->name, (double)n_events / without / 1e6, all - without);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = { { "server", make_server },
					       { "pipeline", make_pipeline },
					       { "ring", make_ring } };
	uint64_t n_events = 3000000;
	uint32_t n_threads = 1000;
	int is_json = 0, status = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			is_json = 1;
		else if (i + 1 < argc && !strcmp(argv[i], "--events"))
			n_events = strtoull(argv[++i], NULL, 10);
		else if (i + 1 < argc && !strcmp(argv[i], "--threads"))
			n_threads = (uint32_t)strtoul(argv[++i], NULL, 10);
		else
			return 2;
	}
	if (n_threads < 8)
		return 2;
	printf(is_json ? "{" : "");
	for (size_t s = 0; s < sizeof shapes / sizeof *shapes && !status; s++)
		status = measure(&shapes[s], n_threads, n_events, is_json, !s);
	printf(is_json ? "}\n" : "");
	return status;
}
