/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rewrites entries, and writes resident.json. Invariant: a probe is in the list only if in every module each execution
 * of what it measures can be seen; all others are left out, with the reason.
 */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/search.h"
#include "instrumenter/resident/resident_closure.h"
#include "instrumenter/resident/resident_map.h"
#include "trace/format.h"

enum what { TWIN_SITE, BODY_SITE, ENTRY };

struct place {
	uint32_t code, module;
	enum what what;
	uint64_t address;
};

struct failure {
	uint32_t code;
	char *reason;
};

struct make {
	const struct vprof_facts *facts;
	const struct vprof_plan *plan;
	VPROF_ARRAY(struct place) places;
	VPROF_ARRAY(struct failure) failures; /* by code */
	struct vprof_resident_result *result;
	cJSON *modules, *probes, *left_out;
	uint32_t n_modules;
};

/* ---- one module ---- */

static int add_place(struct make *m, uint32_t code, enum what what, uint64_t address)
{
	struct place *p = VPROF_PUSH(&m->places);

	if (!p)
		return VPROF_ERR_NOMEM;
	*p = (struct place){ code, m->n_modules, what, address };
	return VPROF_OK;
}

static int add_failure(struct make *m, uint32_t code, struct vprof_text *why)
{
	struct failure *f = VPROF_PUSH(&m->failures);

	if (!f || why->failed)
		return VPROF_ERR_NOMEM;
	*f = (struct failure){ code, vprof_text_detach(why) };
	return f->reason ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int add_functions(struct make *m, const struct vprof_resident_debug *d, struct vprof_resident_closure *c)
{
	for (uint32_t i = 0; i < d->functions.n; i++) {
		const struct vprof_source_function *f = &d->functions.v[i];
		struct vprof_text why = VPROF_TEXT_INIT;
		int rc = f->twin ? vprof_resident_closure_of(c, &i, 1, &why) : 1;

		for (size_t k = 0; f->twin && rc > 0 && k < c->entries.n; k++)
			if (add_place(m, f->code, ENTRY, c->entries.v[k]))
				rc = VPROF_ERR_NOMEM;
		/* a twin whose function nobody runs */
		if (!rc && c->entries.n + c->todo.n)
			rc = add_failure(m, f->code, &why);
		vprof_text_release(&why);
		if (rc < 0)
			return rc;
	}
	return VPROF_OK;
}

/* ---- C++ units with twins: by the place of the definition, since names do not tell functions apart ---- */

static const char *last_part(const char *path)
{
	return path ? vprof_path_name(path) : "";
}

struct defined {
	int line;
	uint32_t function;
};

static int by_line(const void *a, const void *b)
{
	const struct defined *x = a, *y = b;

	return x->line != y->line	 ? (x->line < y->line ? -1 : 1) :
	       x->function < y->function ? -1 :
					   x->function > y->function;
}

struct merged { /* the functions of one module */
	const struct vprof_resident_debug *d;
	VPROF_ARRAY(struct defined) defined; /* by line */
	VPROF_ARRAY(uint32_t) same;	     /* those of one place */
};

static int find_same(struct merged *s, const struct vprof_facts *facts, const struct vprof_facts_function *f)
{
	const struct vprof_facts_file *file = vprof_facts_file(facts, f->file);
	size_t i = VPROF_BISECT(s->defined.n, i, s->defined.v[i].line < f->line);

	s->same.n = 0;
	for (; file && i < s->defined.n && s->defined.v[i].line == f->line; i++) {
		uint32_t *one;

		if (strcmp(last_part(s->d->functions.v[s->defined.v[i].function].file), last_part(file->path)))
			continue;
		one = VPROF_PUSH(&s->same);
		if (!one)
			return VPROF_ERR_NOMEM;
		*one = s->defined.v[i].function;
	}
	return VPROF_OK;
}

/* What runs before anything is opened and may never return is entered through its twin always: main, threads' starts.
 */
static int mark_always(const struct make *m, struct vprof_resident_debug *d, struct merged *s)
{
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < m->facts->n_functions + m->facts->n_addresses; i++) {
		const struct vprof_facts_function *f = &m->facts->functions[i];

		if (i >= m->facts->n_functions) {
			const struct vprof_facts_address *a = &m->facts->addresses[i - m->facts->n_functions];

			if (!a->function || (strcmp(a->target, "pthread_create") && strcmp(a->target, "thrd_create") &&
					     !strstr(a->target, "thread::thread")))
				continue;
			f = &m->facts->functions[a->function - 1];
		} else if (strcmp(f->name, "main")) {
			continue;
		}
		rc = find_same(s, m->facts, f);
		for (size_t k = 0; !rc && k < s->same.n; k++)
			d->functions.v[s->same.v[k]].is_always = 1;
	}
	return rc;
}

