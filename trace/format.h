/* SPDX-License-Identifier: Apache-2.0 */
/* The trace: one definition for the probes that write it, the collector that stores it and the reader.
 *
 * A thread's trace is a sequence of 16-byte units {t, w}. `w` is a 24-bit code (low) and a 40-bit payload
 * (high); the code tells the record's kind and so its number of units. Codes from VP_CODE_FUNCTION on are
 * call records, one unit: t = entry in ticks, payload = duration in ticks (saturating), written at exit, so
 * callees come before their caller. A unit with w == 0 was never written (a kill, or the end of a chunk): skip it.
 * A multi-unit record is written with t of its first unit last: w != 0 and t == 0 means cut, skip its units.
 *
 * Threads write into chunks of shared memory (struct vp_chunk_header + units); the collector appends every
 * full chunk, as it is, to the run's records file. This header is C11, includes only stdint.h, and is used by
 * the runtime: no dependency may be added.
 *
 * All integers are little-endian. Times are ticks of the clock named in the file header.
 */
#ifndef VPROF_TRACE_FORMAT_H
#define VPROF_TRACE_FORMAT_H

#include <stdint.h>

#define VP_FORMAT_VERSION 1u	/* of a file without compressed chunks */
#define VP_FORMAT_COMPRESSED 2u /* ... and with some */
#define VP_UNIT_BYTES 16u
#define VP_CHUNK_BYTES 65536u /* header included */
#define VP_CODE_BITS 24u
#define VP_CODE_MASK 0xffffffu
#define VP_PAYLOAD_MAX ((UINT64_C(1) << 40) - 1)

#define VP_CODE_FUNCTION 0x100u /* + function.id of facts.db */
#define VP_CODE_SITE 0x800000u	/* + call.id of facts.db */

struct vp_unit {
	uint64_t t, w;
};

#define VP_W(code, payload) ((uint64_t)(code) | ((uint64_t)(payload) << VP_CODE_BITS))
#define VP_CODE(w) ((uint32_t)((w) & VP_CODE_MASK))
#define VP_PAYLOAD(w) ((w) >> VP_CODE_BITS)

