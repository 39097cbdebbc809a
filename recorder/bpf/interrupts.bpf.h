/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a CPU is doing when a thread is woken: is it the thread that runs there, or which interrupt?
 *
 * The kernel's own count of what it is nested in is out of reach: its address is known only to kernels that were built
 * with KALLSYMS_ALL. There are two ways to know nevertheless. Followed: programs at the entry and exit of interrupts
 * and at packets keep what each CPU is busy with. Looked up: where those of soft interrupts and packets are detached
 * (the recorder decides that, recorder/soft_interrupts.h), a wake-up that the thread on the CPU does not make itself
 * has the kernel's stack walked, which tells the soft interrupt by its function. The former costs each packet, the
 * latter such a wake-up.
 *
 * Only for record.bpf.c.
 */
#ifndef VPROF_INTERRUPTS_BPF_H
#define VPROF_INTERRUPTS_BPF_H

/* What a CPU's interrupts are busy with. */
struct cpu_state {
	__u64 irq_ns, softirq_ns; /* when they began */
	__u32 irq;		  /* number + 1, 0: none */
	__u32 softirq;		  /* enum vp_context, TASK: none; told by a program of `round` */
	__u32 round;
	__u32 n_vectors; /* other hard interrupts: the timer's, calls by other CPUs */
	__u32 in_timer;
	__u32 device, is_device_of_irq; /* whose request was completed last, in this interrupt */
	__u32 interface, is_loopback;	/* that the last packet came in by, in this interrupt; 0: none */
	__u64 running;			/* the task_struct that this CPU switched to last; 0: not known yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpus SEC(".maps");

struct vp_ring_softirqs softirqs; /* written by the recorder at its start, are_known when it clears following */
__u32 following = 1;		  /* since when soft interrupts and packets are followed: a number; 0: they are not */
__u64 n_unclear;		  /* looked up in vain: packets should be followed */

/* What was told before the programs were detached is over. */
static __always_inline __u32 softirq_of(const struct cpu_state *cpu)
{
	return cpu->round == *(volatile __u32 *)&following ? cpu->softirq : VP_CONTEXT_TASK;
}

static __always_inline __u8 context_of(const struct cpu_state *cpu)
{
	__u32 softirq;

	if (!cpu)
		return VP_CONTEXT_TASK;
	softirq = softirq_of(cpu);
	if (cpu->irq || cpu->n_vectors || (cpu->in_timer && softirq != VP_CONTEXT_HRTIMER))
		return VP_CONTEXT_HARDIRQ;
	return softirq;
}

static __always_inline struct cpu_state *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/* No interrupt is under way where a CPU switches: if the end of one was not told, that is made good here. */
static __always_inline void end_interrupts(struct cpu_state *cpu)
{
	cpu->irq = cpu->is_device_of_irq = 0;
	cpu->softirq = VP_CONTEXT_TASK;
	cpu->n_vectors = cpu->in_timer = 0;
}

static __always_inline __u8 source_of(__u8 context, const struct cpu_state *cpu, __u32 *id)
{
	*id = 0;
	if (!cpu || context == VP_CONTEXT_TASK)
		return VP_SOURCE_NONE;
	if (context == VP_CONTEXT_HARDIRQ) {
		if (cpu->in_timer)
			return VP_SOURCE_TIMER;
		if (cpu->irq && cpu->is_device_of_irq) {
			*id = cpu->device;
			return VP_SOURCE_BLOCK;
		}
		*id = cpu->irq - 1;
		if (cpu->irq)
			return VP_SOURCE_IRQ;
		*id = 0;
		return VP_SOURCE_NONE;
	}
	if (context == VP_CONTEXT_TIMER || context == VP_CONTEXT_HRTIMER)
		return VP_SOURCE_TIMER;
	if (context == VP_CONTEXT_BLOCK && cpu->device) {
		*id = cpu->device;
		return VP_SOURCE_BLOCK;
	}
	if (context == VP_CONTEXT_NET_RX && cpu->interface) {
		*id = cpu->interface;
		return VP_SOURCE_NET;
	}
	return VP_SOURCE_NONE;
}

struct woken_by {
	__u8 context, source; /* enum vp_context, enum vp_source */
	__u32 id;	      /* of the source */
	int is_thread;	      /* by the thread that runs here, be it through a packet on loopback */
};

static __always_inline int is_in_other_network(struct task_struct *task)
{
	return task->nsproxy->net_ns->ns.inum != *(volatile __u32 *)&softirqs.network;
}

#ifdef __TARGET_ARCH_x86
/* Does this tracepoint's caller run on the stack of the thread that runs here? Its arguments are on the caller's, below
 * the registers that the thread entered the kernel with. */
static __always_inline int is_on_stack_of(void *arguments, struct task_struct *current)
{
	__u64 low = (__u64)current->stack, high = (__u64)registers_of(current);
	int is_there = 1;

	asm volatile("if %[at] < %[low] goto +1\n"
		     "if %[at] < %[high] goto +1\n"
		     "%[is_there] = 0"
		     : [is_there] "+r"(is_there)
		     : [at] "r"(arguments), [low] "r"(low), [high] "r"(high));
	return is_there;
}

#define KSOFTIRQ 0x71726974666f736bull /* the name's first 8 bytes */
#define FRAMES_MAX 64 /* from a wake-up to the soft interrupt's begin: about 30, with bridges and filters more */

static __always_inline int is_within(__u64 address, const volatile struct vp_ring_range *range)
{
	return address - range->begin < range->end - range->begin;
}

/* The way from a soft interrupt to a wake-up, as it was walked once: which words of the stack, counted from the
 * tracepoint's arguments, hold the return addresses. A wake-up that has the same words in these places came the same
 * way: walking would take the same steps. */
#define PATH_FRAMES_MAX 48
#define PATHS 8
#define BACKLOG 256 /* besides the context: packets of no device, */
#define CUT 512	    /* or the stack reaches farther than was walked, or was not walked at all */
#define WORDS_MAX 512
#define PIECE 8 /* words */

struct known_path {
	__u32 n, n_words; /* return addresses; words up to the outermost of them */
	__u8 context;
	__u8 is_backlog;
	__u16 at[PATH_FRAMES_MAX];
	__u64 addresses[PATH_FRAMES_MAX];
};

struct look_up_state {
	__u64 frames[FRAMES_MAX], words[WORDS_MAX];
	__u32 n_found, last_path, next;
	__u32 n_frames, first, last, is_backlog, context; /* as walked */
	struct known_path paths[PATHS];
};

struct { /* of each CPU: a program does not interrupt itself there */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct look_up_state);
} look_ups SEC(".maps");

