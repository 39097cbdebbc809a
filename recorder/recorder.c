/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorder's life: programs loaded and attached, targets added, what came through the rings stored.
 *
 * Programs are attached before any target is added, and a process's descendants are listed again until none is new: so
 * a fork in between is seen by the kernel's side or here.
 */
#include "recorder/recorder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "common/array.h"
/* clang-format off: the skeleton uses its structs */
#include "recorder/ring_event.h"
#include "record.skel.h"
/* clang-format on */
#include "recorder/device_names.h"
#include "recorder/kernel_symbols.h"
#include "recorder/proc_tasks.h"
#include "recorder/requirements.h"
#include "recorder/rings.h"
#include "recorder/stack_windows.h"
#include "recorder/wake_programs.h"
#include "trace/kernel_events.h"

/* Between two looks at the rings, each of which takes the CPU from somebody: with stacks, which fill them quickly and
 * are taken in windows of such lengths; else, but for small rings, as long as a CPU takes for them at 2.6 million
 * events a second. */
#define DRAIN_STACKS_NS 5000000L
#define DRAIN_NS 25000000L
#define NS_OF_SLOT 381
#define BUSY_EVENTS 20000 /* in one look */
#define BUSY_PART 4	  /* of a CPU's slots */
#define SWEEP_NS 1000000000u
#define STACKS_WORK_NS 2000000u /* unwinding between two looks at the rings */

typedef VPROF_ARRAY(uint32_t) pid_array;

struct vprof_recorder {
	struct vprof_recorder_options o;
	struct record_bpf *bpf;
	struct vprof_rings *rings;
	struct vprof_rings_sizes sizes;
	struct bpf_link **timers;
	int *timer_events; /* [n_timers] which the links own */
	size_t n_timers;
	struct vprof_gather table; /* of the machine */
	struct vprof_kernel_symbols *symbols;
	struct vprof_stacks *stacks;
	struct vprof_stack_windows windows;
	struct vprof_wake_programs wakes;
	pid_array ending;  /* processes, at the last sweep */
	uint64_t swept_ns; /* CLOCK_MONOTONIC */
	uint64_t last_clock_ns;
	uint64_t n_missed; /* by programs that interrupted themselves */
	uint32_t kinds;
	char missing[240];
	int is_stopped;
};

/* Which programs a part of the recording consists of. */
struct part {
	uint32_t kind;
	const char *what;
	const char *tracepoints[8];
};

static const struct part parts[] = {
	{ VP_KERNEL_CONTEXT,
	  "which interrupt woke a thread",
	  { "irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit", "hrtimer_expire_entry",
	    "hrtimer_expire_exit" } },
	{ VP_KERNEL_BLOCK, "disks", { "block_rq_insert", "block_rq_issue", "block_rq_complete" } },
	{ VP_KERNEL_NET, "network interfaces", { "netif_receive_skb", "net_dev_xmit" } },
	{ VP_KERNEL_CALLS, "system calls", { "sys_enter", "sys_exit" } },
	{ VP_KERNEL_FAULTS, "page faults", { "page_fault_user" } },
	{ VP_KERNEL_SOCKETS,
	  "sends and receives",
	  { "sock_send_length", "sock_recv_length", "inet_sock_set_state", "tcp_retransmit_skb", "sys_enter" } },
	{ 0, "new names of threads", { "task_rename" } },
};

/* Two parts may look at one tracepoint: those of sockets are known by their programs' names. */
static int program_is_of(const struct bpf_program *program, const struct part *part, const char *tracepoint)
{
	const char *section = bpf_program__section_name(program), *slash = strchr(section, '/');
	int is_of_sockets = !strncmp(bpf_program__name(program), "socket_", 7);

	return slash && !strcmp(slash + 1, tracepoint) && is_of_sockets == (part->kind == VP_KERNEL_SOCKETS);
}

/* Sends and receives alone need to know which wake-ups are by threads, and tell that by the stack: not so where
 * interrupts use that of the thread which they interrupt. */
