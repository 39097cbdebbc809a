/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks: each is known by a hash, and goes into the ring once.
 *
 * A kernel stack is the list of its return addresses. Of a user stack the memory is copied, to be unwound by the
 * recorder, since programs are compiled without frame pointers. Its hash is of those words only that may be return
 * addresses, and of its depth, so neither the values of local variables nor where a thread's stack lies make another
 * stack of it.
 *
 * When the recorder has unwound a stack it tells where its return addresses lie (`frames`). A stack of the same place
 * in the code, and as deep, that has the same words there is the same stack, whatever else is in its memory: unwinding
 * would take the same steps. Where they differ it is another, and these words lead to where its own return addresses
 * are told. So a stack that is known costs a few reads, and stacks are told apart however far out they differ.
 *
 * Only for record.bpf.c. Each CPU has a buffer for each of the programs that may interrupt one another: one for a
 * thread that enters the kernel, one in a soft interrupt that wakes a thread, one in the timer's hard interrupt.
 */
#ifndef VPROF_STACKS_BPF_H
#define VPROF_STACKS_BPF_H

#define HASHED_BYTES 2048 /* of a stack that cannot be unwound */
#define EXISTS (-17)
#define NEAR_STACK (8ull << 20) /* most of a stack beyond its pointer, whose addresses are no code's */
#define BELOW_STACK 65536	/* below its pointer: what values of calls that are over may point to */
#define STACK_MAX (1ull << 30)
#define END_BYTES 64 /* beyond where a stack is thought to end */
#define LIBRARIES_USUAL (16ull << 20)
#define MEMORY_PART 1024
#define HASHED_PART 256	 /* between two looks at how much there is: the kernel checks each of its turns */
#define FOUND_BYTES 2048 /* in which most return addresses lie */

#define NESTED_MAX 4

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NESTED_MAX);
	__type(key, __u32);
	__type(value, struct vp_ring_stack);
} buffers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} n_buffers_used SEC(".maps");

struct { /* hashes of stacks that went into a ring; those that were not met for long give way, and are sent again */
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, STACKS_MAX);
	__type(key, __u64);
	__type(value, __u32);
} stacks_seen SEC(".maps");

struct { /* by vp_ring_mix() */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STACKS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct vp_ring_frames);
} frames SEC(".maps");

struct { /* pid -> where its libraries begin; the recorder finds it out */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, __u32);
	__type(value, __u64);
} libraries SEC(".maps");

/* A process is forked: it has what its parent has. It executes another program, or ends: it has not any more. */
static __always_inline void inherit_libraries(__u32 parent, __u32 pid)
{
	__u64 *begin = bpf_map_lookup_elem(&libraries, &parent);

	if (begin)
		bpf_map_update_elem(&libraries, &pid, begin, BPF_ANY);
}

static __always_inline void forget_libraries(__u32 pid)
{
	bpf_map_delete_elem(&libraries, &pid);
}

struct stack_hashes {
	__u64 kernel, user;
};

/* Sends the buffer's first bytes, unless a stack of this hash was sent before. Returns the hash; 0: no more stacks can
 * be told apart. */
static __always_inline __u64 send_stack(struct vp_ring_stack *b, struct task_struct *task, __u64 hash, __u32 n_bytes)
{
	__u32 cpu = bpf_get_smp_processor_id(), one = 1;
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	long failed = bpf_map_update_elem(&stacks_seen, &hash, &one, BPF_NOEXIST);
	__u64 size;

	if (failed)
		return failed == EXISTS ? hash : 0;
	b->head.ns = bpf_ktime_get_ns();
	b->head.n_lost = 0;
	b->head.kind = VP_KIND_KERNEL_STACK;
	b->head.tid = task->pid;
	b->head.other = task->tgid;
	b->head.kernel_stack = hash;
	b->n_bytes = n_bytes;
	size = n_bytes;
	asm volatile("" : "+r"(size));
	if (size > VP_RING_STACK_BYTES)
		return 0;
	size += __builtin_offsetof(struct vp_ring_stack, bytes);
	if (ring && !bpf_ringbuf_output(ring, b, size, BPF_RB_NO_WAKEUP))
		return hash;
	__sync_fetch_and_add(&n_stacks_lost, 1);
	bpf_map_delete_elem(&stacks_seen, &hash); /* another time */
	return hash;
}

/* Of a kernel stack's return addresses; not 0. A global function: the kernel checks it once, and not anew wherever it
 * is called. */
