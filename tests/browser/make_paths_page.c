/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_paths_page KIND FILE: a page as vprof report paths --html makes it, of results that are made up. KIND: plain (a
 * proxy, an application and a database that is called 1 to 4 times, and a server that was not recorded), hostile (names
 * that would be markup, 10 kB long, no UTF-8), large (2,000 requests of up to 60 visits, 30 tiers), empty. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "report/paths/paths_page.h"
#include "hostile_names.h"

#define N_CALLS 30

static struct vprof_requests_results *r;
static int is_hostile;

static const char *text(const char *plain)
{
	static size_t next;

	return vprof_strings_keep(&r->strings, is_hostile ? hostile_name(next++) : plain);
}

static struct vprof_requests_latency latency(uint64_t n, double p50_ns)
{
	struct vprof_requests_latency l = {
		n, p50_ns * 1.2, p50_ns, p50_ns, 2 * p50_ns, 4 * p50_ns, 6 * p50_ns, { 0 }
	};

	for (int i = 0; i < VPROF_REQUESTS_CDF_POINTS; i++)
		l.cdf_ns[i] = p50_ns * (0.5 + i * i * 0.01);
	return l;
}

static void add_tier(const char *name, int is_recorded, double share)
{
	r->tiers[r->n_tiers++] = (struct vprof_requests_tier){ .name = text(name),
							       .is_recorded = is_recorded,
							       .response = latency(400, 1e6 / (double)(r->n_tiers + 1)),
							       .n_requests = 100,
							       .visits_per_request = 1.5,
							       .most_visits = 4,
							       .own_ns = 1e5,
							       .share = share,
							       .tail_share = NAN };
}

static void add_visit(struct vprof_requests_one *q, uint32_t parent, size_t tier, double from_ns, double length_ns)
{
	struct vprof_requests_visit *v = VPROF_PUSH(&r->visits);

	if (!v)
		abort();
	*v = (struct vprof_requests_visit){ .parent = parent,
					    .tier = r->tiers[tier].name,
					    .client = "127.0.0.1:80",
					    .how = parent == VPROF_NONE ? "" : "its thread's next reply",
					    .process = is_hostile ? r->tiers[tier].name : "server",
					    .pid = 7,
					    .tid = 8,
					    .confidence = 0.9,
					    .from_ns = from_ns,
					    .latency_ns = length_ns,
					    .served_from_ns = r->tiers[tier].is_recorded ? from_ns + 0.1 * length_ns :
											   NAN,
					    .served_ns = r->tiers[tier].is_recorded ? 0.8 * length_ns : NAN,
					    .request_queued_ns = r->tiers[tier].is_recorded ? 0.06 * length_ns : 0,
					    .reply_queued_ns = 0.03 * length_ns };
	q->n_visits++;
}

/* In a visit to the database: around it `serve`, in that `query`, which reads. */
static void open_visit(double length_ns)
{
	struct vprof_requests_visit *v = &r->visits.v[r->visits.n - 1];
	const char *names[] = { "serve", "query", "pread64" };

	v->first_function = r->visit_functions.n;
	for (uint32_t i = 0; i < 3; i++) {
		struct vprof_requests_function *f = VPROF_PUSH(&r->visit_functions);

		if (!f)
			abort();
		*f = (struct vprof_requests_function){ i ? i - 1 : VPROF_NONE, text(names[i]), text("postgres"),
						       length_ns * (i == 2 ? 0.5 :
								    i	   ? 0.8 :
									     1),
						       length_ns * (i == 2 ? 0.6 :
								    i	   ? 0.9 :
									     1) };
		v->n_functions++;
	}
}

static void open_tier(void)
{
	const struct vprof_layer layers[] = {
		{ .kind = VPROF_LAYER_MEASURED,
		  .name = "a visit",
		  .low_ns = 1e6,
		  .high_ns = 1e6,
		  .share_low = 1,
		  .share_high = 1 },
		{ .kind = VPROF_LAYER_PROGRAM,
		  .name = "serve",
		  .low_ns = 1e6,
		  .high_ns = 1e6,
		  .share_low = 1,
		  .share_high = 1 },
		{ .kind = VPROF_LAYER_PROGRAM,
		  .parent = 1,
		  .name = "query",
		  .low_ns = 8e5,
		  .high_ns = 9e5,
		  .share_low = 0.7,
		  .share_high = 0.8 },
	};

	r->functions = vprof_results_new();
	r->opened = calloc(4, sizeof *r->opened);
	if (!r->functions || !r->opened || !(r->functions->layers = calloc(4, sizeof *layers)))
		abort();
	r->functions->n_layers = 3;
	for (size_t i = 0; i < 3; i++) {
		r->functions->layers[i] = layers[i];
		r->functions->layers[i].key = i ? "" : r->tiers[2].name;
		r->functions->layers[i].name = text(layers[i].name);
		r->functions->layers[i].file = i ? text("postgres") : "";
	}
	r->opened[r->n_opened++] = (struct vprof_requests_opened){ .tier = r->tiers[2].name,
								   .host = text("db"),
								   .how = VPROF_OPENED_INFERRED,
								   .n_visits = 400,
								   .n_opened = 390,
								   .n_shared = 10 };
}

