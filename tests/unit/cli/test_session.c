/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a session is after it was saved and loaded again, and what becomes of damaged files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/drilldown/session.h"
#include "common/files.h"

static char path[64];

static int make_path(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/vprof-session-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static void fill(struct vprof_session *s)
{
	struct vprof_closed closed = { .name = "mix",
				       .file = "src/table.c",
				       .caller = "",
				       .display = "table::mix",
				       .line = 12,
				       .bound = 0.004,
				       .saved_ns = 1200.5,
				       .saved = 0.06,
				       .run = "0002" };

	vprof_session_init(s);
	s->k = 5;
	s->threshold = 0.05;
	s->interval = strdup("request");
	s->run_command = strdup("./bench.sh --\"x\"");
	strcpy(s->annotations_hash, "0123456789abcdef");
	s->baseline_mean_ns = 1910000.25;
	assert_int_equal(vprof_name_list_add(&s->roots, "serve", "src/serve.c", NULL), 1);
	assert_int_equal(vprof_name_list_add(&s->roots, "serve", "src/serve.c", ""), 0);
	assert_int_equal(vprof_name_list_add(&s->roots, "serve", "src/other.c", NULL), 1);
	assert_int_equal(vprof_name_list_add(&s->broken_down, "c->cmd->proc", "src/call.c", "call"), 1);
	assert_int_equal(vprof_name_list_add(&s->broken_down, "a", NULL, NULL), 1);
	assert_int_equal(vprof_session_close(s, &closed), VPROF_OK);
	closed.name = "fold";
	assert_int_equal(vprof_session_close(s, &closed), VPROF_OK);
	closed.bound = 0.002;
	assert_int_equal(vprof_session_close(s, &closed), VPROF_OK); /* once more */
	assert_int_equal(vprof_name_list_add(&s->keep_open, "hash", "table.c", ""), 1);
	assert_int_equal(vprof_session_judge(s, "v:fdatasync", VPROF_VERDICT_INHERENT), VPROF_OK);
	assert_int_equal(vprof_session_judge(s, "v:fdatasync", VPROF_VERDICT_CULPRIT), VPROF_OK);
	assert_int_equal(vprof_session_judge(s, "c:a|b", VPROF_VERDICT_IGNORE), VPROF_OK);
	assert_int_equal(vprof_session_add_round(s, "0001"), VPROF_OK);
	assert_int_equal(vprof_session_add_round(s, "0003"), VPROF_OK);
	s->rounds[0].state = VPROF_ROUND_DECIDED;
	s->rounds[1].state = VPROF_ROUND_RAN;
}

static void survives_saving(void **state)
{
	struct vprof_session before, after;
	struct vprof_error err = { "" };

	(void)state;
	fill(&before);
	assert_int_equal(vprof_session_save(&before, path, &err), VPROF_OK);
	assert_int_equal(vprof_session_load(&after, path, &err), VPROF_OK);
	assert_int_equal(after.k, 5);
	assert_true(after.threshold == 0.05);
	assert_string_equal(after.interval, "request");
	assert_string_equal(after.run_command, "./bench.sh --\"x\"");
	assert_string_equal(after.annotations_hash, before.annotations_hash);
	assert_true(after.baseline_mean_ns == 1910000.25);
	assert_int_equal(after.roots.n, 2);
	assert_string_equal(after.roots.items[1].file, "src/other.c");
	assert_int_equal(after.broken_down.n, 2);
	assert_string_equal(after.broken_down.items[0].name, "c->cmd->proc");
	assert_string_equal(after.broken_down.items[0].caller, "call");
	assert_int_equal(after.n_closed, 2);
	assert_string_equal(after.closed[0].name, "mix");
	assert_string_equal(after.closed[0].display, "table::mix");
	assert_string_equal(after.closed[0].file, "src/table.c");
	assert_string_equal(after.closed[0].run, "0002");
	assert_int_equal(after.closed[0].line, 12);
	assert_true(after.closed[0].bound == 0.004 && after.closed[0].saved_ns == 1200.5);
	assert_true(after.closed[0].saved == 0.06 && after.closed[1].bound == 0.002);
	assert_int_equal(after.keep_open.n, 1);
	assert_string_equal(after.keep_open.items[0].file, "table.c");
	assert_int_equal(vprof_session_verdict(&after, "v:fdatasync"), VPROF_VERDICT_CULPRIT);
	assert_int_equal(vprof_session_verdict(&after, "c:a|b"), VPROF_VERDICT_IGNORE);
	assert_int_equal(vprof_session_verdict(&after, "v:nothing"), VPROF_VERDICT_NONE);
	assert_int_equal(after.n_rounds, 2);
	assert_string_equal(after.rounds[1].run.s, "0003");
	assert_int_equal(after.rounds[1].state, VPROF_ROUND_RAN); /* where it resumes */
	assert_int_equal(after.ending, VPROF_ENDING_NONE);
	vprof_session_release(&before);
	vprof_session_release(&after);
}

static void a_new_session_has_no_baseline(void **state)
{
	struct vprof_session before, after;
	struct vprof_error err = { "" };

	(void)state;
	vprof_session_init(&before);
	before.ending = VPROF_ENDING_MAX;
	assert_int_equal(vprof_session_save(&before, path, &err), VPROF_OK);
	assert_int_equal(vprof_session_load(&after, path, &err), VPROF_OK);
	assert_true(isnan(after.baseline_mean_ns));
	assert_null(after.interval);
	assert_int_equal(after.ending, VPROF_ENDING_MAX);
	vprof_session_release(&before);
	vprof_session_release(&after);
}

/* Each ending is kept. */
static void endings_are_kept(void **state)
{
	struct vprof_error err = { "" };

	(void)state;
	for (int i = VPROF_ENDING_MAX; i < VPROF_ENDING_COUNT; i++) {
		struct vprof_session before, after;

		vprof_session_init(&before);
		before.ending = (enum vprof_ending)i;
		assert_int_equal(vprof_session_save(&before, path, &err), VPROF_OK);
		assert_int_equal(vprof_session_load(&after, path, &err), VPROF_OK);
		assert_int_equal(after.ending, i);
		vprof_session_release(&before);
		vprof_session_release(&after);
	}
}

static void no_file_is_no_damage(void **state)
{
	struct vprof_session s;
	struct vprof_error err = { "" };

	(void)state;
	assert_int_equal(vprof_session_load(&s, "/nonexistent/session.json", &err), VPROF_ERR_MISSING);
	assert_int_equal(s.k, 3);
	vprof_session_release(&s);
}

static void refuse(const char *text)
{
	struct vprof_session s;
	struct vprof_error err = { "" };

	assert_int_equal(vprof_file_write(path, text, strlen(text), &err), VPROF_OK);
	assert_int_equal(vprof_session_load(&s, path, &err), VPROF_ERR_CORRUPT);
	assert_non_null(strstr(err.message, "--restart"));
	assert_int_equal(s.n_rounds, 0);
	vprof_session_release(&s);
}

#define HEAD "{\"version\":1,\"k\":3,\"threshold\":0.02,\"annotations_hash\":\"\","
#define CLOSED                                                                                                         \
	"\"name\":\"mix\",\"display\":\"mix\",\"file\":\"\",\"caller\":\"\",\"line\":1,\"saved\":0,\"saved_ns\":0,\"run\":\"\""
#define LISTS "\"roots\":[],\"broken_down\":[],\"verdicts\":{}"

static void damaged_files_are_refused(void **state)
{
	(void)state;
	refuse("");
	refuse("{");
	refuse("[]");
	refuse("{\"version\":2}");
	refuse("{\"version\":1}");
	refuse(HEAD LISTS "}");
	refuse(HEAD LISTS ",\"rounds\":[{\"run\":\"../../etc\",\"state\":\"ran\"}]}");
	refuse(HEAD LISTS ",\"rounds\":[{\"run\":\"0001\",\"state\":\"elsewhere\"}]}");
	refuse(HEAD LISTS ",\"rounds\":[{\"run\":\"0001\"}]}");
	refuse(HEAD "\"roots\":[{\"file\":\"x\"}],\"broken_down\":[],\"verdicts\":{},\"rounds\":[]}");
	refuse(HEAD LISTS ",\"rounds\":[],\"closed\":7}");
	refuse(HEAD LISTS ",\"rounds\":[],\"closed\":[{\"name\":\"mix\"}]}");
	refuse(HEAD LISTS ",\"rounds\":[],\"closed\":[{" CLOSED ",\"bound\":-1}]}");
	refuse(HEAD LISTS ",\"rounds\":[],\"keep_open\":\"mix\"}");
	refuse(HEAD "\"roots\":[],\"broken_down\":[],\"verdicts\":{\"v:a\":1},\"rounds\":[]}");
	refuse(HEAD "\"roots\":[],\"broken_down\":[],\"verdicts\":{\"v:a\":\"guilty\"},\"rounds\":[]}");
	refuse("{\"version\":1,\"k\":3,\"threshold\":7,\"annotations_hash\":\"\"," LISTS ",\"rounds\":[]}");
	refuse("{\"version\":1,\"k\":3,\"threshold\":0,\"annotations_hash\":\"0123456789abcdef0\"," LISTS
	       ",\"rounds\":[]}");
}

/* Any beginning of a session file is refused or a session, never a crash. */
static void cut_anywhere(void **state)
{
	struct vprof_text whole = VPROF_TEXT_INIT;
	struct vprof_session s;
	struct vprof_error err = { "" };

	(void)state;
	fill(&s);
	assert_int_equal(vprof_session_save(&s, path, &err), VPROF_OK);
	vprof_session_release(&s);
	assert_int_equal(vprof_file_read(path, &whole, &err), VPROF_OK);
	for (size_t n = 0; n + 1 < whole.len; n += 7) {
		assert_int_equal(vprof_file_write(path, whole.s, n, &err), VPROF_OK);
		assert_int_equal(vprof_session_load(&s, path, &err), VPROF_ERR_CORRUPT);
		vprof_session_release(&s);
	}
	vprof_text_release(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_saving),	     cmocka_unit_test(a_new_session_has_no_baseline),
		cmocka_unit_test(endings_are_kept),	     cmocka_unit_test(no_file_is_no_damage),
		cmocka_unit_test(damaged_files_are_refused), cmocka_unit_test(cut_anywhere),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
