/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/array.h"
#include "recorder/ring_event.h"
#include "trace/kernel_events.h"

#define SLOTS_BYTES ((uint64_t)4 << 20)
#define RARE_BYTES ((uint64_t)1 << 20)
#define STACKS_RING_BYTES ((uint64_t)16 << 20) /* a new stack takes 16 KiB, and all are new at first */
#define RINGS_MAX_BYTES ((uint64_t)256 << 20)
#define RING_MIN_BYTES 65536
#define SLOTS_FEW_BYTES ((uint64_t)256 << 10) /* beside stacks, which are looked at more often */

_Static_assert(sizeof(struct vp_ring_event) == VP_RING_SLOT_BYTES, "an event fills a slot");

#define PASS_PART 4    /* of a CPU's slots, in one pass */
#define FREE_EACH 256u /* slots that are stored and told to be free at once */

typedef VPROF_ARRAY(struct vp_ring_socket) rare_array;

struct cpu {
	struct vprof_rings *rings;
	const struct vp_ring_event *slots;
	uint64_t n_freed; /* slots, since the start */
	struct ring_buffer *ring;
	int map;
	uint32_t number;
	uint64_t until_ns; /* events from here on are left for the next call */
	/* Slots behind n_freed that are complete, in order of time: how far behind. */
	uint32_t *seen; /* [n_of_pass] */
	uint32_t n_seen;
	rare_array rare; /* of the other ring, what is not stored yet: sockets and the heads of others */
	struct vprof_gather gather;
	uint64_t n_stacks;	  /* that came through the ring; no events */
	uint64_t n_taken;	  /* events */
	uint64_t n_memory;	  /* lost: there was no memory to keep them */
	uint64_t last_ticks;	  /* of the last record */
	uint32_t n_told;	  /* of the kernel's count of lost events: how many LOST records told, modulo 2^32 */
	uint64_t n_missing;	  /* lost here since the last LOST record */
	uint64_t n_missed_before; /* gather.n_lost when it was looked at last */
	uint64_t n_unfinished;	  /* slots that were claimed and not complete when the recording ended: lost */
};

struct vprof_rings {
	struct vprof_rings_options o;
	struct vprof_clock_tie tie;
	struct cpu *cpus;
	size_t n;
	void *slots; /* all CPUs' */
	size_t slots_bytes;
};

static void count_without_memory(struct cpu *cpu)
{
	cpu->n_memory++;
	cpu->n_missing++;
}

static uint32_t n_slots(const struct cpu *cpu)
{
	return UINT32_C(1) << cpu->rings->o.sizes.slots_shift;
}

/* Slots that are seen at once, at most. */
static uint32_t n_of_pass(const struct cpu *cpu)
{
	return n_slots(cpu) > PASS_PART ? n_slots(cpu) / PASS_PART : 1;
}

static const struct vp_ring_event *slot_at(const struct cpu *cpu, uint32_t behind)
{
	return &cpu->slots[(cpu->n_freed + behind) & (n_slots(cpu) - 1)];
}

/* Behind those seen. They nearly are in order: of an event that an interrupt's got in before, the latter are few. */
static void put_in_order(struct cpu *cpu, uint32_t behind, uint64_t ns)
{
	uint32_t at = cpu->n_seen++;

	for (; at && slot_at(cpu, cpu->seen[at - 1])->ns > ns; at--)
		cpu->seen[at] = cpu->seen[at - 1];
	cpu->seen[at] = behind;
}

/* Looks at the slots that are complete, up to the first that is not. They are not freed before they are stored, so they
 * need not be copied. */
static void see_slots(struct cpu *cpu)
{
	uint32_t most = n_of_pass(cpu);
	uint64_t ns = 0;

	cpu->n_seen = 0;
	while (cpu->n_seen < most && ns < cpu->until_ns) { /* else this might not end while events keep coming */
		const struct vp_ring_event *slot = slot_at(cpu, cpu->n_seen);

		if (__atomic_load_n(&slot->stamp, __ATOMIC_ACQUIRE) != (uint32_t)(cpu->n_freed + cpu->n_seen + 1))
			break;
		ns = slot->ns;
		put_in_order(cpu, cpu->n_seen, ns);
	}
}

