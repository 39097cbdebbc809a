/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_page KIND FILE: a page as vprof report --html makes it, of results that are made up. KIND: plain, hostile (names
 * that would be markup, 10 kB long, no UTF-8), large (20,000 nodes, of a million intervals), empty. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "report/page.h"
#include "hostile_names.h"

static const char *name_of(const char *kind, size_t i)
{
	static char names[64][32];
	char *s = names[i % 64];

	if (!strcmp(kind, "hostile"))
		return hostile_name(i);
	snprintf(s, sizeof names[0], "function_%zu", i % 64);
	return s;
}

/* A parent of the node i: breadth first, `width` children each. */
static void make_nodes(struct vprof_results *r, const char *kind, size_t n, size_t width)
{
	r->nodes = calloc(n, sizeof *r->nodes);
	r->n_nodes = n;
	for (size_t i = 0; i < n; i++) {
		struct vprof_node *x = &r->nodes[i];
		size_t parent = i ? (i - 1) / width : 0, first = i * width + 1;

		*x = (struct vprof_node){ .kind = i ? VPROF_NODE_FUNCTION : VPROF_NODE_INTERVAL,
					  .parent = (uint32_t)parent,
					  .first_child = first < n ? (uint32_t)first : 0,
					  .n_children = first < n ? (uint32_t)(first + width <= n ? width : n - first) :
								    0,
					  .depth = i ? r->nodes[parent].depth + 1 : 0,
					  .n_intervals = r->n_complete,
					  .n_calls = r->n_complete,
					  .n_timed = r->n_complete,
					  .preempted_ns = NAN };
		x->share = i ? r->nodes[parent].share * 0.9 / (double)width * (i % width ? 0.5 : 1.5) : 1;
		x->mean_ns = i ? r->nodes[parent].mean_ns * 0.9 / (double)width : r->mean_ns;
		x->var_ns2 = x->share * r->var_ns2;
		x->tail_ns = x->mean_ns * 5;
		x->rest_ns = x->mean_ns * 0.9;
		x->name = x->display = i ? vprof_results_string(r, name_of(kind, i)) : r->interval;
		x->file = !i ? "" : !strcmp(kind, "hostile") ? vprof_results_string(r, name_of(kind, i + 3)) : "code.c";
		x->line = i ? (int)(i % 50) + 1 : 0;
		x->object = i == 3 ? "0x1234" : "";
		if (i > 3 && parent == 3)
			x->is_blame = 1;
		else if (i)
			x->is_blame = r->nodes[parent].is_blame;
	}
}

static void make_pairs(struct vprof_results *r, size_t most)
{
	r->covariances = calloc(most, sizeof *r->covariances);
	for (size_t p = 0; p < r->n_nodes && r->n_covariances < most; p++)
		for (uint32_t a = r->nodes[p].first_child; a < r->nodes[p].first_child + r->nodes[p].n_children; a++)
			for (uint32_t b = a + 1;
			     b < r->nodes[p].first_child + r->nodes[p].n_children && r->n_covariances < most; b++)
				r->covariances[r->n_covariances++] =
					(struct vprof_covariance){ a, b, 1, 0.01 / (double)(p + 1), 0.5, 0 };
}

static void make_factors(struct vprof_results *r, size_t n)
{
	r->factors = calloc(n, sizeof *r->factors);
	r->n_factors = n;
	for (size_t i = 0; i < n; i++) {
		struct vprof_factor *f = &r->factors[i];
		uint32_t *nodes = calloc(1, sizeof *nodes);
		char key[32];

		snprintf(key, sizeof key, "v:%zu", i);
		nodes[0] = (uint32_t)(i + 1);
		*f = (struct vprof_factor){ .kind = VPROF_FACTOR_VARIANCE,
					    .node_kind = VPROF_NODE_FUNCTION,
					    .key = vprof_results_string(r, key),
					    .name = r->nodes[i + 1].name,
					    .name_a = r->nodes[i + 1].name,
					    .name_b = "",
					    .share = r->nodes[i + 1].share,
					    .share_low = r->nodes[i + 1].share * 0.8,
					    .share_high = r->nodes[i + 1].share * 1.2,
					    .if_constant = i ? 0.3 : 0.6,
					    .if_constant_low = i ? NAN : 0.5,
					    .if_constant_high = i ? NAN : 0.7,
					    .counterpart = i < 2 ? 2 - (uint32_t)i : 0,
					    .together = 0.8,
					    .together_low = 0.75,
					    .together_high = 0.85,
					    .together_constant = 0.9,
					    .together_constant_low = 0.88,
					    .together_constant_high = 0.92,
					    .place_kept = 0.9,
					    .mean_ns = r->nodes[i + 1].mean_ns,
					    .sd_ns = 10,
					    .n_calls = 7,
					    .n_timed = 7,
					    .nodes = nodes,
					    .n_nodes = 1,
					    .between_share = NAN,
					    .work_share = NAN,
					    .share_cost_low = 0,
					    .preempted_share = NAN,
					    .verdict = i == 1 ? VPROF_VERDICT_CULPRIT : VPROF_VERDICT_NONE,
					    .note = i == 1 ? r->nodes[1].name : "" };
		r->nodes[i + 1].factor = (uint32_t)i + 1;
	}
	r->n_selected = n < 3 ? n : 3;
}