/* Kinds with a code below VP_CODE_FUNCTION. "u1.t" = field t of the record's second unit, and so on. */
enum vp_kind {
	VP_KIND_NONE = 0,
	/* 1 unit: a root frame was entered at t; payload = its code. Its call record may never follow. */
	VP_KIND_ENTER = 1,
	/* 2 units: u1.t = interval id, u1.w = hash of the interval's name (see STRING); payload = number of the call
	   path that leads here (see STACK), 0: not known. */
	VP_KIND_BEGIN = 2,
	VP_KIND_RESUME = 3,
	VP_KIND_SUSPEND = 4,
	VP_KIND_END = 5,
	/* 2 units: type of the interval that the thread works for. payload = 1: u1.t is a string's hash,
	   payload = 0: a number. u1.w = 0. */
	VP_KIND_TYPE = 6,
	/* 2 units: u1.t = hash of the counter's name, u1.w = amount (two's complement). */
	VP_KIND_WORK = 7,
	/* 3 units, a blocked wait. t = t0, payload = enum vp_wait | flags << 8 | seq << 16; u1.t = object,
	   u1.w = ticket (0: none); u2.t = t1, u2.w = result or byte count for I/O. seq, 24 bits: number of the
	   object's last release as the waiter found it when it had the lock, 0: unknown. */
	VP_KIND_WAIT = 8,
	/* 2 units, a release that found waiters. payload = enum vp_wait | flags << 8 | seq << 16; u1.t = object,
	   u1.w = arrivals before (of a barrier: before its own) | (arrivals after << 32). seq: number of this
	   release of a lock, 0: none; of a futex: how many it woke. */
	VP_KIND_WAKE = 9,
	/* 2 units: u1.t = item, u1.w = number of the call path, as above. */
	VP_KIND_ENQUEUE = 10,
	VP_KIND_DEQUEUE = 11,
	/* 2 units: this thread made a thread or process. u1.t = token, u1.w = 0 thread, 1 process. */
	VP_KIND_CREATE = 12,
	/* 2 units, first record of a thread: u1.t = token of its CREATE or 0, u1.w = tid. */
	VP_KIND_START = 13,
	/* 1 unit: the thread is leaving. */
	VP_KIND_EXIT = 14,
	/* 1 unit: the wait recorded last on this thread was a false wake-up; it waited on. */
	VP_KIND_FALSE_WAKE = 15,
	/* 1 + n units: payload = length in bytes (at most VP_STRING_MAX); t = hash; text in the units after,
	   zero-padded. Defined at least once in each process that uses the hash. */
	VP_KIND_STRING = 16,
	/* 1 + n units: a sampled call stack, innermost first. payload = number of addresses
	   (at most VP_STACK_MAX) | enum vp_stack << 8; the units after hold two addresses each (t, w).
	   Belongs to the thread's next record. Of kind PATH it is a call path of this thread, and belongs to none: its
	   number, from 1, is payload >> VP_PATH_SHIFT (at most VP_PATHS_MAX). */
	VP_KIND_STACK = 17,
	/* 2 + n units: a module of this process. payload = length of the path; u1.t = load bias, u1.w = end
	   address; path in the units after. t = lowest mapped address. */
	VP_KIND_MODULE = 18,
	/* 1 unit: `payload` records of this thread were dropped before t because no chunk was free. */
	VP_KIND_DROPPED = 19,
	/* 2 units: one of the calls of a hot function that were timed, written at exit like a call record. t = entry,
	   u1.t = duration, u1.w = code; payload = weight | second << 7 | represented << 8 | block << 16.
	   Of each block of 2 x weight calls two are chosen at random, the second flagged; the block's end may be
	   missing. represented: this call and those not timed since the last one that was. Weight 0: a call that was
	   not chosen, recorded from the begin of its first wait on; or one that began between two recording windows and
	   was under way when the next one opened, or waited: all of it. */
	VP_KIND_SAMPLE = 20,
	/* 1 unit: payload = code | n << 24: n more calls after the last SAMPLE of this function; t = begin of the block
	   in which they were counted. */
	VP_KIND_COUNT = 21,
	/* 2 units: a call that put data into a channel, and one that took data out. t = begin of a SEND, end of a
	   RECEIVE, payload = how long the call took; u1.t = channel, u1.w = bytes, messages, or an eventfd's value.
	   Data comes out in the order in which it went in, so amounts tell which SEND a RECEIVE belongs to. A SEND of
	   0: a connection begins; what was sent before and not received never is. */
	VP_KIND_SEND = 22, /* VP_CHANNEL_IS_BETWEEN_HOSTS: also in the other host's trace */
	VP_KIND_RECEIVE = 23,
	/* 2 units: a further channel that was ready when the wait recorded last on this thread, a poll, ended.
	   u1.t = channel, u1.w = 0. */
	VP_KIND_READY = 24,
	/* 1 unit, in a CPU's chunks only (VP_THREAD_PROCESSOR): a context switch, of thread `tid` in or out at t.
	   payload = tid | VP_SWITCH_* << 32. */
	VP_KIND_SWITCH = 25,
	/* 1 unit, there too: `payload` context switches of this CPU, between the record before and t, are missing. */
	VP_KIND_SWITCHES_LOST = 26,
	/* 1 unit, in chunks of VP_THREAD_WINDOWS only: intervals that begin after t have all their calls recorded
	   (payload 1), or may lack some (0). Without any such record all calls are. */
	VP_KIND_WINDOW = 27,
	/* 3 units, after the MODULE with the same t: payload = length in bytes (at most VP_BUILD_ID_MAX) of the build
	   id that its linker gave it; the id in the units after, zero-padded. */
	VP_KIND_BUILD_ID = 28,
	/* 3 units, in chunks of VP_THREAD_PLANS only: a live session changed which probes are open, beginning at t and
	   done at u1.t. payload = number of the plan in force from then on; 0: a baseline, only annotations record.
	   u1.w = process_seq, 0: all processes that there were; with u1.t = 2^63 - 1 nobody knows what is open in it.
	   u2.t = up to when intervals began, under the plan before, that could be expected to end before t; u2.w = 0.
	 */
	VP_KIND_PLAN = 29,

	/* What follows is recorded by the kernel (recorder/), in chunks of VP_THREAD_KERNEL, each of one CPU, in order
	   of t; tids and pids are those of the recorder's namespace. trace/kernel_events.h decodes and encodes them. */

