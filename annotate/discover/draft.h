/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A draft of vprof.json: what the finders propose, each with its reason, for the user to confirm. */
#ifndef VPROF_DRAFT_H
#define VPROF_DRAFT_H

#include <stddef.h>

#include "common/arena.h"
#include "common/error.h"

struct vprof_handler_proposal { /* of one of a request's events */
	const char *function, *id;
};

/* As a discovery run saw requests begin, go on and end, each in handlers of different events. */
struct vprof_found_interval {
	const struct vprof_handler_proposal *begins, *resumes, *ends;
	size_t n_begins, n_resumes, n_ends; /* no begins: none was found */
	const char *why;
	const char *open; /* requests were seen, but no interval follows: why; or NULL */
};

struct vprof_interval_proposal {
	const char *function; /* as vprof.json names it: "call" or "call@server.c" */
	const char *where;    /* "src/server.c:3395" */
	const char *id;	      /* C expression at its entry */
	const char *end;      /* the function at whose exit it is over; NULL: the same */
	const char *end_id;   /* at its entry; NULL: as at the begin */
	int ends_at_entry;    /* of `end`, which never returns */
	int is_left;	      /* between the exit of `function` and the entry of `end` the thread works on others */
	int begins_at_exit;   /* of `function`, which waits for the request itself */
	const char *given_up; /* the function at whose exit it has failed; NULL: none beside `end` */
	const char *given_up_id;
	const char *why;
	const struct vprof_found_interval *found; /* more marks than the members above tell; NULL: none */
	double score;				  /* higher is better; only its order means something */
	const char *confidence;			  /* "high", "medium" or "low" */
};

enum vprof_entry_kind { VPROF_ENTRY_MAIN, VPROF_ENTRY_THREAD, VPROF_ENTRY_PROCESS };

struct vprof_entry_proposal {
	enum vprof_entry_kind kind;
	const char *function, *where, *why;
};

struct vprof_sync_proposal {
	const char *acquire, *release; /* one may be NULL: none was found, or it is known with another */
	const char *acquire_object, *release_object;
	const char *where, *why;
	int custom; /* goes into "sync"; else a wrapper of calls that vprof intercepts anyway */
};

struct vprof_queue_proposal {
	const char *enqueue, *enqueue_item, *dequeue, *dequeue_item;
	int dequeue_at_exit;
	int is_unconfirmed; /* a discovery run was made, and did not see it: a remark, not an entry */
	const char *where, *why;
};

/* A flow that a discovery run saw and for which there is no entry: what to do instead, or why it is no queue. */
struct vprof_seen_flow {
	const char *from, *to; /* functions */
	const char *verdict, *reason;
	const char *open; /* NULL: it is no queue */
};

/* What a discovery run found (docs/design/flows.md). */
struct vprof_found_queues {
	const struct vprof_queue_proposal *queues;
	const struct vprof_seen_flow *seen;
	size_t n_queues, n_seen;
	struct vprof_found_interval interval;
};

struct vprof_draft {
	struct vprof_interval_proposal *intervals; /* best first */
	struct vprof_entry_proposal *entries;
	struct vprof_sync_proposal *sync;
	struct vprof_queue_proposal *queues;
	const struct vprof_found_queues *found; /* NULL: no discovery run was made */
	size_t n_intervals, n_entries, n_sync, n_queues;
	const char **first; /* the hot path's functions, callers first; none: it is not known */
	size_t n_first;
	const char *first_why;
	const char *type_function, *type_hint; /* a dispatcher below the best interval, and what to write; or NULL */
	const char *annotated_in;    /* a function whose code calls vprof_begin (no interval is then drafted), or
					NULL */
	const char *not_watched;     /* why what a load showed is no proposal; NULL: it is, or there was no load */
	size_t n_functions, n_files; /* looked at */
	struct vprof_arena arena;
};

/* Is the function proposed as one end of a lock or event already? */
int vprof_draft_has_sync(const struct vprof_draft *draft, const char *function);
/* Writes a vprof.json that vprof_annotations_read accepts; `build` and `run` may be NULL. Replaces `path`. */
int vprof_draft_write(const struct vprof_draft *draft, const char *path, const char *build, const char *run,
		      struct vprof_error *err);
void vprof_draft_free(struct vprof_draft *draft);

#endif
