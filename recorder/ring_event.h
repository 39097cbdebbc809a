/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the programs in the kernel (bpf/) and the recorder share: the events on their way through the rings, and the
 * figures that both look at. It includes nothing and is compiled by both. An event means what the record of its kind
 * means (trace/format.h).
 *
 * Each CPU has two rings. What happens often goes through slots of one size, in memory that both see: a program claims
 * one, writes, and sets its stamp last. What is rare or large (threads' lives, sockets, stacks) goes through a ring of
 * the kernel's own, whose order tells which process a stack was of.
 */
#ifndef VPROF_RING_EVENT_H
#define VPROF_RING_EVENT_H

#define VP_RING_SLOT_BYTES 64

#define VP_SESSION_ENDING 0x80000000u /* of a process of the session: its last thread has exited */

/* A slot, which is a cache line. */
struct vp_ring_event {
	unsigned long long ns;	 /* CLOCK_MONOTONIC */
	unsigned int n_lost;	 /* events that this CPU's rings had no room for so far, modulo 2^32 */
	unsigned short kind;	 /* enum vp_kind */
	unsigned char context;	 /* enum vp_context */
	unsigned char detail;	 /* enum vp_task_state, enum vp_source, VP_TASK_* or VP_BLOCK_* */
	unsigned int tid;	 /* switched out, woken, new, ending, submitting, calling, transferring */
	unsigned int other;	 /* tid switched in, running, of the maker, before; device, interface, irq */
	unsigned int stamp;	 /* in a slot: of the claim, once the event is complete; of an earlier lap before */
	unsigned int next_stamp; /* for the stamp */
	union {
		struct { /* SWITCH, WAKING: hashes, 0: none */
			unsigned long long kernel_stack, user_stack;
			unsigned int source_id;
		};
		struct { /* BLOCK_ISSUE, BLOCK_COMPLETE */
			unsigned long long sector, request, before_ns;
			unsigned int bytes, error;
		} block;
		struct { /* FORK, EXEC, EXIT, TASK */
			unsigned int pid, parent_pid, exit_code, is_last;
			char comm[16];
		} task;
		struct { /* NET_SEND, NET_RECEIVE: bytes; INTERRUPT: ns */
			unsigned long long amount;
		};
		struct { /* TRANSFER; other: bytes */
			unsigned long long cookie, position, from_ns;
			unsigned long long arrived_ns; /* the last packet before a receive; 0: not known */
		} transfer;
		struct { /* CALL; other: its number | those skipped << 16 */
			unsigned long long entered_ns, user_stack;
		} call;
		struct { /* FAULT, with the error in other; TIMER */
			unsigned long long kernel_stack, user_stack, address;
		} sample;
	};
};

struct vp_ring_socket {
	struct vp_ring_event head; /* kind: SOCKET */
	unsigned long long cookie, peer, network, connect_ns, established_ns;
	union { /* addresses of TCP, path of a Unix socket */
		struct {
			unsigned char local[16], remote[16];
		};
		char path[32];
	};
	unsigned short local_port, remote_port;
};

/* Of a CPU's slots, counted from the start of the recording; only its own programs write here. Two cache lines each. */
struct vp_ring_claims {
	unsigned long long n_claimed; /* slots */
	unsigned long long n_freed;   /* of which the recorder's figure told, when the slots seemed to be used up */
	unsigned long long n_lost;    /* events that had no room, here or in the other ring */
	unsigned long long unused[13];
};

/* ... and what the recorder has taken. */
struct vp_ring_freed {
	unsigned long long n;
	unsigned long long unused[7];
};

/* Of a CPU; two cache lines each. */
struct vp_ring_account {
	unsigned long long spent_ns;  /* on stacks, and on what is recorded of system calls, faults and the timer */
	unsigned long long calls_ns;  /* on system calls that were not recorded, about */
	unsigned long long n_calls;   /* system calls that were traced and have returned */
	unsigned long long n_short;   /* times that a program ran for one that was not recorded */
	unsigned long long busy_ns;   /* it ran threads of the session, up to since_ns */
	unsigned long long since_ns;  /* it runs one of them; 0: it does not */
	unsigned long long seldom_ns; /* between windows: at which busy_ns the next stack may be taken */
	unsigned long long
		n_interrupts;	    /* programs that follow interrupts ran while it ran one of them, two for each */
	unsigned long long n_sent;  /* what threads of the session did, whether a window is open or not: packets, */
	unsigned long long n_woken; /* wake-ups, */
	unsigned long long n_slept; /* sleeps */
	unsigned long long unused[5];
};

/* The kernel's functions by which a wake-up's stack tells the soft interrupt that it lies in. */
struct vp_ring_range { /* of addresses; end 0: the kernel has no such function */
	unsigned long long begin, end;
};

#define VP_RING_SOFTIRQS 10 /* kinds, in the kernel's order */

struct vp_ring_softirqs {
	struct vp_ring_range run[2]; /* what calls the actions */
	struct vp_ring_range waking; /* has the tracepoint */
	struct vp_ring_range actions[VP_RING_SOFTIRQS];
	struct vp_ring_range
		backlog;      /* takes in packets that were not received by a device: loopback's, and virtual ones' */
	unsigned int network; /* the namespace whose interfaces the recorder looks at */
	unsigned int are_known;
};

#define VP_RING_STACK_BYTES (31 * 1024) /* of a user stack's memory, at most: what a CPU's map entry has room for */
#define VP_RING_STACK_USUAL 16384	/* ... unless it is known to be deeper */
#define VP_RING_REGISTERS 8		/* ip, sp, bp, bx, r12 to r15 */
#define VP_RING_FRAMES_MAX 127		/* return addresses of a user stack */
#define VP_RING_FRAMES_LEVELS 8

/* Where a user stack's return addresses lie: a node of the tree by which the kernel's side knows stacks again
 * (stacks.bpf.h). Its key is vp_ring_mix() of what lies above it. */
struct vp_ring_frames {
	unsigned long long stack; /* the hash that it was sent by; 0: it cannot be unwound, */
	unsigned long long next;  /* vp_ring_mix() of the key and its return addresses: the key of another stack's node
				     where these differ */
	unsigned int is_deep;	  /* ... but with more of its memory than is usual */
	unsigned short n, last;	  /* last: the highest of at[], 0 without any */
	unsigned short at[VP_RING_FRAMES_MAX]; /* [n]: bytes from the stack pointer on */
};

static inline unsigned long long vp_ring_mix(unsigned long long hash, unsigned long long word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

struct vp_ring_stack {
	struct vp_ring_event head; /* kind: VP_KIND_KERNEL_STACK; tid; other: its pid; kernel_stack: the hash */
	unsigned int is_user, n_bytes;
	unsigned int is_deep, unused;			 /* of a user stack: as much of its memory as can be had */
	unsigned long long registers[VP_RING_REGISTERS]; /* of a user stack */
	unsigned long long node;			 /* of a user stack: that is missing for it; 0: none */
	unsigned char
		bytes[VP_RING_STACK_BYTES]; /* [n_bytes]: addresses of a kernel stack, memory from sp on of a user's */
};

#endif