	/* 2 units, a context switch from one thread to another. payload = tid switched out | enum vp_task_state << 32;
	   u1.t = tid switched in (0: the CPU is idle), u1.w = kernel stack | user stack << 32 (of the one switched out;
	   ids of KERNEL_STACK records, 0: none). */
	VP_KIND_KERNEL_SWITCH = 32,
	/* 2 units: a thread that was blocked is being made runnable. payload = context | source << 4 | source id << 8,
	   see enum vp_context and enum vp_source; u1.t = tid woken | tid that this CPU was running << 32; u1.w =
	   stacks, as above, of the running thread. Only in context TASK, or when source is a loopback interface, did
	   that thread wake it. */
	VP_KIND_KERNEL_WAKING = 33,
	/* 3 units: a thread or process was made. payload = its tid; u1.t = its pid | tid of the maker << 32, u1.w = pid
	   of the maker; u2 = name, 16 bytes, zero-padded. */
	VP_KIND_KERNEL_FORK = 34,
	/* 3 units: a process executed another program. payload = tid from now on; u1.t = pid | tid before << 32;
	   u2 = name. */
	VP_KIND_KERNEL_EXEC = 35,
	/* 2 units: a thread ends; it does not run from here on. payload = tid; u1.t = pid | exit code << 32 (as of
	   waitpid), u1.w = 1: the process's last thread. */
	VP_KIND_KERNEL_EXIT = 36,
	/* 3 units: a thread that was there before the recording or that is recorded from now on; or its new name.
	   payload = tid | VP_TASK_* << 32; u1.t = pid | pid of the parent << 32; u2 = name. */
	VP_KIND_KERNEL_TASK = 37,
	/* 3 units: a request goes to a disk. payload = device | VP_BLOCK_* << 32; u1.t = sector, u1.w = bytes |
	   tid that submitted it << 32; u2.t = number of the request, u2.w = when it was queued, 0: went at
	   once. */
	VP_KIND_KERNEL_BLOCK_ISSUE = 38,
	/* 3 units: a request, or a part of it, was completed. payload, u1.t, u2.t: as above; u1.w = bytes | errno <<
	   32; u2.w = when it was issued. u2 is 0 for a request that was issued before the recording. */
	VP_KIND_KERNEL_BLOCK_COMPLETE = 39,
	/* 2 units: a packet leaves through or comes in by a network interface other than loopback. payload = interface
	   | context << 32; u1.t = bytes | tid that this CPU was running << 32; u1.w = 0. */
	VP_KIND_KERNEL_NET_SEND = 40,
	VP_KIND_KERNEL_NET_RECEIVE = 41,
	/* 1 unit: `payload` events of this CPU, between the record before and t, are missing. */
	VP_KIND_KERNEL_LOST = 42,
	/* 2 units: an interrupt's handler ended at t. payload = how long it took; u1.t = context | irq << 32, u1.w =
	   tid that was interrupted. */
	VP_KIND_KERNEL_INTERRUPT = 43,

	/* In chunks of VP_THREAD_KERNEL_TABLE, as are KERNEL_TASK, MODULE and BUILD_ID: */

	/* 1 + ceil(n / 2) units: t = id, payload = n addresses (at most VP_KERNEL_STACK_MAX) | VP_STACK_* << 8;
	   innermost first, return addresses but for the first, two in each of the units after. In the table of a
	   process: a user stack of its; else a kernel stack. */
	VP_KIND_KERNEL_STACK = 44,
	/* 2 + ceil(n / 16) units: which function of the kernel an address lies in. t = address, payload = n bytes of
	   the name (at most VP_STRING_MAX); u1.t = the function's first address, u1.w = 0; name in the units after. */
	VP_KIND_KERNEL_SYMBOL = 45,
	/* 2 + ceil(n / 16) units: a disk or network interface. t = its number, payload = n bytes of the name (at most
	   255) | enum vp_source << 8 | VP_DEVICE_* << 12; u1.t = link speed in bits/s, 0: unknown; name in the units
	   after. */
	VP_KIND_KERNEL_DEVICE = 46,
	/* 2 units: the kernel's clock, CLOCK_MONOTONIC, at t. payload = largest error of the pair in ns; u1.t = ns,
	   u1.w = 0. */
	VP_KIND_KERNEL_CLOCK = 47,

	/* In chunks of VP_THREAD_KERNEL again: events that are recorded for their stacks. */

	/* 2 units: a system call returned at t. payload = tid; u1.t = when it was entered, 0: before the recording;
	   u1.w = user stack | number of the system call << 32 | calls of the thread << 48 (at most 65535) that were not
	   recorded since its last CALL. All are recorded within which another event of the thread was; of the others as
	   many as were asked for. */
	VP_KIND_KERNEL_CALL = 48,
	/* 2 units: the program's code faulted on a page. payload = tid; u1.t = address, u1.w = user stack | the
	   processor's error code << 32. */
	VP_KIND_KERNEL_FAULT = 49,
	/* 2 units: a thread has used CPU time. payload = tid; u1.t = 0; u1.w = kernel stack | user stack << 32. */
	VP_KIND_KERNEL_TIMER = 50,
	/* 2 units, in the machine's table: a window of time in which all of that was recorded, from t to u1.t; payload
	   and u1.w = 0. With VP_KERNEL_WINDOWS only; windows may join. One of no length, with payload
	   VP_WINDOW_WAKES_LEFT: wake-ups, interrupts and packets were recorded in windows only from then on. */
	VP_KIND_KERNEL_WINDOW = 51,

