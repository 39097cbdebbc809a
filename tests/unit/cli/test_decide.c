/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which factors are up, and what breaking one down means, on results made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "cli/drilldown/decide.h"
#include "cli/drilldown/ending.h"
#include "common/facts/facts_schema.h"

enum { REQUEST, SERVE, PARSE, SERVE_BODY, PROC, LOCK, REST, TOP_BODY, N_NODES };
enum { CODE_SERVE = 300, CODE_PARSE, CODE_PROC = 0x800007 };

struct fixture {
	struct vprof_results r;
	struct vprof_node nodes[N_NODES];
	struct vprof_covariance covariances[1];
	struct vprof_factor factors[6];
	uint32_t at[6];
	struct vprof_common_frame common_frames[6];
	struct vprof_plan *plan;
	struct vprof_session session;
};

static struct vprof_node node(enum vprof_node_kind kind, uint32_t parent, uint32_t code, int broken_down, double mean)
{
	return (struct vprof_node){
		.kind = kind, .parent = parent, .code = code, .broken_down = broken_down, .mean_ns = mean
	};
}

static void set_factor(struct fixture *f, size_t i, const char *key, enum vprof_node_kind kind, uint32_t at,
		       double share, int can)
{
	f->at[i] = at;
	f->factors[i] = (struct vprof_factor){ .kind = VPROF_FACTOR_VARIANCE,
					       .node_kind = kind,
					       .key = key,
					       .name = key,
					       .share = share,
					       .can_break_down = can,
					       .nodes = &f->at[i],
					       .n_nodes = 1 };
}

static int set_up(void **state)
{
	static struct fixture f;
	const struct vprof_probe probes[] = {
		{ .code = CODE_SERVE,
		  .kind = VPROF_PROBE_FUNCTION,
		  .broken_down = 1,
		  .n_children = 4,
		  .name = "serve",
		  .display = "serve",
		  .file = "serve.c",
		  .caller = "" },
		{ .code = CODE_PARSE,
		  .kind = VPROF_PROBE_FUNCTION,
		  .n_children = 2,
		  .name = "parse",
		  .display = "parse",
		  .file = "parse.c",
		  .caller = "" },
		{ .code = CODE_PROC,
		  .kind = VPROF_PROBE_POINTER,
		  .n_children = 9,
		  .name = "c->proc",
		  .display = "(*c->proc)",
		  .file = "serve.c",
		  .caller = "serve" },
	};

	memset(&f, 0, sizeof f);
	f.plan = vprof_plan_new("/project");
	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
		if (vprof_plan_add(f.plan, &probes[i]))
			return -1;
	f.nodes[REQUEST] = node(VPROF_NODE_INTERVAL, 0, 0, 0, 100);
	f.nodes[SERVE] = node(VPROF_NODE_FUNCTION, REQUEST, CODE_SERVE, 1, 90);
	f.nodes[SERVE].first_child = PARSE;
	f.nodes[SERVE].n_children = 3;
	f.nodes[PARSE] = node(VPROF_NODE_FUNCTION, SERVE, CODE_PARSE, 0, 40);
	f.nodes[SERVE_BODY] = node(VPROF_NODE_BODY, SERVE, 0, 0, 10);
	f.nodes[PROC] = node(VPROF_NODE_POINTER, SERVE, CODE_PROC, 0, 40);
	f.nodes[LOCK] = node(VPROF_NODE_WAIT, PARSE, 0, 0, 30);
	f.nodes[LOCK].object = "0x55d0";
	f.nodes[LOCK].blocked_ns = 30;
	f.nodes[LOCK].first_child = REST;
	f.nodes[LOCK].n_children = 1;
	f.nodes[REST] = node(VPROF_NODE_BODY, LOCK, 0, 0, 30);
	f.nodes[TOP_BODY] = node(VPROF_NODE_BODY, REQUEST, 0, 0, 10);
	f.covariances[0] = (struct vprof_covariance){ .a = PARSE, .b = PROC };
	set_factor(&f, 0, "v:serve", VPROF_NODE_FUNCTION, SERVE, 0.9, 0);
	set_factor(&f, 1, "v:parse", VPROF_NODE_FUNCTION, PARSE, 0.5, 1);
	set_factor(&f, 2, "c:parse|c->proc", VPROF_NODE_FUNCTION, 0, 0.3, 1);
	f.factors[2].kind = VPROF_FACTOR_COVARIANCE;
	set_factor(&f, 3, "v:pthread_mutex_lock", VPROF_NODE_WAIT, LOCK, 0.2, 1);
	set_factor(&f, 4, "v:beneath:serve", VPROF_NODE_BODY, SERVE_BODY, 0.1, 0);
	set_factor(&f, 5, "v:beneath:request", VPROF_NODE_BODY, TOP_BODY, 0.01, 0);
	f.r.nodes = f.nodes;
	f.r.n_nodes = N_NODES;
	f.r.covariances = f.covariances;
	f.r.n_covariances = 1;
	f.r.factors = f.factors;
	f.r.n_factors = 6;
	f.r.common_frames = f.common_frames;
	f.r.n_waits_matched = 10;
	vprof_session_init(&f.session);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	vprof_session_release(&f->session);
	vprof_plan_free(f->plan);
	return 0;
}

