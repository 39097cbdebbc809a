/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking calls of libc as waits: files, sockets, pipes, sleeps, children. The others are in io_poll.c and io_queue.c.
 *
 * A call counts as a wait when it took RT_IO_NS or more (2 us); a shorter one costs two readings of the clock.
 * The object is the channel (channel.h), else the file descriptor, the child's pid, or 0. Calls inside libc (stdio's
 * own writes) are not seen. The 64-bit and fortified names are libc's aliases of the same calls.
 */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "runtime/wrappers/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* After so many uses a descriptor's kind is looked up again: libc closes some without our seeing it. */
#define KIND_USES 128

/* A descriptor's: kind << 8 | RT_FD_ACCEPTED | uses left; 0: unknown. */
static _Atomic uint16_t *kind_of(int fd)
{
	return (unsigned)fd < RT_FDS ? &rt_fds[fd].kind : NULL;
}

RT_HOT static unsigned fd_kind(int fd)
{
	_Atomic uint16_t *kept = kind_of(fd);
	uint16_t known = kept ? atomic_load_explicit(kept, memory_order_relaxed) : 0;
	unsigned kind = VP_WAIT_PIPE;
	struct stat st;

	if (known & (KIND_USES - 1)) {
		atomic_store_explicit(kept, (uint16_t)(known - 1), memory_order_relaxed);
		return known >> 8;
	}
	if (fstat(fd, &st) == 0) {
		if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) || S_ISDIR(st.st_mode))
			kind = VP_WAIT_DISK;
		else if (S_ISSOCK(st.st_mode))
			kind = VP_WAIT_SOCKET;
	}
	if (kept)
		atomic_store_explicit(kept, (uint16_t)(kind << 8 | (KIND_USES - 1)), memory_order_relaxed);
	return kind;
}

/* Nobody need ask the kernel what it is. */
static void fd_accepted(int fd)
{
	_Atomic uint16_t *kept = kind_of(fd);

	rt_fd_forget(fd);
	if (kept)
		atomic_store_explicit(kept, (uint16_t)(VP_WAIT_SOCKET << 8 | RT_FD_ACCEPTED | (KIND_USES - 1)),
				      memory_order_relaxed);
}

void __attribute__((noinline, hot)) rt_io_record(enum vp_call call, unsigned kind, int64_t object, uint64_t start,
						 uint64_t end, int64_t result)
{
	int saved = errno;
	struct rt_thread *th = rt_thread();
	unsigned flags = 0;

	if (th) {
		if (result < 0)
			flags = VP_FLAG_FAILED;
		else if (kind == VP_WAIT_POLL && result == 0)
			flags = VP_FLAG_TIMEOUT;
		if (kind == VP_WAIT_CHILD)
			flags |= VP_FLAG_SHARED;
		if (kind == RT_IO_BY_FD)
			kind = fd_kind((int)object);
		rt_wait_record(th, kind, flags, (uint64_t)object, 0, start, end,
			       (uint64_t)call | (result > 0 ? (uint64_t)result : 0) << 16);
	}
	errno = saved;
}

void __attribute__((noinline, hot)) rt_io_record_in(uint64_t key, enum vp_call call, unsigned kind, int fd,
						    uint64_t start, uint64_t end, int64_t result)
{
	int saved = errno;
	struct rt_thread *th = rt_thread();

	if (kind == RT_IO_BY_FD)
		kind = fd_kind(fd);
	if (th)
		rt_wait_record(th, kind, VP_FLAG_SHARED | VP_FLAG_CHANNEL, key, 0, start, end,
			       (uint64_t)call | (uint64_t)result << 16);
	errno = saved;
}

static void moved(unsigned kind, uint64_t key, int64_t result, uint64_t start, uint64_t end)
{
	uint64_t amount = key == RT_CHANNEL_NONE ? 0 : rt_channel_amount(key, result, NULL);

	if (amount)
		rt_channel_moved(kind, key, amount, start, end);
}

