/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of analysis/flows over recordings written by hand: each test is one rule of docs/design/flows.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/flows/flow_pairs.h"
#include "analysis/flows/flow_verdict.h"

#define LOCK 0x1000
#define HEAD 0x20000
#define ITEM(i) (UINT64_C(0x700000) + 0x100 * (uint64_t)(i))
#define PRODUCER 1
#define CONSUMER 2
#define STORE 0x401000
#define LOAD 0x402000

/* One process's file, filled entry by entry. */
struct recording {
	unsigned char *bytes;
	size_t n;
	uint64_t number; /* of the last section */
};

static struct vprof_flow_chunk *chunk_of(struct recording *r)
{
	return (void *)(r->bytes + r->n - VPROF_FLOW_CHUNK_BYTES);
}

static void add_chunk(struct recording *r)
{
	r->bytes = realloc(r->bytes, r->n + VPROF_FLOW_CHUNK_BYTES);
	assert_non_null(r->bytes);
	memset(r->bytes + r->n, 0, VPROF_FLOW_CHUNK_BYTES);
	r->n += VPROF_FLOW_CHUNK_BYTES;
	chunk_of(r)->magic = VPROF_FLOW_CHUNK_MAGIC;
}

static int begin(void **state)
{
	struct recording *r = calloc(1, sizeof *r);
	struct vprof_flow_header *header;

	r->bytes = calloc(1, VPROF_FLOW_HEADER_BYTES);
	r->n = VPROF_FLOW_HEADER_BYTES;
	header = (void *)r->bytes;
	header->magic = VPROF_FLOW_MAGIC;
	header->version = VPROF_FLOW_VERSION;
	*state = r;
	return 0;
}

static int end(void **state)
{
	struct recording *r = *state;

	free(r->bytes);
	free(r);
	return 0;
}

static void add(struct recording *r, const struct vprof_flow_record *records, size_t n)
{
	struct vprof_flow_chunk *chunk = r->n > VPROF_FLOW_HEADER_BYTES ? chunk_of(r) : NULL;

	if (!chunk || sizeof *chunk + chunk->n_bytes + n * sizeof *records > VPROF_FLOW_CHUNK_BYTES) {
		add_chunk(r);
		chunk = chunk_of(r);
	}
	memcpy((char *)(chunk + 1) + chunk->n_bytes, records, n * sizeof *records);
	chunk->n_bytes += n * sizeof *records;
}

static void section(struct recording *r, uint64_t thread, uint64_t lock, const struct vprof_flow_record *accesses,
		    uint32_t n)
{
	struct vprof_flow_record all[64] = {
		{ .kind = VPROF_FLOW_SECTION, .count = n, .a = lock, .b = ++r->number, .c = thread }
	};

	memcpy(all + 1, accesses, n * sizeof *accesses);
	add(r, all, n + 1);
}

static void use(struct recording *r, uint64_t low, unsigned flags)
{
	const struct vprof_flow_record record = {
		.kind = VPROF_FLOW_USE, .flags = (uint16_t)flags, .a = r->number, .b = low, .c = LOAD + 0x100
	};

	add(r, &record, 1);
}

static struct vprof_flow_record store(uint64_t address, uint64_t value)
{
	return (struct vprof_flow_record){
		.kind = VPROF_FLOW_WRITE, .n_bytes = 8, .flags = VPROF_FLOW_FILLED, .a = address, .b = value, .c = STORE
	};
}

static struct vprof_flow_record load(uint64_t address, uint64_t value)
{
	return (struct vprof_flow_record){ .kind = VPROF_FLOW_READ, .n_bytes = 8, .a = address, .b = value, .c = LOAD };
}

static struct vprof_flow_record given(uint64_t address, uint64_t n)
{
	return (struct vprof_flow_record){ .kind = VPROF_FLOW_GIVEN, .a = address, .b = n };
}

static void put(struct recording *r, uint64_t thread, uint64_t lock, uint64_t address, uint64_t value)
{
	section(r, thread, lock, (struct vprof_flow_record[]){ store(address, value) }, 1);
}

