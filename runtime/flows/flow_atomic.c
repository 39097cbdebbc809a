/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-over without a lock (beyond the paper): what a thread wrote before an atomic store with release order can be
 * read after an atomic load of the same object with acquire order. Both are written as sections whose lock is the
 * atomic object: rings with plain slots, mailboxes, spin locks of the program's own.
 *
 * The section's number is taken before the store and after the load, so that a store that was seen comes first.
 */
#define _GNU_SOURCE
#include "runtime/flows/flow_runtime.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static bool releases(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool acquires(int order)
{
	return order == __ATOMIC_CONSUME || order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL ||
	       order == __ATOMIC_SEQ_CST;
}

/* Values of the last writes: another thread may have unmapped what they wrote to, so the kernel reads them. */
static unsigned values_of(const struct flow_write *const *writes, unsigned n, uint64_t *values)
{
	struct iovec to[FLOW_PUBLISHED], from[FLOW_PUBLISHED];
	int saved = errno;
	ssize_t got;

	for (unsigned i = 0; i < n; i++) {
		to[i] = (struct iovec){ &values[i], 8 };
		from[i] = (struct iovec){ (void *)writes[i]->address, 8 };
	}
	got = n ? process_vm_readv(getpid(), to, n, from, n, 0) : 0;
	errno = saved;
	return got < 0 ? 0 : (unsigned)got / 8;
}

static unsigned recent_pointers(struct flow_thread *t, const struct flow_write **writes)
{
	uint64_t from = t->n_recent > FLOW_PUBLISHED ? t->n_recent - FLOW_PUBLISHED : 0;
	unsigned n = 0;

	if (from < t->n_recent_published)
		from = t->n_recent_published;
	for (uint64_t i = from; i < t->n_recent && n < FLOW_PUBLISHED; i++) {
		const struct flow_write *w = &t->recent[i % FLOW_RECENT];

		if (w->n == 8 && !flow_on_stack(t, w->address))
			writes[n++] = w;
	}
	t->n_recent_published = t->n_recent;
	return n;
}

/* An open OBSERVE section ends. */
static void end_observing(struct flow_thread *t)
{
	if (t->n_observable || (!t->depth && t->n_records))
		flow_section_end(t, 0, 0);
}

void flow_publish_at(struct flow_thread *t, uintptr_t address, size_t n, uint64_t value, uintptr_t pc, uintptr_t frame)
{
	const struct flow_write *writes[FLOW_PUBLISHED];
	uint64_t values[FLOW_PUBLISHED];
	unsigned n_writes, n_values;
	bool is_pointer = n >= 8 && vprof_flow_is_pointer(value);
	uint32_t watch;

	t->busy = true;
	flow_watch_catch_up(t);
	watch = t->watch;
	if (address != t->observed || value != t->observed_value) /* it is put back as it was: it spins */
		t->observed = 0;
	n_writes = recent_pointers(t, writes);
	n_values = values_of(writes, n_writes, values);
	for (unsigned i = 0; i < n_values; i++)
		is_pointer |= vprof_flow_is_pointer(values[i]);
	if (is_pointer) {
		struct vprof_flow_record observed[FLOW_OBSERVED];
		uint32_t n_observed = 0;

		/* what was just observed may be what is stored */
		for (uint32_t i = 1; i < t->n_records && n_observed < FLOW_OBSERVED; i++)
			if (t->records[i].kind == VPROF_FLOW_READ || t->records[i].kind == VPROF_FLOW_GIVEN)
				observed[n_observed++] = t->records[i];
		end_observing(t);
		flow_section_begin(t, address, VPROF_FLOW_PUBLISH, pc, frame);
		if (!t->n_records) {
			t->busy = false;
			return;
		}
		if (t->watch != watch) /* what it wrote is not known any more */
			n_values = 0;
		for (uint32_t i = 0; i < n_observed; i++)
			t->records[t->n_records++] = observed[i];
		for (unsigned i = 0; i < n_values; i++)
			if (vprof_flow_is_pointer(values[i]))
				flow_write_record(t, writes[i]->address, 8, values[i], 0, writes[i]->pc);
		if (n >= 8 && vprof_flow_is_pointer(value))
			flow_write_record(t, address, 8, value, VPROF_FLOW_ATOMIC, pc);
		flow_frames(t, 1, pc, frame);
		t->records[0].count = t->n_records - 1;
		flow_count(&flow_header->n_sections);
		if (!flow_log(t, t->records, t->n_records))
			flow_count(&flow_header->n_unwritten);
		flow_watch_closed(t);
	}
	t->busy = false;
}

