/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of more than 16 bytes: of pointers, which count as if they were read one by one, and of numbers, which are
 * handed over by copies only. A copy may take over what several sections stored, as a consumer does that empties a
 * queue at once: each of them counts.
 */
#include "analysis/flows/flow_finder.h"

static uint64_t value_of(const struct vprof_flow_record *r, uint32_t i)
{
	return (&r[1 + i / 3].a)[i % 3];
}

/* A copy moves every granule exactly; what is not known yet is produced by it, except on the thread's own stack. */
static void move(struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	for (uint32_t i = 0; i < r->count / 8; i++) {
		uint64_t value = value_of(r, i), to = r->a + 8 * (uint64_t)i, from = r->b + 8 * (uint64_t)i;
		struct vprof_flow_origin origin = { VPROF_FLOW_UNKNOWN };
		const struct vprof_flow_taken *moved = NULL;

		if (r->b)
			origin = vprof_flow_look(&f->dictionary, vprof_flow_space(f, from), from, value, &f->under);
		else
			moved = value >= VPROF_FLOW_SMALLEST_MOVED ? vprof_flow_find_taken(f, value) : NULL;
		if (moved)
			origin = moved->origin;
		if (r->b && vprof_flow_is_pointer(value))
			vprof_flow_take(f, value, &origin, r->c);
		if (!r->a || (r->flags & VPROF_FLOW_STACK && origin.state == VPROF_FLOW_UNKNOWN))
			continue;
		if (origin.state == VPROF_FLOW_UNKNOWN && (value || r->b))
			origin = vprof_flow_produced(f, r, to);
		else if (origin.state == VPROF_FLOW_UNKNOWN)
			origin.state = VPROF_FLOW_INVALID;
		vprof_flow_put(f, vprof_flow_space(f, to), to, value, &origin);
	}
}

static int is_known(const struct vprof_flow_finder *f, size_t from, uint64_t part)
{
	for (size_t i = from; i < f->open->outs.n; i++)
		if (f->open->outs.v[i].origin.part == part)
			return 1;
	return 0;
}

/* Each section of another thread that stored something of it, by the first granule. */
static void take_out(struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	size_t before = f->open->outs.n;

	for (uint32_t i = 0; r->b && i < r->count / 8; i++) {
		uint64_t value = value_of(r, i), from = r->b + 8 * (uint64_t)i, space = vprof_flow_space(f, from);
		struct vprof_flow_origin origin = vprof_flow_look(&f->dictionary, space, from, value, &f->under);
		struct vprof_flow_copied *out;

		if (origin.state == VPROF_FLOW_UNKNOWN)
			origin = vprof_flow_look_half(&f->dictionary, space, from, value, &f->under);
		if (origin.state != VPROF_FLOW_VALID || origin.thread == f->thread || is_known(f, before, origin.part))
			continue;
		out = VPROF_PUSH(&f->open->outs);
		if (!out) {
			f->failed = 1;
			return;
		}
		*out = (struct vprof_flow_copied){ r, origin, vprof_flow_site_number(f, r->c), vprof_flow_nested_of(f),
						   f->part };
	}
}

void vprof_flow_process_copy(struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	f->p->n_writes++;
	take_out(f, r);
	move(f, r);
}

/* Was a pointer in the copy consumed? Then the copy is not counted as well. */
static int has_consumed_pointer(const struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	for (uint32_t i = 0; i < r->count / 8; i++) {
		uint64_t value = value_of(r, i);
		const struct vprof_flow_taken *taken = vprof_flow_is_pointer(value) ? vprof_flow_find_taken(f, value) :
										      NULL;

		if (taken && taken->origin.state == VPROF_FLOW_VALID && taken->origin.thread != f->thread &&
		    vprof_flow_use_find(f->t, f->section->number, value, 0))
			return 1;
	}
	return 0;
}

/* Into a range that was read afterwards, or into a local variable, whose reads the compiler does not tell. */
static int is_consumed(const struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	return !has_consumed_pointer(f, r) && (!r->a || vprof_flow_use_find(f->t, f->section->number, r->a, 1));
}

void vprof_flow_consume_copies(struct vprof_flow_finder *f)
{
	const struct vprof_flow_record *last = NULL;
	int is_last_consumed = 0;

	for (size_t i = 0; i < f->open->outs.n && !f->failed; i++) {
		const struct vprof_flow_copied *out = &f->open->outs.v[i];
		struct vprof_flow_pair *pair;

		if (out->record != last)
			is_last_consumed = is_consumed(f, out->record);
		last = out->record;
		if (!is_last_consumed)
			continue;
		pair = vprof_flow_pair_of(f, out->origin.site, out->site, 1);
		if (pair)
			vprof_flow_consume(f, pair, &out->origin, out->origin.address, out->nested, out->part, 1);
	}
}