static void make_closed(struct vprof_results *r, const char *kind)
{
	r->closed = calloc(1, sizeof *r->closed);
	r->closed[r->n_closed++] = (struct vprof_closed){ .name = name_of(kind, 3),
							  .display = name_of(kind, 3),
							  .file = name_of(kind, 4),
							  .line = 12,
							  .caller = "",
							  .bound = 0.004,
							  .saved_ns = 1200,
							  .saved = 0.06,
							  .run = "0002" };
}

static void make_causes(struct vprof_results *r, const char *kind)
{
	static const struct vprof_split parts[] = { { VPROF_NODE_SITE, "fdatasync", 0.6, 0.5, 1 },
						    { VPROF_NODE_BODY, "body", 0.3, 0.3, 1 },
						    { VPROF_NODE_SITE, "", 0.1, 0.1, 1 } };

	r->causes = calloc(2, sizeof *r->causes);
	r->n_causes = 2;
	for (size_t i = 0; i < 2; i++) {
		struct vprof_step *steps = calloc(3, sizeof *steps);
		struct vprof_split *splits = calloc(3, sizeof *splits);
		uint32_t *lists = calloc(2, sizeof *lists), *nodes = calloc(1, sizeof *nodes);

		for (size_t k = 0; k < 3; k++)
			steps[k] = (struct vprof_step){ .kind = k == 1 ? VPROF_NODE_WAIT : VPROF_NODE_FUNCTION,
							.is_blame = k == 2,
							.name = name_of(kind, k + i),
							.file = k == 1 ? name_of(kind, k) : "",
							.line = 69,
							.object = k == 1 ? "0x1" : "",
							.awaited = k == 1 ? name_of(kind, 2) : "",
							.node = (uint32_t)(k + 1) };
		memcpy(splits, parts, sizeof parts);
		lists[0] = (uint32_t)(2 * i);
		lists[1] = (uint32_t)(2 * i + 1);
		nodes[0] = (uint32_t)(i + 1);
		r->causes[i] = (struct vprof_cause){ .status = i ? VPROF_CAUSE_CANDIDATE : VPROF_CAUSE_SETTLED,
						     .key = i ? "v:second" : "v:first",
						     .name = name_of(kind, i),
						     .file = name_of(kind, 4),
						     .line = 66,
						     .share = 0.9 - 0.5 * (double)i,
						     .share_low = 0.3,
						     .share_high = 0.95,
						     .if_constant = 0.95 - (double)i,
						     .if_constant_low = i ? NAN : 0.9,
						     .if_constant_high = i ? NAN : 0.97,
						     .place_kept = 0.8,
						     .first_kept = 1,
						     .own_part = 0.2,
						     .waiting_part = 0.8,
						     .n_places = 3,
						     .n_unmeasured = 4,
						     .can_break_down = (int)i,
						     .note = i ? name_of(kind, 2) : "",
						     .steps = steps,
						     .n_steps = 3,
						     .splits = splits,
						     .n_splits = 3,
						     .factors = lists,
						     .n_factors = 2,
						     .nodes = nodes,
						     .n_nodes = 1 };
	}
}

