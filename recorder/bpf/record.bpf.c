/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs that run in the kernel, one for each tracepoint.
 *
 * Invariant: each event that belongs to the recording is either in a ring of its CPU or counted in n_lost of that CPU.
 *
 * What belongs to it: everything of the session's processes; and of threads elsewhere from the moment on that they
 * first woke a thread that belongs to it, so that what they waited for then is known, too. A thread elsewhere is known
 * by the address of its task_struct, which is not used again before its last switch, where it is forgotten.
 */
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "../ring_event.h"
#include "trace/format.h"

char LICENSE[] SEC("license") = "GPL";

#define CPUS_MAX 1024
#define PROCESSES_MAX 65536
#define PIDS_MAX 4194304u /* the kernel's own limit */
#define WAKERS_MAX 65536
#define REQUESTS_MAX 16384
#define STACKS_MAX 65536

#define PF_KTHREAD 0x00200000
#define IFF_LOOPBACK 8
#define LOOPBACK 1 /* the kernel gives this number to each network's first interface */

/* the kernel's task states, as sched_switch has them */
#define STATE_INTERRUPTIBLE 1
#define STATE_UNINTERRUPTIBLE 2
#define STATE_STOPPED 4
#define STATE_TRACED 8
#define STATE_DEAD (16 | 32 | 128)
#define STATE_NOLOAD 1024

const volatile int records_all, records_interrupts, records_stacks, records_calls, records_sockets;
const volatile __u64 spacing_ns;       /* of a thread's stacks that are taken at system calls, faults and by timer */
const volatile __u32 own_pid;	       /* the recorder's */
const volatile char name_followed[16]; /* "": none */

const volatile __u32 slots_shift; /* of a CPU's number of slots */

struct { /* a CPU's are side by side; the recorder sets how many there are, and reads them as memory */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct vp_ring_event);
} slots SEC(".maps");

struct vp_ring_claims claims[CPUS_MAX];
struct vp_ring_freed freed[CPUS_MAX];

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct { /* for what is rare or large */
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CPUS_MAX);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* Set when a process's last thread exits. Until the last switch of each of its threads that exited it belongs to the
 * session: any of them may still wake its parent. What the kernel keeps to itself, the recorder makes good. */
#define ENDING VP_SESSION_ENDING

struct { /* of the session: pid -> threads that exited and have not been switched out for the last time, and ENDING */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, __u32);
	__type(value, __u32);
} session SEC(".maps");

/* The same, for looking at in each event: a bit for each pid. Set after it is in the table, cleared before it is not.
 */
__u64 session_bits[PIDS_MAX / 64];

struct { /* elsewhere: task_struct -> 1 */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAKERS_MAX);
	__type(key, __u64);
	__type(value, __u32);
} wakers SEC(".maps");

struct request_state {
	__u64 number, queued_ns, issued_ns;
	__u32 tid, device;
};

struct { /* on their way through a disk: address -> state */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS_MAX);
	__type(key, __u64);
	__type(value, struct request_state);
} requests SEC(".maps");

__u64 n_requests;
__u64 n_stacks_lost;  /* for which a ring had no room; each was tried again */
__u64 n_followed;     /* by their parent or name */
__u64 n_unseen;	      /* switches of which the kernel did not tell these programs, at least; see count_unseen */
__u64 n_not_followed; /* processes and wakers for which the tables had no room */

/* The verifier must see the bound right before the use, where the compiler would drop it. */
static __always_inline __u64 *session_word(__u32 pid)
{
	__u32 word = pid / 64;

	asm volatile("" : "+r"(word));
	return &session_bits[word & (PIDS_MAX / 64 - 1)];
}

static __always_inline int in_session(__u32 pid)
{
	return records_all || (*(volatile __u64 *)session_word(pid) >> (pid & 63) & 1);
}

static __always_inline int is_waker(struct task_struct *task)
{
	__u64 key = (__u64)task;

	return bpf_map_lookup_elem(&wakers, &key) != 0;
}

static __always_inline int is_recorded(struct task_struct *task)
{
	return in_session(task->tgid) || (task->pid && is_waker(task));
}

/* This CPU's. The verifier must see the bound right before the use, where the compiler would drop it. */
static __always_inline struct vp_ring_claims *claims_of(__u32 cpu)
{
	asm volatile("" : "+r"(cpu));
	return &claims[cpu & (CPUS_MAX - 1)];
}

