/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/path_list.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

int vprof_paths_has(const struct vprof_paths *p, const char *path)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->v[i], path))
			return 1;
	return 0;
}

int vprof_paths_add(struct vprof_paths *p, const char *path)
{
	char **grown;

	if (vprof_paths_has(p, path))
		return VPROF_OK;
	grown = realloc(p->v, (p->n + 1) * sizeof *grown);
	if (!grown)
		return VPROF_ERR_NOMEM;
	p->v = grown;
	grown[p->n] = strdup(path);
	return grown[p->n] ? (p->n++, VPROF_OK) : VPROF_ERR_NOMEM;
}

void vprof_paths_release(struct vprof_paths *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i]);
	free(p->v);
	*p = (struct vprof_paths){ 0 };
}