/* Requests of two kinds and a thread wait for one another, each pair at a lock; in the large page, of 40 kinds. */
static void make_crosstalk(struct vprof_results *r, const char *kind)
{
	size_t n = !strcmp(kind, "large") ? 40 : 3;

	r->parties = calloc(n, sizeof *r->parties);
	r->crosstalk = calloc(n * n, sizeof *r->crosstalk);
	for (size_t i = 0; i < n; i++)
		r->parties[r->n_parties++] = (struct vprof_party){ i == 2 ? VPROF_PARTY_THREAD : VPROF_PARTY_TYPE,
								   name_of(kind, i), i == 2 ? 0 : 500,
								   i == 2 ? 0 : 5e5 };
	for (size_t i = 0; i < n * n; i++) {
		struct vprof_crosstalk_lock *lock = calloc(1, sizeof *lock);
		struct vprof_holder_call *calls = calloc(2, sizeof *calls);

		if (i / n == 2) { /* the thread waits for nobody */
			free(lock);
			free(calls);
			continue;
		}
		calls[0] = (struct vprof_holder_call){
			VPROF_NODE_FUNCTION, name_of(kind, 5), name_of(kind, 4), 3, 0, 4000
		};
		calls[1] = (struct vprof_holder_call){ VPROF_NODE_WAIT, name_of(kind, 6), "", 0, 1, 3000 };
		*lock = (struct vprof_crosstalk_lock){ name_of(kind, 3),
						       name_of(kind, 2),
						       name_of(kind, 4),
						       7,
						       1,
						       "0x10",
						       name_of(kind, 1),
						       9,
						       5000,
						       4000,
						       calls,
						       2 };
		r->crosstalk[r->n_crosstalk++] = (struct vprof_crosstalk){ .waiter = (uint32_t)(i / n),
									   .holder = (uint32_t)(i % n),
									   .n_waits = 9,
									   .total_ns = 5000 - (double)i,
									   .measured_ns = 4000,
									   .mean_ns = 10,
									   .mean_low = i ? NAN : 8,
									   .mean_high = i ? NAN : 12,
									   .share = 0.01,
									   .share_low = i ? NAN : 0.008,
									   .share_high = i ? NAN : 0.012,
									   .locks = lock,
									   .n_locks = 1 };
	}
}

/* Two stages, the second beneath the first, with a call, a wait and what others did in it. */
static void make_contexts(struct vprof_results *r, const char *kind)
{
	size_t n = !strcmp(kind, "large") ? 40 : 3;

	r->contexts = calloc(n, sizeof *r->contexts);
	for (size_t i = 0; i < n; i++) {
		struct vprof_context_stage *stages = calloc(2, sizeof *stages);
		struct vprof_profile_node *v = calloc(6, sizeof *v);

		stages[0] = (struct vprof_context_stage){ name_of(kind, i), name_of(kind, 1), name_of(kind, 2) };
		stages[1] = (struct vprof_context_stage){ "?", "", "" };
		v[0] = (struct vprof_profile_node){ VPROF_NODE_INTERVAL, 0, 0, name_of(kind, i), "", 0, 5000, 1000 };
		v[1] = (struct vprof_profile_node){ VPROF_NODE_INTERVAL, 1, 0, "?", "", 0, 4000, 500 };
		v[2] = (struct vprof_profile_node){ VPROF_NODE_FUNCTION, 2,  0,	   name_of(kind, 5),
						    name_of(kind, 4),	 12, 2000, 1000 };
		v[3] = (struct vprof_profile_node){ VPROF_NODE_WAIT, 3, 0, name_of(kind, 6), "", 0, 1000, 100 };
		v[4] = (struct vprof_profile_node){ VPROF_NODE_FUNCTION, 4,  1,	  name_of(kind, 7),
						    name_of(kind, 4),	 15, 900, 900 };
		v[5] = (struct vprof_profile_node){ VPROF_NODE_QUEUED, 2, 0, "queued", "", 0, 1500, 1500 };
		r->contexts[r->n_contexts++] = (struct vprof_context){ .name = name_of(kind, i + 1),
								       .n = i ? 10 : 100,
								       .total_ns = 5000,
								       .mean_ns = 500,
								       .mean_low = i ? NAN : 450,
								       .mean_high = i ? NAN : 550,
								       .share = 0.5,
								       .share_low = i ? NAN : 0.44,
								       .share_high = i ? NAN : 0.56,
								       .waiting_low = i ? NAN : 0.15,
								       .waiting_high = i ? NAN : 0.25,
								       .running_ns = 2500,
								       .waiting_ns = 1000,
								       .queued_ns = 1500,
								       .is_unknown = 1,
								       .stages = stages,
								       .n_stages = 2,
								       .profile = v,
								       .n_profile = 6 };
	}
}