static __always_inline __u64 n_freed_by_recorder(__u32 cpu)
{
	asm volatile("" : "+r"(cpu));
	return *(volatile __u64 *)&freed[cpu & (CPUS_MAX - 1)].n;
}

static __always_inline void count_lost(void)
{
	__sync_fetch_and_add(&claims_of(bpf_get_smp_processor_id())->n_lost, 1);
}

#define CLAIM_TRIES 4 /* programs that interrupt this one may claim a slot each */

/* The number of a slot, from 1 on; 0: all are in use. */
static __always_inline __u64 claim_slot(struct vp_ring_claims *c, __u32 cpu)
{
	__u64 n_slots = 1ull << (slots_shift & 31);

	for (int i = 0; i < CLAIM_TRIES; i++) {
		__u64 n = *(volatile __u64 *)&c->n_claimed;

		if ((__s64)(n - c->n_freed) >= (__s64)n_slots) {
			c->n_freed = n_freed_by_recorder(cpu);
			if ((__s64)(n - c->n_freed) >= (__s64)n_slots)
				return 0;
		}
		if (__sync_val_compare_and_swap(&c->n_claimed, n, n + 1) == n)
			return n + 1;
	}
	return 0;
}

/* A slot for an event that happens now; NULL, and counted, without. */
static __always_inline struct vp_ring_event *reserve(__u16 kind)
{
	__u64 ns = bpf_ktime_get_ns();
	__u32 cpu = bpf_get_smp_processor_id();
	struct vp_ring_claims *c = claims_of(cpu);
	struct vp_ring_event *e = 0;
	__u64 number = claim_slot(c, cpu);
	__u32 slot;

	if (number) {
		slot = (cpu << (slots_shift & 31)) + ((__u32)(number - 1) & ((1u << (slots_shift & 31)) - 1));
		e = bpf_map_lookup_elem(&slots, &slot);
	}
	if (!e) {
		__sync_fetch_and_add(&c->n_lost, 1);
		return 0;
	}
	e->ns = ns;
	e->n_lost = (__u32)c->n_lost;
	e->kind = kind;
	e->next_stamp = (__u32)number;
	return e;
}

/* The recorder takes it from now on. */
static __always_inline void submit(struct vp_ring_event *e)
{
#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory"); /* this CPU's writes become visible in their order */
	*(volatile __u32 *)&e->stamp = e->next_stamp;
#else
	__sync_lock_test_and_set(&e->stamp, e->next_stamp);
#endif
}

/* The same in the other ring, until submit_rare(). */
static __always_inline void *reserve_rare(__u64 size, __u16 kind)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct vp_ring_event *e = 0;
	__u64 ns = bpf_ktime_get_ns();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	if (ring)
		e = bpf_ringbuf_reserve(ring, size, 0);
	if (!e) {
		__sync_fetch_and_add(&claims_of(cpu)->n_lost, 1);
		return 0;
	}
	e->ns = ns;
	e->n_lost = (__u32)claims_of(cpu)->n_lost;
	e->kind = kind;
	return e;
}

static __always_inline void submit_rare(void *e)
{
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP); /* the recorder looks by itself: waking it would be an event again */
}

static __always_inline struct vp_ring_event *reserve_task(struct task_struct *task, __u16 kind)
{
	struct vp_ring_event *e = reserve_rare(sizeof *e, kind);

	if (!e)
		return 0;
	e->context = 0;
	e->detail = 0;
	e->tid = task->pid;
	e->other = 0;
	e->task.pid = task->tgid;
	e->task.parent_pid = 0;
	e->task.exit_code = e->task.is_last = 0;
	bpf_core_read(e->task.comm, sizeof e->task.comm, &task->comm);
	return e;
}

static __always_inline void tell_task(struct task_struct *task, __u8 flags)
{
	struct vp_ring_event *e = reserve_task(task, VP_KIND_KERNEL_TASK);

	if (!e)
		return;
	e->detail = flags | (task->flags & PF_KTHREAD ? VP_TASK_KERNEL : 0);
	e->task.parent_pid = BPF_CORE_READ(task, real_parent, tgid);
	submit_rare(e);
}

static __always_inline void follow_process(__u32 pid)
{
	__u32 none_exited = 0;

	if (bpf_map_update_elem(&session, &pid, &none_exited, BPF_ANY)) {
		__sync_fetch_and_add(&n_not_followed, 1);
		return;
	}
	__sync_fetch_and_or(session_word(pid), 1ull << (pid & 63));
	__sync_fetch_and_add(&n_followed, 1);
}