static int can_leave_scheduling(void)
{
#ifdef __x86_64__
	struct utsname kernel;

	return vprof_recorder_has_tracepoint("sock_send_length") && !uname(&kernel) &&
	       !strstr(kernel.version, "PREEMPT_RT");
#else
	return 0;
#endif
}

/* What of the options goes together. */
static void choose_kinds(struct vprof_recorder *r)
{
	struct vprof_recorder_options *o = &r->o;

	if (!(o->kinds & VP_KERNEL_STACKS))
		o->kinds &= ~(VP_KERNEL_CALLS | VP_KERNEL_FAULTS);
	if (!(o->kinds & VP_KERNEL_SOCKETS) || o->kinds & (VP_KERNEL_STACKS | VP_KERNEL_INTERRUPTS))
		o->kinds |= VP_KERNEL_SCHEDULING;
	else if (!(o->kinds & VP_KERNEL_SCHEDULING) && !can_leave_scheduling())
		o->kinds |= VP_KERNEL_USUAL;
	r->kinds = o->kinds & (VP_KERNEL_SCHEDULING | VP_KERNEL_INTERRUPTS | VP_KERNEL_STACKS);
}

static void add_missing(struct vprof_recorder *r, const char *what)
{
	size_t at = strlen(r->missing);

	snprintf(r->missing + at, sizeof r->missing - at, "%s%s", at ? ", " : "", what);
}

static void choose_socket_programs(struct vprof_recorder *r)
{
	int has_scheduling = (r->kinds & VP_KERNEL_SCHEDULING) != 0, has_sockets = (r->kinds & VP_KERNEL_SOCKETS) != 0;
	int has_arrivals = vprof_recorder_has_tracepoint("tcp_rcv_space_adjust");

	if (!has_sockets && !has_scheduling) { /* the kernel lacks what was asked for */
		r->kinds |= VP_KERNEL_SCHEDULING;
		has_scheduling = 1;
	}
	bpf_program__set_autoload(r->bpf->progs.record_switch, has_scheduling);
	bpf_program__set_autoload(r->bpf->progs.record_waking, has_scheduling);
	bpf_program__set_autoload(r->bpf->progs.socket_switch, !has_scheduling);
	bpf_program__set_autoload(r->bpf->progs.socket_wake, !has_scheduling);
	bpf_program__set_autoload(r->bpf->progs.socket_arrival, has_sockets && has_arrivals);
	if (has_sockets && !has_arrivals)
		add_missing(r, "for how long messages lay in receive queues");
	bpf_program__set_autoload(r->bpf->progs.socket_enter, has_sockets && r->kinds & VP_KERNEL_STACKS &&
								      vprof_recorder_has_tracepoint("sys_enter"));
}

/* Leaves out what this kernel has no tracepoint for. A part that lacks one is left out whole. */
static void choose_programs(struct vprof_recorder *r)
{
	size_t at;

	choose_kinds(r);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		int asked = !parts[i].kind || (r->o.kinds & parts[i].kind), ok = asked;
		struct bpf_program *program;

		for (size_t k = 0; asked && parts[i].tracepoints[k]; k++)
			ok &= vprof_recorder_has_tracepoint(parts[i].tracepoints[k]);
		r->kinds |= ok ? parts[i].kind : 0;
		if (ok)
			continue;
		if (asked)
			add_missing(r, parts[i].what);
		bpf_object__for_each_program(
			program, r->bpf->obj) for (size_t k = 0; parts[i].tracepoints[k];
						   k++) if (program_is_of(program, &parts[i], parts[i].tracepoints[k]))
			bpf_program__set_autoload(program, false);
	}
	if (!(r->kinds & VP_KERNEL_CONTEXT))
		r->kinds &= ~VP_KERNEL_INTERRUPTS;
	choose_socket_programs(r);
	if (r->o.timer_hz && (r->kinds & VP_KERNEL_STACKS))
		r->kinds |= VP_KERNEL_TIMER;
	else
		bpf_program__set_autoload(r->bpf->progs.record_timer, false);
	if ((r->kinds & VP_KERNEL_STACKS) && (r->o.budget > 0 || r->o.by_hand))
		r->kinds |= VP_KERNEL_WINDOWS;
	at = strlen(r->missing);
	if (at)
		snprintf(r->missing + at, sizeof r->missing - at,
			 " (this kernel lacks their tracepoints; vprof doctor lists them)");
}

