/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/transactions/report_crosstalk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/results/results_json.h"
#include "common/files.h"
#include "report/format_value.h"
#include "report/report_parts.h"

#define DEFAULT_PAIRS 10
#define INDENT 10
#define LOCKS_SHOWN 3
#define HOLDER_CALLS_MAX 24
#define HELD_ALL 0.98	/* of the waits: it is around everything */
#define HELD_SHOWN 4	/* levels of the heaviest way down */
#define HELD_MIN 0.3	/* of what is above it, for the next level */
#define NAME_COLUMNS 24 /* of a waiter in the matrix, at most */
#define CELL_COLUMNS 14
#define UNKNOWN_TOLD 0.2 /* of the waiting time without a known holder, to be told */
#define MIN_BOUNDED 60	 /* intervals that bounds need */

static int is_known(const struct vprof_results *r, const struct vprof_crosstalk *x)
{
	enum vprof_party_kind kind = r->parties[x->holder].kind;

	return kind == VPROF_PARTY_TYPE || kind == VPROF_PARTY_THREAD || kind == VPROF_PARTY_ITSELF;
}

static const struct vprof_crosstalk *heaviest(const struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_crosstalk; i++)
		if (is_known(r, &r->crosstalk[i]))
			return &r->crosstalk[i];
	return NULL;
}

int vprof_crosstalk_is_empty(const struct vprof_results *r)
{
	return !heaviest(r);
}

static void add_holder(const struct vprof_results *r, const struct vprof_crosstalk *x, struct vprof_text *t)
{
	const struct vprof_party *holder = &r->parties[x->holder];

	switch (holder->kind) {
	case VPROF_PARTY_ITSELF:
		vprof_text_add(t, "other threads that work for it");
		break;
	case VPROF_PARTY_RELEASED:
		vprof_text_add(t, "a CPU, after the release");
		break;
	case VPROF_PARTY_UNKNOWN:
		vprof_text_add(t, "somebody unknown");
		break;
	default:
		vprof_text_addf(t, "%s%s", x->waiter == x->holder ? "others of type " : "", holder->name);
	}
}

/* "item_table (handler.cc:2210)"; without the call's place, the function that waits. */
static void add_lock(const struct vprof_crosstalk_lock *l, struct vprof_text *t)
{
	vprof_text_add(t, *l->awaited ? l->awaited : l->name);
	if (l->is_call && *l->file)
		vprof_text_addf(t, " (%s:%d)", vprof_path_name(l->file), l->line);
	else if (*l->function)
		vprof_text_addf(t, " in %s", l->function);
	if (!*l->awaited && *l->object)
		vprof_text_addf(t, "%s%s", vprof_object_is_several(l->object) ? ", " : " at ",
				vprof_object_is_several(l->object) ? "several objects" : l->object);
}

static void add_bounds(const struct vprof_crosstalk *x, struct vprof_text *t)
{
	vprof_text_addf(t, "%s of its time", vprof_format_percent(x->share).s);
	if (isfinite(x->share_low) && isfinite(x->share_high))
		vprof_text_addf(t, ", %s .. %s", vprof_format_percent(x->share_low).s,
				vprof_format_percent(x->share_high).s);
}

/* The heaviest pair of a known waiter and holder in one sentence without an end; when there is none, that and why. */
static void add_answer(const struct vprof_results *r, struct vprof_text *out)
{
	const struct vprof_crosstalk *x = heaviest(r);

	if (!x) {
		vprof_text_addf(out, "no %s waited for work of another thread",
				r->interval && *r->interval ? r->interval : "interval");
		return;
	}
	vprof_text_addf(out, "%s waits %s of ", r->parties[x->waiter].name, vprof_format_duration(x->total_ns).s);
	vprof_text_addf(out, "%s for ", vprof_format_duration(r->parties[x->waiter].total_ns).s);
	add_holder(r, x, out);
	if (x->n_locks) {
		vprof_text_add(out, ", at ");
		add_lock(&x->locks[0], out);
	}
	vprof_text_add(out, " (");
	add_bounds(x, out);
	vprof_text_add(out, ")");
}