static void get(struct recording *r, uint64_t thread, uint64_t lock, uint64_t address, uint64_t value, unsigned flags)
{
	section(r, thread, lock, (struct vprof_flow_record[]){ load(address, value) }, 1);
	use(r, value, flags);
}

static void find(struct recording *r, struct vprof_flow_pairs *pairs, struct vprof_flow_trace *t)
{
	memset(pairs, 0, sizeof *pairs);
	memset(t, 0, sizeof *t);
	assert_int_equal(vprof_flow_trace_add(t, r->bytes, r->n, 0, "by hand", NULL), 0);
	assert_int_equal(vprof_flow_trace_sort(t, NULL), 0);
	assert_int_equal(vprof_flow_pairs_find(pairs, t, NULL, NULL, NULL), 0);
}

static void release(struct vprof_flow_pairs *pairs, struct vprof_flow_trace *t)
{
	vprof_flow_pairs_release(pairs);
	vprof_flow_trace_release(t);
}

/* The verdict on the pair with the most flows; FEW when there is no pair. */
static enum vprof_flow_verdict verdict_of(struct recording *r, uint64_t *n_flows)
{
	enum vprof_flow_verdict verdict = VPROF_FLOW_FEW;
	struct vprof_flow_pairs pairs;
	struct vprof_flow_trace t;

	*n_flows = 0;
	find(r, &pairs, &t);
	for (size_t i = 0; i < pairs.pairs.n; i++)
		if (!i || pairs.pairs.v[i].n_flows > *n_flows) {
			*n_flows = pairs.pairs.v[i].n_flows;
			verdict = vprof_flow_judge(&pairs.pairs.v[i]);
		}
	release(&pairs, &t);
	return verdict;
}

static void what_another_thread_uses_is_a_flow(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		get(r, CONSUMER, LOCK, HEAD, ITEM(i), 0);
	}
	assert_int_equal(verdict_of(r, &n), VPROF_FLOW_FLOW);
	assert_int_equal(n, 20);
}

static void without_use_nothing_flows(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		const struct vprof_flow_record access = load(HEAD, ITEM(i));

		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		section(r, CONSUMER, LOCK, &access, 1);
	}
	verdict_of(r, &n);
	assert_int_equal(n, 0);
}

static void what_is_only_written_is_memory(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		get(r, CONSUMER, LOCK, HEAD, ITEM(i), VPROF_FLOW_WRITTEN);
	}
	assert_int_equal(verdict_of(r, &n), VPROF_FLOW_ALLOCATOR);
	assert_int_equal(n, 0);
}

static void another_lock_flushes(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		get(r, CONSUMER, LOCK + 8, HEAD, ITEM(i), 0);
	}
	verdict_of(r, &n);
	assert_int_equal(n, 0);
}

static void another_value_is_not_what_was_stored(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		get(r, CONSUMER, LOCK, HEAD, ITEM(i + 1), 0);
	}
	verdict_of(r, &n);
	assert_int_equal(n, 0);
}

static void constants_are_invalid(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		put(r, PRODUCER, LOCK, HEAD, 1 + (uint64_t)i);
		get(r, CONSUMER, LOCK, HEAD, 1 + (uint64_t)i, 0);
	}
	verdict_of(r, &n);
	assert_int_equal(n, 0);
}

#define TABLE 0x30000 /* of another lock, in which things are found */
#define TABLE_LOCK (LOCK + 0x800)

/* 20 items handed over, of which `n` are looked up in between, each by `thread`, as told. */
static enum vprof_flow_verdict looked_up(struct recording *r, int n, uint64_t thread, unsigned flags)
{
	uint64_t n_flows;

	for (int i = 0; i < 20; i++) {
		uint64_t at = (uint64_t)i * 8;

		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		if (i < n)
			get(r, thread, TABLE_LOCK, TABLE + at, ITEM(i), flags);
		get(r, CONSUMER, LOCK, HEAD, ITEM(i), 0);
	}
	return verdict_of(r, &n_flows);
}

