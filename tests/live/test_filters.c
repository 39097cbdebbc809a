/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What filters of system calls do, beside what the kernel does with them; and processes with filters, which are looked
 * at while they wait. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/call_filter.h"
#include "live/filters.h"

#define LENGTH 24 /* instructions of a random filter, after those that let all other calls go on */
#define GUARD (3 + BPF_MEMWORDS)
#define N_RANDOM 1500
#define N_LOOKS 40
#define N_SIGNALS 3000
#define ARG(i) (offsetof(struct seccomp_data, args) + 8 * (i))

static const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
static const struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);

static int install(struct sock_filter *filter, size_t n)
{
	struct sock_fprog program = { (unsigned short)n, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static uint64_t drawn = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 7;
	drawn ^= drawn << 17;
	return (uint32_t)(drawn >> 20) % below;
}

static struct sock_filter draw_instruction(size_t left)
{
	static const uint16_t ops[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,
					BPF_AND, BPF_LSH, BPF_RSH, BPF_XOR, BPF_NEG };
	static const uint16_t jumps[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
	uint16_t from = draw(2) ? BPF_X : BPF_K;
	uint32_t k = draw(4) ? draw(8) : draw(UINT32_MAX);

	switch (draw(10)) {
	case 0:
	case 1:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)ARG(0) + 4 * draw(12));
	case 8: /* all words were stored to before */
		return (struct sock_filter)BPF_STMT((draw(2) ? BPF_LD : BPF_LDX) | BPF_MEM, draw(BPF_MEMWORDS));
	case 9:
		return (struct sock_filter)BPF_STMT((draw(2) ? BPF_LD : BPF_LDX) | BPF_W | BPF_LEN, 0);
	case 2:
		return (struct sock_filter)BPF_STMT((draw(2) ? BPF_LD : BPF_LDX) | BPF_IMM, k);
	case 3:
		return (struct sock_filter)BPF_STMT(draw(2) ? BPF_ST : BPF_STX, draw(BPF_MEMWORDS));
	case 4:
		return (struct sock_filter)BPF_STMT(BPF_MISC | (draw(2) ? BPF_TAX : BPF_TXA), 0);
	case 5:
		return (struct sock_filter)BPF_STMT(BPF_ALU | ops[draw(10)] | from, from == BPF_K ? 1 + k % 30 : 0);
	default:
		return (struct sock_filter)BPF_JUMP(BPF_JMP | jumps[draw(4)] | from, k,
						    (uint8_t)draw((uint32_t)left + 1),
						    (uint8_t)draw((uint32_t)left + 1));
	}
}

/* 1: the kernel lets getppid() with these arguments go on; 0: it does not; -1: it takes no such filter. */
static int ask_kernel(struct sock_filter *filter, size_t n, const uint64_t *a)
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (install(filter, n))
			_exit(2);
		_exit(syscall(SYS_getppid, a[0], a[1], a[2], a[3], a[4], a[5]) > 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) /* a division by 0 */
		return 0;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 2 ? -1 : WEXITSTATUS(status);
}

static void test_as_the_kernel(void **state)
{
	int n_asked = 0, n_allowed = 0, n_partly = 0;

	(void)state;
	for (int round = 0; round < N_RANDOM; round++) {
		struct sock_filter filter[GUARD + LENGTH + 2] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0), allow,
			/* then a store to each word */
		};
		struct vprof_call call = { "getppid", SYS_getppid, 0x3f, { 0 } };
		int is_allowed, kernel;

		for (uint32_t i = 0; i < BPF_MEMWORDS; i++)
			filter[3 + i] = (struct sock_filter)BPF_STMT(BPF_ST, i);
		for (size_t i = 0; i < LENGTH; i++)
			filter[GUARD + i] = draw_instruction(LENGTH - i);
		filter[GUARD + LENGTH] = draw(2) ? allow : refuse;
		filter[GUARD + LENGTH + 1] = draw(2) ? refuse : allow;
		for (int i = 0; i < 6; i++)
			call.args[i] = draw(3) ? draw(8) : drawn;
		kernel = ask_kernel(filter, GUARD + LENGTH + 2, call.args);
		if (kernel < 0)
			continue;
		is_allowed = vprof_call_filter_allows(filter, GUARD + LENGTH + 2, &call);
		assert_int_equal(is_allowed, kernel);
		n_asked++;
		n_allowed += is_allowed;
		/* what is allowed whatever some arguments are is allowed with these */
		call.known = draw(64);
		if (vprof_call_filter_allows(filter, GUARD + LENGTH + 2, &call)) {
			assert_true(is_allowed);
			n_partly++;
		}
	}
	printf("%d filters, %d allow, %d whatever some arguments are\n", n_asked, n_allowed, n_partly);
	assert_true(n_asked > N_RANDOM / 10 && n_allowed > n_asked / 10 && n_allowed < n_asked * 9 / 10 && n_partly &&
		    n_partly < n_allowed);
}

