/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two hosts' traces, whose clocks are hours apart, run at different rates and count different ticks: what the one's
 * requests wait for on the other is found after they are joined, and nothing else of the two is mixed up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/files.h"
#include "tests/unit/analysis/hand_trace.h"
#include "trace/join/join.h"
#include "trace/reader.h"

#define N 400
#define THERE (UINT64_C(123) << 3 | VP_CHANNEL_BETWEEN_HOSTS)
#define BACK (UINT64_C(456) << 3 | VP_CHANNEL_BETWEEN_HOSTS)
#define PIPE (UINT64_C(77) << 3 | 2)
#define SHARED_LOCK 0x7000
#define OWN_LOCK 0x5000
#define ITEM 0x6000
#define TID 5

struct clock {
	double ahead_ns, drift, ns_per_tick;
};

struct world {
	struct hand_trace hosts[2];
	struct clock clocks[2];
	double work_ns; /* of the store, mean */
	char out[64];
};

static uint64_t at(const struct clock *c, double ns)
{
	return (uint64_t)llround((ns * (1 + c->drift) + c->ahead_ns) / c->ns_per_tick);
}

static void move(struct hand_thread *th, const struct clock *c, enum vp_kind kind, uint64_t channel, uint64_t n,
		 double from, double to)
{
	uint64_t begin = at(c, from), end = at(c, to);

	hand_units(
		th,
		(struct vp_unit[]){ { kind == VP_KIND_SEND ? begin : end, VP_W(kind, end - begin) }, { channel, n } },
		2);
}

static void start(struct hand_thread *th, uint64_t t)
{
	hand_units(th, (struct vp_unit[]){ { t, VP_W(VP_KIND_START, 0) }, { UINT64_C(1) << 32 | 7, TID } }, 2);
}

/* Numbers that are equal on both hosts and mean different things. */
static void add_own(struct hand_thread *th, const struct clock *c)
{
	uint64_t t = at(c, 200000);

	start(th, t);
	hand_queue(th, VP_KIND_ENQUEUE, ITEM, t + 1);
	move(th, c, VP_KIND_SEND, PIPE, 8, 201000, 202000);
	hand_wake(th, VP_WAIT_MUTEX, VP_FLAG_SHARED, SHARED_LOCK, 0, 1, at(c, 203000));
	hand_wake(th, VP_WAIT_MUTEX, 0, OWN_LOCK, 0, 1, at(c, 204000));
}

static void write_host(struct hand_trace *h, const struct clock *c)
{
	char path[128];
	struct vp_file_header header;
	FILE *f;

	hand_write(h);
	snprintf(path, sizeof path, "%s/records.vpt", h->dir);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fread(&header, sizeof header, 1, f), 1);
	header.ns_per_tick = c->ns_per_tick;
	header.start_ticks = at(c, 100000);
	header.start_ns = (uint64_t)llround((double)header.start_ticks * c->ns_per_tick);
	header.end_ticks = at(c, 1e7 * (N + 2));
	header.end_ns = (uint64_t)llround((double)header.end_ticks * c->ns_per_tick);
	snprintf(header.host, sizeof header.host, "host%g", c->ns_per_tick);
	rewind(f);
	assert_int_equal(fwrite(&header, sizeof header, 1, f), 1);
	assert_int_equal(fclose(f), 0);
}

static void make_world(struct world *w, int is_connected)
{
	const struct clock *a = &w->clocks[0], *b = &w->clocks[1];
	struct hand_thread *front, *store;
	uint64_t random = 7;

	for (int i = 0; i < 2; i++)
		hand_init(&w->hosts[i]);
	front = hand_thread(&w->hosts[0], 1);
	store = hand_thread(&w->hosts[1], 1);
	add_own(front, a);
	add_own(store, b);
	if (is_connected) {
		move(front, a, VP_KIND_SEND, THERE, 0, 500000, 500000);
		move(front, a, VP_KIND_SEND, BACK, 0, 500000, 500000);
	}
	w->work_ns = 0;
	for (int i = 0; i < N; i++) {
		double begin = 1e7 * (i + 1), sent = begin + 1000,
		       there = sent + 20000 + (double)(hand_random(&random) % 40000);
		double work = 100000 + (double)(hand_random(&random) % 400000), served = there + work;
		double back = served + 20000 + (double)(hand_random(&random) % 40000);

		w->work_ns += work / N;
		hand_mark(front, VP_KIND_BEGIN, (uint64_t)i + 1, at(a, begin));
		move(front, a, VP_KIND_SEND, THERE, 16, sent, sent + 500);
		move(store, b, VP_KIND_RECEIVE, THERE, 16, there - 3000, there);
		hand_call(store, F(2), at(b, there), at(b, served));
		move(store, b, VP_KIND_SEND, BACK, 24, served, served + 500);
		hand_units(front,
			   (struct vp_unit[]){
				   { at(a, sent + 1000), VP_W(VP_KIND_WAIT, VP_WAIT_SOCKET | VP_FLAG_CHANNEL << 8) },
				   { BACK, 0 },
				   { at(a, back), VP_CALL_READ } },
			   3);
		move(front, a, VP_KIND_RECEIVE, BACK, 24, sent + 1000, back);
		hand_mark(front, VP_KIND_END, (uint64_t)i + 1, at(a, back + 1000));
		hand_call(front, F(1), at(a, begin), at(a, back + 1000));
	}
	for (int i = 0; i < 2; i++)
		write_host(&w->hosts[i], &w->clocks[i]);
	strcpy(w->out, "/tmp/vprof-joined-XXXXXX");
	assert_non_null(mkdtemp(w->out));
}

