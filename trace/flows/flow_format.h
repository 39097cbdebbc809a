/* SPDX-License-Identifier: Apache-2.0 */
/* What a discovery run writes (docs/design/flows.md): which memory the critical sections of a process read and wrote,
 * and what was used after them. Written by runtime/flows, read by analysis/flows.
 *
 * A folder holds "sequence", which all processes of the run share, and a file PID.vpflow (PID-1.vpflow ... after exec)
 * for each process: one page of header, then chunks. A chunk belongs to one thread. Invariant: a chunk's first n_bytes
 * are whole entries, whatever happens to the process. An entry is one record that says how many follow it.
 *
 * Little-endian; only read on the kind of machine that wrote it. Addresses and values are those of the process.
 */
#ifndef VPROF_FLOW_FORMAT_H
#define VPROF_FLOW_FORMAT_H

#include <stdint.h>

#define VPROF_FLOW_MAGIC UINT64_C(0x31574f4c46505600) /* "\0VPFLOW1" */
#define VPROF_FLOW_VERSION 6u
#define VPROF_FLOW_SUFFIX ".vpflow"
#define VPROF_FLOW_SEQUENCE "sequence"
#define VPROF_FLOW_HEADER_BYTES 4096u
#define VPROF_FLOW_CHUNK_BYTES 65536u
#define VPROF_FLOW_ENTRY_RECORDS 1900u /* at most, so that an entry fits into a chunk */
#define VPROF_FLOW_GRANULES 256u       /* of a copy: the first 2 KiB */
#define VPROF_FLOW_SPAN 64u	       /* bytes from where a pointer leads to that count as its use */

/* Environment of the run: the folder, and how many MiB all processes may write together. */
#define VPROF_FLOW_ENV_DIR "VPROF_FLOWS_DIR"
#define VPROF_FLOW_ENV_MIB "VPROF_FLOWS_MIB"
#define VPROF_FLOW_DEFAULT_MIB 512u
/* In the folder, if there are such programs or libraries: what holds units that were compiled for discovery, but was
 * not linked again, a path in each line. A process that loads one writes its path to PID.original. */
#define VPROF_FLOW_NOT_LINKED "not_linked"
#define VPROF_FLOW_ORIGINAL ".original"

struct vprof_flow_sequence {
	uint64_t magic;
	uint64_t next;	     /* number of the next section of any process */
	uint64_t n_chunks;   /* handed out */
	uint64_t n_mappings; /* of memory that processes can share: numbers given so far */
};

struct vprof_flow_header {
	uint64_t magic;
	uint32_t version, pid;
	uint64_t n_chunks;    /* in this file */
	uint64_t n_sections;  /* critical sections in which compiled units accessed memory */
	uint64_t n_unwritten; /* of these: not written, because the run's limit was reached or the disk was full */
	uint64_t n_cut;	      /* of these: with more accesses than an entry takes */
	uint64_t n_nested;    /* accesses of signal handlers that interrupted this recording: not written */
	uint64_t n_deep;      /* locks taken beneath more than VPROF_FLOW_LOCKS others */
	uint64_t n_enough;    /* not recorded, since VPROF_FLOW_ENOUGH_SECTIONS with the same callers were; events
			       * likewise.    Of each thread up to 63 may be missing, as where the process is killed */
	uint64_t n_displaced; /* pointers taken out of a section whose use was no longer watched */
};

#define VPROF_FLOW_LOCKS 16u
#define VPROF_FLOW_ENOUGH_SECTIONS 3000u /* of one process, with the same callers of the lock function */
#define VPROF_FLOW_ENOUGH_ATOMICS 20000u /* likewise of atomic stores and loads: who waits by them tries often */
#define VPROF_FLOW_ENOUGH_EVENTS 12000u	 /* delivered to one process */

#define VPROF_FLOW_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
struct vprof_flow_chunk {
	uint32_t magic, thread;
	uint64_t n_bytes; /* of entries */
};

