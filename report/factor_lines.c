/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One factor: its share with bounds, name, place, mean and spread; beneath, what a person needs to trust or act on it.
 */
#include "report/factor_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format_value.h"

/* Columns of the table; what is left of the width goes to the place. */
enum { AT_SHARE = 3, AT_RANGE = 10, AT_NAME = 22, MEAN_COLUMNS = 10, SD_COLUMNS = 9 };
enum { AT_DETAIL = 9, PATH_MAX_NODES = 64, WHOLE_NAMES = 6, UNDIVIDED_NAMES = 3 };

const char *vprof_ink(const struct vprof_style *style, enum vprof_ink ink)
{
	static const char *const inks[] = { "\033[0m", "\033[1m", "\033[2m", "\033[33m" };

	return style->colour ? inks[ink] : "";
}

/* Columns of a factor's name with two blanks after it: 29 of 100. */
static size_t name_columns(const struct vprof_style *style)
{
	return (style->width - AT_NAME - MEAN_COLUMNS - SD_COLUMNS) * 30 / 60;
}

static size_t place_columns(const struct vprof_style *style)
{
	return style->width - AT_NAME - name_columns(style) - MEAN_COLUMNS - SD_COLUMNS;
}

static const char *node_name(const struct vprof_node *n)
{
	return n->display && *n->display ? n->display : n->name ? n->name : "?";
}

const struct vprof_node *vprof_factor_node(const struct vprof_results *r, const struct vprof_factor *f)
{
	int pair = f->kind == VPROF_FACTOR_COVARIANCE;
	uint32_t best = f->n_nodes ? f->nodes[0] : 0;

	for (size_t i = 1; i < f->n_nodes; i++) {
		uint32_t at = f->nodes[i];

		if (pair ? fabs(r->covariances[at].cov_ns2) > fabs(r->covariances[best].cov_ns2) :
			   r->nodes[at].var_ns2 > r->nodes[best].var_ns2)
			best = at;
	}
	return !f->n_nodes ? NULL : &r->nodes[pair ? r->covariances[best].a : best];
}

/* The node that holds the factor where it weighs most. */
static const struct vprof_node *place_of(const struct vprof_results *r, const struct vprof_factor *f)
{
	const struct vprof_node *n = vprof_factor_node(r, f);

	return n ? &r->nodes[n->parent] : NULL;
}

/* Nodes from `n` up to the interval, which is left out; path[0] is n. */
static size_t path_of(const struct vprof_results *r, const struct vprof_node *n, const struct vprof_node **path)
{
	size_t depth = 0;

	for (; n->depth > 0 && depth < PATH_MAX_NODES; n = &r->nodes[n->parent])
		path[depth++] = n;
	return depth;
}

/* "a > b > c" of path[depth - 1] .. path[end]; with `first` and `last` names kept and "…" between when they are fewer.
 */
static void add_names(const struct vprof_node *const *path, size_t depth, size_t end, size_t first, size_t last,
		      struct vprof_text *out)
{
	size_t n = depth - end;

	for (size_t i = 0; i < n; i++) {
		if (i >= first && i < n - last) {
			if (i == first)
				vprof_text_add(out, "… > ");
			continue;
		}
		vprof_text_addf(out, "%s%s", node_name(path[depth - 1 - i]), i + 1 < n ? " > " : "");
	}
}

/* A long path without its middle. */
static void add_ends(const struct vprof_node *const *path, size_t depth, size_t end, struct vprof_text *out)
{
	size_t n = depth - end;

	add_names(path, depth, end, n > WHOLE_NAMES ? 2 : n, n > WHOLE_NAMES ? WHOLE_NAMES - 2 : 0, out);
}

/* The whole path when it fits `columns`, else with names left out of its middle, the innermost kept longest. */
static void add_fitting(const struct vprof_node *const *path, size_t depth, size_t end, size_t columns,
			struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	size_t n = depth - end;

	add_names(path, depth, end, n, 0, &t);
	for (size_t kept = n; vprof_format_columns(t.s) > columns && kept-- > 1;)
		for (size_t first = kept > 1; vprof_format_columns(t.s) > columns; first = 0) {
			vprof_text_clear(&t);
			add_names(path, depth, end, first, kept - first, &t);
			if (!first)
				break;
		}
	vprof_text_add(out, t.s);
	vprof_text_release(&t);
}

/* A wait (or the measured call that waits) is where blame begins: "waiting: what its waker ran" in the few columns of
 * the table; whole, "while waiting for X > what its waker ran in what waits". */
static void add_path(const struct vprof_results *r, const struct vprof_node *n, int is_blame, int whole, size_t columns,
		     struct vprof_text *out)
{
	const struct vprof_node *path[PATH_MAX_NODES];
	size_t depth = path_of(r, n, path), wait = depth;
	int queued;

