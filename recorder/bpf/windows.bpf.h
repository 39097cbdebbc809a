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

#define SELDOM_NS 2000000 /* between a CPU's stacks that are taken between two windows */

/* May stacks be taken for a switch or a wake-up here? In a window, all; else few, so that places where threads often
 * wait are known nevertheless. */
static __always_inline int may_take_stacks(void)
{
	struct vp_ring_account *a;
	__u64 now;

	if (open_window())
		return 1;
	a = account_here();
	now = bpf_ktime_get_ns();
	if (a->seldom_ns > now)
		return 0;
	a->seldom_ns = now + SELDOM_NS;
	return 1;
}

static __always_inline __u64 begin_cost(void)
{
	return has_budget ? bpf_ktime_get_ns() : 0;
}

/* more_ns: what it took besides, before and after. */
static __always_inline void end_cost(__u64 began_ns, __u64 more_ns)
{
	if (began_ns)
		account_here()->spent_ns += bpf_ktime_get_ns() - began_ns + more_ns;
}

/* For how long CPUs ran threads of the session. */
static __always_inline void count_busy(int is_prev, int is_next)
{
	struct vp_ring_account *a;
	__u64 now;

	if (!has_budget)
		return;
	a = account_here();
	now = bpf_ktime_get_ns();
	if (is_prev && a->since_ns)
		a->busy_ns += now - a->since_ns;
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