static void drop_world(struct world *w)
{
	for (int i = 0; i < 2; i++)
		hand_release(&w->hosts[i]);
	vprof_dir_remove(w->out, NULL);
}

static int join(struct world *w, struct vprof_joined *joined, struct vprof_error *err)
{
	const char *dirs[] = { w->hosts[0].dir, w->hosts[1].dir };

	return vprof_trace_join(joined, w->out, dirs, 2, err);
}

static struct world apart(void)
{
	return (struct world){ .clocks = { { 5e12, 0, 1 }, { 2e13, 4e-5, 0.4 } } }; /* 4 hours and 10 minutes, 40 ppm */
}

static void a_wait_is_explained_by_the_other_host(void **state)
{
	struct world w = apart();
	struct vprof_joined joined;
	struct vprof_error err = { "" };
	struct hand_trace out = { .n_threads = 0 };
	struct vprof_plan *plan = hand_plan(2);
	struct vprof_results *r;
	const struct vprof_node *wait, *served;
	const struct vprof_host_clock *clock;

	(void)state;
	make_world(&w, 1);
	assert_int_equal(join(&w, &joined, &err), VPROF_OK);
	assert_int_equal(joined.n_processes, 2);
	assert_int_equal(joined.n_connections, 2);
	clock = &joined.clocks.v.v[1];
	assert_true(clock->error_ns > 0 && clock->error_ns < 60000);
	assert_true(fabs(clock->ahead_ns - (w.clocks[1].ahead_ns - w.clocks[0].ahead_ns) -
			 w.clocks[1].drift * ((double)clock->at - w.clocks[1].ahead_ns)) < clock->error_ns + 1000);
	snprintf(out.dir, sizeof out.dir, "%s", w.out);
	r = hand_analyze(&out, plan);
	assert_non_null(r);
	assert_int_equal(r->n_complete, N);
	wait = hand_node(r, "read", VPROF_NONE);
	assert_non_null(wait);
	served = hand_node(r, "f2", VPROF_NONE);
	assert_non_null(served);
	assert_true(fabs(served->mean_ns - w.work_ns) <
		    1000 + 1e-4 * w.work_ns); /* all of it, for the wait is longer */
	vprof_results_free(r);
	vprof_plan_free(plan);
	vprof_joined_release(&joined);
	drop_world(&w);
}

static const struct vp_unit *find(struct vprof_trace *trace, size_t thread, uint32_t code, unsigned nth)
{
	static struct vp_unit copy[3];
	struct vprof_trace_cursor cursor;
	const struct vp_unit *u;
	uint32_t n;

	vprof_trace_cursor_init(&cursor, &trace->threads[thread]);
	while ((u = vprof_trace_next(&cursor, &n)))
		if (VP_CODE(u->w) == code && !nth--) {
			memcpy(copy, u, (n < 3 ? n : 3) * sizeof *u);
			vprof_trace_cursor_release(&cursor);
			return copy;
		}
	return NULL;
}