__u64 n_walked;		     /* stacks */
__u64 n_looked_up[CPUS_MAX]; /* wake-ups */

static __always_inline int read_words(struct look_up_state *s, const void *from, __u32 n)
{
	asm volatile("" : "+r"(n));
	return n <= WORDS_MAX && !bpf_probe_read_kernel(s->words, n * 8, from);
}

struct location {
	struct look_up_state *s;
	struct known_path *path;
	int differs;
};

static long compare_word(__u32 i, struct location *l)
{
	__u32 at;

	if (i >= PATH_FRAMES_MAX)
		return 1;
	at = l->path->at[i];
	l->differs = at >= WORDS_MAX || l->s->words[at] != l->path->addresses[i];
	return l->differs;
}

static __always_inline int is_on_path(struct look_up_state *s, struct known_path *path)
{
	struct location l = { s, path, 0 };

	bpf_loop(path->n, compare_word, &l, 0);
	return !l.differs;
}

/* NULL: it is none of those known. */
static __always_inline struct known_path *find_path(struct look_up_state *s, const void *from)
{
	__u32 n_read = 0;

	for (int i = 0; i < PATHS; i++) {
		__u32 place = (s->last_path + i) & (PATHS - 1);
		struct known_path *path;

		asm volatile("" : "+r"(place));
		path = &s->paths[place & (PATHS - 1)];
		if (!path->n || (n_read < path->n_words && !read_words(s, from, path->n_words)))
			continue;
		n_read = n_read < path->n_words ? path->n_words : n_read;
		if (!is_on_path(s, path))
			continue;
		s->last_path = place;
		return path;
	}
	return 0;
}

static long walk_frame(__u32 i, struct location *l)
{
	struct look_up_state *s = l->s;
	__u64 frame;

	if (!i || i >= s->n_frames || i >= FRAMES_MAX)
		return i > 0;
	frame = s->frames[i];
	if (is_within(frame, &softirqs.waking))
		s->first = i;
	if (is_within(frame, &softirqs.backlog))
		s->is_backlog = 1;
	if (!is_within(frame, &softirqs.run[0]) && !is_within(frame, &softirqs.run[1]))
		return 0;
	s->last = i;
	s->context = VP_CONTEXT_SOFTIRQ;
	for (int kind = 0; kind < VP_RING_SOFTIRQS; kind++)
		if (is_within(s->frames[i - 1], &softirqs.actions[kind]))
			s->context = VP_CONTEXT_SOFTIRQ + kind;
	return 1;
}

/* Walks the kernel's stack up to the soft interrupt's begin, of which s->context is the kind; TASK: there is none.
 * Return addresses from the wake-up to there: frames[first, last]. */
