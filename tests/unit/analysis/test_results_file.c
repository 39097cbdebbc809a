/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results.json: what is written can be read back; damaged files are refused, never believed. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "analysis/results/results_json.h"
#include "analysis/warnings.h"
#include "common/files.h"
#include "tests/unit/analysis/hand_trace.h"

static struct vprof_results *example(struct hand_trace *h, struct vprof_plan *plan)
{
	struct hand_thread *th;

	hand_init(h);
	th = hand_thread(h, 1);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t t = 100000 * (i + 1), d = 10 * i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_type(th, i % 2 ? "GET \"x\"" : "SET", t + 1);
		hand_call(th, F(2), t + 40, t + 50 + d);
		hand_call(th, F(1), t + 10, t + 80 + 2 * d);
		hand_mark(th, VP_KIND_END, i, t + 90 + 2 * d);
	}
	hand_write(h);
	return hand_analyze(h, plan);
}

/* The file, written item by item, has what `--json` and pages are made of, in the same order. */
static void is_what_is_shown(const struct vprof_results *r, const char *file)
{
	cJSON *shown = vprof_results_json(r), *written = cJSON_Parse(file);
	char *a = cJSON_Print(shown), *b = cJSON_Print(written);

	assert_non_null(a);
	assert_non_null(b);
	assert_string_equal(a, b);
	cJSON_free(a);
	cJSON_free(b);
	cJSON_Delete(shown);
	cJSON_Delete(written);
}