static void equal_numbers_of_two_hosts_differ(void **state)
{
	struct world w = apart();
	struct vprof_joined joined;
	struct vprof_error err = { "" };
	struct vprof_trace *trace;
	struct vp_unit start[2], item, pipe, shared, own, there;

	(void)state;
	make_world(&w, 1);
	assert_int_equal(join(&w, &joined, &err), VPROF_OK);
	assert_int_equal(vprof_trace_open(&trace, w.out, &err), VPROF_OK);
	assert_int_equal(trace->n_threads, 2);
	assert_int_equal(trace->is_cut, 0);
	assert_string_equal(trace->header.host, "host1, host0.4");
	assert_int_equal(trace->threads[1].pid, trace->threads[0].pid + VPROF_JOIN_PIDS);
	assert_int_equal(trace->threads[1].tid, trace->threads[0].tid + VPROF_JOIN_PIDS);
	assert_int_equal(trace->threads[1].process_seq, 2);
	memcpy(start, find(trace, 1, VP_KIND_START, 0), sizeof start);
	assert_int_equal(start[1].w, TID + VPROF_JOIN_PIDS);
	assert_int_equal(start[1].t, UINT64_C(2) << 32 | 7);
	item = find(trace, 1, VP_KIND_ENQUEUE, 0)[1];
	pipe = find(trace, 1, VP_KIND_SEND, 0)[1];
	shared = find(trace, 1, VP_KIND_WAKE, 0)[1];
	own = find(trace, 1, VP_KIND_WAKE, 1)[1];
	there = find(trace, 1, VP_KIND_RECEIVE, 0)[1];
	assert_int_equal(find(trace, 0, VP_KIND_ENQUEUE, 0)[1].t, ITEM);
	assert_int_equal(find(trace, 0, VP_KIND_SEND, 0)[1].t, PIPE);
	assert_int_equal(find(trace, 0, VP_KIND_WAKE, 0)[1].t, SHARED_LOCK);
	assert_true(item.t != ITEM && pipe.t != PIPE && shared.t != SHARED_LOCK);
	assert_int_equal(shared.t & 4095, SHARED_LOCK & 4095); /* by which processes of the host know it */
	assert_int_equal(pipe.t & 7, PIPE & 7);
	assert_int_equal(own.t, OWN_LOCK); /* an address in its own process */
	assert_int_equal(there.t, THERE);
	vprof_trace_free(trace);
	vprof_joined_release(&joined);
	drop_world(&w);
}

static void refuse(struct world *w, const char *dirs[2], const char *why)
{
	struct vprof_joined joined;
	struct vprof_error err = { "" };

	assert_int_equal(vprof_trace_join(&joined, w->out, dirs, 2, &err), VPROF_ERR_INPUT);
	assert_non_null(strstr(err.message, why));
	vprof_joined_release(&joined);
}

/* A process that maps the lock elsewhere, on each host; a connection between namespaces of one host, and one with the
 * same addresses on the other; and a client that nobody records. */
static void hosts_keep_to_themselves_what_is_theirs(void **state)
{
	const uint64_t within = UINT64_C(900) << 3 | VP_CHANNEL_BETWEEN_HOSTS;
	const uint64_t outside = UINT64_C(901) << 3 | VP_CHANNEL_BETWEEN_HOSTS;
	struct world w = apart();
	struct vprof_joined joined;
	struct vprof_error err = { "" };
	struct hand_trace out = { .n_threads = 0 };
	struct hand_steps steps;

	(void)state;
	make_world(&w, 1);
	for (int i = 0; i < 2; i++) {
		const struct clock *c = &w.clocks[i];
		struct hand_thread *holder = hand_thread(&w.hosts[i], 2), *waiter = hand_thread(&w.hosts[i], 3);

		hand_units(
			waiter,
			(struct vp_unit[]){ { at(c, 210000), VP_W(VP_KIND_WAIT, VP_WAIT_COND | VP_FLAG_SHARED << 8) },
					    { 0x9000040, 0 },
					    { at(c, 220000 + 50000 * i), VP_CALL_COND_WAIT } },
			3);
		hand_wake(holder, VP_WAIT_COND, VP_FLAG_SHARED, 0x8000040, 0, 1, at(c, 219000 + 50000 * i));
		move(holder, c, VP_KIND_SEND, within, 8, 300000 + 40000 * i, 300500 + 40000 * i);
		move(waiter, c, VP_KIND_RECEIVE, within, 8, 290000, 310000 + 40000 * i);
		hand_units(waiter,
			   (struct vp_unit[]){
				   { at(c, 400000), VP_W(VP_KIND_WAIT, VP_WAIT_SOCKET | VP_FLAG_CHANNEL << 8) },
				   { outside, 0 },
				   { at(c, 410000), VP_CALL_READ } },
			   3);
		move(waiter, c, VP_KIND_RECEIVE, outside, 8, 400000, 410000);
		hand_units(
			waiter, /* and polled, without anything that was read */
			(struct vp_unit[]){ { at(c, 420000), VP_W(VP_KIND_WAIT, VP_WAIT_POLL | VP_FLAG_CHANNEL << 8) },
					    { outside + 8, 0 },
					    { at(c, 430000), VP_CALL_POLL } },
			3);
		write_host(&w.hosts[i], c);
	}
	assert_int_equal(join(&w, &joined, &err), VPROF_OK);
	assert_int_equal(joined.n_connections, 2);
	assert_int_equal(joined.n_several, 1);
	snprintf(out.dir, sizeof out.dir, "%s", w.out);
	hand_steps(&steps, &out);
	assert_int_equal(steps.wakes.n_channel_undecided, 0);
	for (size_t i = 0; i < steps.timeline->n_threads; i++) {
		const struct vprof_thread_timeline *thr = &steps.timeline->threads[i];

		for (size_t k = 0; k < thr->waits.n; k++) {
			const struct vprof_wait *wait = &thr->waits.v[k];

			if (wait->kind == VP_WAIT_COND) {
				assert_true(wait->waker != VPROF_NONE);
				assert_int_equal(steps.timeline->threads[wait->waker].process_seq,
						 thr->process_seq - 1);
			} else if (wait->object != BACK) {
				assert_int_equal(wait->waker, VPROF_NONE);
				assert_int_equal(wait->flags & (VPROF_WAIT_UNDECIDED | VPROF_WAIT_READY), 0);
			}
		}
	}
	hand_steps_release(&steps);
	vprof_joined_release(&joined);
	drop_world(&w);
}

