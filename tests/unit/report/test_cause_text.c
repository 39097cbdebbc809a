/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Causes as the report tells them: a sentence for each kind of chain, figures, what splits at its end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/format_value.h"
#include "report/report.h"

#define STEP(k, blame, n, f, l, o, a) { k, blame, n, f, l, o, a, 0 }
#define FUNCTION(n) STEP(VPROF_NODE_FUNCTION, 0, n, "a.c", 1, "", "")
#define BLAMED(n) STEP(VPROF_NODE_FUNCTION, 1, n, "b.c", 2, "", "")
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct vprof_step lock[] = {
	FUNCTION("handle"),
	FUNCTION("store_get"),
	STEP(VPROF_NODE_WAIT, 0, "pthread_mutex_lock", "store.c", 69, "0x55d0", "store_lock"),
	BLAMED("compactor_main"),
	BLAMED("compact_journal"),
	BLAMED("save_snapshot"),
};
static const struct vprof_step two_locks[] = {
	FUNCTION("handle"), STEP(VPROF_NODE_SITE, 0, "pthread_mutex_lock", "a.c", 9, "0x1", "a_lock"),
	BLAMED("first"),    STEP(VPROF_NODE_WAIT, 1, "sem_wait", "", 0, "0x2", ""),
	BLAMED("second"),
};
static const struct vprof_step queued[] = { STEP(VPROF_NODE_QUEUED, 0, "queued", "", 0, "", ""), BLAMED("loop"),
					    BLAMED("expand") };
static const struct vprof_step own[] = { FUNCTION("a"), FUNCTION("b"), FUNCTION("c"), FUNCTION("d"),
					 FUNCTION("e"), FUNCTION("f"), FUNCTION("g"), FUNCTION("h") };

static void assert_sentence(const struct vprof_cause *c, const char *interval, const char *expected)
{
	struct vprof_results r = { .interval = interval };
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_report_cause_sentence(&r, c, &t);
	assert_string_equal(t.s, expected);
	vprof_text_release(&t);
}

static void sentences(void **state)
{
	struct vprof_cause c = { .steps = lock, .n_steps = COUNT(lock), .name = "(x, y)" };

	(void)state;
	assert_sentence(&c, "request",
			"requests wait for store_lock (store.c:69), held by compactor_main > compact_journal > "
			"save_snapshot");
	c.steps = two_locks;
	c.n_steps = COUNT(two_locks);
	assert_sentence(&c, "query",
			"queries wait for a_lock (a.c:9), held by first, which waits in sem_wait for second");
	c.steps = queued;
	c.n_steps = COUNT(queued);
	assert_sentence(&c, "batch", "batches are queued while this runs: loop > expand");
	c.steps = own;
	c.n_steps = 2;
	assert_sentence(&c, "process", "processes spend varying time in a > b");
	c.n_steps = COUNT(own);
	assert_sentence(&c, "GET /", "intervals spend varying time in a > b > … > e > f > g > h");
	c.n_steps = 1;
	c.kind = VPROF_CAUSE_TOGETHER;
	assert_sentence(&c, "request",
			"requests spend varying time in a, where (x, y) vary together: none explains it alone");
	c.kind = VPROF_CAUSE_PREEMPTED;
	assert_sentence(&c, "request", "requests could run, but others have the CPU (preempted), mostly in a");
	c.kind = VPROF_CAUSE_OUTSIDE;
	assert_sentence(&c, "", "intervals spend varying time between begin and end outside all measured functions");
	c.kind = VPROF_CAUSE_UNDIVIDED;
	assert_sentence(&c, "request",
			"requests spend varying time in a or in its caller: this run does not tell which");
	c.kind = VPROF_CAUSE_QUEUED;
	c.steps = queued;
	assert_sentence(&c, "request", "requests are queued: nothing measured explains it");
	c.kind = VPROF_CAUSE_WORK;
	c.steps = lock;
	c.n_steps = 3;
	assert_sentence(&c, "request", "requests wait for store_lock (store.c:69)");
}

/* A report of one cause and its two factors. */
struct fixture {
	struct vprof_results r;
	struct vprof_node nodes[2];
	struct vprof_cause causes[2];
	struct vprof_factor factors[2];
};

static const uint32_t at[] = { 1, 0 };
static const struct vprof_split splits[] = { { VPROF_NODE_SITE, "fdatasync", 0.41, 0.39, 1e3 },
					     { VPROF_NODE_SITE, "rename", 0.33, 0.3, 1e3 },
					     { VPROF_NODE_BODY, "body of save_snapshot", 0.09, 0.1, 1e3 },
					     { VPROF_NODE_SITE, "stat", 0.001, 0.001, 1 },
					     { VPROF_NODE_FUNCTION, "", 0.169, 0.1, 1e3 } };

