/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Situations whose distributions are known: programs that exist only as the times that their requests take, drawn from
 * a generator, and as the trace that they would have left.
 *
 * A situation is a tree of parts: functions, waits, what others ran meanwhile. Each request draws what every part takes
 * beside its own parts. The planted values are those of the generator: moments of very many requests, which no trace
 * and no estimator of vprof has seen. */
#ifndef SITUATION_H
#define SITUATION_H

#include <stddef.h>
#include <stdint.h>

#include "tests/unit/analysis/hand_trace.h"

#define PARTS_MAX 8
#define CALLS_MAX 64 /* of a sampled function in one request */

enum part_kind {
	PART_FUNCTION,
	PART_WAIT,	/* for a lock; its parts are what the holder ran meanwhile */
	PART_QUEUED,	/* before the first function begins; likewise for the worker */
	PART_BENEATH,	/* of a wait or queue delay */
	PART_SAMPLED,	/* a function most of whose calls are not timed */
	PART_PREEMPTED, /* another process has the CPU, in the middle of the function that it is a part of */
};

/* Part 0 is f1, the outermost function. Parents come before their parts, siblings in the order in which they run. */
struct part {
	enum part_kind kind;
	int parent;
	uint32_t function; /* of functions and what runs beneath waits: 2 is f2 */
};

struct request {
	double own[PARTS_MAX]; /* ns; a wait's own time is what nobody explains */
	double held;	       /* ns for which a lock's holder had been in its call when the wait began */
	double pause;	       /* ns between the request before and this one */
	double calls[CALLS_MAX];
	size_t n_calls;
	uint32_t type;
	uint32_t work;
};

/* What a generator keeps from request to request. */
struct stream {
	uint64_t random;
	double level, backlog;
	uint32_t left, is_bad;
	uint64_t n;
};

struct situation {
	const char *name, *what;
	size_t n; /* requests of a run */
	const struct part *parts;
	size_t n_parts;
	void (*draw)(struct stream *s, struct request *r);
	int has_types, has_work, has_windows;
};

extern const struct situation situations[];
extern const size_t n_situations;

void stream_start(struct stream *s, const struct situation *of, uint64_t seed);
/* What a part takes, its parts included. Those of a wait or delay tell what it was spent on. */
double request_part(const struct situation *of, const struct request *r, size_t part);
double request_latency(const struct situation *of, const struct request *r);
/* A run of n requests, whose latencies go to ns[n]; those that no window contains are left out of them. Returns how
 * many there are. */
size_t situation_write(struct hand_trace *h, const struct situation *of, uint64_t seed, double *ns);

#endif