/* The first n of sendmmsg or recvmmsg. */
static void messages_moved(unsigned kind, uint64_t key, const struct mmsghdr *m, int n, uint64_t start, uint64_t end)
{
	for (int i = 0; key != RT_CHANNEL_NONE && i < n; i++)
		moved(kind, key, m[i].msg_len, start, end);
}

/* Not in the headers without _FORTIFY_SOURCE. */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *from, socklen_t *len);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

/* Servers spend their requests in these. */
#define CALLED_OFTEN(name) extern __typeof__(name) name RT_HOT
CALLED_OFTEN(read);
CALLED_OFTEN(write);
CALLED_OFTEN(writev);
CALLED_OFTEN(pread64);
CALLED_OFTEN(recv);
CALLED_OFTEN(recvfrom);
CALLED_OFTEN(recvmsg);
CALLED_OFTEN(send);
CALLED_OFTEN(sendto);
CALLED_OFTEN(sendmsg);
CALLED_OFTEN(sendfile64);
CALLED_OFTEN(open);
CALLED_OFTEN(open64);

WRAP_IN(ssize_t, read, (int fd, void *buf, size_t n), (fd, buf, n), READ, RT_IO_BY_FD, fd, RT_IO_IN(fd), buf)
WRAP_IN(ssize_t, __read_chk, (int fd, void *buf, size_t n, size_t room), (fd, buf, n, room), READ, RT_IO_BY_FD, fd,
	RT_IO_IN(fd), buf)
WRAP_OUT(ssize_t, write, (int fd, const void *buf, size_t n), (fd, buf, n), WRITE, RT_IO_BY_FD, fd, buf)
WRAP(ssize_t, pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at), PREAD, VP_WAIT_DISK, fd)
WRAP(ssize_t, pread64, (int fd, void *buf, size_t n, off64_t at), (fd, buf, n, at), PREAD, VP_WAIT_DISK, fd)
WRAP(ssize_t, __pread_chk, (int fd, void *buf, size_t n, off_t at, size_t room), (fd, buf, n, at, room), PREAD,
     VP_WAIT_DISK, fd)
WRAP(ssize_t, __pread64_chk, (int fd, void *buf, size_t n, off64_t at, size_t room), (fd, buf, n, at, room), PREAD,
     VP_WAIT_DISK, fd)
WRAP(ssize_t, pwrite, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at), PWRITE, VP_WAIT_DISK, fd)
WRAP(ssize_t, pwrite64, (int fd, const void *buf, size_t n, off64_t at), (fd, buf, n, at), PWRITE, VP_WAIT_DISK, fd)
WRAP_IN(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n), READV, RT_IO_BY_FD, fd, RT_IO_IN(fd), NULL)
WRAP_OUT(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), WRITEV, RT_IO_BY_FD, fd, NULL)
WRAP(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), READV, VP_WAIT_DISK, fd)
WRAP(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), WRITEV, VP_WAIT_DISK, fd)
WRAP(int, fsync, (int fd), (fd), FSYNC, VP_WAIT_DISK, fd)
WRAP(int, fdatasync, (int fd), (fd), FDATASYNC, VP_WAIT_DISK, fd)
WRAP(int, sync_file_range, (int fd, off64_t at, off64_t n, unsigned flags), (fd, at, n, flags), SYNC_RANGE,
     VP_WAIT_DISK, fd)
WRAP(int, msync, (void *start, size_t n, int flags), (start, n, flags), MSYNC, VP_WAIT_DISK, 0)
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), FTRUNCATE, VP_WAIT_DISK, fd)
WRAP(int, ftruncate64, (int fd, off64_t n), (fd, n), FTRUNCATE, VP_WAIT_DISK, fd)
WRAP(int, rename, (const char *from, const char *to), (from, to), RENAME, VP_WAIT_DISK, 0)
WRAP(int, unlink, (const char *path), (path), UNLINK, VP_WAIT_DISK, 0)
WRAP(int, flock, (int fd, int what), (fd, what), FLOCK, VP_WAIT_DISK, fd)
WRAP_OUT(ssize_t, sendfile, (int out, int in, off_t *at, size_t n), (out, in, at, n), SENDFILE, RT_IO_BY_FD, out, NULL)
WRAP_OUT(ssize_t, sendfile64, (int out, int in, off64_t *at, size_t n), (out, in, at, n), SENDFILE, RT_IO_BY_FD, out,
	 NULL)

