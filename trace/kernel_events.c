/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which bits of a record are which field of an event, in both directions. */
#include "trace/kernel_events.h"

#include <string.h>

_Static_assert(VP_COMM_BYTES == VP_UNIT_BYTES, "a name fills a unit");

#define LOW(x) ((uint32_t)(x))
#define HIGH(x) ((uint32_t)((uint64_t)(x) >> 32))
#define BOTH(low, high) ((uint64_t)(low) | (uint64_t)(high) << 32)

/* Bits `shift` and up, if they are a value of the enum; else 0. */
static uint32_t enum_value(uint64_t x, unsigned int shift, uint32_t mask, uint32_t count)
{
	uint32_t value = (uint32_t)(x >> shift) & mask;

	return value < count ? value : 0;
}

static const unsigned char is_event[256] = {
	[VP_KIND_KERNEL_SWITCH] = 1,	  [VP_KIND_KERNEL_WAKING] = 1,	       [VP_KIND_KERNEL_FORK] = 1,
	[VP_KIND_KERNEL_EXEC] = 1,	  [VP_KIND_KERNEL_EXIT] = 1,	       [VP_KIND_KERNEL_TASK] = 1,
	[VP_KIND_KERNEL_BLOCK_ISSUE] = 1, [VP_KIND_KERNEL_BLOCK_COMPLETE] = 1, [VP_KIND_KERNEL_NET_SEND] = 1,
	[VP_KIND_KERNEL_NET_RECEIVE] = 1, [VP_KIND_KERNEL_INTERRUPT] = 1,      [VP_KIND_KERNEL_CALL] = 1,
	[VP_KIND_KERNEL_FAULT] = 1,	  [VP_KIND_KERNEL_TIMER] = 1,	       [VP_KIND_KERNEL_SOCKET] = 1,
	[VP_KIND_KERNEL_TRANSFER] = 1,	  [VP_KIND_KERNEL_LOST] = 1,
};

static void decode_task(const struct vp_unit *u, struct vprof_kernel_event *e)
{
	uint64_t payload = VP_PAYLOAD(u->w);

	e->task.tid = LOW(payload);
	e->task.pid = LOW(u[1].t);
	switch (e->kind) {
	case VP_KIND_KERNEL_FORK:
		e->task.by_tid = HIGH(u[1].t);
		e->task.parent_pid = LOW(u[1].w);
		break;
	case VP_KIND_KERNEL_EXEC:
		e->task.by_tid = HIGH(u[1].t);
		break;
	case VP_KIND_KERNEL_TASK:
		e->task.flags = HIGH(payload);
		e->task.parent_pid = HIGH(u[1].t);
		break;
	default:
		e->task.exit_code = HIGH(u[1].t);
		e->task.is_last = u[1].w == 1;
		return;
	}
	memcpy(e->task.comm, &u[2], VP_COMM_BYTES);
}

static void decode_block(const struct vp_unit *u, struct vprof_kernel_event *e)
{
	uint64_t payload = VP_PAYLOAD(u->w);

	e->block.device = LOW(payload);
	e->block.flags = HIGH(payload);
	e->block.sector = u[1].t;
	e->block.bytes = LOW(u[1].w);
	if (e->kind == VP_KIND_KERNEL_BLOCK_ISSUE)
		e->block.tid = HIGH(u[1].w);
	else
		e->block.error = HIGH(u[1].w);
	e->block.request = u[2].t;
	e->block.before = u[2].w;
}

static void decode_waking(const struct vp_unit *u, struct vprof_kernel_event *e)
{
	uint64_t payload = VP_PAYLOAD(u->w);

	e->waking.context = enum_value(payload, 0, 15, VP_CONTEXT_COUNT);
	e->waking.source = enum_value(payload, 4, 15, VP_SOURCE_COUNT);
	e->waking.source_id = LOW(payload >> 8);
	e->waking.wakee_tid = LOW(u[1].t);
	e->waking.current_tid = HIGH(u[1].t);
	e->waking.kernel_stack = LOW(u[1].w);
	e->waking.user_stack = HIGH(u[1].w);
}

static void decode_socket(const struct vp_unit *u, struct vprof_kernel_event *e)
{
	e->socket.flags = LOW(VP_PAYLOAD(u->w)) & 255;
	e->socket.tid = LOW(VP_PAYLOAD(u->w) >> 8);
	e->socket.cookie = u[1].t;
	e->socket.network = u[1].w;
	memcpy(e->socket.path, &u[2], VP_SOCKET_PATH_BYTES); /* or both addresses */
	e->socket.local_port = (uint16_t)u[4].t;
	e->socket.remote_port = (uint16_t)(u[4].t >> 16);
	e->socket.connected = u[4].w;
	e->socket.established = u[5].t;
	e->socket.peer = u[5].w;
}

