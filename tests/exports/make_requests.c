/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_requests FOLDER: paths of requests through tiers with hostile names, exported in all formats that have them, to
 * FOLDER/hostile.FORMAT. Request i is one of front, which calls middle i % 3 times; middle calls back, which was not
 * recorded. Every fifth is ambiguous, every seventh has parts missing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"

#define N_REQUESTS 200

static const char *const tiers[] = { "\"quoted\", with, commas\\", "two\nlines\r\n\xff\xfe not UTF-8 \xc3",
				     "</script>%s%n" };

static void add_visit(struct vprof_requests_results *r, struct vprof_requests_one *q, uint32_t parent, int tier,
		      double from_ns, double length_ns)
{
	struct vprof_requests_visit *v = VPROF_PUSH(&r->visits);

	if (!v)
		abort();
	*v = (struct vprof_requests_visit){ .parent = parent,
					    .tier = tiers[tier],
					    .client = "127.0.0.1:80",
					    .how = parent == VPROF_NONE ? "" : "its thread's next reply",
					    .process = tier == 2 ? "" : "server",
					    .pid = 7,
					    .tid = 8,
					    .confidence = 0.9,
					    .from_ns = from_ns,
					    .latency_ns = length_ns,
					    .served_from_ns = tier == 2 ? NAN : from_ns + 10,
					    .served_ns = tier == 2 ? NAN : length_ns - 20 };
	q->n_visits++;
}

static void add_request(struct vprof_requests_results *r, int i)
{
	struct vprof_requests_one *q = &r->requests[r->n_listed++];
	double from_ns = 700.0 * i;

	*q = (struct vprof_requests_one){ .client = "127.0.0.1:80",
					  .nth = (uint64_t)i,
					  .state = i % 5 == 0 ? VPROF_REQUEST_AMBIGUOUS : VPROF_REQUEST_CERTAIN,
					  .is_whole = i % 7 != 0,
					  .from_ns = from_ns,
					  .latency_ns = 1000 + i,
					  .confidence = 0.9,
					  .path = tiers[1],
					  .first_visit = r->visits.n };
	add_visit(r, q, VPROF_NONE, 0, from_ns, 1000 + i);
	for (int k = 0; k < i % 3; k++)
		add_visit(r, q, 0, 1, from_ns + 100 + 300 * k, 250);
	for (int k = 0; k < i % 3; k++)
		add_visit(r, q, 1 + (uint32_t)k, 2, from_ns + 150 + 300 * k, 50);
}

int main(int argc, char **argv)
{
	struct vprof_requests_results *r = vprof_requests_results_new();
	struct vprof_error err = { "" };

	if (argc != 2 || !r)
		return 2;
	r->requests = calloc(N_REQUESTS, sizeof *r->requests);
	r->tiers = calloc(4, sizeof *r->tiers);
	if (!r->requests || !r->tiers)
		return 1;
	r->begin_unix_ns = UINT64_C(1700000000000000000);
	for (int i = 0; i < 3; i++)
		r->tiers[r->n_tiers++] = (struct vprof_requests_tier){ .name = tiers[i], .is_recorded = i < 2 };
	r->tiers[r->n_tiers++] = (struct vprof_requests_tier){ .name = "in transit", .is_transit = 1 };
	for (int i = 0; i < N_REQUESTS; i++)
		add_request(r, i);
	for (size_t i = 0; i < vprof_n_export_formats; i++) {
		const struct vprof_export_format *f = &vprof_export_formats[i];
		struct vprof_export e = { .requests = r, .version = "1", .limit = 100 };
		char path[4096];

		if (!f->write_requests)
			continue;
		snprintf(path, sizeof path, "%s/hostile.%s", argv[1], f->name);
		e.to = fopen(path, "w");
		if (!e.to || f->write_requests(&e, &err) || fclose(e.to) || e.n_left_out != N_REQUESTS - 100) {
			fprintf(stderr, "%s: %s\n", path, err.message);
			return 1;
		}
	}
	vprof_requests_results_free(r);
	return 0;
}
