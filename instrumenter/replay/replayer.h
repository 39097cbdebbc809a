/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One replay under way: what its steps share.
 *
 * replay.c sets the order of the steps. Each step is a file of its own with its own header; it takes the replayer,
 * leaves in it what later steps need, and calls only steps below it and this vocabulary.
 */
#ifndef VPROF_REPLAYER_H
#define VPROF_REPLAYER_H

#include <stddef.h>

#include "common/facts/facts.h"
#include "common/text.h"
#include "instrumenter/build_command.h"
#include "instrumenter/instrument.h"
#include "instrumenter/path_list.h"
#include "instrumenter/restore/originals.h"
#include "instrumenter/restore/replay_state.h"
#include "instrumenter/splice/splice_unit.h"

/* What one run of the compiler makes of a unit: its object, or assembly (resident_merge.h), of a half of a unit
 * that is compiled twice, or of a C unit. */
enum vprof_unit_half { VPROF_UNIT_WHOLE, VPROF_UNIT_PLAIN, VPROF_UNIT_PROBED, VPROF_UNIT_IN_C };

enum vprof_unit_action { VPROF_UNIT_KEEP, VPROF_UNIT_COMPILE, VPROF_UNIT_REVERT };

struct vprof_unit {			 /* one compiler command and what it makes */
	const struct vprof_facts_tu *tu; /* (the first) */
	struct vprof_command command;
	char *output;
	char fingerprint[17]; /* empty: not edited */
	enum vprof_unit_action action;
	char *made;		     /* compiled, not yet in its place */
	char hash[17], previous[17]; /* of `made`; of what was in its place before */
	char key[17];		     /* under which `made` survives an interruption; empty: it does not */
	struct vprof_text messages;
	int compiled;		   /* in this replay */
	int is_plain;		   /* does not compile with twins: its probes stand in the functions' bodies */
	enum vprof_unit_half half; /* of the run under way, */
	int keeps_statics;	   /* and whether static functions of C that nobody calls are kept */
};

struct vprof_replayer {
	const struct vprof_facts *facts;
	const struct vprof_plan *plan;
	const struct vprof_annotations *annotations;
	const struct vprof_replay_options *o;
	struct vprof_replay_result *result;
	char *shadow_dir, *tmp_dir;
	struct vprof_edited edited;
	struct vprof_originals originals;
	struct vprof_replay_state state;
	struct vprof_unit *units; /* replay_unit.h */
	size_t n_units;
	struct vprof_link *links; /* replay_link.h */
	size_t n_links;
	int links_known;
	struct vprof_paths not_linked; /* by the last relink, although what they are made from changed */
	struct vprof_paths changed;    /* objects and archives that differ from what they were before this replay */
};

/* The unit whose command writes `path`, or NULL. */
struct vprof_unit *vprof_replay_unit_of(const struct vprof_replayer *r, const char *path);
/* Remembers that `path` has changed. */
int vprof_replay_changed(struct vprof_replayer *r, const char *path, struct vprof_error *err);
int vprof_replay_is_changed(const struct vprof_replayer *r, const char *path);
/* Is the path, as a command run in `directory` spells it, one that has changed? */
int vprof_replay_reads_changed(const struct vprof_replayer *r, const char *directory, const char *spelled);
/* Appends to the build log. */
int vprof_replay_log(const struct vprof_replayer *r, struct vprof_error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void vprof_replay_progress(const struct vprof_replayer *r, const char *step, double done);
/* Moves a finished file into its place: by rename, or by a copy and rename across file systems. */
int vprof_replay_install(const char *made, const char *path, struct vprof_error *err);
/* The path as a person knows it: relative to the project's root when inside. */
const char *vprof_replay_short(const struct vprof_replayer *r, const char *path);

#endif
