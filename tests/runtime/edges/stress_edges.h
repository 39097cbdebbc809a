/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs of stress_edges: each lets threads or processes wait for one another and logs who released whom. */
#ifndef VPROF_TESTS_RUNTIME_STRESS_EDGES_H
#define VPROF_TESTS_RUNTIME_STRESS_EDGES_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EDGE_SET (UINT64_C(1) << 62)	      /* the truth is a set of threads, bit by number */
#define EDGE_MAY_BE_OPEN (UINT64_C(1) << 61)  /* the program saw several that could have ended the wait */
#define EDGE_MAY_BE_READY (UINT64_C(1) << 60) /* the thread did not block, so that it may be no wait */
#define EDGE_ANY_POLL 1			      /* as the object: the waits of polls; 0: every wait */
#define EDGE_SLOTS 64

enum edge_kind { EDGE_ME, EDGE_OBJECT, EDGE_TRUTH };

/* Shared by the threads, and by the processes when there are several. */
struct edge_shared {
	pthread_mutex_t mutex, gate;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	pthread_barrier_t barrier, second;
	pthread_cond_t cond, done;
	sem_t sem;
	int last;	  /* who held the lock last */
	uint64_t readers; /* of this epoch, a set */
	int generation, n_waiting, n_tokens, first_token, tokens[1024];
	int n_started, n_left;
	int word[EDGE_SLOTS];
	int fds[EDGE_SLOTS][2];
	uint64_t n_begun[EDGE_SLOTS], n_ended[EDGE_SLOTS]; /* writes into each channel */
	int may_lag; /* what was written may be on its way when its writer has returned (TCP) */
	sem_t ready[EDGE_SLOTS];
	int n_threads; /* in all processes */
	int n_rounds;
};

struct edge_program {
	const char *name;
	void (*init)(struct edge_shared *s, int is_shared);
	void (*thread)(struct edge_shared *s, int me); /* me: from 1 */
	int max_threads, max_processes;		       /* 1 thread: processes only */
	int n_rounds, all_factor; /* rounds of a thread of a pair in the short run; times that for all */
};

extern const struct edge_program edge_programs[];
extern const size_t n_edge_programs;
int edge_run(const struct edge_program *p, int n_threads, int n_processes, int n_rounds);

void edge_object(const volatile void *object);
void edge_truth(uint64_t who);
void edge_hold(int round);
unsigned edge_random(void);
void edge_must(int result); /* ends the program unless 0 */
void edge_outside(void);    /* some time without the lock */

void edge_init_pipe(struct edge_shared *s, int is_shared);
void edge_init_socketpair(struct edge_shared *s, int is_shared);
void edge_init_eventfd(struct edge_shared *s, int is_shared);
void edge_init_tcp(struct edge_shared *s, int is_shared);
void edge_init_fifo(struct edge_shared *s, int is_shared);
void edge_init_queue(struct edge_shared *s, int is_shared);
void edge_run_bytes(struct edge_shared *s, int me);
void edge_run_eventfd(struct edge_shared *s, int me);
void edge_run_poll(struct edge_shared *s, int me);
void edge_run_epoll(struct edge_shared *s, int me);
void edge_run_select(struct edge_shared *s, int me);
void edge_run_poll_several(struct edge_shared *s, int me);
void edge_run_queue(struct edge_shared *s, int me);

void edge_cpp_mutex(struct edge_shared *s, int me);
void edge_cpp_shared_mutex(struct edge_shared *s, int me);
void edge_cpp_condition(struct edge_shared *s, int me);
void edge_cpp_future(struct edge_shared *s, int me);
void edge_cpp_thread(struct edge_shared *s, int me);

#ifdef __cplusplus
}
#endif
#endif