__noinline __u64 hash_frames(const struct vp_ring_stack *b, __u32 n)
{
	__u64 hash = 1;

	if (!b)
		return 1;
	for (__u32 i = 0; i < VP_KERNEL_STACK_MAX; i++) {
		if (i >= n)
			break;
		hash = vp_ring_mix(hash, ((const __u64 *)b->bytes)[i]);
	}
	return hash | 1;
}

static __always_inline __u64 take_kernel_stack(void *ctx, struct vp_ring_stack *b, struct task_struct *task)
{
	long n = bpf_get_stack(ctx, b->bytes, VP_KERNEL_STACK_MAX * 8, 0);
	__u64 hash;

	if (n <= 0 || n > VP_KERNEL_STACK_MAX * 8)
		return 0;
	hash = hash_frames(b, (__u32)n / 8);
	b->is_user = 0;
	return send_stack(b, task, hash, (__u32)n);
}

#ifdef __TARGET_ARCH_x86
struct code_bounds {
	__u64 code, code_end, libraries, libraries_end, sp;
	__u64 n_stack; /* bytes from sp on that are the stack's: code may lie right behind the page after them */
};

static __always_inline int may_be_code(const struct code_bounds *c, __u64 word)
{
	if (word >= c->code && word < c->code_end)
		return 1;
	return word >= c->libraries && word < c->libraries_end && word - c->sp + BELOW_STACK > c->n_stack + BELOW_STACK;
}

/* Parts, since memory behind the stack's end cannot be read: returns how much there is. */
static __always_inline __u32 copy_memory(struct vp_ring_stack *b, __u64 sp, __u32 from, __u32 to)
{
	__u32 n = from;

	for (int i = 0; i < VP_RING_STACK_BYTES / MEMORY_PART; i++) {
		if (n >= to || n > VP_RING_STACK_BYTES - MEMORY_PART ||
		    bpf_probe_read_user(b->bytes + n, MEMORY_PART, (const void *)(sp + n)))
			break;
		n += MEMORY_PART;
	}
	return n;
}

/* The rest up to the page's end, where the next one cannot be read. */
static __always_inline __u32 copy_rest(struct vp_ring_stack *b, __u64 sp, __u32 n)
{
	__u32 rest = (4096 - ((sp + n) & 4095)) & 4095;

	if (n > VP_RING_STACK_BYTES - MEMORY_PART || !rest || rest >= MEMORY_PART)
		return n;
	rest &= MEMORY_PART - 1;
	return bpf_probe_read_user(b->bytes + n, rest, (const void *)(sp + n)) ? n : n + rest;
}

struct copying {
	struct vp_ring_stack *buffer;
	__u64 sp, depth;
	__u32 n;
};

static long copy_part(__u32 part, struct copying *c)
{
	__u32 skew = c->sp & (MEMORY_PART - 1), at = part ? part * MEMORY_PART - skew : 0,
	      size = part ? MEMORY_PART : MEMORY_PART - skew;

	if (at > VP_RING_STACK_BYTES - MEMORY_PART || at >= c->depth)
		return 1;
	if (!bpf_probe_read_user(c->buffer->bytes + at, size, (const void *)(c->sp + at)))
		c->n = at + size;
	return 0;
}

/* All that can be had of a stack: pages that were never touched, within a large buffer, cannot be read, and are zeros.
 * By bpf_loop, whose body the kernel checks once: of a loop it checked each turn for each outcome of those before,
 * which took longer than all the rest. */
static __always_inline __u32 copy_deep(struct vp_ring_stack *b, __u64 sp, __u64 depth)
{
	struct copying c = { b, sp, depth, 0 };

	bpf_loop(VP_RING_STACK_BYTES / MEMORY_PART, copy_part, &c, 0);
	return c.n;
}

/* How much of its stack a thread has used, the same for all threads of a pool at the same place: glibc's thread pointer
 * lies at the stack's end, but for the first thread. */
static __always_inline __u64 depth_of(struct task_struct *task, struct mm_struct *mm, __u64 sp)
{
	__u64 end = task->thread.fsbase;

	return end - sp < STACK_MAX ? end - sp : mm->start_stack - sp;
}

/* Until the recorder has said, somewhere before the place from which they are mapped downwards. */
static __always_inline __u64 libraries_of(__u32 pid, struct mm_struct *mm)
{
	__u64 *begin = bpf_map_lookup_elem(&libraries, &pid);

	return begin ? *begin : mm->mmap_base - LIBRARIES_USUAL;
}

struct finding {
	struct vp_ring_stack *buffer;
	__u64 sp, node;
	__u64 stack;	/* the hash of one that was unwound before; 0: it is none, and node is what is missing for it */
	__u32 n_copied; /* into the buffer */
	__u32 is_deep;	/* it takes more memory than usual */
};