static void make_rest(struct vprof_results *r, const char *kind)
{
	r->types = calloc(2, sizeof *r->types);
	r->n_types = 2;
	for (size_t i = 0; i < 2; i++)
		r->types[i] = (struct vprof_type){
			vprof_results_string(r, name_of(kind, i)), r->n_complete / 2, 1000, 100, 0.1, 0.4
		};
	/* Bounds that differ as they are read in the plain page only. */
	r->between_types = !strcmp(kind, "plain") ? 0.2 : 0.0002;
	r->between_low = r->between_types / 2;
	r->between_high = r->between_types * 1.5;
	r->histogram = calloc(200, sizeof *r->histogram);
	for (size_t i = 0; i < 200; i++)
		r->histogram[r->n_histogram++] = (struct vprof_bucket){ 1000 * pow(1.06, (double)i),
									1000 * pow(1.06, (double)i + 1),
									1 + r->n_complete / (1 + i * i), 0 };
	r->periods = calloc(200, sizeof *r->periods);
	for (size_t i = 0; i < 200; i++)
		r->periods[r->n_periods++] =
			(struct vprof_period){ 1e7 * (double)i, 1e7 * (double)(i + 1), 9, 1500, 1000, 5000, 9000 };
	r->threads = calloc(1, sizeof *r->threads);
	r->threads[r->n_threads++].name = vprof_results_string(r, name_of(kind, 0));
	r->examples = calloc(2, sizeof *r->examples);
	r->pieces = calloc(4, sizeof *r->pieces);
	for (uint32_t i = 0; i < 2; i++) {
		r->examples[r->n_examples++] = (struct vprof_example){
			i ? VPROF_EXAMPLE_MEDIAN : VPROF_EXAMPLE_SLOWEST, 1, 1000, 5, name_of(kind, i), 2 * i, 2, 0
		};
		r->pieces[r->n_pieces++] = (struct vprof_shown_piece){ 0, 1000, VPROF_SHOWN_WAIT,     0,
								       0, 0,	name_of(kind, i + 2), "0x1234" };
		r->pieces[r->n_pieces++] =
			(struct vprof_shown_piece){ 10, 900, VPROF_SHOWN_CALL, 0, 0, 0, name_of(kind, i + 5), "" };
	}
	r->warnings = calloc(1, sizeof *r->warnings);
	r->warnings[r->n_warnings++] = strdup(name_of(kind, 2));
}

/* Of "NAME=FILE" the data of the page in that file; "NAME=" is a view without data. */
static struct vprof_page_view take_view(char *text)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	char *file = strchr(text, '='), *data;
	struct vprof_text page = VPROF_TEXT_INIT;
	struct vprof_page_view view = { .name = text, .missing = "record it with: vprof record -- COMMAND" };

	*file++ = 0;
	if (*file && !vprof_file_read(file, &page, NULL)) {
		data = strstr(page.s, begin) + strlen(begin);
		*strstr(data, "</script>") = 0;
		view.data = cJSON_Parse(data);
	}
	vprof_text_release(&page);
	return view;
}

int main(int argc, char **argv)
{
	struct vprof_results *r = vprof_results_new();
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	struct vprof_page_round round = { .run = strdup("0001"), .state = strdup("decided") };
	struct vprof_page page = { .results = r,
				   .root = "/nonexistent",
				   .version = "0",
				   .run_date = "2026-01-02 03:04",
				   .rounds = &round,
				   .n_rounds = 1 };
	struct vprof_page_view views[4];
	const char *kind = argc >= 3 ? argv[1] : "";
	int is_large = !strcmp(kind, "large"), status = 1;

	if (!*kind || !r)
		return 2;
	r->interval = vprof_results_string(r, strcmp(kind, "hostile") ? "request" : hostile_name(0));
	r->run = "0001";
	r->mean_ns = 1000;
	r->sd_ns = 3000;
	r->var_ns2 = 9e6;
	r->min_ns = 10;
	r->p50_ns = 900;
	r->p90_ns = 2000;
	r->p99_ns = 9000;
	r->p999_ns = 20000;
	r->max_ns = 90000;
	r->baseline_mean_ns = r->outside_mean_ns = r->preempted_share = r->preempted_by_own = NAN;
	if (strcmp(kind, "empty")) {
		r->n_complete = is_large ? 1000000 : 1000;
		make_nodes(r, kind, is_large ? 20000 : 40, is_large ? 12 : 3);
		make_pairs(r, is_large ? 100000 : 100);
		make_factors(r, is_large ? 5000 : 20);
		make_causes(r, kind);
		make_closed(r, kind);
		make_rest(r, kind);
		make_crosstalk(r, kind);
		make_contexts(r, kind);
	}
	vprof_page_round_fill(&round, r);
	page.views = views;
	for (int i = 3; i < argc && i < 3 + 4; i++)
		views[page.n_views++] = take_view(argv[i]);
	page.views_only = !strcmp(kind, "views");
	if (!vprof_report_page(&page, &text, &err))
		status = vprof_file_write(argv[2], text.s, text.len, &err) != 0;
	if (status)
		fprintf(stderr, "%s\n", err.message);
	vprof_page_round_release(&round);
	vprof_text_release(&text);
	vprof_results_free(r);
	for (size_t i = 0; i < page.n_views; i++)
		cJSON_Delete((cJSON *)views[i].data);
	return status;
}
