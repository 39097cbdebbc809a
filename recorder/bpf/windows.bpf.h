/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The windows of time in which stacks are taken, and what that costs. The recorder opens and closes them by the
 * figures that are kept here, for each CPU.
 *
 * Only for record.bpf.c.
 */
#ifndef VPROF_WINDOWS_BPF_H
#define VPROF_WINDOWS_BPF_H

const volatile int has_budget;

__u32 window; /* the number of the one that is open, 0: none is */
struct vp_ring_account accounts[CPUS_MAX];

static __always_inline __u32 open_window(void)
{
	return *(volatile __u32 *)&window;
}

/* This CPU's. The verifier must see the bound right before the use, where the compiler would drop it. */
static __always_inline struct vp_ring_account *account_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	asm volatile("" : "+r"(cpu));
	return &accounts[cpu & (CPUS_MAX - 1)];
}

#define SELDOM_NS 4000000 /* of the session's CPU time, between a CPU's stacks that are taken between two windows */

/* May stacks be taken for a switch or a wake-up here? In a window, all; else few, so that places where threads often
 * wait are known nevertheless. */
static __always_inline int may_take_stacks(void)
{
	struct vp_ring_account *a;

	if (open_window())
		return 1;
	a = account_here();
	if (a->busy_ns < a->seldom_ns)
		return 0;
	a->seldom_ns = a->busy_ns + SELDOM_NS;
	return 1;
}

static __always_inline __u64 begin_cost(void)
{
	return has_budget ? bpf_ktime_get_ns() : 0;
}

static __always_inline void end_cost(__u64 began_ns)
{
	if (has_budget)
		account_here()->spent_ns += bpf_ktime_get_ns() - began_ns;
}

static __always_inline void count_call(void)
{
	if (has_budget)
		account_here()->n_calls++;
}

#define CALLS_TIMED 16 /* a power of two */

/* Of one of both programs of a system call that was not recorded: one of some stands for all. */
static __always_inline void end_call_cost(__u64 began_ns)
{
	struct vp_ring_account *a;

	if (!has_budget)
		return;
	a = account_here();
	if (!(a->n_short++ & (CALLS_TIMED - 1)))
		a->calls_ns += (bpf_ktime_get_ns() - began_ns) * CALLS_TIMED;
}

/* An interrupt's begin or end, or a packet's, was followed while a thread of the session runs here. */
static __always_inline void count_interrupt(void)
{
	struct vp_ring_account *a;

	if (!has_budget)
		return;
	a = account_here();
	if (a->since_ns)
		a->n_interrupts++;
}

/* What threads of the session get done is counted in windows and between them: so it is known what it takes. */
static __always_inline void count_sent(void)
{
	struct vp_ring_account *a;

	if (!has_budget)
		return;
	a = account_here();
	if (a->since_ns) {
		a->n_interrupts++;
		a->n_sent++;
	}
}

static __always_inline void count_woken(void)
{
	struct vp_ring_account *a;

	if (!has_budget)
		return;
	a = account_here();
	if (a->since_ns)
		a->n_woken++;
}

/* For how long CPUs ran threads of the session. */
static __always_inline void count_busy(int is_prev, int is_next, int sleeps)
{
	struct vp_ring_account *a;
	__u64 now;

	if (!has_budget)
		return;
	a = account_here();
	now = bpf_ktime_get_ns();
	if (is_prev && a->since_ns)
		a->busy_ns += now - a->since_ns;
	if (is_prev && sleeps)
		a->n_slept++;
	a->since_ns = is_next ? now : 0;
}

/* A thread of the session runs here: since when, unless that is known. */
static __always_inline void see_busy(void)
{
	struct vp_ring_account *a;

	if (!has_budget)
		return;
	a = account_here();
	if (!a->since_ns)
		a->since_ns = bpf_ktime_get_ns();
}

#endif