static __always_inline void walk(void *ctx, struct look_up_state *s)
{
	long n = bpf_get_stack(ctx, s->frames, sizeof s->frames, 0);
	struct location l = { s, 0, 0 };

	__sync_fetch_and_add(&n_walked, 1);
	s->first = s->is_backlog = 0;
	s->context = VP_CONTEXT_TASK;
	s->n_frames = n > 0 ? n / 8 : 0;
	bpf_loop(FRAMES_MAX, walk_frame, &l, 0);
}

/* The next address that is looked for: is it this word? 1: there is none left. */
static long locate_word(__u32 i, struct location *l)
{
	struct look_up_state *s = l->s;
	struct known_path *path = l->path;
	__u32 k = s->n_found, at = s->first + k;

	if (at > s->last || at >= FRAMES_MAX || k >= PATH_FRAMES_MAX || i >= WORDS_MAX)
		return 1;
	if (s->words[i] != s->frames[at])
		return 0;
	path->at[k] = i;
	path->addresses[k] = s->words[i];
	path->n_words = i + 1;
	s->n_found = k + 1;
	return 0;
}

/* Finds where the addresses lie: the innermost first, each beyond the one before. */
static __always_inline void locate(struct look_up_state *s, struct known_path *path)
{
	struct location l = { s, path, 0 };

	s->n_found = 0;
	bpf_loop(WORDS_MAX, locate_word, &l, 0);
	path->n = s->first + s->n_found == s->last + 1 ? s->n_found : 0;
}

static __attribute__((noinline)) int learn(void *ctx, struct look_up_state *s)
{
	struct known_path *path;
	__u32 place;

	if (!s || s->context == VP_CONTEXT_TASK || !s->first || s->last <= s->first)
		return 0;
	place = s->next++;
	asm volatile("" : "+r"(place));
	path = &s->paths[place & (PATHS - 1)];
	path->n = 0;
	for (__u32 i = 0; i < WORDS_MAX / PIECE; i++) /* up to where the stack ends */
		if (bpf_probe_read_kernel(&s->words[i * PIECE], PIECE * 8, ctx + i * PIECE * 8))
			break;
	path->context = s->context;
	path->is_backlog = s->is_backlog;
	locate(s, path);
	return 0;
}

static __always_inline void count_look_up(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	asm volatile("" : "+r"(cpu));
	n_looked_up[cpu & (CPUS_MAX - 1)]++;
}

static __attribute__((noinline)) int look_up_softirq(void *ctx)
{
	__u32 zero = 0;
	struct look_up_state *s = bpf_map_lookup_elem(&look_ups, &zero);
	struct known_path *path;

	if (!s)
		return VP_CONTEXT_TASK;
	count_look_up();
	path = find_path(s, ctx);
	if (path)
		return path->context | (path->is_backlog ? BACKLOG : 0);
	walk(ctx, s);
	learn(ctx, s);
	if (s->context == VP_CONTEXT_TASK)
		return !s->n_frames || s->n_frames >= FRAMES_MAX ? CUT : VP_CONTEXT_TASK;
	return (__u8)s->context | (s->is_backlog ? BACKLOG : 0);
}

/* Does the thread that runs here make this wake-up itself? Not on the stack of interrupts, and on its own not in an
 * interrupt that came while it ran the program; ksoftirqd does nothing but what interrupts left undone. */
static __always_inline int is_by_thread(struct task_struct *current, int is_on_own_stack)
{
	__u64 comm;

	if (!is_on_own_stack)
		return 0;
	if (!(current->flags & PF_KTHREAD))
		return is_in_call(current);
	bpf_core_read(&comm, sizeof comm, &current->comm);
	return comm != KSOFTIRQ;
}

static __always_inline void look_up(void *ctx, int is_on_own_stack, struct task_struct *task,
				    const struct cpu_state *cpu, struct woken_by *by)
{
	int found = look_up_softirq(ctx), is_backlog = found & BACKLOG;

	by->context = found & 255;
	if (found & CUT)
		__sync_fetch_and_add(&n_unclear, 1);
	if (by->context == VP_CONTEXT_TASK) {
		if (!is_on_own_stack) { /* a hard interrupt that has no tracepoint */
			by->context = VP_CONTEXT_HARDIRQ;
			by->is_thread = 0;
		}
		return;
	}
	by->is_thread = 0;
	if (by->context == VP_CONTEXT_TIMER || by->context == VP_CONTEXT_HRTIMER) {
		by->source = VP_SOURCE_TIMER;
	} else if (by->context == VP_CONTEXT_BLOCK && cpu && cpu->device) { /* completed in this interrupt */
		by->source = VP_SOURCE_BLOCK;
		by->id = cpu->device;
	} else if (by->context == VP_CONTEXT_NET_RX) {
		/* Only loopback's packets come in this way while the recorder leaves packets alone. */
		if (is_backlog && !is_in_other_network(task)) {
			by->source = VP_SOURCE_NET;
			by->id = LOOPBACK;
			by->is_thread = 1;
		} else {
			__sync_fetch_and_add(&n_unclear, 1);
		}
	}
}
#endif