/* As systemd's MemoryDenyWriteExecute: what matters of mmap is its protection, which is known. */
static void test_arguments(void **state)
{
	const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)ARG(2)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_WRITE | PROT_EXEC, 1, 0),
		allow,
		refuse,
		allow, /* of another architecture */
	};
	struct vprof_call call = { "mmap", SYS_mmap, 1 << 2, { 0, 0, PROT_READ | PROT_WRITE } };

	(void)state;
	assert_true(vprof_call_filter_allows(filter, 8, &call));
	call.args[2] |= PROT_EXEC;
	assert_false(vprof_call_filter_allows(filter, 8, &call));
	call.args[2] = 0;
	call.known = 0;
	assert_false(vprof_call_filter_allows(filter, 8, &call));
}

static void test_what_is_no_filter(void **state)
{
	const struct sock_filter at[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		allow,
		refuse,
	};
	const struct sock_filter bytes[] = { BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), allow };
	const struct sock_filter memory[] = { BPF_STMT(BPF_ST, BPF_MEMWORDS), allow };
	const struct sock_filter far[] = { BPF_JUMP(BPF_JMP | BPF_JA, UINT32_MAX, 0, 0), allow };
	struct sock_filter entangled[2 * 40 + 1];
	const struct vprof_call call = { "getpid", SYS_getpid, 0, { 0 } };

	(void)state;
	assert_false(vprof_call_filter_allows(at, 4, &call));
	assert_false(vprof_call_filter_allows(bytes, 2, &call));
	assert_false(vprof_call_filter_allows(memory, 2, &call));
	assert_false(vprof_call_filter_allows(far, 2, &call));
	assert_false(vprof_call_filter_allows(&allow, 0, &call));
	assert_true(vprof_call_filter_allows(&allow, 1, &call));
	for (int i = 0; i < 40; i++) { /* 2^40 ways, all of which allow */
		entangled[2 * i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)ARG(0));
		entangled[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 1, 0);
	}
	entangled[80] = allow;
	assert_false(vprof_call_filter_allows(entangled, 81, &call));
}

enum wait_in { IN_EPOLL, IN_POLL, IN_SLEEP, IN_NOTHING, N_WAITS, IN_SIGNALS };

/* Shared with the process that is looked at: how often a call of its ended, or the signals that it got. */
static volatile int *n_ended;

/* Of two numbers: the kernel delivers the lower one first. */
static void count_signal(int number)
{
	++n_ended[number != SIGRTMIN];
}

/* Makes no call but that in which it waits, which must never end, or runs. */
static void be_looked_at(enum wait_in in, struct sock_filter *filter, size_t n)
{
	int e = epoll_create1(0);
	struct epoll_event event;
	const struct timespec long_time = { 3600, 0 };
	struct sigaction counts = { .sa_handler = count_signal };

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	sigfillset(&counts.sa_mask); /* or the higher one would interrupt the lower one's handler */
	for (int i = 0; i < 2 && in == IN_SIGNALS; i++)
		sigaction(SIGRTMIN + i, &counts, NULL);
	if (install(filter, n))
		_exit(1);
	for (*n_ended = 0;; ++*n_ended) {
		if (in == IN_EPOLL)
			epoll_wait(e, &event, 1, -1);
		else if (in == IN_POLL)
			poll(NULL, 0, 3600 * 1000);
		else if (in == IN_SLEEP)
			syscall(SYS_nanosleep, &long_time, NULL);
		else
			for (;;)
				__asm__ volatile("" ::: "memory");
	}
}

/* The thread's state, by the kernel: S when it waits. */
static char state_of(pid_t pid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	if (f)
		fclose(f);
	return state;
}

