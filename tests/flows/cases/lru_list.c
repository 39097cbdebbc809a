/* SPDX-License-Identifier: GPL-3.0-or-later */
/* InnoDB's LRU list: who makes a page puts it into the table and, in another section, on the list, from whose end
 * another thread evicts. In between only the thread that made a page looks it up in the table and uses it. The page is
 * not handed over: it is where it always was. */
#include "flow_case.h"

#define N_PAGES 30
#define N_ROUNDS 20

struct page {
	struct page *next_in_table, *next_on_list;
	unsigned number;
	uint64_t value;
	char text[48];
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER, list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static struct page *table[N_PAGES], *list;

static NOINLINE struct page *page_find(unsigned number)
{
	struct page *page;

	pthread_mutex_lock(&table_lock);
	for (page = table[number % N_PAGES]; page && page->number != number; page = page->next_in_table)
		;
	pthread_mutex_unlock(&table_lock);
	return page;
}

static NOINLINE void page_insert(struct page *page)
{
	pthread_mutex_lock(&table_lock);
	page->next_in_table = table[page->number % N_PAGES];
	table[page->number % N_PAGES] = page;
	pthread_mutex_unlock(&table_lock);
}

static NOINLINE void list_put(struct page *page)
{
	pthread_mutex_lock(&list_lock);
	page->next_on_list = list;
	list = page;
	pthread_mutex_unlock(&list_lock);
}

static NOINLINE struct page *list_evict(void)
{
	struct page *page;

	pthread_mutex_lock(&list_lock);
	page = list;
	if (page)
		list = page->next_on_list;
	pthread_mutex_unlock(&list_lock);
	return page;
}

static NOINLINE void page_remove(unsigned number)
{
	pthread_mutex_lock(&table_lock);
	table[number % N_PAGES] = NULL;
	pthread_mutex_unlock(&table_lock);
}

static NOINLINE void page_make(unsigned number)
{
	struct page *page = malloc(sizeof *page);

	if (!page)
		abort();
	page->number = number;
	page->value = number;
	page_insert(page);
	list_put(page);
}

static void *evictor(void *arg)
{
	struct page *page;

	for (unsigned round = 0; round < N_ROUNDS; round++) {
		pthread_barrier_wait(&turn);
		while ((page = list_evict())) {
			atomic_fetch_add_explicit(&sum, page->value, memory_order_relaxed);
			page_remove(page->number);
			free(page);
		}
		pthread_barrier_wait(&turn);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	if (pthread_barrier_init(&turn, NULL, 2))
		abort();
	t = start(evictor);
	for (unsigned round = 0; round < N_ROUNDS; round++) {
		for (unsigned i = 0; i < N_PAGES; i++)
			page_make(i);
		for (unsigned i = 0; i < N_PAGES; i++)
			page_find(i)->value++;
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	pthread_join(t, NULL);
	truth_none();
	return 0;
}
