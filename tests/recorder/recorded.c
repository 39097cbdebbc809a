/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/recorder/recorded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/array.h"
#include "common/files.h"
#include "trace/records_file.h"

volatile int *recorder_looks_up;

static int store(void *file, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	return vprof_records_append(file, h, units);
}

static void read_back(struct recorded *r, const char *folder)
{
	VPROF_ARRAY(struct vprof_kernel_event) events = { 0 };
	struct vprof_kernel_stream *s;
	struct vprof_kernel_event e;
	struct vprof_error err = { "" };
	struct vprof_trace *t;

	if (vprof_trace_open(&t, folder, &err) || vprof_kernel_stream_open(&s, t, &err) ||
	    vprof_kernel_tables_read(&r->tables, t, &err))
		fail_msg("%s", err.message);
	assert_int_equal(t->is_cut, 0);
	r->header = t->header;
	while (vprof_kernel_stream_next(s, &e))
		*VPROF_PUSH(&events) = e;
	r->n = events.n;
	r->events = calloc(events.n + 1, sizeof e);
	if (events.n)
		memcpy(r->events, events.v, events.n * sizeof e);
	VPROF_ARRAY_RELEASE(&events);
	vprof_kernel_stream_close(s);
	vprof_trace_free(t);
}

void record(struct recorded *r, int (*program)(void), int how, uint64_t ring_bytes)
{
	char folder[] = "/tmp/vprof-recorded-XXXXXX", nothing;
	struct vprof_records_file file = { .fd = -1 };
	struct vprof_recorder_options o = { .ring_bytes = ring_bytes, .store = store, .arg = &file };
	struct vprof_recorder_state state;
	struct vprof_error err = { "" };
	struct vprof_recorder *recorder;
	int go[2];

	memset(r, 0, sizeof *r);
	assert_non_null(mkdtemp(folder));
	vprof_clock_start(&file.clock, vprof_clock_choose());
	o.clock = file.clock.kind;
	o.ns_per_tick = file.clock.ns_per_tick;
	o.kinds = how & RECORD_WITHOUT_DRAIN ? VP_KERNEL_SCHEDULING :
		  how & RECORD_CALLS	     ? VP_KERNEL_USUAL | VP_KERNEL_STACKS | VP_KERNEL_CALLS | VP_KERNEL_FAULTS :
		  how & RECORD_STACKS	     ? VP_KERNEL_USUAL | VP_KERNEL_STACKS :
		  how & RECORD_SOCKETS_ALONE ? VP_KERNEL_SOCKETS :
		  how & RECORD_SOCKETS	     ? VP_KERNEL_USUAL | VP_KERNEL_SOCKETS :
					       VP_KERNEL_USUAL;
	o.timer_hz = (how & (RECORD_CALLS | RECORD_SPACED)) == RECORD_CALLS ? 1000 : 0;
	o.spacing_ns = how & RECORD_SPACED ? 1000000 : 0;
	if (!recorder_looks_up)
		recorder_looks_up = mmap(NULL, sizeof *recorder_looks_up, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(recorder_looks_up, MAP_FAILED);
	*recorder_looks_up = 0;
	assert_int_equal(pipe(go), 0);
	r->pid = fork();
	if (!r->pid) {
		close(go[1]);
		if (read(go[0], &nothing, 1) < 0)
			_exit(99);
		_exit(program());
	}
	close(go[0]);
	if (vprof_records_open(&file, folder, 0, VPROF_COMPRESS_OFF, &err) ||
	    vprof_recorder_open(&recorder, &o, &err) || vprof_recorder_add(recorder, r->pid, &err) < 0)
		fail_msg("%s", err.message);
	close(go[1]);
	while (wait4(r->pid, &r->status, how & RECORD_WITHOUT_DRAIN ? 0 : WNOHANG, &r->usage) != r->pid) {
		vprof_recorder_drain(recorder);
		vprof_recorder_look(recorder, &state);
		__atomic_store_n(recorder_looks_up, state.looks_up, __ATOMIC_RELEASE);
		usleep(1000);
	}
	vprof_recorder_stop(recorder);
	vprof_recorder_look(recorder, &state);
	file.header.kernel_scope = VP_KERNEL_TREE;
	file.header.kernel_kinds = state.kinds;
	file.header.n_kernel_events = state.n_events;
	file.header.n_kernel_lost = state.n_lost;
	file.header.n_kernel_unseen = state.n_unseen;
	file.header.kernel_error_ns = state.error_ns;
	assert_int_equal(vprof_records_finish(&file), 0);
	read_back(r, folder);
	vprof_recorder_close(recorder);
	vprof_records_release(&file);
	vprof_dir_remove(folder, NULL);
}

void wait_until_asleep(uint32_t pid, uint32_t tid)
{
	char path[64], line[256], state;

	snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, tid);
	do {
		FILE *f = fopen(path, "re");
		const char *after;

		state = 0;
		if (f && fgets(line, sizeof line, f) && (after = strrchr(line, ')')))
			sscanf(after + 1, " %c", &state);
		if (f)
			fclose(f);
	} while (state != 'S');
}

enum place { UNKNOWN, RUNNING, RUNNABLE, ASLEEP };

struct thread {
	uint32_t tid;
	enum place place;
	int is_woken; /* since it came to a CPU last */
};

/* 0: it cannot have been there, or there is a waking that nobody told. */
static int move(struct thread *thread, const struct vprof_kernel_event *e)
{
	enum place before = thread->place;

	if (e->kind == VP_KIND_KERNEL_WAKING) {
		thread->is_woken |= e->waking.wakee_tid == thread->tid;
		return 1;
	}
	if (e->kind != VP_KIND_KERNEL_SWITCH)
		return 1;
	if (e->sched.prev_tid == thread->tid) {
		thread->place = e->sched.state == VP_TASK_STATE_RUNNABLE || e->sched.state == VP_TASK_STATE_PREEMPTED ?
					RUNNABLE :
					ASLEEP;
		return before == UNKNOWN || before == RUNNING;
	}
	if (e->sched.next_tid == thread->tid) {
		int is_right = before != RUNNING && (before != ASLEEP || thread->is_woken);

		thread->place = RUNNING;
		thread->is_woken = 0;
		return is_right;
	}
	return 1;
}

int is_whole(const struct recorded *r)
{
	VPROF_ARRAY(struct thread) threads = { 0 };
	int whole = r->header.n_kernel_unseen == 0;

	*VPROF_PUSH(&threads) = (struct thread){ .tid = (uint32_t)r->pid };
	for (size_t i = 0; i < r->n; i++) {
		const struct vprof_kernel_event *e = &r->events[i];

		if (e->kind == VP_KIND_KERNEL_FORK)
			*VPROF_PUSH(&threads) = (struct thread){ .tid = e->task.tid };
		for (size_t k = 0; k < threads.n; k++)
			whole &= move(&threads.v[k], e);
	}
	VPROF_ARRAY_RELEASE(&threads);
	return whole;
}

void release(struct recorded *r)
{
	free(r->events);
	vprof_kernel_tables_release(&r->tables);
}