	while (wait > 0 && path[wait - 1]->kind != VPROF_NODE_WAIT && path[wait - 1]->kind != VPROF_NODE_QUEUED &&
	       (path[wait - 1]->is_blame || !(wait > 1 ? path[wait - 2]->is_blame : is_blame)))
		wait--;
	if (!wait) {
		add_fitting(path, depth, 0, columns, out);
		return;
	}
	queued = path[wait - 1]->kind == VPROF_NODE_QUEUED;
	if (!whole) {
		vprof_text_add(out, queued ? "queued: " : "waiting: ");
		vprof_text_add(out, wait > 1 || !queued ? node_name(path[0]) : "the interval itself");
		return;
	}
	if (queued)
		vprof_text_add(out, "while queued");
	else
		vprof_text_addf(out, "while waiting for %s", node_name(path[wait - 1]));
	if (wait > 1) {
		vprof_text_add(out, " > ");
		add_ends(path, wait - 1, 0, out);
	}
	if (wait < depth) {
		vprof_text_add(out, " in ");
		add_ends(path, depth, wait, out);
	}
}

void vprof_report_place(const struct vprof_results *r, const struct vprof_factor *f, int columns,
			struct vprof_text *out)
{
	struct vprof_text path = VPROF_TEXT_INIT, more = VPROF_TEXT_INIT;
	const struct vprof_node *parent = place_of(r, f);
	size_t room = columns > 0 ? (size_t)columns : 0, extra;

	if (f->n_nodes > 1)
		vprof_text_addf(&more, " (+%zu)", f->n_nodes - 1);
	extra = more.len < room ? more.len : 0;
	if (parent && parent->depth == 0)
		vprof_text_add(&path, "the interval itself");
	else if (parent)
		add_path(r, parent, f->is_blame, 0, room - extra, &path);
	vprof_format_cut(out, path.s, room - extra, 1, 0);
	if (extra)
		vprof_text_add(out, more.s);
	vprof_text_release(&path);
	vprof_text_release(&more);
}

void vprof_factor_heading(const struct vprof_style *style, struct vprof_text *out)
{
	vprof_text_addf(out, "%s   %-19s%-*s%-*s%*s%*s%s\n", vprof_ink(style, VPROF_INK_DIM), "share of variance",
			(int)name_columns(style), "factor", (int)place_columns(style), "where it sits", MEAN_COLUMNS,
			"mean", SD_COLUMNS, "sd", vprof_ink(style, VPROF_INK_PLAIN));
}

static void add_first_line(const struct vprof_style *style, const struct vprof_results *r, size_t rank, int chosen,
			   struct vprof_text *out)
{
	const struct vprof_factor *f = &r->factors[rank - 1];
	size_t place = place_columns(style), name = name_columns(style);
	struct vprof_text where = VPROF_TEXT_INIT;
	char number[24];

	snprintf(number, sizeof number, "%zu", rank);
	vprof_format_cut(out, number, AT_SHARE - 1, 0, AT_SHARE - 1);
	vprof_text_addf(out, "%6s  ", vprof_format_percent(f->share).s);
	vprof_format_range(out, f->share_low, f->share_high, AT_NAME - AT_RANGE);
	vprof_text_add(out, vprof_ink(style, chosen ? VPROF_INK_BOLD : VPROF_INK_PLAIN));
	vprof_format_cut(out, f->name ? f->name : "?", name - 2, 1, name);
	vprof_text_add(out, vprof_ink(style, VPROF_INK_PLAIN));
	vprof_report_place(r, f, (int)place, &where);
	if (f->kind == VPROF_FACTOR_COVARIANCE) {
		vprof_format_cut(out, where.s, place, 1, 0);
	} else {
		vprof_format_cut(out, where.s, place, 1, place);
		vprof_text_addf(out, "%*s%*s", MEAN_COLUMNS, vprof_format_duration(f->mean_ns).s, SD_COLUMNS,
				vprof_format_duration(f->sd_ns).s);
	}
	vprof_text_add(out, "\n");
	vprof_text_release(&where);
}