static pid_t begin(enum wait_in in, struct sock_filter *filter, size_t n)
{
	const struct timespec pause = { 0, 1000000 };
	pid_t child;

	*n_ended = -1;
	child = fork();
	assert_true(child >= 0);
	if (!child)
		be_looked_at(in, filter, n);
	while (*n_ended < 0 || (in < IN_NOTHING && state_of(child) != 'S')) {
		assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
		nanosleep(&pause, NULL);
	}
	return child;
}

static void end(pid_t child)
{
	int status;

	kill(child, SIGTERM);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM); /* and not SIGSYS */
}

/* A filter that forbids one call, which ends the process. */
static size_t forbid(struct sock_filter *filter, uint32_t number)
{
	const struct sock_filter all[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		allow,
	};

	memcpy(filter, all, sizeof all);
	return sizeof all / sizeof *all;
}

static void test_looks_end_no_call(void **state)
{
	struct sock_filter filter[8];
	struct vprof_error err = { "" };

	(void)state;
	for (enum wait_in in = 0; in < N_WAITS; in++) {
		pid_t child = begin(in, filter, forbid(filter, SYS_restart_syscall));
		int rc = vprof_filters_check(child, &err);

		if (rc &&
		    strstr(err.message, "cannot read")) { /* not root, in a container, or with a filter ourselves */
			end(child);
			print_message("skipped: whether looking ends a call: %s\n", err.message);
			return;
		}
		assert_int_equal(rc, VPROF_OK);
		for (int i = 0; i < N_LOOKS; i++)
			assert_int_equal(vprof_filters_check(child, &err), VPROF_OK);
		assert_int_equal(*n_ended, 0);
		end(child);
	}
	for (int is_needed = 0; is_needed < 2; is_needed++) {
		pid_t child = begin(IN_EPOLL, filter, forbid(filter, is_needed ? SYS_mremap : SYS_ptrace));

		assert_int_equal(vprof_filters_check(child, &err), is_needed ? VPROF_ERR_FAILED : VPROF_OK);
		assert_true(!is_needed || strstr(err.message, "does not allow mremap"));
		assert_int_equal(*n_ended, 0);
		end(child);
	}
}

/* Who may not read filters stops nobody: a sleep that is stopped would go on by a call that is forbidden here. */
static void test_not_root(void **state)
{
	struct sock_filter filter[8];
	pid_t child, other;
	int status = -1;

	(void)state;
	child = begin(IN_SLEEP, filter, forbid(filter, SYS_restart_syscall));
	other = fork();
	assert_true(other >= 0);
	if (!other) {
		struct vprof_error err = { "" };

		if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(2);
		_exit(vprof_filters_check(child, &err) != VPROF_ERR_FAILED || !strstr(err.message, "cannot read"));
	}
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	assert_int_equal(*n_ended, 0);
	end(child);
}

/* A signal that comes while the thread is about to be stopped is not lost. */
static void test_looks_take_no_signal(void **state)
{
	const struct timespec pause = { 0, 20000 };
	struct sock_filter filter[8];
	struct vprof_error err = { "" };
	pid_t child, sender;
	int status = -1;

	(void)state;
	child = begin(IN_SIGNALS, filter, forbid(filter, SYS_ptrace));
	sender = fork();
	assert_true(sender >= 0);
	if (!sender) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		for (int i = 0; i < N_SIGNALS; i += !sigqueue(child, SIGRTMIN, (union sigval){ 0 }))
			nanosleep(&pause, NULL);
		while (sigqueue(child, SIGRTMIN + 1, (union sigval){ 0 }))
			nanosleep(&pause, NULL);
		_exit(0);
	}
	while (!waitpid(sender, &status, WNOHANG))
		if (vprof_filters_check(child, &err) && !strstr(err.message, "cannot read"))
			fail_msg("%s", err.message);
	assert_int_equal(status, 0);
	while (!n_ended[1])
		nanosleep(&pause, NULL);
	assert_int_equal(*n_ended, N_SIGNALS);
	end(child);
}

static int share(void **state)
{
	(void)state;
	n_ended = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return n_ended == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_kernel),	     cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_what_is_no_filter),    cmocka_unit_test(test_looks_end_no_call),
		cmocka_unit_test(test_looks_take_no_signal), cmocka_unit_test(test_not_root),
	};

	return cmocka_run_group_tests(tests, share, NULL);
}
