/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dictionary of Whodunit, section 3.2: what is known of a location (8 bytes of memory), who produced what lies in
 * it.
 *
 * An entry counts only as long as the location holds the same value and a lock under which it was written is held;
 * whoever reads it under none of these, or another value, drops it.
 */
#ifndef VPROF_FLOW_DICTIONARY_H
#define VPROF_FLOW_DICTIONARY_H

#include "common/hash/hash_index.h"

#define VPROF_FLOW_HELD 4u /* locks of an access that count: the section's and the innermost ones */

enum vprof_flow_state {
	VPROF_FLOW_UNKNOWN, /* nothing was stored there in a critical section */
	VPROF_FLOW_VALID,   /* holds what a thread brought into its section */
	VPROF_FLOW_INVALID, /* holds a constant or a computed value: the paper's invlctxt */
};

struct vprof_flow_origin { /* a context: who produced a value, where */
	enum vprof_flow_state state;
	uint32_t site;	  /* of the store */
	uint32_t thread;  /* number */
	uint64_t section; /* number */
	uint64_t part;	  /* of the section, its number */
	uint64_t address; /* first stored to */
	uint32_t caller;  /* of the lock function, as the recording has it */
	int is_filled;	  /* what the value points to had just been written by the thread */
	int is_blind;	  /* not all that the thread wrote before is known */
};

/* The locks that an access is made under: the section's, and those taken beneath it, the innermost last. */
struct vprof_flow_held {
	uint64_t locks[VPROF_FLOW_HELD];
	uint32_t n;
};

struct vprof_flow_location {
	uint64_t space, address; /* process, or that of what processes share */
	uint64_t value;
	struct vprof_flow_held held;
	struct vprof_flow_origin origin;
};

struct vprof_flow_dictionary {
	VPROF_ARRAY(struct vprof_flow_location) locations;
	struct vprof_hash_index index;
};

/* The origin of what lies at the location; UNKNOWN, and the entry is dropped, when the value differs or no lock
 * protects both accesses. */
struct vprof_flow_origin vprof_flow_look(struct vprof_flow_dictionary *d, uint64_t space, uint64_t address,
					 uint64_t value, const struct vprof_flow_held *held);
/* Of 8 bytes that were read: the origin of those that lie in a location 4 bytes before or behind, as numbers in a
 * structure that is aligned to 4 do; VALID, or else UNKNOWN. Drops nothing. */
struct vprof_flow_origin vprof_flow_look_half(const struct vprof_flow_dictionary *d, uint64_t space, uint64_t address,
					      uint64_t value, const struct vprof_flow_held *held);
/* 0, or -1 without memory. */
int vprof_flow_store(struct vprof_flow_dictionary *d, uint64_t space, uint64_t address, uint64_t value,
		     const struct vprof_flow_held *held, const struct vprof_flow_origin *origin);
void vprof_flow_dictionary_release(struct vprof_flow_dictionary *d);

#endif
