/* SPDX-License-Identifier: Apache-2.0 */
/* The latest allocations: where each begins and how large it is, in sets within which the oldest makes room. Invariant:
 * an entry is right or gone, so that nothing is told of an address rather than something wrong. Nothing is locked: an
 * entry is changed by one thread at a time, and whoever looks it up meanwhile does not find it.
 */
#include "runtime/flows/flow_runtime.h"

#define SETS (1u << 13)
#define WAYS 8 /* two heaps whose addresses look alike leave each other's entries alone */
#define HEADER_BYTES 64u
#define CHANGES ((uintptr_t)1) /* no address of an allocation */

struct set {
	_Alignas(64) uintptr_t address[WAYS]; /* 0: none; or CHANGES */
	size_t n[WAYS];
	uint64_t serial[WAYS]; /* in the order in which the set's objects were allocated, from 1 */
	uint64_t n_objects;
};

static struct set known[SETS];

static struct set *set_of(uintptr_t address)
{
	return &known[(address >> 4 ^ address >> 20) % SETS];
}

/* WAYS: it is not known. */
static unsigned way_of(const struct set *set, uintptr_t address)
{
	unsigned i = 0;

	while (i < WAYS && __atomic_load_n(&set->address[i], __ATOMIC_ACQUIRE) != address)
		i++;
	return i;
}

/* The address's own way, or an empty one, or that of the oldest object. WAYS: others change all of them just now. */
static unsigned way_for(const struct set *set, uintptr_t address, uintptr_t *was)
{
	uint64_t oldest = UINT64_MAX;
	unsigned way = WAYS;

	for (unsigned i = 0; i < WAYS; i++) {
		uintptr_t there = __atomic_load_n(&set->address[i], __ATOMIC_RELAXED);
		uint64_t age = there ? __atomic_load_n(&set->serial[i], __ATOMIC_RELAXED) : 0;

		if (there == address) {
			*was = there;
			return i;
		}
		if (there != CHANGES && age < oldest) {
			*was = there;
			oldest = age;
			way = i;
		}
	}
	return way;
}

/* A child that is forked while another thread changes an entry lacks that entry for good. */
void flow_object_begins(uintptr_t begin, size_t n, uint64_t serial)
{
	struct set *set = set_of(begin);
	uintptr_t was = 0;
	unsigned i;

	do {
		i = way_for(set, begin, &was);
		if (i == WAYS)
			return;
	} while (!__atomic_compare_exchange_n(&set->address[i], &was, CHANGES, false, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	__atomic_thread_fence(__ATOMIC_RELEASE); /* CHANGES is seen before what follows */
	__atomic_store_n(&set->serial[i],
			 serial ? serial : 1 + __atomic_fetch_add(&set->n_objects, 1, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&set->n[i], n, __ATOMIC_RELAXED);
	__atomic_store_n(&set->address[i], begin, __ATOMIC_RELEASE);
}

void flow_object_ends(uintptr_t begin)
{
	struct set *set = set_of(begin);
	unsigned i = way_of(set, begin);

	if (i < WAYS)
		__atomic_compare_exchange_n(&set->address[i], &begin, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* What is known of the object that begins there: its serial number and size. 0: nothing. */
static uint64_t look_up(uintptr_t begin, size_t *n)
{
	const struct set *set = set_of(begin);
	unsigned i = way_of(set, begin);
	uint64_t serial;

	if (i == WAYS)
		return 0;
	serial = __atomic_load_n(&set->serial[i], __ATOMIC_RELAXED);
	*n = __atomic_load_n(&set->n[i], __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* an entry that changed meanwhile had CHANGES first */
	return __atomic_load_n(&set->address[i], __ATOMIC_RELAXED) == begin &&
			       __atomic_load_n(&set->serial[i], __ATOMIC_RELAXED) == serial ?
		       serial :
		       0;
}

bool flow_is_other_object(uintptr_t value, uintptr_t place)
{
	size_t n;

	return look_up(value, &n) && place - value >= n;
}

uint64_t flow_object_at(uintptr_t begin)
{
	size_t n;

	return look_up(begin, &n);
}

/* An allocator of the program's own puts a header before what it gives. */
uint64_t flow_object_of(uintptr_t address, uintptr_t *begin)
{
	for (uintptr_t at = address & ~(uintptr_t)15; at && address - at <= HEADER_BYTES; at -= 16) {
		size_t n;
		uint64_t serial = look_up(at, &n);

		*begin = at;
		if (serial)
			return n > address - at ? serial : 0;
	}
	return 0;
}