	/* Who sends and receives how much over which connection; in chunks of VP_THREAD_KERNEL, too. */

	/* 6 units, a socket before its first transfer, and again whenever what VP_SOCKET_CLOSED and VP_SOCKET_RESENT
	   say happens to it: t, payload = VP_SOCKET_* | tid << 8, of the thread that closes it, 0: not known; u1.t =
	   cookie, the socket's number, u1.w = inode of its network namespace; u2 = local address, u3 = remote one, IPv6
	   or IPv4 mapped to it, in network order; u4.t = local port | remote port << 16, u4.w = when the connection was
	   asked for; u5.t = when it was made, u5.w = 0. Times 0: before the recording. Of a Unix socket u2 and u3 are
	   the path at which its server listens (cut to 32 bytes, zero-padded), u4 is 0, u5.w = the other end's cookie,
	   0: not known yet. */
	VP_KIND_KERNEL_SOCKET = 240,
	/* 3 units: a system call that sent or received ended at t. payload = tid | VP_TRANSFER_* << 32; u1.t = cookie,
	   u1.w = position of its first byte in the stream: of TCP the sequence number (32 bits), of a Unix socket the
	   bytes that were transferred before; u2.t = when it began, or of a send when its last packet had
	   left; t: not known; u2.w = bytes, 0: the end of the stream was received, and with VP_TRANSFER_ARRIVAL << 32
	   how many ns (2^32 - 1: or more) a receive's last packet, or a later one, had been there. Peeking is not
	   recorded. */
	VP_KIND_KERNEL_TRANSFER = 241,
};

/* What became of the thread that was switched out. */
enum vp_task_state {
	VP_TASK_STATE_RUNNABLE = 0,  /* yielded, or had used up its time */
	VP_TASK_STATE_PREEMPTED = 1, /* runnable, too */
	VP_TASK_STATE_SLEEPING = 2,  /* interruptible */
	VP_TASK_STATE_DISK = 3,	     /* uninterruptible */
	VP_TASK_STATE_STOPPED = 4,   /* by a signal or a debugger */
	VP_TASK_STATE_IDLE = 5,	     /* a kernel thread without work */
	VP_TASK_STATE_DEAD = 6,
	VP_TASK_STATE_COUNT
};

/* What a CPU was doing: soft interrupts by their kind, which are VP_CONTEXT_SOFTIRQ + their number in the kernel. */
enum vp_context {
	VP_CONTEXT_TASK = 0, /* a thread's system call, fault or own work */
	VP_CONTEXT_HARDIRQ = 1,
	VP_CONTEXT_NMI = 2,
	VP_CONTEXT_SOFTIRQ = 3, /* HI */
	VP_CONTEXT_TIMER = 4,
	VP_CONTEXT_NET_TX = 5,
	VP_CONTEXT_NET_RX = 6,
	VP_CONTEXT_BLOCK = 7,
	VP_CONTEXT_IRQ_POLL = 8,
	VP_CONTEXT_TASKLET = 9,
	VP_CONTEXT_SCHED = 10,
	VP_CONTEXT_HRTIMER = 11,
	VP_CONTEXT_RCU = 12,
	VP_CONTEXT_COUNT
};

/* On whose behalf an interrupt woke a thread, or at what. */
enum vp_source {
	VP_SOURCE_NONE = 0,  /* not known, or the waker is a thread */
	VP_SOURCE_TIMER = 1, /* id 0 */
	VP_SOURCE_BLOCK = 2, /* id: device, major << 20 | minor */
	VP_SOURCE_NET = 3,   /* id: index of the interface */
	VP_SOURCE_IRQ = 4,   /* id: number of the interrupt, of a device that is none of these */
	VP_SOURCE_FUTEX = 5, /* a thread woke it at a futex; id: a hash of its address. With VP_KERNEL_SOCKETS only */
	VP_SOURCE_COUNT
};

#define VP_SOCKET_CLIENT 1u  /* asked for the connection */
#define VP_SOCKET_SERVER 2u  /* was asked; neither: nobody saw it */
#define VP_SOCKET_UNIX 4u    /* else TCP */
#define VP_SOCKET_CLOSED 8u  /* told again: this end closes its direction */
#define VP_SOCKET_RESENT 16u /* told again: TCP sends a packet again */
#define VP_SOCKET_PATH_BYTES 32u
#define VP_TRANSFER_SEND 1u    /* else a receive */
#define VP_TRANSFER_ARRIVAL 2u /* it is known how long the bytes were there */

