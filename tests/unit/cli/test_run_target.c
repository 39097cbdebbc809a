/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands that end well, badly, late or not at all; any library serves as libvprof.so here. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/run/run_target.h"
#include "common/files.h"

static char folder[64], trace[80], log_path[80], library[80];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/vprof-run-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(trace, sizeof trace, "%s/trace", folder);
	snprintf(log_path, sizeof log_path, "%s/run.log", folder);
	snprintf(library, sizeof library, "%s/libnone.so", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return vprof_dir_remove(folder, NULL);
}

/* Shared memory of this process that is still there. */
static int n_shared(void)
{
	char mine[32];
	DIR *dir = opendir("/dev/shm");
	struct dirent *entry;
	int n = 0;

	snprintf(mine, sizeof mine, "vprof-%ld-", (long)getpid());
	while (dir && (entry = readdir(dir)))
		n += !strncmp(entry->d_name, mine, strlen(mine));
	if (dir)
		closedir(dir);
	return n;
}

static struct vprof_run_request request(const char *command)
{
	Dl_info libc;

	assert_true(dladdr((void *)gnu_get_libc_version, &libc) &&
		    (!access(library, F_OK) || !symlink(libc.dli_fname, library)));
	return (struct vprof_run_request){ .command = command,
					   .directory = folder,
					   .trace_dir = trace,
					   .log_path = log_path,
					   .library = library,
					   .memory_bytes = 8 << 20 };
}

static void run(const struct vprof_run_request *r, struct vprof_run_outcome *o)
{
	struct vprof_error err = { "" };

	if (vprof_run_target(r, o, &err))
		fail_msg("%s", err.message);
	assert_int_equal(n_shared(), 0);
}

static void assert_log_has(const char *part)
{
	struct vprof_text log = VPROF_TEXT_INIT;

	assert_int_equal(vprof_file_read(log_path, &log, NULL), VPROF_OK);
	if (!strstr(log.s, part))
		fail_msg("\"%s\" is missing in: %s", part, log.s);
	vprof_text_release(&log);
}

static void a_command_sees_the_environment(void **state)
{
	struct vprof_run_request r = request("echo shm=$VPROF_SHM preload=$LD_PRELOAD; test -e $VPROF_SHM && cat");
	struct vprof_run_outcome o;

	(void)state;
	setenv("LD_PRELOAD", "", 1);
	run(&r, &o);
	assert_true(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0);
	assert_log_has("shm=/dev/shm/vprof-");
	assert_log_has("libnone.so");
	assert_int_equal(o.interrupted, 0);
}

/* A program whose AddressSanitizer is a shared library would end at once: libvprof.so is loaded before it. */
static void address_sanitizer_is_told_to_bear_it(void **state)
{
	struct vprof_run_request r = request("echo options=$ASAN_OPTIONS.");
	struct vprof_run_outcome o;
	char *before = getenv("ASAN_OPTIONS") ? strdup(getenv("ASAN_OPTIONS")) : NULL;

	(void)state;
	unsetenv("ASAN_OPTIONS");
	run(&r, &o);
	assert_log_has("options=verify_asan_link_order=0.");
	setenv("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=1", 1);
	run(&r, &o);
	assert_log_has("options=verify_asan_link_order=0:detect_leaks=0:verify_asan_link_order=1.");
	unsetenv("ASAN_OPTIONS");
	if (before)
		setenv("ASAN_OPTIONS", before, 1);
	free(before);
}

/* Of the command and of what it starts; or the reason why not. */
static void switches_are_recorded_or_not(void **state)
{
	struct vprof_run_request r = request("sleep 0.02; (sleep 0.02; sleep 0.02)");
	struct vprof_run_outcome o;
	enum vprof_switches_mode mode;

	(void)state;
	run(&r, &o);
	if (!o.stats.has_switches)
		print_message("not recorded here: %s\n", o.stats.no_switches);
	assert_true(o.stats.has_switches ? o.stats.n_switches >= 6 && !*o.stats.no_switches :
					   *o.stats.no_switches != 0);
	r.switches = VPROF_SWITCHES_OFF;
	run(&r, &o);
	assert_true(!o.stats.has_switches && !o.stats.n_switches && *o.stats.no_switches);
	assert_int_equal(vprof_switches_parse(NULL, &mode), 0);
	assert_int_equal(mode, VPROF_SWITCHES_AUTO);
	assert_int_equal(vprof_switches_parse("off", &mode), 0);
	assert_int_equal(mode, VPROF_SWITCHES_OFF);
	assert_int_equal(vprof_switches_parse("ON", &mode), -1);
}

