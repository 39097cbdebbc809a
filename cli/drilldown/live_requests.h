/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a person asks of a round that is being recorded (cli/live/live_channel.h). A request is a line:
 *
 *   break-down cause KEY | break-down function NAME | close cause KEY | close function NAME | open function NAME
 *   hold | release | save
 *
 * KEY is a cause's or factor's, NAME is a display name as state.json has it. Functions here are call sites, too.
 */
#ifndef VPROF_LIVE_REQUESTS_H
#define VPROF_LIVE_REQUESTS_H

#include "cli/drilldown/session.h"
#include "cli/workspace.h"
#include "common/plan.h"
#include "common/text.h"

enum vprof_live_request {
	VPROF_LIVE_REQUEST_REFUSED, /* the answer says why */
	VPROF_LIVE_REQUEST_REPLAN,  /* the session has changed, so that its plan is another one now */
	VPROF_LIVE_REQUEST_HOLD,
	VPROF_LIVE_REQUEST_RELEASE,
	VPROF_LIVE_REQUEST_SAVE,
};

struct vprof_live_requested {
	struct vprof_workspace *workspace;
	struct vprof_session *session;
	const char *run;	       /* of the round; its results.json is the last look's, if there was one */
	const struct vprof_plan *plan; /* that is open */
};

/* Carries out what concerns the session alone, and saves it. One of enum vprof_live_request with the answer, or NOMEM.
 */
int vprof_live_request_apply(const struct vprof_live_requested *to, const char *text, struct vprof_text *answer);

/* What runs/RUN holds by now, as a run of its own, analysed. */
int vprof_live_request_save(const struct vprof_live_requested *to, struct vprof_run_name *saved,
			    struct vprof_error *err);

#endif
