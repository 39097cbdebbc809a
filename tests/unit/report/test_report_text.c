/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text report of results made by hand: what stands in it, and that nothing in the results can break its form. */
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

enum { REQUEST, CALL, FLUSH, FDATASYNC, WRITE_BODY, LOCK, HOLDER, REST, N_NODES };

struct fixture {
	struct vprof_results r;
	struct vprof_node nodes[N_NODES];
	struct vprof_covariance covariances[1];
	struct vprof_factor factors[5];
	uint32_t at[5][2];
	struct vprof_type types[2];
	char *warnings[1];
};

static struct vprof_node node(enum vprof_node_kind kind, uint32_t parent, uint32_t depth, const char *name)
{
	return (struct vprof_node){ .kind = kind,
				    .parent = parent,
				    .depth = depth,
				    .name = name,
				    .display = name,
				    .file = kind == VPROF_NODE_FUNCTION || kind == VPROF_NODE_SITE ? "src/aof.c" : "",
				    .line = 1123,
				    .object = kind == VPROF_NODE_WAIT ? "0x55d0" : "" };
}

static struct vprof_factor factor(struct fixture *f, size_t i, enum vprof_node_kind kind, uint32_t at, const char *name,
				  double share)
{
	f->at[i][0] = at;
	return (struct vprof_factor){ .kind = VPROF_FACTOR_VARIANCE,
				      .node_kind = kind,
				      .key = name,
				      .name = name,
				      .name_a = name,
				      .share = share,
				      .share_low = share - 0.05,
				      .share_high = share + 0.04,
				      .if_constant = NAN,
				      .together = NAN,
				      .mean_ns = 1.21e6,
				      .sd_ns = 2.58e6,
				      .nodes = f->at[i],
				      .n_nodes = 1,
				      .place_kept = 1,
				      .between_share = NAN,
				      .work_share = NAN,
				      .share_cost_low = 0 };
}

static void make(struct fixture *f)
{
	memset(f, 0, sizeof *f);
	f->nodes[REQUEST] = node(VPROF_NODE_INTERVAL, 0, 0, "request");
	f->nodes[CALL] = node(VPROF_NODE_FUNCTION, REQUEST, 1, "call");
	f->nodes[FLUSH] = node(VPROF_NODE_FUNCTION, CALL, 2, "flushAppendOnlyFile");
	f->nodes[FDATASYNC] = node(VPROF_NODE_SITE, FLUSH, 3, "fdatasync");
	f->nodes[WRITE_BODY] = node(VPROF_NODE_BODY, FLUSH, 3, "body of flushAppendOnlyFile");
	f->nodes[LOCK] = node(VPROF_NODE_WAIT, CALL, 2, "pthread_mutex_lock");
	f->nodes[HOLDER] = node(VPROF_NODE_FUNCTION, LOCK, 3, "hold");
	f->nodes[HOLDER].is_blame = 1;
	f->nodes[REST] = node(VPROF_NODE_BODY, LOCK, 3, "unexplained");
	f->factors[0] = factor(f, 0, VPROF_NODE_SITE, FDATASYNC, "fdatasync", 0.71);
	f->factors[0].blocked_share = 0.98;
	f->covariances[0] = (struct vprof_covariance){ .a = FDATASYNC, .b = WRITE_BODY, .r = 0.61 };
	f->factors[1] = factor(f, 1, VPROF_NODE_FUNCTION, 0, "(fdatasync, writeToClient)", 0.09);
	f->factors[1].kind = VPROF_FACTOR_COVARIANCE;
	f->factors[1].r = 0.61;
	f->factors[2] = factor(f, 2, VPROF_NODE_FUNCTION, CALL, "call", 0.06);
	f->factors[2].can_break_down = 1;
	f->factors[2].n_unmeasured = 31;
	f->factors[3] = factor(f, 3, VPROF_NODE_FUNCTION, HOLDER, "hold", 0.03);
	f->factors[3].is_blame = 1;
	f->factors[3].verdict = VPROF_VERDICT_CULPRIT;
	f->factors[4] = factor(f, 4, VPROF_NODE_WAIT, LOCK, "pthread_mutex_lock", 0.004);
	f->factors[4].share_low = NAN;
	f->types[0] = (struct vprof_type){ "GET", 30000, 1e6, 1e6 };
	f->types[1] = (struct vprof_type){ "LRANGE", 11190, 4e6, 3e6 };
	f->warnings[0] = strdup("the trace ends before the program did, so the last intervals are missing; raise the "
				"limit or run for a shorter time");
	f->r = (struct vprof_results){
		.interval = "request",
		.run = "0007",
		.n_complete = 41190,
		.n_cut = 23,
		.n_records = 1234567,
		.n_waits = 100,
		.n_waits_matched = 99,
		.n_waits_unmatched = 1,
		.mean_ns = 1.92e6,
		.sd_ns = 3.07e6,
		.p50_ns = 1.1e6,
		.p99_ns = 14.8e6,
		.max_ns = 61.3e6,
		.between_types = 0.08,
		.queued_share = 0.02,
		.blocked_share = 0.38,
		.running_share = 0.6,
		.baseline_mean_ns = 1.91e6,
		.baseline_low = 1.9e6,
		.baseline_high = 1.93e6,
		.mean_low = 1.9e6,
		.mean_high = 1.95e6,
		.record_ns = 18,
		.probe_ns = 1.3e3,
		.cost_scale = NAN,
		.threshold = 0.02,
		.k = 3,
		.nodes = f->nodes,
		.n_nodes = N_NODES,
		.covariances = f->covariances,
		.n_covariances = 1,
		.factors = f->factors,
		.n_factors = 5,
		.n_selected = 3,
		.types = f->types,
		.n_types = 2,
		.warnings = f->warnings,
		.n_warnings = 1,
	};
}