static int open_merged(struct make *m, struct vprof_resident_closure *c, struct merged *s, uint32_t code)
{
	const struct vprof_facts_function *f = vprof_facts_function(m->facts, code - VP_CODE_FUNCTION);
	struct vprof_text why = VPROF_TEXT_INIT;
	int rc = f ? find_same(s, m->facts, f) : VPROF_OK, ok = 0;

	if (!rc && f && s->same.n) {
		ok = vprof_resident_closure_of(c, s->same.v, s->same.n, &why);
		rc = ok < 0 ? ok : VPROF_OK;
	} else if (!rc) {
		vprof_text_add(&why, "the debug information of its program does not show it");
	}
	for (size_t k = 0; !rc && ok && k < c->entries.n; k++)
		rc = add_place(m, code, ENTRY, c->entries.v[k]);
	if (!rc && ok && !c->entries.n)
		rc = add_place(m, code, ENTRY, 0); /* always */
	if (!rc && !ok)
		rc = add_failure(m, code, &why);
	vprof_text_release(&why);
	return rc;
}

static uint32_t holder_of(const struct make *m, const struct vprof_probe *p);

static int add_merged(struct make *m, const struct vprof_resident_file *f, struct vprof_resident_debug *d,
		      struct vprof_resident_closure *c)
{
	uint32_t *codes = calloc(f->sites.n + 1, sizeof *codes);
	struct merged s = { .d = d };
	int rc = codes ? VPROF_OK : VPROF_ERR_NOMEM;
	size_t n = 0;

	for (uint32_t i = 0; !rc && i < d->functions.n; i++) {
		struct defined *one = d->functions.v[i].is_merged ? VPROF_PUSH(&s.defined) : NULL;

		if (one)
			*one = (struct defined){ d->functions.v[i].line, i };
		else if (d->functions.v[i].is_merged)
			rc = VPROF_ERR_NOMEM;
	}
	if (!rc && vprof_array_sort(s.defined.v, s.defined.n, sizeof *s.defined.v, by_line))
		rc = VPROF_ERR_NOMEM;
	if (!rc)
		rc = mark_always(m, d, &s);
	for (size_t i = 0; !rc && i < f->sites.n; i++) {
		const struct vprof_probe *p = f->sites.v[i].is_copy ? vprof_plan_probe(m->plan, f->sites.v[i].code) :
								      NULL;

		if (p)
			codes[n++] = p->kind == VPROF_PROBE_FUNCTION ? p->code : holder_of(m, p);
	}
	if (n)
		qsort(codes, n, sizeof *codes, vprof_compare_u32);
	for (size_t i = 0; !rc && i < n; i++)
		if (!i || codes[i] != codes[i - 1])
			rc = open_merged(m, c, &s, codes[i]);
	VPROF_ARRAY_RELEASE(&s.defined);
	VPROF_ARRAY_RELEASE(&s.same);
	free(codes);
	return rc;
}

/* Twins that the debug information does not show: nobody knows where they are to be entered. */
static int check_twins(struct make *m, const struct vprof_resident_file *f, const struct vprof_resident_debug *d)
{
	for (size_t i = 0; i < f->twins.n; i++) {
		uint32_t instance = vprof_resident_instance_at(d, f->twins.v[i].twin);
		struct vprof_text why = VPROF_TEXT_INIT;
		int rc = VPROF_OK;

		if (instance == VPROF_NONE || d->instances.v[instance].kind != VPROF_INSTANCE_TWIN) {
			vprof_text_addf(&why, "%s has no debug information about it: it was stripped, or built without",
					vprof_path_name(f->path));
			rc = add_failure(m, f->twins.v[i].code, &why);
		}
		vprof_text_release(&why);
		if (rc)
			return rc;
	}
	return VPROF_OK;
}

static int has_site(const struct vprof_resident_file *f, uint32_t code, int twin)
{
	for (size_t i = 0; i < f->sites.n; i++)
		if (f->sites.v[i].code == code && !f->sites.v[i].twin == !twin)
			return 1;
	return 0;
}

/* A function of a header whose twin the compiler left out of a unit that runs the function. In a unit without any twin
 * the probes stand in the bodies. */
