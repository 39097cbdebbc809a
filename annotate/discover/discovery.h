/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of discovery share: per-function traits, and questions about names and parameters. Private
 * to annotate/discover*.c.
 *
 * A distance says over how many direct calls a function reaches such a call: 0 = it calls one itself, FAR =
 * not within DISTANCE_MAX.
 */
#ifndef VPROF_DISCOVERY_H
#define VPROF_DISCOVERY_H

#include "annotate/discover/discover.h"

#define DISTANCE_MAX 5
#define FAR 255

enum trait {
	TRAIT_POLL,    /* epoll_wait, select, ...: waits for many descriptors */
	TRAIT_RECEIVE, /* accept, recv, read, mq_receive, ... */
	TRAIT_SEND,    /* send, write, ... */
	TRAIT_WAIT,    /* pthread_cond_wait, sem_wait, ... */
	TRAIT_SIGNAL,  /* pthread_cond_signal, sem_post, ... */
	TRAIT_TELL,    /* kill, a byte into a pipe, ... */
	TRAIT_LOCK,    /* pthread_mutex_lock, ... */
	TRAIT_UNLOCK,
	TRAIT_DISPATCH, /* calls through a pointer into a table of functions that take something like a
			   request */
	TRAIT_N,
};

struct parameter {
	const char *name, *type;
	int is_pointer, is_integer;
};

struct parameters {
	const struct parameter *list;
	size_t n;
	int known;
};

/* a table of functions of one type */
struct dispatch {
	const char *variable, *signature;
	size_t n;
	int takes_request;
};

struct discovery {
	const struct vprof_facts *facts;
	const struct vprof_callgraph *graph;
	struct vprof_draft *draft;
	struct vprof_arena *arena;
	uint8_t *distance[TRAIT_N]; /* [n_functions] */
	uint8_t *is_entry;	    /* [n_functions] thread entry or main */
	struct dispatch *tables;
	size_t n_tables;
	uint32_t *dispatch_call;       /* [n_functions] index + 1 of the call that dispatches */
	uint32_t *dispatch_table;      /* [n_functions] index into tables */
	const char **normal;	       /* [n_functions] normalised names */
	uint32_t *by_normal;	       /* [n_functions] indices, sorted by normalised name */
	struct parameters *parameters; /* [n_functions] filled when first asked for */
};

/* discover.c */
/* Is it a call of the system's or a library's that has the trait: TRAIT_RECEIVE for recv()? */
int makes(const struct vprof_facts_call *call, enum trait trait);
int name_in(const char *name, const char *const *list, size_t n);
const struct parameter *parameters_of(struct discovery *d, const struct vprof_facts_function *f, size_t *n);
const char *public_name(struct discovery *d, const struct vprof_facts_function *f);
const char *where_of(struct discovery *d, const struct vprof_facts_function *f);
/* "cq_push", "CqPush" and "ns::Cq::push" become "cqpush" and "push": lower-case, last component, letters and
 * digits. */
void normalise_name(char *out, size_t size, const char *name);
/* The first place in d->by_normal that is not before `normal`. */
size_t normal_lower_bound(const struct discovery *d, const char *normal);
/* Does the identifier `word` occur in the expression `text`? */
int mentions(const char *text, const char *word);
/* Does a name or type sound like a request, connection or job? */
int sounds_like_request(const char *text);
/* Is one of `words` part of the normalised `text`? */
int has_word(const char *text, const char *const *words, size_t n);
int is_method(const struct vprof_facts_function *f);
/* Is `word` one of the words of a name: "trans_begin", "beginTrans", but not "translate"? */
int has_whole_word(const char *name, const char *word);
/* discover_sync.c */
struct opposite {
	const char *word, *other;
};

/* The function whose name is that of `f` with one of the words replaced, best in the same file; NULL: none. same_first:
 * it must work on the same class or type of first parameter. */
const struct vprof_facts_function *find_opposite(struct discovery *d, const struct vprof_facts_function *f,
						 const struct opposite *words, size_t n_words, int same_first);
void find_sync(struct discovery *d);
void find_queues(struct discovery *d);
/* discover_events.c */
void find_events(struct discovery *d);
/* discover_programs.c: is_other[n_functions], all 0 before; 1 where only programs that accept no connections call it,
 * in a project with one that does. */
void find_other_programs(struct discovery *d, uint8_t *is_other);
/* discover_connections.c: by[n_functions], all 0 before; where a thread that serves a connection calls it after a
 * receive: index + 1 of the caller. whole[n_functions], likewise: the thread's index + 1 where it is all that the
 * thread does. */
void find_served(struct discovery *d, uint32_t *by, uint32_t *whole);
/* discover_intervals.c */
void find_intervals(struct discovery *d);

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

#endif
