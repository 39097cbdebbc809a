/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system calls that libvprof.so makes in a process that takes part in a session, with those of their arguments that
 * a filter may ask for. live.attach runs a server that is killed for any other call but its own.
 *
 * CALL(name, known, arguments): bit i of `known`: argument i is the one given; of others the value may be any.
 */
#ifndef VPROF_SESSION_CALLS_H
#define VPROF_SESSION_CALLS_H

#define VPROF_SESSION_CALLS(CALL)                                                                                      \
	/* joining and leaving: runtime/join/memory.c */                                                               \
	CALL(openat, 5, (uint32_t)AT_FDCWD, 0, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)                \
	CALL(newfstatat, 0, 0)                                                                                         \
	CALL(fstat, 0, 0)                                                                                              \
	CALL(geteuid, 0, 0)                                                                                            \
	CALL(mmap, 12, 0, 0, PROT_NONE, MAP_SHARED)                                                                    \
	CALL(mmap, 12, 0, 0, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)                                   \
	CALL(mmap, 12, 0, 0, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED)                                           \
	CALL(mmap, 12, 0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)                                      \
	CALL(mmap, 12, 0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED)                          \
	CALL(mmap, 12, 0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED)          \
	CALL(mprotect, 4, 0, 0, PROT_READ | PROT_WRITE)                                                                \
	CALL(mremap, 8, 0, 0, 0, MREMAP_MAYMOVE | MREMAP_FIXED)                                                        \
	CALL(munlock, 0, 0)                                                                                            \
	CALL(munmap, 0, 0)                                                                                             \
	CALL(madvise, 4, 0, 0, MADV_DONTDUMP)                                                                          \
	CALL(madvise, 4, 0, 0, MADV_POPULATE_WRITE)                                                                    \
	CALL(close, 0, 0)                                                                                              \
	/* threads, chunks and processes: runtime/thread.c, chunk.c, attach.c */                                       \
	CALL(clock_gettime, 1, CLOCK_MONOTONIC)                                                                        \
	CALL(rt_sigprocmask, 1, SIG_SETMASK)                                                                           \
	CALL(gettid, 0, 0)                                                                                             \
	CALL(getpid, 0, 0)                                                                                             \
	CALL(tgkill, 4, 0, 0, 0)                                                                                       \
	CALL(kill, 2, 0, 0)                                                                                            \
	CALL(readlinkat, 1, (uint32_t)AT_FDCWD)                                                                        \
	CALL(sched_yield, 0, 0)                                                                                        \
	CALL(futex, 0, 0)                                                                                              \
	/* which connection a descriptor is: runtime/channel.c */                                                      \
	CALL(getsockopt, 2, 0, SOL_SOCKET)                                                                             \
	CALL(getsockname, 0, 0)                                                                                        \
	CALL(getpeername, 0, 0)

#endif
