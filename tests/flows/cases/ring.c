/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ring without a lock: plain slots, published by an index. */
#include "flow_case.h"

#define CAPACITY 32

static struct item *slots[CAPACITY];
static _Atomic unsigned in, out;

static NOINLINE void ring_push(struct item *item)
{
	unsigned at = atomic_load_explicit(&in, memory_order_relaxed);

	while (at - atomic_load_explicit(&out, memory_order_acquire) == CAPACITY)
		usleep(10);
	slots[at % CAPACITY] = item;
	atomic_store_explicit(&in, at + 1, memory_order_release);
}

static NOINLINE struct item *ring_pop(void)
{
	unsigned at = atomic_load_explicit(&out, memory_order_relaxed);
	struct item *item;

	while (atomic_load_explicit(&in, memory_order_acquire) == at)
		usleep(10);
	item = slots[at % CAPACITY];
	atomic_store_explicit(&out, at + 1, memory_order_release);
	return item;
}

int main(void)
{
	pass_all(ring_push, ring_pop);
	truth("ring_push", "ring_pop", N_ITEMS);
	return checked(N_ITEMS);
}
