/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/stack_table.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash/hash_index.h"
#include "recorder/kernel_symbols.h"
#include "recorder/process_images.h"
#include "trace/clock.h"

#define QUEUE_BYTES (128u << 20) /* of copies that wait; what is refused comes again, and takes room in the rings */

struct waiting {
	uint32_t id;
	struct vprof_image *image;
	struct vp_ring_stack *copy;
	uint64_t n_works; /* in which vprof_stacks_work() it was tried last */
};

struct vprof_stacks {
	struct vprof_stacks_options o;
	struct vprof_images *images;
	struct vprof_hash_index by_hash;
	VPROF_ARRAY(uint64_t) hashes; /* id - 1 -> hash */
	struct vprof_hash_index by_address;
	VPROF_ARRAY(uint64_t) addresses; /* that were named */
	VPROF_ARRAY(struct waiting) queue;
	size_t n_done;	/* of the queue, at its front */
	size_t n_bytes; /* of the others */
	uint64_t n_works;
};

int vprof_stacks_open(struct vprof_stacks **out, const struct vprof_stacks_options *o, struct vprof_error *err)
{
	struct vprof_stacks *s = calloc(1, sizeof *s);

	*out = s;
	if (s) {
		s->o = *o;
		s->images = vprof_images_new(o->store, o->arg, o->libraries);
	}
	if (s && s->images)
		return VPROF_OK;
	vprof_stacks_close(s);
	*out = NULL;
	return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for stacks");
}

void vprof_stacks_close(struct vprof_stacks *s)
{
	if (!s)
		return;
	for (size_t i = s->n_done; i < s->queue.n; i++)
		free(s->queue.v[i].copy);
	VPROF_ARRAY_RELEASE(&s->queue);
	VPROF_ARRAY_RELEASE(&s->hashes);
	VPROF_ARRAY_RELEASE(&s->addresses);
	vprof_hash_index_release(&s->by_hash);
	vprof_hash_index_release(&s->by_address);
	vprof_images_free(s->images);
	free(s);
}

uint32_t vprof_stacks_id(struct vprof_stacks *s, uint64_t hash)
{
	uint64_t *slot;
	size_t at;

	if (!hash || vprof_hash_index_room(&s->by_hash, 1))
		return 0;
	VPROF_HASH_EACH(&s->by_hash, hash ^ hash >> 32, at, item)
	if (s->hashes.v[item] == hash)
		return item + 1;
	slot = VPROF_PUSH(&s->hashes);
	if (!slot)
		return 0;
	*slot = hash;
	vprof_hash_index_put(&s->by_hash, at, hash ^ hash >> 32, (uint32_t)s->hashes.n - 1);
	return (uint32_t)s->hashes.n;
}

/* Its SYMBOL, the first time. */
static void name_address(struct vprof_stacks *s, uint64_t address)
{
	uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15) >> 32, start, *slot;
	struct vp_unit u[2 + VP_STRING_MAX / 16];
	const char *name;
	size_t at, n;

	if (vprof_hash_index_room(&s->by_address, 1))
		return;
	VPROF_HASH_EACH(&s->by_address, hash, at, item)
	if (s->addresses.v[item] == address)
		return;
	slot = VPROF_PUSH(&s->addresses);
	if (!slot)
		return;
	*slot = address;
	vprof_hash_index_put(&s->by_address, at, hash, (uint32_t)s->addresses.n - 1);
	name = vprof_kernel_symbols_find(s->o.symbols, address, &start);
	if (!name)
		return;
	n = strnlen(name, VP_STRING_MAX);
	memset(u, 0, sizeof u);
	u[0] = (struct vp_unit){ address, VP_W(VP_KIND_KERNEL_SYMBOL, n) };
	u[1].t = start;
	memcpy(u + 2, name, n);
	vprof_gather_add(s->o.machine, u, vp_record_units(u[0].w));
}

void vprof_stack_record(struct vprof_gather *table, uint32_t id, const uint64_t *addresses, uint32_t n, uint32_t flags)
{
	struct vp_unit u[1 + (VP_KERNEL_STACK_MAX + 1) / 2];

	memset(u, 0, sizeof u);
	u[0] = (struct vp_unit){ id, VP_W(VP_KIND_KERNEL_STACK, n | (uint64_t)flags << 8) };
	memcpy(u + 1, addresses, n * sizeof *addresses);
	vprof_gather_add(table, u, vp_record_units(u[0].w));
}

/* The innermost frames are those of the tracepoint and of what is attached to it. */
static uint32_t count_tracing_frames(struct vprof_stacks *s, const uint64_t *addresses, uint32_t n)
{
	uint32_t n_tracing = 0;

	for (uint32_t i = 0; i < n && i < 12; i++) {
		uint64_t start;
		const char *name = vprof_kernel_symbols_find(s->o.symbols, addresses[i], &start);

		if (!name || !strncmp(name, "bpf_", 4) || !strncmp(name, "__bpf_", 6) ||
		    !strncmp(name, "__traceiter_", 12))
			n_tracing = i + 1;
	}
	return n_tracing < n ? n_tracing : 0;
}

