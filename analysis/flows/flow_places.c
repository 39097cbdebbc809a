/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/flows/flow_places.h"

#define CALLS 64 /* on a section's stack, inlined ones included */

struct call {
	struct vprof_flow_function function; /* name NULL: not compiled for discovery */
	const struct vprof_symbol *symbol;
	uint64_t frame;
};

int vprof_flow_places_open(struct vprof_flow_places *p, const struct vprof_flow_trace *t, struct vprof_error *err)
{
	memset(p, 0, sizeof *p);
	p->trace = t;
	for (size_t i = 0; i < t->modules.n; i++) {
		struct vprof_elf **elf = VPROF_PUSH(&p->modules);

		if (!elf)
			return vprof_error_no_memory(err);
		for (size_t k = 0; k < i && !*elf; k++) /* the same program in another process */
			if (!strcmp(t->modules.v[k].path, t->modules.v[i].path))
				*elf = p->modules.v[k];
		if (!*elf && vprof_elf_open(elf, t->modules.v[i].path, NULL, NULL))
			*elf = NULL;
	}
	return VPROF_OK;
}

void vprof_flow_places_release(struct vprof_flow_places *p)
{
	for (size_t i = 0; i < p->modules.n; i++) {
		int again = 0;

		for (size_t k = 0; k < i; k++)
			again |= p->modules.v[k] == p->modules.v[i];
		if (!again)
			vprof_elf_free(p->modules.v[i]);
	}
	VPROF_ARRAY_RELEASE(&p->modules);
	VPROF_ARRAY_RELEASE(&p->owners);
	vprof_hash_index_release(&p->owner_index);
}

/* The functions at a return address, outermost first. */
static size_t expand(const struct vprof_flow_places *p, uint32_t process, uint64_t pc, uint64_t frame,
		     struct call *calls, size_t max)
{
	const struct vprof_flow_module *module = vprof_flow_module_find(p->trace, process, pc);
	struct vprof_elf *elf = module ? p->modules.v[module - p->trace->modules.v] : NULL;
	struct vprof_frame frames[VPROF_FLOW_DEPTH];
	struct vprof_place places[VPROF_FLOW_DEPTH];
	size_t n, n_places;

	if (!elf)
		return 0;
	n = vprof_elf_frames(elf, pc - 1 - module->bias, frames, VPROF_FLOW_DEPTH);
	n_places = vprof_elf_places(elf, pc - 1 - module->bias, places, VPROF_FLOW_DEPTH);
	n = n < max ? n : max;
	for (size_t i = 0; i < n; i++) {
		size_t k = n - 1 - i;

		calls[i] = (struct call){ { frames[k].symbol->name, k < n_places ? places[k].file : NULL,
					    k < n_places ? places[k].line : 0 },
					  frames[k].symbol,
					  frame };
	}
	return n;
}

size_t vprof_flow_place_functions(const struct vprof_flow_places *p, uint32_t process, uint64_t pc,
				  struct vprof_flow_function *functions, size_t max)
{
	struct call calls[VPROF_FLOW_DEPTH];
	size_t n = expand(p, process, pc, 0, calls, max < VPROF_FLOW_DEPTH ? max : VPROF_FLOW_DEPTH);

	for (size_t i = 0; i < n; i++)
		functions[i] = calls[i].function;
	return n;
}

const char *vprof_flow_place_entry(const struct vprof_flow_places *p, uint32_t process, uint64_t address)
{
	const struct vprof_flow_module *module = vprof_flow_module_find(p->trace, process, address);
	struct vprof_elf *elf = module ? p->modules.v[module - p->trace->modules.v] : NULL;
	const struct vprof_symbol *symbol = elf ? vprof_elf_function(elf, address - module->bias) : NULL;

	return symbol && symbol->low == address - module->bias ? symbol->name : NULL;
}

/* A section, or what of it lies beneath a further lock. */
struct stretch {
	uint32_t process;
	const struct vprof_flow_record *head, *nested;
};

/* The frames of the stretch's stack at its begin or end, innermost first. */
static size_t frames_of(const struct stretch *s, int at_end, const struct vprof_flow_record **frames, size_t max)
{
	const struct vprof_flow_record *end = s->head + s->head->count + 1, *r = s->nested;
	size_t n = 0;

	if (!r) {
		for (r = s->head + 1; r < end && n < max; r++)
			if (r->kind == VPROF_FLOW_FRAME && (int)r->flags == at_end)
				frames[n++] = r;
		return n;
	}
	if (at_end)
		for (r++; r < end && !(r->kind == VPROF_FLOW_NESTED && r->flags & 1 && r->a == s->nested->a); r++)
			;
	for (r++; r < end && r->kind == VPROF_FLOW_FRAME && n < max; r++)
		frames[n++] = r;
	return n;
}

