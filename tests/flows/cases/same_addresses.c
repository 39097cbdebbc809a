/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that forked have the same addresses for what is each one's own: a list of items, and the lock in memory
 * that they share. Each takes what it put itself, so nothing is handed over. */
#include "flow_case.h"

#include <sys/mman.h>
#include <sys/wait.h>

static pthread_mutex_t *lock;
static struct item *list, items[N_ITEMS];

static NOINLINE void keep(struct item *item)
{
	pthread_mutex_lock(lock);
	item->next = list;
	list = item;
	pthread_mutex_unlock(lock);
}

static NOINLINE struct item *take(void)
{
	struct item *item;

	pthread_mutex_lock(lock);
	item = list;
	list = item->next;
	pthread_mutex_unlock(lock);
	return item;
}

/* In turns: the parent has put an item where the child then puts and takes its own. */
static void child(int from_parent, int to_parent)
{
	char byte;

	for (unsigned i = 0; i < N_ITEMS; i++) {
		if (read(from_parent, &byte, 1) != 1)
			_exit(1);
		list = &items[i];
		item_use(take());
		if (write(to_parent, &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

int main(void)
{
	int to[2], from[2], status;
	pthread_mutexattr_t a;
	char byte = 0;
	pid_t pid;

	lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	if (lock == MAP_FAILED || pthread_mutex_init(lock, &a) || pipe(to) || pipe(from))
		return 1;
	pid = fork();
	if (!pid)
		child(to[0], from[1]);
	for (unsigned i = 0; i < N_ITEMS; i++) {
		items[i].value = i + 1;
		keep(&items[i]);
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			return 1;
		list = NULL;
		item_use(&items[i]);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	truth_none();
	return checked(N_ITEMS);
}
