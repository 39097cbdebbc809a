/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/gates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VP_PROBE_TYPES_ONLY
#include "live/loaded_modules.h"
#include "live/process_list.h"
#include "runtime/probe.h"
#include "trace/clock.h"

#define CLOSED 0xa9
#define OPEN 0xe9
#define PATIENCE_NS UINT64_C(2000000000) /* until memory that is not as expected is taken for what it is */

struct site {
	uint64_t address; /* in the module's file */
	uint32_t code;
	uint32_t flags;
	uint64_t mask, opens; /* wanted */
};

struct entry {
	uint64_t address;
	int is_wanted;
};

struct module {				   /* of the map */
	VPROF_ARRAY(struct site) sites;	   /* by address */
	VPROF_ARRAY(struct entry) entries; /* by address */
};

struct written { /* what a site has */
	uint64_t mask, opens;
	uint32_t code, flags;
};

struct image { /* a module in a process */
	struct vprof_loaded_module at;
	struct written *sites;	/* [module's n_sites] */
	unsigned char *entries; /* [module's n_entries] */
};

struct process {
	uint32_t process_seq;
	int refuses;
	uint64_t failing_ns; /* since when its memory was not as expected; 0: it is */
	struct vprof_process_memory memory;
	VPROF_ARRAY(struct image) images;
};

struct vprof_gates {
	const struct vprof_probe_map *map;
	struct module *modules;
	VPROF_ARRAY(struct process) processes;
	uid_t user; /* 0: of any */
};

static int site_order(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int entry_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static struct entry *find_entry(const struct module *m, uint64_t address)
{
	const struct entry key = { .address = address };

	return m->entries.n ? bsearch(&key, m->entries.v, m->entries.n, sizeof key, entry_order) : NULL;
}

/* Entries of several probes may be the same byte. */
static void unite_entries(struct module *m)
{
	size_t n = 0;

	if (!m->entries.n)
		return;
	qsort(m->entries.v, m->entries.n, sizeof *m->entries.v, entry_order);
	for (size_t i = 1; i < m->entries.n; i++)
		if (m->entries.v[i].address != m->entries.v[n].address)
			m->entries.v[++n] = m->entries.v[i];
	m->entries.n = n + 1;
}

static int add_copy(struct vprof_gates *g, const struct vprof_probe_copy *copy)
{
	struct module *m = &g->modules[copy->module];

	for (size_t i = 0; i < copy->n_sites; i++) {
		struct site *site = VPROF_PUSH(&m->sites);

		if (!site)
			return VPROF_ERR_NOMEM;
		site->address = copy->sites[i];
		site->code = copy->code;
	}
	for (size_t i = 0; i < copy->n_entries; i++) {
		struct entry *entry = VPROF_PUSH(&m->entries);

		if (!entry)
			return VPROF_ERR_NOMEM;
		entry->address = copy->entries[i];
	}
	return VPROF_OK;
}

int vprof_gates_new(struct vprof_gates **out, const struct vprof_probe_map *map, struct vprof_error *err)
{
	struct vprof_gates *g = calloc(1, sizeof *g);
	int rc = VPROF_OK;

	*out = g;
	if (g) {
		g->map = map;
		g->modules = calloc(map->n_modules + 1, sizeof *g->modules);
	}
	if (!g || !g->modules)
		rc = VPROF_ERR_NOMEM;
	for (size_t i = 0; i < map->n_copies && !rc; i++)
		rc = map->copies[i].module < map->n_modules ? add_copy(g, &map->copies[i]) : VPROF_ERR_CORRUPT;
	for (size_t i = 0; i < map->n_modules && !rc; i++) {
		if (g->modules[i].sites.n)
			qsort(g->modules[i].sites.v, g->modules[i].sites.n, sizeof *g->modules[i].sites.v, site_order);
		unite_entries(&g->modules[i]);
	}
	if (!rc)
		return VPROF_OK;
	vprof_gates_free(g);
	*out = NULL;
	return rc == VPROF_ERR_NOMEM ?
		       vprof_error_no_memory(err) :
		       vprof_error_set(err, rc,
				       "the map of resident probes is damaged; build again: vprof build --live");
}

static void release_process(struct process *p)
{
	for (size_t i = 0; i < p->images.n; i++) {
		free(p->images.v[i].sites);
		free(p->images.v[i].entries);
	}
	VPROF_ARRAY_RELEASE(&p->images);
	vprof_process_memory_close(&p->memory);
}

void vprof_gates_free(struct vprof_gates *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->processes.n; i++)
		release_process(&g->processes.v[i]);
	VPROF_ARRAY_RELEASE(&g->processes);
	for (size_t i = 0; i < g->map->n_modules && g->modules; i++) {
		VPROF_ARRAY_RELEASE(&g->modules[i].sites);
		VPROF_ARRAY_RELEASE(&g->modules[i].entries);
	}
	free(g->modules);
	free(g);
}