#define VP_TASK_SESSION 1u /* of the processes that were to be recorded; else it woke one of their threads */
#define VP_TASK_KERNEL 2u  /* a thread of the kernel */
#define VP_TASK_RENAMED 4u /* was known before by another name */

#define VP_WINDOW_WAKES_LEFT 1u

#define VP_BLOCK_OPERATION 15u /* mask; the kernel's enum req_op: 0 read, 1 write, 2 flush, 3 discard, others */
#define VP_BLOCK_SYNC 16u
#define VP_BLOCK_META 32u
#define VP_BLOCK_FUA 64u
#define VP_BLOCK_READ_AHEAD 128u

/* As the id of a RESUME: of the interval for which the data was sent that the thread takes, or has taken, from a
 * channel or queue, between its marks before and after. Of a SUSPEND or END: of the one that the thread works for. */
#define VP_ID_RECEIVED UINT64_C(0x7672656365697665)

/* In a trace of several hosts (trace/join/join.h): the host of an object in shared memory. */
#define VP_OBJECT_HOST_SHIFT 57
#define VP_OBJECT_HOST (UINT64_C(63) << VP_OBJECT_HOST_SHIFT)

/* Every other channel's number means something in its own trace only. */
#define VP_CHANNEL_BETWEEN_HOSTS 3u
#define VP_CHANNEL_IS_BETWEEN_HOSTS(channel) (((channel) & 7u) == VP_CHANNEL_BETWEEN_HOSTS)

#define VP_STACK_CUT 1u	      /* its outer frames are missing: ... */
#define VP_STACK_DEEP 2u      /* ... they lie beyond the memory that was copied */
#define VP_STACK_LONG 4u      /* ... it has more than VP_KERNEL_STACK_MAX frames */
#define VP_STACK_UNTABLED 8u  /* ... a function is in no file, or has no unwind tables */
#define VP_STACK_GONE 16u     /* ... the process had ended before what it had mapped was looked at */
#define VP_DEVICE_LOOPBACK 1u /* what is sent is received by the same thread's system call */
#define VP_KERNEL_STACK_MAX 127u
#define VP_COMM_BYTES 16u

#define VP_SWITCH_OUT 1u       /* switched out, else in */
#define VP_SWITCH_PREEMPTED 2u /* ... while runnable */
#define VP_SWITCH_FLAGS(payload) ((uint32_t)((payload) >> 32))

#define VP_SAMPLE_WEIGHT(payload) ((uint32_t)((payload) & 0x7f))
#define VP_SAMPLE_SECOND(payload) ((uint32_t)((payload) >> 7 & 1))
#define VP_SAMPLE_REPRESENTED(payload) ((uint32_t)((payload) >> 8 & 0xff))
#define VP_SAMPLE_BLOCK(payload) ((uint32_t)((payload) >> 16))

#define VP_STRING_MAX 1024u
#define VP_STACK_MAX 64u
#define VP_PATH_MAX 4096u
#define VP_BUILD_ID_MAX 32u

enum vp_wait {
	VP_WAIT_MUTEX = 1,
	VP_WAIT_RWLOCK_READ = 2,
	VP_WAIT_RWLOCK_WRITE = 3,
	VP_WAIT_COND = 4,
	VP_WAIT_BARRIER = 5,
	VP_WAIT_SEMAPHORE = 6,
	VP_WAIT_JOIN = 7,
	VP_WAIT_SPIN = 8,
	VP_WAIT_ANNOTATED = 9, /* an acquire function of vprof.json */
	VP_WAIT_SLEEP = 10,    /* nanosleep, usleep, ... */
	VP_WAIT_DISK = 11,     /* fsync, fdatasync, read/write of files */
	VP_WAIT_SOCKET = 12,
	VP_WAIT_PIPE = 13,
	VP_WAIT_POLL = 14,  /* epoll_wait, poll, select */
	VP_WAIT_CHILD = 15, /* waitpid */
	VP_WAIT_FUTEX = 16,
	VP_WAIT_ONCE = 17,
	VP_WAIT_QUEUE = 18, /* message queues, System V's and POSIX's */
	VP_WAIT_COUNT
};

