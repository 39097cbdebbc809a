/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_interval_page KIND FILE: a page as vprof report latency --interval FUNCTION --html makes it, of results that are
 * made up. KIND: plain, hostile (names that would be markup, 10 kB long, no UTF-8), large (20,000 contexts), empty (no
 * call was seen from begin to end). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "hostile_names.h"
#include "report/latency/interval_page.h"

#define MS 1e6
#define N_LARGE 20000u

static struct vprof_results *r;
static int is_hostile;

static void add(uint32_t parent, enum vprof_layer_kind kind, const char *name, double ms, double share)
{
	size_t i = r->n_layers++;

	r->layers[i] = (struct vprof_layer){ .kind = kind,
					     .parent = parent,
					     .key = "",
					     .name = is_hostile ? hostile_name(i) : name,
					     .file = kind == VPROF_LAYER_KERNEL ? "" :
						     is_hostile			? hostile_name(i + 3) :
										  "server",
					     .n_calls = 300 - i % 7,
					     .n_whole = 300,
					     .low_ns = ms * 0.9 * MS,
					     .high_ns = ms * 1.1 * MS,
					     .own_low_ns = 0,
					     .own_high_ns = ms * 0.3 * MS,
					     .share_low = share * 0.8,
					     .share_high = share * 1.2 };
}

static void make(struct vprof_latency_interval *i, const char *kind)
{
	size_t n = !strcmp(kind, "large") ? N_LARGE : 8;

	is_hostile = !strcmp(kind, "hostile");
	r->layers = calloc(n, sizeof *r->layers);
	r->interval = is_hostile ? hostile_name(1) : "handle_request";
	r->run = "0001";
	i->mean_low_ns = i->mean_high_ns = i->sd_low_ns = i->sd_high_ns = NAN;
	i->n_calls = 40;
	i->n_cut = 40;
	if (!strcmp(kind, "empty"))
		return;
	*i = (struct vprof_latency_interval){ r,	310, 300,      7,	 3,	   0,	    0,
					      "server", "",  2.8 * MS, 3.2 * MS, 1.9 * MS, 2.4 * MS };
	add(0, VPROF_LAYER_MEASURED, "handle_request", 3, 1);
	add(0, VPROF_LAYER_PROGRAM, "parse", 0.5, 0.02);
	add(0, VPROF_LAYER_PROGRAM, "store_record", 2.2, 0.7);
	add(2, VPROF_LAYER_LIBRARY, "fdatasync", 2, 0.68);
	add(3, VPROF_LAYER_KERNEL, "sys_fdatasync", 2, 0.68);
	add(4, VPROF_LAYER_KERNEL, "ext4_sync_file", 1.9, 0.66);
	add(1, VPROF_LAYER_PROGRAM, "tokenize", 0.01, 0.0005);
	add(0, VPROF_LAYER_PROGRAM, "reply", 0.2, NAN);
	while (r->n_layers < n)
		add((uint32_t)(r->n_layers % 50 ? r->n_layers - 1 : 2), VPROF_LAYER_PROGRAM, "step",
		    3.0 / (double)(r->n_layers % 50 + 2), 0.5 / (double)(r->n_layers % 50 + 2));
}

int main(int argc, char **argv)
{
	struct vprof_latency_interval i = { .results = vprof_results_new() };
	struct vprof_text page = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };

	if (argc != 3 || !i.results)
		return 2;
	r = i.results;
	make(&i, argv[1]);
	if (vprof_report_interval_page(
		    &i,
		    &(struct vprof_page_origin){ is_hostile ? hostile_name(2) : "/srv/run", "0.1", "2026-11-21 08:30" },
		    &page, &err) ||
	    vprof_file_write(argv[2], page.s, page.len, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	vprof_text_release(&page);
	vprof_results_free(r);
	return 0;
}
