/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From facts and decisions to an instrumented build. Three steps, each usable alone:
 *
 *   vprof_plan_make   facts + call graph + decisions  -> plan            (plan_make.c)
 *   vprof_splice      facts + plan + annotations      -> shadow sources  (splice.c)
 *   vprof_replay      shadow sources + build commands -> objects, then the user's build relinks (replay.c)
 *
 * Originals are never written. Objects and binaries are saved before they are first replaced
 * (.vprof/original/) and put back by vprof_restore.
 */
#ifndef VPROF_INSTRUMENT_H
#define VPROF_INSTRUMENT_H

#include <string.h>

#include "annotate/check/annotations.h"
#include "common/facts/callgraph.h"
#include "common/facts/facts.h"
#include "common/plan.h"
#include "common/text.h"

struct vprof_name {	    /* a function as the session knows it: stable across scans */
	const char *name;   /* __func__, or the external callee's or pointer expression's for sites */
	const char *file;   /* path suffix or "" */
	const char *caller; /* pointer sites: function that holds the call, else "" */
};

struct vprof_decisions {
	const struct vprof_name *roots; /* measured wherever they run (common frames, wakers) */
	size_t n_roots;
	const struct vprof_name *broken_down; /* in the order decided: gives the context bits */
	size_t n_broken_down;
	const struct vprof_name *every_call; /* all calls are recorded of those that the plan measures */
	size_t n_every_call;
	const struct vprof_closed *closed; /* no children of anything, unless they are roots; the plan lists them */
	size_t n_closed;
	int all; /* every instrumentable function, all gates open: no way to measure, a way to test */
	/* The plan is for a resident build (docs/design/live.md), where no function is measured at its calls, and what
	 * is cheaper than its probe is not measured at all unless it is named here. With `all`: what such a build
	 * holds, the call sites of all its functions included. */
	int live;
};

/* Names that match nothing are skipped and reported in `skipped` (may be NULL), one line each. */
int vprof_plan_make(struct vprof_plan **out, const struct vprof_facts *facts, const struct vprof_callgraph *graph,
		    const struct vprof_annotations *a, const struct vprof_decisions *d, struct vprof_text *skipped,
		    struct vprof_error *err);

struct vprof_splice_result {
	size_t n_files_edited, n_edits, n_mirrored;
};

/* Writes .vprof/src/ (mirror of the project root): edited files with probes, symlinks for the rest. Files whose
 * edited text is the same as before are left alone. STALE when sources changed since the scan. */
int vprof_splice(const struct vprof_facts *facts, const struct vprof_plan *plan, const struct vprof_annotations *a,
		 const char *shadow_dir, struct vprof_splice_result *result, struct vprof_error *err);

/* The instrumented text of one file, as splice would write it, for `vprof source`. */
int vprof_splice_text(const struct vprof_facts *facts, const struct vprof_plan *plan, const struct vprof_annotations *a,
		      const char *path, struct vprof_text *out, struct vprof_error *err);

/* A build for a discovery run (docs/design/flows.md) instead of one with probes: these units are compiled so that they
 * tell their memory accesses, all others are put back. */
struct vprof_flow_build {
	const char *const *sources; /* absolute paths */
	size_t n_sources;
	const char *object; /* vprof-flows.o, absolute */
	int has_own_locks;  /* .vprof/src has the functions of the program's own locks with probes, and nothing else */
	const char *not_linked; /* a file to write, or NULL: programs and libraries that hold these units and that the
				   build did not link again, a path in each line; left out when there is none */
};

struct vprof_replay_options {
	const struct vprof_flow_build *flows; /* NULL: a build with probes */
	const char *vprof_dir;		      /* .vprof, absolute */
	const char *probe_header;	      /* probe.h, absolute */
	const char *include_dir;	      /* where vprof.h lies */
	const char *library_dir;	      /* the folder of libvprof.so, libvprof.a and libvprof.wrap */
	int link;	       /* a resident build: programs are linked with the library, also those of later ones */
	const char *build;     /* the user's command, for the relink */
	const char *directory; /* where it runs */
	const char *log_path;  /* build.log: one "compile <object>" line for each recompiled unit, then all output */
	int jobs;	       /* 0: number of processors */
	void (*progress)(void *arg, const char *step, double done);
	void *progress_arg;
};

struct vprof_replay_result {
	/* units: compiler commands (one that compiles and links several sources counts once); reverted: objects put
	 * back because nothing of theirs is edited any more */
	size_t n_units, n_compiled, n_reverted;
	size_t n_earlier; /* of n_compiled: by an earlier replay that was interrupted or failed */
	double compile_s, link_s;
	size_t n_past_probes;  /* edited files that a unit read in their original: probes are missing there */
	char past_probes[512]; /* the first */
	/* of a resident build: probes that can be switched, functions and calls left out, units without twins */
	size_t n_resident, n_left_out, n_without_twins;
};

/* BUILD when it fails; the message has the compiler's first errors, the log's path and the way back (vprof restore). */
int vprof_replay(const struct vprof_facts *facts, const struct vprof_plan *plan, const struct vprof_annotations *a,
		 const struct vprof_replay_options *o, struct vprof_replay_result *result, struct vprof_error *err);

/* Puts original objects and binaries back, with their times; removes the shadow sources. n_restored may be NULL. */
int vprof_restore(const char *vprof_dir, size_t *n_restored, struct vprof_error *err);

/* Runs `command` under bear; writes .vprof/compile_commands.json. MISSING without bear, BUILD when the command
 * fails, INPUT when it compiled nothing ("already built? clean first"). `notes` (may be NULL): what could not be used
 * although it was built, a line each. */
int vprof_observe_build(const char *command, const char *directory, const char *vprof_dir, struct vprof_text *notes,
			struct vprof_error *err);

/* The command that vprof_observe_build observed last, where its database is still in use; a heap string, or NULL. */
char *vprof_observed_command(const char *vprof_dir);

/* Instead of observing: takes the user's compilation database (CMake's, for example) and writes the normalised copy,
 * .vprof/compile_commands.json. INPUT when it is not one, or lists nothing that exists. */
int vprof_import_build(const char *compile_commands, const char *vprof_dir, struct vprof_error *err);

/* Runs vprof-scan on the compilation database: .vprof/facts.db. */
int vprof_scan(const char *scanner, const char *compile_commands, const char *root, const char *facts_path, int jobs,
	       void (*progress)(void *arg, const char *step, double done), void *progress_arg, struct vprof_error *err);

/* Is `name` a function of the interval API (vprof.h)? */
static inline int vprof_is_interval_api(const char *name)
{
	return !strncmp(name, "vprof_", 6);
}

#endif
