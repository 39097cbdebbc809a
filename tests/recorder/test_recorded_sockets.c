/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sends and receives by each system call, over TCP (IPv4, IPv6) and Unix sockets: a program that knows what it
 * transfers compares it with what was recorded. And what of hand-overs and begins is told where scheduling is not
 * recorded. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "recorder/requirements.h"
#include "tests/recorder/recorded.h"

#define LETTERS 20
#define LETTER_BYTES 10
#define ROUNDS 8 /* flavours of sending, each with one of receiving */

static struct told {
	int has_ipv6;
	uint16_t port[2]; /* of the client and the server, by family */
	uint16_t port6[2];
	uint32_t taker; /* thread that items are handed to, or whose sleep another one waits for */
	/* of each letter, and of its second part: for how long it was there */
	uint64_t least[LETTERS], most[LETTERS], most_of_rest[LETTERS];
} *told;

static void check(int ok)
{
	if (!ok)
		abort();
}

/* Sends n bytes by one flavour of system call. */
static void send_by(int flavour, int fd, size_t n)
{
	static char bytes[64];
	struct iovec parts[2] = { { bytes, n / 2 }, { bytes, n - n / 2 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	struct mmsghdr messages = { .msg_hdr = message };
	int file, ends[2];
	ssize_t sent = 0;

	switch (flavour) {
	case 0:
		sent = write(fd, bytes, n);
		break;
	case 1:
		sent = send(fd, bytes, n, 0);
		break;
	case 2:
		sent = sendto(fd, bytes, n, MSG_NOSIGNAL, NULL, 0);
		break;
	case 3:
		sent = sendmsg(fd, &message, 0);
		break;
	case 4:
		sent = writev(fd, parts, 2);
		break;
	case 5:
		sent = sendmmsg(fd, &messages, 1, 0) == 1 ? (ssize_t)messages.msg_len : -1;
		break;
	case 6:
		file = memfd_create("file", MFD_CLOEXEC);
		check(file >= 0 && write(file, bytes, n) == (ssize_t)n && !lseek(file, 0, SEEK_SET));
		sent = sendfile(fd, file, NULL, n);
		close(file);
		break;
	default:
		check(!pipe(ends) && write(ends[1], bytes, n) == (ssize_t)n);
		sent = splice(ends[0], NULL, fd, NULL, n, 0);
		close(ends[0]);
		close(ends[1]);
	}
	check(sent == (ssize_t)n);
}

static void receive_by(int flavour, int fd, size_t n)
{
	static char bytes[64];
	struct iovec parts[2] = { { bytes, n / 2 }, { bytes, n - n / 2 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	struct mmsghdr messages = { .msg_hdr = message };
	ssize_t got = 0;

	check(recv(fd, bytes, n, MSG_PEEK | MSG_WAITALL) == (ssize_t)n); /* is not to be recorded */
	switch (flavour % 5) {
	case 0:
		got = read(fd, bytes, n);
		break;
	case 1:
		got = recv(fd, bytes, n, 0);
		break;
	case 2:
		got = recvmsg(fd, &message, 0);
		break;
	case 3:
		got = readv(fd, parts, 2);
		break;
	default:
		got = recvmmsg(fd, &messages, 1, 0, NULL) == 1 ? (ssize_t)messages.msg_len : -1;
	}
	check(got == (ssize_t)n);
}

/* Round k: 2 k + 1 bytes to the server, 2 k + 2 back; then the stream's end. */
static void talk(int client, int server)
{
	char nothing;

	for (int k = 0; k < ROUNDS; k++) {
		send_by(k, client, (size_t)(2 * k + 1));
		receive_by(k, server, (size_t)(2 * k + 1));
		send_by(k, server, (size_t)(2 * k + 2));
		receive_by(k, client, (size_t)(2 * k + 2));
	}
	close(client);
	check(!recv(server, &nothing, 1, 0));
	close(server);
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in6 own; /* the port is where IPv4's is */
	socklen_t size = sizeof own;

	check(!getsockname(fd, (struct sockaddr *)&own, &size));
	return ntohs(own.sin6_port);
}

static int talk_by(int family, struct sockaddr *address, socklen_t size, uint16_t ports[2])
{
	int listener = socket(family, SOCK_STREAM, 0), client = socket(family, SOCK_STREAM, 0), server;

	if (listener < 0 || bind(listener, address, size))
		return 0;
	check(!listen(listener, 1) && !getsockname(listener, address, &size) && !connect(client, address, size));
	server = accept(listener, NULL, NULL);
	check(server >= 0);
	if (ports) {
		ports[0] = port_of(client);
		ports[1] = port_of(server);
	}
	talk(client, server);
	close(listener);
	return 1;
}

static int work(void)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	int ends[2];

	check(talk_by(AF_INET, (struct sockaddr *)&v4, sizeof v4, told->port));
	told->has_ipv6 = talk_by(AF_INET6, (struct sockaddr *)&v6, sizeof v6, told->port6);
	snprintf(local.sun_path, sizeof local.sun_path, "vprof-%ld", (long)getpid());
	check(talk_by(AF_UNIX, (struct sockaddr *)&local, sizeof local, NULL));
	unlink(local.sun_path);
	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	talk(ends[0], ends[1]);
	return 0;
}

static const struct vprof_kernel_event *socket_of(const struct recorded *r, uint64_t cookie)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->events[i].kind == VP_KIND_KERNEL_SOCKET && r->events[i].socket.cookie == cookie)
			return &r->events[i];
	return NULL;
}

/* The transfers of one socket: it sent `sent` + 2 k bytes in round k, and received the other. */
static void check_socket(const struct recorded *r, uint64_t cookie, uint32_t sent, int ends_by_receive)
{
	uint64_t position[2] = { 0 };
	uint32_t n[2] = { 0 }, n_ends = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct vprof_kernel_event *e = &r->events[i];
		int send = e->transfer.flags & VP_TRANSFER_SEND;

		if (e->kind != VP_KIND_KERNEL_TRANSFER || e->transfer.cookie != cookie)
			continue;
		assert_int_equal(e->transfer.tid, r->pid);
		assert_true(e->transfer.from <= e->t);
		if (!e->transfer.bytes) {
			n_ends++;
			continue;
		}
		assert_int_equal(e->transfer.bytes, 2 * n[send] + (send ? sent : 3 - sent));
		if (n[send])
			assert_int_equal((uint32_t)e->transfer.position, (uint32_t)position[send]);
		position[send] = e->transfer.position + e->transfer.bytes;
		n[send]++;
	}
	assert_int_equal(n[0], ROUNDS);
	assert_int_equal(n[1], ROUNDS);
	assert_int_equal(n_ends, ends_by_receive);
}