/* The map's sites of a code, and its entries, as the plan wants them. */
static size_t want(struct vprof_gates *g, const struct vprof_plan *plan)
{
	size_t n_known = 0;

	for (size_t i = 0; i < g->map->n_modules; i++)
		for (size_t k = 0; k < g->modules[i].sites.n; k++) {
			struct site *site = &g->modules[i].sites.v[k];
			const struct vprof_probe *probe = plan ? vprof_plan_probe(plan, site->code) : NULL;

			site->mask = probe ? probe->mask : 0;
			site->opens = probe ? UINT64_C(1) << (probe->context & 63) : 0;
			site->flags = probe && probe->is_root ? VP_LIVE_ROOT : 0;
		}
	for (size_t i = 0; i < g->map->n_copies; i++) {
		const struct vprof_probe_copy *copy = &g->map->copies[i];
		const struct vprof_probe *probe = plan ? vprof_plan_probe(plan, copy->code) : NULL;

		n_known += probe && (!i || copy[-1].code != copy->code);
		for (size_t k = 0; probe && probe->mask && k < copy->n_entries; k++)
			find_entry(&g->modules[copy->module], copy->entries[k])->is_wanted = 1;
	}
	return n_known;
}

int vprof_gates_set(struct vprof_gates *g, const struct vprof_plan *plan, size_t *n_missing)
{
	size_t n_known;

	for (size_t i = 0; i < g->map->n_modules; i++)
		for (size_t k = 0; k < g->modules[i].entries.n; k++)
			g->modules[i].entries.v[k].is_wanted = 0;
	n_known = want(g, plan);
	if (n_missing)
		*n_missing = plan && plan->n_probes > n_known ? plan->n_probes - n_known : 0;
	return VPROF_OK;
}

/* What the process has. FAILED when that is not what the map says. */
static int read_image(struct vprof_gates *g, struct process *p, struct image *image, struct vprof_error *err)
{
	const struct module *m = &g->modules[image->at.module];
	int rc = VPROF_OK;

	image->sites = calloc(m->sites.n + 1, sizeof *image->sites);
	image->entries = calloc(m->entries.n + 1, 1);
	if (!image->sites || !image->entries)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < m->sites.n && !rc; i++) {
		struct vp_live_site site;

		rc = vprof_process_memory_read(&p->memory, image->at.bias + m->sites.v[i].address, &site, sizeof site,
					       err);
		if (!rc && site.code != m->sites.v[i].code)
			rc = vprof_error_set(err, VPROF_ERR_FAILED,
					     "process %d: a probe of %s is not where the build's list has it; build "
					     "again (vprof build --live) and start the program again",
					     (int)p->memory.pid, g->map->modules[image->at.module].path);
		image->sites[i] = (struct written){ site.mask, site.opens, site.code, site.flags };
	}
	for (size_t i = 0; i < m->entries.n && !rc; i++) {
		rc = vprof_process_memory_read(&p->memory, image->at.bias + m->entries.v[i].address, &image->entries[i],
					       1, err);
		if (!rc && image->entries[i] != CLOSED && image->entries[i] != OPEN)
			rc = vprof_error_set(err, VPROF_ERR_FAILED,
					     "process %d: the code of %s is not what was built (another tool may have "
					     "changed it); start the program again",
					     (int)p->memory.pid, g->map->modules[image->at.module].path);
	}
	return rc;
}

/* What is to be changed is what was left there; anything else is not this module any more. */
static int is_as_left(const struct process *p, uint64_t address, const void *left, size_t n)
{
	unsigned char now[sizeof(struct written)];

	return !vprof_process_memory_read(&p->memory, address, now, n, NULL) && !memcmp(now, left, n);
}

/* A library that was unloaded and loaded again at the same place is closed: one site and one entry that were opened
 * tell. */