/* This thread wakes what is recorded: it is recorded from now on. */
static __always_inline void follow_waker(struct task_struct *task)
{
	__u64 key = (__u64)task;
	__u32 one = 1;

	if (!task->pid || task->tgid == own_pid || is_recorded(task))
		return;
	if (bpf_map_update_elem(&wakers, &key, &one, BPF_NOEXIST))
		__sync_fetch_and_add(&n_not_followed, 1);
	else
		tell_task(task, 0);
}

#include "windows.bpf.h"

#include "calls.bpf.h"
#include "interrupts.bpf.h"
#include "stacks.bpf.h"

static __always_inline __u8 state_of(unsigned int state, int preempted)
{
	if (preempted)
		return VP_TASK_STATE_PREEMPTED;
	if (state & STATE_DEAD)
		return VP_TASK_STATE_DEAD;
	if (state & STATE_INTERRUPTIBLE)
		return VP_TASK_STATE_SLEEPING;
	if (state & STATE_UNINTERRUPTIBLE)
		return state & STATE_NOLOAD ? VP_TASK_STATE_IDLE : VP_TASK_STATE_DISK;
	if (state & (STATE_STOPPED | STATE_TRACED))
		return VP_TASK_STATE_STOPPED;
	return state ? VP_TASK_STATE_IDLE : VP_TASK_STATE_RUNNABLE;
}

/* Of those that exited one is less. 1: it was the last one of a process that is ending. A thread that exited before its
 * process was recorded is not among those counted. */
static __always_inline int count_dead(__u32 *process)
{
	for (int i = 0; i < CLAIM_TRIES; i++) {
		__u32 n = *(volatile __u32 *)process;

		if (!(n & ~ENDING))
			return 0;
		if (__sync_val_compare_and_swap(process, n, n - 1) == n)
			return n == (ENDING | 1);
	}
	return 0;
}

static __always_inline void forget_dead(struct task_struct *task)
{
	__u64 key = (__u64)task;
	__u32 pid = task->tgid, *process;

	bpf_map_delete_elem(&wakers, &key);
	process = bpf_map_lookup_elem(&session, &pid);
	if (process && count_dead(process)) {
		__sync_fetch_and_and(session_word(pid), ~(1ull << (pid & 63)));
		bpf_map_delete_elem(&session, &pid);
	}
}

#include "sockets.bpf.h"

/* A CPU switches from the thread that it switched to before; from another, and a switch in between was not told. Some
 * virtual machines' kernels leave out about one in a thousand, mostly where a CPU becomes busy, to their own tracer,
 * too. */