/* How many of those seen, in order, may be stored: they are older than that, and fill the ring's first slots, which are
 * free then. */
static uint32_t count_ready(const struct cpu *cpu, uint64_t before_ns)
{
	uint32_t n = 0, last = 0;

	for (uint32_t i = 0; i < cpu->n_seen && slot_at(cpu, cpu->seen[i])->ns < before_ns; i++) {
		last = cpu->seen[i] > last ? cpu->seen[i] : last;
		n = last == i ? i + 1 : n;
	}
	return n;
}

/* So many of those seen, the ring's first. */
static void tell_free(struct cpu *cpu, uint32_t n)
{
	__atomic_store_n(&cpu->rings->o.freed[cpu->number].n, cpu->n_freed + n, __ATOMIC_RELEASE);
}

/* From the other ring. */
static int take_rare(void *arg, void *data, size_t size)
{
	struct cpu *cpu = arg;
	const struct vp_ring_event *e = data;
	struct vp_ring_socket *to;

	if (size < sizeof *e)
		return 0;
	if (e->kind == VP_KIND_KERNEL_STACK) {
		cpu->n_stacks++;
		if (cpu->rings->o.stacks)
			vprof_stacks_add(cpu->rings->o.stacks, data, size);
		return 0;
	}
	if (e->kind == VP_KIND_KERNEL_EXEC && cpu->rings->o.stacks)
		vprof_stacks_forget(cpu->rings->o.stacks, e->task.pid);
	if (e->kind == VP_KIND_KERNEL_FORK && cpu->rings->o.stacks && e->tid == e->task.pid)
		vprof_stacks_fork(cpu->rings->o.stacks, e->task.parent_pid, e->task.pid);
	cpu->n_taken++;
	to = VPROF_PUSH(&cpu->rare);
	if (!to) {
		count_without_memory(cpu);
		return 0;
	}
	memset(to, 0, sizeof *to);
	memcpy(to, data, size < sizeof *to ? size : sizeof *to);
	return e->ns >= cpu->until_ns ? -ECANCELED : 0; /* as in see_slots() */
}

