/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list_events TRACE_DIR: the kernel's events of a trace by time, one a line, for tests and for people. */
#include <inttypes.h>
#include <stdio.h>

#include "trace/kernel_events.h"

static const char *const states[] = { "runnable", "preempted", "sleeping", "disk", "stopped", "idle", "dead" };
static const char *const contexts[] = { "task",	 "hardirq", "nmi",     "hi",	"timer",   "net_tx", "net_rx",
					"block", "poll",    "tasklet", "sched", "hrtimer", "rcu" };
static const char *const sources[] = { "none", "timer", "block", "net", "irq" };

static void print(const struct vprof_kernel_event *e, double ns, double ns_per_tick)
{
	printf("%.0f cpu %u ", ns, e->cpu);
	switch (e->kind) {
	case VP_KIND_KERNEL_SWITCH:
		printf("switch %u -> %u %s\n", e->sched.prev_tid, e->sched.next_tid, states[e->sched.state]);
		break;
	case VP_KIND_KERNEL_WAKING:
		printf("waking %u by %u %s %s %u\n", e->waking.wakee_tid, e->waking.current_tid,
		       contexts[e->waking.context], sources[e->waking.source], e->waking.source_id);
		break;
	case VP_KIND_KERNEL_FORK:
		printf("fork %u pid %u by %u pid %u %s\n", e->task.tid, e->task.pid, e->task.by_tid, e->task.parent_pid,
		       e->task.comm);
		break;
	case VP_KIND_KERNEL_EXEC:
		printf("exec %u pid %u before %u %s\n", e->task.tid, e->task.pid, e->task.by_tid, e->task.comm);
		break;
	case VP_KIND_KERNEL_EXIT:
		printf("exit %u pid %u code %u last %d\n", e->task.tid, e->task.pid, e->task.exit_code,
		       e->task.is_last);
		break;
	case VP_KIND_KERNEL_TASK:
		printf("task %u pid %u parent %u flags %u %s\n", e->task.tid, e->task.pid, e->task.parent_pid,
		       e->task.flags, e->task.comm);
		break;
	case VP_KIND_KERNEL_BLOCK_ISSUE:
	case VP_KIND_KERNEL_BLOCK_COMPLETE:
		printf("%s %u:%u flags %u sector %" PRIu64 " bytes %u request %" PRIu64
		       " tid %u error %u before %.0f\n",
		       e->kind == VP_KIND_KERNEL_BLOCK_ISSUE ? "issue" : "complete", e->block.device >> 20,
		       e->block.device & 0xfffff, e->block.flags, e->block.sector, e->block.bytes, e->block.request,
		       e->block.tid, e->block.error, (double)(e->t - e->block.before) * ns_per_tick);
		break;
	case VP_KIND_KERNEL_NET_SEND:
	case VP_KIND_KERNEL_NET_RECEIVE:
		printf("%s %u bytes %u by %u %s\n", e->kind == VP_KIND_KERNEL_NET_SEND ? "send" : "receive",
		       e->net.interface, e->net.bytes, e->net.current_tid, contexts[e->net.context]);
		break;
	case VP_KIND_KERNEL_INTERRUPT:
		printf("interrupt %s irq %u of %u took %.0f\n", contexts[e->interrupt.context], e->interrupt.irq,
		       e->interrupt.current_tid, (double)e->interrupt.ticks * ns_per_tick);
		break;
	case VP_KIND_KERNEL_SOCKET:
		printf("socket %" PRIu64 " flags %u port %u to %u %s\n", e->socket.cookie, e->socket.flags,
		       e->socket.local_port, e->socket.remote_port,
		       e->socket.flags & VP_SOCKET_UNIX ? e->socket.path : "");
		break;
	case VP_KIND_KERNEL_TRANSFER:
		printf("%s %u bytes at %" PRIu64 " of %" PRIu64 " by %u took %" PRIu64 "\n",
		       e->transfer.flags & VP_TRANSFER_SEND ? "send" : "receive", e->transfer.bytes,
		       e->transfer.position, e->transfer.cookie, e->transfer.tid, e->t - e->transfer.from);
		break;
	case VP_KIND_KERNEL_CALL:
		printf("call %u of %u took %.0f stack %u\n", e->call.number, e->call.tid,
		       e->call.entered ? (double)(e->t - e->call.entered) * ns_per_tick : -1, e->call.user_stack);
		break;
	case VP_KIND_KERNEL_FAULT:
		printf("fault %" PRIx64 " error %u of %u stack %u\n", e->sample.address, e->sample.error, e->sample.tid,
		       e->sample.user_stack);
		break;
	case VP_KIND_KERNEL_TIMER:
		printf("timer of %u stacks %u %u\n", e->sample.tid, e->sample.kernel_stack, e->sample.user_stack);
		break;
	default:
		printf("lost %" PRIu64 "\n", e->n_lost);
	}
}

static void print_tables(const struct vprof_trace *t)
{
	for (size_t i = 0; i < t->n_kernel_tables; i++) {
		struct vprof_trace_cursor c;
		const struct vp_unit *u;
		struct vprof_kernel_event e;
		uint32_t n;

		vprof_trace_cursor_init(&c, &t->kernel_tables[i]);
		while ((u = vprof_trace_next(&c, &n))) {
			if (VP_CODE(u->w) == VP_KIND_KERNEL_DEVICE)
				printf("device %" PRIu64 " payload %" PRIu64 " speed %" PRIu64 " %.*s\n", u->t,
				       VP_PAYLOAD(u->w), u[1].t, (int)(VP_PAYLOAD(u->w) & 0xff), (const char *)(u + 2));
			else if (VP_CODE(u->w) == VP_KIND_KERNEL_CLOCK)
				printf("clock %" PRIu64 " error %" PRIu64 "\n", u[1].t, VP_PAYLOAD(u->w));
			else if (VP_CODE(u->w) == VP_KIND_KERNEL_WINDOW)
				printf("window %.0f to %.0f flags %" PRIu64 "\n", vprof_trace_ns(t, u->t),
				       vprof_trace_ns(t, u[1].t), VP_PAYLOAD(u->w));
			else if (vprof_kernel_event_decode(u, n, 0, &e))
				print(&e, vprof_trace_ns(t, e.t), t->header.ns_per_tick);
		}
	}
}

int main(int argc, char **argv)
{
	struct vprof_kernel_stream *s = NULL;
	struct vprof_kernel_event e;
	struct vprof_error err = { "" };
	struct vprof_trace *t = NULL;
	int ret;

	if (argc != 2)
		return 2;
	ret = vprof_trace_open(&t, argv[1], &err);
	if (!ret)
		ret = vprof_kernel_stream_open(&s, t, &err);
	if (ret) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	printf("header events %" PRIu64 " lost %" PRIu64 " kinds %u scope %u cut %d\n", t->header.n_kernel_events,
	       t->header.n_kernel_lost, t->header.kernel_kinds, t->header.kernel_scope, t->is_cut);
	print_tables(t);
	while (vprof_kernel_stream_next(s, &e))
		print(&e, vprof_trace_ns(t, e.t), t->header.ns_per_tick);
	vprof_kernel_stream_close(s);
	vprof_trace_free(t);
	return 0;
}
