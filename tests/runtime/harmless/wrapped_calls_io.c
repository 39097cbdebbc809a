/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files, descriptors, sockets, polls, sleeps, queues and memory. See wrapped_calls.h. */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/runtime/harmless/wrapped_calls.h"

#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"

ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *from, socklen_t *len);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room);

static char buffer[64];
static void *const nowhere = (void *)1;

static void file_data(int fd)
{
	struct iovec v[2] = { { "ab", 2 }, { "cd", 2 } }, bad = { nowhere, 8 }, in = { buffer, 4 };

	CALL(write, fd, "hello", 5);
	CALL(write, fd, nowhere, 5);
	CALL(write, -1, "x", 1);
	CALL(writev, fd, v, 2);
	CALL(writev, fd, v, -1);
	CALL(writev, fd, &bad, 1);
	CALL(pwrite, fd, "J", 1, 0);
	CALL(pwrite, fd, "J", 1, -1);
	CALL(pwrite64, fd, "K", 1, 1);
	CALL(pwrite64, -1, "K", 1, 1);
	CALL(pwritev, fd, v, 2, 20);
	CALL(pwritev, fd, v, 2, -1);
	CALL(pread, fd, buffer, 5, 0);
	NOTE(memcmp(buffer, "JKllo", 5));
	CALL(pread, fd, buffer, 5, -1);
	CALL(pread64, fd, buffer, 5, 2);
	NOTE(memcmp(buffer, "lloab", 5));
	CALL(pread64, fd, nowhere, 5, 2);
	CALL(__pread_chk, fd, buffer, 4, 1, sizeof(buffer));
	CALL(__pread64_chk, fd, buffer, 4, 1, sizeof(buffer));
	CALL(__pread_chk, -1, buffer, 4, 1, sizeof(buffer));
	CALL(__pread64_chk, -1, buffer, 4, 1, sizeof(buffer));
	CALL(preadv, fd, &in, 1, 1);
	CALL(preadv, fd, &in, 1, -1);
	NOTE(lseek(fd, 0, SEEK_SET));
	CALL(read, fd, buffer, 3);
	NOTE(lseek(fd, 0, SEEK_CUR));
	CALL(read, fd, nowhere, 3);
	CALL(read, -1, buffer, 3);
	CALL(__read_chk, fd, buffer, 3, sizeof(buffer));
	CALL(__read_chk, 9999, buffer, 3, sizeof(buffer));
	CALL(readv, fd, &in, 1);
	CALL(readv, fd, &bad, 1);
	CALL(read, fd, buffer, sizeof(buffer));
	CALL(read, fd, buffer, sizeof(buffer));
}

static void file_state(int fd, const char *path, const char *other)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	off64_t at64 = 0;
	off_t at = 0;
	struct stat st;
	int out;

	CALL(fsync, fd);
	CALL(fsync, -1);
	CALL(fdatasync, fd);
	CALL(fdatasync, 9999);
	CALL(sync_file_range, fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	CALL(sync_file_range, fd, 0, 0, 999);
	CALL(ftruncate, fd, 8);
	CALL(ftruncate, fd, -1);
	CALL(ftruncate64, fd, 6);
	CALL(ftruncate64, -1, 6);
	NOTE(fstat(fd, &st) == 0 ? st.st_size : -1);
	CALL(flock, fd, LOCK_EX);
	CALL(flock, fd, LOCK_UN);
	CALL(flock, fd, 99);
	CALL(fcntl, fd, F_GETFD);
	CALL(fcntl, fd, F_SETLKW, &lock);
	CALL(fcntl, fd, F_SETLKW, nowhere);
	CALL(fcntl, -1, F_GETFL);
	CALL(fcntl64, fd, F_SETLKW, &lock);
	CALL(fcntl64, fd, 9999, 0);
	out = memfd_create("out", 0);
	CALL(sendfile, out, fd, &at, 4);
	NOTE(at);
	CALL(sendfile, out, -1, &at, 4);
	CALL(sendfile64, out, fd, &at64, 100);
	CALL(sendfile64, -1, fd, NULL, 4);
	at64 = 1;
	CALL(copy_file_range, fd, &at64, out, NULL, 3, 0);
	NOTE(at64);
	CALL(copy_file_range, -1, NULL, out, NULL, 3, 0);
	CALL(fallocate, out, 0, 0, 100);
	CALL(fallocate64, out, 0, -1, 100);
	CALL(posix_fallocate, out, 0, 200);
	CALL(posix_fallocate64, -1, 0, 200);
	NOTE(fstat(out, &st) == 0 ? st.st_size : -1);
	CALL(close, out);
	CALL(close, out);
	CALL(rename, path, other);
	CALL(rename, path, other);
	CALL(unlink, other);
	CALL(unlink, other);
	CALL(unlink, nowhere);
}

