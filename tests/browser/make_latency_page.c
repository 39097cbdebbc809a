/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_latency_page KIND FILE: a page as vprof report latency --html makes it, of results that are made up. KIND: plain
 * (a server that writes and computes), diff (two runs of it), hostile (names that would be markup, 10 kB long, no
 * UTF-8), large (20,000 contexts, 100 paths), empty. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "report/latency/latency_page.h"
#include "hostile_names.h"

#define SECOND 1e9
#define DEPTH_LARGE 60u

static const char *const names[] = { "main",	  "serve",	   "lookup",	     "journal_write",
				     "fdatasync", "sys_fdatasync", "ext4_sync_file", "parse" };

static struct vprof_latency_results *r;
static int is_hostile;

static const char *text(size_t i)
{
	return vprof_strings_keep(&r->strings, is_hostile ? hostile_name(i + 5) : names[i % 8]);
}

static struct vprof_latency_figures figures(double low, double own, double n)
{
	return (struct vprof_latency_figures){ 1,	 n,	    n * 1.1,	   n,		n > 9,	    n / 10,
					       low,	 low * 1.1, own,	   own * 0.9,	own * 1.2,  own / 2,
					       own / 10, low / n,   low * 1.1 / n, low / n * 3, low / n * 4 };
}

static void add_node(uint32_t parent, uint32_t function, double low, double own, double n)
{
	struct vprof_latency_node *to = &r->nodes[r->n_nodes++];

	*to = (struct vprof_latency_node){ .parent = parent, .function = function };
	to->side[1] = figures(low, own, n);
	if (r->is_comparison && r->n_nodes % 3)
		to->side[0] = figures(low / 2, own * 0.4, n);
}

static void add_path(uint32_t node, double cost)
{
	struct vprof_latency_path_result *p = &r->paths[r->n_paths++];
	uint32_t steps[DEPTH_LARGE + 8], n = 0;

	for (uint32_t i = node; i != VPROF_LATENCY_NONE; i = r->nodes[i].parent)
		steps[n++] = i;
	*p = (struct vprof_latency_path_result){ .cost_ns = cost,
						 .low_ns = cost * 0.8,
						 .high_ns = cost * 1.3,
						 .share = cost / SECOND,
						 .error_ns = r->is_comparison ? 1 : NAN,
						 .verdict = r->n_paths % 3,
						 .steps = calloc(n, sizeof *p->steps),
						 .n_own = n,
						 .n_steps = n };
	for (uint32_t i = 0; i < n; i++)
		p->steps[i] = (struct vprof_latency_step){ steps[n - 1 - i], n - i, i + 1 == n ? cost : cost / 100 };
}

static void fill_side(struct vprof_latency_side *s, const char *run)
{
	*s = (struct vprof_latency_side){ run,
					  10 * SECOND,
					  10 * SECOND,
					  0,
					  12345,
					  3,
					  7,
					  2,
					  1,
					  2,
					  999,
					  8,
					  1000,
					  300,
					  20 * SECOND,
					  10 * SECOND,
					  SECOND,
					  10,
					  .missing = is_hostile ? hostile_name(0) : "" };
}

static void make(const char *kind)
{
	int is_large = !strcmp(kind, "large");
	size_t n = is_large ? 20000 : 8;

	r->is_comparison = !strcmp(kind, "diff");
	is_hostile = !strcmp(kind, "hostile");
	fill_side(&r->sides[0], "good");
	fill_side(&r->sides[1], is_hostile ? hostile_name(1) : "bad");
	r->names = calloc(8, sizeof *r->names);
	r->nodes = calloc(n, sizeof *r->nodes);
	r->paths = calloc(100, sizeof *r->paths);
	r->calls = calloc(64, sizeof *r->calls);
	r->threads = calloc(2, sizeof *r->threads);
	for (; r->n_threads < 2; r->n_threads++)
		r->threads[r->n_threads] = text(r->n_threads);
	if (!strcmp(kind, "empty"))
		return;
	for (; r->n_names < 8; r->n_names++)
		r->names[r->n_names] =
			(struct vprof_latency_name){ text(r->n_names), is_hostile ? hostile_name(r->n_names) : "server",
						     r->n_names == 5 || r->n_names == 6 ? VPROF_LATENCY_RESULTS_KERNEL :
						     r->n_names == 4 ? VPROF_LATENCY_RESULTS_LIBRARY :
								       VPROF_LATENCY_RESULTS_PROGRAM };
	add_node(VPROF_LATENCY_NONE, 0, 10 * SECOND, SECOND, 1);
	add_node(0, 1, 9 * SECOND, SECOND, 100);
	add_node(1, 2, 3 * SECOND, 3 * SECOND, 100);
	add_node(1, 3, 5 * SECOND, SECOND, 90);
	add_node(3, 4, 4 * SECOND, 0, 90);
	add_node(4, 5, 4 * SECOND, 0, 90);
	add_node(5, 6, 4 * SECOND, 4 * SECOND, 90);
	add_node(0, 7, SECOND, SECOND, 5);
	while (r->n_nodes < n)
		add_node((uint32_t)(r->n_nodes % DEPTH_LARGE ? r->n_nodes - 1 : 1), (uint32_t)(r->n_nodes % 8),
			 SECOND / 1e3, SECOND / 1e4, 10);
	add_path(6, 0.4 * SECOND);
	add_path(2, 0.3 * SECOND);
	for (uint32_t i = 59; is_large && r->n_paths < 100 && i < n; i += DEPTH_LARGE)
		add_path(i, 0.1 * SECOND / i);
	for (; r->n_calls < 20; r->n_calls++)
		r->calls[r->n_calls] = (struct vprof_latency_call){ r->n_calls % 2 ? 6 : 2,
								    (uint32_t)(r->n_calls % 2),
								    (double)r->n_calls * 0.4 * SECOND,
								    (double)r->n_calls * 0.4 * SECOND + 1e7,
								    (double)r->n_calls * 0.4 * SECOND + 9e7,
								    (double)r->n_calls * 0.4 * SECOND + 1e8,
								    !r->n_calls,
								    r->n_calls };
}

int main(int argc, char **argv)
{
	struct vprof_text page = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };

	if (argc != 3)
		return 2;
	r = vprof_latency_results_new();
	make(argv[1]);
	if (vprof_report_latency_page(
		    r,
		    &(struct vprof_page_origin){ is_hostile ? hostile_name(2) : "/srv/run", "0.1", "2026-11-21 08:30" },
		    &page, &err) ||
	    vprof_file_write(argv[2], page.s, page.len, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	vprof_text_release(&page);
	vprof_latency_results_free(r);
	return 0;
}
