/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections are taken in the order of their numbers. Within one, what was read is kept as `taken`; a write of such a
 * value is a move, of another pointer a production, of anything else a constant or a computed value. After the section,
 * what was taken from another thread and then used is a flow.
 */
#include "analysis/flows/flow_pairs.h"

#include "analysis/flows/flow_finder.h"

#define MOVED_PARTS                                                                                                    \
	2 /* from the part in which it is read to that in which it is written: out of one lock, into another */

/* ---- numbering ---- */

static uint32_t thread_number(struct vprof_flow_finder *f, uint32_t process, uint64_t tid)
{
	uint64_t key = (uint64_t)process << 32 | (uint32_t)tid, *thread;
	size_t at;

	f->failed |= vprof_hash_index_room(&f->thread_index, 1);
	if (f->failed)
		return 0;
	VPROF_HASH_EACH(&f->thread_index, vprof_mix(key), at, i)
	{
		if (f->threads.v[i] == key)
			return i;
	}
	thread = VPROF_PUSH(&f->threads);
	if (!thread) {
		f->failed = 1;
		return 0;
	}
	*thread = key;
	vprof_hash_index_put(&f->thread_index, at, vprof_mix(key), (uint32_t)f->threads.n - 1);
	return (uint32_t)f->threads.n - 1;
}

/* The innermost lock's acquisition beneath the section's, NULL: there is none. */
const struct vprof_flow_record *vprof_flow_nested_of(const struct vprof_flow_finder *f)
{
	return f->open->nested.n ? f->open->nested.v[f->open->nested.n - 1] : NULL;
}

/* The same place of one module has one number in all processes. */
uint32_t vprof_flow_site_number(struct vprof_flow_finder *f, uint64_t pc)
{
	const struct vprof_flow_module *module = vprof_flow_module_find(f->t, f->section->process, pc);
	uint64_t offset = module ? pc - module->bias : pc;
	uint64_t hash = vprof_mix(offset) ^ f->owner;
	struct vprof_flow_site *site;
	size_t at;

	f->failed |= vprof_hash_index_room(&f->site_index, 1);
	if (f->failed)
		return 0;
	VPROF_HASH_EACH(&f->site_index, hash, at, i)
	{
		const struct vprof_flow_site *known = &f->p->sites.v[i];
		const struct vprof_flow_module *its;

		if (known->owner != f->owner)
			continue;
		if (known->process == f->section->process && known->pc == pc)
			return i;
		its = vprof_flow_module_find(f->t, known->process, known->pc);
		if (its && module && known->pc - its->bias == offset && !strcmp(its->path, module->path))
			return i;
	}
	site = VPROF_PUSH(&f->p->sites);
	if (!site) {
		f->failed = 1;
		return 0;
	}
	*site = (struct vprof_flow_site){ f->section->process, pc, f->owner, f->section->head,
					  vprof_flow_nested_of(f) };
	vprof_hash_index_put(&f->site_index, at, hash, (uint32_t)f->p->sites.n - 1);
	return (uint32_t)f->p->sites.n - 1;
}

struct vprof_flow_pair *vprof_flow_pair_of(struct vprof_flow_finder *f, uint32_t producer, uint32_t consumer,
					   int is_range)
{
	uint64_t hash = vprof_mix((uint64_t)producer << 32 | consumer) + (uint64_t)is_range;
	struct vprof_flow_pair *pair;
	size_t at;

	f->failed |= vprof_hash_index_room(&f->pair_index, 1);
	if (f->failed)
		return NULL;
	VPROF_HASH_EACH(&f->pair_index, hash, at, i)
	{
		pair = &f->p->pairs.v[i];
		if (pair->producer == producer && pair->consumer == consumer && pair->is_range == is_range)
			return pair;
	}
	pair = VPROF_PUSH(&f->p->pairs);
	if (!pair) {
		f->failed = 1;
		return NULL;
	}
	pair->producer = producer;
	pair->consumer = consumer;
	pair->is_range = is_range;
	pair->lock = f->section->head->flags & VPROF_FLOW_OBSERVE ? 0 : f->section->head->a;
	pair->is_event = (f->section->head->flags & VPROF_FLOW_EVENT) != 0;
	vprof_hash_index_put(&f->pair_index, at, hash, (uint32_t)f->p->pairs.n - 1);
	return pair;
}