static void opens(const char *path)
{
	CALL_SIGN(open, path, O_RDWR | O_CREAT, 0600);
	CALL_SIGN(open, path, O_RDWR | O_CREAT | O_EXCL, 0600);
	CALL_SIGN(open64, path, O_RDONLY);
	CALL_SIGN(open64, nowhere, O_RDONLY);
	CALL_SIGN(openat, AT_FDCWD, path, O_RDONLY);
	CALL_SIGN(openat, 9999, "relative", O_RDONLY);
	CALL_SIGN(openat64, AT_FDCWD, path, O_RDONLY);
	CALL_SIGN(openat64, AT_FDCWD, "/no/such/file", O_RDONLY);
	CALL_SIGN(open, "/tmp", O_TMPFILE | O_RDWR, 0640);
	CALL_SIGN(__open_2, path, O_RDONLY);
	CALL_SIGN(__open_2, "/no/such/file", O_RDONLY);
	CALL_SIGN(__open64_2, path, O_RDONLY);
	CALL_SIGN(__open64_2, "/no/such/file", O_RDONLY);
}

static void descriptors(void)
{
	eventfd_t value = 5;
	int ends[2], fd;

	CALL(pipe, ends);
	CALL(pipe, nowhere);
	CALL(pipe2, ends, O_NONBLOCK);
	CALL(pipe2, ends, 0x7fffffff);
	CALL(read, ends[0], buffer, 1); /* EAGAIN */
	CALL(write, ends[1], "x", 1);
	CALL(read, ends[0], buffer, 1);
	CALL(close, ends[1]);
	CALL(read, ends[0], buffer, 1); /* its end */
	CALL_SIGN(dup, ends[0]);
	CALL(dup, 9999);
	CALL(dup2, ends[0], 200);
	CALL(dup2, 200, 200);
	CALL(dup2, 9999, 201);
	CALL(dup3, ends[0], 201, O_CLOEXEC);
	CALL(dup3, 201, 201, 0);
	NOTE(fcntl(201, F_GETFD));
	CALL_SIGN(eventfd, 3, EFD_NONBLOCK);
	CALL(eventfd, 0, 0x7fffffff);
	fd = eventfd(0, EFD_NONBLOCK);
	CALL(eventfd_read, fd, &value);
	CALL(eventfd_write, fd, 7);
	CALL(eventfd_write, fd, UINT64_MAX);
	CALL(eventfd_read, fd, &value);
	NOTE(value);
	CALL(eventfd_write, -1, 7);
}

void calls_of_files(void)
{
	char path[] = "/tmp/vprof-runtime-calls-XXXXXX", other[sizeof(path) + 2];
	int fd = mkstemp(path);

	snprintf(other, sizeof(other), "%s.b", path);
	file_data(fd);
	opens(path);
	file_state(fd, path, other);
	descriptors();
}