/* The next node, by the words where return addresses are told: of what was copied, or each one read. Global functions:
 * the kernel checks them once, and not anew wherever they are called. */
__noinline __u64 mix_copied(const struct vp_ring_frames *f, const struct vp_ring_stack *b, __u64 node)
{
	if (!f || !b)
		return 0;
	for (__u32 i = 0; i < VP_RING_FRAMES_MAX; i++) {
		if (i >= f->n)
			break;
		node = vp_ring_mix(node, *(const __u64 *)(b->bytes + (f->at[i] & (FOUND_BYTES - 8))));
	}
	return node;
}

__noinline __u64 mix_far(const struct vp_ring_frames *f, __u64 sp, __u64 node)
{
	if (!f)
		return 0;
	for (__u32 i = 0; i < VP_RING_FRAMES_MAX; i++) {
		__u64 word = 0;

		if (i >= f->n)
			break;
		bpf_probe_read_user(&word, sizeof word, (const void *)(sp + f->at[i]));
		node = vp_ring_mix(node, word);
	}
	return node;
}

static long find_at_level(__u32 level, struct finding *k)
{
	__u64 node = k->node, next, size;
	struct vp_ring_frames *f = bpf_map_lookup_elem(&frames, &node);

	if (!f)
		return 1;
	if (f->is_deep) {
		k->is_deep = 1;
		return 1;
	}
	if (!f->stack || level == VP_RING_FRAMES_LEVELS - 1) {
		k->node = 0; /* it cannot be unwound, or is not found */
		return 1;
	}
	/* At once what lies near: that takes less than to read each. */
	size = f->last + sizeof node;
	asm volatile("" : "+r"(size)); /* the bound right before the use, as in claims_of() */
	if (k->n_copied < size && size <= FOUND_BYTES)
		k->n_copied = bpf_probe_read_user(k->buffer->bytes, size, (const void *)k->sp) ? 0 : size;
	next = k->n_copied >= size ? mix_copied(f, k->buffer, node) : mix_far(f, k->sp, node);
	if (next == f->next)
		k->stack = f->stack;
	k->node = next;
	return k->stack != 0;
}

struct hashing {
	struct vp_ring_stack *buffer;
	const struct code_bounds *bounds;
	__u64 hash;
};

static long hash_part(__u32 part, struct hashing *h)
{
	struct code_bounds c = *h->bounds;
	struct vp_ring_stack *b = h->buffer;
	__u64 hash = h->hash, begin = part * HASHED_PART;
	__u32 n = b->n_bytes;

	asm volatile("" : "+r"(begin)); /* the bound right before the use, as in claims_of() */
	if (begin > VP_RING_STACK_BYTES - HASHED_PART)
		return 1;
	for (__u32 i = 0; i < HASHED_PART; i += 8) {
		__u64 word = *(__u64 *)(b->bytes + begin + i);

		if (begin + i >= n)
			break;
		if (may_be_code(&c, word))
			hash = vp_ring_mix(hash, word);
	}
	h->hash = hash;
	return begin + HASHED_PART >= n;
}

/* Copies what lies below, b->n_bytes if there are not more, and returns the hash of what may be return addresses in it.
 * The kernel checks such a loop in parts only, and once for all sizes if it has forgotten this one: it does of what is
 * in a map. */
static __always_inline __u64 hash_memory(struct vp_ring_stack *b, const struct code_bounds *c, __u64 hash, __u32 most,
					 __u64 depth)
{
	struct hashing h = { b, c, hash };

	b->is_deep = most > VP_RING_STACK_USUAL;
	b->n_bytes = b->is_deep ? copy_deep(b, c->sp, depth) : copy_memory(b, c->sp, 0, most);
	if (!b->is_deep && b->n_bytes < most)
		b->n_bytes = copy_rest(b, c->sp, b->n_bytes);
	if (depth + END_BYTES < b->n_bytes)
		b->n_bytes = (depth + END_BYTES) & ~7ull; /* what lies behind is none of it */
	bpf_loop(VP_RING_STACK_BYTES / HASHED_PART, hash_part, &h, 0);
	return h.hash;
}

