/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of replay and restore, and what they leave on disk.
 *
 *   .vprof/original/PATH    saved files under their absolute path: objects before they were first replaced, and every
 *                           program, library and archive that a relink could replace (mode and times kept)
 *   .vprof/original.json    what was saved: path, kind, hash, size, mode, time
 *   .vprof/state.json       for each object of ours its fingerprint and the hashes of all that we ever put there
 *   .vprof/tmp/             outputs of compilers until all are whole; no build folder holds a half-written file. What
 * an interrupted replay compiled stays there for the next (replay_kept.c)
 *
 * Invariant: a file is replaced only after its original is saved and named in original.json, and after the hash of
 * what replaces it is in state.json; so an interrupted replay can always tell an original from our own output.
 */
#ifndef VPROF_REPLAY_H
#define VPROF_REPLAY_H

#include <stdint.h>
#include <sys/types.h>

#include "common/facts/facts.h"
#include "instrumenter/build_command.h"
#include "instrumenter/instrument.h"
#include "instrumenter/splice/splice.h"

/* All artefacts together; above it replay refuses (the message says how to go on). */
#define VPROF_ARTEFACTS_MAX_BYTES ((int64_t)8 << 30)

enum vprof_original_kind {
	VPROF_ORIGINAL_OBJECT,	 /* what a unit compiles to */
	VPROF_ORIGINAL_ARTEFACT, /* program, shared library, archive, partial link */
	/* another file written by the build: only its time is put back, if its content stayed */
	VPROF_ORIGINAL_STAMP,
	VPROF_ORIGINAL_ABSENT, /* was not there before we made it: removed by restore */
};

struct vprof_original {
	char *path;
	enum vprof_original_kind kind;
	char hash[17];
	int64_t size, mtime_s, mtime_ns;
	unsigned mode;
};

struct vprof_originals {
	char *vprof_dir;
	struct vprof_original *items;
	size_t n;
	int collected; /* artefacts and stamps were looked for */
};

int vprof_originals_read(struct vprof_originals *o, const char *vprof_dir, struct vprof_error *err);
int vprof_originals_write(const struct vprof_originals *o, struct vprof_error *err);
void vprof_originals_release(struct vprof_originals *o);
struct vprof_original *vprof_originals_find(const struct vprof_originals *o, const char *path);
/* Copies the file (objects, artefacts) and remembers it, in place of an older original. The caller writes. */
int vprof_originals_save(struct vprof_originals *o, const char *path, enum vprof_original_kind kind,
			 struct vprof_error *err);
/* The same, unless it is saved already; a stamp becomes a saved file. */
int vprof_originals_secure(struct vprof_originals *o, const char *path, enum vprof_original_kind kind,
			   struct vprof_error *err);
/* Saves what a relink could replace below the folders. `is_output` tells the units' own outputs, which are stamps until
 * they are replaced. Files older than `since_s` are no stamps. */
int vprof_originals_collect(struct vprof_originals *o, const char *const *dirs, size_t n_dirs,
			    int (*is_output)(void *arg, const char *path), void *arg, int64_t since_s,
			    struct vprof_error *err);
/* The copy's path, on the heap. */
char *vprof_originals_copy_path(const struct vprof_originals *o, const char *path);
/* Puts one saved file back, exactly. 1: it was changed, 0: it was as saved, negative: error. */
int vprof_originals_put_back(const struct vprof_originals *o, const struct vprof_original *item,
			     struct vprof_error *err);

enum vprof_elf_type {
	VPROF_FILE_OTHER,
	VPROF_FILE_PROGRAM,
	VPROF_FILE_RELOCATABLE,
	VPROF_FILE_ARCHIVE,
	VPROF_FILE_THIN
};
enum vprof_elf_type vprof_file_type(const char *path);

struct vprof_made {		     /* a file that we put somewhere */
	char *path, fingerprint[17]; /* empty: not edited now; "?": being replaced */
	char (*hashes)[17];	     /* all that we ever put there, the last one last */
	size_t n_hashes;
};

struct vprof_replay_state {
	char *vprof_dir;
	struct vprof_made *objects, *artefacts;
	size_t n_objects, n_artefacts;
	int relinking;	 /* a relink began and did not end */
	int direct_link; /* the build command compiles everything anew: run the recorded link commands instead */
};

int vprof_state_read(struct vprof_replay_state *s, const char *vprof_dir, struct vprof_error *err);
int vprof_state_write(const struct vprof_replay_state *s, struct vprof_error *err);
void vprof_state_release(struct vprof_replay_state *s);
struct vprof_made *vprof_made_find(struct vprof_made *list, size_t n, const char *path);
/* Finds or adds; remembers the hash (NULL: none) as the last one put there. NULL when out of memory. */
struct vprof_made *vprof_made_note(struct vprof_made **list, size_t *n, const char *path, const char *hash);
void vprof_made_remove(struct vprof_made *list, size_t *n, const char *path);
int vprof_made_has(const struct vprof_made *made, const char *hash);

