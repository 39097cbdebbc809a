/* SPDX-License-Identifier: Apache-2.0 */
/* Plain accesses and copies.
 *
 * A callback comes before its access. What is read can be looked at right away: the program is about to do the same.
 * What is written is looked at two callbacks later, or when the section ends, or when memory is about to be unmapped
 * (flow_locks.c): two, because gcc copies an aggregate by write(to), read(from), and only then the copy.
 */
#include "runtime/flows/flow_runtime.h"

#include <string.h>

static uint64_t value_at(uintptr_t address, size_t n)
{
	uint64_t value = 0;

	memcpy(&value, (const void *)address, n > 8 ? 8 : n);
	return value;
}

/* Was something within reach of the pointer written by this thread shortly before? What it handed on does not count
 * again when it is handed on once more under the lock under which it first was. */
static bool is_filled(struct flow_thread *t, uint64_t pointer)
{
	uint64_t section = t->records[0].b;
	uintptr_t lock = t->records[0].a;
	bool is = false;

	for (unsigned i = 0; i < FLOW_RECENT; i++) {
		struct flow_write *w = &t->recent[i];

		if (!w->n || w->address + w->n <= pointer || w->address >= pointer + VPROF_FLOW_SPAN ||
		    (w->handed_on && w->under == lock && w->handed_on != section))
			continue;
		if (!w->handed_on) {
			w->handed_on = section;
			w->under = lock;
		}
		is = true;
	}
	return is;
}

void flow_write_record(struct flow_thread *t, uintptr_t address, size_t n, uint64_t value, unsigned flags, uintptr_t pc)
{
	struct vprof_flow_record *r = flow_record(t, VPROF_FLOW_WRITE);

	if (!r)
		return;
	r->n_bytes = (uint8_t)n;
	r->flags = (uint16_t)(flags | (flow_on_stack(t, address) ? VPROF_FLOW_STACK : 0));
	if (vprof_flow_is_pointer(value) && is_filled(t, value))
		r->flags |= VPROF_FLOW_FILLED;
	if (t->n_late)
		flow_late_handed_on(t, value);
	r->a = address;
	r->b = value;
	r->c = pc;
}

/* A copy of n bytes, whose content lies at `content` now. */
static void copy_record(struct flow_thread *t, uintptr_t to, uintptr_t from, uintptr_t content, size_t n, uintptr_t pc)
{
	struct vprof_flow_record *r = flow_record(t, VPROF_FLOW_COPY), *values = NULL;
	size_t n_granules;

	if (!r)
		return;
	if (n > 8 * VPROF_FLOW_GRANULES)
		n = 8 * VPROF_FLOW_GRANULES;
	r->a = to;
	r->b = from;
	r->c = pc;
	r->flags = to && flow_on_stack(t, to) ? VPROF_FLOW_STACK : 0;
	n_granules = n / 8;
	r->count = (uint32_t)(8 * n_granules);
	for (size_t i = 0; i < n_granules; i++) {
		if (i % 3 == 0)
			values = flow_record(t, VPROF_FLOW_VALUES);
		if (!values) {
			r->count = (uint32_t)(8 * i);
			return;
		}
		(&values->a)[i % 3] = value_at(content + 8 * i, 8);
		flow_pointer_read(t, (&values->a)[i % 3]);
	}
}

static void settle_write(struct flow_thread *t, const struct flow_write *w)
{
	if (w->n <= 8)
		flow_write_record(t, w->address, w->n, value_at(w->address, w->n), 0, w->pc);
	else if (w->n == 16)
		for (size_t i = 0; i < 16; i += 8)
			flow_write_record(t, w->address + i, 8, value_at(w->address + i, 8), 0, w->pc);
	else
		copy_record(t, w->address, 0, w->address, w->n, w->pc);
}

void flow_settle(struct flow_thread *t)
{
	for (unsigned i = 0; i < t->n_pending; i++)
		settle_write(t, &t->pending[i]);
	t->n_pending = 0;
}

/* Where the same lies there as before, a signal handler may have come between the callback and the write. */
static bool may_have_happened(const struct flow_write *w)
{
	return w->n > 8 || value_at(w->address, w->n) != w->before;
}

/* Before the next access: what was announced two callbacks ago, or overlaps it, has happened, unless nothing has
 * changed: then it is looked at again. */
static void settle_before(struct flow_thread *t, uintptr_t address, size_t n, bool is_write)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < t->n_pending; i++) {
		struct flow_write *w = &t->pending[i];
		bool overlaps = w->address < address + n && address < w->address + w->n;

		if ((overlaps && is_write) || ((w->age++ > 0 || overlaps) && may_have_happened(w)))
			settle_write(t, w);
		else
			t->pending[kept++] = *w;
	}
	t->n_pending = kept;
}

/* Announced in the open section. */
static void announce_write(struct flow_thread *t, uintptr_t address, size_t n, uintptr_t pc)
{
	settle_before(t, address, n, true);
	if (t->n_pending == FLOW_PENDING) { /* the oldest cannot wait any longer */
		settle_write(t, &t->pending[0]);
		memmove(t->pending, t->pending + 1, sizeof *t->pending * --t->n_pending);
	}
	t->pending[t->n_pending++] =
		(struct flow_write){ .address = address, .n = n, .pc = pc, .before = value_at(address, n) };
}