#define VP_FLAG_SHARED 1u  /* object lies in memory shared between processes: match across processes */
#define VP_FLAG_TIMEOUT 2u /* the wait ended by its timeout, nobody woke it */
#define VP_FLAG_FAILED 4u
#define VP_FLAG_LATE 8u	    /* WAKE: waiters arrived while the release ran */
#define VP_FLAG_ALL 16u	    /* WAKE: broadcast, barrier: every waiter up to `after` */
#define VP_FLAG_CHANNEL 32u /* object: the kernel's channel (pipe, socket pair, ...), the same in all processes */
#define VP_SEQ_SHIFT 16u    /* in the payload of WAIT and WAKE */
#define VP_SEQ_MASK 0xffffffu

/* WAIT.u2.w for I/O and sleeps: enum vp_call in the low 16 bits names the libc function. */
/* clang-format off */
#define VP_CALLS(X)                                                                                          \
	X(NONE, "") X(READ, "read") X(WRITE, "write") X(PREAD, "pread") X(PWRITE, "pwrite") X(READV, "readv")  \
	X(WRITEV, "writev") X(FSYNC, "fsync") X(FDATASYNC, "fdatasync") X(SYNC_RANGE, "sync_file_range")       \
	X(RECV, "recv") X(RECVFROM, "recvfrom") X(RECVMSG, "recvmsg") X(SEND, "send") X(SENDTO, "sendto")     \
	X(SENDMSG, "sendmsg") X(ACCEPT, "accept") X(ACCEPT4, "accept4") X(CONNECT, "connect") X(OPEN, "open")  \
	X(CLOSE, "close") X(POLL, "poll") X(PPOLL, "ppoll") X(SELECT, "select") X(EPOLL_WAIT, "epoll_wait")   \
	X(EPOLL_PWAIT, "epoll_pwait") X(NANOSLEEP, "nanosleep") X(CLOCK_NANOSLEEP, "clock_nanosleep")         \
	X(USLEEP, "usleep") X(SLEEP, "sleep") X(WAITPID, "waitpid") X(WAIT4, "wait4") X(FLOCK, "flock")       \
	X(FCNTL_LOCK, "fcntl") X(SENDFILE, "sendfile") X(MSYNC, "msync") X(FTRUNCATE, "ftruncate")            \
	X(RENAME, "rename") X(UNLINK, "unlink")                                                               \
	X(MUTEX_LOCK, "pthread_mutex_lock") X(RDLOCK, "pthread_rwlock_rdlock")                                \
	X(WRLOCK, "pthread_rwlock_wrlock") X(COND_WAIT, "pthread_cond_wait")                                  \
	X(COND_TIMEDWAIT, "pthread_cond_timedwait") X(BARRIER_WAIT, "pthread_barrier_wait")                   \
	X(SEM_WAIT, "sem_wait") X(SEM_TIMEDWAIT, "sem_timedwait") X(JOIN, "pthread_join")                     \
	X(MUTEX_TIMEDLOCK, "pthread_mutex_timedlock") X(SPIN_WAIT, "spin wait")              \
	X(SPIN_LOCK, "pthread_spin_lock") X(ONCE, "pthread_once") X(FUTEX, "futex") X(MTX_LOCK, "mtx_lock")    \
	X(CND_WAIT, "cnd_wait") X(THRD_JOIN, "thrd_join") X(MSGRCV, "msgrcv") X(MSGSND, "msgsnd")             \
	X(MQ_RECEIVE, "mq_receive") X(MQ_SEND, "mq_send") X(IO_GETEVENTS, "io_getevents")                       \
	X(IO_URING_ENTER, "io_uring_enter") X(SETSOCKOPT, "setsockopt") X(SHUTDOWN, "shutdown")                 \
	X(SENDMMSG, "sendmmsg") X(RECVMMSG, "recvmmsg") X(SPLICE, "splice") X(FALLOCATE, "fallocate")          \
	X(COPY_FILE_RANGE, "copy_file_range")
/* clang-format on */
enum vp_call {
#define VP_CALL_ENUM(id, name) VP_CALL_##id,
	VP_CALLS(VP_CALL_ENUM)
#undef VP_CALL_ENUM
		VP_CALL_COUNT
};
/* For VP_WAIT_ANNOTATED, u2.w = hash of the acquire function's name (STRING). */

enum vp_stack { VP_STACK_INTERVAL = 1, VP_STACK_WAKE = 2, VP_STACK_WAIT = 3, VP_STACK_PATH = 4 };
#define VP_PATH_SHIFT 16u
#define VP_PATHS_MAX 65535u /* call paths of a thread */

