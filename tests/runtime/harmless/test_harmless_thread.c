/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads and stacks: pthread_exit, cancellation inside each wrapped call, coroutines, many threads, small stacks,
 * libraries that come and go; no allocation while recording; errno as it was. `--slow`: more threads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <ucontext.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define N_EXITS 500
#define N_SWITCHES 5000
#define N_LOADS 50

static void __attribute__((noinline)) call(void)
{
	VP_FUNCTION(0x121, 0xffffffffffffffffUL, 1)
}

static void __attribute__((noinline)) top_only(void)
{
	VP_FUNCTION(0x122, 0x1UL, 5)
}

/* malloc as the program's own, counting; a sanitizer of the judge has one already. */

static __thread int counts_mallocs;
static _Atomic int n_mallocs;
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !__has_feature(address_sanitizer) &&            \
	!__has_feature(thread_sanitizer)
extern void *__libc_malloc(size_t n);
void *malloc(size_t n)
{
	if (counts_mallocs)
		n_mallocs++;
	return __libc_malloc(n);
}
#endif

/* pthread_exit and cancellation from within measured frames. */

static pthread_key_t at_exit_key;

static void at_exit(void *arg)
{
	(void)arg;
	call();
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
static void __attribute__((noinline)) exits_within(int depth)
{
	VP_FUNCTION(0x123, 0xffffffffffffffffUL, 2)
	if (!depth)
		pthread_exit(NULL);
	exits_within(depth - 1);
	call();
}

static void *exits(void *arg)
{
	pthread_setspecific(at_exit_key, &at_exit_key);
	call();
	exits_within(5);
	return arg;
}

static int target_exit(void)
{
	pthread_key_create(&at_exit_key, at_exit);
	for (int i = 0; i < N_EXITS; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, exits, NULL) || pthread_join(id, NULL))
			return 1;
	}
	call();
	pthread_exit(NULL); /* of the main thread: the process ends with 0 */
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int pipes[2], sockets[2], event_fd, epoll_fd;
static pthread_t sleeper;
static _Atomic int blocked;
static const struct timespec far_away = { 4000000000, 0 }, long_time = { 1000, 0 };

static void unlock(void *arg)
{
	pthread_mutex_unlock(arg);
}

static void *sleeps(void *arg)
{
	sleep(1000);
	return arg;
}

static void in_cond(int timed)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	if (timed == 2)
		pthread_cond_clockwait(&cond, &lock, CLOCK_MONOTONIC, &far_away);
	else if (timed)
		pthread_cond_timedwait(&cond, &lock, &far_away);
	else
		pthread_cond_wait(&cond, &lock);
	pthread_cleanup_pop(1);
}

static void block_in(int where)
{
	struct pollfd p = { pipes[0], POLLIN, 0 };
	struct epoll_event e;
	char c[8];
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(pipes[0], &fds);
	switch (where) {
	case 0:
		in_cond(0);
		break;
	case 1:
		in_cond(1);
		break;
	case 2:
		in_cond(2);
		break;
	case 3:
		sem_wait(&sem);
		break;
	case 4:
		sem_timedwait(&sem, &far_away);
		break;
	case 5:
		sem_clockwait(&sem, CLOCK_MONOTONIC, &far_away);
		break;
	case 6:
		pthread_join(sleeper, NULL);
		break;
	case 7:
		pthread_clockjoin_np(sleeper, NULL, CLOCK_MONOTONIC, &far_away);
		break;
	case 8:
		pthread_timedjoin_np(sleeper, NULL, &far_away);
		break;
	case 9:
		(void)!read(pipes[0], c, 1);
		break;
	case 10:
		(void)!read(event_fd, c, 8);
		break;
	case 11:
		recv(sockets[0], c, 1, 0);
		break;
	case 12:
		recvfrom(sockets[0], c, 1, 0, NULL, NULL);
		break;
	case 13:
		poll(&p, 1, -1);
		break;
	case 14:
		ppoll(&p, 1, NULL, NULL);
		break;
	case 15:
		select(pipes[0] + 1, &fds, NULL, NULL, NULL);
		break;
	case 16:
		pselect(pipes[0] + 1, &fds, NULL, NULL, NULL, NULL);
		break;
	case 17:
		epoll_wait(epoll_fd, &e, 1, -1);
		break;
	case 18:
		epoll_pwait(epoll_fd, &e, 1, -1, NULL);
		break;
	case 19:
		nanosleep(&long_time, NULL);
		break;
	case 20:
		clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
		break;
	case 21:
		usleep(900000000);
		break;
	case 22:
		sleep(1000);
		break;
	case 23:
		pause();
		break;
	default:
		break;
	}
}
#define N_BLOCKING 24