/* Of pattern p: the first tier, which calls the second, which calls the third p + 1 times and then the fourth. */
static void add_request(size_t number, size_t p, size_t n_calls)
{
	struct vprof_requests_one *q = &r->requests[r->n_listed++];
	double from_ns = 1e6 * (double)number, length_ns = 1e6 + 1e3 * (double)number;

	*q = (struct vprof_requests_one){ .client = "127.0.0.1:80",
					  .nth = number,
					  .state = number % 9 == 8 ? VPROF_REQUEST_AMBIGUOUS : VPROF_REQUEST_CERTAIN,
					  .is_whole = number % 11 != 10,
					  .from_ns = from_ns,
					  .latency_ns = length_ns,
					  .confidence = 0.9,
					  .path = r->patterns[p].path,
					  .first_visit = r->visits.n };
	add_visit(q, VPROF_NONE, 0, from_ns, length_ns);
	add_visit(q, 0, 1, from_ns + 0.1 * length_ns, 0.8 * length_ns);
	for (size_t i = 0; i < n_calls; i++) {
		add_visit(q, 1, 2 + (r->n_tiers > 10 ? i % (r->n_tiers - 4) : 0),
			  from_ns + length_ns * (0.2 + 0.5 * (double)i / (double)n_calls),
			  0.4 * length_ns / (double)n_calls);
		open_visit(0.8 * 0.4 * length_ns / (double)n_calls);
	}
	add_visit(q, 1, 3, from_ns + 0.75 * length_ns, 0.1 * length_ns);
}

static void add_transit(void)
{
	add_tier("in transit", 0, 0.1);
	r->tiers[r->n_tiers - 1].is_transit = 1;
	add_tier("in receive queues", 0, 0.05);
	r->tiers[r->n_tiers - 1].is_transit = r->tiers[r->n_tiers - 1].is_queue = 1;
}

/* 30 kinds, of which the page shows 20: the first tier's of the second, which of the others. */
static void add_calls(void)
{
	r->calls = calloc(N_CALLS, sizeof *r->calls);
	if (!r->calls)
		abort();
	for (uint32_t i = 0; i < N_CALLS; i++)
		r->calls[r->n_calls++] = (struct vprof_requests_call){ .from = i ? i > 1 : VPROF_NONE,
								       .to = i > 1 ? 2 + i % 2 : i,
								       .n = 400,
								       .mean_ns = 1e6,
								       .transit_ns = i % 2 ? 1e5 : NAN,
								       .there_ns = NAN,
								       .queued_ns = i % 2 ? 4e4 : NAN,
								       .share = i == 7 ? NAN : (double)i / N_CALLS,
								       .tail_share = NAN };
}

static void fill(size_t n_requests, size_t n_patterns, size_t n_more_tiers, size_t n_calls)
{
	add_tier("proxy:80", 1, 0.05);
	add_tier("application:9000", 1, 0.15);
	add_tier("database:5432", 1, 0.7);
	add_tier("10.0.0.7:53", 0, NAN);
	for (size_t i = 0; i < n_more_tiers; i++)
		add_tier(vprof_strings_keep(&r->strings, (char[]){ 't', (char)('a' + i % 26), 0 }), 1, 0.01);
	add_transit();
	add_calls();
	open_tier();
	for (size_t p = 0; p < n_patterns; p++) {
		char path[80];

		snprintf(path, sizeof path, "proxy:80 > application:9000 > (database:5432 x %zu, 10.0.0.7:53)", p + 1);
		r->patterns[r->n_patterns++] = (struct vprof_requests_pattern){
			.path = text(path), .n_visits = p + 4, .latency = latency(100, 1e6 * (double)(p + 1))
		};
	}
	r->n_patterns_all = n_patterns + 3;
	for (size_t i = 0; i < n_requests; i++)
		add_request(i, i % n_patterns, n_calls ? n_calls : i % n_patterns + 1);
	r->n_requests = n_requests;
	r->n_certain = n_requests;
	r->latency = latency(n_patterns * 100, 1e6);
	r->n_lost = 5;
	r->links[r->n_links++] = (struct vprof_requests_link){ "its thread's next reply", 100 };
	r->clocks[r->n_clocks++] = (struct vprof_requests_clock){ .host = text("web"), .is_known = 1 };
	r->clocks[r->n_clocks++] = (struct vprof_requests_clock){
		.host = text("db"), .is_known = 1, .n_messages = 7, .ahead_ns = -3e9, .drift = 1e-5, .error_ns = 2e4
	};
}

int main(int argc, char **argv)
{
	const struct vprof_page_origin origin = { "/srv/shop", "1", "2026-11-23 08:00" };
	struct vprof_text page = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	int status = 1;

	r = vprof_requests_results_new();
	if (argc != 3 || !r)
		return 2;
	is_hostile = !strcmp(argv[1], "hostile");
	r->tiers = calloc(64, sizeof *r->tiers);
	r->patterns = calloc(64, sizeof *r->patterns);
	r->requests = calloc(2048, sizeof *r->requests);
	r->links = calloc(4, sizeof *r->links);
	r->clocks = calloc(4, sizeof *r->clocks);
	r->duration_ns = 3e9;
	if (!strcmp(argv[1], "large"))
		fill(2000, 20, 26, 57);
	else if (strcmp(argv[1], "empty") != 0)
		fill(150, 4, 0, 0);
	if (!vprof_report_paths_page(r, &origin, &page, &err) && !vprof_file_write(argv[2], page.s, page.len, &err))
		status = 0;
	else
		fprintf(stderr, "%s\n", err.message);
	vprof_text_release(&page);
	vprof_requests_results_free(r);
	return status;
}
