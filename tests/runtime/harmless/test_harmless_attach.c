/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that begins, and a handler that is the first on it to record, in the middle of that: wherever the runtime,
 * or libc, is about to change the thread's signal mask. What wrappers know of a thread and what its probes write to
 * must be one: a jump out of measured frames shows that, since it closes them where the wrapper knows of them.
 *
 * The kernel sends a signal instead of each such system call (seccomp); the handler does what the call would. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "tests/runtime/session.h"

#define N_THREADS 12 /* more than there are such calls before a thread's first function */

static int n_handled;	       /* of one thread after the other */
static __thread int n_calls;   /* that change the mask, of this thread */
static _Atomic int records_at; /* which of them, of the thread that begins next */
static __thread sigjmp_buf back;

static void __attribute__((noinline)) call(void)
{
	VP_FUNCTION(0x191, 0xffffffffffffffffUL, 1)
}

static void __attribute__((noinline)) jumps_from(int depth)
{
	VP_FUNCTION(0x193, 0xffffffffffffffffUL, 2)
	if (!depth)
		siglongjmp(back, 1);
	jumps_from(depth - 1);
}

static void *begins(void *n_wrong)
{
	call();
	if (!sigsetjmp(back, 0))
		jumps_from(3);
	*(int *)n_wrong += vp_self->top != NULL;
	return NULL;
}

#if defined(__x86_64__)
static __thread int is_within; /* the handler */

static void __attribute__((noinline)) handled(void)
{
	VP_FUNCTION(0x192, 0xffffffffffffffffUL, 1)
	n_handled++;
}

/* rt_sigprocmask(how, set, old) for who was interrupted. SIGSYS stays open: the next call is a signal, too. */
static void change_mask(ucontext_t *at)
{
	greg_t *r = at->uc_mcontext.gregs;
	uint64_t mask, set = r[REG_RSI] ? *(const uint64_t *)r[REG_RSI] : 0;

	memcpy(&mask, &at->uc_sigmask, sizeof mask);
	if (r[REG_RDX])
		memcpy((void *)r[REG_RDX], &mask, sizeof mask);
	if (r[REG_RSI] && r[REG_RDI] == SIG_BLOCK)
		mask |= set;
	else if (r[REG_RSI] && r[REG_RDI] == SIG_UNBLOCK)
		mask &= ~set;
	else if (r[REG_RSI])
		mask = set;
	mask &= ~(UINT64_C(1) << (SIGSYS - 1));
	memcpy(&at->uc_sigmask, &mask, sizeof mask);
	r[REG_RAX] = 0;
}

static void on_call(int number, siginfo_t *info, void *at)
{
	int saved = errno;

	(void)number, (void)info;
	if (!is_within && ++n_calls == records_at) {
		is_within = 1;
		handled();
		is_within = 0;
	}
	change_mask(at);
	errno = saved;
}

static int make_calls_signals(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
	struct sigaction action = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER };

	return sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static int make_calls_signals(void)
{
	return 1;
}
#endif

static int target(void)
{
	int n_wrong = 0;

	call();
	if (make_calls_signals())
		return SESSION_SKIPPED;
	n_calls = -1000; /* not of this one */
	for (int i = 1; i <= N_THREADS; i++) {
		pthread_t id;

		records_at = i;
		if (pthread_create(&id, NULL, begins, &n_wrong) || pthread_join(id, NULL))
			return 3;
	}
	if (n_wrong)
		fprintf(stderr, "%d of %d threads are known twice\n", n_wrong, N_THREADS);
	return n_wrong ? 4 : n_handled ? 0 : 5;
}

int main(int argc, char **argv)
{
	struct session s;

	if (argc > 1 && strcmp(argv[1], "target") == 0)
		return target();
	if (session_run(&s, "attach", UINT64_C(64) << 20, 0))
		return 1;
	if (session_is_skipped(&s)) {
		printf("skipped: a handler at a thread's beginning: system calls cannot be made signals here\n");
	} else {
		CHECK(WIFEXITED(s.status) && !WEXITSTATUS(s.status), "the target ended with status %x",
		      (unsigned)s.status);
		CHECK(session_count(&s, 0x191) == N_THREADS + 1, "%d calls", (int)session_count(&s, 0x191));
		CHECK(session_count(&s, 0x193) == 4 * N_THREADS, "%d frames", (int)session_count(&s, 0x193));
	}
	session_end(&s);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
