/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs of stress_edges that wait for data: a byte, a value or a message carries its writer's number. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/runtime/edges/stress_edges.h"

/* Channels: each odd thread reads what the even ones put into its channel, byte by byte; a byte is the writer's number,
 * so the first one read after a wait names who ended it. */

static void close_at_once(int fd)
{
	struct linger none = { .l_onoff = 1 };

	edge_must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none));
	close(fd);
}

/* From `from`, a port or 0 for any, which becomes the port. */
static void make_connection(int listener, in_port_t *from, int fds[2])
{
	struct sockaddr_in to, own = { .sin_family = AF_INET, .sin_port = *from };
	socklen_t n = sizeof to;
	int on = 1;

	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	edge_must(getsockname(listener, (struct sockaddr *)&to, &n));
	edge_must(setsockopt(fds[1], SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
	edge_must(bind(fds[1], (struct sockaddr *)&own, sizeof own));
	edge_must(connect(fds[1], (struct sockaddr *)&to, sizeof to));
	fds[0] = accept(listener, NULL, NULL);
	edge_must(fds[0] < 0);
	n = sizeof own;
	edge_must(getsockname(fds[1], (struct sockaddr *)&own, &n));
	*from = own.sin_port;
}

/* The second connection between the same ports; of the first, bytes were left unread. */
static void connect_again(int fds[2])
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	in_port_t port = 0;

	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	edge_must(bind(listener, (struct sockaddr *)&any, sizeof any));
	edge_must(listen(listener, 1));
	make_connection(listener, &port, fds);
	edge_must(write(fds[1], "left", 4) != 4);
	close_at_once(fds[1]);
	close_at_once(fds[0]);
	make_connection(listener, &port, fds);
	close(listener);
}

static void init_channels(struct edge_shared *s, int kind)
{
	for (int i = 0; i < s->n_threads && i < EDGE_SLOTS; i++) {
		char path[64];

		switch (kind) {
		case 0:
			edge_must(pipe(s->fds[i]));
			break;
		case 1:
			edge_must(socketpair(AF_UNIX, SOCK_STREAM, 0, s->fds[i]));
			break;
		case 2:
			s->fds[i][0] = s->fds[i][1] = eventfd(0, 0);
			break;
		case 3:
			snprintf(path, sizeof path, "/tmp/vprof-edges-%d-%d", (int)getpid(), i);
			edge_must(mkfifo(path, 0600));
			s->fds[i][0] = open(path, O_RDWR);
			s->fds[i][1] = open(path, O_WRONLY);
			unlink(path);
			break;
		case 5:
			connect_again(s->fds[i]);
			break;
		default:
			s->fds[i][0] = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
			break;
		}
	}
}

void edge_init_pipe(struct edge_shared *s, int is_shared)
{
	(void)is_shared;
	init_channels(s, 0);
}
void edge_init_socketpair(struct edge_shared *s, int is_shared)
{
	(void)is_shared;
	init_channels(s, 1);
}
void edge_init_eventfd(struct edge_shared *s, int is_shared)
{
	init_channels(s, 2);
	for (int i = 0; i < EDGE_SLOTS; i++)
		edge_must(sem_init(&s->ready[i], is_shared, 1));
}
void edge_init_fifo(struct edge_shared *s, int is_shared)
{
	(void)is_shared;
	init_channels(s, 3);
}
void edge_init_tcp(struct edge_shared *s, int is_shared)
{
	(void)is_shared;
	init_channels(s, 5);
	s->may_lag = 1;
}
void edge_init_queue(struct edge_shared *s, int is_shared)
{
	(void)is_shared;
	init_channels(s, 4);
}

/* Writer 2k and reader 2k + 1 are partners, and every fourth write goes to another reader: some have two writers. */
static int channel_of(struct edge_shared *s, int me, int round)
{
	int n_pairs = s->n_threads / 2, own = me / 2 - 1;

	return me % 2 || round % 4 ? own : (own + 1) % n_pairs;
}

static void pace(int round)
{
	if (round % 8 == 0)
		usleep(30);
	edge_outside();
}

/* What a reader sees before it waits for a channel or two. Writes count themselves before and after, so what is under
 * way while it waits is known without any clock. */
struct look {
	struct edge_shared *s;
	int at, other; /* channels; other: -1, none */
	int is_empty;  /* with data there already the read is no wait for it, however long the thread is off the CPU */
	uint64_t n_begun, n_ended; /* writes; what had begun had ended before */
	struct rusage used;
};

static uint64_t sum_of(const uint64_t *counts, const struct look *l)
{
	return __atomic_load_n(&counts[l->at], __ATOMIC_SEQ_CST) +
	       (l->other < 0 ? 0 : __atomic_load_n(&counts[l->other], __ATOMIC_SEQ_CST));
}

static int is_empty(struct edge_shared *s, int at)
{
	int n = 0;

	return ioctl(s->fds[at][0], FIONREAD, &n) == 0 && n == 0;
}

static int is_queue_empty(int queue)
{
	struct msqid_ds ds;

	return msgctl(queue, IPC_STAT, &ds) == 0 && ds.msg_qnum == 0;
}

/* Before the channels are looked at: a write that ended by now has left its data in them. */
static struct look look_at(struct edge_shared *s, int at, int other)
{
	struct look l = { .s = s, .at = at, .other = other, .is_empty = 1 };

	l.n_ended = sum_of(s->n_ended, &l);
	l.n_begun = sum_of(s->n_begun, &l);
	return l;
}

static struct look look_at_bytes(struct edge_shared *s, int at, int other)
{
	struct look l = look_at(s, at, other);

	l.is_empty = is_empty(s, at) && (other < 0 || is_empty(s, other));
	return l;
}

static void wait_begins(struct look *l)
{
	edge_truth(0);
	edge_must(getrusage(RUSAGE_THREAD, &l->used));
}

/* Did this thread block since, and not for a page? */
static int has_blocked(const struct look *l)
{
	struct rusage now;

	edge_must(getrusage(RUSAGE_THREAD, &now));
	return now.ru_nvcsw != l->used.ru_nvcsw && now.ru_minflt == l->used.ru_minflt &&
	       now.ru_majflt == l->used.ru_majflt;
}

/* After the read, whose data tells `truth`. One write began since the look, and none was under way then: it must be
 * found. The thread blocked: it must be found to have waited, but for a channel that may keep data on its way. */
static void told(const struct look *l, uint64_t truth)
{
	if (l->n_begun > l->n_ended || sum_of(l->s->n_begun, l) != l->n_ended + 1)
		truth |= EDGE_MAY_BE_OPEN;
	if (l->s->may_lag || !has_blocked(l))
		truth |= EDGE_MAY_BE_READY;
	edge_truth(l->is_empty ? truth : 0);
}

static void put(struct edge_shared *s, int at, const void *bytes, size_t n)
{
	__atomic_add_fetch(&s->n_begun[at], 1, __ATOMIC_SEQ_CST);
	if (write(s->fds[at][1], bytes, n) != (ssize_t)n)
		_exit(4);
	__atomic_add_fetch(&s->n_ended[at], 1, __ATOMIC_SEQ_CST);
}

static void get(struct edge_shared *s, int at, void *bytes, size_t n)
{
	if (read(s->fds[at][0], bytes, n) != (ssize_t)n)
		_exit(4);
}

void edge_run_bytes(struct edge_shared *s, int me)
{
	edge_object(NULL);
	for (int i = 0; i < s->n_rounds; i++) {
		int at = channel_of(s, me, i);
		char byte = (char)me;

		if (me % 2) {
			struct look look = look_at_bytes(s, at, -1);

			wait_begins(&look);
			get(s, at, &byte, 1);
			told(&look, (uint64_t)byte);
		} else {
			pace(i);
			put(s, at, &byte, 1);
		}
	}
}

void edge_run_eventfd(struct edge_shared *s, int me)
{
	edge_object(NULL);
	for (int i = 0; i < s->n_rounds; i++) {
		int at = channel_of(s, me, 1);
		uint64_t value = (uint64_t)me;

		if (me % 2) {
			struct look look = look_at(s, at, -1);

			wait_begins(&look);
			get(s, at, &value, sizeof value);
			told(&look, value);
			edge_must(sem_post(&s->ready[at]));
		} else {
			edge_must(sem_wait(&s->ready[at]));
			pace(i);
			put(s, at, &value, sizeof value);
		}
	}
}

void edge_run_poll(struct edge_shared *s, int me)
{
	edge_object((void *)EDGE_ANY_POLL);
	for (int i = 0; i < s->n_rounds; i++) {
		int at = channel_of(s, me, i);
		struct pollfd p = { s->fds[at][0], POLLIN, 0 };
		char byte = (char)me;

		if (me % 2) {
			struct look look = look_at_bytes(s, at, -1);

			wait_begins(&look);
			if (poll(&p, 1, -1) != 1)
				_exit(4);
			get(s, at, &byte, 1);
			told(&look, (uint64_t)byte);
		} else {
			pace(i);
			put(s, at, &byte, 1);
		}
	}
}

void edge_run_select(struct edge_shared *s, int me)
{
	edge_object((void *)EDGE_ANY_POLL);
	for (int i = 0; i < s->n_rounds; i++) {
		int at = channel_of(s, me, i), fd = s->fds[at][0];
		char byte = (char)me;
		fd_set set;

		if (me % 2) {
			struct look look = look_at_bytes(s, at, -1);

			wait_begins(&look);
			FD_ZERO(&set);
			FD_SET(fd, &set);
			if (select(fd + 1, &set, NULL, NULL, NULL) != 1)
				_exit(4);
			get(s, at, &byte, 1);
			told(&look, (uint64_t)byte);
		} else {
			pace(i);
			put(s, at, &byte, 1);
		}
	}
}

/* Each reader has two channels, which its partner and others write to by turns. With both ready either may have been
 * the first. */
void edge_run_poll_several(struct edge_shared *s, int me)
{
	int n_pairs = s->n_threads / 2;

	edge_object((void *)EDGE_ANY_POLL);
	for (int i = 0; i < s->n_rounds && me % 2 == 0; i++) {
		char byte = (char)me;

		pace(i);
		put(s, channel_of(s, me, i) + i % 2 * n_pairs, &byte, 1);
	}
	for (int i = 0; i < s->n_rounds && me % 2;) {
		int at = me / 2 - 1;
		struct look look = look_at_bytes(s, at, at + n_pairs);
		struct pollfd p[2] = { { s->fds[at][0], POLLIN, 0 }, { s->fds[at + n_pairs][0], POLLIN, 0 } };
		uint64_t truth = EDGE_SET;
		char byte;

		wait_begins(&look);
		if (poll(p, 2, -1) < 1)
			_exit(4);
		for (int k = 0; k < 2; k++) {
			if (!p[k].revents)
				continue;
			get(s, at + k * n_pairs, &byte, 1);
			truth |= UINT64_C(1) << byte;
			i++;
		}
		told(&look, truth);
	}
}

void edge_run_epoll(struct edge_shared *s, int me)
{
	struct epoll_event e = { .events = EPOLLIN };
	int set = epoll_create1(0), at = channel_of(s, me, 1);

	edge_object((void *)EDGE_ANY_POLL);
	e.data.ptr = &s->fds[at];
	if (me % 2)
		edge_must(epoll_ctl(set, EPOLL_CTL_ADD, s->fds[at][0], &e));
	for (int i = 0; i < s->n_rounds; i++) {
		char byte = (char)me;

		if (me % 2) {
			struct look look = look_at_bytes(s, at, -1);

			wait_begins(&look);
			if (epoll_wait(set, &e, 1, -1) != 1 || *(int *)e.data.ptr != s->fds[at][0])
				_exit(4);
			get(s, at, &byte, 1);
			told(&look, (uint64_t)byte);
		} else {
			pace(i);
			put(s, channel_of(s, me, i), &byte, 1);
		}
	}
}

void edge_run_queue(struct edge_shared *s, int me)
{
	struct {
		long type;
		int who;
	} m = { 1, me };

	edge_object(NULL);
	for (int i = 0; i < s->n_rounds; i++) {
		int at = channel_of(s, me, i), queue = s->fds[at][0];

		m.who = me;
		if (me % 2) {
			struct look look = look_at(s, at, -1);

			look.is_empty = is_queue_empty(queue);
			wait_begins(&look);
			if (msgrcv(queue, &m, sizeof m.who, 0, 0) != sizeof m.who)
				_exit(4);
			told(&look, (uint64_t)m.who);
		} else {
			pace(i);
			__atomic_add_fetch(&s->n_begun[at], 1, __ATOMIC_SEQ_CST);
			edge_must(msgsnd(queue, &m, sizeof m.who, 0));
			__atomic_add_fetch(&s->n_ended[at], 1, __ATOMIC_SEQ_CST);
		}
	}
	if (__atomic_add_fetch(&s->n_left, 1, __ATOMIC_SEQ_CST) == s->n_threads)
		for (int i = 0; i < s->n_threads; i++)
			msgctl(s->fds[i][0], IPC_RMID, NULL);
}