static void a_failure_is_told_with_its_output(void **state)
{
	struct vprof_run_request r = request("echo first; echo cannot bind >&2; exit 7");
	struct vprof_error err = { "" };
	struct vprof_run_outcome o;

	(void)state;
	run(&r, &o);
	assert_int_equal(vprof_run_blame(&r, &o, &err), VPROF_ERR_FAILED);
	assert_non_null(strstr(err.message, "status 7"));
	assert_non_null(strstr(err.message, "  cannot bind\n"));
	assert_non_null(strstr(err.message, "run.log"));
	r.command = "kill -SEGV $$";
	run(&r, &o);
	vprof_run_blame(&r, &o, &err);
	assert_non_null(strstr(err.message, "Segmentation fault"));
	assert_non_null(strstr(err.message, "no output"));
	r.command = "./no-such-program";
	run(&r, &o);
	vprof_run_blame(&r, &o, &err);
	assert_non_null(strstr(err.message, "status 127"));
	assert_non_null(strstr(err.message, "did not find it"));
}

static void what_is_left_behind_is_ended(void **state)
{
	struct vprof_run_request r =
		request("sleep 1000 & setsid sleep 1000 & (trap '' TERM; sleep 1000 & wait) & true");
	struct vprof_run_outcome o;

	(void)state;
	run(&r, &o);
	assert_true(o.n_left_behind >= 2);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void an_interrupt_stops_the_command(void **state)
{
	/* A loop, for dash can lose a signal that comes when it is about to exec a last command. */
	struct vprof_run_request r = request("kill -INT $PPID; while :; do sleep 0.1; done");
	struct vprof_run_outcome o;

	(void)state;
	run(&r, &o);
	assert_int_equal(o.interrupted, SIGINT);
	assert_true(WIFSIGNALED(o.status));
	assert_int_equal(WTERMSIG(o.status), SIGINT); /* at the first one: it need not be killed */
}

static void a_stubborn_command_is_killed_by_the_second(void **state)
{
	/* Until it is killed: of signals that come at once only one may be seen. */
	struct vprof_run_request r = request("trap '' INT; while :; do kill -INT $PPID; sleep 0.05; done");
	struct vprof_run_outcome o;

	(void)state;
	run(&r, &o);
	assert_int_equal(WTERMSIG(o.status), SIGKILL);
}

/* As a live session ends its command: when the command has made the file "ready". */
static int end_when_ready(void *arg, struct vprof_collector *collector)
{
	char path[96];

	(void)arg;
	while (vprof_collector_drain(collector) > 0)
		;
	snprintf(path, sizeof path, "%s/ready", folder);
	return !access(path, F_OK);
}

static void a_session_ends_its_command(void **state)
{
	struct vprof_run_request r = request("trap 'echo ended; exit 4' TERM; : >ready; while :; do sleep 0.05; done");
	struct vprof_run_outcome o;

	(void)state;
	r.step = end_when_ready;
	r.grace_s = 1e6;
	run(&r, &o);
	assert_true(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 4);
	assert_false(o.was_killed);
	assert_log_has("ended");
}

/* Whoever waited for it would wait for ever: each of its processes ignores SIGTERM. */
static void a_session_kills_what_ignores_its_end(void **state)
{
	struct vprof_run_request r =
		request("trap '' TERM; (while :; do sleep 0.05; done) & : >ready; while :; do sleep 0.05; done");
	struct vprof_run_outcome o;

	(void)state;
	r.step = end_when_ready;
	r.grace_s = 0.1;
	run(&r, &o);
	assert_true(WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGKILL);
	assert_true(o.was_killed);
	assert_int_equal(o.interrupted, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* A shell that started it ends at once; it has the grace nevertheless, longer than what is left behind has otherwise.
 */
static void a_session_waits_for_what_a_shell_started(void **state)
{
	struct vprof_run_request r = request("(trap 'trap \"\" TERM; sleep 4; echo ended; exit' TERM; : >ready; "
					     "while :; do sleep 0.05; done) & wait");
	struct vprof_run_outcome o;

	(void)state;
	r.step = end_when_ready;
	r.grace_s = 1e6;
	run(&r, &o);
	assert_true(WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGTERM);
	assert_false(o.was_killed);
	assert_log_has("ended");
}

static void a_missing_library_is_told(void **state)
{
	struct vprof_run_request r = request("true");
	struct vprof_error err = { "" };
	struct vprof_run_outcome o;

	(void)state;
	unlink(library);
	assert_int_equal(vprof_run_target(&r, &o, &err), VPROF_ERR_MISSING);
	assert_non_null(strstr(err.message, "VPROF_LIBDIR"));
	assert_int_equal(n_shared(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_command_sees_the_environment),
		TEST(address_sanitizer_is_told_to_bear_it),
		TEST(a_failure_is_told_with_its_output),
		TEST(switches_are_recorded_or_not),
		TEST(what_is_left_behind_is_ended),
		TEST(an_interrupt_stops_the_command),
		TEST(a_stubborn_command_is_killed_by_the_second),
		TEST(a_session_ends_its_command),
		TEST(a_session_kills_what_ignores_its_end),
		TEST(a_session_waits_for_what_a_shell_started),
		TEST(a_missing_library_is_told),
	};

	signal(SIGINT, SIG_DFL); /* ignored by what a shell runs in the background */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
