/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds places (flow_place.h) from the symbols and debug information of the modules of a discovery run. */
#ifndef VPROF_FLOW_PLACES_H
#define VPROF_FLOW_PLACES_H

#include "analysis/flows/flow_pairs.h"
#include "analysis/flows/flow_place.h"
#include "common/elf/elf_symbols.h"

struct vprof_flow_owner {
	uint64_t stack, owner;
};

struct vprof_flow_places {
	const struct vprof_flow_trace *trace;
	VPROF_ARRAY(struct vprof_elf *) modules; /* as trace->modules; NULL: cannot be read */
	struct vprof_hash_index owner_index;
	VPROF_ARRAY(struct vprof_flow_owner) owners; /* of stacks seen so far */
};

/* vprof_flow_owner_of, of flow_pairs.h; arg: the places. */
uint64_t vprof_flow_place_owner(void *places, const struct vprof_flow_section *section,
				const struct vprof_flow_record *nested);

int vprof_flow_places_open(struct vprof_flow_places *p, const struct vprof_flow_trace *t, struct vprof_error *err);
void vprof_flow_places_release(struct vprof_flow_places *p);

/* The functions at a return address, those that were inlined there included, outermost first: their number. */
size_t vprof_flow_place_functions(const struct vprof_flow_places *p, uint32_t process, uint64_t pc,
				  struct vprof_flow_function *functions, size_t max);
/* The function that begins at an address; NULL: none does. */
const char *vprof_flow_place_entry(const struct vprof_flow_places *p, uint32_t process, uint64_t address);

/* Texts belong to `p`. */
struct vprof_flow_place vprof_flow_place_of(const struct vprof_flow_places *p, const struct vprof_flow_site *site);

#endif
