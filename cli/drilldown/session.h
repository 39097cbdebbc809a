/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The drill-down as .vprof/session.json keeps it: what is measured, what the developer decided, which rounds ran.
 *
 * Invariants: the file is written after every step, atomically, so a session that is interrupted anywhere resumes with
 * the first step that is not done. Functions are kept by name, file and caller, never by id: a new scan gives new ids.
 * `broken_down` keeps its order for ever (the order gives the gates' bits, see common/plan.h).
 */
#ifndef VPROF_SESSION_H
#define VPROF_SESSION_H

#include <stddef.h>

#include "analysis/results/verdict.h"
#include "cli/project.h"
#include "cli/verdicts/verdicts.h"
#include "common/error.h"
#include "instrumenter/instrument.h"

struct vprof_name_list {
	struct vprof_name *items; /* owns its strings */
	size_t n;
};

/* 1 when added, 0 when it was there, NOMEM. NULL strings count as "". */
int vprof_name_list_add(struct vprof_name_list *list, const char *name, const char *file, const char *caller);
int vprof_name_list_has(const struct vprof_name_list *list, const char *name, const char *file, const char *caller);
void vprof_name_list_remove(struct vprof_name_list *list, size_t i);
void vprof_name_list_release(struct vprof_name_list *list);

/* what is done already */
enum vprof_round_state {
	VPROF_ROUND_OPEN,
	VPROF_ROUND_BUILT,
	VPROF_ROUND_RAN,
	VPROF_ROUND_ANALYSED,
	VPROF_ROUND_DECIDED,
};

struct vprof_round {
	struct vprof_run_name run;
	enum vprof_round_state state;
	size_t n_runs, n_runs_wanted; /* how often its workload ran with its build, and is to run */
};

struct vprof_judgement {
	char *key; /* of a factor */
	enum vprof_verdict verdict;
};

/* why the drill-down is over */
enum vprof_ending {
	VPROF_ENDING_NONE,   /* it goes on */
	VPROF_ENDING_MAX,    /* of rounds: it can go on */
	VPROF_ENDING_CHOSEN, /* what was chosen is as specific as it gets; others could be broken down: a larger k does
			      */
	VPROF_ENDING_ALL_MEASURED,
	VPROF_ENDING_UNSETTLED, /* its repeated runs do not tell what to break down next (repeat.h) */
	VPROF_ENDING_REPEATED,	/* no round can be repeated any more */
	VPROF_ENDING_COUNT
};
extern const char *const vprof_ending_texts[VPROF_ENDING_COUNT]; /* for people; "" for none */

#define VPROF_REPEAT_MAX 1000 /* runs of a round */
#define VPROF_K_MAX 1000      /* factors chosen in a round */

struct vprof_session {
	double threshold;
	int is_live;   /* rounds are recorded in one running program (live_rounds.h); not part of the file */
	double effect; /* of recording, from which on functions are closed (close.h); not part of the file */
	long k;
	char *interval;			    /* NULL: the most frequent one */
	char *run_command;		    /* NULL: vprof.json's */
	char annotations_hash[17];	    /* of vprof.json when the session began */
	double baseline_mean_ns;	    /* NaN until round 0 is analysed */
	double baseline_low, baseline_high; /* its 95 % bounds; NaN: not estimated */
	double baseline_preempted_ns;	    /* part of it; NaN: unknown */
	struct vprof_name_list roots, broken_down;
	struct vprof_name_list every_call; /* hot functions of which all calls are recorded */
	struct vprof_closed *closed;	   /* not measured any more (close.h); owns its strings */
	size_t n_closed;
	struct vprof_name_list keep_open; /* never closed, as a person wants */
	struct vprof_judgement *verdicts;
	size_t n_verdicts;
	struct vprof_reviews reviews; /* of .vprof/verdicts.json, not part of this file */
	struct vprof_round *rounds;   /* rounds[0] is the baseline: annotations only */
	size_t n_rounds;
	enum vprof_ending ending;
};

void vprof_session_init(struct vprof_session *s);
void vprof_session_release(struct vprof_session *s);

/* MISSING when there is none, CORRUPT with the way on when the file is damaged. `s` is initialised either way. */
int vprof_session_load(struct vprof_session *s, const char *path, struct vprof_error *err);
int vprof_session_save(const struct vprof_session *s, const char *path, struct vprof_error *err);

/* Loads the project's session and the developer's verdicts. Results of vprof_session_load; CORRUPT also for the
 * verdicts. */
int vprof_session_open(struct vprof_session *s, const struct vprof_project *p, struct vprof_error *err);

/* The verdicts that persons gave meanwhile, in other commands. A file that cannot be read changes nothing. */
void vprof_session_reread_verdicts(struct vprof_session *s, const struct vprof_project *p);

enum vprof_verdict vprof_session_verdict(const struct vprof_session *s, const char *key);
int vprof_session_judge(struct vprof_session *s, const char *key, enum vprof_verdict verdict); /* OK or NOMEM */
int vprof_session_add_round(struct vprof_session *s, const char *run);			       /* OK or NOMEM */

/* Closes once more, or anew: copies. OK or NOMEM. */
int vprof_session_close(struct vprof_session *s, const struct vprof_closed *closed);
void vprof_session_open_again(struct vprof_session *s, size_t i); /* closed[i] */

struct cJSON *vprof_session_closed_json(const struct vprof_session *s); /* s->closed; NULL without memory */

/* What a plan is made from; the arrays are borrowed from the session. */
struct vprof_decisions vprof_session_decisions(const struct vprof_session *s);

#endif
