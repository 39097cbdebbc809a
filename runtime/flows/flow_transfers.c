/* SPDX-License-Identifier: Apache-2.0 */
/* What is received and sent on descriptors that were registered for events, with the event in hand and the stack: who
 * takes a request from its descriptor, and who sends the reply. Each is an entry of its own behind the records of
 * whatever section is open.
 *
 * A receipt has its number from after the call, a reply from before it: so a client that answers at once comes later.
 */
#define _GNU_SOURCE
#include "runtime/flows/flow_next.h"
#include "runtime/flows/flow_runtime.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define PC ((uintptr_t)__builtin_return_address(0))
#define TRANSFER_FRAMES 24
#define DESCRIPTORS 65536u

static uint64_t is_registered[DESCRIPTORS / 64];

static bool looks_at(int fd)
{
	return fd >= 0 && (unsigned)fd < DESCRIPTORS &&
	       __atomic_load_n(&is_registered[fd / 64], __ATOMIC_RELAXED) >> fd % 64 & 1;
}

bool flow_descriptor_is_registered(int fd)
{
	return looks_at(fd);
}

void flow_descriptor_registered(int fd)
{
	if (fd >= 0 && (unsigned)fd < DESCRIPTORS)
		__atomic_fetch_or(&is_registered[fd / 64], UINT64_C(1) << fd % 64, __ATOMIC_RELAXED);
}

static uint64_t number_before(int fd)
{
	return flow_header && looks_at(fd) && !flow_events_over(flow_self) ? flow_next_section() : 0;
}

static void log_transfer(struct flow_thread *t, unsigned flags, int fd, uint64_t number, uintptr_t pc, uintptr_t frame)
{
	uint32_t base = t->n_records;
	struct vprof_flow_record *head = &t->records[base];

	if (!(flags & VPROF_FLOW_CLOSED))
		flow_event_transfer(t, fd, flags & VPROF_FLOW_SENT);
	flow_count(&flow_header->n_sections);
	if (base + 1 + TRANSFER_FRAMES > VPROF_FLOW_ENTRY_RECORDS) {
		flow_count(&flow_header->n_unwritten);
		return;
	}
	*head = (struct vprof_flow_record){ .kind = VPROF_FLOW_TRANSFER,
					    .flags = (uint16_t)flags,
					    .a = number,
					    .b = t->hand,
					    .c = (uint64_t)t->tid << 32 | (uint32_t)fd };
	t->n_records++;
	if (!(flags & VPROF_FLOW_CLOSED))
		flow_frames_most(t, 0, pc, frame, TRANSFER_FRAMES);
	head->count = t->n_records - base - 1;
	if (!flow_log(t, head, head->count + 1))
		flow_count(&flow_header->n_unwritten);
	t->n_records = base;
}

static void transferred(unsigned flags, int fd, uint64_t number, uintptr_t pc, uintptr_t frame)
{
	int saved = errno;
	struct flow_thread *t = flow_header && looks_at(fd) && !flow_events_over(flow_self) ? flow_thread() : NULL;

	if (t && !t->busy) {
		t->busy = true;
		flow_watch_events(t);
		t->n_transfers_after += flow_events_enough();
		log_transfer(t, flags, fd, number ? number : flow_next_section(), pc, frame);
		t->busy = false;
	}
	errno = saved;
}

/* The kernel wrote there for this thread. */
static void note_received(const void *to, size_t n)
{
	struct flow_thread *t = flow_self;

	if (!t || !to || !t->n_late || t->busy)
		return;
	t->busy = true;
	flow_watch_catch_up(t);
	flow_late_use(t, (uintptr_t)to, n, true, 0);
	t->busy = false;
}

/* to: NULL where it is not one buffer */
#define RECEIVE(fd, to, call)                                                                                          \
	do {                                                                                                           \
		ssize_t n_ = call;                                                                                     \
		if (n_ > 0) {                                                                                          \
			note_received(to, (size_t)n_);                                                                 \
			transferred(VPROF_FLOW_RECEIVED, fd, 0, PC, FLOW_FRAME);                                       \
		}                                                                                                      \
		return n_;                                                                                             \
	} while (0)
