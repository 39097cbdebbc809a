/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flows/flow_discover.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/flows/flows.h"
#include "annotate/discover/draft.h"
#include "cli/flows/flow_answer.h"
#include "common/arena.h"
#include "common/files.h"

static int read_answer(const char *path, cJSON **answer, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc;

	if (access(path, F_OK))
		return vprof_error_set(err, VPROF_ERR_MISSING,
				       "no discovery run has been made here: vprof flows makes one");
	rc = vprof_file_read(path, &text, err);
	*answer = rc ? NULL : cJSON_Parse(text.s);
	if (!rc && !cJSON_IsArray(cJSON_GetObjectItem(*answer, "flows")))
		rc = vprof_error_set(err, VPROF_ERR_CORRUPT, "%s is damaged. Run vprof flows again", path);
	vprof_text_release(&text);
	return rc;
}

static int write_answer(const char *path, const cJSON *answer, struct vprof_error *err)
{
	char *printed = cJSON_Print(answer);
	int rc = printed ? vprof_file_write(path, printed, strlen(printed), err) : vprof_error_no_memory(err);

	cJSON_free(printed);
	return rc;
}

/* What the run's recording says. */
static int analyse(struct vprof_workspace *w, const char *sections, size_t n_units, cJSON **answer,
		   struct vprof_error *err)
{
	struct vprof_draft draft = { 0 };
	struct vprof_discovery d;
	struct vprof_flows flows;
	int rc = vprof_flows_find(&flows, sections, err);

	if (!rc && vprof_discovery_init(&d, w->facts, w->graph, &draft, &draft.arena))
		rc = vprof_error_no_memory(err);
	if (!rc)
		*answer = vprof_flow_answer_make(&d, &flows, n_units);
	if (!rc && (!*answer || vprof_flow_answer_suggest(*answer, &d) || draft.arena.failed))
		rc = vprof_error_no_memory(err);
	vprof_arena_release(&draft.arena);
	vprof_flows_release(&flows);
	return rc;
}

int vprof_flow_discover(struct vprof_workspace *w, const struct vprof_option_words *units,
			const struct vprof_flow_run_options *how, int keep, cJSON **answer, struct vprof_error *err)
{
	char *sections = vprof_path_join(how->folder, "sections"), *path = vprof_path_join(how->folder, "flows.json");
	struct vprof_flow_own_locks own = { 0 };
	struct vprof_flow_units chosen = { 0 };
	struct vprof_error back = { "" };
	int restored, rc = sections && path ? vprof_workspace_load_facts(w, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_flow_own_locks_find(&own, w->facts, w->graph, w->annotations, err);
	if (!rc)
		rc = vprof_flow_units_choose(&chosen, w->facts, w->graph, units, &own, err);
	if (!rc)
		rc = vprof_dir_make(how->folder, err);
	if (!rc)
		rc = vprof_flow_run(w, &chosen, &own, how, err);
	if (!rc)
		rc = analyse(w, sections, chosen.n, answer, err);
	if (!keep && w->facts && chosen.n) {
		restored = vprof_flow_put_back(w, how->folder, rc ? &back : err);
		rc = rc ? rc : restored;
	}
	if (!rc)
		rc = write_answer(path, *answer, err);
	if (sections)
		vprof_dir_remove(sections, NULL);
	vprof_flow_units_release(&chosen);
	vprof_flow_own_locks_release(&own);
	free(sections);
	free(path);
	return rc;
}

int vprof_flow_read_answer(const char *folder, cJSON **answer, struct vprof_error *err)
{
	char *path = vprof_path_join(folder, "flows.json");
	int rc = path ? read_answer(path, answer, err) : vprof_error_no_memory(err);

	free(path);
	return rc;
}
