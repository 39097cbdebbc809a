/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/live/resident_probes.h"

#include <stdlib.h>

#include "instrumenter/resident/resident_map.h"

struct vprof_resident_probes {
	struct vprof_resident *resident;
	struct vprof_probe_module *modules;
	struct vprof_probe_copy *copies;
	struct vprof_probe_map map;
};

static int fill(struct vprof_resident_probes *p)
{
	const struct vprof_resident *r = p->resident;
	size_t n = 0;

	for (size_t i = 0; i < r->n_probes; i++)
		n += r->probes[i].n_copies;
	p->modules = calloc(r->n_modules + 1, sizeof *p->modules);
	p->copies = calloc(n + 1, sizeof *p->copies);
	if (!p->modules || !p->copies)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < r->n_modules; i++)
		p->modules[i] = (struct vprof_probe_module){ r->modules[i].path, r->modules[i].build_id };
	n = 0;
	for (size_t i = 0; i < r->n_probes; i++)
		for (size_t k = 0; k < r->probes[i].n_copies; k++) {
			const struct vprof_resident_copy *c = &r->probes[i].copies[k];

			p->copies[n++] = (struct vprof_probe_copy){ r->probes[i].code, c->module,  c->sites,
								    c->entries,	       c->n_sites, c->n_entries };
		}
	p->map = (struct vprof_probe_map){ p->modules, r->n_modules, p->copies, n };
	return VPROF_OK;
}

int vprof_resident_probes_read(struct vprof_resident_probes **out, const char *vprof_dir, struct vprof_error *err)
{
	struct vprof_resident_probes *p = calloc(1, sizeof *p);
	char *path = vprof_resident_path(vprof_dir);
	int rc = p && path ? vprof_resident_read(&p->resident, path, err) : vprof_error_no_memory(err);

	*out = NULL;
	free(path);
	if (!rc && fill(p))
		rc = vprof_error_no_memory(err);
	if (rc)
		vprof_resident_probes_free(p);
	else
		*out = p;
	return rc;
}

void vprof_resident_probes_free(struct vprof_resident_probes *p)
{
	if (!p)
		return;
	vprof_resident_free(p->resident);
	free(p->modules);
	free(p->copies);
	free(p);
}

const struct vprof_probe_map *vprof_resident_probes_map(const struct vprof_resident_probes *p)
{
	return &p->map;
}
