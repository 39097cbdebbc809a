/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code as discovery sees it: the facts, and questions about its functions that several finders ask.
 *
 * A distance is the number of direct calls through which a function reaches a call of some role: 0 = it makes one
 * itself, VPROF_FAR = not within VPROF_DISTANCE_MAX.
 */
#ifndef VPROF_DISCOVERY_H
#define VPROF_DISCOVERY_H

#include "annotate/code/call_roles.h"
#include "common/arena.h"
#include "common/facts/callgraph.h"
#include "common/facts/facts.h"

#define VPROF_DISTANCE_MAX 5
#define VPROF_FAR 255

struct vprof_parameter {
	const char *name, *type;
	int is_pointer, is_integer;
};

struct vprof_parameters {
	const struct vprof_parameter *list;
	size_t n;
	int known;
};

/* a table of functions of one type */
struct vprof_dispatch_table {
	const char *variable, *signature;
	size_t n;
	int takes_request;
};

struct vprof_discovery {
	const struct vprof_facts *facts;
	const struct vprof_callgraph *graph;
	struct vprof_draft *draft;	 /* what is proposed so far */
	struct vprof_arena *arena;	 /* the draft's */
	uint8_t *distance[VPROF_ROLE_N]; /* [n_functions] distances.h */
	uint8_t *is_entry;		 /* [n_functions] thread entry or main */
	struct vprof_dispatch_table *tables;
	size_t n_tables;
	uint32_t *dispatch_call;	     /* [n_functions] index + 1 of the call that dispatches */
	uint32_t *dispatch_table;	     /* [n_functions] index into tables */
	const char **normal;		     /* [n_functions] normalised names */
	uint32_t *by_normal;		     /* [n_functions] indices, sorted by normalised name */
	struct vprof_parameters *parameters; /* [n_functions] filled when first asked for */
};

/* Allocates from the arena, which owns everything; -1 without memory. O(functions * log functions). */
int vprof_discovery_init(struct vprof_discovery *d, const struct vprof_facts *facts,
			 const struct vprof_callgraph *graph, struct vprof_draft *draft, struct vprof_arena *arena);

/* `f` is one of d->facts->functions in all that follow. */
const struct vprof_parameter *vprof_discovery_parameters(struct vprof_discovery *d,
							 const struct vprof_facts_function *f, size_t *n);
/* As vprof.json names it: "call", or "call@server.c" where another file has a function of that name. */
const char *vprof_discovery_name(struct vprof_discovery *d, const struct vprof_facts_function *f);
/* "src/server.c:3395" */
const char *vprof_discovery_where(struct vprof_discovery *d, const struct vprof_facts_function *f);
/* Argument `index` of a call as it stands in the source, or NULL. */
const char *vprof_discovery_argument(struct vprof_discovery *d, const struct vprof_facts_call *call, size_t index);
/* Is it a method that has an object (not a static one)? */
int vprof_function_is_method(const struct vprof_facts_function *f);

#endif