/* Between what the time is undivided, and what tells it apart. */
static void add_undivided(const struct vprof_results *r, const struct vprof_node *n, struct vprof_text *line)
{
	const struct vprof_node *parent = &r->nodes[n->parent];
	struct vprof_text text = VPROF_TEXT_INIT;
	size_t n_functions = 0;

	vprof_text_addf(&text, "own code of %s, or calls of ", node_name(parent));
	for (uint32_t c = parent->first_child; c < parent->first_child + parent->n_children && c < r->n_nodes; c++)
		if (vprof_node_is_sampled(&r->nodes[c]) && n_functions++ < UNDIVIDED_NAMES)
			vprof_text_addf(&text, "%s%s", n_functions > 1 ? ", " : "", node_name(&r->nodes[c]));
	if (n_functions > UNDIVIDED_NAMES)
		vprof_text_addf(&text, " and %zu more", n_functions - UNDIVIDED_NAMES);
	vprof_text_add(&text, " that were not timed");
	vprof_format_item(line, text.s);
	vprof_format_item(line, "the next round records every call");
	vprof_text_release(&text);
}

/* What could still be learned beneath a variance factor. */
static void add_children(const struct vprof_results *r, const struct vprof_factor *f, struct vprof_text *line)
{
	const struct vprof_node *n = vprof_factor_node(r, f);
	char text[96];
	uint32_t measured = 0;

	if (!n)
		return;
	for (size_t i = 0; i < f->n_nodes; i++)
		if (r->nodes[f->nodes[i]].broken_down)
			measured++;
	if (n->kind == VPROF_NODE_PREEMPTED) {
		vprof_format_item(line, "runnable, but off-CPU");
		if (!f->is_blame && isfinite(r->preempted_by_own)) {
			snprintf(text, sizeof text, "%s of it for the session's own threads",
				 vprof_format_percent(r->preempted_by_own).s);
			vprof_format_item(line, text);
		}
	} else if (n->kind == VPROF_NODE_UNDIVIDED) {
		add_undivided(r, n, line);
	} else if (n->kind == VPROF_NODE_SITE) {
		vprof_format_item(line, vprof_factor_is_explained(r, f) ? "caused by others' work: see its children" :
									  "external, a leaf");
	} else if (n->kind == VPROF_NODE_BODY) {
		vprof_format_item(line,
				  f->can_break_down ? "code and calls not measured yet" : "own code, no measured call");
	} else if (n->kind == VPROF_NODE_WAIT || n->kind == VPROF_NODE_QUEUED) {
		if (f->can_break_down)
			vprof_format_item(line, "can be broken down where it waits");
		else if (vprof_factor_is_explained(r, f))
			vprof_format_item(line, "caused by others' work: see its children");
	} else if (f->can_break_down) {
		snprintf(text, sizeof text, "%s child%s, %s", vprof_format_count(f->n_unmeasured).s,
			 f->n_unmeasured == 1 ? "" : "ren", measured ? "not all measured yet" : "none measured yet");
		vprof_format_item(line, text);
	} else {
		vprof_format_item(line,
				  measured ? "broken down, see its children" : "a leaf: no call that can be measured");
	}
}

/* What its time was besides running its own code. */
static void add_states(const struct vprof_factor *f, struct vprof_text *line)
{
	const struct {
		double share;
		const char *before, *after;
	} states[] = { { f->blocked_share, "blocked", "" },
		       { f->kernel_share, "in the kernel", "" },
		       { f->io_share, "in I/O", " (blocked or in the kernel)" },
		       { f->node_kind == VPROF_NODE_PREEMPTED ? 0 : f->preempted_share, "preempted", "" } };
	char text[128];

	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		if (!isfinite(states[i].share) || states[i].share < 0.005)
			continue;
		snprintf(text, sizeof text, "%s %s%s", states[i].before, vprof_format_percent(states[i].share).s,
			 states[i].after);
		vprof_format_item(line, text);
	}
}

/* " (56 .. 86)"; nothing where there are no bounds. */
static void add_bounds(struct vprof_text *t, double low, double high)
{
	if (!isfinite(low) || !isfinite(high))
		return;
	vprof_text_add(t, " (");
	vprof_format_range(t, low, high, 0);
	vprof_text_add(t, ")");
}

/* "if constant -31 % (-61 .. -2)" */
static void add_constant(struct vprof_text *t, double x, double low, double high)
{
	vprof_text_addf(t, "if constant %s", vprof_format_change(x).s);
	add_bounds(t, -high, -low);
}

/* What would go with the factor; and, at the first of both, with what the same function did in the interval and in
 * other threads while that waited for them. */
static void add_what_would_go(const struct vprof_results *r, const struct vprof_factor *f, struct vprof_text *line)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	if (isfinite(f->if_constant)) {
		add_constant(&t, f->if_constant, f->if_constant_low, f->if_constant_high);
		vprof_format_item(line, t.s);
	}
	vprof_text_clear(&t);
	if (f->counterpart && f < &r->factors[f->counterpart - 1] && isfinite(f->together) &&
	    isfinite(f->together_constant)) {
		vprof_text_addf(&t, "own and beneath waits %s", vprof_format_percent(f->together).s);
		add_bounds(&t, f->together_low, f->together_high);
		vprof_text_add(&t, ", ");
		add_constant(&t, f->together_constant, f->together_constant_low, f->together_constant_high);
		vprof_format_item(line, t.s);
	}
	vprof_text_release(&t);
}

