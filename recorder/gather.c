/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/gather.h"

#include <stdlib.h>
#include <string.h>

#define UNITS_MAX ((uint32_t)((VP_CHUNK_BYTES - sizeof(struct vp_chunk_header)) / VP_UNIT_BYTES))

void vprof_gather_init(struct vprof_gather *g, const struct vp_chunk_header *whose, vprof_store_chunk *store, void *arg)
{
	*g = (struct vprof_gather){ .store = store, .arg = arg, .whose = *whose };
	g->whose.magic = VP_CHUNK_MAGIC;
}

void vprof_gather_add(struct vprof_gather *g, const struct vp_unit *units, uint32_t n_units)
{
	if (g->n_units + n_units > UNITS_MAX)
		vprof_gather_flush(g);
	if (!g->chunk)
		g->chunk = malloc(VP_CHUNK_BYTES);
	if (!g->chunk || n_units > UNITS_MAX) {
		g->n_lost += VP_CODE(units->w) != VP_KIND_KERNEL_LOST;
		return;
	}
	memcpy((struct vp_unit *)(g->chunk + 1) + g->n_units, units, n_units * sizeof *units);
	g->n_units += n_units;
	g->n_records += VP_CODE(units->w) != VP_KIND_KERNEL_LOST;
}

void vprof_gather_flush(struct vprof_gather *g)
{
	if (!g->n_units)
		return;
	g->whose.n_bytes = g->n_units * VP_UNIT_BYTES;
	*g->chunk = g->whose;
	if (g->store(g->arg, g->chunk, (const void *)(g->chunk + 1))) {
		g->n_lost += g->n_records;
	} else {
		g->n_stored += g->n_records;
		g->whose.chunk_seq++;
	}
	g->n_units = g->n_records = 0;
}

void vprof_gather_release(struct vprof_gather *g)
{
	free(g->chunk);
	g->chunk = NULL;
}
