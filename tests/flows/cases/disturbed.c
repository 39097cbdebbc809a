/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue in a process that a timer interrupts, that forks while it is in use, takes locks beneath many others, unmaps
 * memory within critical sections and leaves one by longjmp. */
#include "flow_case.h"

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#define DEPTH 24

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER, deep[DEPTH];
static struct item *list;
static sem_t filled;
static volatile struct item *seen_by_handler;
static volatile unsigned n_signals;
static jmp_buf out;

static void handler(int signal)
{
	(void)signal;
	seen_by_handler = list;
	n_signals++;
}

static NOINLINE void push(struct item *item)
{
	pthread_mutex_lock(&lock);
	item->next = list;
	list = item;
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *pop(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	item = list;
	list = item->next;
	pthread_mutex_unlock(&lock);
	return item;
}

static NOINLINE void unmap_within(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *large = malloc(1 << 20);

	if (page == MAP_FAILED || !large)
		abort();
	pthread_mutex_lock(&other);
	*(void *volatile *)page = large;
	munmap(page, 4096);
	*(void *volatile *)large = page;
	free(large);
	pthread_mutex_unlock(&other);
}

static NOINLINE void leave(void)
{
	pthread_mutex_lock(&other);
	longjmp(out, 1);
}

static NOINLINE void nest(void)
{
	for (int i = 0; i < DEPTH; i++)
		pthread_mutex_lock(&deep[i]);
	seen_by_handler = NULL;
	for (int i = DEPTH; i-- > 0;)
		pthread_mutex_unlock(&deep[i]);
}

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		struct item *item;

		while (sem_wait(&filled))
			;
		item = pop();
		item_use(item);
		free(item);
	}
	return arg;
}

static void fork_once(void)
{
	pid_t pid;

	pthread_mutex_lock(&lock); /* or the child might inherit it from the consumer */
	pid = fork();
	pthread_mutex_unlock(&lock);
	if (!pid) {
		push(item_new(1));
		_exit(pop()->value != 1);
	}
	while (waitpid(pid, NULL, 0) < 0)
		;
}

int main(void)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	pthread_t t;

	for (int i = 0; i < DEPTH; i++)
		pthread_mutex_init(&deep[i], NULL);
	sem_init(&filled, 0, 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	t = start(consumer);
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		push(item_new(i));
		sem_post(&filled);
		if (i % 50 == 0) {
			fork_once();
			unmap_within();
			nest();
			if (!setjmp(out))
				leave();
			pthread_mutex_unlock(&other);
		}
	}
	while (!n_signals)
		usleep(1000);
	setitimer(ITIMER_REAL, &never, NULL);
	pthread_join(t, NULL);
	truth("push", "pop", N_ITEMS);
	return checked(N_ITEMS);
}