static char *render(struct fixture *f, const struct vprof_report_options *o)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };

	assert_int_equal(vprof_report_text(&f->r, o, &t, &err), VPROF_OK);
	return vprof_text_detach(&t);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static void assert_width(const char *text, size_t width)
{
	char line[1024];

	while (*text) {
		size_t n = strcspn(text, "\n");

		assert_true(n < sizeof line);
		memcpy(line, text, n);
		line[n] = 0;
		if (vprof_format_columns(line) > width)
			fail_msg("%zu columns: %s", vprof_format_columns(line), line);
		text += n + (text[n] == '\n');
	}
}

static void says_everything(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_width(text, 100);
	assert_has(text, "request   mean 1.92 ms   sd 3.07 ms   p50 1.10 ms   p99 14.8 ms   max 61.3 ms   (41,190)\n");
	assert_has(text, "8 % of the variance lies between types (GET, LRANGE), 92 % within");
	assert_has(text, "probes: about 0.1 % of the mean (18 ns for each record); -1.0 .. +2.2 %");
	assert_has(text, "60 % running, 38 % blocked, 2 % queued, 0 % preempted");
	assert_null(strstr(text, "not known"));
	assert_has(text, "1   71 %  66 .. 75    fdatasync                    call > flushAppendOnlyFile");
	assert_has(text, "1.21 ms  2.58 ms\n");
	assert_has(text, "src/aof.c:1123 · blocked 98 % · external, a leaf\n");
	assert_has(text, "move together, r = 0.61");
	assert_has(text, "the interval itself");
	assert_has(text, "31 children, none measured yet");
	assert_has(text, "waiting: pthread_mutex_lock");
	assert_has(text, "others' work while waiting for pthread_mutex_lock in call");
	assert_has(text, "verdict: culprit");
	assert_null(strstr(text, "0.4 %"));
	assert_has(text, "1 more factors");
	assert_has(text, "coverage  41,190 intervals complete, 23 cut by the trace's end, 0 ambiguous");
	assert_has(text, "99 matched with their waker, 1 not");
	assert_has(text, "warning   the trace ends");
	assert_null(strstr(text, "\033"));
	assert_null(strstr(text, "nan"));
	free(text);
	free(f.warnings[0]);
}

/* What must be read before any ranking stands before it, once. */
static void first_warnings_come_first(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	f.r.n_warnings_first = 1;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_true(strstr(text, "warning   the trace ends") == text);
	assert_null(strstr(text + 1, "warning   "));
	free(text);
	free(f.warnings[0]);
}

/* Of several places the heaviest is shown, also when it is not the first. */
static void shows_the_heaviest_place(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	f.at[0][0] = CALL;
	f.at[0][1] = FDATASYNC;
	f.factors[0].n_nodes = 2;
	f.nodes[CALL].var_ns2 = 1;
	f.nodes[FDATASYNC].var_ns2 = 9;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_has(text, "fdatasync                    … > flushAppendOnlyFile (+1)");
	free(text);
	f.nodes[CALL].var_ns2 = 10;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_has(text, "fdatasync                    the interval itself (+1)");
	free(text);
	free(f.warnings[0]);
}