/* Number of units of the record that starts with w, header unit included; 0 when the code is unknown. */
static inline uint32_t vp_record_units(uint64_t w)
{
	uint64_t payload = VP_PAYLOAD(w);

	if (VP_CODE(w) >= VP_CODE_FUNCTION)
		return 1;
	switch (VP_CODE(w)) {
	case VP_KIND_ENTER:
	case VP_KIND_EXIT:
	case VP_KIND_FALSE_WAKE:
	case VP_KIND_DROPPED:
	case VP_KIND_COUNT:
	case VP_KIND_SWITCH:
	case VP_KIND_SWITCHES_LOST:
	case VP_KIND_WINDOW:
	case VP_KIND_KERNEL_LOST:
		return 1;
	case VP_KIND_BEGIN:
	case VP_KIND_RESUME:
	case VP_KIND_SUSPEND:
	case VP_KIND_END:
	case VP_KIND_TYPE:
	case VP_KIND_WORK:
	case VP_KIND_WAKE:
	case VP_KIND_ENQUEUE:
	case VP_KIND_DEQUEUE:
	case VP_KIND_CREATE:
	case VP_KIND_START:
	case VP_KIND_SAMPLE:
	case VP_KIND_SEND:
	case VP_KIND_RECEIVE:
	case VP_KIND_READY:
	case VP_KIND_KERNEL_SWITCH:
	case VP_KIND_KERNEL_WAKING:
	case VP_KIND_KERNEL_EXIT:
	case VP_KIND_KERNEL_NET_SEND:
	case VP_KIND_KERNEL_NET_RECEIVE:
	case VP_KIND_KERNEL_INTERRUPT:
	case VP_KIND_KERNEL_CLOCK:
	case VP_KIND_KERNEL_CALL:
	case VP_KIND_KERNEL_FAULT:
	case VP_KIND_KERNEL_TIMER:
	case VP_KIND_KERNEL_WINDOW:
		return 2;
	case VP_KIND_WAIT:
	case VP_KIND_BUILD_ID:
	case VP_KIND_PLAN:
	case VP_KIND_KERNEL_FORK:
	case VP_KIND_KERNEL_EXEC:
	case VP_KIND_KERNEL_TASK:
	case VP_KIND_KERNEL_BLOCK_ISSUE:
	case VP_KIND_KERNEL_BLOCK_COMPLETE:
	case VP_KIND_KERNEL_TRANSFER:
		return 3;
	case VP_KIND_KERNEL_SOCKET:
		return 6;
	case VP_KIND_STRING:
		return payload > VP_STRING_MAX ? 0 : 1 + (uint32_t)((payload + 15) / 16);
	case VP_KIND_STACK:
		return (payload & 0xff) > VP_STACK_MAX ? 0 : 1 + (uint32_t)(((payload & 0xff) + 1) / 2);
	case VP_KIND_MODULE:
		return payload > VP_PATH_MAX ? 0 : 2 + (uint32_t)((payload + 15) / 16);
	case VP_KIND_KERNEL_STACK:
		return (payload & 0xff) > VP_KERNEL_STACK_MAX ? 0 : 1 + (uint32_t)(((payload & 0xff) + 1) / 2);
	case VP_KIND_KERNEL_SYMBOL:
		return payload > VP_STRING_MAX ? 0 : 2 + (uint32_t)((payload + 15) / 16);
	case VP_KIND_KERNEL_DEVICE:
		return 2 + (uint32_t)(((payload & 0xff) + 15) / 16);
	default:
		return 0;
	}
}

#define VP_CHUNK_MAGIC 0x4b434856u	/* "VHCK" */
#define VP_CHUNK_COMPRESSED 0x5a434856u /* "VHCZ": units compressed with zstd; in files only */

/* thread_seq of chunks in which the collector stores the context switches of one CPU, in order of time; process_seq =
 * its number + 1. */
#define VP_THREAD_PROCESSOR UINT32_MAX
/* ... and of those with its WINDOW records, in order of time; process_seq = 1. */
#define VP_THREAD_WINDOWS (UINT32_MAX - 1)
/* ... and of those with what the kernel recorded on one CPU, in order of time; tid = its number, process_seq = that
 * + 1. */
#define VP_THREAD_KERNEL (UINT32_MAX - 2)
/* ... and of those with tables for these: of the machine, with pid 0 and process_seq 1, or of a process, with its pid;
 * after an exec with another process_seq. */
#define VP_THREAD_KERNEL_TABLE (UINT32_MAX - 3)
/* ... and of those with its PLAN records, those of all processes in order of u1.t; process_seq = 1. */
#define VP_THREAD_PLANS (UINT32_MAX - 4)
/* No thread has this number or a larger one. */
#define VP_THREAD_RESERVED (UINT32_MAX - 15)

