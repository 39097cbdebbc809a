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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
	print_message(
		"skipped: what cannot run: the vfork of qemu-user is a fork, which cannot tell why an exec failed\n");
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

/* A daemon that keeps the pipe open does not hold us up: it is still there when we return. */
static void daemon_stays(void **state)
{
	struct vprof_text captured = VPROF_TEXT_INIT;
	struct vprof_process p = { .command = "sleep 1000 & echo $!", .captured = &captured };

	(void)state;
	assert_int_equal(vprof_process_run(&p, &result, &err), 0);
	assert_int_equal(kill((pid_t)atoi(captured.s), SIGKILL), 0);
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
	char folder[] = "/tmp/vprof-process-XXXXXX", path[64], command[256];
	int status, shell, sleeper;
	pid_t child;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/pids", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* what the child leaves is ours to wait for */
	snprintf(command, sizeof command, "trap '' TERM; sleep 1000 & echo $$ $! > %s; wait; while :; do sleep 1; done",
		 path);
	child = fork();
	if (!child) {
		struct vprof_process p = { .command = command };
		int rc = vprof_process_run(&p, &result, &err);

		_exit(rc == VPROF_ERR_FAILED && strstr(err.message, strsignal(SIGINT)) ? 7 : 8);
	}
	f = fopen(path, "r"); /* waits for the shell to open it, too */
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d %d", &shell, &sleeper), 2);
	fclose(f);
	kill(child, SIGINT);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_true(kill(shell, 0) && errno == ESRCH);
	assert_int_equal(waitpid(sleeper, &status, 0), sleeper);
	assert_true(WIFSIGNALED(status));
	vprof_dir_remove(folder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_status), cmocka_unit_test(lines_and_log), cmocka_unit_test(what_cannot_run),
		cmocka_unit_test(daemon_stays),	     cmocka_unit_test(much_output),   cmocka_unit_test(interruption),
	};

	signal(SIGINT, SIG_DFL); /* ignored by what a shell runs in the background */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