static void preempted_is_told_or_unknown(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	f.nodes[WRITE_BODY] = node(VPROF_NODE_PREEMPTED, FLUSH, 3, "preempted");
	f.factors[0] = factor(&f, 0, VPROF_NODE_PREEMPTED, WRITE_BODY, "preempted", 0.71);
	f.factors[0].preempted_share = 1;
	f.factors[2].preempted_share = 0.25;
	f.r.running_share = 0.4;
	f.r.preempted_share = 0.2;
	f.r.preempted_by_own = 0.75;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_has(text, "40 % running, 38 % blocked, 2 % queued, 20 % preempted");
	assert_has(text, "runnable, but off-CPU · 75 % of it for the session's own threads");
	assert_has(text, "preempted 25 % · 31 children");
	free(text);
	free(f.warnings[0]);
	make(&f);
	f.r.running_share = 0.3;
	f.r.kernel_share = 0.25;
	f.r.io_share = 0.05;
	f.factors[0].blocked_share = 0.1;
	f.factors[0].kernel_share = 0.8;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_has(text, "30 % running, 25 % in the kernel, 5 % in I/O (blocked or in the kernel)");
	assert_has(text, "src/aof.c:1123 · blocked 10 % · in the kernel 80 % · external, a leaf\n");
	free(text);
	free(f.warnings[0]);
	make(&f);
	f.factors[0].blocked_share = 0;
	f.factors[0].io_share = 0.98;
	f.factors[0].kernel_share = NAN;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_has(text, "src/aof.c:1123 · in I/O 98 % (blocked or in the kernel) · external, a leaf\n");
	assert_null(strstr(text, "blocked 0"));
	free(text);
	free(f.warnings[0]);
	make(&f);
	f.factors[2].preempted_share = f.r.preempted_share = f.r.preempted_by_own = NAN;
	f.r.no_switches = "perf events are \033forbidden here";
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_has(text, "60 % running or preempted, 38 % blocked, 2 % queued\n");
	assert_has(text, "          running or preempted: not known: perf events are ?forbidden here\n");
	assert_null(strstr(text, "nan"));
	free(text);
	free(f.warnings[0]);
}

static void colour_changes_no_letter(void **state)
{
	struct fixture f;
	char *plain, *coloured, *to;
	const char *from;

	(void)state;
	make(&f);
	plain = render(&f, &(struct vprof_report_options){ 0 });
	coloured = render(&f, &(struct vprof_report_options){ .colour = 1 });
	assert_has(coloured, "\033[1mrequest");
	for (from = to = coloured; *from;) {
		if (*from == '\033')
			from += strcspn(from, "m") + 1;
		else
			*to++ = *from++;
	}
	*to = 0;
	assert_string_equal(coloured, plain);
	free(plain);
	free(coloured);
	free(f.warnings[0]);
}

static void long_and_hostile_names_keep_the_width(void **state)
{
	char name[600];
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	for (size_t i = 0; i + 2 < sizeof name; i += 2)
		memcpy(name + i, i % 10 ? "\xc3\xa4" : "\033\n", 3);
	for (size_t i = 0; i < N_NODES; i++)
		f.nodes[i].name = f.nodes[i].display = f.nodes[i].file = f.nodes[i].object = name;
	for (size_t i = 0; i < 5; i++)
		f.factors[i].name = f.factors[i].note = name;
	f.types[0].name = f.r.interval = name;
	text = render(&f, &(struct vprof_report_options){ .width = 80 });
	for (const char *c = text; *c; c++)
		assert_true(*c != '\033');
	assert_width(text, 80);
	free(text);
	text = render(&f, &(struct vprof_report_options){ .width = 100 });
	assert_width(text, 100);
	free(text);
	free(f.warnings[0]);
}

static void chosen_ones_are_shown_beyond_the_top(void **state)
{
	const uint32_t chosen[] = { 3 };
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	text = render(&f, &(struct vprof_report_options){ .top = 1, .chosen = chosen, .n_chosen = 1 });
	assert_has(text, "fdatasync");
	assert_has(text, "4    3 %  ");
	assert_null(strstr(text, "31 children"));
	assert_has(text, "3 more factors; 4 of all have 2 % of the variance or more");
	free(text);
	free(f.warnings[0]);
}

/* What would go, of a factor and with what the same function did for others; negative where the rest makes up for it.
 */
