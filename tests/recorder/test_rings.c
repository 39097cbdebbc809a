/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which events are stored (recorder/rings.h). The test does what the kernel's programs do: it claims slots
 * and fills them, so that it is known which event lies where. An event's tid is its number in order of time.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/rings.h"
#include "trace/kernel_events.h"

#define CPUS 2
#define SHIFT 10 /* 1,024 slots */
#define N_SLOTS (1u << SHIFT)
#define NESTED_MOST 3

struct kernel {
	struct vprof_rings *rings;
	struct vp_ring_event *slots;
	struct vp_ring_claims claims[CPUS];
	struct vp_ring_freed freed[CPUS];
	int slots_map, rings_map;
	uint64_t ns, step_ns; /* of the next event; at most, between two */
	uint32_t n;	      /* events, of all CPUs */
	/* what was stored */
	uint32_t n_stored, last_tid[CPUS];
	uint64_t last_t[CPUS], n_lost;
	int is_exact; /* stored events are in order of time, at their time */
};

static uint64_t ns_of[1 << 20]; /* by tid */

static int keep(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	struct kernel *k = arg;
	uint32_t n_units = h->n_bytes / VP_UNIT_BYTES, cpu = h->process_seq - 1;

	for (uint32_t i = 0; i < n_units; i += vp_record_units(units[i].w)) {
		struct vprof_kernel_event e;

		assert_true(vprof_kernel_event_decode(&units[i], vp_record_units(units[i].w), cpu, &e));
		assert_true(e.t >= k->last_t[cpu]);
		k->last_t[cpu] = e.t;
		if (e.kind == VP_KIND_KERNEL_LOST) {
			k->n_lost += e.n_lost;
			continue;
		}
		assert_int_equal(e.kind, VP_KIND_KERNEL_SWITCH);
		k->n_stored++;
		if (!k->is_exact)
			continue;
		assert_true(e.sched.prev_tid > k->last_tid[cpu]);
		assert_int_equal(e.t, ns_of[e.sched.prev_tid]);
		k->last_tid[cpu] = e.sched.prev_tid;
	}
	return 0;
}

static void start(struct kernel *k, uint64_t from_ns, uint64_t step_ns, int is_exact)
{
	LIBBPF_OPTS(bpf_map_create_opts, mapped, .map_flags = BPF_F_MMAPABLE);
	LIBBPF_OPTS(bpf_map_create_opts, of_rings);
	struct vprof_rings_options o = { .sizes = { .n_cpus = CPUS, .slots_shift = SHIFT, .ring_bytes = 4096 },
					 .clock = VP_CLOCK_MONOTONIC,
					 .ns_per_tick = 1,
					 .store = keep,
					 .arg = k };
	struct vprof_error err;

	memset(k, 0, sizeof *k);
	k->ns = from_ns;
	k->step_ns = step_ns;
	k->is_exact = is_exact;
	k->slots_map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slots", 4, VP_RING_SLOT_BYTES, CPUS * N_SLOTS, &mapped);
	of_rings.inner_map_fd = (uint32_t)bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, 4096, NULL);
	k->rings_map = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", 4, 4, CPUS, &of_rings);
	assert_true(k->slots_map >= 0 && k->rings_map >= 0);
	close((int)of_rings.inner_map_fd);
	k->slots = mmap(NULL, CPUS * N_SLOTS * VP_RING_SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, k->slots_map, 0);
	assert_ptr_not_equal(k->slots, MAP_FAILED);
	o.slots = k->slots_map;
	o.rings = k->rings_map;
	o.claims = k->claims;
	o.freed = k->freed;
	assert_int_equal(vprof_rings_open(&k->rings, &o, &err), VPROF_OK);
}

static uint64_t n_free(const struct kernel *k, int cpu)
{
	return N_SLOTS - (k->claims[cpu].n_claimed - k->freed[cpu].n);
}

static struct vp_ring_event *claim(struct kernel *k, int cpu)
{
	uint64_t number;
	struct vp_ring_event *e;

	assert_true(n_free(k, cpu) > 0);
	number = ++k->claims[cpu].n_claimed;
	e = &k->slots[((unsigned)cpu << SHIFT) + ((number - 1) & (N_SLOTS - 1))];
	e->next_stamp = (uint32_t)number;
	return e;
}

static void fill(struct vp_ring_event *e, uint32_t tid)
{
	e->ns = ns_of[tid];
	e->n_lost = 0;
	e->kind = VP_KIND_KERNEL_SWITCH;
	e->context = e->detail = 0;
	e->tid = tid;
	e->other = 0;
	e->kernel_stack = e->user_stack = 0;
	e->source_id = 0;
	__atomic_store_n(&e->stamp, e->next_stamp, __ATOMIC_RELEASE);
}

