/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For whom a thread works: the types of intervals as parties, and which of them a thread's label names at a moment.
 *
 * Parties are the same on all ranks, in the same order: they come from all intervals of all traces. A *holder* is a
 * number: one of those below, VPROF_HOLDER_FIRST + a party, or, behind the parties, a thread that worked for no
 * interval.
 */
#ifndef VPROF_WORKING_FOR_H
#define VPROF_WORKING_FOR_H

#include "analysis/results/results.h"
#include "analysis/source/source.h"
#include "common/hash/hash_index.h"

enum vprof_holder {
	VPROF_HOLDER_RELEASED, /* nobody: after a release, until the thread that it woke ran */
	VPROF_HOLDER_UNKNOWN,  /* nothing recorded tells */
	VPROF_HOLDER_SELF,     /* another thread that worked for the same interval */
	VPROF_HOLDER_FIRST,
};

struct vprof_interval_kind { /* as instances have it */
	uint64_t name, type;
	uint8_t type_kind;
	uint32_t party;
};

struct vprof_working_for {
	VPROF_ARRAY(const char *) parties; /* names; interned in the results */
	VPROF_ARRAY(struct vprof_interval_kind) kinds;
	struct vprof_hash_index by_kind;
	const struct vprof_source *sources;
	size_t n_sources, n_threads; /* of all sources */
	size_t *first_thread;	     /* [n_sources] number of the source's first thread */
};

/* `name` (hash): the interval under analysis, whose types go by their own names. OK or NOMEM; to be released in any
 * case. */
int vprof_working_for_find(struct vprof_working_for *w, struct vprof_results *r, const struct vprof_source *sources,
			   size_t n_sources, uint64_t name);
void vprof_working_for_release(struct vprof_working_for *w);

uint32_t vprof_party_of(const struct vprof_working_for *w, const struct vprof_instance *instance);

/* Number of all holders. */
size_t vprof_n_holders(const struct vprof_working_for *w);
/* Is it a thread? Then its source and its number there. */
int vprof_holder_is_thread(const struct vprof_working_for *w, uint32_t holder, size_t *source, uint32_t *thread);

/* The holder that a thread of the source is at t, for a waiter that is `instance`; it stays that until *until, which is
 * after t. O(log segments). */
uint32_t vprof_holder_at(const struct vprof_working_for *w, size_t source, uint32_t thread, uint64_t t,
			 uint32_t instance, uint64_t *until);

#endif
