/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_waits_page KIND FILE: a page as vprof report waits --html makes it, of results that are made up. KIND: plain (a
 * compactor and its disk, connections that wait for both), pool (two knots: a pool that contends, a ring of stages),
 * hostile (names that would be markup, 10 kB long, no UTF-8), large (200 vertices, 3,000 edges), empty. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "report/waits/waits_page.h"
#include "hostile_names.h"

#define SECOND 1e9

static struct vprof_waits_results *r;
static int is_hostile;

static const char *text(const char *plain)
{
	static size_t next;

	return vprof_strings_keep(&r->strings, is_hostile ? hostile_name(next++) : plain);
}

static uint32_t party(const char *name, enum vprof_waits_party_kind kind, uint32_t n_threads, double running,
		      double blocked)
{
	struct vprof_waits_party *p = &r->parties[r->n_parties++];

	*p = (struct vprof_waits_party){ .name = text(name),
					 .role = kind == VPROF_WAITS_PARTY_THREAD ? text("begin_here") : "",
					 .kind = kind,
					 .n_threads = n_threads };
	if (kind == VPROF_WAITS_PARTY_THREAD) {
		p->running_ns = running * n_threads * r->duration_ns;
		p->blocked_ns = blocked * n_threads * r->duration_ns;
		p->runnable_ns = (1 - running - blocked) * n_threads * r->duration_ns;
		p->unknown_ns = 0.05 * p->blocked_ns;
		r->n_threads += n_threads;
	}
	return (uint32_t)r->n_parties - 1;
}

/* `stacks` of two texts each, of falling weight. */
static uint32_t edge(uint32_t from, uint32_t to, double own, double weight, const char *const (*stacks)[2],
		     size_t n_stacks)
{
	struct vprof_waits_arc *a = &r->arcs[r->n_arcs++];

	*a = (struct vprof_waits_arc){ .from = from,
				       .to = to,
				       .n_waits = (uint64_t)(1 + own * 1000),
				       .own_ns = own * r->duration_ns,
				       .weight_ns = weight * r->duration_ns,
				       .halved = NAN,
				       .gone = NAN,
				       .saved = NAN,
				       .stacks = calloc(n_stacks + 1, sizeof *a->stacks),
				       .n_stacks = n_stacks };
	for (size_t i = 0; i < n_stacks; i++)
		a->stacks[i] = (struct vprof_waits_stack){ text(stacks[i][0]), text(stacks[i][1]), a->n_waits / (i + 2),
							   a->weight_ns / (double)(2 << i) };
	return (uint32_t)r->n_arcs - 1;
}

static void idle(uint32_t edge)
{
	r->arcs[edge].is_idle = 1;
	r->arcs[edge].n_waits = 0;
	r->arcs[edge].own_ns = 0;
}

static void gain(uint32_t edge, double halved, double gone)
{
	r->arcs[edge].halved = halved;
	r->arcs[edge].gone = gone;
}

static void group(enum vprof_waits_verdict verdict, enum vprof_waits_ending ending, const uint32_t *parties,
		  size_t n_parties, const uint32_t *edges, size_t n_edges)
{
	struct vprof_waits_group *g = &r->groups[r->n_groups++];

	*g = (struct vprof_waits_group){ .verdict = verdict,
					 .ending = ending,
					 .busy_ns = 0.1 * r->duration_ns,
					 .parties = calloc(n_parties + 1, sizeof *g->parties),
					 .arcs = calloc(n_edges + 1, sizeof *g->arcs),
					 .n_parties = n_parties,
					 .n_arcs = n_edges };
	memcpy(g->parties, parties, n_parties * sizeof *parties);
	if (n_edges)
		memcpy(g->arcs, edges, n_edges * sizeof *edges);
}

static void background(uint32_t member)
{
	group(VPROF_WAITS_ASIDE, VPROF_WAITS_ENDING_BACKGROUND, &member, 1, NULL, 0);
}

/* What of the intervals passes through the first knot: of all, and of a type without bounds. */
static void pass_through(struct vprof_waits_group *g)
{
	g->through = calloc(2, sizeof *g->through);
	g->n_through = 2;
	r->interval = text("request");
	for (size_t i = 0; i < 2; i++)
		g->through[i] = (struct vprof_waits_through){ .type = i ? text("PUT") : "",
							      .n = 40000 >> i,
							      .mean_ns = 2e5,
							      .sd_ns = 1.5e6,
							      .through_ns = 1.84e5,
							      .own_ns = 1e3,
							      .share = 0.96,
							      .share_low = i ? NAN : 0.92,
							      .share_high = i ? NAN : 1,
							      .if_constant = 0.99,
							      .if_constant_low = i ? NAN : 0.98,
							      .if_constant_high = i ? NAN : 1 };
}

