/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command.h"
#include "cli/drilldown/round_line.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "common/text.h"
#include "report/format_value.h"
#include "report/report.h"

#define WIDTH 100
#define INDENT 9
#define NAMED 3

/* "serve, parse and 3 more" */
static void add_name(struct vprof_text *out, size_t i, size_t n, const char *name)
{
	if (i >= NAMED)
		return;
	vprof_text_add(out, !i ? "" : i + 1 == n ? " and " : ", ");
	vprof_format_cut(out, name, 40, 1, 0);
	if (i + 1 == NAMED && n > NAMED)
		vprof_text_addf(out, " and %s more", vprof_format_count(n - NAMED).s);
}

static void add_names(struct vprof_text *out, const struct vprof_name_list *list, size_t from)
{
	for (size_t i = from; i < list->n; i++)
		add_name(out, i - from, list->n - from, list->items[i].name);
}

static void add_changes(const struct vprof_session *s, const struct vprof_measured *before, struct vprof_text *out)
{
	size_t begin = out->len;

	if (s->broken_down.n > before->n_broken_down) {
		vprof_text_add(out, "opened ");
		add_names(out, &s->broken_down, before->n_broken_down);
	}
	if (s->every_call.n > before->n_every_call) {
		vprof_text_addf(out, "%severy call of ", out->len > begin ? "; " : "");
		add_names(out, &s->every_call, before->n_every_call);
	}
	if (s->n_closed > before->n_closed) {
		vprof_text_addf(out, "%sclosed ", out->len > begin ? "; " : "");
		for (size_t i = before->n_closed; i < s->n_closed; i++)
			add_name(out, i - before->n_closed, s->n_closed - before->n_closed, s->closed[i].display);
	}
	if (out->len == begin)
		vprof_text_add(out, "the same");
}

static void add_opened(const struct vprof_session *s, const struct vprof_measured *before, struct vprof_text *out)
{
	size_t n = s->broken_down.n;

	if (s->n_rounds == 1)
		vprof_text_add(out, "annotations only");
	else if (!before->is_known)
		vprof_text_addf(out, "%s function%s measured", vprof_format_count(n).s, n == 1 ? "" : "s");
	else
		add_changes(s, before, out);
}

/* The first cause; of the first round, which measures no functions, the interval. */
static void add_learnt(const struct vprof_session *s, const struct vprof_results *r, struct vprof_text *out)
{
	static const char *const how_sure[] = { [VPROF_CAUSE_CANDIDATE] = "candidate",
						[VPROF_CAUSE_SETTLED_HERE] = "settled in this run",
						[VPROF_CAUSE_SETTLED] = "settled" };
	const struct vprof_cause *c = r->n_causes ? &r->causes[0] : NULL;

	if (s->n_rounds == 1 || !c) {
		vprof_text_addf(out, "%s intervals, mean %s, sd %s", vprof_format_count(r->n_complete).s,
				vprof_format_duration(r->mean_ns).s, vprof_format_duration(sqrt(r->var_ns2)).s);
		if (s->n_rounds > 1)
			vprof_text_add(out, ", no cause above the threshold");
		return;
	}
	vprof_text_addf(out, "%s of the variance", vprof_format_percent(c->share).s);
	if (isfinite(c->share_low))
		vprof_text_addf(out, " (%.0f .. %.0f)", 100 * c->share_low, 100 * c->share_high);
	vprof_text_addf(out, ", %s: ", how_sure[c->status]);
	vprof_report_cause_sentence(r, c, out);
}

struct vprof_measured vprof_measured_now(const struct vprof_session *s)
{
	return (struct vprof_measured){ 1, s->broken_down.n, s->n_closed, s->every_call.n };
}

void vprof_round_line(const struct vprof_session *s, const struct vprof_results *r, const struct vprof_measured *before,
		      double seconds)
{
	struct vprof_text line = VPROF_TEXT_INIT, out = VPROF_TEXT_INIT;
	uint64_t n_runs = s->rounds[s->n_rounds - 1].n_runs;

	add_opened(s, before, &line);
	if (n_runs > 1)
		vprof_text_addf(&line, ", %s runs", vprof_format_count(n_runs).s);
	vprof_text_add(&line, ": ");
	add_learnt(s, r, &line);
	if (r->inconclusive)
		vprof_text_add(&line, "; inconclusive");
	vprof_text_addf(&line, " (%.1f s)", seconds);
	vprof_text_addf(&out, "round %-2zu ", s->n_rounds - 1);
	vprof_format_wrap(&out, line.s, INDENT, INDENT, WIDTH);
	if (!line.failed && !out.failed && out.len)
		vprof_say("%.*s", (int)out.len - 1, out.s); /* its newline is the line's */
	vprof_text_release(&line);
	vprof_text_release(&out);
}
