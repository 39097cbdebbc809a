/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache.h"

#define PROBES 100
#define CHAIN 4	    /* entries that one lookup goes through in recursion */
#define LONG_CALL 5 /* microseconds that no lookup takes by itself, nor its chain */

enum place place;
static volatile uint32_t table[256];
static uint32_t outermost; /* depth of recursion */

static NOINLINE void read_query(struct request *q)
{
	PLANT_SPIN(q->ns[READ_QUERY], q->took[READ_QUERY]);
}

static NOINLINE void refill(struct request *q)
{
	PLANT_SPIN(q->slow_ns, q->took[REFILL]);
}

/* Some hundred ns, most of what a call takes: between its own two readings of the clock. */
#define PROBE_TABLE(from)                                                                                              \
	for (uint32_t i_ = 0; i_ < PROBES; i_++)                                                                       \
	table[((from) + 7 * i_) % 256] += i_

/* A call that began at `begin` ends. If it was long without a planted delay, the CPU was elsewhere, and if nobody timed
 * it, its caller lacked the CPU for all that is known. */
#define CALL_ENDS(q, function, begin)                                                                                  \
	do {                                                                                                           \
		uint64_t all_ = PLANT_NOW() - (begin), usual_ = all_ - (q)->slow.low;                                  \
		uint64_t away_ = usual_ > LONG_CALL * plant_away_ticks ? usual_ : 0;                                   \
		(q)->took[function].low += all_;                                                                       \
		(q)->took[function].away += away_ + (q)->slow.away;                                                    \
		(q)->callers[function] += away_;                                                                       \
		(q)->slow = (struct plant_time){ 0, 0, 0 };                                                            \
	} while (0)

/* Short, and rarely much longer. */
static NOINLINE void lookup(struct request *q, uint32_t depth)
{
	uint64_t begin = PLANT_NOW();
	uint32_t call = q->n_calls++;

	PROBE_TABLE(call);
	if (__builtin_expect(call == q->slow_at && !q->slow_compare, 0)) {
		if (place == CALLEE) {
			PLANT_CALL(q->took[REFILL], refill(q));
			q->slow = q->took[REFILL];
		} else {
			PLANT_SPIN(q->slow_ns, q->slow);
		}
	}
	if (depth)
		lookup(q, depth - 1);
	if (depth == outermost)
		CALL_ENDS(q, LOOKUP, begin);
}

static NOINLINE void compare(struct request *q, uint32_t i)
{
	uint64_t begin = PLANT_NOW();

	PROBE_TABLE(i);
	if (__builtin_expect(i == q->slow_at && q->slow_compare, 0))
		PLANT_SPIN(q->slow_ns, q->slow);
	CALL_ENDS(q, COMPARE, begin);
}

static NOINLINE void search(struct request *q)
{
	uint64_t begin = PLANT_NOW();

	outermost = place == RECURSION ? CHAIN - 1 : 0;
	while (q->n_calls < N_LOOKUPS) {
		PLANT_CALL(q->took[LOOKUP], lookup(q, outermost));
		if (place == SEVERAL)
			PLANT_CALL(q->took[COMPARE], compare(q, q->n_calls - 1));
	}
	q->took[SEARCH].low = PLANT_NOW() - begin;
}

static NOINLINE void write_reply(struct request *q)
{
	PLANT_SPIN(q->ns[WRITE_REPLY], q->took[WRITE_REPLY]);
}

NOINLINE void serve(struct request *q)
{
	uint64_t begin = PLANT_NOW();

	PLANT_CALL(q->took[READ_QUERY], read_query(q));
	PLANT_CALL(q->took[SEARCH], search(q));
	PLANT_CALL(q->took[WRITE_REPLY], write_reply(q));
	q->took[REQUEST].low = PLANT_NOW() - begin;
}
