/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a factor is known by: what kind of thing it is, its name, and whether it is blame. Names alone do not do: a
 * program may have functions called `queued`, `write` or `pthread_mutex_lock`, which are other factors than vprof's
 * queue delay and the C library's calls.
 *
 * A factor's key writes its identity down so that no two identities have the same key: "v:fdatasync",
 * "v:beneath:body of call", "v:undivided in call", "c:a|b". Where several kinds of things may have one name, a tag
 * tells which one is meant
 * ("v:function:queued"); vprof's own words, the names of waits and those of external calls go without, in this order,
 * so that the keys of ordinary programs have no tags. Keys do not depend on times: they are the same in every run with
 * the same plan.
 */
#ifndef VPROF_FACTOR_IDENTITY_H
#define VPROF_FACTOR_IDENTITY_H

#include <stdint.h>

#include "analysis/results/results.h"
#include "common/plan.h"

enum vprof_subject {
	VPROF_SUBJECT_INTERVAL,
	VPROF_SUBJECT_QUEUED,
	VPROF_SUBJECT_PREEMPTED,
	VPROF_SUBJECT_UNEXPLAINED, /* the body of a wait or queue delay */
	VPROF_SUBJECT_CALL,	   /* of a function outside the project, or the wait inside it */
	VPROF_SUBJECT_FUNCTION,	   /* of the project; also the wait for a lock that it acquires, by annotation */
	VPROF_SUBJECT_POINTER,	   /* a call through a pointer, by its expression */
};

/* of a subject's time */
enum vprof_identity_part {
	VPROF_PART_ALL,
	VPROF_PART_BODY,      /* what none of its children covers */
	VPROF_PART_UNDIVIDED, /* its body's or that of hot functions (analysis/timeline/undivided.h) */
	VPROF_PART_COUNT
};

struct vprof_identity {
	enum vprof_subject subject;
	enum vprof_identity_part part;
	int is_blame;
	const char *name; /* of the subject, also for a part of it */
	uint64_t hash;	  /* of all but is_blame */
};

struct vprof_identities {
	struct vprof_identity *of;	  /* [n_nodes]; [0], the interval, is no factor */
	struct vprof_subject_name *names; /* [n_slots], a power of two */
	size_t n_names, n_slots;
};

/* Identities of all nodes of `r`, whose strings live as long as both arguments. Nodes of vprof's own whose names are
 * those of functions as well get brackets around them: "[queued]". OK or NOMEM; to be released in both cases. */
int vprof_identities_take(struct vprof_identities *ids, struct vprof_results *r, const struct vprof_plan *plan);
void vprof_identities_release(struct vprof_identities *ids);

int vprof_identity_equal(const struct vprof_identity *a, const struct vprof_identity *b);
int vprof_identity_is_own(const struct vprof_identity *i); /* time that no code of the program has */
/* An order of the two members of a covariance that does not depend on their nodes. */
int vprof_identity_order(const struct vprof_identity *a, const struct vprof_identity *b);

/* The key of a variance (`b` NULL) or covariance, and the name that people see; interned in `r`. NULL without memory.
 */
const char *vprof_identity_key(const struct vprof_identities *ids, struct vprof_results *r,
			       const struct vprof_identity *a, const struct vprof_identity *b);
const char *vprof_identity_label(const struct vprof_identities *ids, struct vprof_results *r,
				 const struct vprof_identity *i);

#endif
