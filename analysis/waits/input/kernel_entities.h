/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is who in the kernel's events: threads by tid, as long as each lives, and the devices and timers that wake them.
 */
#ifndef VPROF_KERNEL_ENTITIES_H
#define VPROF_KERNEL_ENTITIES_H

#include "analysis/waits/input/input.h"
#include "trace/kernel_events.h"

enum vprof_kernel_thread_state {
	VPROF_KERNEL_THREAD_UNKNOWN, /* no event yet: its first one tells what it did since `since` */
	VPROF_KERNEL_THREAD_RUNNING,
	VPROF_KERNEL_THREAD_RUNNABLE,
	VPROF_KERNEL_THREAD_BLOCKED,
	VPROF_KERNEL_THREAD_GONE
};

struct vprof_kernel_thread {
	uint32_t tid, pid;
	uint32_t entity;
	uint32_t stack;	     /* of its wait */
	uint64_t since;	     /* ns */
	uint8_t state;	     /* enum vprof_kernel_thread_state */
	uint64_t exit;	     /* ns: of its EXIT, 0: none yet; it runs on until it is switched out for good */
	uint8_t is_followed; /* its events are recorded; of others there are only a few */
	uint8_t is_early;    /* it was woken while it was running */
};

struct vprof_kernel_source { /* what woke a thread, and is none */
	uint32_t kind;	     /* enum vp_source; VP_SOURCE_COUNT + context: an interrupt of unknown source */
	uint32_t id;
	uint32_t entity;
};

#define VPROF_KERNEL_ENTITIES_RECENT 4096

struct vprof_kernel_entities {
	struct vprof_waits_input *input;
	uint64_t begin;	    /* ns: of the recording */
	int is_tree;	    /* only some processes were to be recorded, and whoever wakes their threads */
	double bytes_per_s; /* of interfaces whose speed is not known */
	struct vprof_hash_index by_tid, by_source;	 /* in threads; in sources */
	VPROF_ARRAY(struct vprof_kernel_thread) threads; /* the latest of each tid */
	VPROF_ARRAY(struct vprof_kernel_source) sources;
	/* by the last bits of a tid, who had it last: place in threads, + 1; 0: nobody */
	uint32_t recent[VPROF_KERNEL_ENTITIES_RECENT];
};

void vprof_kernel_entities_release(struct vprof_kernel_entities *all);

/* The thread of a tid, made when it is new; NULL without memory. Valid until the next one is made. */
struct vprof_kernel_thread *vprof_kernel_entities_thread(struct vprof_kernel_entities *all, uint32_t tid);

/* A new thread of a tid that was another's before, made by `creator` (an entity, or VPROF_NONE) at t. */
struct vprof_kernel_thread *vprof_kernel_entities_make(struct vprof_kernel_entities *all, uint32_t tid, uint32_t pid,
						       const char *name, uint32_t creator, uint64_t t);

/* The entity of what woke a thread; VPROF_NONE: no memory. */
uint32_t vprof_kernel_entities_waker(struct vprof_kernel_entities *all, const struct vprof_kernel_event *waking);
/* ... of a disk or an interface. */
uint32_t vprof_kernel_entities_device(struct vprof_kernel_entities *all, enum vp_source source, uint32_t id);

/* Names and speeds of devices, names of threads, from the tables of the trace. OK or NOMEM. */
int vprof_kernel_entities_read_tables(struct vprof_kernel_entities *all, const struct vprof_trace *trace);

#endif