static void put_aside_makes_room(void **state)
{
	struct fixture *f = *state;
	uint32_t chosen[8];

	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 3), 3);
	assert_int_equal(chosen[0], 1); /* serve is broken down: its children stand for it */
	vprof_session_judge(&f->session, "v:parse", VPROF_VERDICT_CULPRIT); /* keeps its place */
	vprof_session_judge(&f->session, "c:parse|c->proc", VPROF_VERDICT_INHERENT);
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 3), 3);
	assert_int_equal(chosen[0], 1);
	assert_int_equal(chosen[1], 3);
	assert_int_equal(chosen[2], 4);
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 3); /* the last is below the threshold */
	f->factors[0].can_break_down = 1;					 /* again something to see */
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 1), 1);
	assert_int_equal(chosen[0], 0);
	f->factors[0].can_break_down = 0;
	vprof_session_judge(&f->session, "v:serve", VPROF_VERDICT_CULPRIT); /* a person may say so */
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 1), 1);
	assert_int_equal(chosen[0], 0);
}

/* What may be due to chance is not broken down beside a cause that is surely larger and is none. */
static void small_chance_makes_room(void **state)
{
	struct fixture *f = *state;
	const uint32_t of_parse[] = { 1 }, of_lock[] = { 3 }, of_body[] = { 4 };
	struct vprof_cause causes[] = {
		{ .kind = VPROF_CAUSE_WORK,
		  .key = "v:parse",
		  .share = 0.5,
		  .share_low = 0.4,
		  .share_high = 0.6,
		  .factors = of_parse,
		  .n_factors = 1 },
		{ .kind = VPROF_CAUSE_WORK,
		  .key = "v:lock",
		  .share = 0.2,
		  .share_low = 0,
		  .share_high = 0.45,
		  .factors = of_lock,
		  .n_factors = 1 },
		{ .kind = VPROF_CAUSE_WORK,
		  .key = "v:serve",
		  .share = 0.1,
		  .share_low = 0,
		  .share_high = 0.2,
		  .factors = of_body,
		  .n_factors = 1 },
	};
	char seen[8] = { 0 };
	uint32_t chosen[8];

	f->r.causes = causes;
	f->r.n_causes = 3;
	vprof_session_judge(&f->session, "c:parse|c->proc", VPROF_VERDICT_INHERENT);
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 2);
	assert_int_equal(chosen[0], 1);
	assert_int_equal(chosen[1], 3); /* may be larger than parse */
	f->factors[4].can_break_down = 1;
	f->nodes[SERVE_BODY].share = 0.1;
	seen[1] = seen[3] = 1;
	assert_int_equal(vprof_decide_left_open(&f->r, &f->session, seen), f->r.n_factors);
	causes[2].share_low = 0.01;
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 3);
	assert_int_equal(vprof_decide_left_open(&f->r, &f->session, seen), 4);
	causes[2].share_low = 0;
	causes[0].kind = VPROF_CAUSE_PREEMPTED; /* the machine's: everything else may be small beside it */
	f->nodes[PARSE].share = 0.5;
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 3);
	f->r.n_causes = 0;
	f->r.causes = NULL;
}

/* A wait that others' work makes is no culprit, and none to be chosen again. */
static void an_explained_wait_makes_room(void **state)
{
	struct fixture *f = *state;
	uint32_t chosen[8];

	f->factors[3].can_break_down = 0;
	assert_false(vprof_factor_is_explained(&f->r, &f->factors[3])); /* nothing but its own rest is beneath it */
	vprof_session_judge(&f->session, "v:pthread_mutex_lock", VPROF_VERDICT_BROKEN_DOWN);
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 4);
	assert_int_equal(chosen[2], 3);
	f->nodes[REST].kind = VPROF_NODE_FUNCTION;
	f->nodes[REST].share = 0.15; /* of 0.2 */
	assert_true(vprof_factor_is_explained(&f->r, &f->factors[3]));
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 3);
	assert_int_equal(chosen[2], 4);
	f->factors[3].can_break_down = 1;
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 4);
	f->factors[3].can_break_down = 0;
	f->nodes[REST].share = 0.05;
	assert_false(vprof_factor_is_explained(&f->r, &f->factors[3]));
}