static struct vprof_flow_role *role_of(struct vprof_flow_finder *f, struct vprof_flow_pair *pair, uint32_t thread)
{
	static struct vprof_flow_role nowhere;
	struct vprof_flow_role *role;

	for (size_t i = 0; i < pair->roles.n; i++)
		if (pair->roles.v[i].thread == thread)
			return &pair->roles.v[i];
	role = VPROF_PUSH(&pair->roles);
	if (!role) {
		f->failed = 1;
		return &nowhere;
	}
	role->thread = thread;
	return role;
}

/* ---- production ---- */

/* What is known of the pointer; NULL: nothing, and *at and *hash are where it would be put. */
static struct vprof_flow_pointer *find_pointer(const struct vprof_flow_finder *f, uint64_t value, size_t *at,
					       uint64_t *hash)
{
	uint64_t space = vprof_flow_space(f, value);

	*hash = vprof_mix(value ^ vprof_mix(space + 1));
	VPROF_HASH_EACH(&f->pointer_index, *hash, *at, i)
	{
		if (f->pointers.v[i].value == value && f->pointers.v[i].space == space)
			return &f->pointers.v[i];
	}
	return NULL;
}

/* The same, made when it is new; NULL without memory. */
static struct vprof_flow_pointer *pointer_of(struct vprof_flow_finder *f, uint64_t value)
{
	struct vprof_flow_pointer *pointer;
	uint64_t hash;
	size_t at;

	f->failed |= vprof_hash_index_room(&f->pointer_index, 1);
	if (f->failed)
		return NULL;
	pointer = find_pointer(f, value, &at, &hash);
	if (pointer)
		return pointer;
	pointer = VPROF_PUSH(&f->pointers);
	if (!pointer) {
		f->failed = 1;
		return NULL;
	}
	pointer->space = vprof_flow_space(f, value);
	pointer->value = value;
	pointer->pair = VPROF_NONE;
	vprof_hash_index_put(&f->pointer_index, at, hash, (uint32_t)f->pointers.n - 1);
	return pointer;
}

/* Whoever consumed the pointer hands it on: had it filled it in? */
static void note_passed_on(struct vprof_flow_finder *f, uint64_t value, const struct vprof_flow_origin *origin)
{
	uint64_t hash;
	size_t at;
	struct vprof_flow_pointer *pointer = find_pointer(f, value, &at, &hash);

	if (!pointer)
		return;
	if (pointer->thread == f->thread && pointer->pair != VPROF_NONE) {
		f->p->pairs.v[pointer->pair].n_passed_on += (uint64_t)origin->is_filled;
		f->p->pairs.v[pointer->pair].n_passed_blind += (uint64_t)(origin->is_blind && !origin->is_filled);
	}
	pointer->pair = VPROF_NONE;
}

static void note_held(struct vprof_flow_finder *f, uint64_t value, uint32_t pair)
{
	struct vprof_flow_pointer *pointer = pointer_of(f, value);

	if (!pointer)
		return;
	pointer->thread = f->thread;
	pointer->pair = pair;
}

/* In the place of the thread's own last use, or of the oldest. */
static void note_used(struct vprof_flow_finder *f, const struct vprof_flow_taken *taken)
{
	struct vprof_flow_pointer *pointer = pointer_of(f, taken->value);
	struct vprof_flow_user *user;

	if (!pointer)
		return;
	user = &pointer->users[0];
	for (size_t i = 0; i < VPROF_FLOW_USERS; i++) {
		if (pointer->users[i].part && pointer->users[i].thread == f->thread) {
			user = &pointer->users[i];
			break;
		}
		if (pointer->users[i].part < user->part)
			user = &pointer->users[i];
	}
	*user = (struct vprof_flow_user){ .part = taken->part,
					  .thread = f->thread,
					  .origin = taken->origin.state == VPROF_FLOW_VALID ? taken->origin.thread :
											      VPROF_NONE,
					  .origin_section = taken->origin.section,
					  .caller = (uint32_t)(f->section->head->c >> 32) };
}

