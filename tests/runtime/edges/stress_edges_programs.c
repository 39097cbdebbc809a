/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs. The truth of a lock is inside it: who held it before. A signal's truth is a token that the signaller
 * adds under the mutex and the waiter takes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "annotate/vprof.h"
#include "tests/runtime/edges/stress_edges.h"

static __thread unsigned random_state;

unsigned edge_random(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 16;
}

void edge_object(const volatile void *object)
{
	vprof_work("object", (int64_t)(intptr_t)object);
}

void edge_truth(uint64_t who)
{
	vprof_work("truth", (int64_t)who);
}

/* Inside the lock: often long enough that others must wait, by giving up the processor. */
void edge_hold(int round)
{
	if (round % 2 == 0)
		sched_yield();
	for (volatile unsigned i = edge_random() % 64; i; i--)
		;
}

void edge_outside(void)
{
	for (volatile unsigned i = edge_random() % 256; i; i--)
		;
}

void edge_must(int result)
{
	if (result) {
		fprintf(stderr, "stress_edges: %s\n", strerror(result > 0 ? result : errno));
		_exit(3);
	}
}

static void swap_last(struct edge_shared *s, int me, int round)
{
	edge_truth((uint64_t)s->last);
	s->last = me;
	edge_hold(round);
}

/* Mutexes. */

static void mutex_init(struct edge_shared *s, int is_shared, int type, int robust, int protocol)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	pthread_mutexattr_setpshared(&a, is_shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	pthread_mutexattr_setrobust(&a, robust);
	pthread_mutexattr_setprotocol(&a, protocol);
	edge_must(pthread_mutex_init(&s->mutex, &a));
}

