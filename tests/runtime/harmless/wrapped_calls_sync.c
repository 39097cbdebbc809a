/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks, threads and processes. See wrapped_calls.h. */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/runtime/harmless/wrapped_calls.h"

#pragma GCC diagnostic ignored "-Wnonnull"

void __longjmp_chk(struct __jmp_buf_tag env[1], int value) __attribute__((noreturn));

static const struct timespec past = { 1, 0 }, bad = { 1, 2000000000 };

/* Locked by a thread that has ended, or never releases it. */
static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER, robust, checked;
static pthread_rwlock_t read_locked = PTHREAD_RWLOCK_INITIALIZER, write_locked = PTHREAD_RWLOCK_INITIALIZER;

static void *takes(void *arg)
{
	pthread_mutex_lock(&taken);
	pthread_mutex_lock(&robust);
	pthread_rwlock_rdlock(&read_locked);
	pthread_rwlock_wrlock(&write_locked);
	return arg;
}

static struct timespec soon(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += 2000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void mutexes(void)
{
	static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, plain = PTHREAD_MUTEX_INITIALIZER;
	struct timespec t = soon(CLOCK_REALTIME), m = soon(CLOCK_MONOTONIC);

	CALL(pthread_mutex_lock, &plain);
	NOTE(pthread_mutex_trylock(&plain));
	CALL(pthread_mutex_unlock, &plain);
	CALL(pthread_mutex_timedlock, &plain, &past); /* free: the time does not matter */
	CALL(pthread_mutex_unlock, &plain);
	CALL(pthread_mutex_clocklock, &plain, CLOCK_MONOTONIC, &past);
	CALL(pthread_mutex_unlock, &plain);
	CALL(pthread_mutex_lock, &recursive);
	CALL(pthread_mutex_lock, &recursive);
	CALL(pthread_mutex_unlock, &recursive);
	CALL(pthread_mutex_unlock, &recursive);
	CALL(pthread_mutex_unlock, &recursive);
	CALL(pthread_mutex_unlock, &checked);
	CALL(pthread_mutex_lock, &checked);
	CALL(pthread_mutex_lock, &checked);
	CALL(pthread_mutex_timedlock, &checked, &t);
	CALL(pthread_mutex_unlock, &checked);
	CALL(pthread_mutex_timedlock, &taken, &t);
	CALL(pthread_mutex_timedlock, &taken, &bad);
	CALL(pthread_mutex_clocklock, &taken, CLOCK_MONOTONIC, &m);
	CALL(pthread_mutex_clocklock, &taken, CLOCK_MONOTONIC, &bad);
	CALL(pthread_mutex_clocklock, &taken, 99, &m);
	CALL(pthread_mutex_unlock, &robust); /* another's */
	CALL(pthread_mutex_lock, &robust);
	NOTE(pthread_mutex_consistent(&robust));
	CALL(pthread_mutex_unlock, &robust);
}

static void rwlocks(void)
{
	static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	struct timespec t = soon(CLOCK_REALTIME), m = soon(CLOCK_MONOTONIC);

	CALL(pthread_rwlock_rdlock, &l);
	CALL(pthread_rwlock_rdlock, &l);
	NOTE(pthread_rwlock_trywrlock(&l));
	CALL(pthread_rwlock_unlock, &l);
	CALL(pthread_rwlock_unlock, &l);
	CALL(pthread_rwlock_wrlock, &l);
	CALL(pthread_rwlock_rdlock, &l);
	CALL(pthread_rwlock_wrlock, &l);
	CALL(pthread_rwlock_unlock, &l);
	CALL(pthread_rwlock_timedrdlock, &l, &t);
	CALL(pthread_rwlock_unlock, &l);
	CALL(pthread_rwlock_timedwrlock, &l, &t);
	CALL(pthread_rwlock_unlock, &l);
	CALL(pthread_rwlock_timedrdlock, &write_locked, &t);
	CALL(pthread_rwlock_timedrdlock, &write_locked, &bad);
	CALL(pthread_rwlock_clockrdlock, &write_locked, CLOCK_MONOTONIC, &m);
	CALL(pthread_rwlock_clockrdlock, &write_locked, 99, &m);
	CALL(pthread_rwlock_timedwrlock, &read_locked, &t);
	CALL(pthread_rwlock_timedwrlock, &read_locked, &bad);
	CALL(pthread_rwlock_clockwrlock, &read_locked, CLOCK_MONOTONIC, &m);
	CALL(pthread_rwlock_clockwrlock, &read_locked, 99, &m);
	CALL(pthread_rwlock_clockrdlock, &read_locked, CLOCK_MONOTONIC, &m);
	CALL(pthread_rwlock_unlock, &read_locked);
}

static void nothing(void)
{
}

static void conditions(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec t = soon(CLOCK_REALTIME), m = soon(CLOCK_MONOTONIC);
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_barrier_t barrier;
	pthread_spinlock_t spin;

	CALL(pthread_cond_signal, &cond);
	CALL(pthread_cond_broadcast, &cond);
	pthread_mutex_lock(&lock);
	CALL(pthread_cond_timedwait, &cond, &lock, &t);
	CALL(pthread_cond_timedwait, &cond, &lock, &past);
	CALL(pthread_cond_timedwait, &cond, &lock, &bad);
	CALL(pthread_cond_clockwait, &cond, &lock, CLOCK_MONOTONIC, &m);
	CALL(pthread_cond_clockwait, &cond, &lock, 99, &m);
	NOTE(pthread_mutex_trylock(&lock));
	pthread_mutex_unlock(&lock);
	CALL(pthread_cond_timedwait, &cond, &checked, &past); /* a mutex that is not held: EPERM */
	pthread_barrier_init(&barrier, NULL, 1);
	CALL(pthread_barrier_wait, &barrier);
	pthread_spin_init(&spin, 0);
	CALL(pthread_spin_lock, &spin);
	NOTE(pthread_spin_trylock(&spin));
	CALL(pthread_spin_unlock, &spin);
	CALL(pthread_once, &once, nothing);
	CALL(pthread_once, &once, nothing);
}

static void semaphores(void)
{
	struct timespec t = soon(CLOCK_REALTIME), m = soon(CLOCK_MONOTONIC);
	sem_t s;

	sem_init(&s, 0, 1);
	CALL(sem_wait, &s);
	CALL(sem_timedwait, &s, &t);
	CALL(sem_timedwait, &s, &bad);
	CALL(sem_clockwait, &s, CLOCK_MONOTONIC, &m);
	CALL(sem_clockwait, &s, 99, &m);
	interrupt_begin();
	CALL(sem_wait, &s);
	interrupt_end();
	CALL(sem_post, &s);
	CALL(sem_timedwait, &s, &past);
	CALL(sem_post, &s);
	CALL(sem_clockwait, &s, CLOCK_MONOTONIC, &past);
	sem_init(&s, 0, SEM_VALUE_MAX);
	CALL(sem_post, &s);
}

static void c11_locks(void)
{
	static once_flag flag = ONCE_FLAG_INIT;
	struct timespec t = soon(CLOCK_REALTIME);
	mtx_t m, recursive;
	cnd_t c;

	mtx_init(&m, mtx_timed);
	mtx_init(&recursive, mtx_plain | mtx_recursive);
	cnd_init(&c);
	CALL(mtx_lock, &m);
	CALL(mtx_timedlock, &m, &t);
	CALL(cnd_signal, &c);
	CALL(cnd_broadcast, &c);
	CALL(cnd_timedwait, &c, &m, &t);
	CALL(mtx_unlock, &m);
	CALL(mtx_timedlock, &m, &bad);
	CALL(mtx_unlock, &recursive);
	call_once(&flag, nothing);
	call_report("call_once", "", 0, 0);
}

void calls_of_locks(void)
{
	static int prepared;
	pthread_mutexattr_t attr;
	pthread_t id;

	if (!prepared) {
		prepared = 1;
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
		pthread_mutex_init(&checked, &attr);
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
		pthread_mutex_init(&robust, &attr);
		if (pthread_create(&id, NULL, takes, NULL) || pthread_join(id, NULL))
			exit(1);
	}
	mutexes();
	rwlocks();
	conditions();
	semaphores();
	c11_locks();
}

/* Threads. */

static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handed_cond = PTHREAD_COND_INITIALIZER;
static cnd_t handed_cnd;
static mtx_t handed_mtx;
static int n_handed;
static _Atomic int asleep = 1;

static void *hands_over(void *arg)
{
	pthread_mutex_lock(&handed);
	n_handed = 1;
	pthread_cond_signal(&handed_cond);
	pthread_mutex_unlock(&handed);
	return arg;
}

static int hands_over_c11(void *arg)
{
	mtx_lock(&handed_mtx);
	n_handed = 2;
	cnd_signal(&handed_cnd);
	mtx_unlock(&handed_mtx);
	return arg ? 5 : 6;
}

static void *sleeps(void *arg)
{
	while (asleep)
		usleep(1000);
	return arg;
}

void calls_of_threads(void)
{
	struct timespec t = soon(CLOCK_REALTIME), m = soon(CLOCK_MONOTONIC);
	pthread_attr_t attr;
	void *value = NULL;
	pthread_t id;
	thrd_t c11;
	int status;

	n_handed = 0;
	asleep = 1;
	pthread_mutex_lock(&handed); /* before, so that there is a wait */
	CALL(pthread_create, &id, NULL, hands_over, (void *)9);
	while (!n_handed)
		CALL(pthread_cond_wait, &handed_cond, &handed);
	pthread_mutex_unlock(&handed);
	CALL(pthread_join, id, &value);
	NOTE(value);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)1 << 46);
	CALL(pthread_create, &id, &attr, sleeps, NULL);
	CALL(pthread_create, &id, NULL, sleeps, (void *)8);
	CALL(pthread_timedjoin_np, id, &value, &t);
	CALL(pthread_clockjoin_np, id, &value, CLOCK_MONOTONIC, &m);
	CALL(pthread_clockjoin_np, id, &value, 99, &m);
	CALL(pthread_join, pthread_self(), NULL);
	asleep = 0;
	CALL(pthread_clockjoin_np, id, &value, CLOCK_MONOTONIC, NULL);
	NOTE(value);
	mtx_init(&handed_mtx, mtx_plain);
	cnd_init(&handed_cnd);
	mtx_lock(&handed_mtx);
	CALL(thrd_create, &c11, hands_over_c11, &c11);
	while (n_handed != 2)
		CALL(cnd_wait, &handed_cnd, &handed_mtx);
	mtx_unlock(&handed_mtx);
	CALL(thrd_join, c11, &status);
	NOTE(status);
}