enum vprof_flow_kind {
	VPROF_FLOW_SECTION = 1, /* count: records that follow; a: lock, b: its number, c: thread | caller << 32, which
				   is the same for the same callers of the lock function; flags: below */
	VPROF_FLOW_FRAME,	/* a: frame address, b: return address; flags: 1: at the end, BENEATH */
	VPROF_FLOW_READ,	/* a: address, b: value, c: return address; n_bytes: 8 */
	VPROF_FLOW_WRITE,  /* the same; n_bytes: 1 .. 8; flags: below; of an event's registration, count: descriptor */
	VPROF_FLOW_COPY,   /* a: to, b: from (0: not known), c: return address; count: bytes; VALUES follow */
	VPROF_FLOW_VALUES, /* a, b, c: three granules */
	VPROF_FLOW_USE,	   /* a: section, b: begin of what is used, c: return address; flags: below */
	VPROF_FLOW_MODULE, /* count: records that follow, with the path; a: low, b: high, c: bias */
	VPROF_FLOW_PATH,   /* of a module: raw bytes from `a` on, 24 each */
	VPROF_FLOW_NESTED, /* a: a lock taken (flags 0) or released (1) beneath others, b: number; FRAMEs follow */
	VPROF_FLOW_TRANSFER, /* of a registered descriptor; count: FRAMEs that follow; a: number, b: section of the
				event in hand (0: none), c: thread << 32 | descriptor; flags: below */
	VPROF_FLOW_LINK, /* a: section of the event in hand, b: offset in what was registered, c: the pointer read there
			  */
	VPROF_FLOW_MAPPING, /* of memory that forked processes share: a: low, b: high, c: its number, which a child
			       has from its parent; flags: GONE */
	VPROF_FLOW_ENOUGH,  /* a: caller, b: number: from here on its sections are only counted; caller 0: events */
	VPROF_FLOW_GIVEN,   /* a: address, b: bytes that malloc gave: what the section read before and lies in them
				   was another object's */
};

/* Value of an event of which only the descriptor's number was registered; no address is so large. */
#define VPROF_FLOW_NUMBER (UINT64_C(1) << 63)

/* flags of a LINK: c is the handler, as this library was told */
#define VPROF_FLOW_LIBEVENT 1u
#define VPROF_FLOW_LIBEV 2u
#define VPROF_FLOW_LIBUV 3u

/* flags of a mapping */
#define VPROF_FLOW_GONE 1u /* it is unmapped */

/* flags of a transfer */
#define VPROF_FLOW_RECEIVED 1u
#define VPROF_FLOW_SENT 2u /* the number is of before the call, that of all others of after it */
#define VPROF_FLOW_CLOSED 4u

/* flags of a section */
#define VPROF_FLOW_PUBLISH 2u /* no lock: what was written before an atomic store with release order */
#define VPROF_FLOW_OBSERVE 4u /* no lock: what was read after an atomic load with acquire order */
#define VPROF_FLOW_CUT 8u     /* there were more accesses */
#define VPROF_FLOW_BLIND 32u  /* what the thread had written before was not looked at: nothing is FILLED by it */
#define VPROF_FLOW_EVENT 16u  /* PUBLISH: an event was registered; OBSERVE: it was delivered; a: not an address */
/* flags of a frame */
#define VPROF_FLOW_BENEATH 2u /* of a lock that was taken beneath the section's */
/* flags of an access */
#define VPROF_FLOW_STACK 1u  /* on the thread's own stack */
#define VPROF_FLOW_FILLED 2u /* of a write: what the value points to was written shortly before, by this thread */
#define VPROF_FLOW_ATOMIC 4u /* the atomic object itself */
/* flags of a use */
#define VPROF_FLOW_RANGE 1u   /* a copied range, not what a pointer leads to */
#define VPROF_FLOW_WRITTEN 2u /* only written: nothing was taken over */

struct vprof_flow_record {
	uint8_t kind, n_bytes;
	uint16_t flags;
	uint32_t count;
	uint64_t a, b, c;
};

/* Could this value be a pointer? */
static inline int vprof_flow_is_pointer(uint64_t value)
{
	return value >= 0x10000 && value < UINT64_C(0x800000000000);
}

#endif