/* What to be careful about, and what to do. */
static void add_advice(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	const struct vprof_crosstalk *x = heaviest(r);
	struct vprof_text t = VPROF_TEXT_INIT;
	double all = 0, unknown = 0;
	size_t n_types = 0;

	for (size_t i = 0; i < r->n_crosstalk; i++) {
		all += r->crosstalk[i].total_ns;
		if (r->parties[r->crosstalk[i].holder].kind == VPROF_PARTY_UNKNOWN)
			unknown += r->crosstalk[i].total_ns;
	}
	for (size_t i = 0; i < r->n_parties; i++)
		n_types += r->parties[i].n > 0;
	if (!x)
		vprof_text_add(&t,
			       "locks of the C library, its conditions, semaphores and the like are seen without "
			       "annotations; locks and queues of the program's own are not: name them in vprof.json "
			       "(vprof annotations check), and record under the load that is slow. ");
	if (x && r->parties[x->waiter].n < MIN_BOUNDED)
		vprof_text_addf(&t, "%s intervals of %s are too few for bounds (%d are enough): record a longer run. ",
				vprof_format_count(r->parties[x->waiter].n).s, r->parties[x->waiter].name, MIN_BOUNDED);
	else if (x && !(x->share_low > 0))
		vprof_text_add(&t,
			       "that may be due to a few stalls: its bounds reach down to 0. Record a longer run. ");
	if (n_types == 1 && x)
		vprof_text_add(&t, "all intervals are of one type: with \"type\" in vprof.json the matrix tells which "
				   "requests slow which. ");
	if (all > 0 && unknown > UNKNOWN_TOLD * all)
		vprof_text_addf(&t, "%s of the waiting time has no known holder. ",
				vprof_format_percent(unknown / all).s);
	if (t.len)
		vprof_report_labelled_text(style, "warning", &t, out);
}

static double total_of(const struct vprof_results *r, uint32_t waiter, uint32_t holder)
{
	for (size_t i = 0; i < r->n_crosstalk; i++)
		if (r->crosstalk[i].waiter == waiter && r->crosstalk[i].holder == holder)
			return r->crosstalk[i].total_ns;
	return 0;
}

/* The parties that occur as holders (or waiters), in the order of the heaviest pair of each; their number. */
static size_t order_parties(const struct vprof_results *r, int as_holder, uint32_t *order)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_crosstalk; i++) {
		uint32_t party = as_holder ? r->crosstalk[i].holder : r->crosstalk[i].waiter;
		size_t k = 0;

		while (k < n && order[k] != party)
			k++;
		if (k == n)
			order[n++] = party;
	}
	return n;
}

static void add_cell(double ns, struct vprof_text *out)
{
	vprof_text_addf(out, "%*s", CELL_COLUMNS, ns > 0 ? vprof_format_duration(ns).s : "-");
}

static void add_row(const struct vprof_results *r, uint32_t waiter, const uint32_t *holders, size_t n_holders,
		    size_t n_shown, size_t name_columns, struct vprof_text *out)
{
	double others = 0;

	vprof_format_cut(out, r->parties[waiter].name, name_columns, 1, name_columns);
	for (size_t k = 0; k < n_holders; k++) {
		if (k < n_shown)
			add_cell(total_of(r, waiter, holders[k]), out);
		else
			others += total_of(r, waiter, holders[k]);
	}
	if (n_shown < n_holders)
		add_cell(others, out);
	vprof_text_add(out, "\n");
}

static void add_matrix(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	uint32_t *waiters = calloc(r->n_crosstalk + 1, sizeof *waiters),
		 *holders = calloc(r->n_crosstalk + 1, sizeof *holders);
	size_t n_waiters, n_holders, n_shown, columns = sizeof "waiter \\ holder" - 1;

	if (!waiters || !holders) {
		out->failed = 1;
		goto out;
	}
	n_waiters = order_parties(r, 0, waiters);
	n_holders = order_parties(r, 1, holders);
	for (size_t i = 0; i < n_waiters; i++) {
		size_t n = vprof_format_columns(r->parties[waiters[i]].name);

		columns = n > columns ? n : columns;
	}
	columns = columns > NAME_COLUMNS ? NAME_COLUMNS : columns;
	n_shown = (style->width - columns) / CELL_COLUMNS;
	n_shown = n_holders <= n_shown ? n_holders : n_shown - 1;
	vprof_text_add(out, vprof_ink(style, VPROF_INK_DIM));
	vprof_format_cut(out, "waiter \\ holder", columns, 0, columns);
	for (size_t k = 0; k < n_shown; k++) {
		const char *name = r->parties[holders[k]].name;
		size_t width = vprof_format_columns(name);

		width = width > CELL_COLUMNS - 2 ? CELL_COLUMNS - 2 : width;
		vprof_text_addf(out, "%*s", (int)(CELL_COLUMNS - width), "");
		vprof_format_cut(out, name, width, 1, width);
	}
	if (n_shown < n_holders)
		vprof_text_addf(out, "%*s", CELL_COLUMNS, "others");
	vprof_text_addf(out, "%s\n", vprof_ink(style, VPROF_INK_PLAIN));
	for (size_t i = 0; i < n_waiters; i++)
		add_row(r, waiters[i], holders, n_holders, n_shown, columns, out);
	vprof_text_add(out, "\n");
out:
	free(waiters);
	free(holders);
}

/* The heaviest way down from the outermost function, as long as each has most of what is above it:
 * chain[HOLDER_CALLS_MAX] of l->holder_calls. Its length. */