static int is_open_as_left(const struct vprof_gates *g, const struct process *p, const struct image *image)
{
	const struct module *m = &g->modules[image->at.module];
	size_t i = 0, k = 0;

	while (i < m->sites.n && !image->sites[i].mask)
		i++;
	while (k < m->entries.n && image->entries[k] != OPEN)
		k++;
	return (i == m->sites.n ||
		is_as_left(p, image->at.bias + m->sites.v[i].address, &image->sites[i], sizeof *image->sites)) &&
	       (k == m->entries.n || is_as_left(p, image->at.bias + m->entries.v[k].address, &image->entries[k], 1));
}

/* Those entries that are as `byte` wants. MISSING: the module is gone. */
static int write_entries(struct vprof_gates *g, struct process *p, struct image *image, unsigned char byte, size_t *n,
			 struct vprof_error *err)
{
	const struct module *m = &g->modules[image->at.module];
	int rc = VPROF_OK;

	for (size_t i = 0; i < m->entries.n && !rc; i++) {
		uint64_t address = image->at.bias + m->entries.v[i].address;

		if (m->entries.v[i].is_wanted != (byte == OPEN) || image->entries[i] == byte)
			continue;
		if (!is_as_left(p, address, &image->entries[i], 1))
			return VPROF_ERR_MISSING;
		rc = vprof_process_memory_write(&p->memory, address, &byte, 1, err);
		image->entries[i] = rc ? image->entries[i] : byte;
		*n += !rc;
	}
	return rc;
}

static int write_sites(struct vprof_gates *g, struct process *p, struct image *image, size_t *n,
		       struct vprof_error *err)
{
	const struct module *m = &g->modules[image->at.module];
	int rc = VPROF_OK;

	for (size_t i = 0; i < m->sites.n && !rc; i++) {
		const struct site *s = &m->sites.v[i];
		struct written wanted = { s->mask, s->opens, s->code, s->flags };

		if (!memcmp(&wanted, &image->sites[i], sizeof wanted))
			continue;
		_Static_assert(offsetof(struct vp_live_site, twin) == sizeof wanted, "one write for all that changes");
		if (!is_as_left(p, image->at.bias + s->address, &image->sites[i], sizeof wanted))
			return VPROF_ERR_MISSING;
		rc = vprof_process_memory_write(&p->memory, image->at.bias + s->address, &wanted, sizeof wanted, err);
		if (!rc)
			image->sites[i] = wanted;
		*n += !rc;
	}
	return rc;
}

static void forget_image(struct process *p, size_t i)
{
	free(p->images.v[i].sites);
	free(p->images.v[i].entries);
	p->images.n--;
	memmove(p->images.v + i, p->images.v + i + 1, (p->images.n - i) * sizeof *p->images.v);
}

enum pass { CLOSE_ENTRIES, WRITE_SITES, OPEN_ENTRIES, N_PASSES };

static int write_image(struct vprof_gates *g, struct process *p, struct image *image, enum pass pass, size_t *n,
		       struct vprof_error *err)
{
	if (pass == WRITE_SITES)
		return write_sites(g, p, image, n, err);
	return write_entries(g, p, image, pass == OPEN_ENTRIES ? OPEN : CLOSED, n, err);
}

/* Modules that the program has unloaded are forgotten. MISSING: the process has ended. */
static int write_process(struct vprof_gates *g, struct process *p, size_t *n, struct vprof_error *err)
{
	int rc = VPROF_OK;

	for (size_t i = p->images.n; i-- > 0;)
		if (!vprof_loaded_module_is_there(&p->images.v[i].at, &p->memory, g->map))
			forget_image(p, i);
	for (enum pass pass = 0; pass < N_PASSES && !rc; pass++)
		for (size_t i = p->images.n; i-- > 0 && !rc;) {
			rc = write_image(g, p, &p->images.v[i], pass, n, err);
			if (rc == VPROF_ERR_MISSING && vprof_process_memory_alive(&p->memory)) {
				forget_image(p, i);
				rc = VPROF_OK;
			}
		}
	if (!rc && !vprof_process_memory_alive(&p->memory))
		rc = vprof_error_set(err, VPROF_ERR_MISSING, "process %d has ended", (int)p->memory.pid);
	return rc;
}

