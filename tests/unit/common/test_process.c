/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children: output, status, signals, environment, folders, interruption. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/files.h"
#include "common/process.h"

static struct vprof_process_result result;
static struct vprof_error err;

static void output_and_status(void **state)
{
	const char *const environment[] = { "VPROF_TEST=two words", NULL };
	const char *const argv[] = { "sh", "-c", "pwd; echo \"$VPROF_TEST\" >&2; read x; exit 3", NULL };
	struct vprof_text captured = VPROF_TEXT_INIT;
	struct vprof_process p = { .argv = argv, .directory = "/", .environment = environment, .captured = &captured };
	char text[96];

	(void)state;
	assert_int_equal(vprof_process_run(&p, &result, &err), 0); /* and `read` meets the end of its input */
	assert_string_equal(captured.s, "/\ntwo words\n");
	assert_int_equal(result.status, 3);
	vprof_process_describe(&result, text, sizeof text);
	assert_string_equal(text, "exit status 3");
	vprof_text_release(&captured);

	p = (struct vprof_process){ .command = "kill -SEGV $$" };
	assert_int_equal(vprof_process_run(&p, &result, &err), 0);
	assert_int_equal(result.status, -1);
	assert_int_equal(result.signal, SIGSEGV);
	vprof_process_describe(&result, text, sizeof text);
	assert_string_equal(text, "killed by signal 11 (Segmentation fault)");
}

static void add_line(void *arg, const char *line)
{
	vprof_text_addf(arg, "[%s]", line);
}

static void lines_and_log(void **state)
{
	char path[] = "/tmp/vprof-process-XXXXXX";
	int fd = mkstemp(path);
	struct vprof_text lines = VPROF_TEXT_INIT, log = VPROF_TEXT_INIT;
	struct vprof_process p = { .command = "printf 'one\\n\\ntwo'; sleep 0.05; printf 'more\\nlast'",
				   .line = add_line,
				   .line_arg = &lines,
				   .log_path = path };

	(void)state;
	close(fd);
	assert_int_equal(vprof_process_run(&p, &result, &err), 0);
	assert_string_equal(lines.s, "[one][][twomore][last]");
	assert_int_equal(vprof_process_run(&p, &result, &err), 0); /* appends */
	assert_int_equal(vprof_file_read(path, &log, NULL), 0);
	assert_string_equal(log.s, "one\n\ntwomore\nlastone\n\ntwomore\nlast");
	unlink(path);
	vprof_text_release(&lines);
	vprof_text_release(&log);
}

static void what_cannot_run(void **state)
{
	const char *const argv[] = { "vprof-no-such-program", NULL };
	struct vprof_process p = { .argv = argv };
	char *sh = vprof_process_find("sh");

	(void)state;
#ifdef VPROF_TEST_EMULATOR
	print_message("skipped under qemu-user: its vfork is a fork, which cannot tell why an exec failed\n");
	skip();
#endif
	assert_int_equal(vprof_process_run(&p, &result, &err), VPROF_ERR_MISSING);
	assert_non_null(strstr(err.message, "vprof-no-such-program"));
	p = (struct vprof_process){ .command = "true", .directory = "/nowhere" };
	assert_int_equal(vprof_process_run(&p, &result, &err), VPROF_ERR_INPUT);
	assert_non_null(sh);
	free(sh);
	assert_null(vprof_process_find("vprof-no-such-program"));
}

/* A daemon that keeps the pipe open does not hold us up. */
static void daemon_stays(void **state)
{
	struct vprof_text captured = VPROF_TEXT_INIT;
	struct vprof_process p = { .command = "sleep 20 & echo $!", .captured = &captured };

	(void)state;
	assert_int_equal(vprof_process_run(&p, &result, &err), 0);
	assert_true(result.seconds < 10);
	kill((pid_t)atoi(captured.s), SIGKILL);
	vprof_text_release(&captured);
}

static void much_output(void **state)
{
	struct vprof_text captured = VPROF_TEXT_INIT;
	struct vprof_process p = { .command = "head -c 20000000 /dev/zero | tr '\\0' x", .captured = &captured };

	(void)state;
	assert_int_equal(vprof_process_run(&p, &result, &err), 0);
	assert_int_equal(result.status, 0);
	assert_true(captured.len >= 16u << 20 && captured.len < 18u << 20);
	vprof_text_release(&captured);
}

/* SIGINT at the parent ends the child's whole group, also one that ignores SIGTERM. */
static void interruption(void **state)
{
	char path[] = "/tmp/vprof-process-XXXXXX", command[256];
	struct vprof_text pids = VPROF_TEXT_INIT;
	int status, fd = mkstemp(path), a, b;
	pid_t child;

	(void)state;
	close(fd);
	snprintf(command, sizeof command, "trap '' TERM; sleep 60 & echo $$ $! > %s; wait; while :; do sleep 1; done",
		 path);
	child = fork();
	if (!child) {
		struct vprof_process p = { .command = command };
		int rc = vprof_process_run(&p, &result, &err);

		_exit(rc == VPROF_ERR_FAILED && vprof_process_interrupted() == SIGINT ? 7 : 8);
	}
	for (int i = 0; i < 200 && pids.len < 3; i++) {
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
		vprof_text_clear(&pids);
		vprof_file_read(path, &pids, NULL);
	}
	assert_int_equal(sscanf(pids.s, "%d %d", &a, &b), 2);
	kill(child, SIGINT);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 7);
	nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	assert_true(kill(a, 0) && errno == ESRCH);
	unlink(path);
	vprof_text_release(&pids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_status), cmocka_unit_test(lines_and_log), cmocka_unit_test(what_cannot_run),
		cmocka_unit_test(daemon_stays),	     cmocka_unit_test(much_output),   cmocka_unit_test(interruption),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