static __always_inline __u64 take_user_stack(struct vp_ring_stack *b, struct task_struct *task)
{
	struct pt_regs *regs = registers_of(task);
	struct mm_struct *mm = task->mm;
	struct finding known = { 0 };
	struct code_bounds c;
	__u64 hash = 2, depth;
	__u32 most;

	if (!mm || !regs->ip || !regs->sp)
		return 0;
	c =
		(struct code_bounds){ mm->start_code, mm->end_code, libraries_of(task->tgid, mm),
				      mm->mmap_base,  regs->sp,	    0 };
	hash = vp_ring_mix(hash, regs->ip);
	depth = depth_of(task, mm, c.sp);
	c.n_stack = depth < NEAR_STACK ? depth + 4096 : NEAR_STACK;
	hash = vp_ring_mix(hash, depth);
	hash = vp_ring_mix(hash, task->tgid);
	known.buffer = b;
	known.sp = c.sp;
	known.node = hash;
	bpf_loop(VP_RING_FRAMES_LEVELS, find_at_level, &known, 0);
	if (known.stack)
		return known.stack;
	if (known.node)
		hash = known.node; /* another than those which have other words where return addresses lie */
	if (known.is_deep)
		hash = vp_ring_mix(hash, VP_RING_STACK_BYTES); /* another than without the rest of it */
	most = known.is_deep ? VP_RING_STACK_BYTES : VP_RING_STACK_USUAL;
	hash = hash_memory(b, &c, hash, known.node ? most : HASHED_BYTES, depth) & ~1ull;
	if (!hash || bpf_map_lookup_elem(&stacks_seen, &hash))
		return hash;
	if (b->n_bytes == HASHED_BYTES)
		b->n_bytes = copy_memory(b, c.sp, HASHED_BYTES, VP_RING_STACK_USUAL);
	if (b->n_bytes > HASHED_BYTES && b->n_bytes < VP_RING_STACK_USUAL)
		b->n_bytes = copy_rest(b, c.sp, b->n_bytes);
	b->registers[0] = regs->ip;
	b->registers[1] = regs->sp;
	b->registers[2] = regs->bp;
	b->registers[3] = regs->bx;
	b->registers[4] = regs->r12;
	b->registers[5] = regs->r13;
	b->registers[6] = regs->r14;
	b->registers[7] = regs->r15;
	b->node = known.node;
	b->is_user = 1;
	return send_stack(b, task, hash, b->n_bytes);
}
#endif

/* A buffer until end_buffer(); 0: too many are in use. */
static __always_inline struct vp_ring_stack *begin_buffer(__u32 **n_used)
{
	__u32 zero = 0, number;

	*n_used = bpf_map_lookup_elem(&n_buffers_used, &zero);
	if (!*n_used || **n_used >= NESTED_MAX)
		return 0;
	number = (**n_used)++; /* who interrupts here gives it back before */
	return bpf_map_lookup_elem(&buffers, &number);
}

static __always_inline void end_buffer(__u32 *n_used)
{
	if (n_used && *n_used)
		(*n_used)--;
}

static __always_inline __u64 take_user_stack_of(struct task_struct *task, struct vp_ring_stack *b)
{
#ifdef __TARGET_ARCH_x86
	if (b && !(task->flags & PF_KTHREAD))
		return take_user_stack(b, task);
#endif
	return 0;
}

/* A global function: the kernel checks it once, and not anew wherever it is called. */
__noinline __u64 user_stack_here(void)
{
	__u32 *n_used;
	struct vp_ring_stack *b = begin_buffer(&n_used);
	__u64 hash = take_user_stack_of(bpf_get_current_task_btf(), b);

	if (b)
		end_buffer(n_used);
	return hash;
}

static __always_inline void take_user_stack_alone(struct task_struct *task, struct stack_hashes *hashes)
{
	hashes->user = user_stack_here();
}

/* At the call's begin. */
static __always_inline void take_call_stack(struct task_struct *task, struct call_state *call)
{
	call->user_stack = user_stack_here();
	call->is_told = 1;
}

/* Of the thread that runs here. In a system call, its user stack is taken once. */
static __always_inline void take_stacks(void *ctx, struct task_struct *task, struct stack_hashes *hashes)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct call_state *call = 0;
	struct vp_ring_stack *b;
	__u32 *n_used, now = open_window();
	int is_open;

	b = begin_buffer(&n_used);
	if (!b)
		return;
	hashes->kernel = take_kernel_stack(ctx, b, task);
	end_buffer(n_used);
	if (records_calls && now)
		call = bpf_task_storage_get(&calls, current, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (call)
		begin_window(call, current, now);
	is_open = call && call->is_open && is_in_call(current);
	if (is_open && call->user_stack)
		hashes->user = call->user_stack;
	else
		hashes->user = user_stack_here();
	if (is_open) {
		call->user_stack = hashes->user;
		call->is_told = 1;
	}
}

#endif
