/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations of events: the pointer that epoll_ctl stores for a descriptor is handed to whoever gets its event from
 * epoll_wait, and is used by a handler. Both are written as sections whose lock is the epoll instance, the registration
 * like an atomic store and the event like a load, each with a stack; whatever section is open meanwhile goes on.
 *
 * A handler's use may come late, after those of the events before it, so it is looked for until the thread waits again.
 * An event is in hand from when the loop reads what is registered for it until it reads the next one: what the thread
 * reads first of what was registered, and what it sends and receives meanwhile (flow_transfers.c), is the handler's.
 */
#define _GNU_SOURCE
#include "runtime/flows/flow_next.h"
#include "runtime/flows/flow_runtime.h"

#include <signal.h>
#include <sys/epoll.h>

#define PC ((uintptr_t)__builtin_return_address(0))
#define EVENT_RECORDS 40u  /* of one entry, stacks included */
#define EVENT_WINDOW 65536 /* accesses, until the next wait */

static uintptr_t key_of(int epoll)
{
	return (uintptr_t)(FLOW_EVENT_KEY | (uint64_t)(uint32_t)epoll << 4);
}

/* One entry behind the records of the section that is open. */
static uint64_t log_event(struct flow_thread *t, unsigned flags, uintptr_t key, int fd, uint64_t value, uintptr_t pc,
			  uintptr_t frame)
{
	uint32_t base = t->n_records, n_accesses = t->n_accesses;
	struct vprof_flow_record *head = &t->records[base], *access;

	if (base + EVENT_RECORDS > VPROF_FLOW_ENTRY_RECORDS) {
		flow_count(&flow_header->n_sections);
		flow_count(&flow_header->n_unwritten);
		return 0;
	}
	*head = (struct vprof_flow_record){ .kind = VPROF_FLOW_SECTION,
					    .flags = (uint16_t)(flags | VPROF_FLOW_EVENT),
					    .a = key,
					    .b = flow_next_section(),
					    .c = t->tid };
	t->n_records++;
	flow_frames(t, 0, pc, frame);
	if (flags & VPROF_FLOW_PUBLISH) {
		flow_write_record(t, key, 8, value, VPROF_FLOW_ATOMIC, pc);
		t->records[t->n_records - 1].count = (uint32_t)fd;
	} else {
		access = flow_record(t, VPROF_FLOW_READ);
		if (access)
			*access = (struct vprof_flow_record){ .kind = VPROF_FLOW_READ,
							      .n_bytes = 8,
							      .flags = VPROF_FLOW_ATOMIC,
							      .a = key,
							      .b = value,
							      .c = pc };
		flow_candidate_add_of(t, value, value + VPROF_FLOW_SPAN, key, head->b);
		t->window = EVENT_WINDOW;
	}
	flow_frames(t, 1, pc, frame);
	head->count = t->n_records - base - 1;
	flow_count(&flow_header->n_sections);
	if (!flow_log(t, head, head->count + 1))
		flow_count(&flow_header->n_unwritten);
	t->n_records = base;
	t->n_accesses = n_accesses;
	return head->b;
}

static void take_event(struct flow_thread *t, uint64_t section, uintptr_t low)
{
	t->hand = section;
	t->hand_low = low;
	t->hand_reads = FLOW_LINK_READS;
	t->hand_links = 0;
}

static bool is_taker(struct flow_thread *t, uintptr_t pc)
{
	for (unsigned i = 0; i < t->n_takers && i < FLOW_TAKERS; i++)
		if (t->takers[i] == pc)
			return true;
	if (t->is_first_use)
		t->takers[t->n_takers++ % FLOW_TAKERS] = pc;
	return t->is_first_use;
}

/* Where the loop's reads of the array are not told, as clang does not tell those of local variables: the next event is
 * taken where after some wait the first one was. What is registered may lie side by side: it is the nearest. */
static void take_used(struct flow_thread *t, uintptr_t address, uintptr_t pc)
{
	unsigned n = t->n_delivered < FLOW_DELIVERED ? t->n_delivered : FLOW_DELIVERED, nearest = n;

	for (unsigned i = 0; i < n; i++)
		if (t->delivered_pointers[i] && address - t->delivered_pointers[i] < VPROF_FLOW_SPAN &&
		    (nearest == n || t->delivered_pointers[i] > t->delivered_pointers[nearest]))
			nearest = i;
	if (nearest == n || !is_taker(t, pc))
		return;
	take_event(t, t->delivered_sections[nearest], t->delivered_pointers[nearest]);
	t->delivered_pointers[nearest] = 0;
	t->is_first_use = false;
}

