/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The records that the runtime and the collector would write for a simulated thread, and the file that the analysis
 * reads.
 *
 * A thread's records are written at the time world.now, in the order of the calls made here. Functions that
 * return bool say whether the record was kept: none are before the trace begins, nor while records are lost.
 */
#ifndef SIMULATE_RECORDS_H
#define SIMULATE_RECORDS_H

#include "tests/simulate/schedule/world.h"

struct sim_wait_record {
	uint8_t kind, call;
	uint32_t flags, ticket, seq;
	uint64_t object, t0;
	uint64_t result; /* instead of the call, when it is not 0 */
};

bool records_put(struct sim_thread *th, const struct vp_unit *units, size_t n);
bool records_one(struct sim_thread *th, uint64_t t, uint64_t w);
bool records_two(struct sim_thread *th, uint64_t t, uint64_t w, uint64_t t1, uint64_t w1);
bool records_wait(struct sim_thread *th, const struct sim_wait_record *r); /* until now */
bool records_wake(struct sim_thread *th, uint8_t kind, uint32_t flags, uint32_t seq, uint64_t object, uint32_t before,
		  uint32_t after, uint64_t t);
void records_switch(struct sim_thread *th, uint32_t flags);
void records_switches_lost(struct world *w, size_t cpu); /* if any were, says so now */

uint64_t records_hash(const char *s); /* of a name that the trace defines: one of records_names */
extern const char *const records_names[];

enum records_how {
	RECORDS_PLAIN,
	RECORDS_OFFSETS, /* in SIM_TICK_PARTS of a tick, and each time as the clock of the current CPU showed it */
	RECORDS_KNOWN,	 /* intervals with is_apart are RECORDS_APART */
};
#define RECORDS_APART "apart"

/* Writes DIR/records.vpt. False: errno says why. */
bool records_write(const struct world *w, const char *dir, enum records_how how);

#endif