static void add_variance_detail(const struct vprof_results *r, const struct vprof_factor *f, struct vprof_text *line)
{
	const struct vprof_node *n = vprof_factor_node(r, f);
	char text[128];

	if (n && n->file && *n->file) {
		vprof_text_addf(line, "%s:%d", n->file, n->line);
		for (size_t i = 0; i < f->n_nodes && i < 3; i++) {
			const struct vprof_node *other = &r->nodes[f->nodes[i]];

			if (other->file && *other->file && (other->line != n->line || strcmp(other->file, n->file)))
				vprof_text_addf(line, ", %s:%d", other->file, other->line);
		}
	}
	if (n && n->object && *n->object) {
		if (f->n_nodes > 1 || vprof_object_is_several(n->object))
			vprof_format_item(line, "several objects");
		else
			vprof_text_addf(line, "%sobject %s", line->len ? " · " : "", n->object);
	}
	add_what_would_go(r, f, line);
	if (f->is_blame && n) {
		vprof_format_item(line, "others' work ");
		add_path(r, &r->nodes[n->parent], 1, 1, 0, line);
	}
	add_states(f, line);
	if (f->n_timed && f->n_timed < f->n_calls) {
		snprintf(text, sizeof text, "1 in %.3g calls timed", (double)f->n_calls / (double)f->n_timed);
		vprof_format_item(line, text);
		if (isfinite(f->noise_share) && f->noise_share >= 0.005) {
			snprintf(text, sizeof text, "sampling error of %s removed",
				 vprof_format_percent(f->noise_share).s);
			vprof_format_item(line, text);
		}
	}
	if (isfinite(f->between_share) && f->between_share >= 0.1) {
		snprintf(text, sizeof text, "%s of its variance between types",
			 vprof_format_percent(f->between_share).s);
		vprof_format_item(line, text);
	}
	if (isfinite(f->work_share) && f->work_share >= 0.1) {
		snprintf(text, sizeof text, "%s of its variance explained by work",
			 vprof_format_percent(f->work_share).s);
		vprof_format_item(line, text);
	}
	add_children(r, f, line);
}

/* What takes from the trust in a share. */
static void add_doubts(const struct vprof_factor *f, struct vprof_text *line)
{
	char text[128];

	if (f->mean_ns > 0 && f->probe_ns >= 0.005 * f->mean_ns) {
		snprintf(text, sizeof text, "recording added %s to its time",
			 vprof_format_percent(f->probe_ns / f->mean_ns).s);
		vprof_format_item(line, text);
	}
	if (isfinite(f->place_kept) && f->place_kept < 0.95) {
		snprintf(text, sizeof text, "keeps its rank in %s of resampled runs",
			 vprof_format_percent(f->place_kept).s);
		vprof_format_item(line, text);
	}
}

void vprof_factor_lines(const struct vprof_style *style, const struct vprof_results *r, size_t rank, int chosen,
			struct vprof_text *out)
{
	const struct vprof_factor *f = &r->factors[rank - 1];
	struct vprof_text line = VPROF_TEXT_INIT;

	add_first_line(style, r, rank, chosen, out);
	if (f->kind == VPROF_FACTOR_COVARIANCE) {
		vprof_text_add(&line, "move together");
		if (isfinite(f->r) && fabs(f->r) <= 1.0000001)
			vprof_text_addf(&line, ", r = %.2f", f->r);
		add_what_would_go(r, f, &line);
		if (f->can_break_down)
			vprof_format_item(&line, "can be broken down");
	} else {
		add_variance_detail(r, f, &line);
	}
	add_doubts(f, &line);
	if (f->verdict && f->verdict != VPROF_VERDICT_BROKEN_DOWN) { /* that stands there already */
		vprof_format_item(&line, "verdict: ");
		vprof_text_add(&line, vprof_verdict_names[f->verdict]);
		if (f->note && *f->note)
			vprof_text_addf(&line, " (%s)", f->note);
	}
	if (line.len) {
		vprof_text_addf(out, "%*s%s", AT_DETAIL, "", vprof_ink(style, VPROF_INK_DIM));
		vprof_format_wrap(out, line.s, AT_DETAIL, AT_DETAIL, style->width);
		if (style->colour) { /* the newline stays the line's last byte */
			out->s[--out->len] = 0;
			vprof_text_addf(out, "%s\n", vprof_ink(style, VPROF_INK_PLAIN));
		}
	}
	vprof_text_release(&line);
}