static void in_sockets(int pair[2])
{
	struct iovec v = { buffer, 2 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	struct sockaddr_un from;
	socklen_t n = sizeof(from);

	CALL(send, pair[0], "abcdef", 6, 0);
	CALL(recv, pair[1], buffer, 2, 0);
	CALL(recvfrom, pair[1], buffer, 1, 0, (struct sockaddr *)&from, &n);
	NOTE(n);
	CALL(__recv_chk, pair[1], buffer, 1, sizeof(buffer), 0);
	n = sizeof(from);
	CALL(__recvfrom_chk, pair[1], buffer, 1, sizeof(buffer), 0, (struct sockaddr *)&from, &n);
	CALL(recv, pair[1], buffer, 10, MSG_DONTWAIT);
	CALL(recv, pair[1], buffer, 10, MSG_DONTWAIT);
	CALL(__recv_chk, -1, buffer, 1, sizeof(buffer), 0);
	CALL(__recvfrom_chk, -1, buffer, 1, sizeof(buffer), 0, NULL, NULL);
	CALL(recvfrom, -1, buffer, 1, 0, NULL, NULL);
	CALL(sendto, pair[0], "xy", 2, 0, NULL, 0);
	CALL(sendto, -1, "xy", 2, 0, NULL, 0);
	CALL(recvmsg, pair[1], &m, 0);
	CALL(recvmsg, pair[1], nowhere, 0);
	CALL(sendmsg, pair[0], &m, 0);
	CALL(sendmsg, pair[0], nowhere, 0);
	interrupt_begin();
	CALL(recv, pair[0], buffer, 1, 0);
	CALL(read, pair[0], buffer, 1);
	interrupt_end();
	CALL(close, pair[1]);
	CALL(send, pair[0], "x", 1, MSG_NOSIGNAL);
}

static void polls(int fd, int ready)
{
	struct timespec now = { 0, 0 }, bad = { 0, 2000000000 }, soon = { 0, 1000000 };
	struct timeval at_once = { 0, 0 }, wrong = { -1, 0 };
	struct pollfd p[2] = { { fd, POLLIN, 0 }, { ready, POLLIN, 0 } };
	struct epoll_event e = { .events = EPOLLIN, .data.fd = 5 };
	int set = epoll_create1(0);
	fd_set fds;

	CALL(poll, p, 2, 0);
	NOTE(p[0].revents << 8 | p[1].revents);
	CALL(poll, p, 1, 1);
	CALL(poll, nowhere, 1, 0);
	CALL(__poll_chk, p, 2, 0, sizeof(p));
	CALL(ppoll, p, 2, &now, NULL);
	CALL(ppoll, p, 1, &bad, NULL);
	CALL(__ppoll_chk, p, 1, &soon, NULL, sizeof(p));
	FD_ZERO(&fds);
	FD_SET(ready, &fds);
	CALL(select, ready + 1, &fds, NULL, NULL, &at_once);
	CALL(select, ready + 1, &fds, NULL, NULL, &wrong);
	CALL(select, -1, NULL, NULL, NULL, &at_once);
	CALL(pselect, ready + 1, &fds, NULL, NULL, &now, NULL);
	CALL(pselect, 0, NULL, NULL, NULL, &bad, NULL);
	CALL(epoll_ctl, set, EPOLL_CTL_ADD, ready, &e);
	CALL(epoll_ctl, set, EPOLL_CTL_ADD, ready, &e);
	CALL(epoll_ctl, set, EPOLL_CTL_MOD, fd, &e);
	CALL(epoll_ctl, set, EPOLL_CTL_ADD, -1, &e);
	CALL(epoll_wait, set, &e, 1, 0);
	NOTE(e.data.fd);
	CALL(epoll_wait, set, &e, 0, 0);
	CALL(epoll_wait, -1, &e, 1, 0);
	CALL(epoll_pwait, set, &e, 1, 1, NULL);
	CALL(epoll_pwait, set, NULL, 1, 1, NULL);
	CALL(epoll_pwait2, set, &e, 1, &soon, NULL);
	CALL(epoll_pwait2, set, &e, 1, &bad, NULL);
	CALL(epoll_ctl, set, EPOLL_CTL_DEL, ready, NULL);
	CALL(epoll_ctl, set, EPOLL_CTL_DEL, ready, NULL);
	CALL(epoll_wait, set, &e, 1, 1);
	interrupt_begin();
	CALL(epoll_wait, set, &e, 1, -1);
	CALL(epoll_pwait, set, &e, 1, -1, NULL);
	CALL(epoll_pwait2, set, &e, 1, NULL, NULL);
	CALL(poll, p, 1, -1);
	CALL(ppoll, p, 1, NULL, NULL);
	CALL(select, 0, NULL, NULL, NULL, NULL);
	CALL(pselect, 0, NULL, NULL, NULL, NULL, NULL);
	interrupt_end();
}

static void sleeps(void)
{
	struct timespec soon = { 0, 1000000 }, bad = { 0, -1 }, never = { 1000, 0 }, rest = { 0, 0 };

	CALL(nanosleep, &soon, NULL);
	CALL(nanosleep, &bad, NULL);
	CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, &soon, NULL);
	CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, &bad, NULL);
	CALL(clock_nanosleep, 99, 0, &soon, NULL);
	CALL(usleep, 100);
	CALL(sleep, 0);
	interrupt_begin();
	CALL(nanosleep, &never, &rest);
	NOTE(rest.tv_sec);
	rest.tv_sec = 0;
	CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, &never, &rest);
	NOTE(rest.tv_sec);
	CALL(usleep, 900000000);
	CALL(sleep, 1000);
	interrupt_end();
}

