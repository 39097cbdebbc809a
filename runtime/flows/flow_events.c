/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations of events: the pointer that epoll_ctl stores for a descriptor is handed to whoever gets its event from
 * epoll_wait, and is used by a handler. Both are written as sections whose lock is the epoll instance, the registration
 * like an atomic store and the event like a load, each with a stack; whatever section is open meanwhile goes on.
 *
 * A handler's use may come late, after those of the events before it, so it is looked for until the thread waits again.
 */
#define _GNU_SOURCE
#include "runtime/flows/flow_runtime.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/epoll.h>

#define PC ((uintptr_t)__builtin_return_address(0))
#define EVENT_RECORDS 40u  /* of one entry, stacks included */
#define EVENT_WINDOW 65536 /* accesses, until the next wait */
#define EVENT_KEY (UINT64_C(0xe) << 60)

/* Stands for the epoll instance, as a lock's address does for the lock: no address is so large. */
static uintptr_t key_of(int epoll)
{
	return (uintptr_t)(EVENT_KEY | (uint64_t)(uint32_t)epoll << 4);
}

/* One entry behind the records of the section that is open. */
static void log_event(struct flow_thread *t, unsigned flags, uintptr_t key, uint64_t value, uintptr_t pc,
		      uintptr_t frame)
{
	uint32_t base = t->n_records, n_accesses = t->n_accesses;
	struct vprof_flow_record *head = &t->records[base], *access;

	if (base + EVENT_RECORDS > VPROF_FLOW_ENTRY_RECORDS) {
		flow_count(&flow_header->n_sections);
		flow_count(&flow_header->n_unwritten);
		return;
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
}

static void registered(int epoll, const struct epoll_event *event, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy || !event || !vprof_flow_is_pointer(event->data.u64))
		return;
	t->busy = true;
	log_event(t, VPROF_FLOW_PUBLISH, key_of(epoll), event->data.u64, pc, frame);
	t->busy = false;
}

static void waits(int epoll)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy)
		return;
	t->busy = true;
	flow_candidates_end(t, key_of(epoll));
	t->busy = false;
}

static void delivered(int epoll, const struct epoll_event *events, int n, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_thread();

	if (!t || t->busy)
		return;
	t->busy = true;
	for (int i = 0; i < n; i++)
		if (vprof_flow_is_pointer(events[i].data.u64))
			log_event(t, VPROF_FLOW_OBSERVE, key_of(epoll), events[i].data.u64, pc, frame);
	t->busy = false;
}

#define NEXT(name)                                                                                                     \
	__extension__({                                                                                                \
		static void *found_;                                                                                   \
		void *next_ = __atomic_load_n(&found_, __ATOMIC_ACQUIRE);                                              \
		if (!next_) {                                                                                          \
			next_ = dlsym(RTLD_NEXT, #name);                                                               \
			__atomic_store_n(&found_, next_, __ATOMIC_RELEASE);                                            \
		}                                                                                                      \
		(__typeof__(&(name)))next_;                                                                            \
	})

/* Told before the kernel knows of it: its event may be handled at once. */
FLOW_EXPORT int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	if (operation == EPOLL_CTL_ADD || operation == EPOLL_CTL_MOD)
		registered(epoll, event, PC, FLOW_FRAME);
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
