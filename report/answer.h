/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a view's text and page begin with: the answer in a sentence, and what makes it less sure than it looks. */
#ifndef VPROF_ANSWER_H
#define VPROF_ANSWER_H

#include <cjson/cJSON.h>

#include "common/text.h"
#include "report/report_parts.h"

#define VPROF_ANSWER_WARNINGS_MAX 16

/* Zero-initialised; the most serious warning first. */
struct vprof_answer {
	struct vprof_text sentence;
	struct vprof_text warnings[VPROF_ANSWER_WARNINGS_MAX];
	size_t n_warnings;
};

#define VPROF_ANSWER_INIT { .sentence = VPROF_TEXT_INIT }

/* The next warning, empty. Beyond the last one the sentence fails. */
struct vprof_text *vprof_answer_warn(struct vprof_answer *answer);
void vprof_answer_release(struct vprof_answer *answer);

/* Appends it with an empty line after it. Failed memory shows in out. */
void vprof_answer_print(const struct vprof_style *style, const struct vprof_answer *answer, struct vprof_text *out);

/* Whose run a page is of. */
struct vprof_page_origin {
	const char *title;    /* the project's folder, or the run's */
	const char *version;  /* of vprof */
	const char *run_date; /* "2026-11-21 08:30"; "" when not known */
};

/* The data of a view's page: `results`, which it takes (NULL: no memory), the answer and where it is from. NULL without
 * memory. */
cJSON *vprof_answer_page_data(cJSON *results, const struct vprof_answer *answer,
			      const struct vprof_page_origin *origin);

#endif