static int order_by_time(const void *a, const void *b)
{
	const struct vp_ring_event *x = a, *y = b; /* sockets begin with the same head */

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static uint64_t ticks_of(const struct vprof_rings *r, uint64_t ns)
{
	return ns ? vprof_clock_tie_ticks(&r->tie, ns) : 0;
}

static uint32_t stack_id(const struct vprof_rings *r, uint64_t hash)
{
	return r->o.stacks ? vprof_stacks_id(r->o.stacks, hash) : 0;
}

static void convert_task(const struct vp_ring_event *from, struct vprof_kernel_event *e)
{
	e->task.tid = from->tid;
	e->task.pid = from->task.pid;
	e->task.by_tid = from->other;
	e->task.parent_pid = from->task.parent_pid;
	e->task.flags = from->detail;
	e->task.exit_code = from->task.exit_code;
	e->task.is_last = from->task.is_last != 0;
	memcpy(e->task.comm, from->task.comm, VP_COMM_BYTES);
}

/* The members that both kinds have. */
static void convert_block(const struct vprof_rings *r, const struct vp_ring_event *from, struct vprof_kernel_event *e)
{
	e->block.device = from->other;
	e->block.flags = from->detail;
	e->block.sector = from->block.sector;
	e->block.request = from->block.request;
	e->block.bytes = from->block.bytes;
	e->block.tid = from->tid;
	e->block.error = from->block.error;
	e->block.before = ticks_of(r, from->block.before_ns);
}

static void convert_socket(const struct vprof_rings *r, const struct vp_ring_event *from, struct vprof_kernel_event *e)
{
	const struct vp_ring_socket *s = (const struct vp_ring_socket *)(const void *)from;

	e->socket.flags = from->detail;
	e->socket.tid = from->tid;
	e->socket.cookie = s->cookie;
	e->socket.peer = s->peer;
	e->socket.network = s->network;
	e->socket.connected = ticks_of(r, s->connect_ns);
	e->socket.established = ticks_of(r, s->established_ns);
	memcpy(e->socket.path, s->path, VP_SOCKET_PATH_BYTES); /* or both addresses */
	e->socket.local_port = s->local_port;
	e->socket.remote_port = s->remote_port;
}

/* 0: of no known kind */
static int convert(const struct vprof_rings *r, const struct vp_ring_event *from, struct vprof_kernel_event *e)
{
	memset(e, 0, sizeof *e);
	e->kind = (enum vp_kind)from->kind;
	switch (e->kind) {
	case VP_KIND_KERNEL_SWITCH:
		e->sched.prev_tid = from->tid;
		e->sched.next_tid = from->other;
		e->sched.state = from->detail;
		e->sched.kernel_stack = stack_id(r, from->kernel_stack);
		e->sched.user_stack = stack_id(r, from->user_stack);
		return 1;
	case VP_KIND_KERNEL_WAKING:
		e->waking.wakee_tid = from->tid;
		e->waking.current_tid = from->other;
		e->waking.context = from->context;
		e->waking.source = from->detail;
		e->waking.source_id = from->source_id;
		e->waking.kernel_stack = stack_id(r, from->kernel_stack);
		e->waking.user_stack = stack_id(r, from->user_stack);
		return 1;
	case VP_KIND_KERNEL_FORK:
	case VP_KIND_KERNEL_EXEC:
	case VP_KIND_KERNEL_EXIT:
	case VP_KIND_KERNEL_TASK:
		convert_task(from, e);
		return 1;
	case VP_KIND_KERNEL_BLOCK_ISSUE:
	case VP_KIND_KERNEL_BLOCK_COMPLETE:
		convert_block(r, from, e);
		return 1;
	case VP_KIND_KERNEL_NET_SEND:
	case VP_KIND_KERNEL_NET_RECEIVE:
		e->net.interface = from->other;
		e->net.bytes = (uint32_t)from->amount;
		e->net.current_tid = from->tid;
		e->net.context = from->context;
		return 1;
	case VP_KIND_KERNEL_CALL:
		e->call.tid = from->tid;
		e->call.number = from->other & 0xffff;
		e->call.n_skipped = from->other >> 16;
		e->call.entered = ticks_of(r, from->call.entered_ns);
		e->call.user_stack = stack_id(r, from->call.user_stack);
		return 1;
	case VP_KIND_KERNEL_FAULT:
	case VP_KIND_KERNEL_TIMER:
		e->sample.tid = from->tid;
		e->sample.error = from->other;
		e->sample.address = from->sample.address;
		e->sample.kernel_stack = stack_id(r, from->sample.kernel_stack);
		e->sample.user_stack = stack_id(r, from->sample.user_stack);
		return 1;
	case VP_KIND_KERNEL_SOCKET:
		convert_socket(r, from, e);
		return 1;
	case VP_KIND_KERNEL_TRANSFER:
		e->transfer.tid = from->tid;
		e->transfer.flags = from->detail;
		e->transfer.bytes = from->other;
		e->transfer.cookie = from->transfer.cookie;
		e->transfer.position = from->transfer.position;
		e->transfer.from = ticks_of(r, from->transfer.from_ns);
		if (from->transfer.arrived_ns && from->transfer.arrived_ns <= from->ns) {
			uint64_t waited_ns = from->ns - from->transfer.arrived_ns;

			e->transfer.flags |= VP_TRANSFER_ARRIVAL;
			e->transfer.waited_ns = waited_ns < UINT32_MAX ? (uint32_t)waited_ns : UINT32_MAX;
		}
		return 1;
	case VP_KIND_KERNEL_INTERRUPT:
		e->interrupt.context = from->context;
		e->interrupt.irq = from->other;
		e->interrupt.current_tid = from->tid;
		e->interrupt.ticks = (uint64_t)((double)from->amount / r->o.ns_per_tick);
		return 1;
	default:
		return 0;
	}
}

static void add_record(struct cpu *cpu, struct vprof_kernel_event *e, uint64_t t)
{
	struct vp_unit u[VP_KERNEL_UNITS_MAX];

	cpu->last_ticks = t > cpu->last_ticks ? t : cpu->last_ticks;
	e->t = cpu->last_ticks;
	e->cpu = cpu->number;
	vprof_gather_add(&cpu->gather, u, vprof_kernel_event_encode(e, u));
}

/* A LOST record, if anything is missing before t. `n_lost`: the kernel's count then. */
static void tell_lost(struct cpu *cpu, uint32_t n_lost, uint64_t t)
{
	uint64_t missed = cpu->gather.n_lost - cpu->n_missed_before;
	uint32_t n = n_lost - cpu->n_told;
	struct vprof_kernel_event e = { .kind = VP_KIND_KERNEL_LOST };

	if ((int32_t)n > 0) { /* events that were put into order may have older counts */
		cpu->n_missing += n;
		cpu->n_told = n_lost;
	}
	e.n_lost = cpu->n_missing + missed;
	if (!e.n_lost)
		return;
	cpu->n_missed_before += missed;
	cpu->n_missing = 0;
	add_record(cpu, &e, t);
}

static void store_event(struct cpu *cpu, const struct vp_ring_event *from)
{
	struct vprof_kernel_event e;
	uint64_t t = ticks_of(cpu->rings, from->ns);

	tell_lost(cpu, from->n_lost, t);
	if (convert(cpu->rings, from, &e))
		add_record(cpu, &e, t);
}

/* Are there more slots than were seen in this pass? */
static int is_full(const struct cpu *cpu)
{
	return cpu->n_seen == n_of_pass(cpu);
}

static uint64_t newest_ns(const struct cpu *cpu)
{
	return slot_at(cpu, cpu->seen[cpu->n_seen - 1])->ns;
}

/* How many of those seen are to be stored now. */
static uint32_t choose_ready(const struct cpu *cpu, uint64_t before_ns)
{
	uint64_t middle_ns;
	uint32_t n;

	if (!is_full(cpu))
		return count_ready(cpu, before_ns);
	/* Older ones may come behind them, too. But half are stored at least: in a ring so small that this is less than
	 * is to be waited for, rather than that events are lost. */
	if (newest_ns(cpu) - VPROF_RINGS_HOLD_NS < before_ns)
		before_ns = newest_ns(cpu) - VPROF_RINGS_HOLD_NS;
	middle_ns = slot_at(cpu, cpu->seen[cpu->n_seen / 2])->ns;
	n = count_ready(cpu, before_ns > middle_ns ? before_ns : middle_ns + 1);
	return n ? n : cpu->n_seen;
}

/* Up to when all events of the CPU's slots have been stored, of those before `before_ns`. */
static uint64_t stored_until(const struct cpu *cpu, uint32_t n_stored, uint64_t before_ns)
{
	uint64_t ns = before_ns;

	if (n_stored < cpu->n_seen)
		ns = slot_at(cpu, cpu->seen[n_stored])->ns;
	else if (is_full(cpu))
		ns = newest_ns(cpu);
	return ns < before_ns ? ns : before_ns;
}

/* Those seen of both rings, in order. A socket is told before its transfers. What is left is not older. */
static void store_events(struct cpu *cpu, uint64_t before_ns)
{
	rare_array *rare = &cpu->rare;
	uint32_t n = choose_ready(cpu, before_ns), last = 0;
	size_t n_rare = 0;

	/* They nearly are in order, too; without memory they stay nearly so. */
	vprof_array_sort(rare->v, rare->n, sizeof *rare->v, order_by_time);
	for (uint32_t i = 0; i < n; i++) {
		const struct vp_ring_event *e = slot_at(cpu, cpu->seen[i]);

		for (; n_rare < rare->n && rare->v[n_rare].head.ns <= e->ns; n_rare++)
			store_event(cpu, &rare->v[n_rare].head);
		store_event(cpu, e);
		last = cpu->seen[i] > last ? cpu->seen[i] : last;
		if (last == i && !((i + 1) % FREE_EACH))
			tell_free(cpu, i + 1);
	}
	before_ns = stored_until(cpu, n, before_ns);
	for (; n_rare < rare->n && rare->v[n_rare].head.ns < before_ns; n_rare++)
		store_event(cpu, &rare->v[n_rare].head);
	tell_free(cpu, n);
	cpu->n_taken += n;
	cpu->n_freed += n;
	rare->n -= n_rare;
	memmove(rare->v, rare->v + n_rare, rare->n * sizeof *rare->v);
}

/* No program runs any more that would complete them, or those behind them. */
static void count_unfinished(struct cpu *cpu)
{
	uint64_t n = cpu->rings->o.claims[cpu->number].n_claimed - cpu->n_freed;

	cpu->n_missing += n - cpu->n_unfinished;
	cpu->n_unfinished = n;
}

/* Which slots there are, of each CPU a part, and what is in the other rings. Returns how many came from these. */
static size_t see_events(struct vprof_rings *r, uint64_t until_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct cpu *cpu = &r->cpus[i];
		uint64_t before = cpu->n_taken + cpu->n_stacks;

		cpu->until_ns = until_ns;
		see_slots(cpu);
		ring_buffer__consume(cpu->ring); /* then: it has the stacks of all events that were seen */
		n += cpu->n_taken + cpu->n_stacks - before;
	}
	return n;
}

