/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations of events: the pointer that epoll_ctl stores for a descriptor is handed to whoever gets its event from
 * epoll_wait, and is used by a handler. Both are written as sections whose lock is the epoll instance, the registration
 * like an atomic store and the event like a load, each with a stack; whatever section is open meanwhile goes on.
 *
 * A handler's use may come late, after those of the events before it, so it is looked for until the thread waits again.
 * An event is in hand from when the loop reads what is registered for it until it reads the next one: what the thread
 * reads first of what was registered, and what it sends and receives meanwhile (flow_transfers.c), is the handler's.
 *
 * Of what was registered by the descriptor's number, by a library or a loop of the program's own, and of what poll()
 * tells, the number stands for it, or what the library was told (flow_handlers.c). Where the loop's reads of the array
 * are not seen, such an event is in hand from the first receipt or reply on its descriptor.
 */
#define _GNU_SOURCE
#include "runtime/flows/flow_next.h"
#include "runtime/flows/flow_runtime.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>

#define PC ((uintptr_t)__builtin_return_address(0))
#define EVENT_RECORDS 40u /* of one entry, stacks included */

#define BY_POLL 0x0ffffffe /* stand for an epoll instance */
#define BY_LIBRARY 0x0fffffff
#define INPUT (EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR)
#define OUTPUT (EPOLLOUT | EPOLLHUP | EPOLLERR)
#define NUMBERS 65536u

static uint64_t is_numbered[NUMBERS / 64]; /* descriptors that were registered by their number */
static uint32_t n_events;		   /* that were delivered, until there were enough */

bool flow_events_enough(void)
{
	return __atomic_load_n(&n_events, __ATOMIC_RELAXED) >= VPROF_FLOW_ENOUGH_EVENTS;
}

void flow_events_forked(void)
{
	n_events = 0;
}

/* One more is recorded: is it the last one? */
static void count_event(struct flow_thread *t)
{
	if (__atomic_add_fetch(&n_events, 1, __ATOMIC_RELAXED) == VPROF_FLOW_ENOUGH_EVENTS)
		flow_log(t, &(struct vprof_flow_record){ .kind = VPROF_FLOW_ENOUGH, .b = flow_next_section() }, 1);
}

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
					    .flags = (uint16_t)(flags | VPROF_FLOW_EVENT | flow_watch_blind(t)),
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
		if (vprof_flow_is_pointer(value))
			flow_candidate_add_event(t, value, value + VPROF_FLOW_SPAN, key, head->b);
	}
	flow_frames(t, 1, pc, frame);
	head->count = t->n_records - base - 1;
	flow_count(&flow_header->n_sections);
	if (!flow_log(t, head, head->count + 1))
		flow_count(&flow_header->n_unwritten);
	t->n_records = base;
	t->n_accesses = n_accesses;
	if (flags & VPROF_FLOW_OBSERVE)
		count_event(t);
	return head->b;
}

static void take_event(struct flow_thread *t, uint64_t section, uintptr_t low)
{
	t->hand = section;
	t->hand_low = low;
	t->hand_reads = low && t->delivered ? FLOW_LINK_READS : 0;
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
	t->delivered_fds[nearest] = -1;
	t->is_first_use = false;
}

/* The loop reads what is registered for the next event. Several at once are a copy: it goes through that. */
static void take_delivered(struct flow_thread *t, uintptr_t address, size_t n)
{
	uintptr_t i, at;

	if (!t->delivered || address < t->delivered)
		return;
	i = (address - t->delivered) / t->delivered_bytes;
	at = (address - t->delivered) % t->delivered_bytes;
	if (i >= t->n_delivered || at + n <= t->delivered_from || at + n > t->delivered_to)
		return;
	t->is_array_read = true;
	if (i < FLOW_DELIVERED && t->delivered_sections[i])
		take_event(t, t->delivered_sections[i], t->delivered_lows[i]);
	else
		t->hand = 0;
}

void flow_event_transfer(struct flow_thread *t, int fd, bool is_sent)
{
	for (unsigned i = 0; i < t->n_delivered && i < FLOW_DELIVERED && !t->is_array_read; i++)
		if (t->delivered_fds[i] == fd && t->delivered_outputs[i] == is_sent && t->delivered_sections[i]) {
			take_event(t, t->delivered_sections[i], t->delivered_lows[i]);
			t->delivered_fds[i] = -1;
			t->delivered_pointers[i] = 0;
			t->is_first_use = false;
			return;
		}
}

/* A pointer that lies in what was registered for the event; `links`: offsets that were told. */
static void log_link(struct flow_thread *t, uint64_t section, uintptr_t low, uintptr_t address, size_t n,
		     unsigned *links)
{
	struct vprof_flow_record link = { .kind = VPROF_FLOW_LINK, .a = section };
	uintptr_t offset = address - low;

	if (n != 8 || offset % 8 || offset >= VPROF_FLOW_SPAN)
		return;
	if (*links & 1u << offset / 8)
		return;
	*links |= 1u << offset / 8;
	link.b = offset;
	link.c = *(const uint64_t *)address;
	if (vprof_flow_is_pointer(link.c))
		flow_log(t, &link, 1);
}

