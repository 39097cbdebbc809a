/* SPDX-License-Identifier: Apache-2.0 */
/* Critical sections: from the acquisition of a thread's first lock to the release of its last one. A section is written
 * when it ends, and only if compiled units accessed memory in it. */
#include "runtime/flows/flow_runtime.h"

#include <string.h>

#define FRAMES 8
#define CALLERS 4
#define KNOWN_CALLERS 8192u
#define PROBES 32
#define GRANULE 64u
#define GRANULES 64u	    /* of an allocation are looked at one by one */
#define NESTED_RECORDS 256u /* room that a section beneath another should find */

static void put(struct flow_thread *t, const struct vprof_flow_record *record)
{
	if (t->n_records < VPROF_FLOW_ENTRY_RECORDS)
		t->records[t->n_records++] = *record;
}

/* The chain of frame pointers, as far as it stays on the stack and leads outwards. */
void flow_frames_most(struct flow_thread *t, unsigned flags, uintptr_t pc, uintptr_t frame, int most)
{
	for (int i = 0; i < most; i++) {
		const uintptr_t *next = (const uintptr_t *)frame;

		put(t, &(struct vprof_flow_record){
			       .kind = VPROF_FLOW_FRAME, .flags = (uint16_t)flags, .a = frame, .b = pc });
		if (frame % sizeof frame || !flow_on_stack(t, frame) || !flow_on_stack(t, frame + 15) ||
		    next[0] <= frame)
			break;
		frame = next[0];
		pc = next[1];
	}
}

void flow_frames(struct flow_thread *t, unsigned flags, uintptr_t pc, uintptr_t frame)
{
	flow_frames_most(t, flags, pc, frame, FRAMES);
}

/* ---- sections of which enough are known ---- */

/* Who called: the return addresses of the lock function and of four functions around it, since it may have wrappers,
 * such as those of std::lock_guard. */
static uint32_t caller_of(const struct flow_thread *t, uintptr_t pc, uintptr_t frame)
{
	uint64_t hash = pc * UINT64_C(0x9e3779b97f4a7c15);

	for (int i = 0;
	     i < CALLERS && frame % sizeof frame == 0 && flow_on_stack(t, frame) && flow_on_stack(t, frame + 15); i++) {
		const uintptr_t *next = (const uintptr_t *)frame;

		hash = (hash ^ next[1]) * UINT64_C(0x9e3779b97f4a7c15);
		if (next[0] <= frame)
			break;
		frame = next[0];
	}
	hash ^= hash >> 32;
	return (uint32_t)hash ? (uint32_t)hash : 1;
}

static struct {
	uint32_t caller, n;
} known[KNOWN_CALLERS];

/* A child's sections are counted anew. Pages in which nothing was counted stay the parent's. */
void flow_sections_forked(void)
{
	for (uint32_t i = 0; i < KNOWN_CALLERS; i++)
		if (known[i].n)
			known[i].n = 0;
}

/* Counts it: the how many-th it is, or 0 where enough are known. What two threads do at once may be counted once, which
 * only moves the limit. */
static uint32_t count_of(struct flow_thread *t, uint32_t caller, uint32_t limit)
{
	uint32_t at = caller % KNOWN_CALLERS;

	for (int i = 0; i < PROBES; i++, at = (at + 1) % KNOWN_CALLERS) {
		uint32_t there = __atomic_load_n(&known[at].caller, __ATOMIC_RELAXED), n;

		if (!there && __atomic_compare_exchange_n(&known[at].caller, &there, caller, false, __ATOMIC_RELAXED,
							  __ATOMIC_RELAXED))
			there = caller;
		if (there != caller)
			continue;
		n = __atomic_load_n(&known[at].n, __ATOMIC_RELAXED);
		if (n > limit)
			return 0;
		n = __atomic_add_fetch(&known[at].n, 1, __ATOMIC_RELAXED);
		if (n == limit + 1)
			flow_log(t,
				 &(struct vprof_flow_record){
					 .kind = VPROF_FLOW_ENOUGH, .a = caller, .b = flow_next_section() },
				 1);
		return n > limit ? 0 : n;
	}
	return UINT32_MAX; /* of too many callers */
}

void flow_section_begin(struct flow_thread *t, uintptr_t lock, unsigned flags, uintptr_t pc, uintptr_t frame)
{
	bool is_lock = !(flags & (VPROF_FLOW_PUBLISH | VPROF_FLOW_OBSERVE));
	uint32_t caller = caller_of(t, pc, frame), nth;

	flow_watch_closed(t);
	t->n_accesses = 0;
	t->n_pending = 0;
	t->n_nested = 0;
	if (t->is_pointer_read)
		memset(t->pointers_read, 0, sizeof t->pointers_read);
	t->is_pointer_read = false;
	if (is_lock)
		t->n_recent_published = t->n_recent; /* under the lock it may be overwritten */
	nth = count_of(t, caller, is_lock ? VPROF_FLOW_ENOUGH_SECTIONS : VPROF_FLOW_ENOUGH_ATOMICS);
	if (!nth) {
		flow_watch_blind(t); /* one less that is */
		flow_watch_passed(t, 1);
		return;
	}
	if (is_lock)
		flow_watch_opened(t);
	t->is_new = nth <= FLOW_NEW_SECTIONS;
	flow_watch_recorded(t->is_new);
	if (flow_has_missed(t)) {
		flow_watch_forget(t);
		if (is_lock)
			flow_watch_opened(t);
	}
	flags |= flow_watch_blind(t);
	put(t, &(struct vprof_flow_record){ .kind = VPROF_FLOW_SECTION,
					    .flags = (uint16_t)flags,
					    .a = lock,
					    .b = flow_next_section(),
					    .c = t->tid | (uint64_t)caller << 32 });
	if (pc)
		flow_frames(t, 0, pc, frame);
}