/* What a proxy's drill-down got: before the filter that compresses come the scheduler, functions whose children are all
 * measured, and the same call twice, once own and once while the request was queued. */
static void choices_are_not_used_up(void **state)
{
	static struct vprof_node nodes[] = {
		{ .kind = VPROF_NODE_INTERVAL, .n_children = 5, .first_child = 1 },
		{ .kind = VPROF_NODE_PREEMPTED },
		{ .kind = VPROF_NODE_FUNCTION, .broken_down = 1, .n_children = 1, .first_child = 9 },
		{ .kind = VPROF_NODE_SITE },
		{ .kind = VPROF_NODE_SITE, .is_blame = 1 },
		{ .kind = VPROF_NODE_SITE },
		{ .kind = VPROF_NODE_FUNCTION, .share = 0.32, .n_children = 2, .first_child = 7 },
		{ .kind = VPROF_NODE_WAIT, .parent = 6, .share = 0.25 },
		{ .kind = VPROF_NODE_BODY, .parent = 6, .share = 0.05 },
		{ .kind = VPROF_NODE_FUNCTION, .parent = 2 },
	};
	static const uint32_t at[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct vprof_factor factors[] = {
		{ .node_kind = VPROF_NODE_PREEMPTED, .key = "v:preempted", .name = "preempted", .share = 0.3 },
		{ .node_kind = VPROF_NODE_FUNCTION, .key = "v:relay", .name = "relay", .share = 0.5 },
		{ .node_kind = VPROF_NODE_SITE, .key = "v:writev", .name = "writev", .share = 0.2 },
		{ .node_kind = VPROF_NODE_SITE,
		  .key = "v:beneath:writev",
		  .name = "writev",
		  .is_blame = 1,
		  .share = 0.2 },
		{ .node_kind = VPROF_NODE_SITE, .key = "v:open", .name = "open", .share = 0.1 },
		{ .node_kind = VPROF_NODE_FUNCTION,
		  .key = "v:deflate",
		  .name = "deflate",
		  .share = 0.32,
		  .can_break_down = 1,
		  .n_unmeasured = 10 },
	};
	struct vprof_results r = {
		.nodes = nodes, .n_nodes = 10, .factors = factors, .n_factors = 6, .interval = "request"
	};
	struct fixture *f = *state;
	uint32_t chosen[8];
	char seen[6] = { 0 };

	for (size_t i = 0; i < 6; i++) {
		factors[i].nodes = &at[i + 1];
		factors[i].n_nodes = 1;
	}
	factors[2].counterpart = 4;
	factors[3].counterpart = 3;
	assert_int_equal(vprof_decide_choose(&r, &f->session, chosen, 3), 3);
	assert_int_equal(chosen[0], 2); /* writev, own */
	assert_int_equal(chosen[1], 4); /* open */
	assert_int_equal(chosen[2], 5); /* deflate */
	/* as it is not broken down, nobody knows which of its calls waits */
	assert_int_equal(vprof_decide_heaviest_open(&r, &f->session, seen), 5);
	/* found to be a culprit where nothing beneath it could be measured; here something can */
	vprof_session_judge(&f->session, "v:deflate", VPROF_VERDICT_CULPRIT);
	assert_int_equal(vprof_decide_verdict(&r, &f->session, &factors[5]), VPROF_VERDICT_NONE);
	assert_int_equal(vprof_ending_of(&r, &f->session), VPROF_ENDING_CHOSEN);
	seen[5] = 1;
	assert_int_equal(vprof_decide_left_open(&r, &f->session, seen), 6);
	factors[5].can_break_down = 0;
	assert_int_equal(vprof_ending_of(&r, &f->session), VPROF_ENDING_ALL_MEASURED);
	assert_int_equal(vprof_decide_verdict(&r, &f->session, &factors[5]), VPROF_VERDICT_CULPRIT);
}

/* Factors that fold into one cause take one choice, and the one that can be broken down stands for it; what a person
 * says of the cause is said of its factors. */
static void causes_are_chosen(void **state)
{
	static const uint32_t of_cause[] = { 1, 3, 5 };
	struct vprof_cause causes[] = {
		{ .key = "v:hold",
		  .name = "hold",
		  .status = VPROF_CAUSE_CANDIDATE,
		  .factors = of_cause,
		  .n_factors = 2 },
		{ .kind = VPROF_CAUSE_PREEMPTED,
		  .key = "v:preempted",
		  .name = "preempted",
		  .factors = &of_cause[2],
		  .n_factors = 1 },
	};
	struct fixture *f = *state;
	struct vprof_results *owner = vprof_results_new(); /* of notes */
	struct vprof_review said = { "request", "v:hold", "hold", VPROF_VERDICT_INHERENT, "", "", "" };
	uint32_t chosen[8];

	assert_non_null(owner);
	f->r.private = owner->private;
	f->r.interval = "request";
	f->r.causes = causes;
	f->r.n_causes = 2;
	f->factors[5].share = 0.3; /* of the scheduler */
	f->nodes[PARSE].share = 0.5;
	f->nodes[LOCK].share = 0.2;
	f->factors[1].can_break_down = 0; /* a leaf; the wait, further down, can be broken down */
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 3);
	assert_int_equal(chosen[0], 3);
	assert_int_equal(chosen[1], 2);
	assert_int_equal(chosen[2], 4);
	vprof_session_judge(&f->session, "v:parse", VPROF_VERDICT_CULPRIT);
	vprof_decide_verdicts(&f->r, &f->session);
	assert_int_equal(f->factors[1].verdict, VPROF_VERDICT_CANDIDATE); /* by rule, and not settled */
	assert_int_equal(causes[0].verdict, VPROF_VERDICT_CANDIDATE);
	causes[0].status = VPROF_CAUSE_SETTLED;
	vprof_decide_verdicts(&f->r, &f->session);
	assert_int_equal(f->factors[1].verdict, VPROF_VERDICT_CULPRIT);
	assert_int_equal(causes[0].verdict, VPROF_VERDICT_CULPRIT);
	assert_int_equal(causes[1].verdict, VPROF_VERDICT_NONE);
	f->session.reviews = (struct vprof_reviews){ &said, 1 };
	vprof_decide_verdicts(&f->r, &f->session);
	assert_int_equal(causes[0].verdict, VPROF_VERDICT_INHERENT);
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 2);
	assert_int_equal(chosen[0], 2);
	f->session.reviews = (struct vprof_reviews){ 0 };
	causes[0].n_factors = 1;
	f->factors[5].share = 0;
	/* the scheduler took the CPU from those who were waited for: who were they? */
	causes[1].factors = &of_cause[1];
	f->factors[3].can_break_down = 0;
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 4);
	assert_int_equal(chosen[2], 3);
	f->nodes[REST].kind = VPROF_NODE_FUNCTION; /* known */
	assert_int_equal(vprof_decide_choose(&f->r, &f->session, chosen, 8), 3);
	assert_int_equal(chosen[2], 4);
	vprof_results_free(owner);
}