static void what_would_go_is_told(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	f.factors[0].if_constant = 0.9;
	f.factors[0].if_constant_low = 0.84;
	f.factors[0].if_constant_high = 0.97;
	f.factors[1].if_constant = -0.03;
	f.factors[1].if_constant_low = f.factors[1].if_constant_high = NAN;
	f.factors[2].counterpart = 4;
	f.factors[2].together = 0.61;
	f.factors[2].together_low = 0.5;
	f.factors[2].together_high = 0.7;
	f.factors[2].together_constant = 0.87;
	f.factors[2].together_constant_low = 0.8;
	f.factors[2].together_constant_high = 0.95;
	text = render(&f, &(struct vprof_report_options){ .factors = 1 });
	assert_has(text, "src/aof.c:1123 · if constant -90 % (-97 .. -84)");
	assert_has(text, "r = 0.61 · if constant +3 %");
	assert_has(text, "own and beneath waits 61 % (50 .. 70), if constant -87 % (-95 .. -80)");
	free(text);
	free(f.warnings[0]);
}

static void a_cost_beyond_the_noise_is_told(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	f.r.baseline_mean_ns = 1.5e6;
	f.r.baseline_low = f.r.baseline_high = NAN;
	f.factors[0].probe_ns = 0.1 * f.factors[0].mean_ns;
	f.factors[2].place_kept = 0.61;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_has(text, "for each record); +28.0 % against the baseline");
	assert_has(text, "recording added 10 % to its time");
	assert_null(strstr(text, "slowed"));
	assert_has(text, "keeps its rank in 61 % of resampled runs");
	free(text);
	free(f.warnings[0]);
}

/* The first line says how much the program was slowed, how that is known, and for which functions it matters. */
static void a_slowed_program_is_told_first(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	f.r.effect = 0.31;
	f.r.effect_low = 0.22;
	f.r.effect_high = 0.4;
	f.r.effect_by = VPROF_EFFECT_BY_BASELINE;
	f.r.probe_ns = 0.2 * f.r.mean_ns;
	f.factors[0].probe_ns = 0.1 * f.factors[0].mean_ns + 0.15 * f.r.mean_ns;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_ptr_equal(strstr(text, "warning   recording slowed the intervals by 31 % (22 % .. 40 %;"), text);
	assert_has(text, f.factors[0].name);
	free(text);
	f.r.effect = 0.049;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_null(strstr(text, "slowed"));
	free(text);
	free(f.warnings[0]);
}

static void closed_functions_are_told_with_their_bounds(void **state)
{
	struct vprof_closed closed[] = {
		{ .display = "table::mix",
		  .file = "src/table.cc",
		  .line = 12,
		  .bound = 0.004,
		  .saved_ns = 1200,
		  .saved = 0.06,
		  .run = "0002" },
		{ .display = "strlen", .file = "", .bound = 0.0001, .saved_ns = 100, .saved = 0.005, .run = "0003" },
	};
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	f.r.closed = closed;
	f.r.n_closed = 2;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_has(
		text,
		"closed    table::mix (src/table.cc:12): at most 0.4 % of the variance; recording it took 1.20 us (6\n"
		"          % of the mean, run 0002)\n"
		"          strlen: at most 0.1 % of the variance; recording it took 100 ns (0.5 % of the mean, run\n"
		"          0003)\n");
	assert_has(text, "--keep-open");
	free(text);
}

static void long_paths_lose_their_middle(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	f.nodes[CALL].display = "dispatch_a_request_to_its_handler";
	f.nodes[FLUSH].display = "handler";
	f.nodes[WRITE_BODY].parent = FDATASYNC; /* one level more */
	f.nodes[WRITE_BODY].depth = 4;
	f.at[0][0] = WRITE_BODY;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_has(text, "… > handler > fdatasync ");
	free(text);
	free(f.warnings[0]);
}

static void inconclusive_says_why_first(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	f.r.inconclusive = 1;
	f.r.n_factors = f.r.n_covariances = f.r.n_nodes = f.r.n_types = 0;
	f.r.mean_ns = f.r.sd_ns = NAN;
	text = render(&f, &(struct vprof_report_options){ 0 });
	assert_true(!strncmp(text, "inconclusive", 12));
	assert_has(text, "why       the trace ends");
	assert_null(strstr(text, "share of variance"));
	free(text);
	free(f.warnings[0]);
}