static int check_lone(struct make *m, const struct vprof_resident_file *f, const struct vprof_source_function *lone,
		      const struct vprof_probe *const *by_name, size_t n)
{
	size_t i = VPROF_BISECT(n, i, strcmp(by_name[i]->name, lone->name) < 0);
	int rc = VPROF_OK;

	for (; !rc && i < n && !strcmp(by_name[i]->name, lone->name); i++) {
		const struct vprof_probe *p = by_name[i];
		struct vprof_text why = VPROF_TEXT_INIT;

		if (p->line != lone->line || strcmp(last_part(p->file), last_part(lone->file)) ||
		    !has_site(f, p->code, 1))
			continue;
		vprof_text_add(&why, "it runs in a unit that has no instrumented copy of it");
		rc = add_failure(m, p->code, &why);
		vprof_text_release(&why);
	}
	return rc;
}

static int order_by_name(const void *a, const void *b)
{
	return strcmp((*(const struct vprof_probe *const *)a)->name, (*(const struct vprof_probe *const *)b)->name);
}

static int check_lone_all(struct make *m, const struct vprof_resident_file *f, const struct vprof_resident_debug *d)
{
	const struct vprof_probe **by_name = calloc(m->plan->n_probes + 1, sizeof *by_name);
	size_t n = 0;
	int rc = by_name ? VPROF_OK : VPROF_ERR_NOMEM;

	for (size_t i = 0; !rc && i < m->plan->n_probes; i++)
		if (m->plan->probes[i].kind == VPROF_PROBE_FUNCTION)
			by_name[n++] = &m->plan->probes[i];
	if (n)
		qsort(by_name, n, sizeof *by_name, order_by_name);
	for (size_t i = 0, next; !rc && i < d->functions.n; i = next) {
		int has_twins = 0;

		for (next = i; next < d->functions.n && d->functions.v[next].unit == d->functions.v[i].unit; next++)
			has_twins |= d->functions.v[next].twin != 0;
		for (size_t k = i; !rc && k < next && has_twins; k++)
			if (!d->functions.v[k].twin)
				rc = check_lone(m, f, &d->functions.v[k], by_name, n);
	}
	free(by_name);
	return rc;
}

static int patch(struct make *m, const struct vprof_resident_file *f, const struct vprof_resident_debug *d,
		 struct vprof_error *err)
{
	struct vprof_resident_patch *list = calloc(d->instances.n + d->thunks.n + 1, sizeof *list);
	size_t n = 0;
	int rc;

	if (!list)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < d->instances.n; i++) {
		const struct vprof_instance *instance = &d->instances.v[i];

		if (instance->entry) {
			list[n++] = (struct vprof_resident_patch){ instance->entry,
								   instance->twin ?
									   instance->twin :
									   d->functions.v[instance->function].twin,
								   d->functions.v[instance->function].is_always };
			m->result->n_entries++;
		} else if (instance->kind != VPROF_INSTANCE_TWIN) {
			uint64_t entry = vprof_resident_entry(f, instance->low, instance->low);

			if (entry)
				list[n++] = (struct vprof_resident_patch){ entry, 0, 0 };
		}
	}
	for (size_t i = 0; i < d->thunks.n; i++)
		list[n++] = (struct vprof_resident_patch){ d->thunks.v[i].entry, d->thunks.v[i].twin, 0 };
	rc = vprof_resident_file_patch(f, list, n, err);
	free(list);
	return rc;
}

static int add_module(struct make *m, const struct vprof_resident_file *f, struct vprof_error *err)
{
	cJSON *o = cJSON_CreateObject();
	char hash[17];
	int rc = vprof_file_hash(f->path, hash, err);

	cJSON_AddItemToArray(m->modules, o);
	if (!rc && (!cJSON_AddStringToObject(o, "path", f->path) ||
		    !cJSON_AddStringToObject(o, "build_id", f->build_id) || !cJSON_AddStringToObject(o, "hash", hash)))
		rc = vprof_error_no_memory(err);
	m->n_modules++;
	return rc;
}

static int do_module(struct make *m, const char *path, struct vprof_error *err)
{
	struct vprof_resident_closure closure = { 0 };
	struct vprof_resident_debug debug = { 0 };
	struct vprof_resident_file file;
	int rc = vprof_resident_file_read(&file, path, err);

	if (!rc && !file.sites.n)
		goto out;
	if (!rc)
		rc = vprof_resident_debug_read(&debug, &file, err);
	if (!rc)
		rc = vprof_resident_closure_init(&closure, &file, &debug, err);
	for (size_t i = 0; !rc && i < file.sites.n; i++)
		rc = add_place(m, file.sites.v[i].code,
			       file.sites.v[i].twin || file.sites.v[i].is_copy ? TWIN_SITE : BODY_SITE,
			       file.sites.v[i].address);
	if (!rc)
		rc = add_functions(m, &debug, &closure);
	if (!rc)
		rc = add_merged(m, &file, &debug, &closure);
	if (!rc)
		rc = check_twins(m, &file, &debug);
	if (!rc)
		rc = check_lone_all(m, &file, &debug);
	if (!rc)
		rc = patch(m, &file, &debug, err);
	if (!rc)
		rc = add_module(m, &file, err);
	if (rc == VPROF_ERR_NOMEM)
		vprof_error_no_memory(err);
out:
	vprof_resident_closure_release(&closure);
	vprof_resident_debug_release(&debug);
	vprof_resident_file_release(&file);
	return rc;
}

