/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/verdict.h"

#include <string.h>

const char *const vprof_verdict_names[] = {
	[VPROF_VERDICT_NONE] = "",
	[VPROF_VERDICT_CULPRIT] = "culprit",
	[VPROF_VERDICT_INHERENT] = "inherent",
	[VPROF_VERDICT_IGNORE] = "ignore",
	[VPROF_VERDICT_FIXED] = "fixed",
	[VPROF_VERDICT_TODO] = "todo",
	[VPROF_VERDICT_BROKEN_DOWN] = "broken down",
	[VPROF_VERDICT_CANDIDATE] = "candidate",
};

int vprof_verdict_parse(const char *text, enum vprof_verdict *verdict)
{
	for (int i = 0; i < VPROF_VERDICT_COUNT; i++)
		if (!strcmp(text, vprof_verdict_names[i])) {
			*verdict = (enum vprof_verdict)i;
			return 0;
		}
	return -1;
}