static void what_cannot_be_joined_says_why(void **state)
{
	struct world w = apart(), jumped = apart();
	const char *dirs[2];

	(void)state;
	make_world(&w, 0);
	dirs[0] = w.hosts[0].dir;
	dirs[1] = w.hosts[1].dir;
	refuse(&w, dirs, "connections were made before both hosts were recorded");
	dirs[1] = dirs[0];
	refuse(&w, dirs, "are the same trace");
	dirs[1] = w.hosts[1].dir;
	{
		struct hand_thread *windows = hand_thread(&w.hosts[1], 1);

		windows->thread_seq = VP_THREAD_WINDOWS;
		hand_units(windows, &(struct vp_unit){ at(&w.clocks[1], 300000), VP_W(VP_KIND_WINDOW, 0) }, 1);
		write_host(&w.hosts[1], &w.clocks[1]);
		refuse(&w, dirs, "in windows of time only");
		windows->thread_seq = VP_THREAD_PLANS;
		windows->n = 0;
		hand_units(
			windows,
			(struct vp_unit[]){ { at(&w.clocks[1], 300000), VP_W(VP_KIND_PLAN, 1) }, { 1, 0 }, { 1, 0 } },
			3);
		write_host(&w.hosts[1], &w.clocks[1]);
		refuse(&w, dirs, "live session");
	}
	drop_world(&w);

	/* a clock that was set back by a second in the middle */
	make_world(&jumped, 1);
	dirs[0] = jumped.hosts[0].dir;
	dirs[1] = jumped.hosts[1].dir;
	for (size_t i = jumped.hosts[1].threads[0].n / 2; i < jumped.hosts[1].threads[0].n; i++) {
		struct vp_unit *u = &jumped.hosts[1].threads[0].units[i];

		if (u->t > UINT64_C(1) << 44)
			u->t -= (uint64_t)(1e9 / jumped.clocks[1].ns_per_tick);
	}
	write_host(&jumped.hosts[1], &jumped.clocks[1]);
	refuse(&jumped, dirs, "a clock was set meanwhile");
	drop_world(&jumped);

	/* what is joined already */
	{
		struct vprof_joined joined;
		struct vprof_error err = { "" };
		struct world whole = apart();

		make_world(&whole, 1);
		assert_int_equal(join(&whole, &joined, &err), VPROF_OK);
		vprof_joined_release(&joined);
		dirs[0] = whole.out;
		dirs[1] = whole.hosts[1].dir;
		refuse(&jumped, dirs, "is a joined run");
		drop_world(&whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_is_explained_by_the_other_host),
		cmocka_unit_test(equal_numbers_of_two_hosts_differ),
		cmocka_unit_test(hosts_keep_to_themselves_what_is_theirs),
		cmocka_unit_test(what_cannot_be_joined_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