/* The end of a drill-down says what it leaves open, and how to go on. */
static void an_ending_names_what_is_open(void **state)
{
	struct fixture *f = *state;
	char *told;

	f->session.ending = VPROF_ENDING_MAX;
	f->r.interval = "request";
	f->nodes[PARSE].share = 0.5;
	f->nodes[LOCK].share = 0.2;
	f->factors[1].n_unmeasured = 10;
	told = vprof_ending_tell(&f->r, &f->session);
	assert_string_equal(
		told, "the maximum number of rounds is reached (--max); still open: v:parse, 50 % (10 callees not "
		      "measured); v:pthread_mutex_lock, 20 %. To go on: vprof iterate with a larger --max");
	free(told);
	f->factors[1].can_break_down = f->factors[3].can_break_down = 0;
	f->session.ending = VPROF_ENDING_ALL_MEASURED;
	told = vprof_ending_tell(&f->r, &f->session);
	assert_string_equal(told, "no factor above the threshold contains anything that is not measured yet");
	free(told);
	f->session.ending = VPROF_ENDING_NONE;
	told = vprof_ending_tell(NULL, &f->session);
	assert_string_equal(told, "");
	free(told);
}

static int look(struct vprof_looks *looks, struct fixture *f)
{
	struct vprof_workspace workspace = { .facts = NULL };
	const struct vprof_ask ask = { &workspace, &f->session, &f->r, f->plan, 1, 1 };
	int is_enough;

	assert_int_equal(vprof_looks_judge(looks, &ask, &is_enough), VPROF_OK);
	return is_enough;
}

/* The first round tells at once what it has to, one that leads further when the same choice came first at two looks,
 * and one that leads no further when all choices are the same. */