static int refuse(struct vprof_error *err, const char *what, int error)
{
	return vprof_error_set(err, VPROF_ERR_FAILED,
			       "the kernel refused %s: %s. vprof doctor checks what recording needs", what,
			       strerror(error < 0 ? -error : error));
}

/* Of each CPU that runs. It counts the time of whatever runs there, so a thread's CPU time. */
static int attach_timer(struct vprof_recorder *r, struct vprof_error *err)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.size = sizeof attr,
					.sample_period = 1000000000u / r->o.timer_hz,
					.exclude_idle = 1 };
	int n = libbpf_num_possible_cpus();

	r->timers = calloc(n > 0 ? (size_t)n : 1, sizeof *r->timers);
	r->timer_events = calloc(n > 0 ? (size_t)n : 1, sizeof *r->timer_events);
	if (!r->timers || !r->timer_events)
		return vprof_error_no_memory(err);
	for (int cpu = 0; cpu < n; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 && errno == ENODEV) /* it is off */
			continue;
		if (fd < 0)
			return refuse(err, "a timer on CPU time (--timer 0 records without)", errno);
		r->timers[r->n_timers] = bpf_program__attach_perf_event(r->bpf->progs.record_timer, fd);
		if (!r->timers[r->n_timers]) {
			close(fd);
			return refuse(err, "to attach the timer on CPU time (--timer 0 records without)", errno);
		}
		r->timer_events[r->n_timers++] = fd;
	}
	return VPROF_OK;
}

/* Of the maps, what depends on the machine and the options; before they are made. */
static int size_maps(struct vprof_recorder *r, struct vprof_error *err)
{
	int has_stacks = (r->kinds & VP_KERNEL_STACKS) != 0;
	int ret = vprof_rings_plan(&r->sizes, r->o.ring_bytes, has_stacks,
				   sizeof r->bpf->bss->claims / sizeof *r->bpf->bss->claims, err);

	if (ret)
		return ret;
	r->bpf->rodata->slots_shift = r->sizes.slots_shift;
	if (bpf_map__set_max_entries(r->bpf->maps.slots, r->sizes.n_cpus << r->sizes.slots_shift) ||
	    (!has_stacks &&
	     (bpf_map__set_max_entries(r->bpf->maps.stacks_seen, 1) ||
	      bpf_map__set_max_entries(r->bpf->maps.frames, 1) || bpf_map__set_max_entries(r->bpf->maps.libraries, 1))))
		return vprof_error_no_memory(err);
	return VPROF_OK;
}

static int may_leave_packets(const struct vprof_recorder *r)
{
	return (r->kinds & VP_KERNEL_CONTEXT) && (r->kinds & VP_KERNEL_NET) && !(r->kinds & VP_KERNEL_INTERRUPTS) &&
	       vprof_soft_interrupts_can_look_up();
}

/* The coarse clocks go by the kernel's ticks. */
static uint64_t tick_ns(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		return 0;
	return (uint64_t)tick.tv_sec * 1000000000u + (uint64_t)tick.tv_nsec;
}