/* Nothing that was opened stays open where something failed. */
static void close_again(struct vprof_gates *g, struct process *p)
{
	static const unsigned char closed = CLOSED;
	size_t n = 0;

	for (size_t i = 0; i < p->images.n; i++) {
		struct image *image = &p->images.v[i];
		const struct module *m = &g->modules[image->at.module];

		for (size_t k = 0; k < m->entries.n && image->entries; k++)
			if (image->entries[k] == OPEN &&
			    is_as_left(p, image->at.bias + m->entries.v[k].address, &image->entries[k], 1))
				vprof_process_memory_write(&p->memory, image->at.bias + m->entries.v[k].address,
							   &closed, 1, NULL);
		for (size_t k = 0; k < m->sites.n && image->sites; k++) {
			struct written none = { 0, 0, m->sites.v[k].code, 0 };

			if (image->sites[k].code == none.code && image->sites[k].mask &&
			    is_as_left(p, image->at.bias + m->sites.v[k].address, &image->sites[k], sizeof none))
				n += !vprof_process_memory_write(&p->memory, image->at.bias + m->sites.v[k].address,
								 &none, sizeof none, NULL);
		}
	}
}

static void drop(struct vprof_gates *g, size_t i)
{
	release_process(&g->processes.v[i]);
	g->processes.n--;
	memmove(g->processes.v + i, g->processes.v + i + 1, (g->processes.n - i) * sizeof *g->processes.v);
}

/* It may not be written to; it stays in the list so that nobody asks again. */
static void refuse(struct vprof_gates *g, struct process *p)
{
	close_again(g, p);
	release_process(p);
	p->refuses = 1;
	p->failing_ns = 0;
}

int vprof_gates_apply(struct vprof_gates *g, struct vprof_gates_result *result)
{
	*result = (struct vprof_gates_result){ .n_processes = 0 };
	for (size_t i = g->processes.n; i-- > 0;) {
		struct process *p = &g->processes.v[i];
		struct vprof_error err = { "" };
		int rc = p->refuses ? VPROF_OK : write_process(g, p, &result->n_written, &err);

		if (rc == VPROF_ERR_MISSING) {
			drop(g, i);
			result->n_gone++;
			continue;
		}
		if (rc) {
			refuse(g, p);
			snprintf(result->refusal, sizeof result->refusal, "%.*s", (int)sizeof result->refusal - 1,
				 err.message);
		}
		result->n_refused += p->refuses != 0;
		result->n_processes += !p->refuses && !p->failing_ns;
		result->n_modules += p->images.n;
	}
	return VPROF_OK;
}

/* The modules that it has by now and that are not known yet; those that it unloaded are forgotten. */
static int look_at_modules(struct vprof_gates *g, struct process *p, int *is_new, struct vprof_error *err)
{
	struct vprof_loaded_modules loaded;
	int rc = vprof_loaded_modules_read(&loaded, &p->memory, g->map, err);

	for (size_t i = p->images.n; !rc && i-- > 0;) {
		size_t k = 0;

		while (k < loaded.v.n && (loaded.v.v[k].module != p->images.v[i].at.module ||
					  loaded.v.v[k].bias != p->images.v[i].at.bias))
			k++;
		if (k < loaded.v.n && is_open_as_left(g, p, &p->images.v[i])) {
			loaded.v.v[k].module = UINT32_MAX;
			continue;
		}
		*is_new |= k < loaded.v.n;
		forget_image(p, i);
	}
	for (size_t k = 0; !rc && k < loaded.v.n; k++) {
		struct image *image;

		if (loaded.v.v[k].module == UINT32_MAX)
			continue;
		image = VPROF_PUSH(&p->images);
		if (!image) {
			rc = vprof_error_no_memory(err);
			break;
		}
		*image = (struct image){ .at = loaded.v.v[k] };
		rc = read_image(g, p, image, err);
		if (rc && rc != VPROF_ERR_NOMEM && vprof_process_memory_alive(&p->memory) &&
		    !vprof_loaded_module_is_there(&image->at, &p->memory, g->map)) {
			rc = VPROF_OK; /* unloaded meanwhile */
			forget_image(p, p->images.n - 1);
			continue;
		}
		if (rc) /* never written to */
			forget_image(p, p->images.n - 1);
		*is_new = 1;
	}
	if (!rc && loaded.n_foreign && !p->images.n && !vprof_process_memory_alive(&p->memory))
		rc = vprof_error_set(err, VPROF_ERR_MISSING, "process %d has ended", (int)p->memory.pid);
	if (!rc && loaded.n_foreign && !p->images.n)
		rc = vprof_error_set(err, VPROF_ERR_FAILED,
				     "process %d runs another build of this program (its build id is not the one of "
				     "vprof build --live); start it again",
				     (int)p->memory.pid);
	vprof_loaded_modules_release(&loaded);
	return rc;
}

