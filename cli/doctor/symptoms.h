/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Empty and odd results: how each is recognised, what it means, and what to do next.
 *
 * The table in symptoms.c is the only place with this advice. `vprof doctor` prints what it recognises in the last run,
 * commands that fail or find nothing print it too, and docs/troubleshooting.md has a section of the same name for each
 * (tests/cli/symptoms-documented). A new symptom is a row there, that section, and a case tests/cli/symptom-NAME that
 * produces the real situation.
 */
#ifndef VPROF_SYMPTOMS_H
#define VPROF_SYMPTOMS_H

#include <stddef.h>

#include "analysis/results/results.h"
#include "cli/project.h"
#include "cli/programs.h"
#include "common/error.h"

/* What a symptom is recognised from; all but `project` may be NULL, none or empty. */
struct vprof_evidence {
	const struct vprof_project *project;
	const struct vprof_results *results; /* of a run, NULL when it has none */
	enum vprof_error_reason reason;	     /* of the error that a command ended with */
	const char *run;		     /* the last run's name */
	int is_analysed;		     /* whether it has results that can be read */
	const char *unread;		     /* why they cannot be read, "" when there are none */
	struct vprof_programs programs;
};

struct vprof_symptom {
	const char *name;
	const char *advice;
	/* Whether it is there; then `detail` says what was found. */
	int (*seen)(const struct vprof_evidence *e, char *detail, size_t size);
};

extern const struct vprof_symptom vprof_symptoms[];
extern const size_t vprof_n_symptoms;

struct vprof_sign {
	const struct vprof_symptom *symptom;
	char detail[256];
};

/* For `vprof doctor`: reads what the project's last run left. */
size_t vprof_symptoms_of_last_run(const struct vprof_project *p, struct vprof_sign *signs, size_t max);

/* For a command that failed for this reason, or whose result is empty or weak: the advice on stderr. `results` may be
 * NULL. Returns how many symptoms were told. */
size_t vprof_symptoms_tell(const struct vprof_project *p, const struct vprof_results *results,
			   enum vprof_error_reason reason);

#endif
