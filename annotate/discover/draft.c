/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/discover/draft.h"

#include <stdlib.h>
#include <string.h>

int vprof_draft_has_sync(const struct vprof_draft *draft, const char *function)
{
	size_t i;

	for (i = 0; i < draft->n_sync; i++) {
		const struct vprof_sync_proposal *p = &draft->sync[i];

		if ((p->acquire && !strcmp(p->acquire, function)) || (p->release && !strcmp(p->release, function)))
			return 1;
	}
	return 0;
}

void vprof_draft_free(struct vprof_draft *draft)
{
	if (!draft)
		return;
	vprof_arena_release(&draft->arena);
	free(draft);
}
