/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers: what takes memory away, before which announced writes are looked at, and what gives it, so that two objects
 * that lie side by side on the heap can be told from one.
 *
 * Of the latest allocations address and size are known, in a table in which one displaces another. Invariant: an entry
 * is right or gone, so that nothing is told of an address rather than something wrong.
 */
#define _GNU_SOURCE
#include "runtime/flows/flow_runtime.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KNOWN (1u << 16)
#define HEADER_BYTES 64u
#define CHANGES ((uintptr_t)1) /* no address of an allocation */
#define EARLY_BYTES 4096u      /* for what looking up the next malloc may ask for itself */

struct allocation {
	uintptr_t address; /* 0: none; or CHANGES */
	size_t n;
	uint64_t serial; /* of those that had this entry */
};

static struct allocation known[KNOWN];
static _Alignas(16) char early[EARLY_BYTES];
static size_t n_early;
static __thread bool looking __attribute__((tls_model("initial-exec")));

static struct allocation *slot_of(uintptr_t address)
{
	return &known[(address >> 4 ^ address >> 20) % KNOWN];
}

/* `serial`: what flow_object_at said of it before, 0 for a new object. Where another thread changes the entry just now,
 * p stays unknown; and for good in a child that is forked meanwhile. */
static void *known_as(void *p, size_t n, uint64_t serial)
{
	struct allocation *a = slot_of((uintptr_t)p);
	uintptr_t was = __atomic_load_n(&a->address, __ATOMIC_RELAXED);

	if (!p || was == CHANGES ||
	    !__atomic_compare_exchange_n(&a->address, &was, CHANGES, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return p;
	if (!serial || a->serial != serial)
		__atomic_fetch_add(&a->serial, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&a->n, n, __ATOMIC_RELEASE);
	__atomic_store_n(&a->address, (uintptr_t)p, __ATOMIC_RELEASE);
	return p;
}

static void *allocated(void *p, size_t n)
{
	struct flow_thread *t = flow_self;

	if (p && t && t->is_pointer_read && t->n_records && !t->busy) {
		t->busy = true;
		flow_allocated(t, (uintptr_t)p, n);
		t->busy = false;
	}
	return known_as(p, n, 0);
}

static void released(const void *p)
{
	uintptr_t address = (uintptr_t)p;

	__atomic_compare_exchange_n(&slot_of(address)->address, &address, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool flow_is_other_object(uintptr_t value, uintptr_t place)
{
	const struct allocation *a = slot_of(value);
	uintptr_t address = __atomic_load_n(&a->address, __ATOMIC_ACQUIRE);
	size_t n = __atomic_load_n(&a->n, __ATOMIC_ACQUIRE);

	return address == value && __atomic_load_n(&a->address, __ATOMIC_ACQUIRE) == value && place - value >= n;
}

uint64_t flow_object_at(uintptr_t begin)
{
	const struct allocation *a = slot_of(begin);
	uint64_t serial = __atomic_load_n(&a->serial, __ATOMIC_ACQUIRE);
	int is_it = __atomic_load_n(&a->address, __ATOMIC_ACQUIRE) == begin;

	return is_it && __atomic_load_n(&a->serial, __ATOMIC_ACQUIRE) == serial ? serial : 0;
}

/* An allocator of the program's own puts a header before what it gives. */
uint64_t flow_object_of(uintptr_t address, uintptr_t *begin)
{
	for (uintptr_t at = address & ~(uintptr_t)15; at && address - at <= HEADER_BYTES; at -= 16) {
		uint64_t serial = flow_object_at(at);

		*begin = at;
		if (serial)
			return __atomic_load_n(&slot_of(at)->n, __ATOMIC_ACQUIRE) > address - at ? serial : 0;
	}
	return 0;
}

#define NEXT(name)                                                                                                     \
	__extension__({                                                                                                \
		static void *found_;                                                                                   \
		void *next_ = __atomic_load_n(&found_, __ATOMIC_ACQUIRE);                                              \
		if (!next_) {                                                                                          \
			looking = true;                                                                                \
			next_ = dlsym(RTLD_NEXT, #name);                                                               \
			looking = false;                                                                               \
			__atomic_store_n(&found_, next_, __ATOMIC_RELEASE);                                            \
		}                                                                                                      \
		(__typeof__(&(name)))next_;                                                                            \
	})

static void settle(void)
{
	struct flow_thread *t = flow_self;

	if (!t || t->busy || !t->n_pending)
		return;
	t->busy = true;
	flow_settle(t);
	t->busy = false;
}

FLOW_EXPORT int munmap(void *address, size_t n)
{
	settle();
	flow_unmapped(address, n);
	return NEXT(munmap)(address, n);
}

FLOW_EXPORT int mprotect(void *address, size_t n, int rights)
{
	settle();
	return NEXT(mprotect)(address, n, rights);
}

FLOW_EXPORT void *mremap(void *address, size_t old_n, size_t new_n, int flags, ...)
{
	__builtin_va_list list;
	void *fixed;

	settle();
	flow_unmapped(address, old_n);
	__builtin_va_start(list, flags);
	fixed = flags & MREMAP_FIXED ? __builtin_va_arg(list, void *) : NULL;
	__builtin_va_end(list);
	return NEXT(mremap)(address, old_n, new_n, flags, fixed);
}

static bool is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof early;
}

static void *early_bytes(size_t n)
{
	size_t at = __atomic_fetch_add(&n_early, (n + 15) & ~(size_t)15, __ATOMIC_RELAXED);

	return n <= sizeof early && at <= sizeof early - n ? early + at : NULL;
}

FLOW_EXPORT void free(void *p)
{
	void (*next)(void *);

	if (!p || looking || is_early(p))
		return;
	settle();
	released(p);
	next = NEXT(free);
	if (next)
		next(p);
}

FLOW_EXPORT void *malloc(size_t n)
{
	return looking ? early_bytes(n) : allocated(NEXT(malloc)(n), n);
}

FLOW_EXPORT void *calloc(size_t n, size_t size)
{
	return looking ? early_bytes(n * size) : allocated(NEXT(calloc)(n, size), n * size);
}

FLOW_EXPORT void *realloc(void *p, size_t n)
{
	uint64_t serial;
	void *new;

	if (is_early(p)) {
		new = malloc(n);
		if (new)
			memcpy(new, p,
			       n < (size_t)(early + sizeof early - (char *)p) ?
				       n :
				       (size_t)(early + sizeof early - (char *)p));
		return new;
	}
	settle();
	serial = flow_object_at((uintptr_t)p);
	if (p)
		released(p);
	new = NEXT(realloc)(p, n);
	return new == p ? known_as(new, n, serial) : allocated(new, n); /* in its place it is the same object */
}

FLOW_EXPORT void *aligned_alloc(size_t alignment, size_t n)
{
	return allocated(NEXT(aligned_alloc)(alignment, n), n);
}

FLOW_EXPORT void *memalign(size_t alignment, size_t n)
{
	return allocated(NEXT(memalign)(alignment, n), n);
}

FLOW_EXPORT int posix_memalign(void **p, size_t alignment, size_t n)
{
	int rc = NEXT(posix_memalign)(p, alignment, n);

	if (!rc)
		allocated(*p, n);
	return rc;
}