/* A program takes the time, is interrupted by others with some probability, and then claims its slot. */
static void run_program(struct kernel *k, int cpu, int depth)
{
	uint32_t tid = ++k->n;

	assert_true(tid < sizeof ns_of / sizeof *ns_of);
	ns_of[tid] = k->ns += 1 + (uint64_t)rand() % k->step_ns;
	for (int i = depth < NESTED_MOST && rand() % 8 == 0 ? 1 + rand() % 4 : 0; i; i--)
		run_program(k, cpu, depth + 1);
	fill(claim(k, cpu), tid);
}

#define RUN_MOST 85 /* programs in one: 1 + 4 + 16 + 64 */

static void run_programs(struct kernel *k, int n)
{
	while (n-- > 0) {
		int cpu = rand() % CPUS;

		if (n_free(k, cpu) >= RUN_MOST)
			run_program(k, cpu, 0);
	}
}

/* The recording ends: so many events were stored and lost. */
static void finish(struct kernel *k, uint32_t n_stored, uint64_t n_lost)
{
	while (vprof_rings_drain(k->rings, k->ns, 1))
		;
	vprof_rings_flush(k->rings);
	assert_int_equal(k->n_stored, n_stored);
	assert_int_equal(k->n_lost, n_lost);
	vprof_rings_close(k->rings);
	munmap(k->slots, CPUS * N_SLOTS * VP_RING_SLOT_BYTES);
	close(k->slots_map);
	close(k->rings_map);
}

/* Looked at now and then: each event is stored once, at its time and in its place. */
static void test_order(void **state)
{
	struct kernel k;

	(void)state;
	srand(1);
	start(&k, 1000000000, 20000, 1);
	for (int i = 0; i < 400; i++) {
		run_programs(&k, rand() % 900);
		vprof_rings_drain(k.rings, k.ns, 0);
	}
	assert_true(k.n > 100000);
	finish(&k, k.n, 0);
}

/* Young events stay, so that an older one that comes behind them gets its place; and so do those behind a slot that is
 * not complete. */
static void test_hold(void **state)
{
	const uint64_t now = 1000000000;
	struct vp_ring_event *late;
	uint64_t n_events, n_lost;
	struct kernel k;

	(void)state;
	start(&k, now, 1, 1);
	for (uint32_t tid = 1; tid <= 5; tid++)
		ns_of[tid] = now + tid;
	fill(claim(&k, 0), 1);
	fill(claim(&k, 0), 3);
	vprof_rings_drain(k.rings, now + 2 + VPROF_RINGS_HOLD_NS, 0);
	assert_int_equal(k.freed[0].n, 1);
	fill(claim(&k, 0), 2);
	late = claim(&k, 0);
	fill(claim(&k, 0), 5);
	vprof_rings_drain(k.rings, now + 3 + VPROF_RINGS_HOLD_NS, 0);
	assert_int_equal(k.freed[0].n, 1); /* 2 is old enough, and lies behind 3, which is not */
	vprof_rings_drain(k.rings, now + 9 + VPROF_RINGS_HOLD_NS, 0);
	assert_int_equal(k.freed[0].n, 3);
	vprof_rings_count(k.rings, &n_events, &n_lost);
	assert_int_equal(n_events, 5);
	fill(late, 4);
	finish(&k, 5, 0);
}

/* Faster than a look can put into order: times may be those of the events before, but nothing is lost. */
static void test_dense(void **state)
{
	struct kernel k;

	(void)state;
	srand(2);
	start(&k, 1000000000, 40, 0);
	for (int i = 0; i < 300; i++) {
		run_programs(&k, 1600);
		vprof_rings_drain(k.rings, k.ns, 0);
		assert_true(n_free(&k, 0) > N_SLOTS / 2);
	}
	finish(&k, k.n, 0);
}

/* A program that claimed a slot and never filled it: what lies behind it is lost, and counted. */
static void test_unfinished(void **state)
{
	struct kernel k;

	(void)state;
	start(&k, 1000000000, 1000, 1);
	run_programs(&k, 10);
	claim(&k, 0);
	fill(claim(&k, 0), 1);
	finish(&k, k.n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order), cmocka_unit_test(test_hold),
					    cmocka_unit_test(test_dense), cmocka_unit_test(test_unfinished) };
	int map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, 4096, NULL);

	if (map < 0) {
		perror("the kernel gives no maps");
		return 77;
	}
	close(map);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