static void what_others_find_elsewhere_is_undecided(void **state)
{
	assert_int_equal(looked_up(*state, 11, 3, 0), VPROF_FLOW_UNDECIDED);
}

static void half_of_it_is_a_flow(void **state)
{
	assert_int_equal(looked_up(*state, 10, 3, 0), VPROF_FLOW_FLOW);
}

static void what_others_only_write_is_a_flow(void **state)
{
	assert_int_equal(looked_up(*state, 20, 3, VPROF_FLOW_WRITTEN), VPROF_FLOW_FLOW);
}

static void what_producers_find_again_elsewhere_is_undecided(void **state)
{
	assert_int_equal(looked_up(*state, 11, PRODUCER, 0), VPROF_FLOW_UNDECIDED);
}

static void consumers_may_look_up(void **state)
{
	assert_int_equal(looked_up(*state, 20, CONSUMER, 0), VPROF_FLOW_FLOW);
}

/* The producer looks at what waits, where it stored it. */
static void what_producers_find_where_it_waits_is_a_flow(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		struct vprof_flow_record seen = load(HEAD, ITEM(i));

		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		seen.c = LOAD + 0x40; /* another function's */
		section(r, PRODUCER, LOCK, &seen, 1);
		use(r, ITEM(i), 0);
		get(r, CONSUMER, LOCK, HEAD, ITEM(i), 0);
	}
	assert_int_equal(verdict_of(r, &n), VPROF_FLOW_FLOW);
	assert_int_equal(n, 20);
}

/* Used before it was stored; or given to the other by the same thread. */
static void what_others_had_before_or_were_given_is_a_flow(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		get(r, 4, TABLE_LOCK, TABLE + (uint64_t)i * 8, ITEM(i), 0);
		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		put(r, PRODUCER, LOCK + 8, HEAD + 512, ITEM(i));
		get(r, 3, LOCK + 8, HEAD + 512, ITEM(i), 0);
		get(r, CONSUMER, LOCK, HEAD, ITEM(i), 0);
	}
	assert_int_equal(verdict_of(r, &n), VPROF_FLOW_FLOW);
	assert_int_equal(n, 40);
}

/* Look-ups are not recorded from the eleventh item on: of the others nothing is known. */
static void look_ups_that_are_recorded_no_more_count_no_more(void **state)
{
	const struct vprof_flow_record none = { .kind = VPROF_FLOW_ENOUGH, .a = 7, .b = 30 };
	struct vprof_flow_pairs pairs;
	struct recording *r = *state;
	struct vprof_flow_trace t;

	add(r, &none, 1);
	assert_int_equal(looked_up(r, 10, 3 | UINT64_C(7) << 32, 0), VPROF_FLOW_UNDECIDED);
	find(r, &pairs, &t);
	assert_int_equal(pairs.pairs.n, 1);
	assert_int_equal(pairs.pairs.v[0].n_flows, 20);
	assert_int_equal(pairs.pairs.v[0].n_asked, 10);
	assert_int_equal(pairs.pairs.v[0].n_shared, 10);
	release(&pairs, &t);
}

/* A third thread moves the item from one place to another: it stays the producer's. */
static void a_move_keeps_the_producer(void **state)
{
	struct vprof_flow_pairs pairs;
	struct recording *r = *state;
	struct vprof_flow_trace t;

	for (int i = 0; i < 20; i++) {
		struct vprof_flow_record move[] = { load(HEAD, ITEM(i)), store(HEAD + 512, ITEM(i)) };

		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		move[1].c = STORE + 0x500;
		section(r, 3, LOCK, move, 2);
		get(r, CONSUMER, LOCK, HEAD + 512, ITEM(i), 0);
	}
	find(r, &pairs, &t);
	assert_int_equal(pairs.pairs.n, 1);
	assert_int_equal(pairs.sites.v[pairs.pairs.v[0].producer].pc, STORE);
	assert_int_equal(pairs.pairs.v[0].n_flows, 20);
	release(&pairs, &t);
}

