/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One event for each CPU: the kernel lets inherited events share a ring only if they stay on one CPU.
 *
 * Times are taken by the kernel from CLOCK_MONOTONIC_RAW, which NTP does not adjust, or from CLOCK_MONOTONIC when that
 * is the run's clock.
 */
#define _GNU_SOURCE
#include "trace/switches.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "trace/clock_tie.h"
#include "trace/format.h"

#define RING_MAX_BYTES (512u << 10) /* of each CPU: 16,384 switches */
#define RINGS_MAX_BYTES (64u << 20)

/* PERF_RECORD_SWITCH and what follows it by sample_type; PERF_RECORD_LOST has two words in between. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
};

struct ring {
	struct perf_event_mmap_page *page;
	uint32_t cpu;
	int fd;
	uint64_t last_t;
};

struct vprof_switches {
	struct ring *rings;
	size_t n_rings;
	size_t ring_bytes, page_bytes;
	struct vprof_clock_tie tie;
};

static int paranoid_level(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = -100;

	if (f && fscanf(f, "%d", &level) != 1)
		level = -100;
	if (f)
		fclose(f);
	return level;
}

static int refuse(struct vprof_error *err, int error)
{
	int level = paranoid_level();

	if (level == -100 || error == ENOSYS || error == ENOENT || error == EOPNOTSUPP)
		return vprof_error_set(err, VPROF_ERR_FAILED, "this kernel has no perf events");
	if ((error == EACCES || error == EPERM) && level > 2)
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       "kernel.perf_event_paranoid is %d; allow it with: sysctl "
				       "kernel.perf_event_paranoid=2",
				       level);
	if (error == EACCES || error == EPERM)
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       "perf_event_open is forbidden here, by a container or a sandbox; "
				       "allow it (docker run --security-opt seccomp=unconfined)");
	if (error == EMFILE || error == ENFILE)
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       "the limit on open files is too low for one event per CPU; "
				       "raise it (ulimit -n)");
	return vprof_error_set(err, VPROF_ERR_FAILED, "perf_event_open failed: %s", strerror(error));
}

/* Linux distinguishes preempted from blocked threads since 4.17. */
static int kernel_is_old(void)
{
	struct utsname name;
	int major, minor;

	return !uname(&name) && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
	       (major < 4 || (major == 4 && minor < 17));
}

static int open_event(const struct vprof_switches *s, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.disabled = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.enable_on_exec = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.context_switch = 1,
		.task = 1,
		.clockid = s->tie.clockid,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_events(struct vprof_switches *s, pid_t pid, struct vprof_error *err)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	s->rings = calloc(n > 0 ? (size_t)n : 1, sizeof *s->rings);
	if (!s->rings)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the events of %ld CPUs", n);
	for (int cpu = 0; cpu < n; cpu++) {
		int fd = open_event(s, pid, cpu);

		if (fd < 0 && (errno == ENODEV || errno == ENXIO)) /* offline */
			continue;
		if (fd < 0)
			return refuse(err, errno);
		s->rings[s->n_rings++] = (struct ring){ .cpu = (uint32_t)cpu, .fd = fd };
	}
	return s->n_rings ? VPROF_OK :
			    vprof_error_set(err, VPROF_ERR_FAILED, "context switches could not be recorded on any CPU");
}

static void unmap_rings(struct vprof_switches *s)
{
	for (size_t i = 0; i < s->n_rings; i++) {
		if (s->rings[i].page)
			munmap(s->rings[i].page, s->page_bytes + s->ring_bytes);
		s->rings[i].page = NULL;
	}
}

static int map_rings(struct vprof_switches *s)
{
	for (size_t i = 0; i < s->n_rings; i++) {
		void *map = mmap(NULL, s->page_bytes + s->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				 s->rings[i].fd, 0);

		if (map == MAP_FAILED) {
			int error = errno;

			unmap_rings(s);
			return error;
		}
		s->rings[i].page = map;
	}
	return 0;
}

/* The largest rings that may be locked in memory. */
static int find_room(struct vprof_switches *s, struct vprof_error *err)
{
	int error = ENOMEM;

	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->ring_bytes = RING_MAX_BYTES;
	while (s->ring_bytes > s->page_bytes && s->ring_bytes * s->n_rings > RINGS_MAX_BYTES)
		s->ring_bytes /= 2;
	for (; s->ring_bytes >= s->page_bytes; s->ring_bytes /= 2) {
		error = map_rings(s);
		if (!error)
			return VPROF_OK;
		if (error != EPERM && error != ENOMEM && error != EAGAIN)
			break;
	}
	return vprof_error_set(err, VPROF_ERR_FAILED,
			       "not enough memory for the kernel's switch records (%s); raise the limit with: sysctl "
			       "kernel.perf_event_mlock_kb=2064, or ulimit -l",
			       strerror(error));
}