WRAP_IN(ssize_t, recv, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags), RECV, VP_WAIT_SOCKET, fd,
	RT_IO_IN_UNLESS(flags &RT_IO_PEEKS, fd), NULL)
WRAP_IN(ssize_t, __recv_chk, (int fd, void *buf, size_t n, size_t room, int flags), (fd, buf, n, room, flags), RECV,
	VP_WAIT_SOCKET, fd, RT_IO_IN_UNLESS(flags &RT_IO_PEEKS, fd), NULL)
WRAP_IN(ssize_t, recvfrom, (int fd, void *buf, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *len),
	(fd, buf, n, flags, from, len), RECVFROM, VP_WAIT_SOCKET, fd, RT_IO_IN_UNLESS(flags &RT_IO_PEEKS, fd), NULL)
WRAP_IN(ssize_t, __recvfrom_chk,
	(int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *from, socklen_t *len),
	(fd, buf, n, room, flags, from, len), RECVFROM, VP_WAIT_SOCKET, fd, RT_IO_IN_UNLESS(flags &RT_IO_PEEKS, fd),
	NULL)
WRAP_IN(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), RECVMSG, VP_WAIT_SOCKET, fd,
	RT_IO_IN_UNLESS(flags &RT_IO_PEEKS, fd), NULL)
WRAP_OUT(ssize_t, send, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags), SEND, VP_WAIT_SOCKET, fd,
	 NULL)
WRAP_OUT(ssize_t, sendto, (int fd, const void *buf, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t len),
	 (fd, buf, n, flags, to, len), SENDTO, VP_WAIT_SOCKET, fd, NULL)
WRAP_OUT(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), SENDMSG, VP_WAIT_SOCKET, fd,
	 NULL)
WRAP_THEN(int, accept, (int fd, __SOCKADDR_ARG from, socklen_t *len), (fd, from, len), ACCEPT, VP_WAIT_SOCKET, fd,
	  fd_accepted(r))
WRAP_THEN(int, accept4, (int fd, __SOCKADDR_ARG from, socklen_t *len, int flags), (fd, from, len, flags), ACCEPT4,
	  VP_WAIT_SOCKET, fd, fd_accepted(r))
WRAP_THEN(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t len), (fd, to, len), CONNECT, VP_WAIT_SOCKET, fd,
	  if (r == 0 || errno == EINPROGRESS || errno == EINTR) rt_channel_connect(fd, to.__sockaddr__, len, start_))

/* What these do in the kernel may be the work of many others: uncorking a socket sends what has gathered. */
WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len), (fd, level, name, value, len),
     SETSOCKOPT, VP_WAIT_SOCKET, fd)
WRAP(int, shutdown, (int fd, int how), (fd, how), SHUTDOWN, VP_WAIT_SOCKET, fd)
WRAP_THEN(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags), (fd, m, n, flags), SENDMMSG,
	  VP_WAIT_SOCKET, fd, messages_moved(VP_KIND_SEND, rt_channel(fd, RT_CHANNEL_OUT), m, r, start_, end_))
WRAP_THEN(int, recvmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *timeout),
	  (fd, m, n, flags, timeout), RECVMMSG, VP_WAIT_SOCKET, fd,
	  if (!(flags & RT_IO_PEEKS))
		  messages_moved(VP_KIND_RECEIVE, rt_channel(fd, RT_CHANNEL_IN), m, r, start_, end_))