static void a_live_round_ends(void **state)
{
	struct vprof_looks looks = { .next_s = 0 };
	struct fixture *f = *state;

	f->r.interval = "request";
	f->session.n_rounds = 1;
	f->r.inconclusive = 1;
	assert_false(look(&looks, f));
	f->r.inconclusive = 0;
	assert_true(look(&looks, f));
	vprof_looks_release(&looks);
	f->session.n_rounds = 2;
	f->r.inconclusive = 1; /* v:parse: a direction, though it may be due to chance */
	assert_false(look(&looks, f));
	assert_false(look(&looks, f));
	vprof_looks_take_back(&looks); /* judged again, it counts once */
	assert_false(look(&looks, f));
	assert_true(look(&looks, f));
	vprof_looks_release(&looks);
	f->r.inconclusive = 0;
	f->r.n_to_settle = 1000;
	looks.is_told = 1; /* it leads further, but a person reads it */
	assert_false(look(&looks, f));
	assert_false(look(&looks, f));
	assert_true(look(&looks, f));
	vprof_looks_release(&looks);
	looks.is_told = 0;
	assert_false(look(&looks, f)); /* v:parse */
	vprof_session_judge(&f->session, "v:parse", VPROF_VERDICT_IGNORE);
	assert_false(look(&looks, f)); /* another one: v:parse is put aside */
	assert_true(look(&looks, f));
	vprof_looks_release(&looks);
	assert_int_equal(vprof_name_list_add(&f->session.broken_down, "parse", "parse.c", ""), 1);
	assert_int_equal(vprof_name_list_add(&f->session.broken_down, "c->proc", "serve.c", "serve"), 1);
	f->nodes[LOCK].object = "";
	assert_false(look(&looks, f)); /* nothing is left to break down: twice the same is not enough, */
	assert_false(look(&looks, f));
	assert_true(look(&looks, f)); /* three times is, */
	vprof_looks_release(&looks);
	f->r.n_to_settle = 0;
	assert_false(look(&looks, f));
	f->factors[4].share = 0;
	f->factors[3].share = 0.6;
	vprof_session_judge(&f->session, "c:parse|c->proc", VPROF_VERDICT_IGNORE);
	assert_false(look(&looks, f)); /* another choice */
	assert_true(look(&looks, f));  /* and twice, where the order is settled */
	vprof_looks_release(&looks);
}

static void check_targets(struct fixture *f, size_t factor, size_t n, const char *first, const char *second)
{
	struct vprof_name_list targets = { 0 };

	assert_int_equal(vprof_decide_targets(&f->r, f->plan, &f->factors[factor], &targets), n);
	assert_int_equal(targets.n, n);
	if (n > 0)
		assert_string_equal(targets.items[0].name, first);
	if (n > 1)
		assert_string_equal(targets.items[1].name, second);
	vprof_name_list_release(&targets);
}

static void targets_of_every_kind(void **state)
{
	struct fixture *f = *state;

	check_targets(f, 0, 0, NULL, NULL);	    /* broken down already */
	check_targets(f, 1, 1, "parse", NULL);	    /* itself */
	check_targets(f, 2, 2, "parse", "c->proc"); /* both members */
	check_targets(f, 3, 1, "parse", NULL);	    /* where it waits */
	check_targets(f, 4, 0, NULL, NULL);
	check_targets(f, 5, 0, NULL, NULL); /* the interval itself has no function */
}

static void a_pointer_site_is_known_by_its_caller(void **state)
{
	struct fixture *f = *state;
	struct vprof_name_list targets = { 0 };

	f->at[1] = PROC;
	assert_int_equal(vprof_decide_targets(&f->r, f->plan, &f->factors[1], &targets), 1);
	assert_string_equal(targets.items[0].caller, "serve");
	vprof_name_list_release(&targets);
}

/* A facts.db with main, loop, serve, hold and twice `twin`; `fixed` cannot be instrumented. serve calls hold, that
 * release, that get, that put; two.c is read by two units, serve.c by one. */
