/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `vprof top` on a terminal: the view, and the keys by which a person drives the session that it shows.
 *
 * Marks are verdicts, kept where `vprof review` keeps them. All else is asked of the session (cli/live/live_channel.h),
 * which carries it out and answers.
 */
#ifndef VPROF_TOP_SCREEN_H
#define VPROF_TOP_SCREEN_H

#include "cli/live/top_view.h"
#include "cli/project.h"

/* Until the user leaves. MISSING: the session ended. INPUT: the terminal cannot show it. `top` is the first view, and
 * the last one afterwards. */
int vprof_top_watch(const struct vprof_project *p, struct vprof_top *top, struct vprof_error *err);

#endif