static void decode_transfer(const struct vp_unit *u, struct vprof_kernel_event *e)
{
	e->transfer.tid = LOW(VP_PAYLOAD(u->w));
	e->transfer.flags = HIGH(VP_PAYLOAD(u->w));
	e->transfer.cookie = u[1].t;
	e->transfer.position = u[1].w;
	e->transfer.from = u[2].t;
	e->transfer.bytes = LOW(u[2].w);
	e->transfer.waited_ns = HIGH(u[2].w);
}

int vprof_kernel_event_is(const struct vp_unit *u, uint32_t n_units)
{
	uint32_t code = VP_CODE(u->w);

	return (code < 256 ? is_event[code] : 0) && n_units == vp_record_units(u->w);
}

typedef uint64_t __attribute__((may_alias)) event_word;
_Static_assert(sizeof(struct vprof_kernel_event) % sizeof(event_word) == 0, "an event is cleared by words");

/* Of a size that the compiler knows, it makes one slow string instruction of memset. */
static inline void clear(struct vprof_kernel_event *e)
{
	event_word *word = (event_word *)e;

	for (size_t i = 0; i < sizeof *e / sizeof *word; i++) {
		word[i] = 0;
		__asm__("" ::: "memory");
	}
}

int vprof_kernel_event_decode(const struct vp_unit *u, uint32_t n_units, uint32_t cpu, struct vprof_kernel_event *e)
{
	uint64_t payload = VP_PAYLOAD(u->w);

	clear(e);
	if (!vprof_kernel_event_is(u, n_units))
		return 0;
	e->kind = (enum vp_kind)VP_CODE(u->w);
	e->cpu = cpu;
	e->t = u->t;
	switch (e->kind) {
	case VP_KIND_KERNEL_SWITCH:
		e->sched.prev_tid = LOW(payload);
		e->sched.state = enum_value(payload, 32, 255, VP_TASK_STATE_COUNT);
		e->sched.next_tid = LOW(u[1].t);
		e->sched.kernel_stack = LOW(u[1].w);
		e->sched.user_stack = HIGH(u[1].w);
		return 1;
	case VP_KIND_KERNEL_WAKING:
		decode_waking(u, e);
		return 1;
	case VP_KIND_KERNEL_FORK:
	case VP_KIND_KERNEL_EXEC:
	case VP_KIND_KERNEL_EXIT:
	case VP_KIND_KERNEL_TASK:
		decode_task(u, e);
		return 1;
	case VP_KIND_KERNEL_BLOCK_ISSUE:
	case VP_KIND_KERNEL_BLOCK_COMPLETE:
		decode_block(u, e);
		return 1;
	case VP_KIND_KERNEL_NET_SEND:
	case VP_KIND_KERNEL_NET_RECEIVE:
		e->net.interface = LOW(payload);
		e->net.context = enum_value(payload, 32, 255, VP_CONTEXT_COUNT);
		e->net.bytes = LOW(u[1].t);
		e->net.current_tid = HIGH(u[1].t);
		return 1;
	case VP_KIND_KERNEL_INTERRUPT:
		e->interrupt.ticks = payload;
		e->interrupt.context = enum_value(u[1].t, 0, 255, VP_CONTEXT_COUNT);
		e->interrupt.irq = HIGH(u[1].t);
		e->interrupt.current_tid = LOW(u[1].w);
		return 1;
	case VP_KIND_KERNEL_CALL:
		e->call.tid = LOW(payload);
		e->call.entered = u[1].t;
		e->call.user_stack = LOW(u[1].w);
		e->call.number = HIGH(u[1].w) & 0xffff;
		e->call.n_skipped = HIGH(u[1].w) >> 16;
		return 1;
	case VP_KIND_KERNEL_FAULT:
		e->sample.tid = LOW(payload);
		e->sample.address = u[1].t;
		e->sample.user_stack = LOW(u[1].w);
		e->sample.error = HIGH(u[1].w);
		return 1;
	case VP_KIND_KERNEL_TIMER:
		e->sample.tid = LOW(payload);
		e->sample.kernel_stack = LOW(u[1].w);
		e->sample.user_stack = HIGH(u[1].w);
		return 1;
	case VP_KIND_KERNEL_SOCKET:
		decode_socket(u, e);
		return 1;
	case VP_KIND_KERNEL_TRANSFER:
		decode_transfer(u, e);
		return 1;
	case VP_KIND_KERNEL_LOST:
		e->n_lost = payload;
		return 1;
	default:
		return 0;
	}
}

static uint32_t encode_task(const struct vprof_kernel_event *e, struct vp_unit *u)
{
	uint64_t payload = e->task.tid;

	u[1] = (struct vp_unit){ .t = e->task.pid };
	switch (e->kind) {
	case VP_KIND_KERNEL_FORK:
		u[1] = (struct vp_unit){ BOTH(e->task.pid, e->task.by_tid), e->task.parent_pid };
		break;
	case VP_KIND_KERNEL_EXEC:
		u[1].t = BOTH(e->task.pid, e->task.by_tid);
		break;
	case VP_KIND_KERNEL_TASK:
		payload = BOTH(e->task.tid, e->task.flags & 255);
		u[1].t = BOTH(e->task.pid, e->task.parent_pid);
		break;
	default:
		u[1] = (struct vp_unit){ BOTH(e->task.pid, e->task.exit_code), e->task.is_last != 0 };
	}
	u[0].w = VP_W(e->kind, payload);
	if (e->kind == VP_KIND_KERNEL_EXIT)
		return 2;
	memcpy(&u[2], e->task.comm, VP_COMM_BYTES);
	return 3;
}