static size_t heaviest_way(const struct vprof_crosstalk_lock *l, const struct vprof_holder_call **chain)
{
	double above = l->total_ns;
	size_t n = 0;

	for (size_t i = 0; i < l->n_holder_calls && n < HOLDER_CALLS_MAX; i++) {
		const struct vprof_holder_call *h = &l->holder_calls[i];

		if (h->depth != n)
			continue; /* a sibling comes after the heaviest one's children */
		if (!(h->total_ns >= HELD_MIN * above))
			break;
		above = h->total_ns;
		chain[n++] = h;
	}
	return n;
}

/* "; held in confirm 90 % > update_item 80 %", without what has all of the time anyway, such as the thread's main. */
static void add_holder_calls(const struct vprof_crosstalk_lock *l, struct vprof_text *t)
{
	const struct vprof_holder_call *chain[HOLDER_CALLS_MAX];
	size_t n = heaviest_way(l, chain), first = 0;

	while (first + 1 < n && chain[first]->total_ns >= HELD_ALL * l->total_ns)
		first++;
	for (size_t i = first; i < n && i < first + HELD_SHOWN; i++)
		vprof_text_addf(t, "%s%s %s", i > first ? " > " : "; held in ", chain[i]->name,
				vprof_format_percent(l->total_ns > 0 ? chain[i]->total_ns / l->total_ns : NAN).s);
	if (!n && l->total_ns > 0 && l->measured_ns < 0.5 * l->total_ns)
		vprof_text_add(t, "; held outside measured functions");
}

static void add_pair(const struct vprof_style *style, const struct vprof_results *r, const struct vprof_crosstalk *x,
		     size_t number, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	char label[24];

	snprintf(label, sizeof label, "%zu", number);
	vprof_text_addf(&t, "%s for ", r->parties[x->waiter].name);
	add_holder(r, x, &t);
	vprof_text_addf(&t, ": %s in %s wait%s; ", vprof_format_duration(x->total_ns).s,
			vprof_format_count(x->n_waits).s, x->n_waits == 1 ? "" : "s");
	add_bounds(x, &t);
	vprof_text_add(out, vprof_ink(style, VPROF_INK_BOLD));
	vprof_report_labelled(style, label, t.s, out);
	vprof_text_add(out, vprof_ink(style, VPROF_INK_PLAIN));
	for (size_t i = 0; i < x->n_locks && i < LOCKS_SHOWN; i++) {
		const struct vprof_crosstalk_lock *l = &x->locks[i];

		vprof_text_release(&t);
		t = (struct vprof_text)VPROF_TEXT_INIT;
		add_lock(l, &t);
		vprof_text_addf(&t, ": %s in %s wait%s", vprof_format_duration(l->total_ns).s,
				vprof_format_count(l->n_waits).s, l->n_waits == 1 ? "" : "s");
		if (is_known(r, x))
			add_holder_calls(l, &t);
		vprof_report_labelled(style, "", t.s, out);
	}
	if (x->n_locks > LOCKS_SHOWN)
		vprof_text_addf(out, "%*s%zu more locks: --json\n", INDENT, "", x->n_locks - LOCKS_SHOWN);
	out->failed |= t.failed;
	vprof_text_release(&t);
}

void vprof_report_crosstalk(const struct vprof_results *r, const struct vprof_report_options *o, struct vprof_text *out)
{
	struct vprof_style style = vprof_report_style(o);
	size_t top = o->top ? o->top : DEFAULT_PAIRS;
	struct vprof_text t = VPROF_TEXT_INIT;

	add_answer(r, &t);
	vprof_report_labelled_text(&style, "", &t, out);
	add_advice(&style, r, out);
	vprof_report_effect(&style, r, out);
	vprof_text_add(out, "\n");
	if (!r->n_crosstalk)
		return;
	add_matrix(&style, r, out);
	for (size_t i = 0; i < r->n_crosstalk && i < top; i++)
		add_pair(&style, r, &r->crosstalk[i], i + 1, out);
	if (r->n_crosstalk > top)
		vprof_text_addf(out, "%*s%zu lighter pairs (--top shows them)\n", INDENT, "", r->n_crosstalk - top);
}

cJSON *vprof_results_json_part(const struct vprof_results *r, const char *const *keys)
{
	cJSON *all = vprof_results_json(r), *o = all ? cJSON_CreateObject() : NULL;

	for (; o && *keys; keys++)
		cJSON_AddItemToObject(o, *keys, cJSON_DetachItemFromObjectCaseSensitive(all, *keys));
	cJSON_Delete(all);
	return o;
}

cJSON *vprof_crosstalk_json(const struct vprof_results *r)
{
	return vprof_results_json_part(r, (const char *[]){ "version", "interval", "run", "n_runs", "n_complete",
							    "n_not_drawn", "warnings", "parties", "crosstalk", NULL });
}