/* Packets of a network whose interfaces the recorder does not see wake threads: they have to be followed. */
static __always_inline void see_network(const struct woken_by *by, struct task_struct *task)
{
	if (by->context == VP_CONTEXT_NET_RX && *(volatile __u32 *)&softirqs.network &&
	    !*(volatile __u64 *)&n_unclear && is_in_other_network(task))
		__sync_fetch_and_add(&n_unclear, 1);
}

static __always_inline void find_waker(void *ctx, struct task_struct *current, struct task_struct *task,
				       const struct cpu_state *cpu, struct woken_by *by)
{
	by->context = context_of(cpu);
	by->source = source_of(by->context, cpu, &by->id);
	by->is_thread = by->context == VP_CONTEXT_TASK || (by->source == VP_SOURCE_NET && cpu && cpu->is_loopback);
	see_network(by, task);
#ifdef __TARGET_ARCH_x86
	if (by->context == VP_CONTEXT_TASK && *(volatile __u32 *)&softirqs.are_known) {
		/* An idle CPU's thread makes none, whatever stack an interrupt has there. */
		int is_on_own_stack = current->pid && is_on_stack_of(ctx, current);
		__u64 began;

		if (is_by_thread(current, is_on_own_stack))
			return;
		began = begin_cost();
		look_up(ctx, is_on_own_stack, task, cpu, by);
		end_cost(began);
	}
#endif
}

/* Of the session or of a waker's, so that what these two did not do is known. */
static __always_inline void tell_interrupt(__u64 began_ns, __u8 context, __u32 irq)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct vp_ring_event *e;

	if (!began_ns || !is_recorded(current))
		return;
	e = reserve(VP_KIND_KERNEL_INTERRUPT);
	if (!e)
		return;
	e->context = context;
	e->detail = 0;
	e->tid = current->pid;
	e->other = irq;
	e->amount = e->ns - began_ns;
	submit(e);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(enter_irq, int irq, struct irqaction *action)
{
	struct cpu_state *cpu = this_cpu();

	count_interrupt();
	if (!cpu)
		return 0;
	cpu->irq = (__u32)irq + 1;
	cpu->is_device_of_irq = 0;
	if (records_interrupts)
		cpu->irq_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(leave_irq, int irq, struct irqaction *action, int result)
{
	struct cpu_state *cpu = this_cpu();

	count_interrupt();
	if (!cpu)
		return 0;
	cpu->irq = cpu->is_device_of_irq = 0;
	if (records_interrupts)
		tell_interrupt(cpu->irq_ns, VP_CONTEXT_HARDIRQ, (__u32)irq);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(enter_softirq, unsigned int vector)
{
	struct cpu_state *cpu = this_cpu();

	count_interrupt();
	if (!cpu)
		return 0;
	cpu->softirq = vector < VP_CONTEXT_COUNT - VP_CONTEXT_SOFTIRQ ? VP_CONTEXT_SOFTIRQ + vector :
									VP_CONTEXT_SOFTIRQ;
	cpu->round = *(volatile __u32 *)&following;
	cpu->device = cpu->interface = cpu->is_loopback = 0;
	if (records_interrupts)
		cpu->softirq_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(leave_softirq, unsigned int vector)
{
	struct cpu_state *cpu = this_cpu();

	count_interrupt();
	if (!cpu)
		return 0;
	if (records_interrupts)
		tell_interrupt(cpu->softirq_ns, cpu->softirq, 0);
	cpu->softirq = VP_CONTEXT_TASK;
	return 0;
}

/* Attached to whichever of local_timer, call_function_single and irq_work (x86) or ipi (aarch64) the kernel has. */
SEC("raw_tp")
int enter_vector(void *context)
{
	struct cpu_state *cpu = this_cpu();

	count_interrupt();
	if (cpu)
		cpu->n_vectors++;
	return 0;
}

SEC("raw_tp")
int leave_vector(void *context)
{
	struct cpu_state *cpu = this_cpu();

	count_interrupt();
	if (cpu && cpu->n_vectors)
		cpu->n_vectors--;
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(enter_timer, struct hrtimer *timer)
{
	struct cpu_state *cpu = this_cpu();

	count_interrupt();
	if (cpu)
		cpu->in_timer = 1;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(leave_timer, struct hrtimer *timer)
{
	struct cpu_state *cpu = this_cpu();

	count_interrupt();
	if (cpu)
		cpu->in_timer = 0;
	return 0;
}

#endif