static void make_plain(void)
{
	static const char *const flush[][2] = {
		{ "fdatasync < save_snapshot (journal.c:66) < compact_journal (journal.c:91) < compactor_main (journal.c:120)",
		  "blk_done < virtblk_done < vring_interrupt" },
		{ "__renameat < rename < save_snapshot (journal.c:71) [kernel: do_rename < vfs_rename]",
		  "jbd2_journal_commit" },
		{ "write < store_each (store.c:210) < save_snapshot (journal.c:60)", "" }
	};
	static const char *const lock[][2] = {
		{ "pthread_mutex_lock < store_put (store.c:73) < handle_request (server.c:140) < connection_main (server.c:201)",
		  "pthread_mutex_unlock < compact_journal (journal.c:97)" },
		{ "pthread_mutex_lock < store_get (store.c:41) < handle_request (server.c:131)",
		  "pthread_mutex_unlock < compact_journal (journal.c:97)" }
	};
	static const char *const poll[][2] = { { "epoll_wait < accept_main (server.c:300)", "" } };
	uint32_t knot[2], inside[2], connections, accepting, timer, outside, logger, metrics;

	knot[0] = party("compactor", VPROF_WAITS_PARTY_THREAD, 1, 0.3, 0.65);
	knot[1] = party("disk vda", VPROF_WAITS_PARTY_DISK, 0, 0, 0);
	connections = party("connection*", VPROF_WAITS_PARTY_THREAD, 8, 0.15, 0.8);
	accepting = party("accept", VPROF_WAITS_PARTY_THREAD, 1, 0.02, 0.97);
	logger = party("logger", VPROF_WAITS_PARTY_THREAD, 1, 0.01, 0.98);
	metrics = party("metrics", VPROF_WAITS_PARTY_THREAD, 1, 0.01, 0.99);
	timer = party("timer", VPROF_WAITS_PARTY_TIMER, 0, 0, 0);
	outside = party("outside (sockets, pipes)", VPROF_WAITS_PARTY_OUTSIDE, 0, 0, 0);
	inside[0] = edge(knot[0], knot[1], 0.62, 2.4, flush, 3);
	gain(inside[0], 0.38, 0.92);
	r->arcs[inside[0]].saved = 1.7;
	inside[1] = edge(knot[1], knot[0], 0, 0.35, NULL, 0);
	idle(inside[1]);
	edge(connections, knot[0], 3.1, 3.1, lock, 2);
	edge(accepting, connections, 0.04, 0.1, NULL, 0);
	edge(connections, outside, 0.9, 0.9, NULL, 0);
	edge(accepting, outside, 0.93, 0.93, poll, 1);
	edge(logger, knot[1], 0.3, 0.3, flush + 2, 1);
	r->arcs[edge(knot[0], timer, 0.12, 0.2, NULL, 0)].is_sleep = 1;
	edge(metrics, timer, 0.99, 0.99, NULL, 0);
	group(VPROF_WAITS_KNOT, VPROF_WAITS_ENDING_CYCLE, knot, 2, inside, 2);
	pass_through(&r->groups[0]);
	background(timer);
	background(outside);
	background(metrics);
}