enum vprof_unit_action { VPROF_UNIT_KEEP, VPROF_UNIT_COMPILE, VPROF_UNIT_REVERT };

struct vprof_unit {			 /* one compiler command and what it makes */
	const struct vprof_facts_tu *tu; /* (the first) */
	struct vprof_command command;
	char *output;
	char fingerprint[17]; /* empty: not edited */
	enum vprof_unit_action action;
	char *made;		     /* compiled, not yet in its place */
	char hash[17], previous[17]; /* of `made`; of what was in its place before */
	char key[17];		     /* under which `made` outlives an interruption; empty: it does not */
	struct vprof_text messages;
	int compiled; /* in this replay */
};

/* a recorded link command */
struct vprof_link {
	char *directory, *output;
	struct vprof_command command;
	const struct vprof_unit *unit; /* that it is, when it compiles too; else NULL */
	int affected;
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
	struct vprof_unit *units;
	size_t n_units;
	struct vprof_link *links;
	size_t n_links;
	int links_known;
	char **changed; /* objects and archives that are other than before */
	size_t n_changed;
};

/* replay_command.c: does it link a program statically? Then it needs what vprof_static_link adds: *words, two of them,
 * on the heap, or none. */
int vprof_links_statically(const struct vprof_command *c);
int vprof_static_link(const struct vprof_replayer *r, const struct vprof_command *c, char *words[2],
		      struct vprof_error *err);

/* The recorded command, from shadow sources, to `output`. NULL-terminated, vprof_words_free. */
char **vprof_replay_command(const struct vprof_replayer *r, const struct vprof_unit *unit, const char *output);
/* The recorded command as it is, to `output`, without by-products. */
char **vprof_original_command(const struct vprof_unit *unit, const char *output);

/* replay_unit.c */
int vprof_units_make(struct vprof_replayer *r, struct vprof_error *err);
void vprof_units_release(struct vprof_replayer *r);
int vprof_units_decide(struct vprof_replayer *r, struct vprof_error *err); /* fingerprints and actions */
/* Compiles all units with action COMPILE that link (or do not); replaces their outputs when all succeeded. */
int vprof_units_compile(struct vprof_replayer *r, int that_link, struct vprof_error *err);
int vprof_units_revert(struct vprof_replayer *r, struct vprof_error *err);
int vprof_is_unit_output(void *replayer, const char *path);
struct vprof_unit *vprof_unit_of_output(const struct vprof_replayer *r, const char *path);

/* replay_deps.c: compilers list what they read in this file beside `made` (heap string). */
char *vprof_deps_path(const char *made);
/* Calls `see` with each path as the compiler wrote it; -1 when there is no whole list. */
int vprof_deps_each(const char *made, void (*see)(void *arg, const char *path), void *arg);
/* Counts and logs edited files that the unit read past their shadow. */
void vprof_deps_check(struct vprof_replayer *r, const struct vprof_unit *unit);

/* replay_kept.c. Gives the units (all of them to be compiled) their keys, and those that an earlier replay compiled
 * their `made`; removes what none of them can take. */
int vprof_kept_take(struct vprof_replayer *r, struct vprof_unit *const *units, size_t n, size_t *n_taken,
		    struct vprof_error *err);
/* The object that the unit's compiler, started at `began_ns` (vprof_kept_now), has made: keeps it, when it can be kept.
 * Changes `made`. For several units at once. */
void vprof_kept_keep(const struct vprof_replayer *r, struct vprof_unit *unit, int64_t began_ns);
int64_t vprof_kept_now(void);
/* Removes what else lies in the folder: all that is not kept, or is not for one of the units (sorted by key; NULL:
 * any). */
int vprof_kept_clear(const char *tmp_dir, struct vprof_unit *const *wanted, size_t n, struct vprof_error *err);

/* replay_archive.c: puts changed objects into the archives that hold their earlier selves. */
int vprof_archives_refresh(struct vprof_replayer *r, struct vprof_error *err);

/* replay_link.c */
int vprof_links_read(struct vprof_replayer *r, struct vprof_error *err);
void vprof_links_release(struct vprof_replayer *r);
int vprof_relink(struct vprof_replayer *r, struct vprof_error *err);
int vprof_run_build(struct vprof_replayer *r, struct vprof_error *err);

/* replay.c */
int vprof_replay_log(const struct vprof_replayer *r, struct vprof_error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int vprof_replay_changed(struct vprof_replayer *r, const char *path); /* notes it; 0 or NOMEM */
int vprof_replay_is_changed(const struct vprof_replayer *r, const char *path);
void vprof_replay_progress(const struct vprof_replayer *r, const char *step, double done);
/* Moves a finished file into its place: by rename, or by a copy and rename across file systems. */
int vprof_replay_install(const char *made, const char *path, struct vprof_error *err);
/* The path as a person knows it: relative to the root when inside. */
const char *vprof_replay_short(const struct vprof_replayer *r, const char *path);

#endif
