/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_hostile FOLDER: a run whose names would break every format that took them as they are, exported in all formats
 * to FOLDER/hostile.FORMAT. The trace is written, analysed and read again as any other. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"
#include "report/export/export.h"

static char long_name[10241];
static const char *const names[] = {
	"\"quoted\", with, commas",
	"back\\slash\\",
	"two\nlines\r\nof it",
	"semi;colon;s",
	"\xff\xfe not UTF-8 \xc3",
	"\xed\xa0\x80 surrogate",
	"a\001b\033[31mc\177d",
	"{0} {lambda()#1}",
	"= 1 + 1",
	" blanks ",
	"</script><script>",
	"\xe2\x80\xa8 separator",
	"\xf0\x9f\x90\x8c 7",
	"%s%n%d",
	"..\\..//etc/%00passwd?a#b",
	long_name,
};

#define N_NAMES (sizeof names / sizeof *names)
#define N_INTERVALS 200

/* Interval i calls F(1) > F(2) > ... and waits for another thread in every fifth; its last part is another process'. */
static void make_trace(struct hand_trace *h)
{
	struct hand_thread *a = hand_thread(h, 1), *b = hand_thread(h, 1), *c = hand_thread(h, 2);

	for (uint64_t i = 0; i < N_INTERVALS; i++) {
		uint64_t t = 100000 * (i + 1), d = i % 5 ? 1000 : 30000 + i * 10;

		hand_mark_of(a, VP_KIND_BEGIN, names[i % 7], i ^ UINT64_MAX, t);
		hand_type(a, names[(i + 3) % N_NAMES == N_NAMES - 1 ? 0 : (i + 3) % N_NAMES], t + 1);
		if (i % 5 == 0) {
			hand_wake(b, VP_WAIT_MUTEX, 0, 77, 1, 1, t + d - 100);
			hand_call(b, F(3), t + 100, t + d);
			hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 77, 0, t + 60, t + d - 50);
		}
		for (uint32_t k = N_NAMES; k > 0; k--)
			hand_call(a, F(k), t + k, t + d + 100 - k);
		hand_call(a, F(2), t + d + 50, t + d + 200);	  /* overlaps what cannot overlap */
		hand_call(a, F(90000), t + d + 200, t + d + 200); /* in no plan, of no length */
		hand_mark_of(c, VP_KIND_RESUME, names[i % 7], i ^ UINT64_MAX, t + d + 300);
		hand_mark_of(a, VP_KIND_END, names[i % 7], i ^ UINT64_MAX, t + d + 400);
	}
	hand_mark_of(a, VP_KIND_BEGIN, names[0], 5, 100000 * (N_INTERVALS + 2)); /* cut */
	h->end = 100000 * (N_INTERVALS + 3);
	hand_write(h);
}

static struct vprof_plan *make_plan(void)
{
	struct vprof_plan *plan = vprof_plan_new("/pro\"ject\n\xff");

	assert_non_null(plan);
	plan->graph_height = N_NAMES;
	for (uint32_t i = 1; i <= N_NAMES; i++)
		assert_int_equal(vprof_plan_add(plan, &(struct vprof_probe){ .code = F(i),
									     .kind = VPROF_PROBE_FUNCTION,
									     .fact_id = i,
									     .mask = VPROF_MASK_ANY,
									     .context = VPROF_CONTEXT_FIRST,
									     .broken_down = 1,
									     .height = (uint32_t)N_NAMES - i,
									     .n_children = 1,
									     .name = names[i - 1],
									     .display = names[i - 1],
									     .file = names[(i + 5) % N_NAMES],
									     .line = (int)i,
									     .caller = "" }),
				 0);
	return plan;
}

static int export(const struct vprof_export_format *format, const struct vprof_results *r, const char *trace,
		  const char *plan, const char *folder)
{
	struct vprof_part_options o = {
		.trace_dir = trace, .plan_path = plan, .name = r->interval, .limit = format->limit
	};
	struct vprof_export e = { .results = r, .root = "/pro\"ject\n\xff", .version = "0.0.0" };
	struct vprof_trace_part *part = NULL;
	struct vprof_error err = { "" };
	char path[4096];
	int rc = format->part == VPROF_PART_NONE ? vprof_export_check(r, &err) :
						   vprof_part_open(&part, format->part, &o, &err);

	snprintf(path, sizeof path, "%s/hostile.%s", folder, format->name);
	e.part = part;
	e.to = rc ? NULL : fopen(path, "we");
	if (e.to)
		rc = format->write(&e, &err);
	if (rc || !e.to || ferror(e.to) || fclose(e.to)) {
		fprintf(stderr, "%s: %s\n", format->name, err.message);
		rc = -1;
	}
	vprof_part_free(part);
	return rc;
}

int main(int argc, char **argv)
{
	struct hand_trace h;
	struct vprof_plan *plan;
	struct vprof_results *r;
	struct vprof_error err = { "" };
	char plan_path[80], results_path[4096];
	int status = 0;

	if (argc != 2)
		return 2;
	memset(long_name, 'n', sizeof long_name - 1);
	hand_init(&h);
	make_trace(&h);
	plan = make_plan();
	r = hand_analyze(&h, plan);
	for (size_t i = 0; i < r->n_factors; i++) {
		r->factors[i].verdict = i % 2 ? VPROF_VERDICT_INHERENT : VPROF_VERDICT_NONE;
		r->factors[i].note = vprof_results_string(r, names[i % N_NAMES]);
		assert_non_null(r->factors[i].note);
	}
	snprintf(plan_path, sizeof plan_path, "%s/plan.json", h.dir);
	snprintf(results_path, sizeof results_path, "%s/results.json", argv[1]);
	if (vprof_plan_write(plan, plan_path, &err) || vprof_results_write(r, results_path, &err)) {
		fprintf(stderr, "%s\n", err.message);
		status = 1;
	}
	for (size_t i = 0; i < vprof_n_export_formats; i++)
		status |= export(&vprof_export_formats[i], r, h.dir, plan_path, argv[1]) != 0;
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
	return status;
}
