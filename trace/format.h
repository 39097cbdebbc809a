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
	/* 2 units, payload = 0: u1.t = interval id, u1.w = hash of the interval's name (see STRING). */
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
	/* 2 units: u1.t = item. */
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
	   Belongs to the thread's next record. */
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
	   not chosen, recorded from the begin of its first wait on. */
	VP_KIND_SAMPLE = 20,
	/* 1 unit: payload = code | n << 24: n more calls after the last SAMPLE of this function. */
	VP_KIND_COUNT = 21,
	/* 2 units: a call that put data into a channel, and one that took data out. t = begin of a SEND, end of a
	   RECEIVE, payload = how long the call took; u1.t = channel, u1.w = bytes, messages, or an eventfd's value.
	   Data comes out in the order in which it went in, so amounts tell which SEND a RECEIVE belongs to. */
	VP_KIND_SEND = 22,
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
};

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
	X(IO_URING_ENTER, "io_uring_enter")
/* clang-format on */
enum vp_call {
#define VP_CALL_ENUM(id, name) VP_CALL_##id,
	VP_CALLS(VP_CALL_ENUM)
#undef VP_CALL_ENUM
		VP_CALL_COUNT
};
/* For VP_WAIT_ANNOTATED, u2.w = hash of the acquire function's name (STRING). */

enum vp_stack { VP_STACK_INTERVAL = 1, VP_STACK_WAKE = 2, VP_STACK_WAIT = 3 };

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
		return 2;
	case VP_KIND_WAIT:
	case VP_KIND_BUILD_ID:
		return 3;
	case VP_KIND_STRING:
		return payload > VP_STRING_MAX ? 0 : 1 + (uint32_t)((payload + 15) / 16);
	case VP_KIND_STACK:
		return (payload & 0xff) > VP_STACK_MAX ? 0 : 1 + (uint32_t)(((payload & 0xff) + 1) / 2);
	case VP_KIND_MODULE:
		return payload > VP_PATH_MAX ? 0 : 2 + (uint32_t)((payload + 15) / 16);
	default:
		return 0;
	}
}

#define VP_CHUNK_MAGIC 0x4b434856u	/* "VHCK" */
#define VP_CHUNK_COMPRESSED 0x5a434856u /* "VHCZ": units compressed with zstd; in files only */

/* thread_seq of chunks in which the collector stores the context switches of one CPU, in order of time; process_seq =
 * its number + 1. No thread has this number. */
#define VP_THREAD_PROCESSOR UINT32_MAX
/* ... and of those with its WINDOW records, in order of time; process_seq = 1. */
#define VP_THREAD_WINDOWS (UINT32_MAX - 1)

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
	uint8_t reserved[4096 - 8 - 8 - 8 - 24 - 16 - 16 - 64 - 256 - 16];
};

#endif
