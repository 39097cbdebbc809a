/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events that are recorded for their stacks alone: system calls, page faults, a timer on CPU time. Only for
 * record.bpf.c.
 */
#ifndef VPROF_SAMPLES_BPF_H
#define VPROF_SAMPLES_BPF_H

/* Of threads of the session. The recorder's own are not, with records_all either. */
static __always_inline int is_sampled(struct task_struct *task)
{
	return task->pid && task->tgid != own_pid && in_session(task->tgid);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter_call, struct pt_regs *regs, long number)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 now = open_window();
	struct call_state *call;
	__u64 began;

	if (!now || !is_sampled(current))
		return 0;
	call = bpf_task_storage_get(&calls, current, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!call)
		return 0;
	began = bpf_ktime_get_ns();
	if (call->window != now) {
		call->n_skipped = 0;
		call->seen_ns = 0;
	}
	call->window = now;
	call->entered_ns = began;
	call->user_stack = 0;
	call->number = (__u32)number;
	call->is_told = 0;
	call->is_open = 1;
	if (is_due(call, began, is_long(call->seen_ns, began))) {
		take_call_stack(current, call);
		end_cost(began);
	} else {
		end_call_cost(began);
	}
	return 0;
}

/* It returns, and is not recorded: it is counted, but for one that took long. */
static __always_inline int skip_call(struct task_struct *current, struct call_state *call, __u64 now)
{
	if (!call->is_open)
		return 1;
	if (is_long(call->entered_ns, now)) {
		is_due(call, now, 1);
		take_call_stack(current, call);
		return 0;
	}
	call->n_skipped += call->n_skipped < 0xffff;
	call->is_open = 0;
	return 1;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(record_call, struct pt_regs *regs, long result)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct call_state *call = is_sampled(current) ? bpf_task_storage_get(&calls, current, 0, 0) : 0;
	struct vp_ring_event *e;
	__u64 began;

	if (!call || call->window != open_window())
		return 0;
	count_call();
	call->seen_ns = began = bpf_ktime_get_ns();
	if (!call->is_told && skip_call(current, call, began)) {
		end_call_cost(began);
		return 0;
	}
	call->is_open = call->is_told = 0;
	e = reserve(VP_KIND_KERNEL_CALL);
	if (!e)
		return 0;
	e->context = 0;
	e->detail = 0;
	e->tid = current->pid;
	e->other = (call->number & 0xffff) | call->n_skipped << 16;
	call->n_skipped = 0;
	e->call.entered_ns = call->entered_ns;
	e->call.user_stack = call->user_stack;
	call->entered_ns = 0;
	submit(e);
	end_cost(began);
	return 0;
}

static __always_inline void tell_sample(struct task_struct *task, __u16 kind, __u32 other, __u64 address,
					const struct stack_hashes *stacks)
{
	struct vp_ring_event *e = reserve(kind);

	if (!e)
		return;
	e->context = 0;
	e->detail = 0;
	e->tid = task->pid;
	e->other = other;
	e->sample.kernel_stack = stacks->kernel;
	e->sample.user_stack = stacks->user;
	e->sample.address = address;
	submit(e);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(record_fault, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct stack_hashes stacks = { 0, 0 };
	struct call_state *call;
	__u64 began;

	if (!open_window() || !is_sampled(current))
		return 0;
	call = bpf_task_storage_get(&calls, current, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!call)
		return 0;
	began = bpf_ktime_get_ns();
	if (is_due(call, began, is_long(call->seen_ns, began))) {
		call->seen_ns = began;
		take_user_stack_alone(current, &stacks);
		if (stacks.user)
			tell_sample(current, VP_KIND_KERNEL_FAULT, (__u32)error, address, &stacks);
	}
	end_cost(began);
	return 0;
}

SEC("perf_event")
int record_timer(void *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct stack_hashes stacks = { 0, 0 };
	struct call_state *call;
	__u64 began;

	if (!is_sampled(current))
		return 0;
	see_busy();
	if (!open_window())
		return 0;
	began = bpf_ktime_get_ns();
	call = bpf_task_storage_get(&calls, current, 0, 0);
	if (call)
		call->seen_ns = began;
	take_stacks(ctx, current, &stacks);
	if (stacks.user || stacks.kernel)
		tell_sample(current, VP_KIND_KERNEL_TIMER, 0, 0, &stacks);
	end_cost(began);
	return 0;
}

#endif