/* Returns how many slots are free again. */
static size_t store_seen(struct vprof_rings *r, uint64_t before_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		uint64_t before = r->cpus[i].n_taken;

		store_events(&r->cpus[i], before_ns);
		n += r->cpus[i].n_taken - before;
	}
	return n;
}

static int is_any_full(const struct vprof_rings *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (is_full(&r->cpus[i]))
			return 1;
	return 0;
}

size_t vprof_rings_drain(struct vprof_rings *r, uint64_t now_ns, int final)
{
	uint64_t until_ns = final ? UINT64_MAX : now_ns;
	uint64_t before_ns = final ? UINT64_MAX : now_ns > VPROF_RINGS_HOLD_NS ? now_ns - VPROF_RINGS_HOLD_NS : 0;
	size_t n = see_events(r, until_ns);
	int left;

	vprof_clock_tie_step(&r->tie); /* after all of them; further passes are of no later ones, unless it is final */
	for (;;) {
		left = is_any_full(r);
		n += store_seen(r, before_ns);
		if (!left)
			break;
		n += see_events(r, until_ns);
	}
	for (size_t i = 0; i < r->n && final && !n; i++) {
		count_unfinished(&r->cpus[i]);
		tell_lost(&r->cpus[i], (uint32_t)r->o.claims[i].n_lost, ticks_of(r, now_ns));
	}
	return n;
}