static int load(struct vprof_recorder *r, struct vprof_error *err)
{
	int ret;

	libbpf_set_print(NULL);
	r->bpf = record_bpf__open();
	if (!r->bpf)
		return refuse(err, "to open the recording programs", errno);
	r->bpf->rodata->records_all = r->o.all;
	r->bpf->rodata->own_pid = (uint32_t)getpid();
	if (r->o.name)
		snprintf((char *)r->bpf->rodata->name_followed, sizeof r->bpf->rodata->name_followed, "%s", r->o.name);
	choose_programs(r);
	r->bpf->rodata->records_interrupts = (r->kinds & VP_KERNEL_INTERRUPTS) != 0;
	r->bpf->rodata->records_stacks = (r->kinds & VP_KERNEL_STACKS) != 0;
	r->bpf->rodata->records_calls = (r->kinds & VP_KERNEL_CALLS) != 0;
	r->bpf->rodata->records_sockets = (r->kinds & VP_KERNEL_SOCKETS) != 0;
	r->bpf->rodata->has_budget = (r->kinds & VP_KERNEL_WINDOWS) != 0;
	r->bpf->rodata->spacing_ns = r->o.spacing_ns;
	r->bpf->rodata->tick_ns = tick_ns();
	ret = size_maps(r, err);
	if (ret)
		return ret;
	ret = record_bpf__load(r->bpf);
	if (ret == -ENOMEM)
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       "the kernel has no memory for the buffers of %u CPUs, %llu KiB each",
				       r->sizes.n_cpus, (unsigned long long)(vprof_rings_bytes(&r->sizes) >> 10));
	if (ret)
		return refuse(err, "to load the recording programs", ret);
	if (r->kinds & VP_KERNEL_STACKS || may_leave_packets(r)) {
		r->symbols = vprof_kernel_symbols_read(); /* before any target runs: it takes a while */
		if (!r->symbols)
			return vprof_error_no_memory(err);
	}
	if (r->kinds & VP_KERNEL_STACKS)
		ret = vprof_stacks_open(
			&r->stacks,
			&(struct vprof_stacks_options){ .symbols = r->symbols,
							.machine = &r->table,
							.store = r->o.store,
							.arg = r->o.arg,
							.libraries = bpf_map__fd(r->bpf->maps.libraries),
							.seen = bpf_map__fd(r->bpf->maps.stacks_seen),
							.frames = bpf_map__fd(r->bpf->maps.frames) },
			err);
	if (ret)
		return ret;
	ret = vprof_rings_open(&r->rings,
			       &(struct vprof_rings_options){ .sizes = r->sizes,
							      .slots = bpf_map__fd(r->bpf->maps.slots),
							      .rings = bpf_map__fd(r->bpf->maps.rings),
							      .claims = r->bpf->bss->claims,
							      .freed = r->bpf->bss->freed,
							      .clock = r->o.clock,
							      .ns_per_tick = r->o.ns_per_tick,
							      .stacks = r->stacks,
							      .store = r->o.store,
							      .arg = r->o.arg },
			       err);
	if (ret)
		return ret;
	ret = record_bpf__attach(r->bpf);
	if (ret)
		return refuse(err, "to attach the recording programs", ret);
	vprof_wake_programs_start(&r->wakes, r->bpf, (r->kinds & VP_KERNEL_CONTEXT) != 0,
				  may_leave_packets(r) ? r->symbols : NULL);
	if (!r->stacks) {
		vprof_kernel_symbols_free(r->symbols);
		r->symbols = NULL;
	}
	ret = r->kinds & VP_KERNEL_TIMER ? attach_timer(r, err) : VPROF_OK;
	if (!ret && (r->kinds & VP_KERNEL_STACKS)) {
		vprof_stack_windows_start(&r->windows, r->bpf, r->rings, &r->table, r->o.budget, r->o.by_hand);
		if (r->o.may_leave_wakes && (r->kinds & VP_KERNEL_CONTEXT) && (r->kinds & VP_KERNEL_NET))
			r->windows.wakes = &r->wakes;
		vprof_stack_windows_set_timers(&r->windows, r->timer_events, r->n_timers);
	}
	return ret;
}

static void tell_task(struct vprof_recorder *r, const struct vprof_proc_task *task, int is_target)
{
	struct vprof_kernel_event e = {
		.kind = VP_KIND_KERNEL_TASK,
		.t = vprof_clock_ticks(r->o.clock),
		.task = { .tid = task->tid,
			  .pid = task->pid,
			  .parent_pid = task->parent_pid,
			  .flags = (is_target ? VP_TASK_SESSION : 0) | (task->is_kernel ? VP_TASK_KERNEL : 0) },
	};
	struct vp_unit u[VP_KERNEL_UNITS_MAX];

	memcpy(e.task.comm, task->comm, sizeof e.task.comm);
	vprof_gather_add(&r->table, u, vprof_kernel_event_encode(&e, u));
}

static int tell_thread(void *recorder, const struct vprof_proc_task *task)
{
	tell_task(recorder, task, 1);
	return 0;
}