/* What libraries were given, whichever event is in hand: what lies there is the same for whoever reads it. */
static void link_delivered(struct flow_thread *t, uintptr_t address, size_t n)
{
	for (unsigned i = 0; i < t->n_delivered && i < FLOW_DELIVERED; i++) {
		unsigned links = t->delivered_links[i];

		if (!t->delivered_lows[i] || address - t->delivered_lows[i] >= VPROF_FLOW_SPAN)
			continue;
		log_link(t, t->delivered_sections[i], t->delivered_lows[i], address, n, &links);
		t->delivered_links[i] = (uint8_t)links;
	}
}

void flow_event_read(struct flow_thread *t, uintptr_t address, size_t n, uintptr_t pc)
{
	if (t->n_delivered && !t->delivered)
		link_delivered(t, address, n);
	if (t->n_delivered)
		take_delivered(t, address, n);
	if (t->n_delivered && !t->is_array_read)
		take_used(t, address, pc);
	if (!t->hand_reads)
		return;
	t->hand_reads--;
	log_link(t, t->hand, t->hand_low, address, n, &t->hand_links);
}

static bool is_number(uint64_t data)
{
	uint32_t fd = (uint32_t)data;

	return fd < NUMBERS && __atomic_load_n(&is_numbered[fd / 64], __ATOMIC_RELAXED) >> fd % 64 & 1;
}

/* Its number, with what the program or a library adds to it above. */
static bool is_registered_by_number(int fd, uint64_t data)
{
	return fd >= 0 && (unsigned)fd < NUMBERS && (uint32_t)data == (uint32_t)fd;
}

static void note_numbered(int fd, bool is)
{
	if (fd < 0 || (unsigned)fd >= NUMBERS)
		return;
	if (is)
		__atomic_fetch_or(&is_numbered[fd / 64], UINT64_C(1) << fd % 64, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&is_numbered[fd / 64], ~(UINT64_C(1) << fd % 64), __ATOMIC_RELAXED);
}

static void registered(int epoll, int fd, const struct epoll_event *event, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_thread();
	uint64_t value;

	if (!t || t->busy || !event)
		return;
	flow_watch_catch_up_first(t);
	value = event->data.u64;
	note_numbered(fd, is_registered_by_number(fd, value));
	if (is_registered_by_number(fd, value))
		value = VPROF_FLOW_NUMBER | (uint64_t)fd;
	else if (!vprof_flow_is_pointer(value))
		return;
	t->busy = true;
	flow_descriptor_registered(fd);
	if (!flow_events_enough()) {
		flow_watch_events(t);
		log_event(t, VPROF_FLOW_PUBLISH, key_of(epoll), fd, value, pc, frame);
	}
	t->busy = false;
}

/* What an event of it is known by: what the library gives its handler, if that is a pointer. */
static uint64_t value_of(int fd, uintptr_t what)
{
	return vprof_flow_is_pointer(what) ? what : VPROF_FLOW_NUMBER | (uint64_t)fd;
}

void flow_handler_registered(int fd, uintptr_t what, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy)
		return;
	t->busy = true;
	flow_watch_catch_up(t);
	flow_descriptor_registered(fd);
	if (!flow_events_enough()) {
		flow_watch_events(t);
		log_event(t, VPROF_FLOW_PUBLISH, key_of(BY_LIBRARY), fd, value_of(fd, what), pc, frame);
	}
	t->busy = false;
}

static void waits(int epoll)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy)
		return;
	t->busy = true;
	flow_watch_catch_up(t);
	flow_candidates_end(t, key_of(epoll));
	flow_candidates_end(t, key_of(BY_LIBRARY));
	t->hand = 0;
	t->hand_reads = 0;
	t->n_delivered = 0;
	t->busy = false;
}

static void begin_delivery(struct flow_thread *t, int n)
{
	if (n > 0)
		flow_watch_events(t);
	t->n_delivered = 0;
	t->is_first_use = true;
	t->is_array_read = false;
	memset(t->delivered_lines, 0, sizeof t->delivered_lines);
}

/* The next place in the list of events; fd: of a number, or -1. */
static void deliver(struct flow_thread *t, uint64_t section, uint64_t value, int fd, bool is_output)
{
	unsigned i = t->n_delivered++;
	uintptr_t low = section && vprof_flow_is_pointer(value) ? (uintptr_t)value : 0;

	if (i >= FLOW_DELIVERED)
		return;
	t->delivered_sections[i] = section;
	t->delivered_lows[i] = low;
	t->delivered_pointers[i] = low;
	if (low) {
		flow_lines_add(t->delivered_lines, low);
		flow_lines_add(t->delivered_lines, low + VPROF_FLOW_SPAN - 1);
	}
	t->delivered_links[i] = 0;
	t->delivered_fds[i] = fd;
	t->delivered_outputs[i] = is_output;
}