WRAP_THEN(
	ssize_t, splice, (int in, off64_t *at, int out, off64_t *to, size_t n, unsigned flags),
	(in, at, out, to, n, flags), SPLICE, RT_IO_BY_FD, out, if (r > 0) {
		moved(VP_KIND_RECEIVE, rt_channel(in, RT_CHANNEL_IN), r, start_, end_);
		moved(VP_KIND_SEND, rt_channel(out, RT_CHANNEL_OUT), r, start_, end_);
	})
WRAP(ssize_t, copy_file_range, (int in, off64_t *at, int out, off64_t *to, size_t n, unsigned flags),
     (in, at, out, to, n, flags), COPY_FILE_RANGE, VP_WAIT_DISK, out)
WRAP(int, fallocate, (int fd, int mode, off_t from, off_t n), (fd, mode, from, n), FALLOCATE, VP_WAIT_DISK, fd)
WRAP(int, fallocate64, (int fd, int mode, off64_t from, off64_t n), (fd, mode, from, n), FALLOCATE, VP_WAIT_DISK, fd)
/* Returns an errno value, not -1. */
WRAP(int, posix_fallocate, (int fd, off_t from, off_t n), (fd, from, n), FALLOCATE, VP_WAIT_DISK, fd)
WRAP(int, posix_fallocate64, (int fd, off64_t from, off64_t n), (fd, from, n), FALLOCATE, VP_WAIT_DISK, fd)

WRAP(int, nanosleep, (const struct timespec *request, struct timespec *rest), (request, rest), NANOSLEEP, VP_WAIT_SLEEP,
     0)
/* Returns an errno value, not -1. */
WRAP(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *request, struct timespec *rest),
     (clock, flags, request, rest), CLOCK_NANOSLEEP, VP_WAIT_SLEEP, 0)
WRAP(int, usleep, (useconds_t us), (us), USLEEP, VP_WAIT_SLEEP, 0)
WRAP(unsigned, sleep, (unsigned s), (s), SLEEP, VP_WAIT_SLEEP, 0)

WRAP(pid_t, wait, (int *status), (status), WAITPID, VP_WAIT_CHILD, r)
WRAP(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), WAITPID, VP_WAIT_CHILD, r)
WRAP(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage), WAIT4,
     VP_WAIT_CHILD, r)

/* Forget the kinds of descriptors that are closed or newly made. */
RT_NEXT(close);
RT_HOT RT_EXPORT int close(int fd)
{
	const _Atomic uint16_t *kept = kind_of(fd);
	uint64_t start, end;
	unsigned kind;
	int r;

	if (!rt_active())
		return REAL(close)(fd);
	kind = kept ? atomic_load_explicit(kept, memory_order_relaxed) >> 8 : 0;
	rt_fd_forget(fd);
	start = rt_now();
	r = REAL(close)(fd);
	end = rt_now();
	if (end - start >= rt_process.io_ticks)
		rt_io_record(VP_CALL_CLOSE, kind ? kind : VP_WAIT_DISK, fd, start, end, r);
	return r;
}

#define FD_FORGET(name, parameters, arguments, then)                                                                   \
	RT_NEXT(name);                                                                                                 \
	RT_EXPORT int name parameters                                                                                  \
	{                                                                                                              \
		int r = REAL(name) arguments;                                                                          \
		then;                                                                                                  \
		return r;                                                                                              \
	}
FD_FORGET(socket, (int domain, int type, int protocol), (domain, type, protocol), rt_fd_forget(r))
FD_FORGET(
	socketpair, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds), if (r == 0) {
		rt_fd_forget(fds[0]);
		rt_fd_forget(fds[1]);
		rt_channel_pair(fds, type);
	})
FD_FORGET(
	pipe, (int fds[2]), (fds), if (r == 0) {
		rt_fd_forget(fds[0]);
		rt_fd_forget(fds[1]);
	})