/* Memory that malloc gives again within the section: what is stored then is another object, of whoever stores it. A use
 * of it is no use of the one that was read. */
static void memory_given_again_is_another_object(void **state)
{
	struct recording *r = *state;
	struct vprof_flow_pairs pairs;
	struct vprof_flow_trace t;

	for (int i = 0; i < 20; i++) {
		struct vprof_flow_record again[] = { load(HEAD, ITEM(i) + 16), given(ITEM(i), 32),
						     store(HEAD + 512, ITEM(i) + 16) };

		put(r, PRODUCER, LOCK, HEAD, ITEM(i) + 16);
		again[2].c = STORE + 0x500;
		section(r, 3, LOCK, again, 3);
		use(r, ITEM(i) + 16, 0);
		get(r, CONSUMER, LOCK, HEAD + 512, ITEM(i) + 16, 0);
	}
	find(r, &pairs, &t);
	assert_int_equal(pairs.pairs.n, 1);
	assert_int_equal(pairs.pairs.v[0].n_flows, 20);
	assert_int_equal(pairs.sites.v[pairs.pairs.v[0].producer].pc, STORE + 0x500);
	release(&pairs, &t);
}

/* What lies beside the memory is still what it was. */
static void memory_given_beside_is_another(void **state)
{
	struct recording *r = *state;
	struct vprof_flow_pairs pairs;
	struct vprof_flow_trace t;

	for (int i = 0; i < 20; i++) {
		struct vprof_flow_record move[] = { load(HEAD, ITEM(i)), given(ITEM(i) + 1, 31),
						    given(ITEM(i) - 32, 32), store(HEAD + 512, ITEM(i)) };

		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		move[3].c = STORE + 0x500;
		section(r, 3, LOCK, move, 4);
		get(r, CONSUMER, LOCK, HEAD + 512, ITEM(i), 0);
	}
	find(r, &pairs, &t);
	assert_int_equal(pairs.pairs.n, 1);
	assert_int_equal(pairs.sites.v[pairs.pairs.v[0].producer].pc, STORE);
	release(&pairs, &t);
}

static void what_is_taken_again_is_state(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		get(r, CONSUMER, LOCK, HEAD, ITEM(i), 0);
		get(r, 3, LOCK, HEAD, ITEM(i), 0);
	}
	assert_int_equal(verdict_of(r, &n), VPROF_FLOW_STATE);
}

static void threads_that_do_both_have_no_roles(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		put(r, PRODUCER + i % 2, LOCK, HEAD, ITEM(i));
		get(r, CONSUMER - i % 2, LOCK, HEAD, ITEM(i), 0);
	}
	assert_int_equal(verdict_of(r, &n), VPROF_FLOW_ROLES);
	assert_int_equal(n, 20);
}

static void nine_are_too_few(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 9; i++) {
		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		get(r, CONSUMER, LOCK, HEAD, ITEM(i), 0);
	}
	assert_int_equal(verdict_of(r, &n), VPROF_FLOW_FEW);
	assert_int_equal(n, 9);
}

/* Objects go round: filled in and handed on by A, used and given back unchanged by B. */
static void a_pool_of_constructed_objects_is_undecided(void **state)
{
	struct recording *r = *state;
	struct vprof_flow_pairs pairs;
	struct vprof_flow_trace t;
	int n_flows = 0, n_undecided = 0;

	for (int i = 0; i < 40; i++) {
		struct vprof_flow_record back = store(HEAD + 512, ITEM(i % 4));

		put(r, PRODUCER, LOCK, HEAD, ITEM(i % 4));
		get(r, CONSUMER, LOCK, HEAD, ITEM(i % 4), 0);
		back.flags = 0;
		back.c = STORE + 0x500;
		section(r, CONSUMER, LOCK + 8, &back, 1);
		get(r, PRODUCER, LOCK + 8, HEAD + 512, ITEM(i % 4), 0);
	}
	find(r, &pairs, &t);
	for (size_t i = 0; i < pairs.pairs.n; i++) {
		n_flows += vprof_flow_judge(&pairs.pairs.v[i]) == VPROF_FLOW_FLOW;
		n_undecided += vprof_flow_judge(&pairs.pairs.v[i]) == VPROF_FLOW_UNDECIDED;
	}
	assert_int_equal(n_flows, 1);
	assert_int_equal(n_undecided, 1);
	release(&pairs, &t);
}