/* The stretch's stack at its begin or end, innermost first. */
static size_t stack_of(const struct vprof_flow_places *p, const struct stretch *s, int at_end, struct call *calls)
{
	const struct vprof_flow_record *frames[CALLS];
	size_t n = 0, n_frames = frames_of(s, at_end, frames, CALLS);

	for (size_t i = 0; i < n_frames && n < CALLS; i++) {
		const struct vprof_flow_record *r = frames[i];
		struct call here[VPROF_FLOW_DEPTH];
		size_t k;

		k = expand(p, s->process, r->b, r->a, here, VPROF_FLOW_DEPTH);
		if (!k)
			calls[n++] = (struct call){ .frame = r->a };
		while (k && n < CALLS)
			calls[n++] = here[--k];
	}
	return n;
}

/* A call that both stacks have; a frame of which one stack shows only that it called a library counts, too. */
static int is_common(const struct call *a, const struct call *b)
{
	return a->frame == b->frame && (a->symbol || b->symbol) && (!a->symbol || !b->symbol || a->symbol == b->symbol);
}

static int is_of_system(const struct call *call)
{
	return call->function.file && !strncmp(call->function.file, "/usr/", 5);
}

/* The innermost one that is not in the system's headers: an atomic object's store() is everybody's. */
static int find_section_call(const struct vprof_flow_places *p, const struct stretch *s, struct call *found)
{
	struct call begin[CALLS], end[CALLS];
	size_t n_begin = stack_of(p, s, 0, begin), n_end = stack_of(p, s, 1, end);
	int is_found = 0;

	for (size_t i = 0; i < n_begin; i++) {
		size_t k = n_end; /* outermost first: the frame's own function, if the symbol is unknown */

		while (k > 0 && !is_common(&begin[i], &end[k - 1]))
			k--;
		if (!k || (is_found && is_of_system(&begin[i])))
			continue;
		*found = begin[i].symbol ? begin[i] : end[k - 1];
		is_found = 1;
		if (!is_of_system(found))
			break;
	}
	return is_found;
}

struct vprof_flow_place vprof_flow_place_of(const struct vprof_flow_places *p, const struct vprof_flow_site *site)
{
	struct call calls[VPROF_FLOW_DEPTH], section;
	size_t n = expand(p, site->process, site->pc, 0, calls, VPROF_FLOW_DEPTH - 1), from = 0;
	const struct stretch stretch = { site->process, site->first, site->nested };
	int is_known = find_section_call(p, &stretch, &section), is_among = 0;
	struct vprof_flow_place place = { .n = 0 };

	for (size_t i = 0; is_known && i < n; i++)
		if (calls[i].symbol == section.symbol) {
			from = i;
			is_among = 1;
		}
	if (is_known && !is_among && n)
		place.functions[place.n++] = section.function;
	for (size_t i = from; i < n; i++)
		place.functions[place.n++] = calls[i].function;
	return place;
}

/* What the functions on the stack depend on: addresses, and which frames are the same at begin and end. */
static uint64_t stack_hash(const struct stretch *s)
{
	uint64_t hash = s->process, first = 0;

	for (int at_end = 0; at_end < 2; at_end++) {
		const struct vprof_flow_record *frames[CALLS];
		size_t n = frames_of(s, at_end, frames, CALLS);

		for (size_t i = 0; i < n; i++) {
			first = first ? first : frames[i]->a;
			hash = vprof_mix(vprof_mix(hash ^ frames[i]->b) + (frames[i]->a - first) * 2 +
					 (uint64_t)at_end);
		}
	}
	return hash;
}

uint64_t vprof_flow_place_owner(void *places, const struct vprof_flow_section *section,
				const struct vprof_flow_record *nested)
{
	const struct stretch stretch = { section->process, section->head, nested };
	struct vprof_flow_places *p = places;
	uint64_t hash = stack_hash(&stretch), name = 0;
	struct vprof_flow_owner *owner;
	struct call call;
	size_t at;

	if (vprof_hash_index_room(&p->owner_index, 1))
		return 0;
	VPROF_HASH_EACH(&p->owner_index, hash, at, i)
	{
		if (p->owners.v[i].stack == hash)
			return p->owners.v[i].owner;
	}
	if (find_section_call(p, &stretch, &call))
		name = (uint64_t)(uintptr_t)call.symbol;
	owner = VPROF_PUSH(&p->owners);
	if (!owner)
		return name;
	*owner = (struct vprof_flow_owner){ hash, name };
	vprof_hash_index_put(&p->owner_index, at, hash, (uint32_t)p->owners.n - 1);
	return name;
}
