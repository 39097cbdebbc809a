/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run/run_progress.h"

#include <stdio.h>
#include <string.h>

#include "report/format_value.h"

#define DRAW_EVERY_S 0.2
#define LOOK_EVERY_S 1
#define FIRST_NOTE_S 60
#define QUIET_S 10	/* without a record for so long: worth telling */
#define FULL_SHARE 0.25 /* of the buffers */

void vprof_run_progress_begin(struct vprof_run_progress *p, struct vprof_progress *step, pid_t pid)
{
	*p = (struct vprof_run_progress){ .step = step, .pid = pid, .looked_s = -LOOK_EVERY_S };
}

int vprof_run_progress_due(struct vprof_run_progress *p, double seconds)
{
	if (seconds < (p->noted_s > 0 ? 2 * p->noted_s : FIRST_NOTE_S))
		return 0;
	p->noted_s = seconds;
	return 1;
}

void vprof_run_progress_text(char *text, size_t size, const struct vprof_collector_state *s, double quiet_s)
{
	size_t n;

	if (!s->n_threads) {
		snprintf(text, size, "%s", quiet_s > QUIET_S ? "no program with probes runs yet" : "");
		return;
	}
	snprintf(text, size, "%.1f MB recorded, %s thread%s", (double)s->n_unit_bytes / 1e6,
		 vprof_format_count(s->n_threads).s, s->n_threads == 1 ? "" : "s");
	n = strlen(text);
	if (s->n_dropped)
		snprintf(text + n, size - n, ", %s lost", vprof_format_count(s->n_dropped).s);
	else if (s->full_share > FULL_SHARE)
		snprintf(text + n, size - n, ", buffers %.0f %% full", 100 * s->full_share);
	else if (quiet_s > QUIET_S)
		snprintf(text + n, size - n, ", nothing new for %.0f s", quiet_s);
}

static void look(struct vprof_run_progress *p, const struct vprof_collector *collector, double seconds)
{
	uint64_t before = p->state.n_unit_bytes;

	vprof_collector_look(collector, &p->state);
	p->looked_s = seconds;
	if (p->state.n_unit_bytes != before)
		p->changed_s = seconds;
}

void vprof_run_progress_step(struct vprof_run_progress *p, const struct vprof_collector *collector, double seconds,
			     int is_stopping)
{
	char what[80], text[128];

	if (!p->step || seconds - p->drawn_s < DRAW_EVERY_S)
		return;
	p->drawn_s = seconds;
	if (seconds - p->looked_s >= LOOK_EVERY_S)
		look(p, collector, seconds);
	vprof_run_progress_text(what, sizeof what, &p->state, seconds - p->changed_s);
	snprintf(text, sizeof text, is_stopping ? "%.0f s, stopping; Ctrl-C again kills it" : "%.0f s%s%s", seconds,
		 *what ? ": " : "", what);
	vprof_progress_update(p->step, text, -1);
	if (vprof_run_progress_due(p, seconds) && !is_stopping)
		vprof_progress_note(p->step, "still running after %.0f s (pid %ld): %s", seconds, (long)p->pid, what);
}
