/* SPDX-License-Identifier: Apache-2.0 */
/* Critical sections: from the acquisition of a thread's first lock to the release of its last one. A section is written
 * when it ends, and only if compiled units accessed memory in it. */
#include "runtime/flows/flow_runtime.h"

#include <string.h>

#define FRAMES 8

static void put(struct flow_thread *t, const struct vprof_flow_record *record)
{
	if (t->n_records < VPROF_FLOW_ENTRY_RECORDS)
		t->records[t->n_records++] = *record;
}

/* The chain of frame pointers, as far as it stays on the stack and leads outwards. */
void flow_frames(struct flow_thread *t, unsigned flags, uintptr_t pc, uintptr_t frame)
{
	for (int i = 0; i < FRAMES; i++) {
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

void flow_section_begin(struct flow_thread *t, uintptr_t lock, unsigned flags, uintptr_t pc, uintptr_t frame)
{
	t->n_records = 0;
	t->n_accesses = 0;
	t->n_pending = 0;
	put(t, &(struct vprof_flow_record){ .kind = VPROF_FLOW_SECTION,
					    .flags = (uint16_t)flags,
					    .a = lock,
					    .b = flow_next_section(),
					    .c = t->tid });
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

void flow_section_end(struct flow_thread *t, uintptr_t pc, uintptr_t frame)
{
	flow_settle(t);
	if (t->n_records && t->n_accesses) {
		if (!(t->records[0].flags & VPROF_FLOW_OBSERVE)) /* there each read is looked for at once */
			flow_candidates_take(t);
		if (pc)
			flow_frames(t, 1, pc, frame);
		t->records[0].count = t->n_records - 1;
		flow_count(&flow_header->n_sections);
		if (t->records[0].flags & VPROF_FLOW_CUT)
			flow_count(&flow_header->n_cut);
		if (!flow_log(t, t->records, t->n_records))
			flow_count(&flow_header->n_unwritten);
	}
	t->n_records = 0;
	t->n_observable = 0;
}