static int tell_process(void *recorder, const struct vprof_proc_task *task)
{
	return vprof_proc_threads(task->pid, tell_thread, recorder);
}

int vprof_recorder_open(struct vprof_recorder **out, const struct vprof_recorder_options *o, struct vprof_error *err)
{
	const struct vp_chunk_header whose = { .thread_seq = VP_THREAD_KERNEL_TABLE, .process_seq = 1 };
	struct vprof_recorder *r = calloc(1, sizeof *r);
	struct vprof_proc_task own;
	int ret;

	*out = NULL;
	if (!r)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the recorder");
	r->o = *o;
	vprof_gather_init(&r->table, &whose, o->store, o->arg);
	ret = load(r, err);
	if (ret) {
		vprof_recorder_close(r);
		return ret;
	}
	vprof_devices_add(&r->table);
	if (o->all)
		vprof_proc_processes(tell_process, r);
	else if (vprof_proc_read((uint32_t)getpid(), (uint32_t)getpid(), &own))
		tell_task(r, &own, 0); /* it wakes the command that it starts, and is not followed for that */
	*out = r;
	return VPROF_OK;
}

/* The word and the bit of a process in the kernel's side's bits. */
static uint64_t *session_word(const struct vprof_recorder *r, uint32_t pid, uint64_t *bit)
{
	*bit = UINT64_C(1) << pid % 64;
	return (uint64_t *)&r->bpf->bss->session_bits[pid / 64 % (sizeof r->bpf->bss->session_bits / sizeof *bit)];
}

static int join_session(const struct vprof_recorder *r, uint32_t pid)
{
	uint32_t none_exited = 0;
	uint64_t bit, *word = session_word(r, pid, &bit);

	if (bpf_map_update_elem(bpf_map__fd(r->bpf->maps.session), &pid, &none_exited, BPF_NOEXIST) && errno != EEXIST)
		return errno;
	__atomic_fetch_or(word, bit, __ATOMIC_SEQ_CST);
	return 0;
}

static void leave_session(const struct vprof_recorder *r, uint32_t pid)
{
	uint64_t bit, *word = session_word(r, pid, &bit);

	__atomic_fetch_and(word, ~bit, __ATOMIC_SEQ_CST);
	bpf_map_delete_elem(bpf_map__fd(r->bpf->maps.session), &pid);
}

static int is_among(const pid_array *pids, uint32_t pid)
{
	for (size_t i = 0; i < pids->n; i++)
		if (pids->v[i] == pid)
			return 1;
	return 0;
}

struct listing {
	struct vprof_recorder *r;
	pid_array pids;
	int error, found_new;
};

static int add_process(struct listing *l, uint32_t pid)
{
	uint32_t *slot;

	l->error = join_session(l->r, pid);
	if (l->error)
		return 1;
	slot = VPROF_PUSH(&l->pids);
	if (!slot) {
		l->error = ENOMEM;
		return 1;
	}
	*slot = pid;
	l->found_new = 1;
	if (l->r->stacks)
		vprof_stacks_expect(l->r->stacks, pid);
	return vprof_proc_threads(pid, tell_thread, l->r);
}

static int add_child(void *listing, const struct vprof_proc_task *task)
{
	struct listing *l = listing;

	return !is_among(&l->pids, task->pid) && is_among(&l->pids, task->parent_pid) ? add_process(l, task->pid) : 0;
}

int vprof_recorder_add(struct vprof_recorder *r, pid_t pid, struct vprof_error *err)
{
	struct listing l = { .r = r };
	struct vprof_proc_task task;
	int n;

	if (pid <= 0 || !vprof_proc_read((uint32_t)pid, (uint32_t)pid, &task))
		return 0;
	add_process(&l, (uint32_t)pid);
	while (l.found_new && !l.error) {
		l.found_new = 0;
		vprof_proc_processes(add_child, &l);
	}
	n = (int)l.pids.n;
	/* It may have ended before the kernel's side knew it: that would never be seen. */
	for (size_t i = 0; i < l.pids.n; i++)
		if (!vprof_proc_read(l.pids.v[i], l.pids.v[i], &task)) {
			leave_session(r, l.pids.v[i]);
			n--;
		}
	VPROF_ARRAY_RELEASE(&l.pids);
	if (l.error)
		return vprof_error_set(err, VPROF_ERR_FAILED, "process %ld cannot be recorded: %s", (long)pid,
				       strerror(l.error));
	return n;
}