static void refuses_results_that_point_nowhere(void **state)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	struct vprof_report_options o = { 0 };
	struct vprof_error err = { "" };
	struct fixture f;

	(void)state;
	make(&f);
	f.nodes[CALL].parent = FLUSH; /* a loop */
	assert_int_equal(vprof_report_text(&f.r, &o, &t, &err), VPROF_ERR_CORRUPT);
	f.nodes[CALL].parent = REQUEST;
	f.at[0][0] = N_NODES;
	assert_int_equal(vprof_report_text(&f.r, &o, &t, &err), VPROF_ERR_CORRUPT);
	f.at[0][0] = FDATASYNC;
	f.covariances[0].b = 99;
	assert_int_equal(vprof_report_text(&f.r, &o, &t, &err), VPROF_ERR_CORRUPT);
	assert_non_null(strstr(err.message, "vprof analyze"));
	vprof_text_release(&t);
	free(f.warnings[0]);
}

/* Every view at every width, with data and without, and with numbers that no run has. */
static void views_keep_their_form(void **state)
{
	static const double odd[] = { 1.5, 0, -3e5, 1e300, NAN, INFINITY };
	struct vprof_contribution contributions[2];
	struct vprof_work work;
	struct fixture f;

	(void)state;
	make(&f);
	for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
		double x = odd[k];

		contributions[0] = (struct vprof_contribution){
			1, "a_function_with_a_very_long_name_indeed_longer_than_any_column_is", 1.9e6, x, x, x, x, x, x,
			x
		};
		contributions[1] = (struct vprof_contribution){ 0, "body\nof\x01it", x, x, x, x, x, x, x, x };
		work = (struct vprof_work){ "rows", x, x, x, x, x, x, x };
		f.r.contributions = contributions;
		f.r.n_contributions = 2;
		f.r.work = &work;
		f.r.n_work = k % 2;
		f.r.work_share = f.r.work_low = f.r.work_high = f.r.between_low = f.r.between_high = x;
		f.r.tail_ns = f.r.rest_ns = f.r.tail_from_ns = f.r.record_ns = f.r.probe_ns = f.r.mean_low =
			f.r.mean_high = x;
		f.r.n_tail = k == 1 ? 3 : 400;
		for (int view = 0; view < VPROF_VIEW_COUNT; view++)
			for (int width = 80; width <= 120; width += 20) {
				struct vprof_report_options o = { .width = width };
				struct vprof_text t = VPROF_TEXT_INIT;
				struct vprof_error err = { "" };

				assert_int_equal(vprof_report_view(&f.r, (enum vprof_view)view, &o, &t, &err),
						 VPROF_OK);
				if (k < 3)
					assert_width(t.s, (size_t)width);
				assert_has(t.s, "coverage");
				assert_has(t.s, "warning");
				vprof_text_release(&t);
			}
	}
	free(f.warnings[0]);
}

static void views_say_what_is_lacking(void **state)
{
	struct fixture f;
	char *lack;

	(void)state;
	make(&f);
	f.r.n_types = 1;
	f.r.n_tail = 4;
	lack = vprof_view_lacks(&f.r, VPROF_VIEW_TAIL);
	assert_has(lack, "record 1000 intervals or more");
	free(lack);
	lack = vprof_view_lacks(&f.r, VPROF_VIEW_TYPES);
	assert_has(lack, "all intervals have the same type");
	free(lack);
	lack = vprof_view_lacks(&f.r, VPROF_VIEW_WORK);
	assert_has(lack, "vprof_work()");
	free(lack);
	lack = vprof_view_lacks(&f.r, VPROF_VIEW_MEAN);
	assert_string_equal(lack, "");
	free(lack);
	free(f.warnings[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_everything),
		cmocka_unit_test(first_warnings_come_first),
		cmocka_unit_test(shows_the_heaviest_place),
		cmocka_unit_test(preempted_is_told_or_unknown),
		cmocka_unit_test(colour_changes_no_letter),
		cmocka_unit_test(long_and_hostile_names_keep_the_width),
		cmocka_unit_test(chosen_ones_are_shown_beyond_the_top),
		cmocka_unit_test(inconclusive_says_why_first),
		cmocka_unit_test(views_keep_their_form),
		cmocka_unit_test(views_say_what_is_lacking),
		cmocka_unit_test(what_would_go_is_told),
		cmocka_unit_test(a_cost_beyond_the_noise_is_told),
		cmocka_unit_test(a_slowed_program_is_told_first),
		cmocka_unit_test(closed_functions_are_told_with_their_bounds),
		cmocka_unit_test(long_paths_lose_their_middle),
		cmocka_unit_test(refuses_results_that_point_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