/* Processes and jumps. */

static int child(void *arg)
{
	_exit(arg ? 7 : 0);
}

static char stack[65536] __attribute__((aligned(64)));

static void children(void)
{
	struct rusage usage;
	int status = 0;
	pid_t pid = _Fork();

	if (pid == 0)
		_exit(3);
	call_report("_Fork", "", pid > 0, 0);
	CALL_SIGN(waitpid, pid, &status, 0);
	NOTE(status);
	CALL(waitpid, pid, &status, 0);
	CALL(wait, &status);
	CALL(wait4, -1, &status, 0, &usage);
	CALL(waitpid, -1, &status, 0x7fffffff);
	pid = clone(child, stack + sizeof(stack), SIGCHLD, stack);
	CALL_SIGN(wait, &status);
	NOTE(status);
	CALL(clone, NULL, NULL, 0, NULL);
	CALL(clone, child, stack + sizeof(stack), CLONE_THREAD, stack);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (pid < 0) /* kill(-1) ends everybody */
		return;
	CALL(waitpid, pid, &status, WNOHANG);
	interrupt_begin();
	CALL(waitpid, pid, &status, 0);
	CALL(wait4, pid, &status, 0, NULL);
	CALL(wait, &status);
	interrupt_end();
	kill(pid, SIGKILL);
	CALL_SIGN(wait4, pid, &status, 0, &usage);
	NOTE(status);
}