/* The loop reads what is registered for the next event. Several at once are a copy: it goes through that. */
static void take_delivered(struct flow_thread *t, uintptr_t address, size_t n)
{
	const struct epoll_event *events = (const struct epoll_event *)t->delivered;
	uintptr_t i = (address - t->delivered) / sizeof *events, at = (address - t->delivered) % sizeof *events;

	if (address < t->delivered || i >= t->n_delivered || at + n <= offsetof(struct epoll_event, data))
		return;
	if (at + n > sizeof *events)
		return;
	t->is_array_read = true;
	if (i < FLOW_DELIVERED && t->delivered_sections[i])
		take_event(t, t->delivered_sections[i], events[i].data.u64);
	else
		t->hand = 0;
}

void flow_event_read(struct flow_thread *t, uintptr_t address, size_t n, uintptr_t pc)
{
	struct vprof_flow_record link = { .kind = VPROF_FLOW_LINK };
	uintptr_t offset;

	if (t->n_delivered)
		take_delivered(t, address, n);
	if (t->n_delivered && !t->is_array_read)
		take_used(t, address, pc);
	offset = address - t->hand_low;
	if (!t->hand_reads)
		return;
	t->hand_reads--;
	if (n != 8 || offset % 8 || offset >= VPROF_FLOW_SPAN || t->hand_links & 1u << offset / 8)
		return;
	t->hand_links |= 1u << offset / 8;
	link.a = t->hand;
	link.b = offset;
	link.c = *(const uint64_t *)address;
	if (vprof_flow_is_pointer(link.c))
		flow_log(t, &link, 1);
}

static void registered(int epoll, int fd, const struct epoll_event *event, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy || !event || !vprof_flow_is_pointer(event->data.u64))
		return;
	t->busy = true;
	flow_descriptor_registered(fd);
	log_event(t, VPROF_FLOW_PUBLISH, key_of(epoll), fd, event->data.u64, pc, frame);
	t->busy = false;
}

static void waits(int epoll)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy)
		return;
	t->busy = true;
	flow_candidates_end(t, key_of(epoll));
	t->hand = 0;
	t->hand_reads = 0;
	t->n_delivered = 0;
	t->busy = false;
}

static void delivered(int epoll, const struct epoll_event *events, int n, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy)
		return;
	t->busy = true;
	for (int i = 0; i < n; i++) {
		uint64_t section = 0;

		if (vprof_flow_is_pointer(events[i].data.u64))
			section = log_event(t, VPROF_FLOW_OBSERVE, key_of(epoll), 0, events[i].data.u64, pc, frame);
		if (i < (int)FLOW_DELIVERED)
			t->delivered_sections[i] = section;
		if (i < (int)FLOW_DELIVERED)
			t->delivered_pointers[i] = section ? (uintptr_t)events[i].data.u64 : 0;
	}
	t->delivered = (uintptr_t)events;
	t->n_delivered = n > 0 ? (unsigned)n : 0;
	t->is_first_use = true;
	t->is_array_read = false;
	t->busy = false;
}

/* Told before the kernel knows of it: its event may be handled at once. */
FLOW_EXPORT int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	if (operation == EPOLL_CTL_ADD || operation == EPOLL_CTL_MOD)
		registered(epoll, fd, event, PC, FLOW_FRAME);
	return NEXT(epoll_ctl)(epoll, operation, fd, event);
}

FLOW_EXPORT int epoll_wait(int epoll, struct epoll_event *events, int max, int timeout)
{
	int n;

	waits(epoll);
	n = NEXT(epoll_wait)(epoll, events, max, timeout);
	delivered(epoll, events, n, PC, FLOW_FRAME);
	return n;
}

FLOW_EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int max, int timeout, const sigset_t *mask)
{
	int n;

	waits(epoll);
	n = NEXT(epoll_pwait)(epoll, events, max, timeout, mask);
	delivered(epoll, events, n, PC, FLOW_FRAME);
	return n;
}
