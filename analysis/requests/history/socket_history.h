/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A socket history: which thread sent or received how many bytes over which connection, and when. It is all that the
 * paths of requests are found from (Tak et al., vPath, USENIX ATC 2009, section 2.3); contents are not looked at.
 *
 * It is the input of the room analysis/requests and knows nothing of traces: adapters fill it, tests write it by hand.
 * A connection has two ends, each a socket; only those ends are here whose process was recorded. Times of one host are
 * comparable, those of two hosts need not be.
 *
 * Invariants, which vprof_socket_history_check() enforces: indices are in range; no transfer ends before it begins or
 * after the largest time.
 */
#ifndef VPROF_SOCKET_HISTORY_H
#define VPROF_SOCKET_HISTORY_H

#include "common/array.h"
#include "common/error.h"

#define VPROF_REQUESTS_TIME_MAX (UINT64_C(1) << 62)

enum vprof_socket_kind { VPROF_SOCKET_TCP, VPROF_SOCKET_UNIX };

enum vprof_socket_role { VPROF_ROLE_UNKNOWN, VPROF_ROLE_CLIENT, VPROF_ROLE_SERVER };

struct vprof_socket_address {
	uint8_t bytes[16]; /* IPv6, or IPv4 mapped to it (::ffff:a.b.c.d) */
	uint16_t port;
};

struct vprof_socket { /* one end of a connection */
	uint32_t host;
	uint8_t kind, role;  /* enum vprof_socket_kind, enum vprof_socket_role */
	uint64_t cookie;     /* its number, unique on its host */
	uint64_t peer;	     /* of a Unix socket: the other end's cookie; 0: not known */
	uint64_t network;    /* number of its network namespace; 0: not known */
	uint64_t connect_ns; /* when its connection was asked for, and made; 0: not known, or before the recording */
	uint64_t established_ns;
	uint64_t closed_ns; /* when this end closed its direction; 0: it did not, or nobody saw that */
	uint32_t closer;    /* the thread that did; VPROF_NONE: nobody, or not known */
	uint32_t n_resent;  /* packets that TCP sent again */
	struct vprof_socket_address local, remote; /* of TCP */
	const char *path;			   /* of a Unix socket: where it listens, or its peer does; else "" */
};

struct vprof_transfer { /* a system call that sent or received */
	uint64_t from, to;
	/* Of its first byte in its direction's stream. Both ends of a connection count alike, but for a multiple of
	 * 2^32: the numbers may come from TCP's sequence numbers. */
	uint64_t position;
	uint32_t n_bytes; /* 0: a receive that found the end of the stream */
	uint32_t socket, thread;
	uint8_t is_send;
	uint32_t waited_ns; /* of a receive: its bytes had been there for this long, or longer; 0: that is not known */
};

struct vprof_socket_thread {
	uint32_t process;
	uint32_t tid;
	const char *name;
};

struct vprof_socket_process {
	uint32_t host, pid;
	const char *name;
};

struct vprof_thread_wake { /* a thread made another runnable, or made it */
	uint64_t t;
	uint32_t waker, wakee;
	uint8_t is_creation;
	uint32_t place; /* where it slept, a number that is the same for all who sleep there; 0: not known */
};

/* What programs say themselves, where they are annotated: */

struct vprof_work_span { /* a thread worked for an interval of the program's */
	uint64_t from, to;
	uint32_t thread, interval;
};

struct vprof_item_handed_on { /* a thread took from a queue what another had put there */
	uint64_t put, taken;
	uint32_t from, to; /* threads */
};

struct vprof_socket_history {
	uint64_t begin, end; /* of the recording */
	uint64_t n_lost;     /* events that are missing */
	VPROF_ARRAY(const char *) hosts;
	VPROF_ARRAY(struct vprof_socket_process) processes;
	VPROF_ARRAY(struct vprof_socket_thread) threads;
	VPROF_ARRAY(struct vprof_socket) sockets;
	VPROF_ARRAY(struct vprof_transfer) transfers;
	VPROF_ARRAY(struct vprof_thread_wake) wakes; /* between threads of one process */
	uint32_t n_intervals;
	VPROF_ARRAY(struct vprof_work_span) spans; /* those of a thread do not overlap */
	VPROF_ARRAY(struct vprof_item_handed_on) items;
};

void vprof_socket_history_release(struct vprof_socket_history *h); /* not the texts */

/* OK, or INPUT when an invariant is broken; the message says which. O(transfers). */
int vprof_socket_history_check(const struct vprof_socket_history *h, struct vprof_error *err);

/* When a transfer counts as having happened: a receive when it ends (the paper's UpdateRecvTime), a send when it
 * begins, since its receiver may run before it ends. */
static inline uint64_t vprof_transfer_time(const struct vprof_transfer *t)
{
	return t->is_send ? t->from : t->to;
}

/* Brings transfers, wakes, spans (by their begin) and items (by when they were taken) into the order of these times;
 * equal ones keep theirs. 0, or -1 without memory. */
int vprof_socket_history_sort(struct vprof_socket_history *h);

/* 127.0.0.0/8 or ::1, which each network namespace has for itself. */
int vprof_socket_address_is_loopback(const struct vprof_socket_address *a);

#endif