/* Where a socket's first transfer in a direction began. */
static uint64_t first_position(const struct recorded *r, uint64_t cookie, int send)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct vprof_kernel_event *e = &r->events[i];

		if (e->kind == VP_KIND_KERNEL_TRANSFER && e->transfer.cookie == cookie && e->transfer.bytes &&
		    (e->transfer.flags & VP_TRANSFER_SEND) == (uint32_t)send)
			return e->transfer.position;
	}
	return UINT64_MAX;
}

/* TCP's ends are told again when they close, once each. */
static void check_closed(const struct recorded *r, uint64_t cookie, int is_tcp)
{
	int n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct vprof_kernel_event *e = &r->events[i];

		if (e->kind != VP_KIND_KERNEL_SOCKET || e->socket.cookie != cookie ||
		    !(e->socket.flags & VP_SOCKET_CLOSED))
			continue;
		assert_int_equal(e->socket.tid, r->pid);
		assert_memory_equal(e->socket.local, socket_of(r, cookie)->socket.local, 16);
		n++;
	}
	assert_int_equal(n, is_tcp);
}

static void check_flavours(int how)
{
	struct recorded r;
	uint64_t cookies[8];
	size_t n = 0, n_wanted;

	record(&r, work, how, 0);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.header.n_kernel_lost, 0);
	n_wanted = told->has_ipv6 ? 8 : 6;
	for (size_t i = 0; i < r.n; i++)
		if (r.events[i].kind == VP_KIND_KERNEL_SOCKET &&
		    !(r.events[i].socket.flags & (VP_SOCKET_CLOSED | VP_SOCKET_RESENT))) {
			assert_true(n < n_wanted);
			cookies[n++] = r.events[i].socket.cookie;
		}
	assert_int_equal(n, n_wanted);
	for (size_t i = 0; i < n; i += 2) { /* the client of each pair sends first */
		const struct vprof_kernel_event *client = socket_of(&r, cookies[i]),
						*server = socket_of(&r, cookies[i + 1]);

		check_socket(&r, cookies[i], 1, 0);
		check_socket(&r, cookies[i + 1], 2, 1);
		check_closed(&r, cookies[i], !(client->socket.flags & VP_SOCKET_UNIX));
		check_closed(&r, cookies[i + 1], !(client->socket.flags & VP_SOCKET_UNIX));
		/* both ends count alike */
		assert_int_equal(first_position(&r, cookies[i], 1), first_position(&r, cookies[i + 1], 0));
		assert_int_equal(first_position(&r, cookies[i], 0), first_position(&r, cookies[i + 1], 1));
		if (server->socket.flags & VP_SOCKET_UNIX) {
			assert_int_equal(server->socket.peer, cookies[i]);
		} else {
			assert_int_equal(client->socket.flags, VP_SOCKET_CLIENT);
			assert_int_equal(server->socket.flags, VP_SOCKET_SERVER);
			assert_int_equal(client->socket.local_port, server->socket.remote_port);
			assert_int_equal(client->socket.remote_port, server->socket.local_port);
			assert_memory_equal(client->socket.local, server->socket.remote, 16);
			assert_true(client->socket.connected && client->socket.established >= client->socket.connected);
		}
	}
	assert_int_equal(socket_of(&r, cookies[0])->socket.local_port, told->port[0]);
	assert_int_equal(socket_of(&r, cookies[1])->socket.local_port, told->port[1]);
	if (told->has_ipv6)
		assert_int_equal(socket_of(&r, cookies[3])->socket.local_port, told->port6[1]);
	/* of the listening socket's path the accepted one is the server; nobody is of a pair */
	assert_int_equal(socket_of(&r, cookies[n - 3])->socket.flags, VP_SOCKET_UNIX | VP_SOCKET_SERVER);
	assert_int_equal(socket_of(&r, cookies[n - 4])->socket.flags, VP_SOCKET_UNIX | VP_SOCKET_CLIENT);
	assert_int_equal(socket_of(&r, cookies[n - 1])->socket.flags, VP_SOCKET_UNIX);
	release(&r);
}