/* Another thread than its consumer that has used it since it was produced, having found it elsewhere: a third one where
 * not the producer had stored it, or the producer where it had not stored it in the section in which it did for the
 * consumer. What the producer handed to several is no evidence, nor is a queue that it walks. NULL: there is none. */
static const struct vprof_flow_user *find_sharer(const struct vprof_flow_finder *f,
						 const struct vprof_flow_taken *taken)
{
	const struct vprof_flow_origin *origin = &taken->origin;
	uint64_t hash;
	size_t at;
	const struct vprof_flow_pointer *pointer = find_pointer(f, taken->value, &at, &hash);

	for (size_t i = 0; pointer && i < VPROF_FLOW_USERS; i++) {
		const struct vprof_flow_user *user = &pointer->users[i];

		if (user->part <= origin->part || user->thread == f->thread)
			continue;
		if (user->thread == origin->thread ? user->origin_section != origin->section :
						     user->origin != origin->thread)
			return user;
	}
	return NULL;
}

/* From which section on what these callers stored is not recorded any more; UINT64_MAX: it always is. */
static uint64_t known_until(const struct vprof_flow_finder *f, uint32_t thread, uint32_t caller)
{
	uint64_t until = UINT64_MAX;

	for (size_t i = 0; i < f->t->enough.n; i++) {
		const struct vprof_flow_enough *enough = &f->t->enough.v[i];

		if (enough->caller == caller && enough->process == f->threads.v[thread] >> 32 && enough->number < until)
			until = enough->number;
	}
	return until;
}

/* Of a flow. Where the sections in which it was found elsewhere are not recorded any more, nothing is known. */
static void count_shared(const struct vprof_flow_finder *f, struct vprof_flow_pair *pair,
			 const struct vprof_flow_user *sharer)
{
	if (!pair->asked_until || f->part <= pair->asked_until) {
		pair->n_asked++;
		pair->n_shared += sharer != NULL;
	}
	if (sharer) {
		uint64_t until = known_until(f, sharer->thread, sharer->caller);

		if (until != UINT64_MAX && (!pair->asked_until || until < pair->asked_until))
			pair->asked_until = until;
	}
}

struct vprof_flow_origin vprof_flow_produced(struct vprof_flow_finder *f, const struct vprof_flow_record *r,
					     uint64_t address)
{
	return (struct vprof_flow_origin){ .state = VPROF_FLOW_VALID,
					   .site = vprof_flow_site_number(f, r->c),
					   .thread = f->thread,
					   .section = f->section->number,
					   .part = f->part,
					   .address = address,
					   .caller = (uint32_t)(f->section->head->c >> 32),
					   .is_filled = (r->flags & VPROF_FLOW_FILLED) != 0,
					   .is_blind = (f->section->head->flags & VPROF_FLOW_BLIND) != 0 };
}

/* An atomic object hands over value by value: what it held in between does not matter. */
static uint64_t location_of(const struct vprof_flow_record *r, uint64_t value)
{
	return r->flags & VPROF_FLOW_ATOMIC ? (r->a ^ value << 1) | 1 : r->a;
}

const struct vprof_flow_taken *vprof_flow_find_taken(const struct vprof_flow_finder *f, uint64_t value)
{
	for (size_t i = f->open->taken.n; i-- > 0;)
		if (f->open->taken.v[i].n_before + MOVED_PARTS < f->open->n_parts)
			break;
		else if (f->open->taken.v[i].value == value)
			return &f->open->taken.v[i];
	return NULL;
}

void vprof_flow_put(struct vprof_flow_finder *f, uint64_t space, uint64_t address, uint64_t value,
		    const struct vprof_flow_origin *origin)
{
	f->failed |= vprof_flow_store(&f->dictionary, space, address, value, &f->under, origin);
}

