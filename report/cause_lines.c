/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One cause: its share and what would go if it were constant, both with bounds, the sentence that tells it; beneath,
 * what it consists of at its end and how far it can be trusted.
 */
#include "report/cause_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format_value.h"

enum { AT_SHARE = 2, RANGE_COLUMNS = 11, CONSTANT_RANGE_COLUMNS = 14, AT_DETAIL = 9 };
#define NAMED_SPLITS 5
#define SHOWN_PART 0.005

void vprof_cause_heading(const struct vprof_style *style, struct vprof_text *out)
{
	vprof_text_addf(out, "%s   %-19s%-22s%s%s\n", vprof_ink(style, VPROF_INK_DIM), "share of variance",
			"if constant", "cause", vprof_ink(style, VPROF_INK_PLAIN));
}

static void add_split(const struct vprof_split *s, struct vprof_text *line, int is_first)
{
	vprof_text_addf(line, "%s%s %s", is_first ? "" : ", ",
			!*s->name		   ? "rest" :
			s->kind == VPROF_NODE_BODY ? "its own code" :
						     s->name,
			vprof_format_percent(s->part).s);
}

/* "there (journal.c:66): fdatasync 41 %, rename 33 %, rest 26 %" */
static void add_splits(const struct vprof_cause *c, struct vprof_text *line)
{
	double rest = 0;
	size_t shown = 0;

	if (c->n_steps && c->steps[c->n_steps - 1].kind == VPROF_NODE_WAIT &&
	    vprof_wait_name_is_tier(c->steps[c->n_steps - 1].name)) {
		vprof_text_add(line, "no probes there: vprof report paths tells what is known of it");
		return;
	}
	if (!c->n_splits && !(c->file && *c->file))
		return;
	vprof_text_add(line, c->n_splits ? "there" : "at ");
	if (c->file && *c->file)
		vprof_text_addf(line, c->n_splits ? " (%s:%d)" : "%s:%d", c->file, c->line);
	if (!c->n_splits)
		return;
	vprof_text_add(line, ": ");
	for (size_t i = 0; i < c->n_splits; i++) {
		const struct vprof_split *s = &c->splits[i];

		if (!*s->name || shown == NAMED_SPLITS || fabs(s->part) < SHOWN_PART)
			rest += s->part;
		else
			add_split(s, line, !shown++);
	}
	if (fabs(rest) >= SHOWN_PART)
		vprof_text_addf(line, "%srest %s", shown ? ", " : "", vprof_format_percent(rest).s);
}

/* How it comes about where it does in several ways. */
static void add_parts(const struct vprof_cause *c, struct vprof_text *line)
{
	const struct {
		double part;
		const char *what;
	} parts[] = { { c->own_part, "own" }, { c->waiting_part, "waited for" }, { c->queued_part, "while queued" } };
	char text[160] = "";
	size_t n = 0, len = 0;

	for (size_t i = 0; i < 3; i++)
		if (isfinite(parts[i].part) && fabs(parts[i].part) >= SHOWN_PART) {
			len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %s", n++ ? ", " : "",
						parts[i].what, vprof_format_percent(parts[i].part).s);
			len = len < sizeof text ? len : sizeof text - 1;
		}
	if (n > 1)
		vprof_format_item(line, text);
	if (c->n_places > 1) {
		snprintf(text, sizeof text, "%s ways lead to it", vprof_format_count(c->n_places).s);
		vprof_format_item(line, text);
	}
}

static void add_detail(const struct vprof_results *r, const struct vprof_cause *c, struct vprof_text *line)
{
	const struct vprof_tier *tier = vprof_results_tier_of(r, (size_t)(c - r->causes));
	static const char *const status[VPROF_CAUSE_STATUS_COUNT] = {
		[VPROF_CAUSE_CANDIDATE] = "candidate: chance is not ruled out",
		[VPROF_CAUSE_SETTLED_HERE] = "settled in this run, others may differ",
		[VPROF_CAUSE_SETTLED] = "settled",
	};
	char text[160];

	vprof_format_item(line, status[c->status]);
	snprintf(text, sizeof text, "mean %s, sd %s", vprof_format_duration(c->mean_ns).s,
		 vprof_format_duration(c->sd_ns).s);
	vprof_format_item(line, text);
	add_parts(c, line);
	if (c->knot && *c->knot) {
		vprof_format_item(line, "knot: ");
		vprof_text_add(line, c->knot);
	}
	if (tier) {
		vprof_format_item(line, "tier: ");
		vprof_text_add(line, tier->name);
	}
	if (c->can_break_down && c->n_unmeasured) {
		snprintf(text, sizeof text, "%s callee%s not measured yet", vprof_format_count(c->n_unmeasured).s,
			 c->n_unmeasured == 1 ? "" : "s");
		vprof_format_item(line, text);
	}
	if (isfinite(c->place_kept) && c->place_kept < 0.95) {
		snprintf(text, sizeof text, "keeps its rank in %s of resampled runs",
			 vprof_format_percent(c->place_kept).s);
		vprof_format_item(line, text);
	}
	if (c->verdict && c->verdict != VPROF_VERDICT_BROKEN_DOWN && c->verdict != VPROF_VERDICT_CANDIDATE) {
		vprof_format_item(line, "verdict: ");
		vprof_text_add(line, vprof_verdict_names[c->verdict]);
		if (c->note && *c->note)
			vprof_text_addf(line, " (%s)", c->note);
	}
}

static void add_wrapped(const struct vprof_style *style, const char *text, struct vprof_text *out)
{
	vprof_text_addf(out, "%*s%s", AT_DETAIL, "", vprof_ink(style, VPROF_INK_DIM));
	vprof_format_wrap(out, text, AT_DETAIL, AT_DETAIL, style->width);
	if (style->colour) { /* the newline stays the line's last byte */
		out->s[--out->len] = 0;
		vprof_text_addf(out, "%s\n", vprof_ink(style, VPROF_INK_PLAIN));
	}
}

void vprof_cause_lines(const struct vprof_style *style, const struct vprof_results *r, size_t rank, int chosen,
		       struct vprof_text *out)
{
	const struct vprof_cause *c = &r->causes[rank - 1];
	struct vprof_text line = VPROF_TEXT_INIT, sentence = VPROF_TEXT_INIT;
	char number[24];

	snprintf(number, sizeof number, "%zu", rank);
	vprof_format_cut(&line, number, AT_SHARE, 0, AT_SHARE);
	vprof_text_addf(&line, "%6s  ", vprof_format_percent(c->share).s);
	vprof_format_range(&line, c->share_low, c->share_high, RANGE_COLUMNS);
	vprof_text_addf(&line, "%6s  ", vprof_format_change(c->if_constant).s);
	vprof_format_range(&line, -c->if_constant_high, -c->if_constant_low, CONSTANT_RANGE_COLUMNS);
	vprof_text_add(out, line.s);
	vprof_report_cause_sentence(r, c, &sentence);
	vprof_text_add(out, vprof_ink(style, chosen ? VPROF_INK_BOLD : VPROF_INK_PLAIN));
	vprof_format_wrap(out, sentence.s, vprof_format_columns(line.s), AT_DETAIL, style->width);
	if (style->colour && chosen)
		vprof_text_add(out, vprof_ink(style, VPROF_INK_PLAIN));
	vprof_text_clear(&line);
	add_splits(c, &line);
	if (line.len)
		add_wrapped(style, line.s, out);
	vprof_text_clear(&line);
	add_detail(r, c, &line);
	add_wrapped(style, line.s, out);
	vprof_text_release(&line);
	vprof_text_release(&sentence);
}