static void test_flavours(void **state)
{
	(void)state;
	check_flavours(RECORD_SOCKETS);
	check_flavours(RECORD_SOCKETS_ALONE);
}

/* Who hands over to whom. One thread hands items to another, each when that one sleeps: by a condition variable, by a
 * pipe, and over TCP, which is no hand-over that wake-ups tell. */

#define ITEMS 20
enum by { BY_FUTEX, BY_PIPE, BY_TCP, N_BY };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int n_items, ends_of[N_BY][2];

static void connect_ends(int ends[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	check(listener >= 0 && !bind(listener, (struct sockaddr *)&address, size) && !listen(listener, 1) &&
	      !getsockname(listener, (struct sockaddr *)&address, &size));
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	check(!connect(ends[1], (struct sockaddr *)&address, size));
	ends[0] = accept(listener, NULL, NULL);
	check(ends[0] >= 0);
}

static void *take_items(void *unused)
{
	char item;

	told->taker = (uint32_t)syscall(SYS_gettid);
	for (int by = 0; by < N_BY; by++)
		for (int i = 0; i < ITEMS; i++) {
			if (by != BY_FUTEX) {
				check(read(ends_of[by][0], &item, 1) == 1);
				continue;
			}
			pthread_mutex_lock(&lock);
			while (!n_items)
				pthread_cond_wait(&filled, &lock);
			n_items--;
			pthread_mutex_unlock(&lock);
		}
	return unused;
}

static void wait_for_sleep(void)
{
	uint32_t taker;

	while (!(taker = *(volatile uint32_t *)&told->taker))
		sched_yield();
	wait_until_asleep((uint32_t)getpid(), taker);
}

static int hand_over(void)
{
	pthread_t thread;

	check(!pipe(ends_of[BY_PIPE]));
	connect_ends(ends_of[BY_TCP]);
	check(!pthread_create(&thread, NULL, take_items, NULL));
	for (int by = 0; by < N_BY; by++)
		for (int i = 0; i < ITEMS; i++) {
			wait_for_sleep();
			if (by != BY_FUTEX) {
				check(write(ends_of[by][1], "x", 1) == 1);
				continue;
			}
			pthread_mutex_lock(&lock);
			n_items++;
			pthread_mutex_unlock(&lock);
			pthread_cond_signal(&filled);
		}
	return pthread_join(thread, NULL);
}

/* The kernel may keep a wake-up to itself (docs/design/recorder.md): then again. */
static void test_hand_overs(void **state)
{
	size_t n[2] = { 0 };

	(void)state;
	for (int attempt = 0; attempt < 5 && (n[0] < ITEMS || n[1] < ITEMS); attempt++) {
		struct recorded r;

		n[0] = n[1] = 0;
		record(&r, hand_over, RECORD_SOCKETS_ALONE, 0);
		assert_int_equal(r.status, 0);
		for (size_t i = 0; i < r.n; i++) {
			const struct vprof_kernel_event *e = &r.events[i];

			assert_true(e->kind != VP_KIND_KERNEL_SWITCH || r.header.kernel_kinds & VP_KERNEL_SCHEDULING);
			if (e->kind != VP_KIND_KERNEL_WAKING || e->waking.wakee_tid != told->taker ||
			    e->waking.context != VP_CONTEXT_TASK)
				continue;
			assert_int_equal(e->waking.current_tid, r.pid);
			n[e->waking.source == VP_SOURCE_FUTEX]++;
		}
		release(&r);
		assert_true(n[0] <= ITEMS && n[1] <= ITEMS);
	}
	assert_int_equal(n[0], ITEMS); /* of the pipe */
	assert_int_equal(n[1], ITEMS);
}

/* When a send began: one that has to wait for its receiver, who begins later. */

#define LONG_BYTES (32 << 20)

static void *receive_late(void *fd)
{
	static char bytes[1 << 20];
	size_t n = 0;

	wait_for_sleep(); /* in its second send: nothing before makes it wait */
	while (n < LONG_BYTES) {
		ssize_t got = read(*(int *)fd, bytes, sizeof bytes);

		check(got > 0);
		n += (size_t)got;
	}
	return NULL;
}

static int send_long(void)
{
	char *bytes = calloc(1, LONG_BYTES);
	pthread_t thread;
	int ends[2];

	connect_ends(ends);
	told->taker = (uint32_t)syscall(SYS_gettid);
	check(bytes && !pthread_create(&thread, NULL, receive_late, &ends[0]));
	check(write(ends[1], "x", 1) == 1 && send(ends[1], bytes, LONG_BYTES - 1, MSG_WAITALL) == LONG_BYTES - 1);
	free(bytes);
	return pthread_join(thread, NULL);
}

static void test_begin(void **state)
{
	const struct vprof_kernel_event *first = NULL, *sends[2] = { NULL };
	struct recorded r;
	size_t n = 0;

	(void)state;
	record(&r, send_long, RECORD_SOCKETS_ALONE, 0);
	assert_int_equal(r.status, 0);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind != VP_KIND_KERNEL_TRANSFER)
			continue;
		if (!(e->transfer.flags & VP_TRANSFER_SEND))
			first = first ? first : e;
		else if (n < 2)
			sends[n++] = e;
	}
	assert_int_equal(n, 2);
	assert_non_null(first);
	assert_int_equal(sends[1]->transfer.bytes, LONG_BYTES - 1);
	assert_true(sends[1]->t > first->t); /* it ended after the first receive had, and began before */
	assert_true(sends[1]->transfer.from < first->t);
	assert_true(sends[1]->transfer.from >= sends[0]->t);
	release(&r);
}

