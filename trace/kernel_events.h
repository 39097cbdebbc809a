/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's events of a trace as structs, and all CPUs' merged in order of time.
 *
 *   vprof_kernel_stream_open(&stream, trace, &err);
 *   while (vprof_kernel_stream_next(stream, &event)) ...
 *   vprof_kernel_stream_close(stream);
 *
 * Input is treated as hostile: every value is in the range of its type, but nothing ties one event to another. A thread
 * may be switched out that was never switched in, wake itself, or have no TASK; ids of stacks may be unknown.
 * What a thread did before its first event is not known. After an EXIT a thread does not run; its last switch is
 * usually recorded but may be missing.
 */
#ifndef VPROF_KERNEL_EVENTS_H
#define VPROF_KERNEL_EVENTS_H

#include "trace/reader.h"

/* of the longest event that is recorded on a CPU */
#define VP_KERNEL_UNITS_MAX 6u

struct vprof_kernel_event {
	enum vp_kind kind; /* one of the kinds below: tells which member below is set */
	uint32_t cpu;
	uint64_t t; /* ticks */
	union {
		struct { /* SWITCH */
			uint32_t prev_tid, next_tid;
			enum vp_task_state state;	   /* of prev */
			uint32_t kernel_stack, user_stack; /* of prev; 0: not recorded */
		} sched;
		struct { /* WAKING */
			uint32_t wakee_tid, current_tid;
			enum vp_context context;
			enum vp_source source;
			uint32_t source_id;
			uint32_t kernel_stack, user_stack; /* of current */
		} waking;
		struct { /* FORK, EXEC, EXIT, TASK; what a kind does not have is 0 */
			uint32_t tid, pid;
			uint32_t by_tid; /* FORK: the maker; EXEC: the tid before */
			uint32_t parent_pid;
			uint32_t flags;	    /* TASK: VP_TASK_* */
			uint32_t exit_code; /* EXIT, as of waitpid */
			int is_last;	    /* EXIT: of its process */
			char comm[VP_COMM_BYTES + 1];
		} task;
		struct {			/* BLOCK_ISSUE, BLOCK_COMPLETE */
			uint32_t device, flags; /* VP_BLOCK_* */
			uint64_t sector, request;
			uint32_t bytes;
			uint32_t tid;	 /* ISSUE */
			uint32_t error;	 /* COMPLETE: errno */
			uint64_t before; /* ISSUE: when it was queued, COMPLETE: when it was issued; 0: not known */
		} block;
		struct { /* NET_SEND, NET_RECEIVE */
			uint32_t interface, bytes, current_tid;
			enum vp_context context;
		} net;
		struct { /* CALL */
			uint32_t tid, number;
			uint64_t entered; /* 0: before the recording */
			uint32_t user_stack;
			uint32_t n_skipped; /* calls of the thread since its last CALL that were not recorded */
		} call;
		struct { /* FAULT, TIMER; what a kind does not have is 0 */
			uint32_t tid;
			uint32_t kernel_stack, user_stack;
			uint32_t error;	  /* FAULT: of the processor */
			uint64_t address; /* FAULT */
		} sample;
		struct { /* INTERRUPT */
			enum vp_context context;
			uint32_t irq, current_tid;
			uint64_t ticks; /* how long it took */
		} interrupt;
		struct {		/* SOCKET */
			uint32_t flags; /* VP_SOCKET_* */
			uint16_t local_port, remote_port;
			uint64_t cookie, peer, network;
			uint64_t connected, established; /* ticks; 0: before the recording */
			union {
				struct {
					uint8_t local[16], remote[16];
				};
				char path[VP_SOCKET_PATH_BYTES + 1];
			};
			uint32_t tid; /* with VP_SOCKET_CLOSED: of the thread that closed it; 0: not known */
		} socket;
		struct {		     /* TRANSFER */
			uint32_t tid, flags; /* VP_TRANSFER_* */
			uint32_t bytes, waited_ns;
			uint64_t cookie, position, from; /* ticks */
		} transfer;
		uint64_t n_lost; /* LOST */
	};
};

/* Is a record of a CPU an event? */
int vprof_kernel_event_is(const struct vp_unit *record, uint32_t n_units);

/* The event of a record of a CPU; 0: it is none. */
int vprof_kernel_event_decode(const struct vp_unit *record, uint32_t n_units, uint32_t cpu,
			      struct vprof_kernel_event *e);

/* The record of an event; how many units it has. Values beyond their field's range are cut to it. */
uint32_t vprof_kernel_event_encode(const struct vprof_kernel_event *e, struct vp_unit record[VP_KERNEL_UNITS_MAX]);

struct vprof_kernel_stream;

/* The events of all CPUs, by time, then by CPU. NOMEM. The trace must outlive it; one thread at a time. */
int vprof_kernel_stream_open(struct vprof_kernel_stream **out, const struct vprof_trace *trace,
			     struct vprof_error *err);
int vprof_kernel_stream_next(struct vprof_kernel_stream *s, struct vprof_kernel_event *e); /* 0 at the end */
void vprof_kernel_stream_close(struct vprof_kernel_stream *s);				   /* NULL is fine */

#endif