static void process_write(struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	struct vprof_flow_origin origin = { VPROF_FLOW_INVALID };
	uint64_t value = r->b, address = location_of(r, value), space = vprof_flow_space(f, r->a);
	const struct vprof_flow_taken *moved =
		r->n_bytes == 8 && value >= VPROF_FLOW_SMALLEST_MOVED ? vprof_flow_find_taken(f, value) : NULL;

	f->p->n_writes++; /* on the thread's own stack as well: main() may have a queue among its variables */
	if (moved && r->flags & VPROF_FLOW_ATOMIC &&
	    vprof_flow_look(&f->dictionary, space, address, value, &f->under).state == VPROF_FLOW_VALID)
		return; /* it is put back where it was */
	if (moved && moved->origin.state != VPROF_FLOW_UNKNOWN)
		origin = moved->origin;
	else if (r->n_bytes == 8 && (moved || vprof_flow_is_pointer(value)))
		origin = vprof_flow_produced(f, r, address);
	if (origin.state == VPROF_FLOW_VALID && origin.section == f->section->number)
		note_passed_on(f, value, &origin);
	vprof_flow_put(f, space, address & ~(r->flags & VPROF_FLOW_ATOMIC ? UINT64_C(0) : UINT64_C(7)), value, &origin);
}

/* ---- taking over ---- */

void vprof_flow_take(struct vprof_flow_finder *f, uint64_t value, const struct vprof_flow_origin *origin, uint64_t pc)
{
	struct vprof_flow_taken *taken;

	if (origin->state == VPROF_FLOW_UNKNOWN && !vprof_flow_is_pointer(value))
		return;
	taken = VPROF_PUSH(&f->open->taken);
	if (taken)
		*taken = (struct vprof_flow_taken){
			value,	 *origin,	  vprof_flow_site_number(f, pc), vprof_flow_nested_of(f),
			f->part, f->open->n_parts
		};
	else
		f->failed = 1;
}

static void process_read(struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	struct vprof_flow_origin origin =
		vprof_flow_look(&f->dictionary, vprof_flow_space(f, r->a), location_of(r, r->b), r->b, &f->under);

	f->p->n_reads++;
	vprof_flow_take(f, r->b, &origin, r->c);
}

/* ---- consumption ---- */

enum again { FIRST, BY_SAME, BY_OTHER, CONTINUED };

/* A load and then the exchange that takes what was loaded are one acquisition. */
static enum again consume_again(struct vprof_flow_finder *f, struct vprof_flow_consumed *consumed)
{
	int follows = consumed->last == f->last_sections.v[f->thread];

	consumed->last = f->section->number;
	if (consumed->thread != f->thread)
		return BY_OTHER;
	return follows && !consumed->n_again++ && f->section->head->flags & VPROF_FLOW_OBSERVE ? CONTINUED : BY_SAME;
}

static enum again consume_once(struct vprof_flow_finder *f, uint64_t part, uint64_t what)
{
	uint64_t hash = vprof_mix(part) ^ vprof_mix(what);
	struct vprof_flow_consumed *consumed;
	size_t at;

	f->failed |= vprof_hash_index_room(&f->consumed_index, 1);
	if (f->failed)
		return BY_SAME;
	VPROF_HASH_EACH(&f->consumed_index, hash, at, i)
	{
		consumed = &f->consumed.v[i];
		if (consumed->part == part && consumed->what == what)
			return consume_again(f, consumed);
	}
	consumed = VPROF_PUSH(&f->consumed);
	if (!consumed) {
		f->failed = 1;
		return BY_SAME;
	}
	*consumed = (struct vprof_flow_consumed){ part, what, f->thread, 0, f->section->number };
	vprof_hash_index_put(&f->consumed_index, at, hash, (uint32_t)f->consumed.n - 1);
	return FIRST;
}

/* Later stores with the same callers were not recorded, so what lies there now may be a later one's. */
static int is_known_no_more(const struct vprof_flow_finder *f, const struct vprof_flow_origin *origin)
{
	return known_until(f, origin->thread, origin->caller) < f->part;
}

