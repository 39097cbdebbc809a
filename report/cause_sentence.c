/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cause told in a sentence: what the intervals wait for or spend their time in, and the path there. */
#include <ctype.h>
#include <string.h>

#include "report/format_value.h"
#include "report/report.h"

enum { WHOLE_NAMES = 6 };

/* "requests"; an interval whose name is no plain word is an interval. */
static void add_intervals(const struct vprof_results *r, struct vprof_text *out)
{
	const char *name = r->interval ? r->interval : "";
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalpha((unsigned char)name[i]) || n > 24) {
			vprof_text_add(out, "intervals");
			return;
		}
	if (!n)
		vprof_text_add(out, "intervals");
	else if (n > 1 && name[n - 1] == 'y' && !strchr("aeiou", name[n - 2]))
		vprof_text_addf(out, "%.*sies", (int)n - 1, name);
	else if (strchr("sx", name[n - 1]) || (n > 1 && name[n - 1] == 'h' && strchr("cs", name[n - 2])))
		vprof_text_addf(out, "%ses", name);
	else
		vprof_text_addf(out, "%ss", name);
}

/* A step in which the thread before it waits for others: a call that is measured at its site has children only then. */
static int is_wait(const struct vprof_cause *c, size_t i)
{
	const struct vprof_step *s = &c->steps[i];

	if (s->kind == VPROF_NODE_WAIT && vprof_wait_name_is_tier(s->name))
		return 0; /* what others do, not a wait: a tier without probes */
	return s->kind == VPROF_NODE_WAIT || s->kind == VPROF_NODE_QUEUED ||
	       (s->kind == VPROF_NODE_SITE && i + 1 < c->n_steps);
}

static int is_lock(const struct vprof_step *s)
{
	const char *at = strstr(s->name, "lock");

	at = at ? at : strstr(s->name, "Lock");
	return at && !(at > s->name && (at[-1] == 'b' || at[-1] == 'c')); /* block, clock */
}

/* "a > b > c" of steps first .. last - 1, a long one without its middle. */
static void add_path(const struct vprof_cause *c, size_t first, size_t last, struct vprof_text *out)
{
	size_t n = last - first;

	for (size_t i = 0; i < n; i++) {
		if (n > WHOLE_NAMES && i >= 2 && i < n - (WHOLE_NAMES - 2)) {
			if (i == 2)
				vprof_text_add(out, "… > ");
			continue;
		}
		vprof_text_addf(out, "%s%s", c->steps[first + i].name, i + 1 < n ? " > " : "");
	}
}

/* The wait of step i and the work of others up to `end` that makes it. */
static void add_wait(const struct vprof_cause *c, size_t i, size_t end, int is_first, struct vprof_text *out)
{
	const struct vprof_step *s = &c->steps[i];
	const char *how = is_first ? "wait" : "waits";

	if (s->kind == VPROF_NODE_QUEUED) {
		vprof_text_add(out, is_first ? "are queued" : "is queued");
	} else if (is_lock(s)) {
		vprof_text_addf(out, "%s for %s", how, *s->awaited ? s->awaited : s->name);
	} else {
		vprof_text_addf(out, "%s in %s", how, s->name);
		if (*s->awaited)
			vprof_text_addf(out, " (%s)", s->awaited);
	}
	if (*s->file)
		vprof_text_addf(out, " (%s:%d)", s->file, s->line);
	if (i + 1 == end)
		return;
	vprof_text_add(out, s->kind == VPROF_NODE_QUEUED ? " while this runs: " : is_lock(s) ? ", held by " : " for ");
	add_path(c, i + 1, end, out);
}

/* Waits one within the other: "..., which waits for ...". */
static void add_waits(const struct vprof_cause *c, size_t first, struct vprof_text *out)
{
	for (size_t i = first; i < c->n_steps;) {
		size_t end = i + 1;

		while (end < c->n_steps && !is_wait(c, end))
			end++;
		if (i > first)
			vprof_text_add(out, ", which ");
		add_wait(c, i, end, i == first, out);
		i = end;
	}
}

/* Of the interval's own thread: n_steps when it waits for nobody. */
static size_t first_wait(const struct vprof_cause *c)
{
	size_t i = 0;

	while (i < c->n_steps && !is_wait(c, i))
		i++;
	return i;
}

static void add_work(const struct vprof_results *r, const struct vprof_cause *c, struct vprof_text *out)
{
	size_t wait = first_wait(c);

	add_intervals(r, out);
	vprof_text_add(out, " ");
	if (wait < c->n_steps) {
		add_waits(c, wait, out);
	} else {
		vprof_text_add(out, "spend varying time in ");
		add_path(c, 0, c->n_steps, out);
	}
}

void vprof_report_cause_sentence(const struct vprof_results *r, const struct vprof_cause *c, struct vprof_text *out)
{
	size_t wait = first_wait(c);

	switch (c->kind) {
	case VPROF_CAUSE_PREEMPTED:
		add_intervals(r, out);
		vprof_text_add(out, " could run, but others have the CPU (preempted)");
		if (wait) {
			vprof_text_add(out, ", mostly in ");
			add_path(c, 0, wait, out);
		}
		break;
	case VPROF_CAUSE_OUTSIDE:
		add_intervals(r, out);
		vprof_text_add(out, " spend varying time between begin and end outside all measured functions");
		break;
	case VPROF_CAUSE_UNDIVIDED:
		add_work(r, c, out);
		vprof_text_add(out, " or in its caller: this run does not tell which");
		break;
	case VPROF_CAUSE_TOGETHER:
		add_work(r, c, out);
		vprof_text_addf(out, ", where %s vary together: none explains it alone", c->name);
		break;
	case VPROF_CAUSE_QUEUED:
		add_intervals(r, out);
		vprof_text_add(out, " are queued");
		if (wait) {
			vprof_text_add(out, " in ");
			add_path(c, 0, wait, out);
		}
		vprof_text_add(out, ": nothing measured explains it");
		break;
	default:
		add_work(r, c, out);
	}
}
