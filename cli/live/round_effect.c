/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/live/round_effect.h"

#include <math.h>
#include <stdlib.h>

#include "cli/command.h"
#include "common/files.h"
#include "common/text.h"

static void add_change(struct vprof_text *out, const char *name, const struct vprof_live_change *c, int is_last)
{
	const double values[] = { c->change, c->low, c->high };
	static const char *const keys[] = { "change", "low", "high" };

	vprof_text_addf(out, "  \"%s\": {", name);
	for (int i = 0; i < 3; i++) {
		vprof_text_addf(out, "%s\"%s\": ", i ? ", " : "", keys[i]);
		if (isfinite(values[i]))
			vprof_text_addf(out, "%.9g", values[i]);
		else
			vprof_text_add(out, "null");
	}
	vprof_text_addf(out, "}%s\n", is_last ? "" : ",");
}

static void tell_effect(const struct vprof_live_effect *e)
{
	const struct vprof_live_change *const changes[] = { &e->mean, &e->variance, &e->p99 };
	static const char *const names[] = { "mean", "variance", "p99" };
	struct vprof_text text = VPROF_TEXT_INIT;

	for (int i = 0; i < 3; i++)
		if (isfinite(changes[i]->low))
			vprof_text_addf(&text, "%s%s %+.1f %% (%+.1f .. %+.1f)", text.len ? ", " : "", names[i],
					100 * changes[i]->change, 100 * changes[i]->low, 100 * changes[i]->high);
	if (text.len)
		vprof_say("  effect   %s: %llu turns against %llu baselines", text.s, (unsigned long long)e->n_turns,
			  (unsigned long long)e->n_baselines);
	vprof_text_release(&text);
}

int vprof_round_effect_conclude(const struct vprof_project *p, const char *run, const struct vprof_results *results,
				struct vprof_error *err)
{
	const struct vprof_live_effect *e = &results->live;
	char *path = vprof_project_run_path(p, run, "live.json");
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc;

	vprof_text_addf(&text,
			"{\n  \"version\": 1,\n  \"n_turns\": %llu,\n  \"n_baselines\": %llu,\n  \"n_straddling\": "
			"%llu,\n",
			(unsigned long long)e->n_turns, (unsigned long long)e->n_baselines,
			(unsigned long long)e->n_straddling);
	add_change(&text, "mean", &e->mean, 0);
	add_change(&text, "variance", &e->variance, 0);
	add_change(&text, "p99", &e->p99, 1);
	vprof_text_add(&text, "}\n");
	rc = path && !text.failed ? vprof_file_write(path, text.s, text.len, err) : vprof_error_no_memory(err);
	tell_effect(e);
	vprof_text_release(&text);
	free(path);
	return rc;
}
