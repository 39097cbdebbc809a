/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discrete events: a processor has done a thread's work, a disk a request, a sleep is over. What happens at the same
 * time happens in the order in which it was planned. */
#include "kernel_load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "common/files.h"
#include "recorder/gather.h"
#include "trace/kernel_events.h"

enum { GROUP = 10, CLIENTS = 5, SERVERS = 4, WAYS = 3, RARELY = 200, FIRST_TID = 1000, PID = 1000, DISK = 8u << 20 };
enum { START_NS = 1000, SWITCH_NS = 1500, CALL_NS = 500, SLICE_NS = 3000000 };
enum place { AT_REPLY, AT_REQUEST, AT_LOCK, AT_FLUSH, AT_SLEEP, AT_SEND, AT_UNLOCK, AT_ANSWER, N_PLACES };
enum planned_kind { PLANNED_WORK, PLANNED_START, PLANNED_DISK, PLANNED_SLEEP };

static const char *const functions[N_PLACES] = { "unix_stream_read", "pipe_read",	 "futex_wait", "ext4_sync_file",
						 "do_nanosleep",     "unix_stream_send", "futex_wake", "pipe_write" };

struct planned {
	uint64_t t, order;
	uint32_t item; /* processor, or thread */
	uint32_t kind;
};

struct thread {
	uint32_t group, role; /* role: place in its group */
	uint32_t step, n_done;
	uint32_t client; /* of a server: whom it works for */
	uint64_t since;	 /* when it got its processor */
};

struct group {
	uint32_t requests[CLIENTS], n_requests;
	uint32_t idle[SERVERS], n_idle;
	uint32_t waiting[SERVERS], n_waiting; /* for the lock */
	int is_locked;
};

struct processor {
	uint32_t thread; /* VPROF_NONE: none */
	int is_called;	 /* it is idle, and was told to look at the queue */
	struct vprof_gather gather;
};

struct machine {
	const struct bench_kernel_load *load;
	struct thread *threads;
	struct group *groups;
	struct processor *processors;
	uint32_t *queue; /* of threads that want a processor, a ring */
	size_t queue_first, n_queued;
	VPROF_ARRAY(struct planned) heap;
	uint64_t now, n_planned, n_events, seed, disk_free, n_requests, n_chunks;
	FILE *file;
	int failed;
};

static uint64_t random_to(struct machine *m, uint64_t n)
{
	m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (m->seed >> 33) % n;
}

static int is_before(const struct planned *a, const struct planned *b)
{
	return a->t != b->t ? a->t < b->t : a->order < b->order;
}

