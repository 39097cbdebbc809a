/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wake edges against programs that know who released whom, through the real matcher.
 *
 * Every thread names itself with a work record "me". Around a wait it writes "object" (the address waited on) and,
 * right after, "truth": the number of the thread that released it, logged under the lock, or a set of such (SET). A
 * wait of the object between two truths must have one of them as its waker. It may be undecided, or no wait, only where
 * the program itself saw that several threads could have ended it, or that its thread did not block.
 *
 *   stress_edges          a short run of each primitive
 *   stress_edges --all    at least a million blocked waits
 *   stress_edges NAME...  only these, short
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

#include "analysis/timeline/timeline.h"
#include "analysis/timeline/edges/wakes.h"
#include "tests/runtime/session.h"
#include "tests/runtime/edges/stress_edges.h"

const char *const edge_kinds[] = { "me", "object", "truth" };

struct verdict {
	uint64_t n_waits, n_missed, n_wrong, n_by_time, n_undecided, n_ready, n_dropped;
	uint64_t n_excused; /* of the undecided and of no wait: the program saw why */
	double seconds;
};

/* The target: edges NAME THREADS PROCESSES ROUNDS, in one argument. */

static int target(const char *what)
{
	char name[32];
	int n_threads, n_processes, n_rounds;

	if (sscanf(what, "%31[^,],%d,%d,%d", name, &n_threads, &n_processes, &n_rounds) != 4)
		return 2;
	for (size_t i = 0; i < n_edge_programs; i++)
		if (strcmp(edge_programs[i].name, name) == 0)
			return edge_run(&edge_programs[i], n_threads, n_processes, n_rounds);
	return 2;
}

/* The check. */

static int allowed(uint64_t truth, uint64_t who)
{
	truth &= ~(EDGE_MAY_BE_OPEN | EDGE_MAY_BE_READY);
	return truth & EDGE_SET ? who < 62 && (truth >> who & 1) : truth == who;
}

static int is_meant(const struct vprof_wait *w, uint64_t object)
{
	if (w->flags & VP_FLAG_TIMEOUT)
		return 0;
	if (object == EDGE_ANY_POLL)
		return w->kind == VP_WAIT_POLL;
	return !object || w->object == object;
}

static uint64_t unexcused(const struct verdict *v)
{
	return v->n_missed + v->n_wrong + v->n_undecided + v->n_ready - v->n_excused;
}

static void judge_line(const struct vprof_timeline *t, const struct vprof_thread_timeline *line, const uint64_t *me,
		       const uint64_t *names, struct verdict *v, int verbose)
{
	uint64_t object = 0, previous = 0;
	size_t w = 0;

	for (size_t i = 0; i < line->amounts.n; i++) {
		const struct vprof_amount *a = &line->amounts.v[i];
		const struct vprof_wait *wait = NULL;
		int is_excused = 0;

		if (a->name == names[EDGE_OBJECT])
			object = (uint64_t)a->amount;
		if (a->name != names[EDGE_TRUTH])
			continue;
		for (; w < line->waits.n && line->waits.v[w].t1 <= a->t; w++)
			if (is_meant(&line->waits.v[w], object) && line->waits.v[w].t0 >= previous)
				wait = &line->waits.v[w];
		previous = a->t;
		if (!wait || !a->amount || allowed((uint64_t)a->amount, me[line - t->threads]))
			continue;
		v->n_waits++;
		if (wait->flags & VPROF_WAIT_UNDECIDED) {
			v->n_undecided++;
			is_excused = ((uint64_t)a->amount & EDGE_MAY_BE_OPEN) != 0;
		} else if (wait->flags & VPROF_WAIT_READY) {
			v->n_ready++;
			is_excused = ((uint64_t)a->amount & EDGE_MAY_BE_READY) != 0;
		} else if (wait->waker == VPROF_NONE) {
			v->n_missed++;
		} else if (!allowed((uint64_t)a->amount, me[wait->waker])) {
			v->n_wrong++;
		} else {
			continue;
		}
		v->n_excused += (uint64_t)is_excused;
		if (verbose && !is_excused && unexcused(v) < 10)
			printf("  amount %zu thread %d kind %u flags %u ticket %u seq %u t0 %llu t1 +%llu wake %+lld: %lld expected 0x%llx\n",
			       i, (int)me[line - t->threads], wait->kind, wait->flags, wait->ticket, wait->seq,
			       (unsigned long long)wait->t0, (unsigned long long)(wait->t1 - wait->t0),
			       (long long)(wait->wake_t - wait->t0),
			       wait->waker == VPROF_NONE ? -1LL : (long long)me[wait->waker],
			       (unsigned long long)a->amount);
	}
}