static void copied_numbers_count_when_their_range_is_read(void **state)
{
	struct recording *r = *state;
	uint64_t n;

	for (int i = 0; i < 20; i++) {
		const struct vprof_flow_record in[] = {
			{ .kind = VPROF_FLOW_COPY, .count = 24, .a = HEAD, .b = ITEM(0), .c = STORE },
			{ .kind = VPROF_FLOW_VALUES, .a = 1000 + (uint64_t)i, .b = 7, .c = 8 }
		};
		const struct vprof_flow_record out[] = {
			{ .kind = VPROF_FLOW_COPY, .count = 24, .a = ITEM(1), .b = HEAD, .c = LOAD },
			{ .kind = VPROF_FLOW_VALUES, .a = 1000 + (uint64_t)i, .b = 7, .c = 8 }
		};

		section(r, PRODUCER, LOCK, in, 2);
		section(r, CONSUMER, LOCK, out, 2);
		use(r, ITEM(1), VPROF_FLOW_RANGE);
	}
	assert_int_equal(verdict_of(r, &n), VPROF_FLOW_FLOW);
	assert_int_equal(n, 20);
}

/* As 24 bytes that begin with 4 and are stored by a copy of 20 and more; several sections' at once. */
static void a_copy_counts_for_each_section_that_it_takes_from(void **state)
{
	struct recording *r = *state;
	struct vprof_flow_pairs pairs;
	struct vprof_flow_trace t;

	for (uint64_t i = 0; i < 12; i++) {
		for (uint64_t k = 0; k < 2; k++) {
			uint64_t to = HEAD + 24 * k + 4;
			const struct vprof_flow_record in[] = {
				{ .kind = VPROF_FLOW_COPY, .count = 16, .a = to, .b = ITEM(0), .c = STORE },
				{ .kind = VPROF_FLOW_VALUES, .a = 5 | (100 * i + k) << 32, .b = 7 }
			};

			section(r, PRODUCER, LOCK, in, 2);
		}
		const struct vprof_flow_record out[] = {
			{ .kind = VPROF_FLOW_COPY, .count = 48, .a = ITEM(1), .b = HEAD, .c = LOAD },
			{ .kind = VPROF_FLOW_VALUES, .a = UINT64_C(5) << 32, .b = 100 * i | UINT64_C(7) << 32, .c = 0 },
			{ .kind = VPROF_FLOW_VALUES,
			  .a = UINT64_C(5) << 32,
			  .b = (100 * i + 1) | UINT64_C(7) << 32,
			  .c = 0 }
		};

		section(r, CONSUMER, LOCK, out, 3);
		use(r, ITEM(1), VPROF_FLOW_RANGE);
	}
	find(r, &pairs, &t);
	assert_int_equal(pairs.pairs.n, 1);
	assert_int_equal(pairs.pairs.v[0].n_flows, 24);
	assert_int_equal(vprof_flow_judge(&pairs.pairs.v[0]), VPROF_FLOW_FLOW);
	release(&pairs, &t);
}

static void add_shared(struct recording *r, uint64_t low, uint64_t high, unsigned flags)
{
	const struct vprof_flow_record record = {
		.kind = VPROF_FLOW_MAPPING, .flags = (uint16_t)flags, .a = low, .b = high, .c = 1
	};

	add(r, &record, 1);
}

/* Two processes: the second one's file is the same bytes at another index. An address is the same place in both only in
 * a mapping that both have. */