static struct vprof_facts *make_facts(void)
{
	static const char rows[] =
		"INSERT INTO meta VALUES('version', '" VPROF_FACTS_VERSION_TEXT
		"'),('root','/project'),('scanner','test');"
		"INSERT INTO file VALUES(1,'/project/serve.c','0000000000000000',1,1),"
		"(2,'/project/two.c','0000000000000000',1,1);"
		"INSERT INTO tu VALUES(1,'/project/serve.c','/project','s.o','[]','c','ok',''),(2,'/project/two.c','/project','t.o','[]','c','ok','');"
		"INSERT INTO tu_file VALUES(1,1),(1,2),(2,2);"
		"INSERT INTO call SELECT id,caller,1,id * 4,id * 4 + 3,1,1,callee,usr,'direct','',1,'statement','',0,'[]' FROM (SELECT 1 id,"
		" 3 caller,'hold' callee,'u3' usr UNION SELECT 2,4,'release','u8' UNION SELECT 3,9,'get','u7' UNION SELECT 4,8,'put','u12');"
		"INSERT INTO function(file,name,display,usr,line,end_line,body_begin,body_end,lang,is_static,is_tiny,"
		"returns,return_kind,params,signature,instrumentable,reason) VALUES";
	static const struct {
		const char *name, *display;
		int file, instrumentable;
	} functions[] = {
		{ "main", "main", 1, 1 },
		{ "loop", "loop", 1, 1 },
		{ "serve", "serve", 1, 1 },
		{ "hold", "hold", 1, 1 },
		{ "twin", "twin", 1, 1 },
		{ "twin", "twin", 2, 1 },
		{ "fixed", "fixed", 1, 0 },
		{ "get", "Store::get", 2, 1 },
		{ "release", "release", 1, 1 },
		{ "operator()", "Job::operator()", 2, 1 },
		{ "operator()", "run::(lambda)", 2, 1 },
		{ "hidden", "hidden", 2, 1 },
		{ "put", "Map::put", 2, 1 },
		{ "operator<<", "ns::operator<<", 2, 1 },
	};
	char path[] = "/tmp/vprof-facts-XXXXXX";
	struct vprof_facts *facts = NULL;
	struct vprof_error err = { "" };
	struct vprof_text sql = VPROF_TEXT_INIT;
	sqlite3 *db;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	vprof_text_addf(&sql, "%s%s", VPROF_FACTS_SCHEMA, rows);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		vprof_text_addf(
			&sql, "%s(%d,'%s','%s','u%zu',%zu,%zu,%zu,%zu,'c',0,0,'void','void','[]','void ()',%d,'%s')",
			i ? "," : "", functions[i].file, functions[i].name, functions[i].display, i, i + 1, i + 1,
			i * 10, i * 10 + 5, functions[i].instrumentable, functions[i].instrumentable ? "" : "naked");
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql.s, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	if (vprof_facts_open(&facts, path, &err))
		fail_msg("%s", err.message);
	unlink(path);
	vprof_text_release(&sql);
	return facts;
}

static void add_common_frames(struct fixture *f, const char *name, double depth, int encloses, int innermost, int waker)
{
	f->common_frames[f->r.n_common_frames++] = (struct vprof_common_frame){ .name = name,
										.module = "",
										.n = 10,
										.depth = depth,
										.encloses = encloses,
										.innermost_enclosing = innermost,
										.is_waker = waker };
}

static void roots_come_from_the_stacks(void **state)
{
	struct fixture *f = *state;
	struct vprof_facts *facts = make_facts();
	struct vprof_annotations a = { 0 };
	int from_stacks;

	add_common_frames(f, "serve.constprop.0", 2, 0, 0, 0);
	add_common_frames(f, "main", 0, 1, 0, 0);
	add_common_frames(f, "loop", 1, 1, 1, 0);
	add_common_frames(f, "_ZN5Store3getEi", 3, 0, 0, 0);
	add_common_frames(f, "fixed", 4, 0, 0, 0);
	add_common_frames(f, "hold", 4, 0, 0, 1);
	assert_int_equal(vprof_decide_roots(&f->session, &f->r, facts, &a, &from_stacks), VPROF_OK);
	assert_int_equal(from_stacks, 1);
	assert_int_equal(f->session.roots.n, 3);
	assert_string_equal(f->session.roots.items[0].name, "loop");
	assert_string_equal(f->session.roots.items[0].file, "serve.c");
	assert_string_equal(f->session.roots.items[1].name, "serve");
	assert_string_equal(f->session.roots.items[2].name, "get");
	assert_int_equal(f->session.broken_down.n, 1);
	assert_string_equal(f->session.broken_down.items[0].name, "loop");
	vprof_facts_free(facts);
}