/* ---- what of it can be measured ---- */

static int by_code(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_failed(const void *a, const void *b)
{
	uint32_t x = ((const struct failure *)a)->code, y = ((const struct failure *)b)->code;

	return x < y ? -1 : x > y;
}

static size_t first_place(const struct make *m, uint32_t code)
{
	return VPROF_BISECT(m->places.n, i, m->places.v[i].code < code);
}

static const char *failed(const struct make *m, uint32_t code)
{
	size_t i = VPROF_BISECT(m->failures.n, i, m->failures.v[i].code < code);

	return i < m->failures.n && m->failures.v[i].code == code ? m->failures.v[i].reason : NULL;
}

static int has(const struct make *m, uint32_t code, enum what what)
{
	for (size_t i = first_place(m, code); i < m->places.n && m->places.v[i].code == code; i++)
		if (m->places.v[i].what == what)
			return 1;
	return 0;
}

/* The code of the probe of the function that holds a call, or 0. */
static uint32_t holder_of(const struct make *m, const struct vprof_probe *p)
{
	const struct vprof_facts_call *c = vprof_facts_call(m->facts, p->fact_id);
	const struct vprof_facts_function *f = c ? vprof_facts_function(m->facts, c->caller) : NULL;

	while (f && f > m->facts->functions && f[-1].file == f->file && f[-1].body_begin == f->body_begin)
		f--; /* the first has the probe */
	return f ? VP_CODE_FUNCTION + f->id : 0;
}

/* Why it cannot be measured, or NULL. `reached`: the function whose entries lead to it, itself or a call's holder. */
static const char *why_not(const struct make *m, const struct vprof_probe *p, uint32_t reached)
{
	const char *reason = failed(m, reached);
	size_t i = first_place(m, p->code);

	if (reason)
		return reason;
	if (i == m->places.n || m->places.v[i].code != p->code)
		return "the program does not contain it";
	if ((has(m, reached, TWIN_SITE) || has(m, p->code, TWIN_SITE)) && !has(m, reached, ENTRY))
		return has(m, reached, BODY_SITE) ? NULL : "nothing in the program runs it";
	if (p->kind != VPROF_PROBE_FUNCTION && has(m, reached, TWIN_SITE) && has(m, reached, BODY_SITE))
		return "a unit that holds this call does not compile with twins";
	return NULL;
}

static int add_addresses(cJSON *copy, const char *key, const struct make *m, uint32_t code, uint32_t module,
			 int entries)
{
	cJSON *list = cJSON_AddArrayToObject(copy, key);
	uint64_t before = 0;

	for (size_t i = first_place(m, code); list && i < m->places.n && m->places.v[i].code == code; i++) {
		const struct place *p = &m->places.v[i];

		if (p->module != module || !p->address || (p->what == ENTRY) != entries ||
		    (entries && p->address == before))
			continue;
		before = p->address;
		if (!cJSON_AddItemToArray(list, cJSON_CreateNumber((double)p->address)))
			return VPROF_ERR_NOMEM;
	}
	return list ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int add_probe(struct make *m, const struct vprof_probe *p, uint32_t reached)
{
	cJSON *o = cJSON_CreateObject(), *copies = o ? cJSON_AddArrayToObject(o, "copies") : NULL;
	int rc = VPROF_OK;

	cJSON_AddItemToArray(m->probes, o);
	if (!copies || !cJSON_AddNumberToObject(o, "code", p->code) || !cJSON_AddStringToObject(o, "name", p->name) ||
	    !cJSON_AddStringToObject(o, "display", p->display) || !cJSON_AddStringToObject(o, "file", p->file) ||
	    !cJSON_AddNumberToObject(o, "line", p->line) || !cJSON_AddStringToObject(o, "caller", p->caller))
		return VPROF_ERR_NOMEM;
	for (uint32_t module = 0; !rc && module < m->n_modules; module++) {
		cJSON *copy;
		size_t i = first_place(m, p->code);

		while (i < m->places.n && m->places.v[i].code == p->code && m->places.v[i].module != module)
			i++;
		if (i == m->places.n || m->places.v[i].code != p->code)
			continue;
		copy = cJSON_CreateObject();
		cJSON_AddItemToArray(copies, copy);
		if (!copy || !cJSON_AddNumberToObject(copy, "module", module))
			return VPROF_ERR_NOMEM;
		rc = add_addresses(copy, "sites", m, p->code, module, 0);
		if (!rc)
			rc = add_addresses(copy, "entries", m, reached, module, 1);
	}
	m->result->n_probes++;
	return rc;
}

static int add_left(struct make *m, const char *name, const char *file, int line, const char *reason)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddItemToArray(m->left_out, o);
	m->result->n_left_out++;
	return o && cJSON_AddStringToObject(o, "name", name) && cJSON_AddStringToObject(o, "file", file) &&
			       cJSON_AddNumberToObject(o, "line", line) &&
			       cJSON_AddStringToObject(o, "reason", reason) ?
		       VPROF_OK :
		       VPROF_ERR_NOMEM;
}

static int add_rest(struct make *m)
{
	size_t n = strlen(m->facts->root);
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < m->facts->n_functions; i++) {
		const struct vprof_facts_function *f = &m->facts->functions[i];
		const struct vprof_facts_file *file = vprof_facts_file(m->facts, f->file);
		const char *path = file ? file->path : "";

		if (i && m->facts->functions[i - 1].file == f->file &&
		    m->facts->functions[i - 1].body_begin == f->body_begin)
			continue;
		if (vprof_plan_probe(m->plan, VP_CODE_FUNCTION + f->id))
			continue;
		if (!strncmp(path, m->facts->root, n) && path[n] == '/')
			path += n + 1;
		rc = add_left(m, f->display, path, f->line,
			      *f->reason	 ? f->reason :
			      !f->instrumentable ? "its body cannot carry a probe" :
						   "shorter than its probe, or excluded");
	}
	return rc;
}