static void make_pool(void)
{
	static const char *const places[][2] = { { "pthread_cond_wait < take (ring.c:12)",
						   "pthread_cond_signal < put (ring.c:30)" } };
	static const char *const lru[][2] = { { "pthread_mutex_lock < item_link (items.c:301)",
						"pthread_mutex_unlock < item_unlink (items.c:350)" } };
	uint32_t stages[7], inside[12], pool, loop, n = 0;
	char name[32];

	for (uint32_t i = 0; i < 7; i++) {
		snprintf(name, sizeof name, "stage_%u parse", i + 1);
		stages[i] = party(name, VPROF_WAITS_PARTY_THREAD, 1 + i % 3, 0.2, 0.7);
	}
	for (uint32_t i = 0; i < 7; i++)
		gain(inside[n++] = edge(stages[i], stages[(i + 1) % 7], 0.3 + 0.05 * i, 0.5 + 0.1 * i, places, 1),
		     0.02 * i, 0.05 * i);
	for (uint32_t i = 0; i < 5; i++)
		inside[n++] = edge(stages[i], stages[(i + 3) % 7], 0.2, 0.25, places, 1);
	pool = party("worker*", VPROF_WAITS_PARTY_THREAD, 16, 0.4, 0.5);
	loop = edge(pool, pool, 4.8, 7.5, lru, 1);
	gain(loop, 0.25, 0.6);
	party("networked", VPROF_WAITS_PARTY_NETWORK, 0, 0, 0);
	party("timer interrupt", VPROF_WAITS_PARTY_INTERRUPT, 0, 0, 0);
	edge(stages[0], (uint32_t)r->n_parties - 2, 0.15, 0.15, NULL, 0);
	edge(stages[1], (uint32_t)r->n_parties - 1, 0.05, 0.05, NULL, 0);
	group(VPROF_WAITS_KNOT, VPROF_WAITS_ENDING_HEAVY, stages, 7, inside, n);
	group(VPROF_WAITS_KNOT, VPROF_WAITS_ENDING_VERTEX, &pool, 1, &loop, 1);
	background((uint32_t)r->n_parties - 2);
	background((uint32_t)r->n_parties - 1);
}

/* Weights fall quickly: most vertices are light. */
static void make_large(void)
{
	static const char *const lock[][2] = { { "pthread_mutex_lock < take < serve", "pthread_mutex_unlock < put" } };
	uint32_t knot[9], inside[18], n = 0, seed = 1;
	char name[32];

	for (uint32_t i = 0; i < 200; i++) {
		snprintf(name, sizeof name, i < 150 ? "worker %u" : "thread_of_a_long_name %u", i);
		party(name, i % 40 == 39 ? VPROF_WAITS_PARTY_DISK : VPROF_WAITS_PARTY_THREAD,
		      i % 40 == 39 ? 0 : 1 + i % 4, 0.1, 0.8);
	}
	for (uint32_t i = 0; i < 9; i++)
		knot[i] = i;
	for (uint32_t i = 0; i < 9; i++) {
		inside[n++] = edge(i, (i + 1) % 9, 0.4, 0.6 + 0.02 * i, lock, 1);
		inside[n++] = edge(i, (i + 4) % 9, 0.25, 0.3, lock, 1);
	}
	for (uint32_t i = 9; i < 3000; i++) {
		uint32_t from = 9 + i % 191, to = (seed = seed * 1103515245u + 12345u) >> 16;

		edge(from, i < 120 ? to % 9 : to % (from < 180 ? from : 180), 0.9 / (1 + i / 8.0), 1.0 / (1 + i / 8.0),
		     lock, 1);
	}
	group(VPROF_WAITS_KNOT, VPROF_WAITS_ENDING_HEAVY, knot, 9, inside, n);
	for (uint32_t i = 180; i < 200; i++)
		background(i);
}

int main(int argc, char **argv)
{
	struct vprof_text out = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	const char *kind = argc == 3 ? argv[1] : "";
	struct vprof_page_origin origin = { .version = "0", .run_date = "2026-01-02 03:04" };
	int status = 1;

	r = vprof_waits_results_new();
	if (!*kind || !r)
		return 2;
	is_hostile = !strcmp(kind, "hostile");
	r->parties = calloc(256, sizeof *r->parties);
	r->arcs = calloc(4096, sizeof *r->arcs);
	r->groups = calloc(64, sizeof *r->groups);
	if (!r->parties || !r->arcs || !r->groups)
		return 2;
	r->run = "0007";
	r->is_kernel = 1;
	r->duration_ns = 10 * SECOND;
	r->n_events = 1234567;
	r->n_lost = !strcmp(kind, "plain") ? 0 : 12;
	r->n_cpus = 2;
	r->threshold = 0.2;
	r->fidelity = 1.03;
	r->replayed = 1;
	r->cpus_simulated = 1;
	origin.title = is_hostile ? hostile_name(2) : "/home/of/a/server/.vprof/runs/0007";
	if (!strcmp(kind, "plain") || is_hostile)
		make_plain();
	else if (!strcmp(kind, "pool"))
		make_pool();
	else if (!strcmp(kind, "large"))
		make_large();
	if (!vprof_report_waits_page(r, &origin, &out, &err))
		status = vprof_file_write(argv[2], out.s, out.len, &err) != 0;
	if (status)
		fprintf(stderr, "%s\n", err.message);
	vprof_text_release(&out);
	vprof_waits_results_free(r);
	return status;
}