#define SEND(fd, call)                                                                                                 \
	do {                                                                                                           \
		uint64_t number_ = number_before(fd);                                                                  \
		ssize_t n_ = call;                                                                                     \
		if (n_ > 0)                                                                                            \
			transferred(VPROF_FLOW_SENT, fd, number_, PC, FLOW_FRAME);                                     \
		return n_;                                                                                             \
	} while (0)

FLOW_EXPORT ssize_t read(int fd, void *to, size_t n)
{
	RECEIVE(fd, to, NEXT(read)(fd, to, n));
}

FLOW_EXPORT ssize_t readv(int fd, const struct iovec *to, int n)
{
	RECEIVE(fd, NULL, NEXT(readv)(fd, to, n));
}

FLOW_EXPORT ssize_t recv(int fd, void *to, size_t n, int flags)
{
	RECEIVE(flags & MSG_PEEK ? -1 : fd, to, NEXT(recv)(fd, to, n, flags));
}

FLOW_EXPORT ssize_t recvfrom(int fd, void *to, size_t n, int flags, struct sockaddr *from, socklen_t *n_from)
{
	RECEIVE(flags & MSG_PEEK ? -1 : fd, to, NEXT(recvfrom)(fd, to, n, flags, from, n_from));
}

FLOW_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	RECEIVE(flags & MSG_PEEK ? -1 : fd, NULL, NEXT(recvmsg)(fd, message, flags));
}

/* What _FORTIFY_SOURCE calls instead. */
ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t n, size_t room, int flags, struct sockaddr *from, socklen_t *n_from);

FLOW_EXPORT ssize_t __read_chk(int fd, void *to, size_t n, size_t room)
{
	RECEIVE(fd, to, NEXT(__read_chk)(fd, to, n, room));
}

FLOW_EXPORT ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags)
{
	RECEIVE(flags & MSG_PEEK ? -1 : fd, to, NEXT(__recv_chk)(fd, to, n, room, flags));
}

FLOW_EXPORT ssize_t __recvfrom_chk(int fd, void *to, size_t n, size_t room, int flags, struct sockaddr *from,
				   socklen_t *n_from)
{
	RECEIVE(flags & MSG_PEEK ? -1 : fd, to, NEXT(__recvfrom_chk)(fd, to, n, room, flags, from, n_from));
}

FLOW_EXPORT ssize_t write(int fd, const void *from, size_t n)
{
	SEND(fd, NEXT(write)(fd, from, n));
}

FLOW_EXPORT ssize_t writev(int fd, const struct iovec *from, int n)
{
	SEND(fd, NEXT(writev)(fd, from, n));
}

FLOW_EXPORT ssize_t send(int fd, const void *from, size_t n, int flags)
{
	SEND(fd, NEXT(send)(fd, from, n, flags));
}

FLOW_EXPORT ssize_t sendto(int fd, const void *from, size_t n, int flags, const struct sockaddr *to, socklen_t n_to)
{
	SEND(fd, NEXT(sendto)(fd, from, n, flags, to, n_to));
}

FLOW_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	SEND(fd, NEXT(sendmsg)(fd, message, flags));
}

FLOW_EXPORT ssize_t sendfile(int fd, int from, off_t *at, size_t n)
{
	SEND(fd, NEXT(sendfile)(fd, from, at, n));
}

/* Told before: the number may be another's as soon as it is closed. */
FLOW_EXPORT int close(int fd)
{
	if (looks_at(fd)) {
		transferred(VPROF_FLOW_CLOSED, fd, 0, PC, FLOW_FRAME);
		flow_handlers_drop(fd);
		__atomic_fetch_and(&is_registered[fd / 64], ~(UINT64_C(1) << fd % 64), __ATOMIC_RELAXED);
	}
	return NEXT(close)(fd);
}