FD_FORGET(
	pipe2, (int fds[2], int flags), (fds, flags), if (r == 0) {
		rt_fd_forget(fds[0]);
		rt_fd_forget(fds[1]);
	})
FD_FORGET(dup, (int from), (from), rt_fd_forget(r); rt_channel_copy(from, r))
FD_FORGET(
	dup2, (int from, int to), (from, to), if (from != to) {
		rt_fd_forget(r);
		rt_channel_copy(from, r);
	})
FD_FORGET(dup3, (int from, int to, int flags), (from, to, flags), rt_fd_forget(r); rt_channel_copy(from, r))
FD_FORGET(eventfd, (unsigned value, int flags), (value, flags), rt_fd_forget(r);
	  if (rt_active()) rt_channel_event(r, value))
WRAP_IN(int, eventfd_read, (int fd, eventfd_t *value), (fd, value), READ, VP_WAIT_PIPE, fd, RT_IO_IN(fd), value)
WRAP_OUT(int, eventfd_write, (int fd, eventfd_t value), (fd, value), WRITE, VP_WAIT_PIPE, fd, &value)

#define OPEN(name, first, arguments, mode_after)                                                                       \
	RT_NEXT(name);                                                                                                 \
	RT_EXPORT int name first                                                                                       \
	{                                                                                                              \
		uint64_t start, end;                                                                                   \
		mode_t mode = 0;                                                                                       \
		int r;                                                                                                 \
		if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {                                           \
			va_list rest;                                                                                  \
			va_start(rest, mode_after);                                                                    \
			mode = va_arg(rest, mode_t);                                                                   \
			va_end(rest);                                                                                  \
		}                                                                                                      \
		if (!rt_active())                                                                                      \
			return REAL(name) arguments;                                                                   \
		start = rt_now();                                                                                      \
		r = REAL(name) arguments;                                                                              \
		end = rt_now();                                                                                        \
		rt_fd_forget(r);                                                                                       \
		if (end - start >= rt_process.io_ticks)                                                                \
			rt_io_record(VP_CALL_OPEN, VP_WAIT_DISK, r, start, end, r < 0 ? -1 : 0);                       \
		return r;                                                                                              \
	}
OPEN(open, (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode), flags)
OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode), flags)
WRAP_THEN(int, __open_2, (const char *path, int flags), (path, flags), OPEN, VP_WAIT_DISK, r, rt_fd_forget(r))
WRAP_THEN(int, __open64_2, (const char *path, int flags), (path, flags), OPEN, VP_WAIT_DISK, r, rt_fd_forget(r))

/* Only the commands that wait for a lock. */
#define FCNTL(name)                                                                                                    \
	RT_NEXT(name);                                                                                                 \
	RT_EXPORT int name(int fd, int command, ...)                                                                   \
	{                                                                                                              \
		uint64_t start, end;                                                                                   \
		va_list rest;                                                                                          \
		void *arg;                                                                                             \
		int r;                                                                                                 \
		va_start(rest, command);                                                                               \
		arg = va_arg(rest, void *);                                                                            \
		va_end(rest);                                                                                          \
		if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {                                                \
			r = REAL(name)(fd, command, arg);                                                              \
			rt_fd_forget(r);                                                                               \
			rt_channel_copy(fd, r);                                                                        \
			return r;                                                                                      \
		}                                                                                                      \
		if (!rt_active() || (command != F_SETLKW && command != F_OFD_SETLKW))                                  \
			return REAL(name)(fd, command, arg);                                                           \
		start = rt_now();                                                                                      \
		r = REAL(name)(fd, command, arg);                                                                      \
		end = rt_now();                                                                                        \
		if (end - start >= rt_process.io_ticks)                                                                \
			rt_io_record(VP_CALL_FCNTL_LOCK, VP_WAIT_DISK, fd, start, end, r);                             \
		return r;                                                                                              \
	}
FCNTL(fcntl)
FCNTL(fcntl64)