/* Processes that have been ending since the last sweep: the kernel kept one of their threads' last switch to itself.
 * Who gets their number next is not of the session. */
static void sweep(struct vprof_recorder *r, uint64_t now_ns)
{
	int session = bpf_map__fd(r->bpf->maps.session), more;
	pid_array still = { NULL, 0, 0 };
	uint32_t key, next, value;

	if (now_ns - r->swept_ns < SWEEP_NS)
		return;
	r->swept_ns = now_ns;
	for (more = !bpf_map_get_next_key(session, NULL, &key); more; key = next) {
		uint32_t *slot;

		more = !bpf_map_get_next_key(session, &key, &next);
		if (bpf_map_lookup_elem(session, &key, &value) || !(value & VP_SESSION_ENDING))
			continue;
		if (is_among(&r->ending, key))
			leave_session(r, key);
		else if ((slot = VPROF_PUSH(&still)))
			*slot = key;
	}
	VPROF_ARRAY_RELEASE(&r->ending);
	r->ending = still;
}

static void tell_clock(struct vprof_recorder *r)
{
	const struct vprof_clock_reading *now = vprof_rings_reading(r->rings);
	struct vp_unit u[2] = { { now->ticks, VP_W(VP_KIND_KERNEL_CLOCK, now->error_ns) }, { now->ns, 0 } };

	if (now->ns - r->last_clock_ns < 1000000000u)
		return;
	r->last_clock_ns = now->ns;
	vprof_gather_add(&r->table, u, 2);
}

size_t vprof_recorder_drain(struct vprof_recorder *r)
{
	size_t n = r->is_stopped ? 0 : vprof_rings_drain(r->rings, vprof_clock_monotonic_ns(), 0);

	tell_clock(r);
	if (!r->is_stopped && !r->o.all)
		sweep(r, vprof_clock_monotonic_ns());
	if (!r->is_stopped && (r->kinds & VP_KERNEL_WINDOWS))
		vprof_stack_windows_step(&r->windows);
	if (!r->is_stopped)
		vprof_soft_interrupts_step(&r->wakes.soft_interrupts, vprof_clock_monotonic_ns(),
					   (r->kinds & VP_KERNEL_WINDOWS) &&
						   vprof_stack_windows_count_packets(&r->windows));
	if (r->stacks)
		vprof_stacks_work(r->stacks, STACKS_WORK_NS, 0);
	return n;
}

/* Between windows a few are taken. */
static int takes_stacks(const struct vprof_recorder *r)
{
	return r->kinds & VP_KERNEL_STACKS && (!(r->kinds & VP_KERNEL_WINDOWS) || r->windows.is_open);
}

long vprof_recorder_pause_ns(const struct vprof_recorder *r, size_t n)
{
	uint64_t ns = (uint64_t)NS_OF_SLOT << r->sizes.slots_shift;

	if (n > BUSY_EVENTS || n > ((size_t)1 << r->sizes.slots_shift) / BUSY_PART)
		return 0;
	if (takes_stacks(r) || ns < DRAIN_STACKS_NS)
		return DRAIN_STACKS_NS;
	return ns < DRAIN_NS ? (long)ns : DRAIN_NS;
}

void vprof_recorder_set_window(struct vprof_recorder *r, int open)
{
	if (open)
		vprof_stack_windows_open(&r->windows);
	else
		vprof_stack_windows_close(&r->windows);
	vprof_recorder_drain(r); /* a window is told of when the clocks were read after it */
}

void vprof_recorder_flush(struct vprof_recorder *r)
{
	vprof_rings_flush(r->rings);
	if (r->kinds & VP_KERNEL_WINDOWS)
		vprof_stack_windows_flush(&r->windows);
	vprof_gather_flush(&r->table);
	if (r->stacks)
		vprof_stacks_flush(r->stacks);
}