static int list_all(struct make *m)
{
	int rc = VPROF_OK;

	if (vprof_array_sort(m->places.v, m->places.n, sizeof *m->places.v, by_code) ||
	    vprof_array_sort(m->failures.v, m->failures.n, sizeof *m->failures.v, by_failed))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; !rc && i < m->plan->n_probes; i++) {
		const struct vprof_probe *p = &m->plan->probes[i];
		uint32_t reached = p->kind == VPROF_PROBE_FUNCTION ? p->code : holder_of(m, p);
		const char *reason = why_not(m, p, reached);

		rc = reason ? add_left(m, p->display, p->file, p->line, reason) : add_probe(m, p, reached);
	}
	return rc ? rc : add_rest(m);
}

static int write_map(cJSON *top, const char *vprof_dir, struct vprof_error *err)
{
	char *dir = vprof_path_join(vprof_dir, "live"), *path = vprof_resident_path(vprof_dir);
	char *text = cJSON_PrintUnformatted(top);
	int rc = dir && path && text ? vprof_dir_make(dir, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_file_write(path, text, strlen(text), err);
	cJSON_free(text);
	free(path);
	free(dir);
	return rc;
}

int vprof_resident_make(const char *const *paths, size_t n, const struct vprof_facts *facts,
			const struct vprof_plan *plan, const char *vprof_dir, struct vprof_resident_result *result,
			struct vprof_error *err)
{
	cJSON *top = cJSON_CreateObject();
	struct make m = { .facts = facts, .plan = plan, .result = result };
	int rc = VPROF_OK;

	memset(result, 0, sizeof *result);
	m.modules = top && cJSON_AddNumberToObject(top, "version", 1) ? cJSON_AddArrayToObject(top, "modules") : NULL;
	m.probes = m.modules ? cJSON_AddArrayToObject(top, "probes") : NULL;
	m.left_out = m.probes ? cJSON_AddArrayToObject(top, "left_out") : NULL;
	if (!m.left_out)
		rc = vprof_error_no_memory(err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = do_module(&m, paths[i], err);
	result->n_modules = m.n_modules;
	if (!rc && list_all(&m))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = write_map(top, vprof_dir, err);
	for (size_t i = 0; i < m.failures.n; i++)
		free(m.failures.v[i].reason);
	VPROF_ARRAY_RELEASE(&m.failures);
	VPROF_ARRAY_RELEASE(&m.places);
	cJSON_Delete(top);
	return rc;
}