static __always_inline void count_unseen(struct cpu_state *cpu, struct task_struct *prev, struct task_struct *next)
{
	if (cpu->running && cpu->running != (__u64)prev)
		__sync_fetch_and_add(&n_unseen, 1);
	cpu->running = (__u64)next;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(record_switch, _Bool preempted, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	int of_session = in_session(prev->tgid), waker = !of_session && prev->pid && is_waker(prev);
	struct stack_hashes stacks = { 0, 0 };
	struct cpu_state *cpu = this_cpu();
	struct vp_ring_event *e;
	__u64 began;
	__u8 state;

	if (cpu) {
		end_interrupts(cpu);
		count_unseen(cpu, prev, next);
	}
	if (has_budget)
		count_busy(of_session, next->pid && in_session(next->tgid), prev_state && !preempted);
	if (!waker && !of_session && !is_recorded(next))
		return 0;
	state = state_of(prev_state, preempted);
	if (records_stacks && prev->pid && state != VP_TASK_STATE_DEAD &&
	    (state >= VP_TASK_STATE_SLEEPING || records_calls) && (waker || of_session) && may_take_stacks()) {
		began = begin_cost();
		take_stacks(ctx, prev, &stacks);
		end_cost(began);
	}
	if (state == VP_TASK_STATE_DEAD && !records_all)
		forget_dead(prev);
	if (records_sockets && !records_stacks && of_session && prev->pid)
		note_sending(prev);
	e = reserve(VP_KIND_KERNEL_SWITCH);
	if (!e)
		return 0;
	e->context = 0;
	e->detail = state;
	e->tid = prev->pid;
	e->other = next->pid;
	e->kernel_stack = stacks.kernel;
	e->user_stack = stacks.user;
	submit(e);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(record_waking, struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct stack_hashes stacks = { 0, 0 };
	struct cpu_state *cpu = this_cpu();
	struct vp_ring_event *e;
	struct woken_by by;
	__u64 began;

	if (!is_recorded(task))
		return 0;
	find_waker(ctx, current, task, cpu, &by);
	if (by.is_thread) {
		follow_waker(current);
		count_woken();
		if (records_stacks && current->pid && may_take_stacks()) {
			began = begin_cost();
			take_stacks(ctx, current, &stacks);
			end_cost(began);
		}
	}
	if (records_sockets && by.context == VP_CONTEXT_TASK) {
		by.id = futex_of(task);
		by.source = by.id ? VP_SOURCE_FUTEX : VP_SOURCE_NONE;
	}
	e = reserve(VP_KIND_KERNEL_WAKING);
	if (!e)
		return 0;
	e->context = by.context;
	e->detail = by.source;
	e->tid = task->pid;
	e->other = current->pid;
	e->kernel_stack = stacks.kernel;
	e->user_stack = stacks.user;
	e->source_id = by.id;
	submit(e);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(record_fork, struct task_struct *parent, struct task_struct *child)
{
	struct vp_ring_event *e;

	if (!in_session(parent->tgid))
		return 0;
	if (!records_all && child->tgid != parent->tgid)
		follow_process(child->tgid);
	if (records_stacks && child->tgid != parent->tgid)
		inherit_libraries(parent->tgid, child->tgid);
	e = reserve_task(child, VP_KIND_KERNEL_FORK);
	if (!e)
		return 0;
	e->other = parent->pid;
	e->task.parent_pid = parent->tgid;
	submit_rare(e);
	return 0;
}

static __always_inline int is_followed_name(struct task_struct *task)
{
	char comm[16];

	if (!name_followed[0])
		return 0;
	bpf_core_read(comm, sizeof comm, &task->comm);
	for (int i = 0; i < 16; i++) {
		if (comm[i] != name_followed[i])
			return 0;
		if (!comm[i])
			break;
	}
	return 1;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(record_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct vp_ring_event *e;

	if (!in_session(task->tgid)) {
		if (!is_followed_name(task))
			return 0;
		follow_process(task->tgid);
		tell_task(task, VP_TASK_SESSION);
	}
	if (records_stacks)
		forget_libraries(task->tgid);
	if (records_calls)
		forget_call();
	e = reserve_task(task, VP_KIND_KERNEL_EXEC);
	if (!e)
		return 0;
	e->other = old_pid;
	submit_rare(e);
	return 0;
}

static __always_inline void end_thread(__u32 pid, int is_last)
{
	__u32 *process = bpf_map_lookup_elem(&session, &pid);

	if (!process)
		return;
	__sync_fetch_and_add(process, 1);
	if (is_last) /* two that exit at once may both seem to be */
		__sync_fetch_and_or(process, ENDING);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(record_exit, struct task_struct *task)
{
	int is_last = BPF_CORE_READ(task, signal, live.counter) == 0;
	__u32 pid = task->tgid;
	struct vp_ring_event *e;

	if (!is_recorded(task))
		return 0;
	e = reserve_task(task, VP_KIND_KERNEL_EXIT);
	if (e) {
		e->task.exit_code = task->exit_code;
		e->task.is_last = is_last;
		submit_rare(e);
	}
	if (!records_all)
		end_thread(pid, is_last);
	if (is_last && records_stacks)
		forget_libraries(pid);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(record_rename, struct task_struct *task, const char *comm)
{
	struct vp_ring_event *e;
	int of_session = in_session(task->tgid);

	if (!of_session && !is_waker(task))
		return 0;
	e = reserve_task(task, VP_KIND_KERNEL_TASK);
	if (!e)
		return 0;
	e->detail = VP_TASK_RENAMED | (of_session ? VP_TASK_SESSION : 0) |
		    (task->flags & PF_KTHREAD ? VP_TASK_KERNEL : 0);
	e->task.parent_pid = BPF_CORE_READ(task, real_parent, tgid);
	bpf_probe_read_kernel_str(e->task.comm, sizeof e->task.comm, comm);
	submit_rare(e);
	return 0;
}

static __always_inline __u32 device_of(struct request *rq)
{
	struct gendisk *disk = BPF_CORE_READ(rq, q, disk);

	return disk ? (__u32)BPF_CORE_READ(disk, major) << 20 | (__u32)BPF_CORE_READ(disk, first_minor) : 0;
}

/* The bits of a request's flags are the same in all kernels since 4.10 up to READ_AHEAD's neighbours, which are not
 * used. */
static __always_inline __u8 flags_of(struct request *rq)
{
	__u32 flags = rq->cmd_flags;

	return (flags & 0xff & VP_BLOCK_OPERATION) | (flags & 1 << 11 ? VP_BLOCK_SYNC : 0) |
	       (flags & 1 << 12 ? VP_BLOCK_META : 0) | (flags & 1 << 17 ? VP_BLOCK_FUA : 0) |
	       (flags & 1 << 19 ? VP_BLOCK_READ_AHEAD : 0);
}

static __always_inline void tell_block(struct request *rq, __u16 kind, __u32 device, __u32 tid, __u64 number,
				       __u64 before_ns, __u32 bytes, __u32 error)
{
	struct vp_ring_event *e = reserve(kind);

	if (!e)
		return;
	e->context = 0;
	e->detail = flags_of(rq);
	e->tid = tid;
	e->other = device;
	e->block.sector = rq->__sector;
	e->block.request = number;
	e->block.before_ns = before_ns;
	e->block.bytes = bytes;
	e->block.error = error;
	submit(e);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(queue_request, struct request *rq)
{
	struct request_state state = { .queued_ns = bpf_ktime_get_ns(), .device = device_of(rq) };
	__u64 key = (__u64)rq;

	state.number = __sync_fetch_and_add(&n_requests, 1) + 1;
	state.tid = ((struct task_struct *)bpf_get_current_task_btf())->pid;
	if (state.device)
		bpf_map_update_elem(&requests, &key, &state, BPF_ANY);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(record_issue, struct request *rq)
{
	struct request_state state = { .issued_ns = bpf_ktime_get_ns() }, *before;
	__u64 key = (__u64)rq;

	before = bpf_map_lookup_elem(&requests, &key);
	if (before) {
		state.number = before->number;
		state.queued_ns = before->queued_ns;
		state.tid = before->tid;
		state.device = before->device;
	} else {
		state.number = __sync_fetch_and_add(&n_requests, 1) + 1;
		state.tid = ((struct task_struct *)bpf_get_current_task_btf())->pid;
		state.device = device_of(rq);
	}
	if (!state.device)
		return 0;
	bpf_map_update_elem(&requests, &key, &state, BPF_ANY);
	tell_block(rq, VP_KIND_KERNEL_BLOCK_ISSUE, state.device, state.tid, state.number, state.queued_ns,
		   rq->__data_len, 0);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(record_complete, struct request *rq, int error, unsigned int n_bytes)
{
	struct request_state *before;
	struct cpu_state *cpu = this_cpu();
	__u64 key = (__u64)rq, issued_ns = 0, number = 0;
	__u32 device, is_whole = n_bytes >= rq->__data_len;

	before = bpf_map_lookup_elem(&requests, &key);
	device = before ? before->device : device_of(rq);
	if (!device)
		return 0;
	if (cpu) {
		cpu->device = device;
		cpu->is_device_of_irq = 1;
	}
	if (before) {
		issued_ns = before->issued_ns;
		number = before->number;
	}
	tell_block(rq, VP_KIND_KERNEL_BLOCK_COMPLETE, device, 0, number, issued_ns, n_bytes, error ? 5 /* EIO */ : 0);
	if (is_whole)
		bpf_map_delete_elem(&requests, &key);
	return 0;
}

static __always_inline void tell_packet(__u16 kind, __u32 interface, __u32 n_bytes)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct vp_ring_event *e = reserve(kind);

	if (!e)
		return;
	e->context = context_of(this_cpu());
	e->detail = 0;
	e->tid = current->pid;
	e->other = interface;
	e->amount = n_bytes;
	submit(e);
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(record_receive, struct sk_buff *skb)
{
	struct cpu_state *cpu = this_cpu();
	__u32 interface = skb->dev->ifindex, is_loopback = !!(skb->dev->flags & IFF_LOOPBACK);

	count_interrupt();
	if (cpu) {
		cpu->interface = interface;
		cpu->is_loopback = is_loopback;
	}
	if (!is_loopback)
		tell_packet(VP_KIND_KERNEL_NET_RECEIVE, interface, skb->len);
	return 0;
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(record_send, struct sk_buff *skb, int result, struct net_device *dev, unsigned int n_bytes)
{
	count_sent();
	/* Where they are not followed, it is not known either in whose name a packet is sent. */
	if (!result && *(volatile __u32 *)&following && !(dev->flags & IFF_LOOPBACK))
		tell_packet(VP_KIND_KERNEL_NET_SEND, dev->ifindex, n_bytes);
	return 0;
}

#include "samples.bpf.h"