void vprof_rings_flush(struct vprof_rings *r)
{
	for (size_t i = 0; i < r->n; i++)
		vprof_gather_flush(&r->cpus[i].gather);
}

void vprof_rings_count(const struct vprof_rings *r, uint64_t *n_events, uint64_t *n_lost)
{
	*n_events = *n_lost = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct cpu *cpu = &r->cpus[i];

		*n_lost += r->o.claims[cpu->number].n_lost + cpu->n_memory + cpu->n_unfinished + cpu->gather.n_lost;
		*n_events += cpu->n_taken - cpu->n_memory - cpu->gather.n_lost;
		*n_events += r->o.claims[cpu->number].n_claimed - cpu->n_freed - cpu->n_unfinished; /* in slots */
	}
}

uint64_t vprof_rings_ticks(const struct vprof_rings *r, uint64_t ns)
{
	return ticks_of(r, ns);
}

uint64_t vprof_rings_error_ns(const struct vprof_rings *r)
{
	return r->tie.error_ns;
}

const struct vprof_clock_reading *vprof_rings_reading(const struct vprof_rings *r)
{
	return &r->tie.after;
}

int vprof_rings_plan(struct vprof_rings_sizes *sizes, uint64_t bytes, int has_stacks, size_t n_cpus_max,
		     struct vprof_error *err)
{
	int n = libbpf_num_possible_cpus();
	uint64_t slots = bytes ? bytes : SLOTS_BYTES, ring = has_stacks ? STACKS_RING_BYTES : RARE_BYTES;