static void plan(struct machine *m, uint64_t ns, enum planned_kind kind, uint32_t item)
{
	const struct planned x = { m->now + ns, m->n_planned++, item, kind };
	size_t i = m->heap.n;

	if (!VPROF_PUSH(&m->heap)) {
		m->failed = 1;
		return;
	}
	for (; i && is_before(&x, &m->heap.v[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap.v[i] = m->heap.v[(i - 1) / 2];
	m->heap.v[i] = x;
}

static struct planned take_planned(struct machine *m)
{
	struct planned top = m->heap.v[0], last = m->heap.v[--m->heap.n];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < m->heap.n; i = child) {
		child += child + 1 < m->heap.n && is_before(&m->heap.v[child + 1], &m->heap.v[child]);
		if (!is_before(&m->heap.v[child], &last))
			break;
		m->heap.v[i] = m->heap.v[child];
	}
	m->heap.v[i] = last;
	return top;
}

static uint32_t tid_of(uint32_t thread)
{
	return thread == VPROF_NONE ? 0 : FIRST_TID + thread;
}

static void record(struct machine *m, uint32_t processor, const struct vprof_kernel_event *e)
{
	struct vp_unit units[VP_KERNEL_UNITS_MAX];

	vprof_gather_add(&m->processors[processor].gather, units, vprof_kernel_event_encode(e, units));
	m->n_events++;
}

static uint32_t kernel_stack(const struct machine *m, enum place place)
{
	return m->load->n_stacks ? 1 + (uint32_t)place : 0;
}

/* Each place is reached in many ways, nearly always in one of a few. */
static uint32_t user_stack(struct machine *m, enum place place)
{
	uint32_t n = m->load->n_stacks / N_PLACES;
	uint64_t way = random_to(m, RARELY) ? random_to(m, WAYS) : random_to(m, UINT32_MAX);

	return n ? 1 + N_PLACES + (uint32_t)place * n + (uint32_t)(way % n) : 0;
}

static void switch_threads(struct machine *m, uint32_t processor, enum vp_task_state state, enum place place)
{
	struct processor *p = &m->processors[processor];
	struct vprof_kernel_event e = { .kind = VP_KIND_KERNEL_SWITCH, .t = START_NS + m->now };
	int is_blocked = state == VP_TASK_STATE_SLEEPING || state == VP_TASK_STATE_DISK;

	e.sched.prev_tid = tid_of(p->thread);
	e.sched.state = state;
	if (p->thread != VPROF_NONE && is_blocked) {
		e.sched.kernel_stack = kernel_stack(m, place);
		e.sched.user_stack = user_stack(m, place);
	}
	p->thread = VPROF_NONE;
	if (m->n_queued) {
		p->thread = m->queue[m->queue_first];
		m->queue_first = (m->queue_first + 1) % m->load->n_threads;
		m->n_queued--;
		m->threads[p->thread].since = m->now;
		plan(m, SWITCH_NS, PLANNED_WORK, processor);
	}
	e.sched.next_tid = tid_of(p->thread);
	record(m, processor, &e);
}

static void queue_thread(struct machine *m, uint32_t thread)
{
	m->queue[(m->queue_first + m->n_queued++) % m->load->n_threads] = thread;
	for (uint32_t i = 0; i < m->load->n_cpus; i++) {
		if (m->processors[i].thread == VPROF_NONE && !m->processors[i].is_called) {
			m->processors[i].is_called = 1;
			plan(m, CALL_NS, PLANNED_START, i);
			return;
		}
	}
}

/* By the thread that runs on the processor, unless an interrupt does it. */
static void wake(struct machine *m, uint32_t processor, uint32_t thread, enum vp_context context, enum place place)
{
	struct vprof_kernel_event e = { .kind = VP_KIND_KERNEL_WAKING, .t = START_NS + m->now };

	e.waking.wakee_tid = tid_of(thread);
	e.waking.current_tid = tid_of(m->processors[processor].thread);
	e.waking.context = context;
	e.waking.source = context == VP_CONTEXT_BLOCK ? VP_SOURCE_BLOCK : VP_SOURCE_NONE;
	e.waking.source_id = context == VP_CONTEXT_BLOCK ? DISK : 0;
	if (context == VP_CONTEXT_TASK) {
		e.waking.kernel_stack = kernel_stack(m, place);
		e.waking.user_stack = user_stack(m, place);
	}
	record(m, processor, &e);
	queue_thread(m, thread);
}

static void record_request(struct machine *m, uint32_t processor, uint32_t thread, enum vp_kind kind)
{
	struct vprof_kernel_event e = { .kind = kind, .t = START_NS + m->now };

	e.block.device = DISK;
	e.block.flags = 1;
	e.block.bytes = 4096;
	e.block.request = 1 + thread;
	e.block.sector = 8 * m->n_requests++;
	if (kind == VP_KIND_KERNEL_BLOCK_ISSUE)
		e.block.tid = tid_of(thread);
	record(m, processor, &e);
}

/* What the thread does next: ns of work, or 0 and where it waits. */
static uint64_t go_on_client(struct machine *m, uint32_t processor, struct thread *t, enum place *place)
{
	uint32_t thread = (uint32_t)(t - m->threads);
	struct group *g = &m->groups[t->group];

	switch (t->step) {
	case 0:
		t->step = 1;
		return 2000 + random_to(m, 18000);
	case 1:
		t->step = ++t->n_done % 2 ? 0 : 2;
		g->requests[g->n_requests++] = thread;
		if (g->n_idle)
			wake(m, processor, g->idle[--g->n_idle], VP_CONTEXT_TASK, AT_SEND);
		*place = AT_REPLY;
		return 0;
	default:
		t->step = 0;
		plan(m, 1000000 + random_to(m, 2000000), PLANNED_SLEEP, thread);
		*place = AT_SLEEP;
		return 0;
	}
}

static uint64_t go_on_server(struct machine *m, uint32_t processor, struct thread *t, enum place *place)
{
	uint32_t thread = (uint32_t)(t - m->threads);
	struct group *g = &m->groups[t->group];

	switch (t->step) {
	case 0: /* a request */
		if (!g->n_requests) {
			g->idle[g->n_idle++] = thread;
			*place = AT_REQUEST;
			return 0;
		}
		t->client = g->requests[0];
		memmove(g->requests, g->requests + 1, --g->n_requests * sizeof *g->requests);
		t->step = 1;
		return 2000 + random_to(m, 6000);
	case 1: /* the lock, which is handed over */
		t->step = 2;
		if (g->is_locked) {
			g->waiting[g->n_waiting++] = thread;
			*place = AT_LOCK;
			return 0;
		}
		g->is_locked = 1;
		return 1000 + random_to(m, 2000);
	case 2:
		t->step = 3;
		if (++t->n_done % 16)
			return 500;
		m->disk_free = (m->disk_free > m->now ? m->disk_free : m->now) + 2000 + random_to(m, 2000);
		record_request(m, processor, thread, VP_KIND_KERNEL_BLOCK_ISSUE);
		plan(m, m->disk_free - m->now, PLANNED_DISK, thread);
		*place = AT_FLUSH;
		return 0;
	default:
		t->step = 0;
		g->is_locked = g->n_waiting > 0;
		if (g->n_waiting) {
			wake(m, processor, g->waiting[0], VP_CONTEXT_TASK, AT_UNLOCK);
			memmove(g->waiting, g->waiting + 1, --g->n_waiting * sizeof *g->waiting);
		}
		wake(m, processor, t->client, VP_CONTEXT_TASK, AT_ANSWER);
		return 1000;
	}
}

static uint64_t go_on_sleeper(struct machine *m, struct thread *t, enum place *place)
{
	t->step = !t->step;
	if (t->step)
		return 5000;
	plan(m, 10000000, PLANNED_SLEEP, (uint32_t)(t - m->threads));
	*place = AT_SLEEP;
	return 0;
}

/* A processor has done what it had to do for its thread. */
static void worked(struct machine *m, uint32_t processor)
{
	struct thread *t = &m->threads[m->processors[processor].thread];
	enum place place = N_PLACES;
	uint64_t ns;

	if (m->n_queued && m->now - t->since > SLICE_NS) {
		m->queue[(m->queue_first + m->n_queued++) % m->load->n_threads] = m->processors[processor].thread;
		switch_threads(m, processor, VP_TASK_STATE_PREEMPTED, N_PLACES);
		return;
	}
	ns = t->role < CLIENTS		 ? go_on_client(m, processor, t, &place) :
	     t->role < CLIENTS + SERVERS ? go_on_server(m, processor, t, &place) :
					   go_on_sleeper(m, t, &place);
	if (ns)
		plan(m, ns, PLANNED_WORK, processor);
	else
		switch_threads(m, processor, place == AT_FLUSH ? VP_TASK_STATE_DISK : VP_TASK_STATE_SLEEPING, place);
}

static void run(struct machine *m)
{
	for (uint32_t i = 0; i < m->load->n_threads; i++) {
		m->threads[i].group = i / GROUP;
		m->threads[i].role = i % GROUP;
		plan(m, random_to(m, 1000000), PLANNED_SLEEP, i);
	}
	while (m->heap.n && m->n_events < m->load->n_events && !m->failed) {
		struct planned x = take_planned(m);
		uint32_t at = (uint32_t)random_to(m, m->load->n_cpus); /* where an interrupt comes */

		m->now = x.t;
		if (x.kind == PLANNED_WORK) {
			worked(m, x.item);
		} else if (x.kind == PLANNED_START) {
			m->processors[x.item].is_called = 0;
			if (m->n_queued)
				switch_threads(m, x.item, VP_TASK_STATE_RUNNABLE, N_PLACES);
		} else if (x.kind == PLANNED_SLEEP) {
			wake(m, at, x.item, VP_CONTEXT_HRTIMER, N_PLACES);
		} else {
			record_request(m, at, x.item, VP_KIND_KERNEL_BLOCK_COMPLETE);
			wake(m, at, x.item, VP_CONTEXT_BLOCK, N_PLACES);
		}
	}
}

static int store(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	struct machine *m = arg;

	m->failed |= fwrite(h, sizeof *h, 1, m->file) != 1 || fwrite(units, h->n_bytes, 1, m->file) != 1;
	m->n_chunks++;
	return m->failed;
}

static uint32_t add_text(struct vp_unit *u, uint64_t t, uint64_t w, uint64_t second, const char *text)
{
	size_t n = strlen(text);

	memset(u, 0, (3 + n / VP_UNIT_BYTES) * sizeof *u);
	u[0] = (struct vp_unit){ t, w };
	u[1].t = second;
	memcpy(u + 2, text, n);
	return 2 + (uint32_t)((n + VP_UNIT_BYTES - 1) / VP_UNIT_BYTES);
}

/* Disk, threads and the kernel's stacks. */
static void write_tables(struct machine *m)
{
	const struct vp_chunk_header whose = { .thread_seq = VP_THREAD_KERNEL_TABLE, .process_seq = 1 };
	struct vp_unit units[16];
	struct vprof_gather g;

	vprof_gather_init(&g, &whose, store, m);
	vprof_gather_add(
		&g, units,
		add_text(units, DISK, VP_W(VP_KIND_KERNEL_DEVICE, 3 | (uint64_t)VP_SOURCE_BLOCK << 8), 0, "sda"));
	for (uint32_t i = 0; i < m->load->n_threads; i++) {
		static const char *const names[] = { "client", "server", "sleeper" };
		struct vprof_kernel_event e = { .kind = VP_KIND_KERNEL_TASK, .t = START_NS };
		uint32_t role = i % GROUP;

		e.task.tid = tid_of(i);
		e.task.pid = PID;
		e.task.flags = VP_TASK_SESSION;
		strcpy(e.task.comm, names[(role >= CLIENTS) + (role >= CLIENTS + SERVERS)]);
		vprof_gather_add(&g, units, vprof_kernel_event_encode(&e, units));
	}
	for (uint32_t i = 0; i < N_PLACES && m->load->n_stacks; i++) {
		uint64_t start = UINT64_C(0xffffffff81000000) + i * 4096;

		units[0] = (struct vp_unit){ 1 + i, VP_W(VP_KIND_KERNEL_STACK, 1) };
		units[1] = (struct vp_unit){ start + 64, 0 };
		vprof_gather_add(&g, units, 2);
		vprof_gather_add(&g, units,
				 add_text(units, start + 64, VP_W(VP_KIND_KERNEL_SYMBOL, strlen(functions[i])), start,
					  functions[i]));
	}
	vprof_gather_flush(&g);
	vprof_gather_release(&g);
}

/* The program is this one, wherever its functions lie. */
static void write_stacks(struct machine *m)
{
	const struct vp_chunk_header whose = { .thread_seq = VP_THREAD_KERNEL_TABLE, .process_seq = 2, .pid = PID };
	struct vp_unit units[2 + 4096 / VP_UNIT_BYTES];
	const uint64_t start = 0x400000;
	char path[4096] = "";
	struct vprof_gather g;
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n < 1)
		m->failed = 1;
	vprof_gather_init(&g, &whose, store, m);
	add_text(units, start, VP_W(VP_KIND_MODULE, strlen(path)), start, path);
	units[1].w = start + 0x10000000;
	vprof_gather_add(&g, units, 2 + (uint32_t)((strlen(path) + VP_UNIT_BYTES - 1) / VP_UNIT_BYTES));
	for (uint32_t i = 0; i < m->load->n_stacks / N_PLACES * N_PLACES; i++) {
		units[0] = (struct vp_unit){ 1 + N_PLACES + i, VP_W(VP_KIND_KERNEL_STACK, 8) };
		for (uint32_t k = 0; k < 4; k++)
			units[1 + k] = (struct vp_unit){ start + 0x5000 + 64 * i + 16 * k,
							 start + 0x5000 + 64 * i + 16 * k + 8 };
		vprof_gather_add(&g, units, 5);
	}
	vprof_gather_flush(&g);
	vprof_gather_release(&g);
}

static void write_trace(struct machine *m)
{
	struct vp_file_header h = { .magic = VP_FILE_MAGIC,
				    .version = VP_FORMAT_VERSION,
				    .clock = VP_CLOCK_MONOTONIC,
				    .ns_per_tick = 1,
				    .start_ticks = START_NS,
				    .kernel_scope = VP_KERNEL_ALL };

	m->failed |= fwrite(&h, sizeof h, 1, m->file) != 1;
	write_tables(m);
	if (m->load->n_stacks)
		write_stacks(m);
	for (uint32_t i = 0; i < m->load->n_cpus; i++) {
		const struct vp_chunk_header whose = { .thread_seq = VP_THREAD_KERNEL, .process_seq = i + 1, .tid = i };

		m->processors[i].thread = VPROF_NONE;
		vprof_gather_init(&m->processors[i].gather, &whose, store, m);
	}
	run(m);
	for (uint32_t i = 0; i < m->load->n_cpus; i++) {
		vprof_gather_flush(&m->processors[i].gather);
		m->failed |= m->processors[i].gather.n_lost != 0;
		vprof_gather_release(&m->processors[i].gather);
	}
	h.end_ticks = START_NS + m->now + 1;
	h.n_chunks = m->n_chunks;
	m->failed |= fseek(m->file, 0, SEEK_SET) || fwrite(&h, sizeof h, 1, m->file) != 1;
}

int bench_kernel_load_write(const struct bench_kernel_load *load, const char *folder, struct vprof_error *err)
{
	struct machine m = { .load = load, .seed = 1 };
	char *dir = vprof_path_join(folder, "trace"), *path = vprof_path_join(folder, "trace/records.vpt");
	int ret = dir && path ? vprof_dir_make(dir, err) : vprof_error_no_memory(err);

	m.threads = calloc(load->n_threads, sizeof *m.threads);
	m.groups = calloc(load->n_threads / GROUP + 1, sizeof *m.groups);
	m.processors = calloc(load->n_cpus, sizeof *m.processors);
	m.queue = calloc(load->n_threads, sizeof *m.queue);
	if (!ret && (!m.threads || !m.groups || !m.processors || !m.queue))
		ret = vprof_error_no_memory(err);
	m.file = ret ? NULL : fopen(path, "w");
	if (m.file) {
		write_trace(&m);
		m.failed |= fclose(m.file) != 0;
	}
	if (!ret && (!m.file || m.failed))
		ret = vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", path, strerror(errno));
	free(dir);
	free(path);
	free(m.threads);
	free(m.groups);
	free(m.processors);
	free(m.queue);
	VPROF_ARRAY_RELEASE(&m.heap);
	return ret;
}