static void init_normal(struct edge_shared *s, int is_shared)
{
	mutex_init(s, is_shared, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
}
static void init_recursive(struct edge_shared *s, int is_shared)
{
	mutex_init(s, is_shared, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
}
static void init_errorcheck(struct edge_shared *s, int is_shared)
{
	mutex_init(s, is_shared, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
}
static void init_robust(struct edge_shared *s, int is_shared)
{
	mutex_init(s, is_shared, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
}
static void init_pi(struct edge_shared *s, int is_shared)
{
	mutex_init(s, is_shared, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
}

static struct timespec soon(clockid_t clock, long ns)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += (t.tv_nsec + ns) / 1000000000;
	t.tv_nsec = (t.tv_nsec + ns) % 1000000000;
	return t;
}

static void run_mutex(struct edge_shared *s, int me)
{
	edge_object(&s->mutex);
	for (int i = 0; i < s->n_rounds; i++) {
		edge_must(pthread_mutex_lock(&s->mutex));
		swap_last(s, me, i);
		edge_must(pthread_mutex_unlock(&s->mutex));
		edge_outside();
	}
}

static void run_timed(struct edge_shared *s, int me)
{
	edge_object(&s->mutex);
	for (int i = 0; i < s->n_rounds; i++) {
		struct timespec t = soon(i % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, i % 16 ? 1000000000 : 20000);
		int result = i % 2 ? pthread_mutex_clocklock(&s->mutex, CLOCK_MONOTONIC, &t) :
				     pthread_mutex_timedlock(&s->mutex, &t);

		if (result == ETIMEDOUT)
			continue;
		edge_must(result);
		swap_last(s, me, i);
		edge_must(pthread_mutex_unlock(&s->mutex));
		edge_outside();
	}
}

static void run_recursive(struct edge_shared *s, int me)
{
	edge_object(&s->mutex);
	for (int i = 0; i < s->n_rounds; i++) {
		edge_must(pthread_mutex_lock(&s->mutex));
		edge_must(pthread_mutex_lock(&s->mutex));
		swap_last(s, me, i);
		edge_must(pthread_mutex_unlock(&s->mutex));
		edge_hold(i);
		edge_must(pthread_mutex_trylock(&s->mutex));
		edge_must(pthread_mutex_unlock(&s->mutex));
		edge_must(pthread_mutex_unlock(&s->mutex));
		edge_outside();
	}
}

static void run_errorcheck(struct edge_shared *s, int me)
{
	edge_object(&s->mutex);
	for (int i = 0; i < s->n_rounds; i++) {
		edge_must(pthread_mutex_lock(&s->mutex));
		swap_last(s, me, i);
		if (pthread_mutex_lock(&s->mutex) != EDEADLK)
			_exit(4);
		edge_must(pthread_mutex_unlock(&s->mutex));
		if (i % 64 == 0 && pthread_mutex_unlock(&s->mutex) != EPERM)
			_exit(5);
	}
}

static void run_mtx(struct edge_shared *s, int me)
{
	edge_object(&s->mutex);
	for (int i = 0; i < s->n_rounds; i++) {
		if (mtx_lock((mtx_t *)&s->mutex) != thrd_success)
			_exit(4);
		swap_last(s, me, i);
		mtx_unlock((mtx_t *)&s->mutex);
		edge_outside();
	}
}

static void init_spin(struct edge_shared *s, int is_shared)
{
	pthread_spin_init(&s->spin, is_shared);
}

static void run_spin(struct edge_shared *s, int me)
{
	edge_object(&s->spin);
	for (int i = 0; i < s->n_rounds; i++) {
		pthread_spin_lock(&s->spin);
		swap_last(s, me, i % 16 ? 1 : 0);
		pthread_spin_unlock(&s->spin);
		edge_outside();
	}
}

/* Read-write locks: a writer is let in by the last writer, or by one of the readers since. */

static void init_rwlock(struct edge_shared *s, int is_shared)
{
	pthread_rwlockattr_t a;

	pthread_rwlockattr_init(&a);
	pthread_rwlockattr_setpshared(&a, is_shared);
	edge_must(pthread_rwlock_init(&s->rwlock, &a));
}

static void run_rwlock(struct edge_shared *s, int me)
{
	edge_object(&s->rwlock);
	for (int i = 0; i < s->n_rounds; i++) {
		struct timespec t = soon(CLOCK_REALTIME, 1000000000), m = soon(CLOCK_MONOTONIC, 1000000000);

		if (edge_random() % 3 == 0) {
			edge_must(i % 3 == 0 ? pthread_rwlock_wrlock(&s->rwlock) :
				  i % 3 == 1 ? pthread_rwlock_timedwrlock(&s->rwlock, &t) :
					       pthread_rwlock_clockwrlock(&s->rwlock, CLOCK_MONOTONIC, &m));
			edge_truth(s->readers ? s->readers | EDGE_SET : (uint64_t)s->last);
			s->readers = 0;
			s->last = me;
		} else {
			edge_must(i % 3 == 0 ? pthread_rwlock_rdlock(&s->rwlock) :
				  i % 3 == 1 ? pthread_rwlock_timedrdlock(&s->rwlock, &t) :
					       pthread_rwlock_clockrdlock(&s->rwlock, CLOCK_MONOTONIC, &m));
			edge_truth((uint64_t)s->last);
			__atomic_or_fetch(&s->readers, UINT64_C(1) << me, __ATOMIC_SEQ_CST);
		}
		edge_hold(i);
		edge_must(pthread_rwlock_unlock(&s->rwlock));
		edge_outside();
	}
}

/* Semaphores of value 1. */

static void init_sem(struct edge_shared *s, int is_shared)
{
	edge_must(sem_init(&s->sem, is_shared, 1));
}

static void sem_rounds(struct edge_shared *s, sem_t *sem, int me)
{
	edge_object(sem);
	for (int i = 0; i < s->n_rounds; i++) {
		struct timespec t = soon(CLOCK_REALTIME, 1000000000), m = soon(CLOCK_MONOTONIC, 1000000000);

		edge_must(i % 3 == 0 ? sem_wait(sem) :
			  i % 3 == 1 ? sem_timedwait(sem, &t) :
				       sem_clockwait(sem, CLOCK_MONOTONIC, &m));
		swap_last(s, me, i);
		edge_must(sem_post(sem));
		edge_outside();
	}
}

static void run_sem(struct edge_shared *s, int me)
{
	sem_rounds(s, &s->sem, me);
}

static void run_named(struct edge_shared *s, int me)
{
	char name[64];
	sem_t *sem;

	snprintf(name, sizeof name, "/vprof-edges-%d", s->word[0]);
	sem = sem_open(name, O_CREAT, 0600, 1);
	if (sem == SEM_FAILED)
		edge_must(errno);
	sem_rounds(s, sem, me);
	if (__atomic_add_fetch(&s->n_left, 1, __ATOMIC_SEQ_CST) == s->n_threads)
		sem_unlink(name);
}

static void init_named(struct edge_shared *s, int is_shared)
{
	(void)is_shared;
	s->word[0] = (int)getpid();
}

/* Conditions. */

static void init_cond(struct edge_shared *s, int is_shared)
{
	pthread_condattr_t a;

	init_normal(s, is_shared);
	pthread_condattr_init(&a);
	pthread_condattr_setpshared(&a, is_shared);
	edge_must(pthread_cond_init(&s->cond, &a));
	edge_must(pthread_cond_init(&s->done, &a));
	pthread_barrierattr_t b;
	pthread_barrierattr_init(&b);
	pthread_barrierattr_setpshared(&b, is_shared);
	edge_must(pthread_barrier_init(&s->barrier, &b, (unsigned)s->n_threads));
	edge_must(pthread_barrier_init(&s->second, &b, (unsigned)s->n_threads));
}

/* Takes the oldest token since `from`, which is as old as the waiter; without one (libc let a later waiter go for an
 * earlier one) any, and the truth is not known. */
static int take_token(struct edge_shared *s, int from)
{
	for (int pass = 0; pass < 2; pass++) {
		for (int i = pass ? s->first_token : from; i < s->generation; i++) {
			int who = s->tokens[i % 1024];

			s->tokens[i % 1024] = 0;
			if (who) {
				while (s->first_token < s->generation && !s->tokens[s->first_token % 1024])
					s->first_token++;
				return pass ? 0 : who;
			}
		}
	}
	return 0;
}

/* Half of the threads signal, and leave a token each; a waiter that returns takes one. Who does not wait takes none. */
static void run_signal(struct edge_shared *s, int me)
{
	edge_object(&s->cond);
	for (int i = 0; i < s->n_rounds; i++) {
		edge_must(pthread_mutex_lock(&s->mutex));
		if (me % 2) {
			int from = s->generation;

			s->n_waiting++;
			do {
				edge_must(pthread_cond_wait(&s->cond, &s->mutex));
				if (!s->n_tokens)
					edge_truth(0);
			} while (!s->n_tokens);
			edge_truth((uint64_t)take_token(s, from));
			s->n_tokens--;
			s->n_waiting--;
		} else {
			while (s->n_tokens == s->n_waiting) {
				edge_must(pthread_mutex_unlock(&s->mutex));
				sched_yield();
				edge_must(pthread_mutex_lock(&s->mutex));
			}
			s->n_tokens++;
			s->tokens[s->generation++ % 1024] = me;
			edge_must(pthread_cond_signal(&s->cond));
		}
		edge_must(pthread_mutex_unlock(&s->mutex));
		edge_outside();
	}
}

/* Everybody waits for the generation to change; the last to come changes it. */
static void run_broadcast(struct edge_shared *s, int me)
{
	edge_object(&s->cond);
	for (int i = 0; i < s->n_rounds; i++) {
		int generation, round;

		edge_must(pthread_mutex_lock(&s->mutex));
		generation = s->generation;
		round = generation % 1024;
		if (++s->n_waiting == s->n_threads) {
			s->n_waiting = 0;
			s->tokens[round] = me;
			s->generation++;
			edge_hold(i);
			edge_must(pthread_cond_broadcast(&s->cond));
		} else {
			struct timespec t = soon(CLOCK_MONOTONIC, 1000000000);

			while (s->generation == generation) {
				int result = i % 2 ? pthread_cond_wait(&s->cond, &s->mutex) :
						     pthread_cond_clockwait(&s->cond, &s->mutex, CLOCK_MONOTONIC, &t);
				if (result != ETIMEDOUT)
					edge_must(result);
			}
			edge_truth((uint64_t)s->tokens[round]);
		}
		edge_must(pthread_mutex_unlock(&s->mutex));
		edge_outside();
	}
}

static void run_cnd(struct edge_shared *s, int me)
{
	edge_object(&s->cond);
	for (int i = 0; i < s->n_rounds; i++) {
		int generation;

		mtx_lock((mtx_t *)&s->mutex);
		generation = s->generation;
		if (++s->n_waiting == s->n_threads) {
			s->n_waiting = 0;
			s->tokens[generation % 1024] = me;
			s->generation++;
			cnd_broadcast((cnd_t *)&s->cond);
		} else {
			while (s->generation == generation)
				cnd_wait((cnd_t *)&s->cond, (mtx_t *)&s->mutex);
			edge_truth((uint64_t)s->tokens[generation % 1024]);
		}
		mtx_unlock((mtx_t *)&s->mutex);
	}
}

/* The mutex of a condition: a wait for it may end because its holder waits for the condition. */
static void run_cond_mutex(struct edge_shared *s, int me)
{
	edge_object(&s->mutex);
	for (int i = 0; i < s->n_rounds; i++) {
		edge_must(pthread_mutex_lock(&s->mutex));
		swap_last(s, me, i);
		if (s->n_waiting < s->n_threads / 2) {
			s->n_waiting++;
			edge_must(pthread_cond_wait(&s->cond, &s->mutex));
			s->last = me;
		} else if (s->n_waiting) {
			s->n_waiting--;
			edge_must(pthread_cond_signal(&s->cond));
		}
		edge_must(pthread_mutex_unlock(&s->mutex));
	}
	__atomic_add_fetch(&s->n_left, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&s->n_left, __ATOMIC_SEQ_CST) < s->n_threads) {
		pthread_cond_broadcast(&s->cond);
		usleep(1000);
	}
}

static void run_barrier(struct edge_shared *s, int me)
{
	edge_object(&s->barrier);
	for (int i = 0; i < s->n_rounds; i++) {
		if (pthread_barrier_wait(&s->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			s->last = me;
		pthread_barrier_wait(&s->second);
		edge_truth((uint64_t)s->last);
		edge_outside();
	}
}

/* once: a new control in each round; meeting at a barrier makes the threads come together. */

static pthread_once_t controls[100000];
static int ran_by[100000];
static __thread int once_me, once_round;

static void once_init(void)
{
	ran_by[once_round] = once_me;
	edge_hold(0);
	edge_hold(0);
}

static void run_once(struct edge_shared *s, int me)
{
	once_me = me;
	for (int i = 0; i < s->n_rounds && i < 100000; i++) {
		pthread_barrier_wait(&s->barrier);
		once_round = i;
		edge_object(&controls[i]);
		edge_truth(0);
		if (i % 2)
			edge_must(pthread_once(&controls[i], once_init));
		else
			call_once((once_flag *)&controls[i], once_init);
		edge_truth((uint64_t)ran_by[i]);
	}
}

/* Joins: the truth is the thread's own number. */

static int next_number = 1000;

static void *joined(void *arg)
{
	int number = *(int *)arg;

	vprof_work("me", number);
	edge_hold(0);
	edge_outside();
	return NULL;
}

static int joined_c11(void *arg)
{
	joined(arg);
	return 7;
}

static void run_join(struct edge_shared *s, int me)
{
	(void)me;
	for (int i = 0; i < s->n_rounds; i++) {
		int number = __atomic_add_fetch(&next_number, 1, __ATOMIC_RELAXED), value;
		pthread_t id;

		if (i % 4) {
			edge_must(pthread_create(&id, NULL, joined, &number));
			edge_object((void *)id);
			edge_must(pthread_join(id, NULL));
		} else {
			if (thrd_create((thrd_t *)&id, joined_c11, &number) != thrd_success)
				_exit(4);
			edge_object((void *)id);
			if (thrd_join((thrd_t)id, &value) != thrd_success || value != 7)
				_exit(5);
		}
		edge_truth((uint64_t)number);
	}
}

/* Raw futexes: a word for each waiter, set to the number of whoever sets it. */

static void run_futex(struct edge_shared *s, int me)
{
	int *word = &s->word[me / 2 % EDGE_SLOTS], who;

	edge_object(word);
	for (int i = 0; i < s->n_rounds; i++) {
		if (me % 2) { /* odd: waits on the word of me / 2; 2k and 2k + 1 are partners */
			while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
				syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
			who = __atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST);
			edge_truth((uint64_t)who);
		} else {
			edge_outside();
			while (__atomic_load_n(word, __ATOMIC_SEQ_CST))
				sched_yield();
			__atomic_store_n(word, me, __ATOMIC_SEQ_CST);
			syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
		}
	}
}

static void init_futex(struct edge_shared *s, int is_shared)
{
	(void)is_shared;
	if (s->n_threads % 2)
		_exit(2);
}

const struct edge_program edge_programs[] = {
	{ "mutex", init_normal, run_mutex, 16, 8, 8000, 10 },
	{ "mutex timed", init_normal, run_timed, 16, 8, 4000, 10 },
	{ "mutex recursive", init_recursive, run_recursive, 16, 8, 4000, 10 },
	{ "mutex errorcheck", init_errorcheck, run_errorcheck, 16, 8, 4000, 10 },
	{ "mutex robust", init_robust, run_mutex, 16, 8, 4000, 10 },
	{ "mutex inheriting", init_pi, run_mutex, 16, 8, 4000, 10 },
	{ "C11 mtx", init_normal, run_mtx, 16, 1, 4000, 10 },
	{ "spin lock", init_spin, run_spin, 4, 2, 4000, 10 },
	{ "rwlock", init_rwlock, run_rwlock, 16, 8, 4000, 10 },
	{ "semaphore", init_sem, run_sem, 16, 8, 4000, 10 },
	{ "semaphore named", init_named, run_named, 16, 8, 4000, 10 },
	{ "cond signal", init_cond, run_signal, 16, 8, 4000, 20 },
	{ "cond broadcast", init_cond, run_broadcast, 16, 8, 4000, 20 },
	{ "cond's mutex", init_cond, run_cond_mutex, 16, 8, 4000, 10 },
	{ "C11 cnd", init_cond, run_cnd, 16, 1, 4000, 10 },
	{ "barrier", init_cond, run_barrier, 16, 8, 4000, 20 },
	{ "once", init_cond, run_once, 16, 1, 4000, 10 },
	{ "join", init_cond, run_join, 16, 1, 1000, 10 },
	{ "futex", init_futex, run_futex, 16, 8, 8000, 10 },
	{ "pipe", edge_init_pipe, edge_run_bytes, 16, 8, 2000, 10 },
	{ "FIFO", edge_init_fifo, edge_run_bytes, 16, 8, 2000, 10 },
	{ "socketpair", edge_init_socketpair, edge_run_bytes, 16, 8, 2000, 10 },
	{ "TCP", edge_init_tcp, edge_run_bytes, 16, 8, 2000, 10 },
	{ "eventfd", edge_init_eventfd, edge_run_eventfd, 16, 8, 2000, 10 },
	{ "poll", edge_init_pipe, edge_run_poll, 16, 8, 2000, 10 },
	{ "epoll", edge_init_socketpair, edge_run_epoll, 16, 8, 2000, 10 },
	{ "epoll of TCP", edge_init_tcp, edge_run_epoll, 16, 8, 2000, 10 },
	{ "select", edge_init_fifo, edge_run_select, 16, 8, 2000, 10 },
	{ "poll of several", edge_init_pipe, edge_run_poll_several, 16, 8, 2000, 10 },
	{ "message queue", edge_init_queue, edge_run_queue, 16, 8, 2000, 10 },
	{ "std::mutex", NULL, edge_cpp_mutex, 16, 1, 4000, 10 },
	{ "std::shared_mutex", NULL, edge_cpp_shared_mutex, 16, 1, 4000, 10 },
	{ "std::cond_variable", NULL, edge_cpp_condition, 16, 1, 4000, 10 },
	{ "std::future", NULL, edge_cpp_future, 16, 1, 1000, 10 },
	{ "std::thread", NULL, edge_cpp_thread, 16, 1, 1000, 10 },
};
const size_t n_edge_programs = sizeof edge_programs / sizeof edge_programs[0];

/* Threads and processes. */

struct start {
	const struct edge_program *program;
	struct edge_shared *shared;
	int me;
};

static void *start_thread(void *arg)
{
	const struct start *st = arg;
	struct edge_shared *s = st->shared;

	vprof_work("me", st->me);
	random_state = (unsigned)st->me * 7919u;
	__atomic_add_fetch(&s->n_started, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&s->n_started, __ATOMIC_SEQ_CST) < s->n_threads)
		sched_yield();
	st->program->thread(s, st->me);
	return NULL;
}

static void run_process(const struct edge_program *p, struct edge_shared *s, int first, int n)
{
	struct start starts[64];
	pthread_t ids[64];

	for (int i = 0; i < n; i++) {
		starts[i] = (struct start){ p, s, first + i };
		edge_must(pthread_create(&ids[i], NULL, start_thread, &starts[i]));
	}
	for (int i = 0; i < n; i++)
		edge_must(pthread_join(ids[i], NULL));
}

int edge_run(const struct edge_program *p, int n_threads, int n_processes, int n_rounds)
{
	int is_shared = n_processes > 1, status, bad = 0;
	struct edge_shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
				     (is_shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED || n_threads > 60 || n_threads < 1)
		return 2;
	vprof_work("me", 0); /* becomes active before anything is made */
	s->n_threads = n_threads * n_processes;
	s->n_rounds = n_rounds;
	if (p->init)
		p->init(s, is_shared);
	for (int i = 0; is_shared && i < n_processes; i++) {
		if (fork() == 0) {
			run_process(p, s, 2 + i * n_threads, n_threads);
			exit(0);
		}
	}
	if (!is_shared)
		run_process(p, s, 2, n_threads);
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}
