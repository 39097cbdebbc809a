/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system call in which a thread is, and how many stacks of it may be taken.
 *
 * A call within which anything was recorded of its thread is recorded as it returns; so what lies within one call, and
 * what in two, is known. Its user stack is taken once: it does not change before the call returns. Of the calls in
 * which nothing happened, and of faults, as many are recorded as one in each spacing, saved up for a burst: so all of
 * them as long as there are few. What makes a function slow is always recorded: a call that takes as long as the
 * spacing, and one before which its thread ran for so long since it was seen last. There can be only one of each in a
 * spacing.
 *
 * Only for record.bpf.c.
 */
#ifndef VPROF_CALLS_BPF_H
#define VPROF_CALLS_BPF_H

struct call_state {
	__u64 entered_ns; /* 0: before the recording */
	__u64 user_stack; /* its hash, 0: not taken yet */
	__u64 due_ns;	  /* until when the stacks taken so far use up the spacing */
	__u64 seen_ns;	  /* when the thread was seen last: it returned from a call, or a stack was taken; 0: not yet */
	__u32 window;	  /* in which all of this was seen */
	__u32 number;
	__u32 n_skipped; /* calls that were not recorded since the last one that was */
	__u8 is_open, is_told;
};

struct { /* of threads of the session */
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_state);
} calls SEC(".maps");

#define BURST 256

static __always_inline struct pt_regs *registers_of(struct task_struct *task)
{
	return (struct pt_regs *)bpf_task_pt_regs(task);
}

/* Did the thread enter the kernel for a system call? Not known elsewhere: there are no user stacks there either. */
static __always_inline int is_in_call(struct task_struct *task)
{
#ifdef __TARGET_ARCH_x86
	return (long)registers_of(task)->orig_ax >= 0;
#else
	return 0;
#endif
}

/* What was seen of a call in another window is not known any more: the thread may be in another one. */
static __always_inline void begin_window(struct call_state *call, struct task_struct *task, __u32 now)
{
	if (call->window == now)
		return;
	call->window = now;
	call->n_skipped = 0;
	call->user_stack = 0;
	call->entered_ns = 0;
	call->seen_ns = 0;
	call->is_told = 0;
	call->is_open = is_in_call(task);
#ifdef __TARGET_ARCH_x86
	call->number = (__u32)registers_of(task)->orig_ax;
#endif
}

/* May a stack be taken now, or must it be? It is counted. */
static __always_inline int is_due(struct call_state *call, __u64 now, int must)
{
	__u64 saved = BURST * spacing_ns, due = call->due_ns;

	if (due > now && !must)
		return 0;
	if (now > saved && due < now - saved)
		due = now - saved;
	call->due_ns = due + spacing_ns;
	return 1;
}

/* Since a time until now; 0: that is not known. */
static __always_inline int is_long(__u64 since, __u64 now)
{
	return since && now - since >= spacing_ns;
}

/* The thread executes another program: the call returns there, if at all. */
static __always_inline void forget_call(void)
{
	struct call_state *call = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0, 0);

	if (call)
		call->is_open = call->is_told = 0;
}

#endif