/* Options, several messages at once, a pipe's data moved on. */
static void many_messages(void)
{
	char text[2][8] = { "", "" };
	struct iovec out[] = { { "ab", 2 }, { "cde", 3 } }, in[] = { { text[0], 8 }, { text[1], 8 } };
	struct mmsghdr sent[] = { { .msg_hdr = { .msg_iov = &out[0], .msg_iovlen = 1 } },
				  { .msg_hdr = { .msg_iov = &out[1], .msg_iovlen = 1 } } };
	struct mmsghdr received[] = { { .msg_hdr = { .msg_iov = &in[0], .msg_iovlen = 1 } },
				      { .msg_hdr = { .msg_iov = &in[1], .msg_iovlen = 1 } } };
	int pair[2], ends[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) || pipe(ends))
		exit(1);
	CALL(setsockopt, pair[0], SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	CALL(setsockopt, pair[0], SOL_SOCKET, 9999, &on, sizeof(on));
	CALL(setsockopt, -1, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	CALL(sendmmsg, pair[0], sent, 2, 0);
	CALL(sendmmsg, -1, sent, 2, 0);
	CALL(recvmmsg, pair[1], received, 2, 0, NULL);
	NOTE(received[0].msg_len * 10 + received[1].msg_len);
	NOTE(memcmp(text[1], "cde", 3));
	CALL(recvmmsg, pair[1], received, 2, MSG_DONTWAIT, NULL);
	NOTE(write(ends[1], "xyz", 3));
	CALL(splice, ends[0], NULL, memfd_create("spliced", 0), NULL, 3, 0);
	CALL(splice, -1, NULL, ends[1], NULL, 3, 0);
	CALL(shutdown, pair[0], SHUT_WR);
	CALL(shutdown, -1, SHUT_WR);
	CALL(shutdown, pair[0], 9999);
}

void calls_of_sockets(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "\0vprof-runtime-calls" };
	int pair[2], server, client, ready[2];

	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "vprof-runtime-calls-%d", (int)getpid());
	CALL_SIGN(socket, AF_UNIX, SOCK_STREAM, 0);
	CALL(socket, 9999, SOCK_STREAM, 0);
	CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
	CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, nowhere);
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	CALL(connect, client, (struct sockaddr *)&name, sizeof(name));
	NOTE(bind(server, (struct sockaddr *)&name, sizeof(name)) | listen(server, 5));
	CALL(accept, server, NULL, NULL);
	CALL(connect, client, (struct sockaddr *)&name, sizeof(name));
	CALL_SIGN(accept, server, NULL, NULL);
	CALL(connect, client, (struct sockaddr *)&name, sizeof(name));
	CALL(accept4, server, NULL, NULL, SOCK_CLOEXEC);
	CALL(accept4, server, NULL, NULL, 0x7fffffff);
	in_sockets(pair);
	many_messages();
	if (pipe(ready) || write(ready[1], "x", 1) != 1)
		exit(1);
	polls(server, ready[0]);
	sleeps();
}

