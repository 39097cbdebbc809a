/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A spin lock of macros, as a database's or a kernel's: an exchange in inline assembly acquires it, a plain store
 * behind a barrier for the compiler releases it. A mailbox whose pointer an exchange in assembly takes. And that what
 * tells these instructions leaves registers, flags and the red zone as they are: the program computes with them around
 * each. */
#include "flow_case.h"

#include <semaphore.h>

static sem_t filled, taken;
static volatile unsigned char spin;
static struct item *list;
static struct item *volatile box;

#if defined(__x86_64__)
static inline unsigned char swap_byte(volatile unsigned char *p, unsigned char value)
{
	__asm__ __volatile__("	lock			\n"
			     "	xchgb	%0,%1	\n"
			     : "+q"(value), "+m"(*p)
			     :
			     : "memory", "cc");
	return value;
}

#define SWAP_POINTER(p, value)                                                                                         \
	__extension__({                                                                                                \
		struct item *value_ = value;                                                                           \
		__asm__ __volatile__("xchgq %0, %1" : "+r"(value_), "+m"(*(p)) : : "memory");                          \
		value_;                                                                                                \
	})

/* Is it set? The flag that the instruction leaves decides. */
static inline int compare_and_set(volatile uint64_t *p, uint64_t old, uint64_t value)
{
	unsigned char is_set;

	__asm__ __volatile__("1:	lock; cmpxchgq %3, %1; setz %0"
			     : "=q"(is_set), "+m"(*p), "+a"(old)
			     : "r"(value)
			     : "memory", "cc");
	return is_set;
}
#else
static inline unsigned char swap_byte(volatile unsigned char *p, unsigned char value)
{
	return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);
}

#define SWAP_POINTER(p, value) __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST)

static inline int compare_and_set(volatile uint64_t *p, uint64_t old, uint64_t value)
{
	return __atomic_compare_exchange_n(p, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
#endif

#define SPIN_ACQUIRE()                                                                                                 \
	while (swap_byte(&spin, 1))                                                                                    \
	usleep(20)
#define SPIN_RELEASE()                                                                                                 \
	do {                                                                                                           \
		__asm__ __volatile__("" : : : "memory");                                                               \
		spin = 0;                                                                                              \
	} while (0)

static NOINLINE void spin_push(struct item *item)
{
	SPIN_ACQUIRE();
	item->next = list;
	list = item;
	SPIN_RELEASE();
}

static NOINLINE struct item *spin_pop(void)
{
	struct item *item;

	SPIN_ACQUIRE();
	item = list;
	list = item->next;
	SPIN_RELEASE();
	return item;
}

static NOINLINE void post(struct item *item)
{
	SWAP_POINTER(&box, item);
}

static NOINLINE struct item *fetch(void)
{
	return SWAP_POINTER(&box, NULL);
}

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		struct item *item;

		while (sem_wait(&filled))
			;
		item = spin_pop();
		item_use(item);
		free(item);
		item = fetch();
		item_use(item);
		free(item);
		sem_post(&taken);
	}
	return arg;
}

/* 1 when values that lie in registers and below the stack pointer are what they should be after each instruction. */
static NOINLINE int computes(uint64_t seed)
{
	static volatile uint64_t cell;
	volatile uint64_t beneath[8]; /* in the red zone, where the function has no frame */
	uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3, e = seed + 4, f = seed + 5;
	double x = (double)seed, y = x + 0.5, z = y * 2;

	cell = seed;
	for (unsigned i = 0; i < 8; i++)
		beneath[i] = seed + i;

	for (unsigned i = 0; i < 20; i++) {
		uint64_t was = cell;

		if (!compare_and_set(&cell, was, was + 1) || compare_and_set(&cell, was, was))
			return 0;
		a += b;
		c += d;
		e += f;
		x += y;
		z += x;
	}
	for (unsigned i = 0; i < 8; i++)
		if (beneath[i] != seed + i)
			return 0;
	return cell == seed + 20 && a == seed + 20 * b && c == seed + 2 + 20 * d && e == seed + 4 + 20 * f &&
	       x == (double)seed + 20 * y && z == 2 * y + 20 * (double)seed + 210 * y;
}

int main(void)
{
	pthread_t t;

	sem_init(&filled, 0, 0);
	sem_init(&taken, 0, 0);
	t = start(consumer);
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		spin_push(item_new(i));
		post(item_new(i));
		sem_post(&filled);
		while (sem_wait(&taken))
			;
		if (!computes(i)) {
			printf("wrong values in %s\n", CASE);
			return 1;
		}
	}
	pthread_join(t, NULL);
	truth("spin_push", "spin_pop", N_ITEMS);
	truth("post", "fetch", N_ITEMS);
	atomic_store(&sum, sum / 2);
	return checked(N_ITEMS);
}