void vprof_flow_consume(struct vprof_flow_finder *f, struct vprof_flow_pair *pair,
			const struct vprof_flow_origin *origin, uint64_t what, const struct vprof_flow_record *nested,
			uint64_t part, int is_used)
{
	uint32_t number = (uint32_t)(pair - f->p->pairs.v);
	struct vprof_flow_event *event;
	enum again again;

	if (is_known_no_more(f, origin))
		return;
	if (!is_used) {
		pair->n_allocator++;
		return;
	}
	if (origin->thread == f->thread) {
		pair->n_own++;
		role_of(f, pair, f->thread)->n_consumed++;
		return;
	}
	again = consume_once(f, origin->part, what);
	pair->n_again += again == BY_SAME;
	pair->n_again_others += again == BY_OTHER;
	if (again != FIRST)
		return;
	if (!pair->n_flows) {
		f->p->sites.v[pair->consumer].first = f->section->head;
		f->p->sites.v[pair->consumer].nested = nested;
		f->p->sites.v[pair->consumer].process = f->section->process;
	}
	pair->n_flows++;
	pair->n_filled += (uint64_t)(origin->is_filled && !origin->is_blind);
	pair->n_blind += (uint64_t)origin->is_blind;
	role_of(f, pair, origin->thread)->n_produced++;
	role_of(f, pair, f->thread)->n_consumed++;
	event = VPROF_PUSH(&f->p->events);
	if (event)
		*event = (struct vprof_flow_event){ number, origin->part, part };
	else
		f->failed = 1;
}

/* Of the reads of one value, the one whose production is another thread's. */
static int is_best(const struct vprof_flow_finder *f, size_t i)
{
	const struct vprof_flow_taken *taken = &f->open->taken.v[i];

	for (size_t k = 0; k < f->open->taken.n; k++) {
		const struct vprof_flow_taken *other = &f->open->taken.v[k];
		int foreign = other->origin.thread != f->thread, is_foreign = taken->origin.thread != f->thread;

		if (k != i && other->value == taken->value && other->origin.state == VPROF_FLOW_VALID &&
		    (foreign > is_foreign || (foreign == is_foreign && k > i)))
			return 0;
	}
	return 1;
}

/* Does a use of what `taken` leads to belong to a pointer that leads further into the same object? */
static int is_inner(const struct vprof_flow_finder *f, const struct vprof_flow_taken *taken,
		    const struct vprof_flow_record *use)
{
	for (size_t k = 0; k < f->open->taken.n; k++) {
		const struct vprof_flow_taken *other = &f->open->taken.v[k];
		const struct vprof_flow_record *its;

		if (other->value <= taken->value || other->value >= taken->value + VPROF_FLOW_SPAN ||
		    other->origin.state != VPROF_FLOW_VALID)
			continue;
		its = vprof_flow_use_find(f->t, f->section->number, other->value, 0);
		if (its && its->c == use->c && !((its->flags ^ use->flags) & VPROF_FLOW_WRITTEN))
			return 1;
	}
	return 0;
}

static void consume_pointers(struct vprof_flow_finder *f)
{
	for (size_t i = 0; i < f->open->taken.n && !f->failed; i++) {
		const struct vprof_flow_taken *taken = &f->open->taken.v[i];
		const struct vprof_flow_record *use;
		struct vprof_flow_pair *pair;
		uint64_t n_flows;
		struct vprof_flow_user sharer = { 0 };
		const struct vprof_flow_user *found;
		int is_known;

		if (!vprof_flow_is_pointer(taken->value))
			continue;
		use = vprof_flow_use_find(f->t, f->section->number, taken->value, 0);
		if (!use || is_inner(f, taken, use))
			continue;
		is_known = taken->origin.state == VPROF_FLOW_VALID && taken->origin.section != f->section->number &&
			   is_best(f, i);
		found = is_known ? find_sharer(f, taken) : NULL;
		if (found)
			sharer = *found;
		if (!(use->flags & VPROF_FLOW_WRITTEN))
			note_used(f, taken);
		if (!is_known)
			continue;
		pair = vprof_flow_pair_of(f, taken->origin.site,
					  f->section->head->flags & VPROF_FLOW_EVENT && use->c ?
						  vprof_flow_site_number(f, use->c) :
						  taken->site,
					  0);
		if (!pair)
			return;
		n_flows = pair->n_flows;
		vprof_flow_consume(f, pair, &taken->origin, taken->value, taken->nested, taken->part,
				   !(use->flags & VPROF_FLOW_WRITTEN));
		if (pair->n_flows > n_flows) {
			count_shared(f, pair, sharer.part ? &sharer : NULL);
			note_held(f, taken->value, (uint32_t)(pair - f->p->pairs.v));
		}
	}
}