static void posix_queue(void)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	struct timespec past = { 1, 0 }, bad = { 1, -1 };
	char name[64], text[8];
	unsigned priority = 0;
	mqd_t q;

	snprintf(name, sizeof(name), "/vprof-runtime-calls-%d", (int)getpid());
	q = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
	mq_unlink(name);
	CALL(mq_send, q, "one", 3, 4);
	CALL(mq_send, q, "too long", 80, 4);
	CALL(mq_timedsend, q, "two", 3, 4, &past);
	CALL(mq_timedsend, q, "two", 3, 4, &bad);
	CALL(mq_receive, q, text, sizeof(text), &priority);
	NOTE(priority);
	CALL(mq_receive, q, text, 2, NULL);
	CALL(mq_timedreceive, q, text, sizeof(text), NULL, &past);
	CALL(mq_timedreceive, q, text, sizeof(text), NULL, &bad);
	interrupt_begin();
	CALL(mq_receive, q, text, sizeof(text), NULL);
	interrupt_end();
	CALL(mq_timedsend, q, "two", 3, 4, &past);
	interrupt_begin();
	CALL(mq_send, q, "three", 5, 4);
	interrupt_end();
	CALL(mq_receive, (mqd_t)-1, text, sizeof(text), NULL);
}

static void memory(void)
{
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	char *start = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CALL(msync, start, 4096, MS_SYNC);
	CALL(msync, start + 1, 4096, MS_SYNC);
	CALL(munmap, start, 4096);
	CALL(munmap, start + 1, 4096);
	CALL(munmap, start + 4096, 4096);
	CALL(msync, start, 4096, MS_SYNC);
	CALL(mmap, NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CALL(mmap, NULL, 4096, PROT_READ, MAP_SHARED, 9999, 0);
	CALL(mmap64, NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CALL(mmap64, NULL, 4096, PROT_READ, MAP_SHARED, -1, 1);
	NOTE(mmap64(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	start = shmat(id, NULL, 0);
	NOTE(start != (void *)-1);
	CALL(shmat, id, nowhere, 0);
	CALL(shmat, -1, NULL, 0);
	CALL(shmdt, start);
	CALL(shmdt, start);
	shmctl(id, IPC_RMID, NULL);
}

void calls_of_queues(void)
{
	struct {
		long type;
		char text[8];
	} m = { 1, "text" };
	int q = msgget(IPC_PRIVATE, IPC_CREAT | 0600);

	CALL(msgsnd, q, &m, 4, 0);
	CALL(msgsnd, -1, &m, 4, 0);
	m.type = 0;
	CALL(msgsnd, q, &m, 4, 0);
	CALL(msgrcv, q, &m, 2, 0, IPC_NOWAIT);
	CALL(msgrcv, q, &m, 8, 0, 0);
	NOTE(m.type);
	CALL(msgrcv, q, &m, 8, 0, IPC_NOWAIT);
	interrupt_begin();
	CALL(msgrcv, q, &m, 8, 0, 0);
	interrupt_end();
	msgctl(q, IPC_RMID, NULL);
	CALL(msgrcv, q, &m, 8, 0, 0);
	posix_queue();
	memory();
}