static void __attribute__((noinline)) cancelled_within(int where)
{
	VP_FUNCTION(0x124, 0xffffffffffffffffUL, 3)
	call();
	blocked = 1;
	block_in(where);
}

static void *cancelled(void *arg)
{
	cancelled_within((int)(intptr_t)arg);
	return NULL;
}

static int target_cancel(void)
{
	pthread_t id;
	void *how;

	sem_init(&sem, 0, 0);
	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || (event_fd = eventfd(0, 0)) < 0 ||
	    (epoll_fd = epoll_create1(0)) < 0 || pthread_create(&sleeper, NULL, sleeps, NULL))
		return 100;
	for (int where = 0; where < N_BLOCKING; where++) {
		for (int late = 0; late < 2; late++) { /* cancelled on its way, and when blocked */
			blocked = 0;
			if (pthread_create(&id, NULL, cancelled, (void *)(intptr_t)where))
				return 101;
			while (late && !blocked)
				sched_yield();
			if (late)
				usleep(5000);
			pthread_cancel(id);
			if (pthread_timedjoin_np(id, &how, &far_away) || how != PTHREAD_CANCELED)
				return where + 1;
			if (pthread_mutex_trylock(&lock)) /* the mutex of the condition variable was given back */
				return 102;
			pthread_mutex_unlock(&lock);
		}
	}
	/* Nobody is counted as waiting any more: no wake is recorded for these. */
	vprof_work("before the wakes", 1);
	pthread_cond_broadcast(&cond);
	sem_post(&sem);
	vprof_work("behind the wakes", 1);
	return 0;
}

/* Coroutines: each has its own open frames. */

static ucontext_t contexts[3];
static char coroutine_stacks[2][65536];

static void __attribute__((noinline)) coroutine_frame(int self)
{
	VP_FUNCTION(0x125, 0xffffffffffffffffUL, 4)
	swapcontext(&contexts[self], &contexts[2]);
	call();
	vprof_work("switches", 1);
}

static void coroutine(int self)
{
	for (int i = 0; i < N_SWITCHES; i++)
		coroutine_frame(self);
}

static int target_coroutines(void)
{
	for (volatile int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = coroutine_stacks[i];
		contexts[i].uc_stack.ss_size = sizeof(coroutine_stacks[i]);
		contexts[i].uc_link = &contexts[2];
		makecontext(&contexts[i], (void (*)(void))(uintptr_t)coroutine, 1, i);
	}
	for (int i = 0; i < 2 * (N_SWITCHES + 1); i++) {
		swapcontext(&contexts[2], &contexts[i % 2]);
		top_only(); /* its gate is open here, outside of the coroutines' frames */
	}
	return 0;
}

/* Many threads: n at once, on the smallest of stacks. */

static _Atomic int n_arrived, go_on;

static void *waits_for_all(void *arg)
{
	call();
	vprof_begin("thread", (intptr_t)arg);
	pthread_mutex_lock(&lock);
	n_arrived++;
	while (!go_on)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
	vprof_end("thread", (intptr_t)arg);
	call();
	return NULL;
}

static int many(int n)
{
	pthread_t *ids = calloc((size_t)n, sizeof(*ids));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (int i = 0; i < n; i++) {
		int failed = pthread_create(&ids[i], &attr, waits_for_all, (void *)(intptr_t)i);

		if (failed) {
			fprintf(stderr, "thread %d: %s\n", i, strerror(failed));
			return 1;
		}
	}
	while (n_arrived < n)
		usleep(1000);
	pthread_mutex_lock(&lock);
	go_on = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	return 0;
}

static int target_many(void)
{
	return many(2000);
}

static int target_many_slow(void)
{
	return many(10000);
}