/* ---- sections, part by part ---- */

static void find_owner(struct vprof_flow_finder *f)
{
	f->owner = f->owner_of ? f->owner_of(f->owner_arg, f->section, vprof_flow_nested_of(f)) : 0;
}

/* At one address, other processes have other locks, unless they share it. */
static uint64_t lock_key(const struct vprof_flow_finder *f, uint64_t lock)
{
	return vprof_mix(lock ^ vprof_mix(vprof_flow_space(f, lock) + 1));
}

/* The section's own lock, and the innermost ones beneath it. */
static void find_held(struct vprof_flow_finder *f)
{
	size_t n = f->open->nested.n, most = VPROF_FLOW_HELD - 1;

	f->under.n = 0;
	f->under.locks[f->under.n++] = lock_key(f, f->section->head->a);
	for (size_t i = n > most ? n - most : 0; i < n; i++)
		f->under.locks[f->under.n++] = lock_key(f, f->open->nested.v[i]->a);
}

static void process_nested(struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	const struct vprof_flow_record **slot;

	if (!(r->flags & 1)) {
		slot = VPROF_PUSH(&f->open->nested);
		if (slot)
			*slot = r;
		else
			f->failed = 1;
	} else {
		for (size_t i = f->open->nested.n; i-- > 0;)
			if (f->open->nested.v[i]->a == r->a) {
				memmove(&f->open->nested.v[i], &f->open->nested.v[i + 1],
					(f->open->nested.n - i - 1) * sizeof *f->open->nested.v);
				f->open->nested.n--;
				break;
			}
	}
	find_owner(f);
	find_held(f);
}

/* What was read before and leads there led to another object, which was released since. */
static void process_allocated(struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	size_t n = 0;

	for (size_t i = 0; i < f->open->taken.n; i++)
		if (f->open->taken.v[i].value - r->a >= r->b)
			f->open->taken.v[n++] = f->open->taken.v[i];
	f->open->taken.n = n;
}

static void process_record(struct vprof_flow_finder *f, const struct vprof_flow_record *r)
{
	if (r->kind == VPROF_FLOW_READ) {
		process_read(f, r);
	} else if (r->kind == VPROF_FLOW_WRITE) {
		process_write(f, r);
	} else if (r->kind == VPROF_FLOW_NESTED) {
		process_nested(f, r);
	} else if (r->kind == VPROF_FLOW_GIVEN) {
		process_allocated(f, r);
	} else if (r->kind == VPROF_FLOW_COPY) {
		vprof_flow_process_copy(f, r);
	}
}

static void release_open(struct vprof_flow_opened *open)
{
	VPROF_ARRAY_RELEASE(&open->taken);
	VPROF_ARRAY_RELEASE(&open->outs);
	VPROF_ARRAY_RELEASE(&open->nested);
	free(open);
}

static struct vprof_flow_opened *open_section(struct vprof_flow_finder *f, uint32_t section)
{
	struct vprof_flow_opened **slot;

	for (size_t i = 0; i < f->all_open.n; i++)
		if (f->all_open.v[i]->section == section)
			return f->all_open.v[i];
	slot = VPROF_PUSH(&f->all_open);
	if (!slot)
		return NULL;
	*slot = calloc(1, sizeof **slot);
	if (!*slot) {
		f->all_open.n--;
		return NULL;
	}
	(*slot)->section = section;
	return *slot;
}

