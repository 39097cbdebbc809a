/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers: memory that a process shares with the children that it forks. Each such mapping has a number, which
 * children inherit, so that one place is known to be the same in all of them, and an address that only happens to be
 * the same is not.
 */
#define _GNU_SOURCE
#include "runtime/flows/flow_next.h"
#include "runtime/flows/flow_runtime.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/shm.h>

#define MAPPINGS 256u

struct mapping {
	uintptr_t low, high; /* high 0: unused */
	uint64_t number;     /* 0: has none yet */
};

static struct mapping mappings[MAPPINGS];
static unsigned n_mappings; /* ever; what does not fit is not known to be shared */
static unsigned n_written;

static void write_one(struct flow_thread *t, struct mapping *m, unsigned flags)
{
	if (!m->number)
		m->number = flow_next_mapping();
	flow_log(t,
		 &(struct vprof_flow_record){ .kind = VPROF_FLOW_MAPPING,
					      .flags = (uint16_t)flags,
					      .a = m->low,
					      .b = m->high,
					      .c = m->number },
		 1);
}

static unsigned n_known(void)
{
	unsigned n = __atomic_load_n(&n_mappings, __ATOMIC_ACQUIRE);

	return n < MAPPINGS ? n : MAPPINGS;
}

void flow_mappings_write(struct flow_thread *t, bool all)
{
	unsigned n = n_known(), from = all ? 0 : __atomic_exchange_n(&n_written, n, __ATOMIC_ACQ_REL);

	for (unsigned i = from; i < n; i++)
		if (mappings[i].high)
			write_one(t, &mappings[i], 0);
}

static void write_now(void)
{
	struct flow_thread *t = flow_header ? flow_thread() : NULL;
	int saved = errno;

	if (!t || t->busy)
		return; /* a later one, or the first callback, writes it */
	t->busy = true;
	flow_mappings_write(t, false);
	t->busy = false;
	errno = saved;
}

static void mapped(const void *address, size_t n)
{
	unsigned i = __atomic_fetch_add(&n_mappings, 1, __ATOMIC_RELAXED);

	if (i >= MAPPINGS)
		return;
	mappings[i].low = (uintptr_t)address;
	__atomic_store_n(&mappings[i].high, (uintptr_t)address + n, __ATOMIC_RELEASE);
	write_now();
}

void flow_unmapped(const void *address, size_t n)
{
	uintptr_t low = (uintptr_t)address, high = low + n;
	struct flow_thread *t = flow_header ? flow_self : NULL;

	for (unsigned i = 0; i < n_known(); i++) {
		struct mapping *m = &mappings[i];

		if (m->high <= low || m->low >= high)
			continue;
		if (t && !t->busy && m->number)
			write_one(t, m, VPROF_FLOW_GONE);
		m->high = 0;
	}
}

FLOW_EXPORT void *mmap(void *address, size_t n, int rights, int flags, int fd, off_t offset)
{
	void *p = NEXT(mmap)(address, n, rights, flags, fd, offset);

	if (p != MAP_FAILED && (flags & MAP_TYPE) != MAP_PRIVATE)
		mapped(p, n);
	return p;
}

FLOW_EXPORT void *mmap64(void *address, size_t n, int rights, int flags, int fd, __off64_t offset)
{
	void *p = NEXT(mmap64)(address, n, rights, flags, fd, offset);

	if (p != MAP_FAILED && (flags & MAP_TYPE) != MAP_PRIVATE)
		mapped(p, n);
	return p;
}

FLOW_EXPORT void *shmat(int id, const void *address, int flags)
{
	void *p = NEXT(shmat)(id, address, flags);
	struct shmid_ds segment;
	int saved = errno;

	if (p != (void *)-1 && !shmctl(id, IPC_STAT, &segment))
		mapped(p, segment.shm_segsz);
	errno = saved;
	return p;
}

FLOW_EXPORT int shmdt(const void *address)
{
	struct flow_thread *t = flow_self;

	if (t && !t->busy && t->n_pending) {
		t->busy = true;
		flow_watch_catch_up(t);
		flow_settle(t);
		t->busy = false;
	}
	flow_unmapped(address, 1);
	return NEXT(shmdt)(address);
}