static uint32_t encode_socket(const struct vprof_kernel_event *e, struct vp_unit *u)
{
	u[0].w = VP_W(e->kind, (uint64_t)(e->socket.flags & 255) | (uint64_t)e->socket.tid << 8);
	u[1] = (struct vp_unit){ e->socket.cookie, e->socket.network };
	memcpy(&u[2], e->socket.path, VP_SOCKET_PATH_BYTES);
	u[4].t = (uint64_t)e->socket.local_port | (uint64_t)e->socket.remote_port << 16;
	u[4].w = e->socket.connected;
	u[5] = (struct vp_unit){ e->socket.established, e->socket.peer };
	return 6;
}

uint32_t vprof_kernel_event_encode(const struct vprof_kernel_event *e, struct vp_unit u[VP_KERNEL_UNITS_MAX])
{
	u[0].t = e->t;
	switch (e->kind) {
	case VP_KIND_KERNEL_SWITCH:
		u[0].w = VP_W(e->kind, BOTH(e->sched.prev_tid, e->sched.state & 255));
		u[1] = (struct vp_unit){ e->sched.next_tid, BOTH(e->sched.kernel_stack, e->sched.user_stack) };
		return 2;
	case VP_KIND_KERNEL_WAKING:
		u[0].w = VP_W(e->kind, (uint64_t)(e->waking.context & 15) | (uint64_t)(e->waking.source & 15) << 4 |
					       (uint64_t)e->waking.source_id << 8);
		u[1] = (struct vp_unit){ BOTH(e->waking.wakee_tid, e->waking.current_tid),
					 BOTH(e->waking.kernel_stack, e->waking.user_stack) };
		return 2;
	case VP_KIND_KERNEL_BLOCK_ISSUE:
	case VP_KIND_KERNEL_BLOCK_COMPLETE:
		u[0].w = VP_W(e->kind, BOTH(e->block.device, e->block.flags & 255));
		u[1].t = e->block.sector;
		u[1].w = BOTH(e->block.bytes, e->kind == VP_KIND_KERNEL_BLOCK_ISSUE ? e->block.tid : e->block.error);
		u[2] = (struct vp_unit){ e->block.request, e->block.before };
		return 3;
	case VP_KIND_KERNEL_NET_SEND:
	case VP_KIND_KERNEL_NET_RECEIVE:
		u[0].w = VP_W(e->kind, BOTH(e->net.interface, e->net.context & 255));
		u[1] = (struct vp_unit){ .t = BOTH(e->net.bytes, e->net.current_tid) };
		return 2;
	case VP_KIND_KERNEL_INTERRUPT:
		u[0].w = VP_W(e->kind, e->interrupt.ticks < VP_PAYLOAD_MAX ? e->interrupt.ticks : VP_PAYLOAD_MAX);
		u[1] = (struct vp_unit){ BOTH(e->interrupt.context & 255, e->interrupt.irq), e->interrupt.current_tid };
		return 2;
	case VP_KIND_KERNEL_CALL:
		u[0].w = VP_W(e->kind, e->call.tid);
		u[1] = (struct vp_unit){ e->call.entered, BOTH(e->call.user_stack,
							       (e->call.number & 0xffff) | e->call.n_skipped << 16) };
		return 2;
	case VP_KIND_KERNEL_FAULT:
		u[0].w = VP_W(e->kind, e->sample.tid);
		u[1] = (struct vp_unit){ e->sample.address, BOTH(e->sample.user_stack, e->sample.error) };
		return 2;
	case VP_KIND_KERNEL_TIMER:
		u[0].w = VP_W(e->kind, e->sample.tid);
		u[1] = (struct vp_unit){ 0, BOTH(e->sample.kernel_stack, e->sample.user_stack) };
		return 2;
	case VP_KIND_KERNEL_SOCKET:
		return encode_socket(e, u);
	case VP_KIND_KERNEL_TRANSFER:
		u[0].w = VP_W(e->kind, BOTH(e->transfer.tid, e->transfer.flags & 255));
		u[1] = (struct vp_unit){ e->transfer.cookie, e->transfer.position };
		u[2] = (struct vp_unit){ e->transfer.from, BOTH(e->transfer.bytes, e->transfer.waited_ns) };
		return 3;
	case VP_KIND_KERNEL_LOST:
		u[0].w = VP_W(e->kind, e->n_lost < VP_PAYLOAD_MAX ? e->n_lost : VP_PAYLOAD_MAX);
		return 1;
	default:
		return encode_task(e, u);
	}
}