/* How long a message was there before it was received: the program sees it come, and waits. Of what is received in two
 * parts the second was there at least since the first, which TCP takes note of; a look without taking does not count.
 */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *send_second(void *fd)
{
	wait_for_sleep();
	check(send(*(int *)fd, "b", 1, 0) == 1);
	return NULL;
}

/* Two bytes at once, of which the second comes while the receive waits for it: how long they were there is not known.
 */
static void receive_in_parts(int ends[2])
{
	pthread_t thread;
	char both[2];

	told->taker = (uint32_t)syscall(SYS_gettid);
	for (int i = 0; i < LETTERS; i++) {
		check(send(ends[1], "a", 1, 0) == 1 && !pthread_create(&thread, NULL, send_second, &ends[1]));
		check(recv(ends[0], both, 2, MSG_WAITALL) == 2);
		check(!pthread_join(thread, NULL));
	}
}

static int receive_later(void)
{
	cpu_set_t one;
	int ends[2];

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one); /* a receive whose thread is moved in the middle does not tell */
	check(!sched_setaffinity(0, sizeof one, &one));
	connect_ends(ends);
	for (int i = 0; i < LETTERS; i++) {
		char letter[LETTER_BYTES] = { 0 };
		uint64_t sent = now_ns(), seen, before;
		int n = 0;

		check(send(ends[1], letter, sizeof letter, 0) == sizeof letter);
		while (n < LETTER_BYTES)
			check(!ioctl(ends[0], FIONREAD, &n));
		seen = now_ns();
		usleep((useconds_t)(500 * i));
		if (i % 2)
			check(recv(ends[0], letter, 1, MSG_PEEK) == 1); /* TCP takes note of that as well */
		before = now_ns();
		check(read(ends[0], letter, 1) == 1);
		told->least[i] = i % 2 ? 0 : before - seen;
		told->most[i] = now_ns() - sent;
		check(read(ends[0], letter, sizeof letter) == LETTER_BYTES - 1);
		told->most_of_rest[i] = now_ns() - sent;
	}
	receive_in_parts(ends);
	return 0;
}