static struct process *find(struct vprof_gates *g, uint32_t pid, uint32_t process_seq)
{
	for (size_t i = 0; i < g->processes.n; i++) {
		struct process *p = &g->processes.v[i];

		if ((uint32_t)p->memory.pid != pid)
			continue;
		if (p->process_seq == process_seq && vprof_process_memory_alive(&p->memory))
			return p;
		drop(g, i); /* another program, or another process of this number */
		return NULL;
	}
	return NULL;
}

void vprof_gates_limit(struct vprof_gates *g, uid_t user)
{
	g->user = user;
}

static int open_memory(const struct vprof_gates *g, struct vprof_process_memory *m, uint32_t pid,
		       struct vprof_error *err)
{
	int rc = vprof_process_memory_open(m, (pid_t)pid, err);
	uid_t user;

	if (rc || !g->user || vprof_process_user((pid_t)pid, &user) || user == g->user)
		return rc;
	vprof_process_memory_close(m);
	return vprof_error_set(err, VPROF_ERR_FAILED,
			       "process %u belongs to another user (%u) than the processes that are recorded (%u)", pid,
			       (unsigned)user, (unsigned)g->user);
}

int vprof_gates_look(struct vprof_gates *g, uint32_t pid, uint32_t process_seq, int *written, struct vprof_error *err)
{
	struct process *p = find(g, pid, process_seq);
	size_t n = 0;
	int is_new = 0, rc = VPROF_OK;

	*written = 0;
	if (p && p->refuses)
		return VPROF_OK;
	if (!p) {
		p = VPROF_PUSH(&g->processes);
		if (!p)
			return vprof_error_no_memory(err);
		p->process_seq = process_seq;
		rc = open_memory(g, &p->memory, pid, err);
	}
	if (!rc)
		rc = look_at_modules(g, p, &is_new, err);
	if (!rc)
		rc = write_process(g, p, &n, err);
	if (rc != VPROF_ERR_FAILED || p->memory.fd < 0)
		p->failing_ns = 0;
	else if (!p->failing_ns)
		p->failing_ns = vprof_clock_monotonic_ns();
	*written = n > 0 || (!rc && !p->images.n);
	if (p->failing_ns && vprof_clock_monotonic_ns() - p->failing_ns < PATIENCE_NS) {
		*written = 1; /* it may be executing a program, or loading a library */
		return VPROF_OK;
	}
	if (!rc && !p->images.n) /* loading, or about to end: to be looked at once more */
		drop(g, (size_t)(p - g->processes.v));
	else if (rc == VPROF_ERR_MISSING || rc == VPROF_ERR_NOMEM)
		drop(g, (size_t)(p - g->processes.v));
	else if (rc)
		refuse(g, p);
	return rc;
}

int vprof_gates_knows(const struct vprof_gates *g, uint32_t pid, uint32_t process_seq)
{
	for (size_t i = 0; i < g->processes.n; i++)
		if ((uint32_t)g->processes.v[i].memory.pid == pid && g->processes.v[i].process_seq == process_seq)
			return !g->processes.v[i].refuses;
	return 0;
}

int vprof_gates_fails(const struct vprof_gates *g, uint32_t process_seq)
{
	for (size_t i = 0; i < g->processes.n; i++)
		if (g->processes.v[i].process_seq == process_seq)
			return g->processes.v[i].failing_ns != 0;
	return 0;
}

int vprof_gates_refuses(const struct vprof_gates *g, uint32_t process_seq)
{
	for (size_t i = 0; i < g->processes.n; i++)
		if (g->processes.v[i].process_seq == process_seq)
			return g->processes.v[i].refuses;
	return 0;
}

size_t vprof_gates_n_processes(const struct vprof_gates *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->processes.n; i++)
		n += !g->processes.v[i].refuses && !g->processes.v[i].failing_ns;
	return n;
}