static void make(struct fixture *f)
{
	*f = (struct fixture){
		.nodes = { { .kind = VPROF_NODE_INTERVAL, .name = "request" },
			   { .kind = VPROF_NODE_FUNCTION, .depth = 1, .name = "handle", .display = "handle" } },
		.factors = { { .name = "save_snapshot",
			       .key = "v:beneath:save_snapshot",
			       .nodes = &at[0],
			       .n_nodes = 1 },
			     { .name = "handle", .key = "v:handle", .nodes = &at[0], .n_nodes = 1, .share = 0.5 } },
		.causes = { { .status = VPROF_CAUSE_SETTLED,
			      .key = "v:save_snapshot",
			      .name = "save_snapshot",
			      .file = "journal.c",
			      .line = 66,
			      .share = 0.97,
			      .share_low = 0.96,
			      .share_high = 0.98,
			      .if_constant = 0.95,
			      .if_constant_low = 0.91,
			      .if_constant_high = 0.97,
			      .place_kept = 0.99,
			      .mean_ns = 70.1e3,
			      .sd_ns = 576e3,
			      .own_part = 0.1,
			      .waiting_part = 0.9,
			      .n_places = 3,
			      .note = "",
			      .steps = lock,
			      .n_steps = COUNT(lock),
			      .splits = splits,
			      .n_splits = COUNT(splits),
			      .factors = &at[1],
			      .n_factors = 1,
			      .nodes = &at[0],
			      .n_nodes = 1 },
			    { .key = "v:c",
			      .name = "c",
			      .file = "",
			      .share = 0.12,
			      .share_low = 0.01,
			      .share_high = 0.34,
			      .if_constant = -0.03,
			      .if_constant_low = NAN,
			      .if_constant_high = NAN,
			      .place_kept = 0.4,
			      .can_break_down = 1,
			      .n_unmeasured = 10,
			      .note = "",
			      .steps = own,
			      .n_steps = 3 } },
	};
	f->r = (struct vprof_results){ .interval = "request",
				       .run = "0007",
				       .nodes = f->nodes,
				       .n_nodes = 2,
				       .factors = f->factors,
				       .n_factors = 2,
				       .causes = f->causes,
				       .n_causes = 2,
				       .baseline_mean_ns = NAN };
}

static char *render(struct fixture *f, const struct vprof_report_options *o)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };

	if (vprof_report_text(&f->r, o, &t, &err))
		fail_msg("%s", err.message);
	return vprof_text_detach(&t);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part)) {
		print_error("%s", text);
		fail_msg("\"%s\" is missing", part);
	}
}

static void a_report_begins_with_causes(void **state)
{
	struct vprof_report_options o = { 0 };
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	text = render(&f, &o);
	assert_has(text,
		   "   share of variance  if constant           cause\n"
		   "1   97 %  96 .. 98    -95 %  -97 .. -91    requests wait for store_lock (store.c:69), held by\n"
		   "         compactor_main > compact_journal > save_snapshot\n"
		   "         there (journal.c:66): fdatasync 41 %, rename 33 %, its own code 9 %, rest 17 %\n"
		   "         settled · mean 70.1 us, sd 576 us · own 10 %, waited for 90 % · 3 ways lead to it\n"
		   "2   12 %  1 .. 34      +3 %                requests spend varying time in a > b > c\n"
		   "         candidate: chance is not ruled out · mean 0 ns, sd 0 ns · 10 callees not measured yet ·\n"
		   "         keeps its rank in 40 % of resampled runs\n"
		   "         2 ranked factors: --factors\n");
	assert_null(strstr(text, "where it sits"));
	free(text);
	o.factors = 1;
	o.ending = "no more rounds";
	f.causes[0].verdict = VPROF_VERDICT_INHERENT;
	f.causes[0].note = "the disk";
	text = render(&f, &o);
	assert_has(text, "where it sits");
	assert_has(text, "\nended     no more rounds\n");
	assert_has(text, "verdict: inherent (the disk)");
	free(text);
	o = (struct vprof_report_options){ .top = 1, .colour = 1 };
	text = render(&f, &o);
	assert_has(text, "1 more cause; 2 ranked factors: --factors");
	free(text);
}

static void refuses_causes_that_point_nowhere(void **state)
{
	static const uint32_t nowhere[] = { 2 };
	struct vprof_report_options o = { 0 };
	struct fixture f;

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct vprof_text t = VPROF_TEXT_INIT;
		struct vprof_error err = { "" };

		make(&f);
		if (k)
			f.causes[0].factors = nowhere;
		else
			f.causes[0].nodes = nowhere;
		assert_int_equal(vprof_report_text(&f.r, &o, &t, &err), VPROF_ERR_CORRUPT);
		vprof_text_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences),
		cmocka_unit_test(a_report_begins_with_causes),
		cmocka_unit_test(refuses_causes_that_point_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