/* Symbols of C++, as the analysis demangles them, and as a person writes them, are found among the facts. */
static void names_of_cpp_are_found(void **state)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{ "Job::operator()", "operator()" },
		{ "run::{lambda(int)#1}::operator()", "operator()" },
		{ "run::(lambda)", "operator()" },
		{ "(anonymous namespace)::hidden", "hidden" },
		{ "Map<int, std::less<int> >::put<char>", "put" },
		{ "ns::operator<<", "operator<<" },
		{ "_ZN2nslsERSoRK3Job", "operator<<" },
		{ "Store::get[abi:cxx11]", "get" },
		{ "_ZZ3runvENKUliE_clEi", "operator()" },
		{ "run() const::{lambda()#2}::operator()", "operator()" },
		{ "_ZN12_GLOBAL__N_16hiddenEv", "hidden" },
		{ "serve.0", "serve" },
	};
	struct fixture *f = *state;
	struct vprof_facts *facts = make_facts();
	struct vprof_annotations a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int from_stacks;

		f->r.n_common_frames = 0;
		add_common_frames(f, cases[i].symbol, 1, 0, 0, 0);
		vprof_session_release(&f->session);
		vprof_session_init(&f->session);
		assert_int_equal(vprof_decide_roots(&f->session, &f->r, facts, &a, &from_stacks), VPROF_OK);
		if (f->session.roots.n != 1)
			fail_msg("%s: %zu roots", cases[i].symbol, f->session.roots.n);
		assert_string_equal(f->session.roots.items[0].name, cases[i].name);
	}
	vprof_facts_free(facts);
}

static void a_narrow_way_ends_at_a_shared_header(void **state)
{
	struct fixture *f = *state;
	struct vprof_facts *facts = make_facts();

	assert_int_equal(vprof_decide_look_ahead(&f->session, facts, "serve", NULL), VPROF_OK);
	assert_int_equal(f->session.broken_down.n, 2);
	assert_string_equal(f->session.broken_down.items[0].name, "hold");
	assert_string_equal(f->session.broken_down.items[1].name, "release");
	assert_int_equal(vprof_facts_is_shared(facts, 1, 2), 1);
	assert_int_equal(vprof_facts_is_shared(facts, 2, 1), 0);
	assert_int_equal(vprof_facts_is_shared(facts, 2, 2), 0);
	vprof_facts_free(facts);
}

/* serve, the innermost that encloses the interval, calls nothing but hold, and that nothing but release. */
static void the_start_looks_ahead(void **state)
{
	struct fixture *f = *state;
	struct vprof_facts *facts = make_facts();
	struct vprof_annotations a = { 0 };
	int from_stacks;

	add_common_frames(f, "loop", 1, 1, 0, 0);
	add_common_frames(f, "serve", 2, 1, 1, 0);
	assert_int_equal(vprof_decide_roots(&f->session, &f->r, facts, &a, &from_stacks), VPROF_OK);
	assert_int_equal(f->session.broken_down.n, 3);
	assert_string_equal(f->session.broken_down.items[0].name, "serve");
	assert_string_equal(f->session.broken_down.items[1].name, "hold");
	assert_string_equal(f->session.broken_down.items[2].name, "release");
	vprof_facts_free(facts);
}

/* A hot path is broken down at once; what none of it calls by its name becomes a root, or nothing would measure it. */
static void what_is_measured_first_is_broken_down(void **state)
{
	struct fixture *f = *state;
	struct vprof_facts *facts = make_facts();
	const char *first[] = { "hold", "get", "hidden", "nowhere" };
	struct vprof_annotations a = { .measure_first = first, .n_measure_first = 4 };
	int from_stacks, is_root = 0;

	add_common_frames(f, "serve", 2, 1, 1, 0);
	assert_int_equal(vprof_decide_roots(&f->session, &f->r, facts, &a, &from_stacks), VPROF_OK);
	assert_int_equal(f->session.broken_down.n, 5); /* serve, and the narrow way from there: hold, release */
	assert_string_equal(f->session.broken_down.items[3].name, "get");
	assert_string_equal(f->session.broken_down.items[4].name, "hidden");
	for (size_t i = 0; i < f->session.roots.n; i++) {
		assert_string_not_equal(f->session.roots.items[i].name, "hold");
		assert_string_not_equal(f->session.roots.items[i].name, "get"); /* release calls it */
		is_root |= !strcmp(f->session.roots.items[i].name, "hidden");
	}
	assert_int_equal(is_root, 1);
	vprof_facts_free(facts);
}

static void without_stacks_the_annotations_are_the_roots(void **state)
{
	struct fixture *f = *state;
	struct vprof_facts *facts = make_facts();
	struct vprof_hook hooks[] = {
		{ .kind = VPROF_HOOK_BEGIN, .function = "serve" },
		{ .kind = VPROF_HOOK_TYPE, .function = "loop" },
		{ .kind = VPROF_HOOK_END, .function = "twin@two.c" },
	};
	struct vprof_annotations a = { .hooks = hooks, .n_hooks = 3 };
	int from_stacks;

	assert_int_equal(vprof_decide_roots(&f->session, &f->r, facts, &a, &from_stacks), VPROF_OK);
	assert_int_equal(from_stacks, 0);
	assert_int_equal(f->session.roots.n, 2);
	assert_string_equal(f->session.roots.items[1].file, "two.c");
	assert_int_equal(f->session.broken_down.n, 4); /* and what serve leads to: hold, release */
	assert_string_equal(f->session.broken_down.items[1].name, "twin");
	vprof_facts_free(facts);
}