static void check_arrivals(int how)
{
	size_t n = 0, n_rest = 0, n_parts = 0;
	struct recorded r;

	record(&r, receive_later, how, 0);
	assert_int_equal(r.status, 0);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind != VP_KIND_KERNEL_TRANSFER || e->transfer.flags & VP_TRANSFER_SEND || !e->transfer.bytes)
			continue;
		assert_int_equal(!(e->transfer.flags & VP_TRANSFER_ARRIVAL), e->transfer.bytes == 2);
		if (e->transfer.bytes == 2) {
			n_parts++;
		} else if (e->transfer.bytes == 1) {
			assert_true(n < LETTERS);
			assert_true(e->transfer.waited_ns >= told->least[n]);
			assert_true(e->transfer.waited_ns <= told->most[n]);
			n++;
		} else {
			assert_true(n_rest < LETTERS);
			assert_true(e->transfer.waited_ns <= told->most_of_rest[n_rest]);
			n_rest++;
		}
	}
	assert_int_equal(n, LETTERS);
	assert_int_equal(n_rest, LETTERS);
	assert_int_equal(n_parts, LETTERS);
	release(&r);
}

static void test_arrivals(void **state)
{
	(void)state;
	if (!vprof_recorder_has_tracepoint("tcp_rcv_space_adjust")) {
		print_message("skipped: when messages arrived: this kernel has no tracepoint tcp_rcv_space_adjust\n");
		skip();
	}
	check_arrivals(RECORD_SOCKETS);
	check_arrivals(RECORD_SOCKETS_ALONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_flavours), cmocka_unit_test(test_hand_overs),
					    cmocka_unit_test(test_begin), cmocka_unit_test(test_arrivals) };
	struct vprof_error err = { "" };

	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return 2;
	if (vprof_recorder_require(&err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	if (!vprof_recorder_has_tracepoint("sock_send_length")) {
		printf("skipped: this kernel has no tracepoint sock_send_length (Linux 6.3 or later)\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