static _Atomic int n_called;

static void *calls_once(void *arg)
{
	call();
	n_called++;
	return arg;
}

#define DRAIN_EVERY 256 /* threads, each of which takes a chunk */

static int short_ones(int n)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < n; i += 2) {
		pthread_t ids[2];

		if (pthread_create(&ids[0], NULL, calls_once, NULL))
			return 1;
		while (pthread_create(&ids[1], &attr, calls_once, NULL)) /* EAGAIN while others are still leaving */
			usleep(1000);
		pthread_join(ids[0], NULL);
		if (i % DRAIN_EVERY == 0)
			raise(SIGSTOP); /* until the collector has emptied the ring */
	}
	while (n_called < n)
		sched_yield();
	return 0;
}

static int target_short(void)
{
	return short_ones(6000);
}

static int target_short_slow(void)
{
	return short_ones(100000);
}

/* Libraries loaded and unloaded while another thread samples stacks, which looks at the modules. */

static _Atomic int loading = 1;

static void *samples(void *arg)
{
	while (loading) {
		vprof_begin("sample", 1);
		vprof_end("sample", 1);
		usleep(50);
	}
	return arg;
}

static int target_dlopen(void)
{
	VP_FUNCTION(0x126, 0xffffffffffffffffUL, 3) /* opens the gate of the library's function */
	pthread_t id;

	if (pthread_create(&id, NULL, samples, NULL))
		return 1;
	for (int i = 0; i < N_LOADS; i++) {
		void *library = dlopen(VPROF_TEST_MODULE, RTLD_NOW);
		int (*module_call)(int) = NULL;

		if (!library)
			return 2;
		*(void **)&module_call = dlsym(library, "module_call");
		for (int j = 0; j < 10; j++)
			if (!module_call || module_call(j) != j + 1)
				return 3;
		if (dlclose(library))
			return 4;
	}
	loading = 0;
	return pthread_join(id, NULL);
}

/* No malloc, and errno as it was, in whatever records. */

static int quiet(int i)
{
	struct timespec soon;

	clock_gettime(CLOCK_REALTIME, &soon);
	call();
	vprof_begin("quiet", i);
	vprof_type("text");
	vprof_work("rows", i);
	vprof_enqueue(&soon);
	vprof_dequeue(&soon);
	vprof_end("quiet", i);
	pthread_mutex_lock(&lock);
	pthread_cond_signal(&cond);
	if (pthread_cond_timedwait(&cond, &lock, &soon) != ETIMEDOUT)
		return 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	sem_post(&sem);
	sem_wait(&sem);
	usleep(20);
	return errno != 77;
}

static _Atomic int contend = 1;

static void *contends(void *arg)
{
	counts_mallocs = 1;
	while (contend) {
		pthread_mutex_lock(&lock);
		usleep(10);
		pthread_mutex_unlock(&lock);
		call();
	}
	return arg;
}

static int target_quiet(void)
{
	pthread_t id;
	int failed = 0;

	sem_init(&sem, 0, 0);
	if (pthread_create(&id, NULL, contends, NULL))
		return 1;
	counts_mallocs = 1;
	errno = 77;
	for (int i = 0; i < 1000 && !failed; i++)
		failed = quiet(i);
	for (int i = 0; i < 100000; i++) /* more than a chunk */
		call();
	counts_mallocs = 0;
	contend = 0;
	if (failed || errno != 77)
		return 2;
	pthread_join(id, NULL);
	if (n_mallocs)
		fprintf(stderr, "%d allocations while recording\n", n_mallocs);
	if (n_mallocs)
		return 3;

	/* Results and errors are libc's. */
	errno = 0;
	if (read(-1, &failed, 1) != -1 || errno != EBADF || close(-1) != -1 || errno != EBADF)
		return 4;
	errno = 0;
	if (sem_trywait(&sem) != -1 || errno != EAGAIN)
		return 5;
	errno = 0;
	if (sem_timedwait(&sem, &(struct timespec){ 1, 0 }) != -1 || errno != ETIMEDOUT)
		return 6;
	errno = 0;
	if (open("/nonexistent", O_RDONLY) != -1 || errno != ENOENT)
		return 7;
	errno = 0;
	if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno != EINVAL)
		return 8;
	errno = 77;
	if (pthread_mutex_unlock(&lock) != 0 && errno != 77)
		return 9;
	if (waitpid(-1, NULL, 0) != -1 || errno != ECHILD)
		return 10;
	return 0;
}