	if (n <= 0 || (size_t)n > n_cpus_max)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "this machine may have %d CPUs; the recorder works for up to %zu", n,
				       n_cpus_max);
	if (bytes && (has_stacks || bytes < ring))
		ring = bytes;
	while (!bytes && (slots + ring) * (uint64_t)n > RINGS_MAX_BYTES && slots > RING_MIN_BYTES) {
		if (slots > (has_stacks ? SLOTS_FEW_BYTES : RARE_BYTES) || ring <= RING_MIN_BYTES)
			slots /= 2;
		else
			ring /= 2;
	}
	*sizes = (struct vprof_rings_sizes){ .n_cpus = (uint32_t)n, .ring_bytes = ring };
	while ((UINT64_C(1) << sizes->slots_shift) * VP_RING_SLOT_BYTES < slots)
		sizes->slots_shift++;
	if ((uint64_t)n << sizes->slots_shift > INT32_MAX)
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"buffers of %llu MiB for each of %d CPUs are more than the kernel gives: ask for less",
			(unsigned long long)(slots >> 20), n);
	return VPROF_OK;
}

static int open_ring(struct vprof_rings *r, uint32_t number)
{
	const struct vp_chunk_header whose = { .thread_seq = VP_THREAD_KERNEL,
					       .tid = number,
					       .process_seq = number + 1 };
	struct cpu *cpu = &r->cpus[number];

	cpu->rings = r;
	cpu->number = number;
	cpu->slots = (const struct vp_ring_event *)r->slots + ((size_t)number << r->o.sizes.slots_shift);
	vprof_gather_init(&cpu->gather, &whose, r->o.store, r->o.arg);
	cpu->map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "vprof_ring", 0, 0, (uint32_t)r->o.sizes.ring_bytes, NULL);
	if (cpu->map < 0)
		return errno;
	r->n = number + 1;
	if (bpf_map_update_elem(r->o.rings, &number, &cpu->map, BPF_ANY))
		return errno;
	cpu->ring = ring_buffer__new(cpu->map, take_rare, cpu, NULL);
	if (!cpu->ring)
		return errno;
	cpu->seen = malloc(n_of_pass(cpu) * sizeof *cpu->seen);
	return cpu->seen ? 0 : ENOMEM;
}

static int map_slots(struct vprof_rings *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = ((size_t)r->o.sizes.n_cpus << r->o.sizes.slots_shift) * VP_RING_SLOT_BYTES;

	bytes = (bytes + page - 1) / page * page;
	r->slots = mmap(NULL, bytes, PROT_READ, MAP_SHARED, r->o.slots, 0);
	if (r->slots == MAP_FAILED) {
		r->slots = NULL;
		return errno;
	}
	r->slots_bytes = bytes;
	return 0;
}

int vprof_rings_open(struct vprof_rings **out, const struct vprof_rings_options *o, struct vprof_error *err)
{
	struct vprof_rings *r = calloc(1, sizeof *r);
	uint32_t n = o->sizes.n_cpus;
	int error;

	*out = NULL;
	if (!r || !(r->cpus = calloc(n, sizeof *r->cpus))) {
		free(r);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the rings of %u CPUs", n);
	}
	r->o = *o;
	error = map_slots(r);
	for (uint32_t i = 0; i < n && !error; i++)
		error = open_ring(r, i);
	if (error) {
		vprof_rings_close(r);
		return vprof_error_set(err, VPROF_ERR_FAILED, "no memory for the buffers of %u CPUs, %llu KiB each: %s",
				       n, (unsigned long long)(vprof_rings_bytes(&o->sizes) >> 10), strerror(error));
	}
	vprof_clock_tie_start(&r->tie, o->clock, CLOCK_MONOTONIC);
	*out = r;
	return VPROF_OK;
}

void vprof_rings_close(struct vprof_rings *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++) {
		ring_buffer__free(r->cpus[i].ring);
		close(r->cpus[i].map);
		free(r->cpus[i].seen);
		VPROF_ARRAY_RELEASE(&r->cpus[i].rare);
		vprof_gather_release(&r->cpus[i].gather);
	}
	if (r->slots)
		munmap(r->slots, r->slots_bytes);
	free(r->cpus);
	free(r);
}
