/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the algorithm share (flow_pairs.c, flow_copies.c): the state between two records. */
#ifndef VPROF_FLOW_FINDER_H
#define VPROF_FLOW_FINDER_H

#include "analysis/flows/flow_dictionary.h"
#include "analysis/flows/flow_pairs.h"

#define VPROF_FLOW_SMALLEST_MOVED 256 /* smaller numbers are equal by chance */

struct vprof_flow_taken { /* read in the section */
	uint64_t value;
	struct vprof_flow_origin origin;
	uint32_t site;
	const struct vprof_flow_record *nested; /* as struct vprof_flow_site */
	uint64_t part;
	uint32_t n_before; /* parts */
};

struct vprof_flow_copied { /* out of what another thread stored in one section */
	const struct vprof_flow_record *record;
	struct vprof_flow_origin origin;
	uint32_t site;
	const struct vprof_flow_record *nested;
	uint64_t part;
};

/* From one lock's acquisition or release to the next: what happened meanwhile has one place in the order of all. */
struct vprof_flow_part {
	uint64_t number;
	uint32_t section, from, to; /* index; records of it */
};

struct vprof_flow_opened { /* a section of which parts have been seen */
	uint32_t section, n_parts;
	VPROF_ARRAY(struct vprof_flow_taken) taken;
	VPROF_ARRAY(struct vprof_flow_copied) outs;
	VPROF_ARRAY(const struct vprof_flow_record *) nested; /* locks held beneath the section's */
};

struct vprof_flow_consumed { /* a production that was consumed */
	uint64_t part, what;
	uint32_t thread, n_again;
	uint64_t last; /* section in which it was consumed */
};

#define VPROF_FLOW_USERS 3 /* so that one is neither producer nor consumer */

struct vprof_flow_user { /* of what a pointer leads to */
	uint64_t part;	 /* in which the thread read the pointer last; 0: there is none */
	uint32_t thread;
	uint32_t origin;	 /* whose production it read; VPROF_NONE: not known */
	uint64_t origin_section; /* and in which section that was */
	uint32_t caller;	 /* of the lock function */
};

struct vprof_flow_pointer { /* who had what it leads to */
	uint64_t space, value;
	uint32_t thread, pair; /* who consumed it last, through which pair; VPROF_NONE: nobody, or it was handed on */
	struct vprof_flow_user users[VPROF_FLOW_USERS]; /* the threads that used it last */
};

struct vprof_flow_finder {
	struct vprof_flow_pairs *p;
	const struct vprof_flow_trace *t;
	vprof_flow_owner_of *owner_of;
	void *owner_arg;
	struct vprof_flow_dictionary dictionary;
	struct vprof_hash_index site_index, pair_index, consumed_index, pointer_index, thread_index;
	VPROF_ARRAY(struct vprof_flow_consumed) consumed;
	VPROF_ARRAY(struct vprof_flow_pointer) pointers;
	VPROF_ARRAY(uint64_t) threads; /* process and thread */
	/* of the section under way */
	const struct vprof_flow_section *section;
	uint64_t owner;
	uint32_t thread;
	VPROF_ARRAY(uint64_t) last_sections; /* of each thread: number of its section before this one */
	struct vprof_flow_opened *open;
	struct vprof_flow_held under;		   /* the locks that are held */
	uint64_t part;				   /* number of the part under way */
	VPROF_ARRAY(struct vprof_flow_part) parts; /* in the order of their numbers */
	VPROF_ARRAY(struct vprof_flow_opened *) all_open;
	int failed;
};

/* ---- flow_pairs.c ---- */

/* What an address means the same place in (flow_trace.h). */
static inline uint64_t vprof_flow_space(const struct vprof_flow_finder *f, uint64_t address)
{
	return vprof_flow_space_of(f->t, f->section->process, address);
}

const struct vprof_flow_record *vprof_flow_nested_of(const struct vprof_flow_finder *f);
uint32_t vprof_flow_site_number(struct vprof_flow_finder *f, uint64_t pc);
struct vprof_flow_pair *vprof_flow_pair_of(struct vprof_flow_finder *f, uint32_t producer, uint32_t consumer,
					   int is_range);
/* A production by the thread under way, at this record. */
struct vprof_flow_origin vprof_flow_produced(struct vprof_flow_finder *f, const struct vprof_flow_record *r,
					     uint64_t address);
/* The last read of the value that a write of it could be a move of; NULL: there is none. */
const struct vprof_flow_taken *vprof_flow_find_taken(const struct vprof_flow_finder *f, uint64_t value);
void vprof_flow_put(struct vprof_flow_finder *f, uint64_t space, uint64_t address, uint64_t value,
		    const struct vprof_flow_origin *origin);
void vprof_flow_take(struct vprof_flow_finder *f, uint64_t value, const struct vprof_flow_origin *origin, uint64_t pc);
/* `what` identifies the production within its section. */
void vprof_flow_consume(struct vprof_flow_finder *f, struct vprof_flow_pair *pair,
			const struct vprof_flow_origin *origin, uint64_t what, const struct vprof_flow_record *nested,
			uint64_t part, int is_used);

/* ---- flow_copies.c ---- */

/* A COPY of the section under way. */
void vprof_flow_process_copy(struct vprof_flow_finder *f, const struct vprof_flow_record *r);
/* At the section's end: numbers that were copied out. */
void vprof_flow_consume_copies(struct vprof_flow_finder *f);

#endif