static uint64_t flows_between_processes(struct recording *producer, struct recording *consumer)
{
	struct vprof_flow_pairs pairs = { 0 };
	struct vprof_flow_trace t = { 0 };
	uint64_t n = 0;

	assert_int_equal(vprof_flow_trace_add(&t, producer->bytes, producer->n, 0, "one", NULL), 0);
	assert_int_equal(vprof_flow_trace_add(&t, consumer->bytes, consumer->n, 1, "other", NULL), 0);
	assert_int_equal(vprof_flow_trace_sort(&t, NULL), 0);
	assert_int_equal(vprof_flow_pairs_find(&pairs, &t, NULL, NULL, NULL), 0);
	for (size_t i = 0; i < pairs.pairs.n; i++)
		n += pairs.pairs.v[i].n_flows;
	release(&pairs, &t);
	return n;
}

static void processes_share_what_both_have_mapped(void **state)
{
	struct recording *r = *state;
	void *other_state;
	struct recording *other;

	assert_int_equal(begin(&other_state), 0);
	other = other_state;
	for (int i = 0; i < 20; i++) {
		other->number = r->number;
		put(r, PRODUCER, LOCK, HEAD, ITEM(i));
		other->number++;
		get(other, CONSUMER, LOCK, HEAD, ITEM(i), 0);
		r->number = other->number;
	}
	assert_int_equal(flows_between_processes(r, other), 0);
	add_shared(r, LOCK, HEAD + 64, 0);
	assert_int_equal(flows_between_processes(r, other), 0);
	add_shared(other, LOCK, HEAD + 64, 0);
	assert_int_equal(flows_between_processes(r, other), 20);
	add_shared(other, LOCK, HEAD + 64, VPROF_FLOW_GONE);
	assert_int_equal(flows_between_processes(r, other), 0);
	end(&other_state);
}

/* From there on stores with the same callers are not in the recording: what is read may be a later one's. */
static void nothing_follows_from_stores_that_are_recorded_no_more(void **state)
{
	struct recording *r = *state;
	struct vprof_flow_pairs pairs;
	struct vprof_flow_trace t;

	for (int i = 0; i < 40; i++) {
		const struct vprof_flow_record access = store(HEAD, ITEM(i % 20));
		const struct vprof_flow_record enough = { .kind = VPROF_FLOW_ENOUGH, .a = 7, .b = ++r->number };

		if (i < 20)
			section(r, PRODUCER | UINT64_C(7) << 32, LOCK, &access, 1);
		else if (i == 20)
			add(r, &enough, 1);
		get(r, CONSUMER, LOCK, HEAD, ITEM(i < 20 ? i : 19), 0);
	}
	find(r, &pairs, &t);
	assert_int_equal(pairs.pairs.n, 1);
	assert_int_equal(pairs.pairs.v[0].n_flows, 20);
	assert_int_equal(pairs.pairs.v[0].n_again, 0);
	assert_int_equal(vprof_flow_judge(&pairs.pairs.v[0]), VPROF_FLOW_FLOW);
	release(&pairs, &t);
}

static void damaged_entries_end_their_chunk(void **state)
{
	struct recording *r = *state;
	struct vprof_flow_record cut = { .kind = VPROF_FLOW_SECTION, .count = 500 };
	struct vprof_flow_record copy = { .kind = VPROF_FLOW_COPY, .count = 512 };
	struct vprof_flow_pairs pairs;
	struct vprof_flow_trace t;

	put(r, PRODUCER, LOCK, HEAD, ITEM(0));
	section(r, PRODUCER, LOCK, &copy, 1); /* values are missing */
	add_chunk(r);
	add(r, &cut, 1);
	add_chunk(r);
	chunk_of(r)->n_bytes = UINT64_MAX;
	find(r, &pairs, &t);
	assert_int_equal(t.sections.n, 1);
	assert_int_equal(t.n_damaged, 3);
	release(&pairs, &t);
}