/* Checks. */

static struct session run(const char *mode, uint64_t memory_bytes, int stacks)
{
	struct session s;

	if (session_run(&s, mode, memory_bytes, stacks))
		exit(1);
	CHECK(s.trace->n_bytes_ignored == 0, "%s: damaged %d", mode, (int)s.trace->n_bytes_ignored);
	return s;
}

struct wakes {
	int n_works, n_wakes;
};

static void wakes_between(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct wakes *w = arg;

	(void)th;
	(void)n;
	w->n_works += VP_CODE(u->w) == VP_KIND_WORK;
	w->n_wakes += VP_CODE(u->w) == VP_KIND_WAKE && w->n_works == 1;
}

static void check_threads(int n, const char *mode, const char *mode_short, int n_short, uint64_t memory_bytes)
{
	struct session s = run(mode, memory_bytes, 5);
	int n_calls = (int)session_count(&s, 0x121);

	printf("%d threads at once: %d dropped\n", n, (int)s.trace->n_dropped);
	CHECK(n_calls + s.trace->n_dropped >= 2 * (uint64_t)n && n_calls <= 2 * n, "%d calls", n_calls);
	CHECK(s.trace->n_dropped || n_calls == 2 * n, "%d calls", n_calls);
	session_end(&s);
	s = run(mode_short, 64u << 20, 0);
	CHECK(session_count(&s, 0x121) == (uint64_t)n_short && !s.trace->n_dropped, "short threads: %d, %d dropped",
	      (int)session_count(&s, 0x121), (int)s.trace->n_dropped);
	session_end(&s);
}

static void check_all(void)
{
	struct wakes w = { 0, 0 };
	struct session s = run("exit", 32u << 20, 0);

	CHECK(session_count(&s, 0x121) == 2 * N_EXITS + 1, "%d", (int)session_count(&s, 0x121));
	CHECK(session_count(&s, VP_KIND_EXIT) == N_EXITS + 1, "%d", (int)session_count(&s, VP_KIND_EXIT));
	session_end(&s);

	s = run("cancel", 32u << 20, 10);
	session_each(&s, wakes_between, &w);
	CHECK(w.n_works == 2 && w.n_wakes == 0, "%d wakes for nobody", w.n_wakes);
	session_end(&s);

	s = run("coroutines", 32u << 20, 100);
	CHECK(session_count(&s, 0x125) == 2 * N_SWITCHES && session_count(&s, 0x121) == 2 * N_SWITCHES, "%d %d",
	      (int)session_count(&s, 0x125), (int)session_count(&s, 0x121));
	CHECK(session_count(&s, 0x122) == 2 * (N_SWITCHES + 1), "the gate outside: %d", (int)session_count(&s, 0x122));
	session_end(&s);

	s = run("dlopen", 64u << 20, 1000000);
	CHECK(session_count(&s, 0x203) == 10 * N_LOADS, "%d", (int)session_count(&s, 0x203));
	session_end(&s);

	s = run("quiet", 64u << 20, 1000000);
	CHECK(session_count(&s, 0x121) >= 101000, "%d", (int)session_count(&s, 0x121));
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} targets[] = { { "exit", target_exit },
			{ "cancel", target_cancel },
			{ "coroutines", target_coroutines },
			{ "many", target_many },
			{ "many_slow", target_many_slow },
			{ "short", target_short },
			{ "short_slow", target_short_slow },
			{ "dlopen", target_dlopen },
			{ "quiet", target_quiet } };

	for (size_t i = 0; argc > 2 && i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(argv[2], targets[i].name) == 0)
			return targets[i].run();
	if (argc > 1 && strcmp(argv[1], "--slow") == 0) {
		check_threads(10000, "many_slow", "short_slow", 100000, UINT64_C(1) << 30);
	} else {
		check_all();
		check_threads(2000, "many", "short", 6000, UINT64_C(256) << 20);
	}
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