struct vp_chunk_header { /* 64 bytes */
	uint32_t magic;
	uint32_t n_bytes; /* units in use, in bytes; set when the chunk is handed over */
	uint32_t pid, tid;
	uint32_t thread_seq;	/* unique thread number in the session, from 1; tids are reused, this is not */
	uint32_t chunk_seq;	/* 0, 1, 2 ... within the thread */
	uint32_t process_seq;	/* unique process number in the session, from 1 */
	uint32_t parent_seq;	/* process_seq of the forking process, 0 for none known */
	uint64_t pid_namespace; /* inode of the namespace that pid and tid are numbers in, 0: unknown */
	/* of a compressed chunk: bytes of the zstd frame that follows, then zeros up to a multiple of 16 */
	uint32_t n_stored;
	uint32_t reserved_too;
	uint64_t reserved[2];
};

/* runs/NNNN/trace/records.vpt: this header, then chunks (struct vp_chunk_header + n_bytes of units) back to
 * back. A file cut anywhere is readable up to the cut. */
#define VP_FILE_MAGIC UINT64_C(0x3154464f52505600) /* "\0VPROFT1" */

enum vp_clock { VP_CLOCK_TSC = 1, VP_CLOCK_CNTVCT = 2, VP_CLOCK_MONOTONIC = 3 };

struct vp_file_header { /* 4096 bytes */
	uint64_t magic;
	uint32_t version;
	uint32_t clock; /* enum vp_clock */
	double ns_per_tick;
	uint64_t start_ticks, start_ns; /* ticks and CLOCK_MONOTONIC taken together */
	uint64_t start_realtime_ns;	/* CLOCK_REALTIME at the same moment */
	uint64_t end_ticks, end_ns;	/* 0 when the collector did not finish */
	uint64_t n_dropped;		/* records dropped for want of a free chunk */
	uint64_t n_chunks;
	char host[64];
	uint64_t has_switches;	  /* 1: context switches of all threads of the run are recorded */
	uint64_t n_switches_lost; /* those that the kernel or the disk had no room for */
	char no_switches[240];	  /* why they are not recorded, and what to do; "" when they are */
	double record_ns;	  /* what recording a call takes on this machine, measured; 0: not measured */
	double record_inside_ns;  /* the part of it that lies within the call's own duration */
	uint32_t kernel_scope;	  /* enum vp_kernel_scope */
	uint32_t kernel_kinds;	  /* VP_KERNEL_*: what was recorded */
	uint64_t n_kernel_events; /* the kernel's events that are in this file, and those that are not: */
	uint64_t n_kernel_lost;
	double kernel_error_ns;	  /* largest error of their times against the run's clock */
	char no_kernel[240];	  /* which of them could not be recorded, and what to do; "" when all were */
	uint64_t n_kernel_unseen; /* switches, of all threads, that the kernel did not tell the recorder, at least */
	uint8_t reserved[4096 - 8 - 8 - 8 - 24 - 16 - 16 - 64 - 256 - 16 - 32 - 240 - 8];
};

enum vp_kernel_scope {
	VP_KERNEL_NOT = 0,  /* none of the kernel's events are recorded */
	VP_KERNEL_TREE = 1, /* those of some processes and their descendants, and of whatever woke their threads */
	VP_KERNEL_ALL = 2,  /* those of all threads of the machine */
};

#define VP_KERNEL_SCHEDULING 1u	 /* SWITCH, all WAKING; FORK, EXEC, EXIT, TASK are without it, too */
#define VP_KERNEL_CONTEXT 2u	 /* interrupts that wake are known by kind and source */
#define VP_KERNEL_BLOCK 4u	 /* BLOCK_ISSUE, BLOCK_COMPLETE, of all disks and threads */
#define VP_KERNEL_NET 8u	 /* NET_SEND, NET_RECEIVE, of all interfaces but loopback, and of all threads */
#define VP_KERNEL_STACKS 16u	 /* stacks of switches to blocked and of wakings */
#define VP_KERNEL_INTERRUPTS 32u /* INTERRUPT */
#define VP_KERNEL_CALLS 64u	 /* CALL; these three with STACKS only */
#define VP_KERNEL_FAULTS 128u	 /* FAULT */
#define VP_KERNEL_TIMER 256u	 /* TIMER */
#define VP_KERNEL_WINDOWS 512u	 /* WINDOW: these four are recorded in windows; between them STACKS are few */
#define VP_KERNEL_SOCKETS 65536u /* SOCKET, TRANSFER */

#endif
