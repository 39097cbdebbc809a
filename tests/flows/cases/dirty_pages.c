/* SPDX-License-Identifier: GPL-3.0-or-later */
/* InnoDB's list of dirty pages: who changes a page puts it on the list, and the cleaner takes it from there and writes
 * it. It looks handed over, each page by one thread to another; but all threads look pages up and use them, dirty or
 * not. So it is state. */
#include "flow_case.h"

#define N_PAGES 30
#define N_ROUNDS 20

struct page {
	struct page *next, *next_dirty;
	unsigned number;
	uint64_t value;
	char text[48];
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER, dirty_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static struct page *table[N_PAGES], *dirty;

static NOINLINE struct page *page_find(unsigned number)
{
	struct page *page;

	pthread_mutex_lock(&table_lock);
	for (page = table[number % N_PAGES]; page && page->number != number; page = page->next)
		;
	pthread_mutex_unlock(&table_lock);
	return page;
}

static NOINLINE void page_add(unsigned number)
{
	struct page *page = malloc(sizeof *page);

	if (!page)
		abort();
	page->number = number;
	page->value = 0;
	pthread_mutex_lock(&table_lock);
	page->next = table[number % N_PAGES];
	table[number % N_PAGES] = page;
	pthread_mutex_unlock(&table_lock);
}

static NOINLINE void put_dirty(struct page *page)
{
	pthread_mutex_lock(&dirty_lock);
	page->next_dirty = dirty;
	dirty = page;
	pthread_mutex_unlock(&dirty_lock);
}

static NOINLINE struct page *take_dirty(void)
{
	struct page *page;

	pthread_mutex_lock(&dirty_lock);
	page = dirty;
	if (page)
		dirty = page->next_dirty;
	pthread_mutex_unlock(&dirty_lock);
	return page;
}

/* In turns: one changes all pages, the other looks them up, the cleaner writes them. */
static void work(unsigned me)
{
	for (unsigned round = 0; round < N_ROUNDS; round++) {
		for (unsigned i = 0; i < N_PAGES && round % 2 == me; i++) {
			struct page *page = page_find(i);

			page->value += i;
			put_dirty(page);
		}
		pthread_barrier_wait(&turn);
		for (unsigned i = 0; i < N_PAGES && round % 2 != me; i++)
			atomic_fetch_add_explicit(&sum, page_find(i)->value, memory_order_relaxed);
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
}

static void *first(void *arg)
{
	work(0);
	return arg;
}

static void *second(void *arg)
{
	work(1);
	return arg;
}

static void *cleaner(void *arg)
{
	struct page *page;

	for (unsigned round = 0; round < N_ROUNDS; round++) {
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
		while ((page = take_dirty()))
			atomic_fetch_add_explicit(&sum, page->value, memory_order_relaxed);
		pthread_barrier_wait(&turn);
	}
	return arg;
}

int main(void)
{
	pthread_t a, b, c;

	if (pthread_barrier_init(&turn, NULL, 3))
		abort();
	for (unsigned i = 0; i < N_PAGES; i++)
		page_add(i);
	a = start(first);
	b = start(second);
	c = start(cleaner);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(c, NULL);
	truth_none();
	return 0;
}