static void test_round_trip(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct vprof_text first = VPROF_TEXT_INIT, second = VPROF_TEXT_INIT;
	struct vprof_results *r, *back;
	struct vprof_error err = { "" };
	struct hand_trace h;
	char *path, *path2;

	(void)state;
	r = example(&h, plan);
	path = vprof_path_join(h.dir, "results.json");
	path2 = vprof_path_join(h.dir, "again.json");
	assert_int_equal(r->n_types, 2);
	assert_int_equal(vprof_results_write(r, path, &err), 0);
	if (vprof_results_read(&back, path, &err))
		fail_msg("%s", err.message);
	assert_int_equal(back->n_nodes, r->n_nodes);
	assert_int_equal(back->n_factors, r->n_factors);
	assert_string_equal(back->factors[0].key, r->factors[0].key);
	assert_true(isnan(back->baseline_mean_ns));
	assert_true(back->var_ns2 == r->var_ns2);
	assert_int_equal(vprof_results_write(back, path2, &err), 0);
	assert_int_equal(vprof_file_read(path, &first, &err), 0);
	assert_int_equal(vprof_file_read(path2, &second, &err), 0);
	assert_string_equal(first.s, second.s);
	is_what_is_shown(r, first.s);
	vprof_text_release(&first);
	vprof_text_release(&second);
	free(path);
	free(path2);
	vprof_results_free(back);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* What the joins of views fill; results written before there were any are read all the same. */
static void test_joins(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct vprof_knot_lock *lock = calloc(1, sizeof *lock);
	struct vprof_results *r, *back;
	struct vprof_error err = { "" };
	uint32_t *cause = calloc(1, sizeof *cause);
	struct hand_trace h;
	struct vprof_text text = VPROF_TEXT_INIT;
	char *path, *at;

	(void)state;
	r = example(&h, plan);
	path = vprof_path_join(h.dir, "results.json");
	assert_true(r->n_causes > 0);
	assert_int_equal(r->n_tiers, 0);
	assert_int_equal(r->n_knots, 1); /* the only thread */
	free((void *)r->knots[0].locks);
	*lock = (struct vprof_knot_lock){ "lock", "hold", "a.c", 7, "0x10", "store_lock", 0.75 };
	r->knots[0].locks = lock;
	r->knots[0].n_locks = 1;
	r->tiers = calloc(1, sizeof *r->tiers);
	r->tiers[r->n_tiers++] = (struct vprof_tier){ .name = "store:1", .mean_ns = 5, .causes = cause, .n_causes = 1 };
	assert_int_equal(vprof_results_write(r, path, &err), 0);
	assert_int_equal(vprof_results_read(&back, path, &err), 0);
	assert_string_equal(back->knots[0].locks[0].awaited, "store_lock");
	assert_true(back->knots[0].locks[0].part == 0.75);
	assert_string_equal(vprof_results_tier_of(back, 0)->name, "store:1");
	assert_null(vprof_results_tier_of(back, 1));
	vprof_results_free(back);
	*cause = (uint32_t)r->n_causes;
	assert_int_equal(vprof_results_write(r, path, &err), 0);
	assert_int_equal(vprof_results_read(&back, path, &err), VPROF_ERR_CORRUPT);
	assert_non_null(strstr(err.message, "tiers[0].causes"));
	assert_int_equal(vprof_file_read(path, &text, &err), 0);
	at = strstr(text.s, "\"tiers\"");
	assert_non_null(at);
	memcpy(at, "\"older\"", 7);
	at = strstr(text.s, "\"locks\":[{\"name\"");
	assert_non_null(at);
	memcpy(at, "\"older\"", 7);
	assert_int_equal(vprof_file_write(path, text.s, text.len, &err), 0);
	assert_int_equal(vprof_results_read(&back, path, &err), 0);
	assert_int_equal(back->n_tiers, 0);
	assert_int_equal(back->knots[0].n_locks, 0);
	vprof_results_free(back);
	vprof_text_release(&text);
	free(path);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Names come from other people's sources: results.json stays JSON. */
static void test_utf8(void **state)
{
	struct vprof_results *r = vprof_results_new();

	(void)state;
	assert_non_null(r);
	assert_string_equal(vprof_results_string(r, "caf\xe9 \xc3\xa9"), "caf\xef\xbf\xbd \xc3\xa9");
	assert_ptr_equal(vprof_results_string(r, "caf\xe9"), vprof_results_string(r, "caf\xef\xbf\xbd"));
	assert_int_equal(vprof_warning_add(r, "of %s", "\xff"), 0);
	assert_string_equal(r->warnings[0], "of \xef\xbf\xbd");
	vprof_results_free(r);
}

static void test_damage(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_results *r, *back;
	struct vprof_error err = { "" };
	uint64_t random = 11;
	struct hand_trace h;
	char *path, *at, version[32];

	(void)state;
	r = example(&h, plan);
	path = vprof_path_join(h.dir, "results.json");
	assert_int_equal(vprof_results_write(r, path, &err), 0);
	assert_int_equal(vprof_file_read(path, &text, &err), 0);
	for (int i = 0; i < 200; i++) { /* cut anywhere */
		size_t n = hand_random(&random) % (text.len - 2);

		assert_int_equal(vprof_file_write(path, text.s, n, &err), 0);
		assert_int_equal(vprof_results_read(&back, path, &err), VPROF_ERR_CORRUPT);
		assert_null(back);
	}
	for (int i = 0; i < 500; i++) { /* other digits and letters: refused or harmless */
		char *copy = strdup(text.s);

		assert_non_null(copy);
		for (int k = 0; k < 3; k++)
			copy[hand_random(&random) % text.len] = "0123456789-e.\"{}[]x"[hand_random(&random) % 19];
		assert_int_equal(vprof_file_write(path, copy, text.len, &err), 0);
		if (!vprof_results_read(&back, path, &err))
			vprof_results_free(back);
		free(copy);
	}
	r->nodes[0].n_children++; /* a node that two have as a child: walks down would pass it twice, and so on */
	assert_true(r->nodes[0].first_child + r->nodes[0].n_children <= r->n_nodes);
	assert_int_equal(vprof_results_write(r, path, &err), 0);
	assert_int_equal(vprof_results_read(&back, path, &err), VPROF_ERR_CORRUPT);
	assert_non_null(strstr(err.message, "the children of another node"));
	r->nodes[0].n_children--;
	r->nodes[0].kind = VPROF_NODE_WAIT; /* who looks for the function around a wait would look for ever */
	assert_int_equal(vprof_results_write(r, path, &err), 0);
	assert_int_equal(vprof_results_read(&back, path, &err), VPROF_ERR_CORRUPT);
	assert_non_null(strstr(err.message, "the first node is not the interval"));
	r->nodes[0].kind = VPROF_NODE_INTERVAL;
	r->nodes[0].parent = (uint32_t)r->n_nodes - 1;
	assert_int_equal(vprof_results_write(r, path, &err), 0);
	assert_int_equal(vprof_results_read(&back, path, &err), VPROF_ERR_CORRUPT);
	r->nodes[0].parent = 0;
	snprintf(version, sizeof version, "\"version\":\t%d", VPROF_RESULTS_VERSION);
	at = strstr(text.s, version);
	assert_non_null(at);
	at[strlen("\"version\":\t")] = '8';
	assert_int_equal(vprof_file_write(path, text.s, text.len, &err), 0);
	assert_int_equal(vprof_results_read(&back, path, &err), VPROF_ERR_CORRUPT);
	assert_non_null(strstr(err.message, "version 8"));
	vprof_text_release(&text);
	free(path);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* The schema's object for one list, and what docs/results.md says of it, know every key that is written, and no other.
 */
static void documents(const cJSON *schema, const char *docs, const char *heading, const char *const *keys, size_t n)
{
	const cJSON *properties = cJSON_GetObjectItemCaseSensitive(schema, "properties");
	const char *from = strstr(docs, heading), *to;
	char row[128];

	assert_non_null(properties);
	assert_non_null(from);
	to = strstr(from + strlen(heading), "\n## ");
	for (size_t i = 0; i < n; i++) {
		const char *at;

		if (!cJSON_GetObjectItemCaseSensitive(properties, keys[i]))
			fail_msg("report/results.schema.json lacks %s under \"%s\"", keys[i], heading);
		snprintf(row, sizeof row, "\n| `%s` |", keys[i]);
		at = strstr(from, row);
		if (!at || (to && at > to))
			fail_msg("docs/results.md lacks %s under \"%s\"", keys[i], heading);
	}
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(schema, "required")),
			 cJSON_GetArraySize(properties));
}

#define KEY(f) #f,
#define WORD_KEY(f, names) #f,
#define KEYS(list) list(KEY, KEY, KEY, KEY, WORD_KEY)
#define DOCUMENTS(schema, heading, list)                                                                               \
	do {                                                                                                           \
		static const char *const keys_[] = { KEYS(list) };                                                     \
		documents(schema, docs.s, heading, keys_, sizeof keys_ / sizeof *keys_);                               \
	} while (0)

static void test_documented(void **state)
{
	struct vprof_text docs = VPROF_TEXT_INIT, text = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	const cJSON *defs, *version;
	cJSON *schema;
	char says[64];

	(void)state;
	assert_int_equal(vprof_file_read("../../../docs/results.md", &docs, &err), 0);
	assert_int_equal(vprof_file_read("../../../report/results.schema.json", &text, &err), 0);
	schema = cJSON_Parse(text.s);
	assert_non_null(schema);
	defs = cJSON_GetObjectItem(schema, "$defs");
	DOCUMENTS(schema, "\n## The run", VPROF_RESULTS_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "node"), "\n## nodes", VPROF_NODE_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "covariance"), "\n## covariances", VPROF_COVARIANCE_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "factor"), "\n## factors", VPROF_FACTOR_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "cause"), "\n## causes", VPROF_CAUSE_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "knot"), "\n## knots", VPROF_KNOT_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "knot_lock"), "\n### Locks of a knot", VPROF_KNOT_LOCK_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "tier"), "\n## tiers", VPROF_TIER_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "layer"), "\n## layers", VPROF_LAYER_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "step"), "\n### steps", VPROF_STEP_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "split"), "\n### splits", VPROF_SPLIT_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "party"), "\n## parties", VPROF_PARTY_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "crosstalk"), "\n## crosstalk", VPROF_CROSSTALK_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "crosstalk_lock"), "\n### locks", VPROF_CROSSTALK_LOCK_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "held"), "\n### held", VPROF_HOLDER_CALL_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "context"), "\n## contexts", VPROF_CONTEXT_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "stage"), "\n### stages", VPROF_STAGE_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "profile_node"), "\n### profile", VPROF_PROFILE_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "sampled"), "\n### sampled", VPROF_SAMPLED_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "type"), "\n## types", VPROF_TYPE_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "contribution"), "\n## contributions", VPROF_CONTRIBUTION_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "work"), "\n## work", VPROF_WORK_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "closed"), "\n## closed", VPROF_CLOSED_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "common_frames"), "\n## common_frames", VPROF_COMMON_FRAME_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "bucket"), "\n## histogram", VPROF_BUCKET_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "period"), "\n## periods", VPROF_PERIOD_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "example"), "\n## examples", VPROF_EXAMPLE_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "piece"), "\n## pieces", VPROF_PIECE_FIELDS);
	DOCUMENTS(cJSON_GetObjectItem(defs, "thread"), "\n## threads", VPROF_THREAD_FIELDS);
	version =
		cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(schema, "properties"), "version"), "const");
	assert_int_equal(version->valueint, VPROF_RESULTS_VERSION);
	snprintf(says, sizeof says, "`version` is %d.", VPROF_RESULTS_VERSION);
	assert_non_null(strstr(docs.s, says));
	cJSON_Delete(schema);
	vprof_text_release(&docs);
	vprof_text_release(&text);
}

/* A fuzzer whose seeds are refused at the door looks at nothing. */
static void test_seeds_are_read(void **state)
{
	static const char *const seeds[] = { "g-recursion", "l-hot", "views" };
	struct vprof_results *r;
	struct vprof_error err = { "" };
	char path[80];

	(void)state;
	for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
		snprintf(path, sizeof path, "../../fuzz/seeds/results/%s", seeds[i]);
		if (vprof_results_read(&r, path, &err))
			fail_msg("%s", err.message);
		vprof_results_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip), cmocka_unit_test(test_joins),
					    cmocka_unit_test(test_utf8),       cmocka_unit_test(test_damage),
					    cmocka_unit_test(test_documented), cmocka_unit_test(test_seeds_are_read) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