void flow_publish(uintptr_t address, size_t n, uint64_t value, int order, uintptr_t pc)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy)
		return;
	flow_watch_catch_up_first(t);
	flow_give_up_full(t);
	if (!t->depth && releases(order))
		flow_publish_at(t, address, n, value, pc, FLOW_FRAME);
	else if (flow_is_watching())
		flow_write(address, n, pc);
}

/* ---- locks of inline assembly ---- */

/* Assembly acquires, and often a plain store behind a barrier for the compiler releases, of which the compiler tells.
 */
void flow_changed(uintptr_t address)
{
	struct flow_thread *t = flow_self;

	if (!t || t->busy || !flow_is_watching())
		return;
	flow_watch_catch_up_first(t);
	flow_releases_changed(t, address); /* it is the last one again */
	if (t->n_changed == FLOW_CHANGED)
		memmove(t->changed, t->changed + 1, sizeof *t->changed * --t->n_changed);
	t->changed[t->n_changed++] = address;
}

bool flow_releases_changed(struct flow_thread *t, uintptr_t address)
{
	for (unsigned i = 0; i < t->n_changed; i++)
		if (t->changed[i] == address) {
			t->n_changed--;
			memmove(t->changed + i, t->changed + i + 1, sizeof *t->changed * (t->n_changed - i));
			return true;
		}
	return false;
}

/* The stack at the first pointer read stands for that at the section's end. */
static void observed_pointer(struct flow_thread *t, uintptr_t address, uint64_t value, unsigned flags, uintptr_t pc,
			     uintptr_t frame)
{
	bool is_first = !t->n_accesses;
	struct vprof_flow_record *r = flow_record(t, VPROF_FLOW_READ);

	if (!r)
		return;
	r->n_bytes = 8;
	r->flags = (uint16_t)flags;
	r->a = address;
	r->b = value;
	r->c = pc;
	flow_pointer_read(t, value);
	flow_candidate_add(t, value, value + VPROF_FLOW_SPAN, false);
	if (is_first)
		flow_frames(t, 1, pc, frame);
}

void flow_observe(uintptr_t address, size_t n, uint64_t value, int order, uintptr_t pc)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy)
		return;
	flow_watch_catch_up_first(t);
	flow_give_up_full(t);
	if (t->depth || !acquires(order)) {
		if (flow_is_watching())
			flow_read(address, n, pc);
		return;
	}
	if (t->observed == address && t->observed_value == value && value != VPROF_FLOW_NOT_TOLD && flow_is_watching())
		return; /* it spins: there was no other access since */
	t->busy = true;
	end_observing(t);
	t->observed = address;
	t->observed_value = value;
	flow_section_begin(t, address, VPROF_FLOW_OBSERVE, pc, FLOW_FRAME);
	t->n_observable = t->n_records ? FLOW_OBSERVED : 0;
	if (t->n_records && n >= 8 && vprof_flow_is_pointer(value))
		observed_pointer(t, address, value, VPROF_FLOW_ATOMIC, pc, FLOW_FRAME);
	t->busy = false;
}

void flow_observed_read(struct flow_thread *t, uintptr_t address, size_t n, uintptr_t pc, uintptr_t frame)
{
	for (size_t i = 0; i + 8 <= n && i < 16; i += 8) {
		uint64_t value = *(const uint64_t *)(address + i);

		if (vprof_flow_is_pointer(value) && !flow_on_stack(t, address))
			observed_pointer(t, address + i, value, 0, pc, frame);
	}
	if (!--t->n_observable)
		flow_section_end(t, 0, 0);
}
