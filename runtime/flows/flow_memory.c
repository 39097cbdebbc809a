/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers: what takes memory away, before which announced writes are looked at, and what gives it, so that two objects
 * that lie side by side on the heap can be told from one (flow_objects.c). */
#define _GNU_SOURCE
#include "runtime/flows/flow_runtime.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EARLY_BYTES 4096u /* for what looking up the next malloc may ask for itself */

static _Alignas(16) char early[EARLY_BYTES];
static size_t n_early;
static __thread bool looking __attribute__((tls_model("initial-exec")));

static void *known(void *p, size_t n, uint64_t serial)
{
	if (p)
		flow_object_begins((uintptr_t)p, n, serial);
	return p;
}

static void *allocated(void *p, size_t n)
{
	struct flow_thread *t = flow_self;

	if (p && t && t->is_pointer_read && t->n_records && !t->busy) {
		t->busy = true;
		flow_watch_catch_up(t);
		if (t->n_records)
			flow_allocated(t, (uintptr_t)p, n);
		t->busy = false;
	}
	return known(p, n, 0);
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
	flow_watch_catch_up(t);
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
	flow_object_ends((uintptr_t)p);
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
		flow_object_ends((uintptr_t)p);
	new = NEXT(realloc)(p, n);
	return new == p ? known(new, n, serial) : allocated(new, n); /* in its place it is the same object */
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