/* A library's: the event is of what it gives the handler, and the handler is known. */
static bool deliver_handled(struct flow_thread *t, int fd, bool is_output, uintptr_t pc, uintptr_t frame)
{
	struct flow_handler h = flow_handler_of(fd, is_output);
	struct vprof_flow_record link = { .kind = VPROF_FLOW_LINK, .flags = (uint16_t)h.library, .c = h.call };

	if (!h.call)
		return false;
	link.a = log_event(t, VPROF_FLOW_OBSERVE, key_of(BY_LIBRARY), 0, value_of(fd, h.what), pc, frame);
	if (link.a)
		flow_log(t, &link, 1);
	deliver(t, link.a, value_of(fd, h.what), fd, is_output);
	return true;
}

/* True: a library handles it. */
static bool deliver_number(struct flow_thread *t, int epoll, int fd, unsigned events, uintptr_t pc, uintptr_t frame)
{
	bool is_handled = events & INPUT && deliver_handled(t, fd, false, pc, frame);
	uint64_t section, value = VPROF_FLOW_NUMBER | (uint64_t)fd;

	if (events & OUTPUT)
		is_handled |= deliver_handled(t, fd, true, pc, frame);
	if (is_handled)
		return true;
	section = log_event(t, VPROF_FLOW_OBSERVE, key_of(epoll), 0, value, pc, frame);
	deliver(t, section, value, fd, !(events & EPOLLIN));
	return false;
}

static void delivered(int epoll, const struct epoll_event *events, int n, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_thread();
	bool is_handled = false;

	if (!t || t->busy)
		return;
	t->waits_by_epoll = true;
	if (flow_events_enough()) {
		t->busy = true;
		for (int i = 0; i < n; i++)
			if (is_number(events[i].data.u64) || vprof_flow_is_pointer(events[i].data.u64))
				flow_watch_passed(t, 1);
		t->busy = false;
		return;
	}
	t->busy = true;
	begin_delivery(t, n);
	for (int i = 0; i < n; i++) {
		uint64_t value = events[i].data.u64, section = 0;

		if (is_number(value)) {
			is_handled |= deliver_number(t, epoll, (int)(uint32_t)value, events[i].events, pc, frame);
			continue;
		}
		if (vprof_flow_is_pointer(value))
			section = log_event(t, VPROF_FLOW_OBSERVE, key_of(epoll), 0, value, pc, frame);
		deliver(t, section, value, -1, false);
	}
	t->delivered = is_handled ? 0 : (uintptr_t)events;
	t->delivered_bytes = sizeof *events;
	t->delivered_from = offsetof(struct epoll_event, data);
	t->delivered_to = sizeof *events;
	t->busy = false;
}

/* ---- poll ---- */

/* Of one descriptor it is no loop, nor where the thread waits by epoll, whose handler then waits for something. */
static bool is_loop(nfds_t n)
{
	struct flow_thread *t = flow_thread();

	return t && !t->busy && n > 1 && !t->waits_by_epoll;
}

static void polled(const struct pollfd *fds, nfds_t n, int n_ready, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_thread();
	bool is_handled = false;

	if (!t || t->busy)
		return;
	if (flow_events_enough()) {
		t->busy = true;
		flow_watch_passed(t, n_ready > 0 ? (unsigned)n_ready : 0);
		t->busy = false;
		return;
	}
	t->busy = true;
	begin_delivery(t, n_ready);
	for (nfds_t i = 0; i < n && i < FLOW_DELIVERED && n_ready > 0; i++) {
		if (fds[i].fd >= 0 && !flow_descriptor_is_registered(fds[i].fd)) {
			flow_descriptor_registered(fds[i].fd);
			log_event(t, VPROF_FLOW_PUBLISH, key_of(BY_POLL), fds[i].fd,
				  VPROF_FLOW_NUMBER | (uint64_t)fds[i].fd, pc, frame);
		}
		if (fds[i].fd >= 0 && fds[i].revents)
			is_handled |= deliver_number(t, BY_POLL, fds[i].fd, (unsigned)fds[i].revents, pc, frame);
		else
			deliver(t, 0, 0, -1, false);
	}
	t->delivered = is_handled ? 0 : (uintptr_t)fds;
	t->delivered_bytes = sizeof *fds;
	t->delivered_from = offsetof(struct pollfd, revents);
	t->delivered_to = sizeof *fds;
	t->busy = false;
}

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);

#define POLL(fds, n, call)                                                                                             \
	do {                                                                                                           \
		bool is_ = is_loop(n);                                                                                 \
		int ready_;                                                                                            \
		if (is_)                                                                                               \
			waits(BY_POLL);                                                                                \
		ready_ = call;                                                                                         \
		if (is_)                                                                                               \
			polled(fds, n, ready_, PC, FLOW_FRAME);                                                        \
		return ready_;                                                                                         \
	} while (0)

FLOW_EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	POLL(fds, n, NEXT(poll)(fds, n, timeout));
}

FLOW_EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	POLL(fds, n, NEXT(__poll_chk)(fds, n, timeout, room));
}

FLOW_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	POLL(fds, n, NEXT(ppoll)(fds, n, timeout, mask));
}

/* ---- epoll ---- */

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