struct vprof_flow_record *flow_record(struct flow_thread *t, enum vprof_flow_kind kind)
{
	struct vprof_flow_record *record;

	if (!t->n_records)
		return NULL;
	if (t->n_records + 2 * FRAMES >= VPROF_FLOW_ENTRY_RECORDS) {
		t->records[0].flags |= VPROF_FLOW_CUT;
		return NULL;
	}
	record = &t->records[t->n_records++];
	memset(record, 0, sizeof *record);
	record->kind = (uint8_t)kind;
	t->n_accesses++;
	return record;
}

/* ---- memory that is given again ---- */

static uint64_t *word_of(struct flow_thread *t, uint64_t granule, uint64_t *bit)
{
	uint64_t hash = granule * UINT64_C(0x9e3779b97f4a7c15) >> 52;

	*bit = UINT64_C(1) << hash % 64;
	return &t->pointers_read[hash / 64];
}

void flow_pointer_read(struct flow_thread *t, uint64_t value)
{
	uint64_t bit, *word;

	if (!vprof_flow_is_pointer(value))
		return;
	word = word_of(t, value / GRANULE, &bit);
	*word |= bit;
	t->is_pointer_read = true;
}

void flow_allocated(struct flow_thread *t, uintptr_t address, size_t n)
{
	uint64_t first = address / GRANULE, last = (address + (n ? n - 1 : 0)) / GRANULE, bit;
	bool may_be_read = last - first >= GRANULES;

	for (uint64_t i = first; i <= last && !may_be_read; i++)
		may_be_read = *word_of(t, i, &bit) & bit;
	if (!may_be_read)
		return;
	flow_settle(t);
	if (t->n_records + 2 * FRAMES < VPROF_FLOW_ENTRY_RECORDS)
		put(t, &(struct vprof_flow_record){ .kind = VPROF_FLOW_GIVEN, .a = address, .b = n });
}

static void note_nested(struct flow_thread *t, uintptr_t lock)
{
	for (unsigned i = 0; i < t->n_nested; i++)
		if (t->nested[i] == lock)
			return;
	if (t->n_nested == VPROF_FLOW_LOCKS)
		memmove(t->nested, t->nested + 1, sizeof *t->nested * (--t->n_nested));
	t->nested[t->n_nested++] = lock;
}

/* No access by itself: a section in which there are none is not written. */
void flow_nested(struct flow_thread *t, uintptr_t lock, bool is_released, uintptr_t pc, uintptr_t frame)
{
	if (!t->n_records)
		return;
	flow_settle(t);
	if (!is_released)
		note_nested(t, lock);
	if (t->n_records + 2 * FRAMES >= VPROF_FLOW_ENTRY_RECORDS)
		return;
	put(t,
	    &(struct vprof_flow_record){
		    .kind = VPROF_FLOW_NESTED, .flags = (uint16_t)is_released, .a = lock, .b = flow_next_section() });
	flow_frames(t, VPROF_FLOW_BENEATH | is_released, pc, frame);
}

static void write_section(struct flow_thread *t)
{
	t->records[0].count = t->n_records - 1;
	flow_count(&flow_header->n_sections);
	if (t->records[0].flags & VPROF_FLOW_CUT)
		flow_count(&flow_header->n_cut);
	if (!flow_log(t, t->records, t->n_records))
		flow_count(&flow_header->n_unwritten);
}

void flow_section_end(struct flow_thread *t, uintptr_t pc, uintptr_t frame)
{
	flow_settle(t);
	if (t->n_records && t->n_accesses) {
		if (!(t->records[0].flags & VPROF_FLOW_OBSERVE)) /* there each read is looked for at once */
			flow_candidates_take(t);
		if (pc)
			flow_frames(t, 1, pc, frame);
		write_section(t);
	}
	flow_watch_closed(t);
	t->n_observable = 0;
}

void flow_give_up_full(struct flow_thread *t)
{
	if (!t->depth || t->n_records + NESTED_RECORDS < VPROF_FLOW_ENTRY_RECORDS)
		return;
	flow_settle(t);
	t->records[0].flags |= VPROF_FLOW_CUT;
	write_section(t);
	flow_watch_closed(t);
	t->depth = 0; /* who releases what is not held is passed over */
}
