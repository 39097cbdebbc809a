/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.json: what is written is what is read; damage is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/plan.h"

static char path[] = "/tmp/vprof-plan-XXXXXX";

static struct vprof_probe probe(uint32_t code, uint64_t mask)
{
	return (struct vprof_probe){ .code = code,
				     .kind = VPROF_PROBE_POINTER,
				     .fact_id = 7,
				     .mask = mask,
				     .context = 1,
				     .height = 3,
				     .n_children = 2,
				     .name = "c->proc",
				     .display = "(*c->proc) \"q\" \\",
				     .file = "src/a.c",
				     .line = 12,
				     .caller = "call",
				     .caller_line = 10 };
}

static void written_plan_reads_back(void **state)
{
	struct vprof_plan *plan = vprof_plan_new("/home/x"), *back;
	struct vprof_probe big = probe(0x800001, VPROF_MASK_ANY), small = probe(0x101, 4);
	const struct vprof_closed closed = { .name = "mix",
					     .file = "src/table.c",
					     .caller = "",
					     .display = "table::mix",
					     .line = 12,
					     .bound = 0.004,
					     .saved_ns = 1200.5,
					     .saved = 0.06,
					     .run = "0002" };
	struct vprof_error err;

	(void)state;
	small.kind = VPROF_PROBE_FUNCTION;
	small.is_root = small.broken_down = 1;
	small.context = 63;
	plan->graph_height = 9;
	plan->all = 1;
	assert_int_equal(vprof_plan_add(plan, &big), 0);
	assert_int_equal(vprof_plan_add(plan, &small), 0);
	for (uint32_t call = 9; call > 6; call--)
		assert_int_equal(vprof_plan_add_call(plan, &(struct vprof_plan_call){ call, 0x101, 4 }), 0);
	assert_int_equal(vprof_plan_add_call(plan, &(struct vprof_plan_call){ 8, 0x101, UINT64_C(1) << 63 }), 0);
	assert_int_equal(vprof_plan_add_closed(plan, &closed), 0);
	assert_int_equal(vprof_plan_write(plan, path, &err), 0);
	assert_int_equal(vprof_plan_read(&back, path, &err), 0);
	assert_int_equal(back->n_closed, 1);
	assert_string_equal(back->closed[0].name, "mix");
	assert_string_equal(back->closed[0].display, "table::mix");
	assert_string_equal(back->closed[0].run, "0002");
	assert_true(back->closed[0].bound == 0.004 && back->closed[0].saved_ns == 1200.5);
	assert_true(back->closed[0].saved == 0.06 && back->closed[0].line == 12);
	assert_int_equal(back->n_at_calls, 3);
	assert_int_equal(back->at_calls[0].call, 7);
	assert_int_equal(back->at_calls[1].code, 0x101);
	assert_true(back->at_calls[1].mask == (UINT64_C(1) << 63 | 4));
	assert_string_equal(back->root, "/home/x");
	assert_int_equal(back->n_probes, 2);
	assert_int_equal(back->graph_height, 9);
	assert_true(back->all);
	assert_int_equal(back->probes[0].code, 0x101);
	assert_int_equal(back->probes[0].kind, VPROF_PROBE_FUNCTION);
	assert_int_equal(back->probes[0].context, 63);
	assert_true(back->probes[0].is_root && back->probes[0].broken_down);
	assert_true(back->probes[1].mask == VPROF_MASK_ANY);
	assert_string_equal(back->probes[1].display, "(*c->proc) \"q\" \\");
	assert_string_equal(back->probes[1].caller, "call");
	assert_int_equal(back->probes[1].caller_line, 10);
	assert_ptr_equal(vprof_plan_probe(back, 0x800001), &back->probes[1]);
	assert_null(vprof_plan_probe(back, 5));
	vprof_plan_free(back);
	vprof_plan_free(plan);
}

static void doubles_merge(void **state)
{
	struct vprof_plan *plan = vprof_plan_new("/");
	struct vprof_probe a = probe(0x200, 4), b = probe(0x200, 8);

	(void)state;
	b.broken_down = 1;
	b.context = 5;
	vprof_plan_add(plan, &a);
	vprof_plan_add(plan, &b);
	vprof_plan_add(plan, &a);
	assert_int_equal(plan->n_probes, 1);
	assert_int_equal(plan->probes[0].mask, 12);
	assert_int_equal(plan->probes[0].context, 5);
	vprof_plan_free(plan);
}

static void damage_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"version\":2,\"root\":\"/\",\"graph_height\":1,\"probes\":[]}",
		"{\"version\":1,\"root\":\"/\",\"graph_height\":1,\"probes\":[7]}",
		"{\"version\":1,\"root\":\"/\",\"graph_height\":1,\"probes\":{}}",
		"{\"version\":1,\"root\":\"/\",\"graph_height\":-1,\"probes\":[]}",
		"{\"version\":1,\"root\":\"/\",\"graph_height\":1,\"probes\":[],\"at_calls\":7}",
		"{\"version\":1,\"root\":\"/\",\"graph_height\":1,\"probes\":[],\"at_calls\":[{\"call\":1,\"code\":-1}]}",
		"{\"version\":1,\"root\":\"/\",\"graph_height\":1,\"probes\":[],\"closed\":{}}",
		"{\"version\":1,\"root\":\"/\",\"graph_height\":1,\"probes\":[],\"closed\":[{\"name\":\"mix\"}]}",
		"{\"version\":1,\"root\":\"/\",\"graph_height\":1,\"probes\":[{\"code\":99999999,\"kind\":\"site\"}]}",
	};
	static const char *const wrong[] = { "\"context\":\t1",	    "\"context\":\t64",	      "\"mask\":\t\"0x4\"",
					     "\"mask\":\t\"four\"", "\"kind\":\t\"pointer\"", "\"kind\":\t\"other\"",
					     "\"line\":\t12",	    "\"line\":\t1.5",	      "\"code\":\t512",
					     "\"code\":\t-1" };
	struct vprof_plan *plan;
	struct vprof_probe a = probe(0x200, 4);
	struct vprof_text text = VPROF_TEXT_INIT, changed = VPROF_TEXT_INIT;
	struct vprof_error err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		vprof_file_write(path, bad[i], strlen(bad[i]), NULL);
		assert_int_equal(vprof_plan_read(&plan, path, &err), VPROF_ERR_CORRUPT);
		assert_null(plan);
	}
	plan = vprof_plan_new("/");
	vprof_plan_add(plan, &a);
	assert_int_equal(vprof_plan_write(plan, path, &err), 0);
	vprof_plan_free(plan);
	vprof_file_read(path, &text, NULL);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i += 2) {
		char *at = strstr(text.s, wrong[i]);

		assert_non_null(at);
		vprof_text_clear(&changed);
		vprof_text_append(&changed, text.s, (size_t)(at - text.s));
		vprof_text_add(&changed, wrong[i + 1]);
		vprof_text_add(&changed, at + strlen(wrong[i]));
		vprof_file_write(path, changed.s, changed.len, NULL);
		assert_int_equal(vprof_plan_read(&plan, path, &err), VPROF_ERR_CORRUPT);
	}
	assert_int_equal(vprof_plan_read(&plan, "/nowhere/plan.json", &err), VPROF_ERR_MISSING);
	vprof_text_release(&text);
	vprof_text_release(&changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_plan_reads_back),
		cmocka_unit_test(doubles_merge),
		cmocka_unit_test(damage_is_refused),
	};
	int rc;

	close(mkstemp(path));
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}
