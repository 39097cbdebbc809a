/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/review_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/drilldown/decide.h"
#include "cli/progress.h"
#include "report/format_value.h"
#include "report/report.h"

const char *vprof_judged_key(const struct vprof_results *r, struct vprof_judged j)
{
	return j.is_factor ? r->factors[j.index].key : r->causes[j.index].key;
}

const char *vprof_judged_name(const struct vprof_results *r, struct vprof_judged j)
{
	return j.is_factor ? r->factors[j.index].name : r->causes[j.index].name;
}

int vprof_review_judge(const struct vprof_project *p, struct vprof_session *s, struct vprof_results *r,
		       struct vprof_judged j, enum vprof_verdict verdict, const char *note, struct vprof_error *err)
{
	struct vprof_text clean = VPROF_TEXT_INIT;
	struct vprof_review review = { (char *)r->interval,
				       (char *)vprof_judged_key(r, j),
				       (char *)vprof_judged_name(r, j),
				       verdict,
				       NULL,
				       (char *)r->run,
				       NULL };
	int rc = VPROF_OK;

	if (note) {
		vprof_format_clean(&clean, note);
		review.note = clean.s;
	}
	if (clean.len > VPROF_NOTE_BYTES_MAX)
		rc = vprof_error_set(err, VPROF_ERR_INPUT, "the note has %zu bytes; a note may have %d", clean.len,
				     VPROF_NOTE_BYTES_MAX);
	if (!rc)
		rc = vprof_reviews_set(&s->reviews, p->verdicts, &review, err);
	vprof_text_release(&clean);
	if (!rc)
		vprof_decide_verdicts(r, s);
	return rc;
}

int vprof_review_print(const struct vprof_results *r, struct vprof_judged j, struct vprof_error *err)
{
	struct vprof_report_options options = { .colour = vprof_progress_colour(STDOUT_FILENO) };
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = j.is_factor ? vprof_report_factor(r, j.index + 1, &options, &text, err) :
			       vprof_report_cause(r, j.index + 1, &options, &text, err);

	if (!rc) {
		fputs(text.s, stdout);
		fflush(stdout);
	}
	vprof_text_release(&text);
	return rc;
}

enum vprof_verdict vprof_review_letter(int letter)
{
	switch (letter) {
	case 'c':
		return VPROF_VERDICT_CULPRIT;
	case 'i':
		return VPROF_VERDICT_INHERENT;
	case 'g':
		return VPROF_VERDICT_IGNORE;
	case 'f':
		return VPROF_VERDICT_FIXED;
	case 't':
		return VPROF_VERDICT_TODO;
	}
	return VPROF_VERDICT_NONE;
}

/* One line without its end; NULL when the input ended. Heap string. */
static char *read_line(const char *question)
{
	char *line = NULL;
	size_t size = 0;

	fputs(question, stderr);
	fflush(stderr);
	if (getline(&line, &size, stdin) <= 0) {
		free(line);
		fputc('\n', stderr);
		return NULL;
	}
	line[strcspn(line, "\r\n")] = 0;
	return line;
}

/* What follows the letter in the same line is the note: "i the disk is what it is". */
static int walk_one(const struct vprof_project *p, struct vprof_session *s, struct vprof_results *r,
		    struct vprof_judged j, int *stopped, struct vprof_error *err)
{
	int rc = vprof_review_print(r, j, err);

	while (!rc) {
		char *line =
			read_line("[c]ulprit  [i]nherent  i[g]nore  [f]ixed  [t]odo  (a note may follow)  [d]rop the "
				  "verdict  [enter] next  [q]uit > ");
		char *at = line ? line + strspn(line, " \t") : NULL, *note = at && *at ? at + 1 : NULL;
		enum vprof_verdict verdict = at ? vprof_review_letter(*at) : VPROF_VERDICT_NONE;
		int is_letter = note && (!*note || *note == ' ' || *note == '\t');

		if (note)
			note += strspn(note, " \t");
		*stopped = !at || (is_letter && *at == 'q');
		if (*stopped || !*at) {
			free(line);
			break;
		}
		if (is_letter && (verdict || *at == 'd')) {
			rc = vprof_review_judge(p, s, r, j, verdict, *note ? note : NULL, err);
			free(line);
			break;
		}
		fprintf(stderr, "answer with one of the letters in brackets\n");
		free(line);
	}
	return rc;
}

int vprof_review_walk(const struct vprof_project *p, struct vprof_session *s, struct vprof_results *r, int factors,
		      size_t top, struct vprof_error *err)
{
	size_t n = factors ? r->n_factors : r->n_causes;
	int rc = VPROF_OK, stopped = 0;

	for (size_t i = 0; i < n && i < top && !rc && !stopped; i++)
		rc = walk_one(p, s, r, (struct vprof_judged){ factors, i }, &stopped, err);
	return rc;
}
