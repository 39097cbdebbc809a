/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Are soft interrupts and packets followed, or is each wake-up in one looked up (bpf/interrupts.bpf.h)?
 *
 * Followed, each packet costs up to four programs, which is most of what recording takes of a server that seldom
 * sleeps. They are needed for the packets of interfaces: those are events, and tell by which interface a wake-up came.
 * So they are followed from the begin on, left when only loopback's packets have been seen for a while, and followed
 * again as soon as the interfaces' own counts (/proc/net/dev), looked at every 50 ms, or a wake-up that cannot be
 * looked up say that there are others. The first packets after a silence have no events, therefore. A wake-up that is
 * looked up costs as much as two packets that are followed: where that would be dearer they are followed, too, and
 * leaving them is tried anew after 1 s, then after twice as long each time.
 */
#ifndef VPROF_RECORDER_SOFT_INTERRUPTS_H
#define VPROF_RECORDER_SOFT_INTERRUPTS_H

#include <stdint.h>

struct record_bpf;
struct vprof_kernel_symbols;

struct vprof_packets { /* received and sent */
	uint64_t loopback, others;
};

struct vprof_soft_interrupts {
	struct record_bpf *bpf;
	int may_leave, is_left, is_paused;
	int counts;	      /* /proc/net/dev; -1: cannot be read */
	uint32_t n_rounds;    /* in which they were followed */
	uint64_t looked_ns;   /* CLOCK_MONOTONIC */
	uint64_t others_ns;   /* when there were other packets than loopback's, or it began */
	uint64_t until_ns;    /* that following is cheaper */
	uint64_t patience_ns; /* for the next time */
	struct vprof_packets packets;
	uint64_t price; /* of those that were, in such that were found at once */
};

/* Can wake-ups be looked up on this machine? */
int vprof_soft_interrupts_can_look_up(void);

/* symbols: of the functions that a wake-up is looked up in; NULL where each packet or soft interrupt is needed, so that
 * they are never left. Not kept. */
void vprof_soft_interrupts_start(struct vprof_soft_interrupts *s, struct record_bpf *bpf,
				 const struct vprof_kernel_symbols *symbols);

void vprof_soft_interrupts_stop(struct vprof_soft_interrupts *s);

/* To be called every few milliseconds. now_ns: CLOCK_MONOTONIC. counts_sent: packets that are sent are to be counted
 * even where the others are left. */
void vprof_soft_interrupts_step(struct vprof_soft_interrupts *s, uint64_t now_ns, int counts_sent);

/* From pause to resume neither is done, and nothing is recorded of packets. now_ns: CLOCK_MONOTONIC. 0: the kernel
 * refused to follow them. */
void vprof_soft_interrupts_pause(struct vprof_soft_interrupts *s, uint64_t now_ns);
int vprof_soft_interrupts_resume(struct vprof_soft_interrupts *s, uint64_t now_ns);

/* Of the text of /proc/net/dev. */
struct vprof_packets vprof_count_packets(const char *text);

#endif