static void add_kernel_stack(struct vprof_stacks *s, uint32_t id, const struct vp_ring_stack *stack)
{
	uint64_t addresses[VP_KERNEL_STACK_MAX];
	uint32_t n = stack->n_bytes / 8, skipped;

	n = n < VP_KERNEL_STACK_MAX ? n : VP_KERNEL_STACK_MAX;
	memcpy(addresses, stack->bytes, n * sizeof *addresses);
	skipped = count_tracing_frames(s, addresses, n);
	for (uint32_t i = skipped; i < n; i++)
		name_address(s, addresses[i]);
	vprof_stack_record(s->o.machine, id, addresses + skipped, n - skipped,
			   n == VP_KERNEL_STACK_MAX ? VP_STACK_CUT | VP_STACK_LONG : 0);
}

static size_t bytes_of(const struct vp_ring_stack *stack)
{
	return offsetof(struct vp_ring_stack, bytes) + stack->n_bytes;
}

void vprof_stacks_add(struct vprof_stacks *s, const struct vp_ring_stack *stack, size_t n_bytes)
{
	struct waiting *slot;
	uint32_t id;

	if (n_bytes < offsetof(struct vp_ring_stack, bytes) || stack->n_bytes > VP_RING_STACK_BYTES ||
	    stack->n_bytes > n_bytes - offsetof(struct vp_ring_stack, bytes))
		return;
	id = vprof_stacks_id(s, stack->head.kernel_stack);
	if (!id)
		return;
	if (!stack->is_user) {
		add_kernel_stack(s, id, stack);
		return;
	}
	slot = s->n_bytes + n_bytes <= QUEUE_BYTES ? VPROF_PUSH(&s->queue) : NULL;
	if (!slot) {
		bpf_map_delete_elem(s->o.seen, &stack->head.kernel_stack);
		return;
	}
	*slot = (struct waiting){ id, vprof_images_find(s->images, stack->head.other), malloc(n_bytes), 0 };
	if (!slot->image || !slot->copy) {
		free(slot->copy);
		s->queue.n--;
		return;
	}
	vprof_images_look(s->images, slot->image); /* while the process is there: unwinding may come much later */
	n_bytes = bytes_of(stack);
	memcpy(slot->copy, stack, n_bytes);
	s->n_bytes += n_bytes;
}

void vprof_stacks_fork(struct vprof_stacks *s, uint32_t parent_pid, uint32_t pid)
{
	vprof_images_fork(s->images, parent_pid, pid);
}

void vprof_stacks_expect(struct vprof_stacks *s, uint32_t pid)
{
	vprof_images_find(s->images, pid);
}

void vprof_stacks_forget(struct vprof_stacks *s, uint32_t pid)
{
	vprof_images_forget(s->images, pid);
}

static uint64_t next_node(uint64_t node, const struct vp_ring_frames *frames, const struct vp_ring_stack *stack)
{
	unsigned long long word;

	for (uint32_t i = 0; i < frames->n; i++) {
		word = 0;
		if (frames->at[i] + sizeof word <= stack->n_bytes)
			memcpy(&word, stack->bytes + frames->at[i], sizeof word);
		node = vp_ring_mix(node, word);
	}
	return node;
}

/* Tells the kernel's side how it knows this stack again. Another of the same node may have been told since it was sent:
 * then its own lies behind that. */
static void tell_frames(struct vprof_stacks *s, const struct vp_ring_stack *stack, struct vp_ring_frames *frames)
{
	unsigned long long node = stack->node, next;
	struct vp_ring_frames there;

	for (int level = 0; node && level < VP_RING_FRAMES_LEVELS; level++) {
		int is_new = bpf_map_lookup_elem(s->o.frames, &node, &there) != 0;

		if (is_new || (there.is_deep && !frames->is_deep)) {
			frames->stack = frames->stack ? stack->head.kernel_stack : 0;
			frames->next = next_node(node, frames, stack);
			bpf_map_update_elem(s->o.frames, &node, frames, is_new ? BPF_NOEXIST : BPF_EXIST);
			return; /* without room for it: it is known by what may be return addresses */
		}
		next = next_node(node, &there, stack);
		if (!there.stack || next == there.next)
			return;
		node = next;
	}
}

void vprof_stacks_work(struct vprof_stacks *s, uint64_t most_ns, int is_last)
{
	uint64_t until = vprof_clock_monotonic_ns() + most_ns;

	s->n_works++;
	while (s->n_done < s->queue.n && s->queue.v[s->n_done].n_works != s->n_works) {
		struct waiting w = s->queue.v[s->n_done++], *again = NULL;
		struct vp_ring_frames frames = { 0 };

		/* Code that is not known yet: its library may just be being loaded. */
		if (vprof_images_unwind(s->images, w.image, w.id, w.copy, is_last, &frames))
			again = VPROF_PUSH(&s->queue);
		else
			tell_frames(s, w.copy, &frames);
		w.n_works = s->n_works;
		if (again) {
			*again = w;
		} else {
			s->n_bytes -= bytes_of(w.copy);
			free(w.copy);
		}
		if (vprof_clock_monotonic_ns() > until)
			break;
	}
	if (s->n_done == s->queue.n)
		s->n_done = s->queue.n = 0;
}

void vprof_stacks_flush(struct vprof_stacks *s)
{
	vprof_images_flush(s->images);
}
