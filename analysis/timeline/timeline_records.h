/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread's records to its timeline; strings and names of waits go to tables of the whole trace. */
#ifndef VPROF_TIMELINE_RECORDS_H
#define VPROF_TIMELINE_RECORDS_H

#include <pthread.h>

#include "analysis/timeline/thread_timeline.h"
#include "common/hash/hash_index.h"

#define VPROF_KIND_NAMES                                                                                               \
	VP_WAIT_COUNT /* names of waits: VP_CALL_COUNT of functions, these, then annotated functions                   \
		       */

struct vprof_hashed_string {
	uint64_t hash;
	const char *text;
};

struct vprof_annotated_name {
	uint64_t hash;
	uint32_t index; /* into names */
};

struct vprof_timeline_private {
	VPROF_ARRAY(struct vprof_hashed_string) strings;
	struct vprof_hash_index by_hash;
	VPROF_ARRAY(char *) texts; /* owned */
	VPROF_ARRAY(struct vprof_annotated_name) annotated;
	VPROF_ARRAY(const char *) names;
	pthread_mutex_t lock; /* of the tables */
};

struct vprof_open_frame {
	uint64_t t;
	uint32_t code;
};

struct vprof_reading {			 /* of one thread */
	struct vprof_timeline *timeline; /* its tables; nothing else may be written */
	struct vprof_thread_timeline *thr;
	VPROF_ARRAY(struct vprof_open_frame) open;
	size_t pending_stack; /* index + 1 */
	int false_wake;
	int has_wait;			  /* the wait recorded last is the thread's last: none was lost since */
	struct vprof_trace_buffer buffer; /* the records at hand, when they are compressed */
	uint32_t unit;			  /* place of the record in its block */
	uint64_t n_records, n_calls, n_sampled, n_unclosed, n_bad, n_dropped_marks, n_bytes_ignored;
};

/* The record's first unit; all its units are there. OK or NOMEM. */
int vprof_reading_record(struct vprof_reading *b, const struct vp_unit *u);
/* Records between the last one and time t are missing. OK or NOMEM. */
int vprof_reading_lost(struct vprof_reading *b, uint64_t t);
/* The innermost open frame never wrote its record (longjmp, a kill): it ended by now. OK or NOMEM. */
int vprof_reading_close(struct vprof_reading *b);
/* A call that began at t0 ended: frames that were entered and that it encloses, or that it is, are open no more. */
int vprof_reading_enclose(struct vprof_reading *b, uint64_t t0, uint32_t code);

/* A call that ended, in the order of records. */
static inline int vprof_reading_call(struct vprof_reading *b, uint64_t t0, uint64_t ticks, uint32_t code,
				     int is_sampled)
{
	struct vprof_thread_timeline *thr = b->thr;
	uint64_t t1 = t0 + ticks;
	uint32_t entered = is_sampled ? UINT32_MAX : code; /* a root that was sampled or skipped wrote no ENTER */

	if (b->open.n) {
		const struct vprof_open_frame *f = &b->open.v[b->open.n - 1];

		if ((f->code == entered || f->t > t0) && vprof_reading_enclose(b, t0, entered))
			return VPROF_ERR_NOMEM;
	}
	b->n_calls++;
	if (ticks == VP_PAYLOAD_MAX && thr->t_last > t1) /* saturated: it ended after its callees */
		return vprof_call_index_odd(&thr->calls, t0, thr->t_last, code, b->unit, 1, is_sampled);
	thr->t_last = t1 > thr->t_last ? t1 : thr->t_last;
	return vprof_call_index_add(&thr->calls, t0, t1, code, is_sampled);
}

#endif
