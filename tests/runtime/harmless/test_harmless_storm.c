/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals at the highest rate that the kernel gives, from a timer on the threads' own CPU time, one on the wall
 * clock, and a thread that sends as fast as it can: over probes, locks, conditions, forks and jumps. The handler
 * records too. What was counted is what is read back. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "tests/runtime/session.h"

#define N_TURNS 400000
#define N_HANDLED 1000 /* signals, at least */
#define N_FORKS 500
#define N_JUMPS 300000

/* VPROF_TEST_SHARED: also of children */
struct counts {
	_Atomic uint64_t n_calls, n_handled, n_forked, n_jumps_begun, n_jumps_done, n_jumped;
	_Atomic uint64_t n_wrong; /* gates and lists */
	/* the first of these: in which turn, after how many jumps; both as they were and as they should be */
	uint64_t turn, n_jumps, gate, wanted_gate, top, wanted_top;
};
static struct counts *counts;
static _Atomic int storm_over;
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t may_jump, nesting;

static void __attribute__((noinline)) call(void)
{
	VP_FUNCTION(0x181, 0xffffffffffffffffUL, 1)
	counts->n_calls++;
}

static void __attribute__((noinline)) handled(void)
{
	VP_FUNCTION(0x182, 0xffffffffffffffffUL, 1)
	counts->n_handled++;
}

static void __attribute__((noinline)) jumped_from(int depth)
{
	VP_FUNCTION(0x183, 0xffffffffffffffffUL, 2)
	if (depth)
		jumped_from(depth - 1);
}

static void on_signal(int number)
{
	int saved = errno;

	(void)number;
	nesting++;
	handled();
	if (may_jump && nesting == 1) { /* not out of another handler, which has counted its call or has not */
		may_jump = 0;
		nesting = 0;
		counts->n_jumped++;
		siglongjmp(back, 1);
	}
	nesting--;
	errno = saved;
}

/* A signal for every tick of this thread's CPU time. */
static void storm_here(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	const struct itimerspec every = { { 0, 1000 }, { 0, 1000 } };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		_exit(6);
}

/* What runs on a thread behind its last destructor is not recorded. */
static void *leave(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int turn;

static void *takes_turns(void *arg)
{
	int self = (int)(intptr_t)arg;

	storm_here();
	for (int i = 0; i < N_TURNS; i++) {
		call();
		pthread_mutex_lock(&lock);
		if (i % 16 == 0) {
			while (turn != self)
				pthread_cond_wait(&cond, &lock);
			turn = !self;
			pthread_cond_signal(&cond);
		}
		call();
		pthread_mutex_unlock(&lock);
		sem_post(&sem);
		while (sem_wait(&sem) && errno == EINTR)
			;
	}
	return leave();
}

static void *forks(void *arg)
{
	storm_here();
	for (int i = 0; i < N_FORKS; i++) {
		pid_t pid = fork();
		int status = 1;

		if (pid == 0) {
			for (int j = 0; j < 100; j++)
				call();
			_exit(0);
		}
		counts->n_forked++;
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (status)
			_exit(7);
	}
	(void)arg;
	return leave();
}

static void *jumps(void *arg)
{
	vp_u64 gate;
	struct vp_scope *top;

	call();
	gate = vp_self->gate;
	top = vp_self->top;
	storm_here();
	for (volatile int i = 0; i < N_JUMPS || !counts->n_jumped; i++) {
		if (!sigsetjmp(back, 1)) {
			counts->n_jumps_begun += 4;
			may_jump = 1;
			jumped_from(3);
			may_jump = 0;
			counts->n_jumps_done += 4;
		}
		if ((vp_self->gate != gate || vp_self->top != top) && !counts->n_wrong++) {
			counts->turn = (uint64_t)i;
			counts->n_jumps = counts->n_jumped;
			counts->gate = vp_self->gate;
			counts->wanted_gate = gate;
			counts->top = (uintptr_t)vp_self->top;
			counts->wanted_top = (uintptr_t)top;
		}
	}
	(void)arg;
	return leave();
}

struct sender {
	pid_t pid, tid;
};

static void *sends(void *arg)
{
	const struct sender *to = arg;

	leave();
	while (!storm_over) {
		for (int i = 0; i < 20; i++)
			syscall(SYS_tgkill, to->pid, to->tid, SIGUSR1);
		sched_yield();
	}
	return NULL;
}

static int shared_map(void)
{
	const char *path = getenv("VPROF_TEST_SHARED");
	int fd = path ? open(path, O_RDWR) : -1;

	counts = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return counts == MAP_FAILED ? -1 : 0;
}

static int target(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	const struct itimerval every = { { 0, 20 }, { 0, 20 } };
	struct sender me = { getpid(), (pid_t)syscall(SYS_gettid) };
	void *(*const run[])(void *) = { takes_turns, takes_turns, forks, jumps };
	pthread_t ids[4], sender;

	if (shared_map())
		return 2;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	sem_init(&sem, 0, 0);
	setitimer(ITIMER_REAL, &every, NULL);
	if (pthread_create(&sender, NULL, sends, &me))
		return 3;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&ids[i], NULL, run[i], (void *)(intptr_t)i))
			return 4;
	for (int i = 0; i < N_TURNS || counts->n_handled <= N_HANDLED; i++)
		call();
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	leave();
	storm_over = 1;
	pthread_join(sender, NULL);
	return 0;
}