static void system_calls(void)
{
	struct timespec t = { 0, 1000000 };
	aio_context_t events = 0;
	struct io_event event;
	int word = 5;

	CALL(syscall, SYS_futex, &word, FUTEX_WAIT_PRIVATE, 4, NULL, NULL, 0);
	CALL(syscall, SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, &t, NULL, 0);
	CALL(syscall, SYS_futex, &word, FUTEX_WAIT, 5, &bad, NULL, 0);
	CALL(syscall, SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 5, &past, NULL, FUTEX_BITSET_MATCH_ANY);
	CALL(syscall, SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	CALL(syscall, SYS_futex, NULL, FUTEX_WAKE, 1, NULL, NULL, 0);
	CALL(syscall, SYS_futex, &word, 99, 1, NULL, NULL, 0);
	CALL(syscall, SYS_io_setup, 1, &events);
	CALL(syscall, SYS_io_getevents, events, 1, 1, &event, &t);
	CALL(syscall, SYS_io_getevents, events, 0, 1, &event, NULL);
	CALL(syscall, SYS_io_getevents, events, 2, 1, &event, &t);
	CALL(syscall, SYS_io_pgetevents, events, 1, 1, &event, &t, NULL);
	CALL(syscall, SYS_io_destroy, events);
	CALL(syscall, SYS_io_getevents, events, 1, 1, &event, &t);
	CALL(syscall, SYS_io_uring_enter, -1, 0, 1, 0, NULL, 0);
	CALL_SIGN(syscall, SYS_getpid);
	CALL(syscall, SYS_close, -1);
	CALL(syscall, 99999);
	interrupt_begin();
	CALL(syscall, SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, NULL, NULL, 0);
	interrupt_end();
}

#define JUMP(name)                                                                                                     \
	do {                                                                                                           \
		static jmp_buf env;                                                                                    \
		int r;                                                                                                 \
		errno = ERRNO_BEFORE;                                                                                  \
		r = _setjmp(env);                                                                                      \
		if (r == 0)                                                                                            \
			name(env, 0); /* comes back as 1 */                                                            \
		if (r == 1)                                                                                            \
			name(env, 5);                                                                                  \
		call_report(#name, "", r, errno);                                                                      \
	} while (0)

static ucontext_t contexts[2];

static void elsewhere(void)
{
	NOTE(errno);
	CALL(swapcontext, &contexts[1], &contexts[0]);
}

void calls_of_processes(void)
{
	static sigjmp_buf env;
	sigset_t set, now;
	int r;

	children();
	system_calls();
	JUMP(longjmp);
	JUMP(_longjmp);
	JUMP(__longjmp_chk);
	sigemptyset(&set);
	r = sigsetjmp(env, 1);
	if (!r) {
		sigaddset(&set, SIGUSR2);
		sigprocmask(SIG_BLOCK, &set, NULL);
		siglongjmp(env, 4);
	}
	sigprocmask(SIG_SETMASK, NULL, &now);
	call_report("siglongjmp", "", r + sigismember(&now, SIGUSR2), 0);
	getcontext(&contexts[1]);
	contexts[1].uc_stack.ss_sp = stack;
	contexts[1].uc_stack.ss_size = sizeof(stack);
	contexts[1].uc_link = &contexts[0];
	makecontext(&contexts[1], elsewhere, 0);
	CALL(swapcontext, &contexts[0], &contexts[1]);
}
