/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that cannot be started is no error: the others do its work. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "common/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

struct pool {
	int (*work)(void *arg, int worker, size_t item);
	void *arg;
	size_t n_items;
	_Atomic size_t next;
	_Atomic int failed;
};

struct member {
	struct pool *pool;
	int worker;
	pthread_t id;
	int is_started;
};

int vprof_parallel_count(int wanted)
{
	cpu_set_t set;
	long n;

	if (wanted > 0)
		return wanted < VPROF_PARALLEL_MAX ? wanted : VPROF_PARALLEL_MAX;
	n = sched_getaffinity(0, sizeof set, &set) ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
	return n < 1 ? 1 : n > VPROF_PARALLEL_MAX ? VPROF_PARALLEL_MAX : (int)n;
}

static void *run(void *arg)
{
	struct member *m = arg;
	struct pool *p = m->pool;
	size_t item;

	while (!atomic_load(&p->failed) && (item = atomic_fetch_add(&p->next, 1)) < p->n_items) {
		int ret = p->work(p->arg, m->worker, item), none = 0;

		if (ret)
			atomic_compare_exchange_strong(&p->failed, &none, ret);
	}
	return NULL;
}

int vprof_parallel_run(int n_workers, size_t n_items, int (*work)(void *arg, int worker, size_t item), void *arg)
{
	struct pool pool = { .work = work, .arg = arg, .n_items = n_items };
	struct member members[VPROF_PARALLEL_MAX];

	if ((size_t)n_workers > n_items)
		n_workers = (int)n_items;
	n_workers = n_workers < 1 ? 1 : n_workers;
	for (int i = 0; i < n_workers; i++) {
		members[i] = (struct member){ .pool = &pool, .worker = i };
		if (i)
			members[i].is_started = !pthread_create(&members[i].id, NULL, run, &members[i]);
	}
	run(&members[0]);
	for (int i = 1; i < n_workers; i++)
		if (members[i].is_started)
			pthread_join(members[i].id, NULL);
	return atomic_load(&pool.failed);
}

static void *run_background(void *arg)
{
	struct vprof_background *background = arg;

	background->ret = background->work(background->arg);
	return NULL;
}

void vprof_background_begin(struct vprof_background *background, int n_workers, int (*work)(void *arg), void *arg)
{
	*background = (struct vprof_background){ .work = work, .arg = arg };
	background->is_started = n_workers > 1 && !pthread_create(&background->id, NULL, run_background, background);
	if (!background->is_started)
		run_background(background);
}

int vprof_background_end(struct vprof_background *background)
{
	if (background->is_started)
		pthread_join(background->id, NULL);
	return background->ret;
}