/* The judge. */

int main(int argc, char **argv)
{
	char path[] = "/tmp/vprof-runtime-shared-XXXXXX";
	uint64_t calls, handlers, frames;
	struct session s;
	int fd;

	if (argc > 1 && strcmp(argv[1], "target") == 0)
		return target();
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, sizeof(*counts)) || setenv("VPROF_TEST_SHARED", path, 1) || shared_map())
		return 1;
	close(fd);
	if (session_run(&s, "storm", UINT64_C(256) << 20, 0))
		return 1;
	calls = session_count(&s, 0x181);
	handlers = session_count(&s, 0x182);
	frames = session_count(&s, 0x183);
	printf("%llu calls, %llu signals, %llu forks, %llu jumps, %llu frames of %llu to %llu\n",
	       (unsigned long long)calls, (unsigned long long)counts->n_handled, (unsigned long long)counts->n_forked,
	       (unsigned long long)counts->n_jumped, (unsigned long long)frames,
	       (unsigned long long)counts->n_jumps_done, (unsigned long long)counts->n_jumps_begun);
	CHECK(!s.trace->n_dropped && !s.trace->n_bytes_ignored, "%d dropped, %d damaged", (int)s.trace->n_dropped,
	      (int)s.trace->n_bytes_ignored);
	CHECK(calls == counts->n_calls, "%llu of %llu", (unsigned long long)calls, (unsigned long long)counts->n_calls);
	CHECK(handlers == counts->n_handled && handlers > N_HANDLED, "%llu handlers", (unsigned long long)handlers);
	/* A jump cuts at most the four frames that were being entered, and loses one whose end was being recorded. */
	CHECK(frames >= counts->n_jumps_done && frames <= counts->n_jumps_begun, "%llu frames",
	      (unsigned long long)frames);
	CHECK(counts->n_forked == N_FORKS && counts->n_jumped > 0, "forks or jumps are missing");
	CHECK(!counts->n_wrong,
	      "gate or list of frames were wrong %d times, first in turn %d, after %d jumps: gate %llx, not %llx; top %llx, "
	      "not %llx",
	      (int)counts->n_wrong, (int)counts->turn, (int)counts->n_jumps, (unsigned long long)counts->gate,
	      (unsigned long long)counts->wanted_gate, (unsigned long long)counts->top,
	      (unsigned long long)counts->wanted_top);
	session_end(&s);
	unlink(path);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