static bool in_section(const struct flow_thread *t)
{
	return t->depth > 0 && t->n_records;
}

static bool enter(struct flow_thread *t)
{
	if (t->busy) {
		flow_count(&flow_header->n_nested);
		return false;
	}
	t->busy = true;
	flow_watch_catch_up(t);
	return true;
}

static void section_read(struct flow_thread *t, uintptr_t address, size_t n, uintptr_t pc)
{
	/* gcc's copy of an aggregate: the write of the same size that was announced last */
	if (n > 16 && t->n_pending && t->pending[t->n_pending - 1].n == n && !t->pending[t->n_pending - 1].age &&
	    t->pending[t->n_pending - 1].address != address) {
		uintptr_t to = t->pending[--t->n_pending].address;

		settle_before(t, address, n, false);
		copy_record(t, to, address, address, n, pc);
		return;
	}
	settle_before(t, address, n, false);
	if (n > 16) {
		copy_record(t, 0, address, address, n, pc);
		return;
	}
	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t value = value_at(address + i, 8);
		struct vprof_flow_record *r = value ? flow_record(t, VPROF_FLOW_READ) : NULL;

		if (!r)
			continue;
		r->n_bytes = 8;
		r->flags = flow_on_stack(t, address) ? VPROF_FLOW_STACK : 0;
		r->a = address + i;
		r->b = value;
		r->c = pc;
		flow_pointer_read(t, value);
	}
}

static inline __attribute__((always_inline)) bool may_be_late(const struct flow_thread *t, uintptr_t address, size_t n)
{
	return t->n_late && (n > 64 || flow_may_be_late(t, address, n));
}

static void note_use(struct flow_thread *t, uintptr_t address, size_t n, bool is_write, uintptr_t pc)
{
	if (may_be_late(t, address, n))
		flow_late_use(t, address, n, is_write, pc);
	if (t->n_candidates)
		flow_use(t, address, n, is_write, pc);
}

/* Out of line, as what follows: most accesses are of no interest, and find that out without a stack frame. */
static __attribute__((noinline)) void watched_read(struct flow_thread *t, uintptr_t address, size_t n, uintptr_t pc,
						   uintptr_t frame)
{
	if (!enter(t))
		return;
	note_use(t, address, n, false, pc);
	if (flow_may_be_event(t, address, n))
		flow_event_read(t, address, n, pc);
	if (in_section(t))
		section_read(t, address, n, pc);
	else if (t->n_observable)
		flow_observed_read(t, address, n, pc, frame);
	t->busy = false;
}

void flow_read(uintptr_t address, size_t n, uintptr_t pc)
{
	struct flow_thread *t = flow_self;

	if (!t)
		return;
	t->observed = 0;
	/* no records: no section is open, or enough of its kind are known */
	if (t->n_records | t->n_candidates | t->n_observable || flow_may_be_event(t, address, n) ||
	    may_be_late(t, address, n))
		watched_read(t, address, n, pc, FLOW_FRAME);
}

static __attribute__((noinline)) void watched_write(struct flow_thread *t, uintptr_t address, size_t n, uintptr_t pc,
						    uintptr_t frame)
{
	if (!t)
		t = flow_thread();
	if (!t || !enter(t))
		return;
	if (t->n_changed && flow_releases_changed(t, address) && !t->depth) {
		flow_publish_at(t, address, n, 0, pc, frame);
		return;
	}
	t->observed = 0;
	note_use(t, address, n, true, pc);
	if (in_section(t)) {
		announce_write(t, address, n, pc);
	} else if (!t->depth) {
		t->recent[t->n_recent++ % FLOW_RECENT] = (struct flow_write){ .address = address, .n = n, .pc = pc };
	}
	t->busy = false;
}

void flow_write(uintptr_t address, size_t n, uintptr_t pc)
{
	struct flow_thread *t = flow_self;

	if (!n)
		return;
	if (!t || t->busy || t->n_records | t->n_candidates | t->n_changed || flow_has_missed(t) ||
	    may_be_late(t, address, n)) {
		watched_write(t, address, n, pc, FLOW_FRAME);
		return;
	}
	t->observed = 0;
	if (t->depth)
		return;
	t->busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->recent[t->n_recent++ % FLOW_RECENT] = (struct flow_write){ .address = address, .n = n, .pc = pc };
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = false;
}

void flow_copy(uintptr_t to, uintptr_t from, size_t n, uintptr_t pc)
{
	struct flow_thread *t = flow_thread();

	if (!t || !n || !enter(t))
		return;
	note_use(t, from, n, false, pc);
	note_use(t, to, n, true, pc);
	if (flow_may_be_event(t, from, n))
		flow_event_read(t, from, n, pc);
	if (in_section(t) && n >= 8) {
		settle_before(t, from, n, false);
		copy_record(t, to, from, from, n, pc);
	} else if (!t->depth) {
		t->recent[t->n_recent++ % FLOW_RECENT] = (struct flow_write){ .address = to, .n = n, .pc = pc };
	}
	t->busy = false;
}
