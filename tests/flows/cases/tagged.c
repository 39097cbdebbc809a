/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stack without a lock, its head a pointer with a tag: 16 bytes exchanged at once; and bit fields in its items. */
#include "flow_case.h"

#include <semaphore.h>

struct node {
	struct node *next;
	unsigned is_urgent : 1, kind : 7, value : 24;
};

struct head {
	struct node *first;
	uint64_t tag;
} __attribute__((aligned(16)));

static _Atomic struct head head;
static sem_t filled;

static NOINLINE void tag_push(struct node *node)
{
	struct head old = atomic_load(&head), new;

	do {
		node->next = old.first;
		new = (struct head){ node, old.tag + 1 };
	} while (!atomic_compare_exchange_strong(&head, &old, new));
}

static NOINLINE struct node *tag_pop(void)
{
	struct head old = atomic_load(&head), new;

	do {
		if (!old.first)
			return NULL;
		new = (struct head){ old.first->next, old.tag + 1 };
	} while (!atomic_compare_exchange_strong(&head, &old, new));
	return old.first;
}

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		struct node *node;

		while (sem_wait(&filled))
			;
		node = tag_pop();
		atomic_fetch_add(&sum, node->is_urgent ? 0 : node->value);
	}
	return arg;
}

int main(void)
{
	static struct node nodes[N_ITEMS];
	pthread_t t;

	sem_init(&filled, 0, 0);
	t = start(consumer);
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		nodes[i - 1].kind = i % 7;
		nodes[i - 1].value = i;
		tag_push(&nodes[i - 1]);
		sem_post(&filled);
	}
	pthread_join(t, NULL);
	truth("tag_push", "tag_pop", N_ITEMS);
	return checked(N_ITEMS);
}
