/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What no run can see: numbers, text that only libc reads, and a member copied out under the lock. Nothing must be
 * invented; the truth is that no run finds them. The code suggests them. */
#include "flow_case.h"

#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t filled, taken;
static int number;
static char *text;
static struct item *copied;

static NOINLINE void hand_over(int n, char *t, struct item *item)
{
	pthread_mutex_lock(&lock);
	number = n;
	text = t;
	copied = item;
	pthread_mutex_unlock(&lock);
}

static NOINLINE uint64_t take_over(int *n, size_t *length)
{
	uint64_t value;
	char *t;

	pthread_mutex_lock(&lock);
	*n = number;
	t = text;
	value = copied->value;
	pthread_mutex_unlock(&lock);
	*length = strlen(t);
	return value;
}

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		size_t length;
		int n;

		while (sem_wait(&filled))
			;
		atomic_fetch_add(&sum, take_over(&n, &length) + (uint64_t)(n < 0) + (length > 8));
		sem_post(&taken);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	sem_init(&filled, 0, 0);
	sem_init(&taken, 0, 0);
	t = start(consumer);
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		hand_over((int)i, strdup("text"), item_new(i));
		sem_post(&filled);
		while (sem_wait(&taken))
			;
	}
	pthread_join(t, NULL);
	truth_none();
	suggested("hand_over", "take_over", "number");
	suggested("hand_over", "take_over", "text");
	suggested("hand_over", "take_over", "member");
	return checked(N_ITEMS);
}