static void main_is_the_start_when_nothing_else_encloses(void **state)
{
	struct fixture *f = *state;
	struct vprof_facts *facts = make_facts();
	struct vprof_annotations a = { 0 };
	int from_stacks;

	add_common_frames(f, "main", 0, 1, 1, 0);
	assert_int_equal(vprof_decide_roots(&f->session, &f->r, facts, &a, &from_stacks), VPROF_OK);
	assert_int_equal(f->session.roots.n, 1);
	assert_string_equal(f->session.broken_down.items[0].name, "main");
	vprof_facts_free(facts);
}

static void a_wait_asks_for_its_wakers(void **state)
{
	struct fixture *f = *state;
	struct vprof_facts *facts = make_facts();
	struct vprof_closed closed = { .name = "hold", .caller = "", .display = "hold", .run = "" };

	add_common_frames(f, "main", 0, 0, 0, 1);
	add_common_frames(f, "hold", 1, 0, 0, 1);
	add_common_frames(f, "pthread_mutex_unlock", 2, 0, 0, 1);
	assert_int_equal(vprof_decide_wakers(&f->session, &f->r, &f->factors[1], facts), 0); /* no wait */
	assert_int_equal(vprof_decide_wakers(&f->session, &f->r, &f->factors[3], facts), 2);
	assert_int_equal(f->session.roots.n, 1);
	assert_string_equal(f->session.roots.items[0].name, "hold");
	closed.file = strdup(f->session.roots.items[0].file);
	assert_string_equal(f->session.broken_down.items[0].name, "hold");
	assert_int_equal(vprof_decide_wakers(&f->session, &f->r, &f->factors[3], facts), 0); /* nothing new */
	vprof_name_list_release(&f->session.roots);
	vprof_name_list_release(&f->session.broken_down);
	f->nodes[LOCK].object = ""; /* waits for nobody */
	assert_int_equal(vprof_decide_wakers(&f->session, &f->r, &f->factors[3], facts), 0);
	f->nodes[LOCK].object = "0x55d0";
	f->nodes[LOCK].kind = f->factors[3].node_kind = VPROF_NODE_SITE; /* the same, measured at its call site */
	assert_int_equal(vprof_decide_wakers(&f->session, &f->r, &f->factors[3], facts), 2);
	vprof_name_list_release(&f->session.roots);
	vprof_name_list_release(&f->session.broken_down);
	assert_int_equal(vprof_session_close(&f->session, &closed), VPROF_OK); /* others wait for it: open again */
	assert_int_equal(vprof_decide_wakers(&f->session, &f->r, &f->factors[3], facts), 2);
	assert_int_equal(f->session.n_closed, 0);
	assert_int_equal(vprof_session_close(&f->session, &closed), VPROF_OK); /* a root already: it stays closed */
	assert_int_equal(vprof_decide_wakers(&f->session, &f->r, &f->factors[3], facts), 0);
	assert_int_equal(f->session.n_closed, 1);
	vprof_session_open_again(&f->session, 0);
	vprof_name_list_release(&f->session.roots);
	vprof_name_list_release(&f->session.broken_down);
	assert_true(vprof_decide_wants_wakers(&f->r, &f->factors[3]));
	f->nodes[REST].kind = VPROF_NODE_FUNCTION; /* explained now: only a chosen one asks for its wakers */
	assert_false(vprof_decide_wants_wakers(&f->r, &f->factors[3]));
	assert_int_equal(vprof_decide_wakers(&f->session, &f->r, &f->factors[3], facts), 2);
	free((char *)closed.file);
	vprof_facts_free(facts);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(put_aside_makes_room),
		TEST(small_chance_makes_room),
		TEST(an_explained_wait_makes_room),
		TEST(choices_are_not_used_up),
		TEST(causes_are_chosen),
		TEST(an_ending_names_what_is_open),
		TEST(a_live_round_ends),
		TEST(targets_of_every_kind),
		TEST(a_pointer_site_is_known_by_its_caller),
		TEST(roots_come_from_the_stacks),
		TEST(names_of_cpp_are_found),
		TEST(what_is_measured_first_is_broken_down),
		TEST(without_stacks_the_annotations_are_the_roots),
		TEST(the_start_looks_ahead),
		TEST(a_narrow_way_ends_at_a_shared_header),
		TEST(main_is_the_start_when_nothing_else_encloses),
		TEST(a_wait_asks_for_its_wakers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
