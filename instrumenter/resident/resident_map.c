/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading resident.json; resident_make.c writes it. */
#define _GNU_SOURCE
#include "instrumenter/resident/resident_map.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/search.h"
#include "common/text.h"

struct vprof_resident_private {
	cJSON *json; /* strings belong to it */
	struct vprof_resident_copy *copies;
	uint64_t *addresses;
	size_t n_copies, n_addresses;
};

static const char *string(const cJSON *o, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

static const cJSON *list(const cJSON *o, const char *key)
{
	const cJSON *l = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsArray(l) ? l : NULL;
}

static int whole(const cJSON *o, double below, double *value)
{
	*value = cJSON_IsNumber(o) ? o->valuedouble : -1;
	return *value >= 0 && *value < below && *value == (double)(uint64_t)*value;
}

/* Addresses of user space have 47 bits. */
static int read_addresses(struct vprof_resident_private *p, const cJSON *l, const uint64_t **out, size_t *n)
{
	const cJSON *o;
	double value;

	*out = p->addresses + p->n_addresses;
	*n = 0;
	if (!l)
		return -1;
	cJSON_ArrayForEach(o, l)
	{
		if (!whole(o, 0x1p52, &value))
			return -1;
		p->addresses[p->n_addresses++] = (uint64_t)value;
		*n += 1;
	}
	return 0;
}

static int read_copies(struct vprof_resident *r, const cJSON *l, struct vprof_resident_probe *probe)
{
	struct vprof_resident_private *p = r->private;
	const cJSON *o;

	probe->copies = p->copies + p->n_copies;
	if (!l)
		return -1;
	cJSON_ArrayForEach(o, l)
	{
		struct vprof_resident_copy *c = &p->copies[p->n_copies++];
		double module;

		if (!whole(cJSON_GetObjectItemCaseSensitive(o, "module"), (double)r->n_modules, &module) ||
		    read_addresses(p, list(o, "sites"), &c->sites, &c->n_sites) ||
		    read_addresses(p, list(o, "entries"), &c->entries, &c->n_entries))
			return -1;
		c->module = (uint32_t)module;
		probe->n_copies++;
	}
	return 0;
}

static int read_probe(struct vprof_resident *r, const cJSON *o)
{
	struct vprof_resident_probe *p = &r->probes[r->n_probes];
	double code, line;

	*p = (struct vprof_resident_probe){ .name = string(o, "name"),
					    .display = string(o, "display"),
					    .file = string(o, "file"),
					    .caller = string(o, "caller") };
	if (!p->name || !p->display || !p->file || !p->caller ||
	    !whole(cJSON_GetObjectItemCaseSensitive(o, "code"), 0x1p24, &code) ||
	    !whole(cJSON_GetObjectItemCaseSensitive(o, "line"), 0x1p31, &line) || read_copies(r, list(o, "copies"), p))
		return -1;
	p->code = (uint32_t)code;
	p->line = (int)line;
	if (r->n_probes && r->probes[r->n_probes - 1].code >= p->code)
		return -1;
	r->n_probes++;
	return 0;
}

static int read_module(struct vprof_resident *r, const cJSON *o)
{
	struct vprof_resident_module *m = &r->modules[r->n_modules++];

	m->path = string(o, "path");
	m->build_id = string(o, "build_id");
	m->hash = string(o, "hash");
	return m->path && m->build_id && m->hash ? 0 : -1;
}

static int read_left(struct vprof_resident *r, const cJSON *o)
{
	struct vprof_resident_left *l = &r->left_out[r->n_left_out++];
	double line = 0;
	int ok = whole(cJSON_GetObjectItemCaseSensitive(o, "line"), 0x1p31, &line);

	*l = (struct vprof_resident_left){ string(o, "name"), string(o, "file"), string(o, "reason"), (int)line };
	return ok && l->name && l->file && l->reason ? 0 : -1;
}

static size_t count(const cJSON *o)
{
	size_t n = 0;

	for (; o; o = o->next)
		n += 1 + count(o->child);
	return n;
}

static int read_all(struct vprof_resident *r)
{
	const cJSON *top = r->private->json, *modules = list(top, "modules"), *probes = list(top, "probes");
	const cJSON *left = list(top, "left_out"), *o;
	size_t n = probes ? count(probes->child) : 0; /* of all items: no less than copies and addresses */
	double version;

	if (!cJSON_IsObject(top) || !modules || !probes || !left ||
	    !whole(cJSON_GetObjectItemCaseSensitive(top, "version"), 1e6, &version) || version != 1)
		return VPROF_ERR_CORRUPT;
	r->modules = calloc((size_t)cJSON_GetArraySize(modules) + 1, sizeof *r->modules);
	r->probes = calloc((size_t)cJSON_GetArraySize(probes) + 1, sizeof *r->probes);
	r->left_out = calloc((size_t)cJSON_GetArraySize(left) + 1, sizeof *r->left_out);
	r->private->copies = calloc(n + 1, sizeof *r->private->copies);
	r->private->addresses = calloc(n + 1, sizeof *r->private->addresses);
	if (!r->modules || !r->probes || !r->left_out || !r->private->copies || !r->private->addresses)
		return VPROF_ERR_NOMEM;
	cJSON_ArrayForEach(o, modules) if (read_module(r, o)) return VPROF_ERR_CORRUPT;
	cJSON_ArrayForEach(o, probes) if (read_probe(r, o)) return VPROF_ERR_CORRUPT;
	cJSON_ArrayForEach(o, left) if (read_left(r, o)) return VPROF_ERR_CORRUPT;
	return VPROF_OK;
}

int vprof_resident_read(struct vprof_resident **out, const char *path, struct vprof_error *err)
{
	struct vprof_resident *r = calloc(1, sizeof *r);
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc;

	*out = NULL;
	if (r)
		r->private = calloc(1, sizeof *r->private);
	rc = r && r->private ? vprof_file_read(path, &text, err) : vprof_error_no_memory(err);
	if (!rc) {
		r->private->json = cJSON_ParseWithLength(text.s, text.len);
		rc = read_all(r);
		if (rc == VPROF_ERR_NOMEM)
			vprof_error_no_memory(err);
		else if (rc)
			vprof_error_set(err, rc, "%s is damaged; run `vprof build --live` again", path);
	}
	vprof_text_release(&text);
	if (rc)
		vprof_resident_free(r);
	else
		*out = r;
	return rc;
}

void vprof_resident_free(struct vprof_resident *r)
{
	if (!r)
		return;
	if (r->private) {
		cJSON_Delete(r->private->json);
		free(r->private->copies);
		free(r->private->addresses);
		free(r->private);
	}
	free(r->modules);
	free(r->probes);
	free(r->left_out);
	free(r);
}

char *vprof_resident_path(const char *vprof_dir)
{
	return vprof_path_join(vprof_dir, "live/resident.json");
}