static void end_section(struct vprof_flow_finder *f)
{
	const struct vprof_flow_record *head = f->section->head;

	if (!(head->flags & VPROF_FLOW_PUBLISH))
		consume_pointers(f);
	vprof_flow_consume_copies(f);
	if (!(head->flags & VPROF_FLOW_PUBLISH))
		f->last_sections.v[f->thread] = f->section->number;
	for (size_t i = 0; i < f->all_open.n; i++)
		if (f->all_open.v[i] == f->open) {
			f->all_open.v[i] = f->all_open.v[f->all_open.n - 1];
			f->all_open.n--;
			break;
		}
	release_open(f->open);
	f->open = NULL;
}

static void process_part(struct vprof_flow_finder *f, const struct vprof_flow_part *part)
{
	const struct vprof_flow_section *section = &f->t->sections.v[part->section];
	const struct vprof_flow_record *head = section->head;

	f->section = section;
	f->part = part->number;
	f->thread = thread_number(f, section->process, head->c);
	f->open = open_section(f, part->section);
	while (!f->failed && f->last_sections.n <= f->thread)
		f->failed |= !VPROF_PUSH(&f->last_sections);
	if (f->failed || !f->open) {
		f->failed = 1;
		return;
	}
	f->open->n_parts++;
	find_owner(f);
	find_held(f);
	for (uint32_t i = part->from; i < part->to && !f->failed; i++)
		process_record(f, &head[i]);
	if (part->to == head->count + 1)
		end_section(f);
}

static int by_number(const void *a, const void *b)
{
	const struct vprof_flow_part *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Numbers of parts grow within a section in what the runtime writes; in a damaged recording they are made to. */
static int divide(struct vprof_flow_finder *f)
{
	const struct vprof_flow_trace *t = f->t;
	struct vprof_flow_part *part = NULL;

	for (size_t s = 0; s < t->sections.n; s++) {
		const struct vprof_flow_record *head = t->sections.v[s].head;
		uint64_t number = t->sections.v[s].number;

		for (uint32_t i = 1; i <= head->count || i == 1; i++) {
			if (i > 1 && head[i].kind != VPROF_FLOW_NESTED)
				continue;
			if (i > 1 && head[i].b > number)
				number = head[i].b;
			if (i > 1)
				part->to = i;
			part = VPROF_PUSH(&f->parts);
			if (!part)
				return -1;
			*part = (struct vprof_flow_part){ number, (uint32_t)s, i, head->count + 1 };
		}
	}
	return vprof_array_sort(f->parts.v, f->parts.n, sizeof *f->parts.v, by_number);
}

int vprof_flow_pairs_find(struct vprof_flow_pairs *p, const struct vprof_flow_trace *t, vprof_flow_owner_of *owner_of,
			  void *arg, struct vprof_error *err)
{
	struct vprof_flow_finder f = { .p = p, .t = t, .owner_of = owner_of, .owner_arg = arg };

	f.failed = divide(&f) != 0;
	for (size_t i = 0; i < f.parts.n && !f.failed; i++)
		process_part(&f, &f.parts.v[i]);
	VPROF_ARRAY_RELEASE(&f.parts);
	for (size_t i = 0; i < f.all_open.n; i++)
		release_open(f.all_open.v[i]);
	VPROF_ARRAY_RELEASE(&f.all_open);
	vprof_flow_dictionary_release(&f.dictionary);
	vprof_hash_index_release(&f.site_index);
	vprof_hash_index_release(&f.pair_index);
	vprof_hash_index_release(&f.consumed_index);
	vprof_hash_index_release(&f.pointer_index);
	vprof_hash_index_release(&f.thread_index);
	VPROF_ARRAY_RELEASE(&f.consumed);
	VPROF_ARRAY_RELEASE(&f.pointers);
	VPROF_ARRAY_RELEASE(&f.threads);
	VPROF_ARRAY_RELEASE(&f.last_sections);
	return f.failed ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_flow_pairs_release(struct vprof_flow_pairs *p)
{
	for (size_t i = 0; i < p->pairs.n; i++)
		VPROF_ARRAY_RELEASE(&p->pairs.v[i].roles);
	VPROF_ARRAY_RELEASE(&p->sites);
	VPROF_ARRAY_RELEASE(&p->pairs);
	VPROF_ARRAY_RELEASE(&p->events);
}