int vprof_switches_open(struct vprof_switches **out, pid_t pid, enum vp_clock clock, struct vprof_error *err)
{
	struct vprof_switches *s = calloc(1, sizeof *s);
	int code;

	*out = NULL;
	if (!s)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the kernel's switch records");
	vprof_clock_tie_start(&s->tie, clock, clock == VP_CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW);
	if (kernel_is_old())
		code = vprof_error_set(err, VPROF_ERR_FAILED,
				       "this kernel does not distinguish preempted threads from blocked ones; "
				       "Linux 4.17 and later do");
	else
		code = open_events(s, pid, err);
	if (!code)
		code = find_room(s, err);
	if (code) {
		vprof_switches_close(s);
		return code;
	}
	vprof_clock_tie_start(&s->tie, s->tie.clock, s->tie.clockid);
	*out = s;
	return VPROF_OK;
}

void vprof_switches_close(struct vprof_switches *s)
{
	if (!s)
		return;
	unmap_rings(s);
	for (size_t i = 0; i < s->n_rings; i++)
		close(s->rings[i].fd);
	free(s->rings);
	free(s);
}

static void copy_out(const struct vprof_switches *s, const struct ring *ring, uint64_t at, void *to, size_t n)
{
	const char *data = (const char *)ring->page + s->page_bytes;
	size_t offset = at & (s->ring_bytes - 1), first = s->ring_bytes - offset;

	first = first < n ? first : n;
	memcpy(to, data + offset, first);
	memcpy((char *)to + first, data, n - first);
}

/* One record of the kernel to an event; 0 when it is of no interest. */
static int decode(const struct vprof_switches *s, const struct ring *ring, uint64_t at,
		  const struct perf_event_header *h, struct vprof_switch_event *e)
{
	struct sample_id id;
	size_t before = sizeof *h;

	*e = (struct vprof_switch_event){ .is_start = h->type == PERF_RECORD_FORK };
	if (e->is_start)
		return 1;
	if (h->type == PERF_RECORD_LOST && h->size >= sizeof *h + 16 + sizeof id) {
		copy_out(s, ring, at + sizeof *h + 8, &e->n_lost, sizeof e->n_lost);
		before += 16;
	} else if (h->type != PERF_RECORD_SWITCH || h->size < sizeof *h + sizeof id) {
		return 0;
	}
	copy_out(s, ring, at + before, &id, sizeof id);
	e->t = vprof_clock_tie_ticks(&s->tie, id.time);
	e->tid = id.tid;
	if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
		e->flags = VP_SWITCH_OUT | (h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? VP_SWITCH_PREEMPTED : 0);
	return h->type == PERF_RECORD_SWITCH || e->n_lost;
}

static void drain_ring(struct vprof_switches *s, struct ring *ring, uint64_t head,
		       void (*event)(void *arg, uint32_t cpu, const struct vprof_switch_event *e), void *arg)
{
	uint64_t at = ring->page->data_tail;

	while (at < head) {
		struct perf_event_header h;
		struct vprof_switch_event e;

		copy_out(s, ring, at, &h, sizeof h);
		if (h.size < sizeof h || h.size > head - at)
			break;
		if (decode(s, ring, at, &h, &e)) {
			e.t = e.t < ring->last_t ? ring->last_t : e.t; /* of a start, too */
			ring->last_t = e.t;
			event(arg, ring->cpu, &e);
		}
		at += h.size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

uint32_t vprof_switches_processors(const struct vprof_switches *s)
{
	return (uint32_t)s->n_rings;
}

void vprof_switches_drain(struct vprof_switches *s,
			  void (*event)(void *arg, uint32_t cpu, const struct vprof_switch_event *e), void *arg)
{
	uint64_t heads[64];

	for (size_t first = 0; first < s->n_rings; first += 64) {
		size_t n = s->n_rings - first < 64 ? s->n_rings - first : 64;
		int any = 0;

		for (size_t i = 0; i < n; i++) {
			heads[i] = __atomic_load_n(&s->rings[first + i].page->data_head, __ATOMIC_ACQUIRE);
			any |= heads[i] != s->rings[first + i].page->data_tail;
		}
		if (!any)
			continue;
		vprof_clock_tie_step(&s->tie); /* after everything up to the heads */
		for (size_t i = 0; i < n; i++)
			drain_ring(s, &s->rings[first + i], heads[i], event, arg);
	}
}