static void judge(const struct session *s, struct verdict *v, int verbose)
{
	struct vprof_timeline *t;
	struct vprof_wake_counts counts;
	struct vprof_error err;
	uint64_t names[3], *me;

	for (int i = 0; i < 3; i++)
		names[i] = vprof_hash(VPROF_HASH_SEED, edge_kinds[i], strlen(edge_kinds[i]));
	if (vprof_timeline_build(&t, s->trace, 0, NULL, NULL, &err) || vprof_wakes_match(t, &counts, &err)) {
		printf("%s\n", err.message);
		exit(1);
	}
	me = calloc(t->n_threads + 1, sizeof *me);
	for (size_t i = 0; i < t->n_threads; i++)
		for (size_t k = 0; k < t->threads[i].amounts.n; k++)
			if (t->threads[i].amounts.v[k].name == names[EDGE_ME])
				me[i] = (uint64_t)t->threads[i].amounts.v[k].amount;
	for (size_t i = 0; i < t->n_threads; i++)
		judge_line(t, &t->threads[i], me, names, v, verbose);
	v->n_by_time += counts.n_by_time;
	v->n_dropped += s->trace->n_dropped;
	free(me);
	vprof_timeline_free(t);
}

static void run(const struct edge_program *p, int n_threads, int n_processes, int n_rounds, struct verdict *v)
{
	struct session s;
	struct timespec a, b;
	char mode[96];

	snprintf(mode, sizeof mode, "%s,%d,%d,%d", p->name, n_threads, n_processes, n_rounds);
	clock_gettime(CLOCK_MONOTONIC, &a);
	if (session_run(&s, mode, 256u << 20, 0))
		exit(1);
	clock_gettime(CLOCK_MONOTONIC, &b);
	v->seconds += (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	judge(&s, v, getenv("STRESS_EDGES_VERBOSE") != NULL);
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const int threads[] = { 2, 4, 16 };
	struct verdict all = { 0 };
	int is_all = argc > 1 && strcmp(argv[1], "--all") == 0; /* --all [NAME...] */

	if (argc > 2 && strcmp(argv[1], "target") == 0)
		return target(argv[2]);
	printf("%-22s %9s %7s %6s %8s %10s %9s %8s %8s\n", "primitive", "waits", "missed", "wrong", "by time",
	       "undecided", "no wait", "dropped", "seconds");
	for (size_t i = 0; i < n_edge_programs; i++) {
		const struct edge_program *p = &edge_programs[i];
		struct verdict v = { 0 };
		int wanted = argc == 1 + is_all;

		for (int k = 1 + is_all; k < argc; k++)
			wanted |= strcmp(argv[k], p->name) == 0;
		if (!wanted)
			continue;
		if (SESSION_EMULATED && p->init == edge_init_socketpair) {
			printf("%-22s ", p->name);
			SESSION_SKIP("socket pairs", "qemu 7.2 does not know their cookies (SO_COOKIE)");
			continue;
		}
		for (int k = is_all ? 0 : 1; k < (is_all ? 3 : 2) && p->max_threads > 1; k++)
			if (threads[k] <= p->max_threads)
				run(p, threads[k], 1, p->n_rounds * (is_all ? p->all_factor : 1) / (threads[k] / 2),
				    &v);
		for (int n = is_all ? 2 : 4; p->max_processes >= n && n <= (is_all ? 8 : 4); n *= 2)
			run(p, n > 4 ? 2 : 1, n, p->n_rounds * (is_all ? p->all_factor : 1) / n, &v);
		printf("%-22s %9llu %7llu %6llu %8llu %10llu %9llu %8llu %8.1f\n", p->name,
		       (unsigned long long)v.n_waits, (unsigned long long)v.n_missed, (unsigned long long)v.n_wrong,
		       (unsigned long long)v.n_by_time, (unsigned long long)v.n_undecided,
		       (unsigned long long)v.n_ready, (unsigned long long)v.n_dropped, v.seconds);
		fflush(stdout);
		CHECK(v.n_waits > 0, "%s: nothing waited", p->name);
		CHECK(v.n_dropped == 0, "%s: records dropped", p->name);
		CHECK(v.n_missed == 0, "%s: edges missed", p->name);
		CHECK(v.n_wrong == 0, "%s: wrong edges", p->name);
		CHECK(unexcused(&v) == 0, "%s: %llu waits are not decided, and the program saw who ended them", p->name,
		      (unsigned long long)unexcused(&v));
		CHECK(v.n_excused < v.n_waits, "%s: nothing had to be decided", p->name);
		all.n_waits += v.n_waits;
		all.n_missed += v.n_missed;
		all.n_wrong += v.n_wrong;
	}
	printf("%-22s %9llu %7llu %6llu\n", "all", (unsigned long long)all.n_waits, (unsigned long long)all.n_missed,
	       (unsigned long long)all.n_wrong);
	return n_failed != 0;
}
