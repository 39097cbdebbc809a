/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MariaDB's cache of threads: who takes a connection prepares itself, for thousands of accesses and with locks of its
 * own, before it looks at the connection, whose memory may have been shortened where it lies. Beside it, what is taken
 * and thrown away unseen: its memory holds the thread's own texts later, which libc writes. Nothing of that is handed
 * over. */
#include "flow_case.h"

#define WORK 1000
#define HEADER 32

struct list {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct item *head;
	int closed;
};

static struct list connections = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0 };
static struct list waste = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0 };
static pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_prepared, n_equal, n_kept;
static struct item *kept[N_ITEMS];
static _Atomic unsigned n_texts;

#define LIST_FUNCTIONS(l, put, take, end)                                                                              \
	static NOINLINE void put(struct item *item)                                                                    \
	{                                                                                                              \
		pthread_mutex_lock(&(l).lock);                                                                         \
		item->next = (l).head;                                                                                 \
		(l).head = item;                                                                                       \
		pthread_cond_signal(&(l).filled);                                                                      \
		pthread_mutex_unlock(&(l).lock);                                                                       \
	}                                                                                                              \
                                                                                                                       \
	static NOINLINE struct item *take(void)                                                                        \
	{                                                                                                              \
		struct item *item;                                                                                     \
                                                                                                                       \
		pthread_mutex_lock(&(l).lock);                                                                         \
		while (!(l).head && !(l).closed)                                                                       \
			pthread_cond_wait(&(l).filled, &(l).lock);                                                     \
		item = (l).head;                                                                                       \
		if (item)                                                                                              \
			(l).head = item->next;                                                                         \
		pthread_mutex_unlock(&(l).lock);                                                                       \
		return item;                                                                                           \
	}                                                                                                              \
                                                                                                                       \
	static void end(void)                                                                                          \
	{                                                                                                              \
		pthread_mutex_lock(&(l).lock);                                                                         \
		(l).closed = 1;                                                                                        \
		pthread_cond_broadcast(&(l).filled);                                                                   \
		pthread_mutex_unlock(&(l).lock);                                                                       \
	}

LIST_FUNCTIONS(connections, enqueue, park, end_connections)
LIST_FUNCTIONS(waste, throw_away, collect, end_waste)

/* As an allocator of the program's own gives it. */
static struct item *item_with_header(uint64_t value)
{
	char *memory = malloc(HEADER + sizeof(struct item));
	struct item *item = (struct item *)(memory + HEADER);

	if (!memory)
		abort();
	item->value = value;
	return item;
}

static NOINLINE unsigned prepare(volatile unsigned *own)
{
	unsigned s = 0;

	for (unsigned i = 0; i < WORK; i++)
		own[i] = i + own[(i + 1) % WORK];
	pthread_mutex_lock(&counted);
	n_prepared++;
	pthread_mutex_unlock(&counted);
	for (unsigned i = 0; i < WORK; i++)
		s += own[i];
	return s;
}

static void *worker(void *arg)
{
	unsigned *own = calloc(WORK, sizeof *own), n = 0;
	struct item *item;

	while (own && (item = park())) {
		void *memory = (char *)item - HEADER;

		prepare(own);
		if (n++ % 2)
			memory = realloc(memory, HEADER + sizeof *item);
		if (memory != (char *)item - HEADER)
			abort();
		item_use(item);
		free(memory);
	}
	free(own);
	return arg;
}

static void *collector(void *arg)
{
	unsigned *own = calloc(WORK, sizeof *own);
	struct item *item, *text;

	while (own && (item = collect())) {
		uintptr_t was = (uintptr_t)item;

		prepare(own);
		free(item);
		text = malloc(sizeof *text);
		if (!text)
			abort();
		n_equal += (uintptr_t)text == was;
		snprintf(text->text, sizeof text->text, "%u", n_equal);
		if (text->text[0] > '0')
			atomic_fetch_add_explicit(&n_texts, 1, memory_order_relaxed);
		kept[n_kept++] = text; /* released, its memory would be given before the next one's */
	}
	free(own);
	return arg;
}

int main(void)
{
	pthread_t a = start(worker), b = start(worker), c = start(collector);

	for (unsigned i = 1; i <= N_ITEMS; i++) {
		enqueue(item_with_header(i));
		throw_away(item_new(i));
	}
	end_connections();
	end_waste();
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(c, NULL);
	if (n_equal < N_ITEMS / 2) {
		printf("malloc did not use memory again: %u of %u\n", n_equal, N_ITEMS);
		return 1;
	}
	truth("enqueue", "park", N_ITEMS);
	return checked(N_ITEMS);
}
