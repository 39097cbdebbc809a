/* SPDX-License-Identifier: Apache-2.0 */
/* What a section took over and whether the thread uses it afterwards (Whodunit, section 3.2: consumption is the use
 * after the critical section).
 *
 * Every pointer that was read counts as taken over; whether another thread produced it is decided offline. The first
 * access decides: a byte is read that this thread has not written itself, or it is only ever written, as an allocator's
 * memory is. Both count bytes, not granules.
 */
#include "runtime/flows/flow_runtime.h"

#include <string.h>

uint64_t flow_bytes_of(uintptr_t address, size_t n, uintptr_t low)
{
	uintptr_t end = address + n;

	if (end <= low || address >= low + 64)
		return 0;
	if (address < low)
		address = low;
	n = end - address;
	return (n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << (address - low);
}

void flow_use_write(struct flow_thread *t, const struct flow_candidate *c, uintptr_t pc)
{
	const struct vprof_flow_record use = { .kind = VPROF_FLOW_USE,
					       .flags = (uint16_t)((pc ? 0 : VPROF_FLOW_WRITTEN) |
								   (c->is_range ? VPROF_FLOW_RANGE : 0)),
					       .a = c->section,
					       .b = c->low,
					       .c = pc };

	flow_log(t, &use, 1);
}

/* Nothing was read of it in its time. */
static void candidate_end(struct flow_thread *t, unsigned i, bool is_looked_for_on)
{
	const struct flow_candidate *c = &t->candidates[i];

	if (c->is_used && !c->is_range)
		flow_use_write(t, c, 0);
	else if (is_looked_for_on && c->object)
		flow_late_add(t, c);
	memmove(&t->candidates[i], &t->candidates[i + 1], sizeof *t->candidates * (--t->n_candidates - i));
}

static void note_lines(uint64_t *lines, const struct flow_candidate *c)
{
	if (c->high - c->low > 64 * 64 * FLOW_LINE_WORDS) {
		memset(lines, -1, FLOW_LINE_WORDS * sizeof *lines);
		return;
	}
	for (uintptr_t at = c->low; at < c->high; at += 64)
		flow_lines_add(lines, at);
	flow_lines_add(lines, c->high - 1);
}

void flow_lines_find(uint64_t *lines, const struct flow_candidate *candidates, unsigned n)
{
	memset(lines, 0, FLOW_LINE_WORDS * sizeof *lines);
	for (unsigned i = 0; i < n; i++)
		note_lines(lines, &candidates[i]);
}

static void find_lines(struct flow_thread *t)
{
	flow_lines_find(t->candidate_lines, t->candidates, t->n_candidates);
}

void flow_candidates_end(struct flow_thread *t, uintptr_t lock)
{
	unsigned n = t->n_candidates;

	for (unsigned i = 0; i < t->n_candidates;)
		if (!lock || t->candidates[i].lock == lock)
			candidate_end(t, i, false);
		else
			i++;
	if (t->n_candidates != n)
		find_lines(t);
	if (!t->n_candidates)
		flow_watch_looks(t, false);
	flow_late_end(t, lock);
}

static void add(struct flow_thread *t, const struct flow_candidate *new)
{
	struct flow_candidate *c = NULL;

	for (unsigned i = 0; i < t->n_candidates; i++)
		if (t->candidates[i].low == new->low && t->candidates[i].is_range == new->is_range)
			c = &t->candidates[i];
	if (!c && t->n_candidates == FLOW_CANDIDATES) {
		flow_count(&flow_header->n_displaced);
		candidate_end(t, 0, true); /* the oldest */
	}
	if (!t->n_candidates)
		find_lines(t);
	if (!c)
		c = &t->candidates[t->n_candidates++];
	if (!new->is_event || t->n_candidates == 1)
		t->window = FLOW_WINDOW;
	*c = *new;
	c->is_new = t->is_new;
	note_lines(t->candidate_lines, c);
}

/* What sections handed out is looked for no longer, what events did until the thread waits again, or long enough. */
static void end_window(struct flow_thread *t)
{
	for (unsigned i = 0; i < t->n_candidates;)
		if (t->candidates[i].is_event && ++t->candidates[i].windows < FLOW_EVENT_WINDOWS)
			i++;
		else
			candidate_end(t, i, true);
	find_lines(t);
	t->window = FLOW_WINDOW;
	flow_watch_looks(t, false);
}

void flow_candidate_add(struct flow_thread *t, uintptr_t low, uintptr_t high, bool is_range)
{
	add(t, &(struct flow_candidate){ .low = low,
					 .high = high,
					 .lock = t->records[0].a,
					 .section = t->records[0].b,
					 .is_range = is_range });
}

void flow_candidate_add_event(struct flow_thread *t, uintptr_t low, uintptr_t high, uintptr_t lock, uint64_t section)
{
	add(t,
	    &(struct flow_candidate){ .low = low, .high = high, .lock = lock, .section = section, .is_event = true });
}

/* Does the pointer lead to the object in which `place` lies? What malloc happened to place beside it is another. */
static bool is_near(uintptr_t value, uintptr_t place, uintptr_t n_bytes)
{
	return (value > place ? value - place : place - value) < n_bytes && !flow_is_other_object(value, place);
}

/* Of the section, or of those that were taken beneath it. */
static bool is_near_lock(const struct flow_thread *t, uintptr_t value)
{
	if (is_near(value, t->records[0].a, FLOW_NEAR_LOCK_BYTES))
		return true;
	for (unsigned i = 0; i < t->n_nested; i++)
		if (is_near(value, t->nested[i], FLOW_NEAR_LOCK_BYTES))
			return true;
	return false;
}

static void take_pointer(struct flow_thread *t, uint64_t value, uintptr_t source)
{
	if (vprof_flow_is_pointer(value) && !is_near(value, source, FLOW_NEAR_BYTES) && !is_near_lock(t, value))
		add(t, &(struct flow_candidate){ .low = value,
						 .high = value + VPROF_FLOW_SPAN,
						 .lock = t->records[0].a,
						 .section = t->records[0].b,
						 .place = source });
}

/* A number that was read in the section and stored elsewhere: what is read there later is a use of it. */
static void take_number(struct flow_thread *t, uint32_t i)
{
	const struct vprof_flow_record *w = &t->records[i];

	if (w->n_bytes != 8 || w->b < 256 || vprof_flow_is_pointer(w->b))
		return;
	for (uint32_t k = 0; k < t->n_records; k++)
		if (t->records[k].kind == VPROF_FLOW_READ && t->records[k].b == w->b && t->records[k].a != w->a) {
			flow_candidate_add(t, w->a, w->a + 8, true);
			return;
		}
}

static void take_values(struct flow_thread *t, uint32_t i)
{
	const struct vprof_flow_record *copy = &t->records[i];
	uint64_t n = copy->count / 8;

	for (uint64_t k = 0; k < n && k < VPROF_FLOW_GRANULES && i + 1 + k / 3 < t->n_records; k++) {
		const struct vprof_flow_record *values = &t->records[i + 1 + k / 3];

		if (values->kind == VPROF_FLOW_VALUES && copy->b)
			take_pointer(t, (&values->a)[k % 3], copy->b + 8 * k);
	}
	if (copy->a && copy->b)
		flow_candidate_add(t, copy->a, copy->a + copy->count, true);
}

void flow_candidates_take(struct flow_thread *t)
{
	for (uint32_t i = 1; i < t->n_records; i++) {
		const struct vprof_flow_record *r = &t->records[i];

		if (r->kind == VPROF_FLOW_READ)
			take_pointer(t, r->b, r->a);
		else if (r->kind == VPROF_FLOW_WRITE)
			take_number(t, i);
		else if (r->kind == VPROF_FLOW_COPY)
			take_values(t, i);
	}
	for (unsigned i = 0; i < t->n_candidates; i++) {
		struct flow_candidate *c = &t->candidates[i];

		if (c->section != t->records[0].b || c->is_range)
			continue;
		for (uint32_t k = 1; k < t->n_records; k++) {
			const struct vprof_flow_record *r = &t->records[k];

			if (r->kind != VPROF_FLOW_WRITE)
				continue;
			c->written |= flow_bytes_of(r->a, r->n_bytes, c->low);
			if (r->a == c->place) /* the last one decides whether it was taken out */
				c->object = r->b != c->low ? flow_object_of(c->low, &c->begin) : 0;
		}
	}
	flow_watch_looks(t, t->is_new && t->n_candidates);
}

/* False: the candidate is decided. */
static bool look_at(struct flow_thread *t, struct flow_candidate *c, uintptr_t address, size_t n, bool is_write,
		    uintptr_t pc)
{
	uint64_t bytes = flow_bytes_of(address, n, c->low);

	if (is_write) {
		c->written |= bytes;
		c->is_used = true;
		return !c->is_range;
	}
	if (!c->is_range && !(bytes & ~c->written))
		return true;
	flow_use_write(t, c, pc);
	return false;
}

static void look_at_all(struct flow_thread *t, uintptr_t address, size_t n, bool is_write, uintptr_t pc)
{
	for (unsigned i = 0; i < t->n_candidates;) {
		struct flow_candidate *c = &t->candidates[i];

		if (address + n <= c->low || address >= c->high || flow_holds(t, c->lock) ||
		    look_at(t, c, address, n, is_write, pc))
			i++;
		else
			memmove(&t->candidates[i], &t->candidates[i + 1],
				sizeof *t->candidates * (--t->n_candidates - i));
	}
}

void flow_use(struct flow_thread *t, uintptr_t address, size_t n, bool is_write, uintptr_t pc)
{
	if (n > 64 || flow_on_lines(t->candidate_lines, address, n))
		look_at_all(t, address, n, is_write, pc);
	if (!t->n_candidates)
		flow_watch_looks(t, false);
	else if (!t->depth && --t->window <= 0)
		end_window(t);
}
