/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system call in which a thread is, and when a stack of it was taken last.
 *
 * A call within which anything was recorded of its thread is recorded as it returns; so what lies within one call, and
 * what in two, is known. Its user stack is taken once: it does not change before the call returns. A call in which
 * nothing happened is recorded if the stack taken last is older than the spacing.
 *
 * Only for record.bpf.c.
 */
#ifndef VPROF_CALLS_BPF_H
#define VPROF_CALLS_BPF_H

struct call_state {
	__u64 entered_ns; /* 0: before the recording */
	__u64 user_stack; /* its hash, 0: not taken yet */
	__u64 taken_ns;	  /* when a stack of the thread was taken last, in this call or before */
	__u32 number;
	__u8 is_open, is_told;
};

struct { /* of threads of the session */
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_state);
} calls SEC(".maps");

static __always_inline int is_due(const struct call_state *call)
{
	return bpf_ktime_get_ns() - call->taken_ns >= spacing_ns;
}

/* The thread executes another program: the call returns there, if at all. */
static __always_inline void forget_call(void)
{
	struct call_state *call = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0, 0);

	if (call)
		call->is_open = call->is_told = 0;
}

#endif