int vprof_recorder_has_followed(const struct vprof_recorder *r)
{
	return r->bpf->bss->n_followed > 0;
}

/* Are process ids those that the kernel's programs see? Elsewhere a process that is not found may well live. */
static int is_initial_namespace(void)
{
	char name[64];
	ssize_t n = readlink("/proc/self/ns/pid", name, sizeof name - 1);

	name[n > 0 ? n : 0] = 0;
	return !strcmp(name, "pid:[4026531836]"); /* PROC_PID_INIT_INO */
}

int vprof_recorder_has_targets(const struct vprof_recorder *r)
{
	int session = bpf_map__fd(r->bpf->maps.session);
	uint32_t pid;

	while (!r->o.all && !bpf_map_get_next_key(session, NULL, &pid)) {
		if (!kill((pid_t)pid, 0) || errno != ESRCH || !is_initial_namespace())
			return 1;
		leave_session(r, pid); /* the kernel kept its end to itself */
	}
	return r->o.all;
}

/* The kernel does not run a program that interrupts itself on the same CPU, and counts that. */
static uint64_t count_missed(const struct vprof_recorder *r)
{
	struct bpf_program *program;
	uint64_t n = 0;

	bpf_object__for_each_program(program, r->bpf->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof info;

		if (bpf_program__fd(program) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			n += info.recursion_misses;
	}
	return n;
}

void vprof_recorder_look(const struct vprof_recorder *r, struct vprof_recorder_state *state)
{
	memset(state, 0, sizeof *state);
	vprof_rings_count(r->rings, &state->n_events, &state->n_lost);
	state->n_lost += r->is_stopped ? r->n_missed : count_missed(r);
	state->n_unseen = r->bpf->bss->n_unseen;
	state->n_not_followed = r->bpf->bss->n_not_followed;
	state->n_other_transfers = r->bpf->bss->n_other_transfers;
	state->kinds = r->kinds;
	state->looks_up = r->wakes.soft_interrupts.is_left ? 1 : r->wakes.soft_interrupts.may_leave ? 0 : -1;
	state->wakes_left = r->windows.left_ns != 0;
	state->n_windows = r->kinds & VP_KERNEL_WINDOWS ? r->windows.n : 0;
	state->observed_s = vprof_stack_windows_observed_s(&r->windows);
	if (state->n_windows)
		vprof_stack_windows_account(&r->windows, &state->cost_ns, &state->busy_ns);
	state->error_ns = (double)vprof_rings_error_ns(r->rings);
	memcpy(state->missing, r->missing, sizeof state->missing);
}

static void detach(struct vprof_recorder *r)
{
	vprof_wake_programs_stop(&r->wakes);
	for (size_t i = 0; i < r->n_timers; i++)
		bpf_link__destroy(r->timers[i]);
	r->n_timers = 0;
	vprof_stack_windows_set_timers(&r->windows, NULL, 0);
	record_bpf__detach(r->bpf);
}

void vprof_recorder_stop(struct vprof_recorder *r)
{
	if (r->is_stopped)
		return;
	r->n_missed = count_missed(r);
	vprof_stack_windows_close(&r->windows);
	detach(r);
	r->is_stopped = 1;
	while (vprof_rings_drain(r->rings, vprof_clock_monotonic_ns(), 1))
		;
	if (r->kinds & VP_KERNEL_WINDOWS)
		vprof_stack_windows_stop(&r->windows);
	if (r->stacks)
		vprof_stacks_work(r->stacks, UINT64_MAX / 2, 1);
	vprof_recorder_flush(r);
}

void vprof_recorder_close(struct vprof_recorder *r)
{
	if (!r)
		return;
	if (r->bpf)
		detach(r);
	vprof_rings_close(r->rings);
	record_bpf__destroy(r->bpf);
	vprof_stacks_close(r->stacks);
	vprof_kernel_symbols_free(r->symbols);
	vprof_gather_release(&r->table);
	VPROF_ARRAY_RELEASE(&r->ending);
	free(r->timers);
	free(r->timer_events);
	free(r);
}