static void other_files_are_refused(void **state)
{
	struct recording *r = *state;
	struct vprof_flow_header *header = (void *)r->bytes;
	struct vprof_flow_trace t = { 0 };

	header->version++;
	assert_int_equal(vprof_flow_trace_add(&t, r->bytes, r->n, 0, "newer", NULL), VPROF_ERR_INPUT);
	header->magic = 1;
	assert_int_equal(vprof_flow_trace_add(&t, r->bytes, r->n, 0, "other", NULL), VPROF_ERR_INPUT);
	assert_int_equal(vprof_flow_trace_add(&t, r->bytes, 8, 0, "short", NULL), VPROF_ERR_INPUT);
	vprof_flow_trace_release(&t);
}

/* Its process ended while it began the file. */
static void a_file_without_a_header_is_empty(void **state)
{
	struct recording *r = *state;
	struct vprof_flow_trace t = { 0 };

	put(r, PRODUCER, LOCK, HEAD, ITEM(0));
	memset(r->bytes, 0, VPROF_FLOW_HEADER_BYTES); /* as put left it */
	assert_int_equal(vprof_flow_trace_add(&t, r->bytes, r->n, 0, "begun", NULL), 0);
	assert_int_equal(t.sections.n, 0);
	vprof_flow_trace_release(&t);
}

/* Of an event, what is handled again or by threads that register says nothing; one's own events are a handler. */
static void events_are_judged_by_their_handlers(void **state)
{
	struct vprof_flow_role both = { .thread = 1, .n_produced = 20, .n_consumed = 20 };
	struct vprof_flow_pair p = { .is_event = 1, .n_flows = 20, .n_again = 500, .n_again_others = 100, .n_own = 3 };

	(void)state;
	p.roles.v = &both;
	p.roles.n = 1;
	assert_int_equal(vprof_flow_judge(&p), VPROF_FLOW_FLOW);
	p.is_event = 0;
	assert_int_equal(vprof_flow_judge(&p), VPROF_FLOW_STATE);
	p.is_event = 1;
	p.n_allocator = 20; /* only written */
	assert_int_equal(vprof_flow_judge(&p), VPROF_FLOW_ALLOCATOR);
	p = (struct vprof_flow_pair){ .is_event = 1, .n_own = 10 };
	assert_int_equal(vprof_flow_judge(&p), VPROF_FLOW_EVENTS);
	p.n_own = 9;
	assert_int_equal(vprof_flow_judge(&p), VPROF_FLOW_FEW);
	p.is_event = 0;
	p.n_own = 500;
	assert_int_equal(vprof_flow_judge(&p), VPROF_FLOW_FEW);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = { TEST(what_another_thread_uses_is_a_flow),
					    TEST(without_use_nothing_flows),
					    TEST(what_is_only_written_is_memory),
					    TEST(another_lock_flushes),
					    TEST(another_value_is_not_what_was_stored),
					    TEST(constants_are_invalid),
					    TEST(a_move_keeps_the_producer),
					    TEST(what_others_find_elsewhere_is_undecided),
					    TEST(half_of_it_is_a_flow),
					    TEST(what_others_only_write_is_a_flow),
					    TEST(what_producers_find_again_elsewhere_is_undecided),
					    TEST(consumers_may_look_up),
					    TEST(what_producers_find_where_it_waits_is_a_flow),
					    TEST(what_others_had_before_or_were_given_is_a_flow),
					    TEST(look_ups_that_are_recorded_no_more_count_no_more),
					    TEST(memory_given_again_is_another_object),
					    TEST(memory_given_beside_is_another),
					    TEST(what_is_taken_again_is_state),
					    TEST(threads_that_do_both_have_no_roles),
					    TEST(nine_are_too_few),
					    TEST(events_are_judged_by_their_handlers),
					    TEST(a_pool_of_constructed_objects_is_undecided),
					    TEST(copied_numbers_count_when_their_range_is_read),
					    TEST(a_copy_counts_for_each_section_that_it_takes_from),
					    TEST(processes_share_what_both_have_mapped),
					    TEST(nothing_follows_from_stores_that_are_recorded_no_more),
					    TEST(damaged_entries_end_their_chunk),
					    TEST(other_files_are_refused),
					    TEST(a_file_without_a_header_is_empty) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
