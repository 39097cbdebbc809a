/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A twin is the text of its function behind it, under another name, with a probe (the macros are probe.h's):
 *
 *   int f(int a) { VP_LIVE_HERE(code) return g(a); }
 *   #ifdef VP_LIVE_TWINS_
 *   VP_TWIN(f) VP_TWIN(g)                         their declarations
 *   #define g(...) g__vp(__VA_ARGS__)             calls in a twin go to twins
 *   #line 1
 *   int f__vp(int a) { VP_LIVE_TWIN(code, f__vp) return g(a); }
 *   #undef g
 *   #endif
 *   #line 1
 *
 * Invariant: between the inserted lines the preprocessor is in the state in which it was at the function, so that the
 * text means the same; a function whose text changes that state, or leaves a condition open, gets no twin.
 *
 * A function without a twin would hold inlined copies of its callees that nobody can open. So around its text their
 * names are macros that call them without the compiler knowing whom (VP_UNSEEN): it inlines them everywhere else as it
 * did before. Where that is not possible, they are not inlined at all (VP_APART). The same goes for main and for what
 * threads begin with: they run already when a function is opened, and may never return.
 */
#define _GNU_SOURCE
#include "instrumenter/splice/splice_live.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "instrumenter/splice/splice_hook.h"
#include "instrumenter/splice/splice_repeat.h"
#include "trace/format.h"

enum form { IN_BODY, TWIN };

struct live {
	struct vprof_edits *edits;
	const struct vprof_facts *facts;
	const struct vprof_plan *plan;
	uint32_t *order, *canon; /* functions by place; the first of each place */
	unsigned char *form;	 /* enum form, of canonical functions */
	unsigned char *is_start; /* functions: what threads begin with */
	/* canonical functions: those whose twin is in every unit, called or not; those that are not inlined */
	unsigned char *is_kept, *is_apart;
	unsigned char *is_unseen; /* calls: the compiler does not know whom they call */
	unsigned char *is_main;	  /* files: a unit's own */
	unsigned char *has_site;  /* canonical functions: calls that are measured themselves */
	uint64_t *readers;	  /* [files][n_words]: the units that read a file, a bit for each */
	size_t n_words;
	int is_lto;	    /* some units are optimised when they are linked */
	const char **names; /* of the functions that one function calls as twins: scratch */
	uint32_t *called;
	unsigned char *hides; /* of these: the function is called, and the compiler does not know that it is */
	size_t n_called;
};

static int by_place(const void *a, const void *b, void *facts)
{
	const struct vprof_facts *all = facts;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct vprof_facts_function *f = &all->functions[i], *g = &all->functions[j];

	if (f->file != g->file)
		return f->file < g->file ? -1 : 1;
	if (f->body_begin != g->body_begin)
		return f->body_begin < g->body_begin ? -1 : 1;
	return i < j ? -1 : i > j;
}

static int same_place(const struct vprof_facts_function *f, const struct vprof_facts_function *g)
{
	return f->file == g->file && f->body_begin == g->body_begin && f->body_begin >= 0;
}

static void find_places(struct live *l)
{
	const struct vprof_facts *facts = l->facts;

	for (uint32_t i = 0; i < facts->n_functions; i++)
		l->order[i] = i;
	qsort_r(l->order, facts->n_functions, sizeof *l->order, by_place, (void *)facts);
	for (size_t i = 0; i < facts->n_functions; i++) {
		uint32_t f = l->order[i];

		l->canon[f] = i && same_place(&facts->functions[f], &facts->functions[l->order[i - 1]]) ?
				      l->canon[l->order[i - 1]] :
				      f;
	}
	for (size_t i = 0; i < facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &facts->addresses[i];

		if (a->function && (!strcmp(a->target, "pthread_create") || !strcmp(a->target, "thrd_create")))
			l->is_start[a->function - 1] = 1;
	}
	for (size_t i = 0; i < l->plan->n_probes; i++) {
		const struct vprof_probe *p = &l->plan->probes[i];
		const struct vprof_facts_call *c =
			p->kind == VPROF_PROBE_FUNCTION ? NULL : vprof_facts_call(facts, p->fact_id);
		uint32_t holder = c ? vprof_facts_caller(facts, c) : UINT32_MAX;

		if (holder != UINT32_MAX)
			l->has_site[l->canon[holder]] = 1;
	}
	for (size_t i = 0; i < facts->n_tus; i++) {
		l->is_lto |= strstr(facts->tus[i].arguments, "\"-flto") != NULL;
		for (size_t k = 0; k < facts->tus[i].n_files; k++) {
			const struct vprof_facts_file *file = vprof_facts_file(facts, facts->tus[i].files[k]);

			if (!file)
				continue;
			if (!strcmp(file->path, facts->tus[i].path))
				l->is_main[file - facts->files] = 1;
			l->readers[(size_t)(file - facts->files) * l->n_words + i / 64] |= UINT64_C(1) << i % 64;
		}
	}
}

static size_t file_index(const struct live *l, uint32_t id)
{
	const struct vprof_facts_file *file = vprof_facts_file(l->facts, id);

	return file ? (size_t)(file - l->facts->files) : l->facts->n_files;
}

static int in_header(const struct live *l, uint32_t function)
{
	size_t file = file_index(l, l->facts->functions[function].file);

	return file < l->facts->n_files && !l->is_main[file];
}

static int fits(const struct vprof_facts_function *f, const struct vprof_text *text)
{
	size_t n = strlen(f->name);

	return f->head_begin >= 0 && f->name_end - (int64_t)n >= f->head_begin && f->body_begin > f->name_end &&
	       f->body_end >= f->body_begin && (size_t)f->body_end < text->len && text->s[f->body_end] == '}' &&
	       !memcmp(text->s + f->name_end - n, f->name, n);
}

/* How a function is measured; the text is its file's. */
static enum form form_of(const struct live *l, size_t at, const struct vprof_text *text)
{
	const struct vprof_facts_function *f = &l->facts->functions[l->order[at]];
	int is_allowed = 1, in_c = 0;

	for (size_t i = at; i < l->facts->n_functions; i++) {
		const struct vprof_facts_function *g = &l->facts->functions[l->order[i]];

		if (!same_place(f, g))
			break;
		if (g->lang != VPROF_LANG_C)
			continue;
		in_c = 1;
		is_allowed &= !*g->twin && !l->is_start[l->order[i]];
		if (!fits(g, text))
			return IN_BODY;
		f = g;
	}
	if (!in_c ||
	    !vprof_text_can_repeat(l->facts, text->s + f->head_begin, (size_t)(f->body_end + 1 - f->head_begin)))
		return IN_BODY;
	return is_allowed ? TWIN : IN_BODY;
}

static const struct vprof_probe *probe_of(const struct live *l, uint32_t function)
{
	const struct vprof_probe *p =
		vprof_plan_probe(l->plan, VP_CODE_FUNCTION + l->facts->functions[l->canon[function]].id);

	return p && p->kind == VPROF_PROBE_FUNCTION ? p : NULL;
}

/* Sites would stand in the twins of a header's functions only, which a unit that is compiled twice has none of. */
static int lacks_sites(const struct live *l, uint32_t canon)
{
	return l->has_site[canon] && in_header(l, canon);
}

/* Decides on all functions of the file whose first is order[first]; returns how many it has. */
static size_t decide_file(struct live *l, size_t first, int *rc, struct vprof_error *err)
{
	uint32_t id = l->facts->functions[l->order[first]].file;
	const struct vprof_facts_file *file = vprof_facts_file(l->facts, id);
	struct vprof_text text = VPROF_TEXT_INIT;
	size_t i = first;

	for (; i < l->facts->n_functions && l->facts->functions[l->order[i]].file == id; i++) {
		uint32_t f = l->order[i];

		if (l->canon[f] != f || !probe_of(l, f) || l->facts->functions[f].head_begin < 0)
			continue;
		if (!text.len && file)
			*rc = vprof_file_read(file->path, &text, err);
		if (*rc)
			break;
		l->form[f] = (unsigned char)(lacks_sites(l, f) ? IN_BODY : form_of(l, i, &text));
	}
	vprof_text_release(&text);
	return i - first;
}

/* ---- calls that go to twins ---- */

/* Does every unit that reads the file `from` read `to` as well? */
static int is_always_there(const struct live *l, uint32_t from, uint32_t to)
{
	size_t a = file_index(l, from), b = file_index(l, to);

	for (size_t i = 0; a != b && i < l->n_words; i++)
		if (l->readers[a * l->n_words + i] & ~l->readers[b * l->n_words + i])
			return 0;
	return 1;
}

/* Could a function of the file `to` be inlined into one of `from`: does any unit read both, or are units optimised
 * together? */
static int is_ever_there(const struct live *l, uint32_t from, uint32_t to)
{
	size_t a = file_index(l, from), b = file_index(l, to);

	if (l->is_lto)
		return 1;
	for (size_t i = 0; i < l->n_words; i++)
		if (l->readers[a * l->n_words + i] & l->readers[b * l->n_words + i])
			return 1;
	return 0;
}

/* Is `name` a word of the text? */
static int mentions(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
		unsigned char before = at > text ? (unsigned char)at[-1] : ' ', after = (unsigned char)at[n];

		if (before != '_' && !isalnum(before) && after != '_' && !isalnum(after))
			return 1;
	}
	return 0;
}

static const struct vprof_facts_call *call_at(const struct live *l, size_t at, size_t last, int64_t begin)
{
	for (size_t j = at; j < last; j++) {
		const struct vprof_facts_function *f = &l->facts->functions[l->order[j]];

		for (uint32_t k = 0; k < f->n_calls; k++) {
			const struct vprof_facts_call *c = vprof_facts_call_of(l->facts, f, k);

			if (c->begin == begin && c->file == f->file)
				return c;
		}
	}
	return NULL;
}

static int is_word(char c)
{
	return c == '_' || isalnum((unsigned char)c);
}

/* In the text of the function at order[at .. last), is the name followed by an open bracket only where it is called?
 * (A local declaration of it is no call.) */
static int only_calls(const struct live *l, size_t at, size_t last, const struct vprof_text *text, const char *name)
{
	const struct vprof_facts_function *f = &l->facts->functions[l->order[at]];
	const char *end = text->s + f->body_end, *s = text->s + f->head_begin;
	size_t n = strlen(name);

	for (; (s = memmem(s, (size_t)(end - s), name, n)); s += n) {
		const struct vprof_facts_call *c;
		const char *behind = s + n;

		while (behind < end && isspace((unsigned char)*behind))
			behind++;
		if ((s > text->s && is_word(s[-1])) || is_word(s[n]) || *behind != '(')
			continue;
		c = call_at(l, at, last, s - text->s);
		if (!c || c->kind != VPROF_CALL_DIRECT || strcmp(c->callee, name))
			return 0;
	}
	return 1;
}

/* Does the call name its callee right at its begin, or come from a macro? */
static int is_by_name(const struct vprof_facts_call *c, const struct vprof_text *text)
{
	return c->kind == VPROF_CALL_DIRECT &&
	       (c->begin < 0 || ((size_t)c->begin < text->len && is_word(text->s[c->begin])));
}

/* The functions at the place that order[at] begins, of that text, call these twins by name, and nothing else by that
 * name. Units that are optimised together: what has its twin in another is called without the compiler knowing whom. */
static void find_called(struct live *l, size_t at, const struct vprof_text *text)
{
	const struct vprof_facts *facts = l->facts;
	const struct vprof_facts_function *first = &facts->functions[l->order[at]];
	size_t last = at, kept = 0;

	l->n_called = 0;
	while (last < facts->n_functions && same_place(first, &facts->functions[l->order[last]]))
		last++;
	for (size_t j = at; j < last; j++) {
		const struct vprof_facts_function *f = &facts->functions[l->order[j]];

		for (uint32_t k = 0; f->lang == VPROF_LANG_C && k < f->n_calls; k++) {
			const struct vprof_facts_call *c = vprof_facts_call_of(facts, f, k);
			uint32_t g = c->callee_function ? l->canon[c->callee_function - 1] : 0;
			size_t i = 0;
			int hides;

			if (!c->callee_function || c->kind != VPROF_CALL_DIRECT || l->form[g] != TWIN ||
			    strcmp(c->callee, facts->functions[g].name))
				continue;
			while (i < l->n_called && strcmp(l->names[i], c->callee))
				i++;
			hides = !is_always_there(l, f->file, facts->functions[g].file);
			if (i < l->n_called ||
			    (hides && !(l->is_lto && is_by_name(c, text) && only_calls(l, at, last, text, c->callee))))
				continue;
			l->names[l->n_called] = c->callee;
			l->hides[l->n_called] = (unsigned char)hides;
			l->called[l->n_called++] = g;
		}
	}
	for (size_t i = 0; i < l->n_called; i++) {
		int other = 0;

		for (size_t j = at; j < last; j++) {
			const struct vprof_facts_function *f = &facts->functions[l->order[j]];

			for (uint32_t k = 0; k < f->n_calls; k++) {
				const struct vprof_facts_call *c = vprof_facts_call_of(facts, f, k);

				other |= c->kind != VPROF_CALL_DIRECT && mentions(c->callee, l->names[i]);
			}
		}
		if (!other) {
			l->names[kept] = l->names[i];
			l->hides[kept] = l->hides[i];
			l->called[kept++] = l->called[i];
		}
	}
	l->n_called = kept;
}

static void declare(const struct live *l, uint32_t function, struct vprof_text *out)
{
	vprof_text_addf(out, "%s(%s)\n",
			in_header(l, function) && !l->is_kept[function] ? "VP_TWIN_OF_HEADER" : "VP_TWIN",
			l->facts->functions[function].name);
}

/* What the called functions' names stand for from here on. */
static void begin_calls(const struct live *l, struct vprof_text *out)
{
	for (size_t i = 0; i < l->n_called; i++) {
		const char *name = l->names[i],
			   *guard = in_header(l, l->called[i]) ? "VP_LIVE_HEADER_TWINS_" : "VP_LIVE_TWINS_";

		vprof_text_addf(out, "#if defined(%s) && !defined(%s)\n", guard, name);
		if (!l->hides[i])
			declare(l, l->called[i], out);
		vprof_text_addf(out, "#define %s(...) ", name);
		if (l->hides[i])
			vprof_text_addf(out, "VP_UNSEEN(%s)", name);
		else
			vprof_text_addf(out, "%s" VPROF_TWIN_SUFFIX, name);
		vprof_text_addf(out, "(__VA_ARGS__)\n#define vp_renamed_%s\n#endif\n", name);
	}
}

static void end_calls(const struct live *l, struct vprof_text *out)
{
	for (size_t i = 0; i < l->n_called; i++)
		vprof_text_addf(out, "#ifdef vp_renamed_%s\n#undef %s\n#undef vp_renamed_%s\n#endif\n", l->names[i],
				l->names[i], l->names[i]);
}

/* ---- the edits ---- */

static void entry(struct live *l, const struct vprof_facts_function *f, enum vprof_edit_copies copies,
		  const char *macro, const struct vprof_probe *p)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	size_t first = l->edits->n;

	if (copies == VPROF_EDIT_COPY_ONLY)
		vprof_text_addf(&t, " %s(%u, %s" VPROF_TWIN_SUFFIX ")", macro, p->code, f->name);
	else
		vprof_text_addf(&t, " %s(%u)", macro, p->code);
	vprof_edits_add(l->edits, f->file, VPROF_EDIT_ENTRY, f->body_begin, f->body_begin, VPROF_SPLICE_RANK_PROBE, &t);
	vprof_edits_belong(l->edits, first, copies);
}

static const char *const function_names[] = { "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__" };

static void add_twin(struct live *l, uint32_t canon, const struct vprof_facts_function *f, const struct vprof_probe *p,
		     const struct vprof_text *text)
{
	struct vprof_text before = VPROF_TEXT_INIT, behind = VPROF_TEXT_INIT, name = VPROF_TEXT_INIT;
	int header = in_header(l, canon);
	size_t first = l->edits->n;

	if (l->is_apart[canon]) {
		struct vprof_text own = VPROF_TEXT_INIT;

		vprof_text_addf(&own, "%s ", header ? "VP_APART_IN_HEADER" : "VP_APART");
		vprof_edits_add(l->edits, f->file, VPROF_EDIT_BEFORE, f->head_begin, f->head_begin, 0, &own);
		vprof_edits_belong(l->edits, first, VPROF_EDIT_ORIGINAL_ONLY);
	}

	entry(l, f, VPROF_EDIT_ORIGINAL_ONLY, header ? "VP_LIVE_HERE_IN_HEADER" : "VP_LIVE_HERE", p);
	entry(l, f, VPROF_EDIT_COPY_ONLY, "VP_LIVE_TWIN", p);
	vprof_text_add(&name, VPROF_TWIN_SUFFIX);
	first = l->edits->n;
	vprof_edits_add(l->edits, f->file, VPROF_EDIT_NAME, f->name_end, f->name_end, 0, &name);
	vprof_edits_belong(l->edits, first, VPROF_EDIT_COPY_ONLY);
	vprof_text_addf(&before, "\n#ifdef %s\n", header ? "VP_LIVE_HEADER_TWINS_" : "VP_LIVE_TWINS_");
	declare(l, canon, &before);
	begin_calls(l, &before);
	for (size_t i = 0; i < 3; i++)
		vprof_text_addf(&before, "#pragma push_macro(\"%s\")\n#undef %s\n#define %s \"%s\"\n",
				function_names[i], function_names[i], function_names[i], f->name);
	vprof_text_addf(&before, "#line %lu\n", vprof_text_line_at(text, (size_t)f->head_begin));
	vprof_text_add(&behind, "\n");
	end_calls(l, &behind);
	for (size_t i = 0; i < 3; i++)
		vprof_text_addf(&behind, "#pragma pop_macro(\"%s\")\n", function_names[i]);
	vprof_text_addf(&behind, "VP_TWIN_KEEP(%s)\n#endif\n#line %lu\n", f->name,
			vprof_text_line_at(text, (size_t)f->body_end));
	vprof_edits_add_lines(l->edits, f->file, VPROF_EDIT_COPY, f->body_end + 1, f->head_begin, &before, &behind);
}

/* The C function at the place that order[at] begins, or any. */
static const struct vprof_facts_function *in_c(const struct live *l, size_t at)
{
	const struct vprof_facts_function *first = &l->facts->functions[l->order[at]];

	for (size_t i = at; i < l->facts->n_functions && same_place(first, &l->facts->functions[l->order[i]]); i++)
		if (l->facts->functions[l->order[i]].lang == VPROF_LANG_C)
			return &l->facts->functions[l->order[i]];
	return first;
}

static int add_file(struct live *l, size_t first, size_t n, struct vprof_error *err)
{
	const struct vprof_facts_file *file = vprof_facts_file(l->facts, l->facts->functions[l->order[first]].file);
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = VPROF_OK;

	for (size_t i = first; !rc && i < first + n; i++) {
		uint32_t canon = l->order[i];
		const struct vprof_facts_function *f = in_c(l, i);
		const struct vprof_probe *p = l->canon[canon] == canon ? probe_of(l, canon) : NULL;

		if (!p)
			continue;
		if (l->form[canon] == IN_BODY) {
			entry(l, f, VPROF_EDIT_BOTH, "VP_LIVE_FUNCTION", p);
			continue;
		}
		if (!text.len)
			rc = vprof_file_read(file->path, &text, err);
		if (rc)
			break;
		find_called(l, i, &text);
		add_twin(l, canon, f, p, &text);
	}
	vprof_text_release(&text);
	return rc;
}

/* Around the call: VP_SITE becomes `word`, and its like. */
static void enclose(struct live *l, const struct vprof_facts_call *c, const struct vprof_probe *p, const char *word,
		    enum vprof_edit_copies copies)
{
	const char *const *form = vprof_site_text[c->form], *at = strstr(form[0], "VP_SITE");
	struct vprof_text before = VPROF_TEXT_INIT, after = VPROF_TEXT_INIT;
	size_t first = l->edits->n;

	vprof_text_append(&before, form[0], (size_t)(at - form[0]));
	vprof_text_addf(&before, "%s%s(%u)%s", word, at + strlen("VP_SITE"), p->code, form[1]);
	vprof_text_add(&after, form[2]);
	vprof_edits_enclose(l->edits, c->file, c->begin, c->end, VPROF_SPLICE_RANK_SITE, &before, &after);
	vprof_edits_belong(l->edits, first, copies);
}

static int add_site(struct live *l, const struct vprof_probe *p)
{
	const struct vprof_facts_call *c = vprof_facts_call(l->facts, p->fact_id);
	uint32_t holder = c ? vprof_facts_caller(l->facts, c) : UINT32_MAX;

	if (!c || c->begin < 1 || c->end <= c->begin || !c->wrappable || holder == UINT32_MAX)
		return -1;
	if (l->form[l->canon[holder]] != TWIN) {
		enclose(l, c, p, "VP_LIVE_SITE", VPROF_EDIT_BOTH);
		return 0;
	}
	enclose(l, c, p, "VP_LIVE_SITE", VPROF_EDIT_COPY_ONLY);
	if (!in_header(l, l->canon[holder])) /* for a unit without twins of this kind */
		enclose(l, c, p, "VP_LIVE_HERE_SITE", VPROF_EDIT_ORIGINAL_ONLY);
	return 0;
}

/* ---- functions without a twin ---- */

/* The calls of the function at order[at .. last), which has no twin: those whose callee the compiler need not know. */
static void find_unseen(struct live *l, size_t at, size_t last, const struct vprof_text *text)
{
	const struct vprof_facts *facts = l->facts;

	l->n_called = 0;
	for (size_t j = at; j < last; j++) {
		const struct vprof_facts_function *f = &facts->functions[l->order[j]];

		for (uint32_t k = 0; k < f->n_calls; k++) {
			const struct vprof_facts_call *c = vprof_facts_call_of(facts, f, k);
			uint32_t g = c->callee_function ? l->canon[c->callee_function - 1] : 0;
			size_t i = 0;

			if (!c->callee_function || l->form[g] != TWIN || !is_by_name(c, text) ||
			    strcmp(c->callee, facts->functions[g].name))
				continue;
			while (i < l->n_called && strcmp(l->names[i], c->callee))
				i++;
			if (i == l->n_called && only_calls(l, at, last, text, c->callee)) {
				l->names[l->n_called] = c->callee;
				l->hides[l->n_called] = 1;
				l->called[l->n_called++] = g;
			}
			if (i < l->n_called)
				l->is_unseen[c - facts->calls] = 1;
		}
	}
}

/* A function that holds no probe, or one in its body. */
static void hide_calls(struct live *l, size_t at, const struct vprof_text *text)
{
	const struct vprof_facts_function *f = &l->facts->functions[l->order[at]];
	struct vprof_text before = VPROF_TEXT_INIT, behind = VPROF_TEXT_INIT;
	size_t last = at;

	for (; last < l->facts->n_functions && same_place(f, &l->facts->functions[l->order[last]]); last++) {
		const struct vprof_facts_function *g = &l->facts->functions[l->order[last]];

		if (g->lang != VPROF_LANG_C || g->head_begin != f->head_begin || !fits(g, text))
			return;
	}
	find_unseen(l, at, last, text);
	if (!l->n_called)
		return;
	vprof_text_add(&before, "\n");
	begin_calls(l, &before);
	vprof_text_addf(&before, "#line %lu\n", vprof_text_line_at(text, (size_t)f->head_begin));
	vprof_text_add(&behind, "\n");
	end_calls(l, &behind);
	vprof_text_addf(&behind, "#line %lu\n", vprof_text_line_at(text, (size_t)f->body_end));
	vprof_edits_add_lines(l->edits, f->file, VPROF_EDIT_BEFORE, f->head_begin, f->head_begin, &before, NULL);
	vprof_edits_add_lines(l->edits, f->file, VPROF_EDIT_BEFORE, f->body_end + 1, f->body_end + 1, &behind, NULL);
}

/* Of the n functions of one file. */
static int hide_all(struct live *l, size_t first, size_t n, struct vprof_error *err)
{
	const struct vprof_facts_file *file = vprof_facts_file(l->facts, l->facts->functions[l->order[first]].file);
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = VPROF_OK;

	if (!file || !file->in_project || !vprof_path_inside(l->facts->root, file->path))
		return VPROF_OK;
	for (size_t i = first; !rc && i < first + n; i++) {
		uint32_t f = l->order[i];

		if (l->canon[f] != f || l->form[f] == TWIN || !l->facts->functions[f].n_calls ||
		    l->facts->functions[f].head_begin < 0)
			continue;
		if (!text.len)
			rc = vprof_file_read(file->path, &text, err);
		if (!rc)
			hide_calls(l, i, &text);
	}
	vprof_text_release(&text);
	return rc;
}

/* Which functions are run by others than functions with twins, which call their twins. */
static void find_kept(struct live *l)
{
	const struct vprof_facts *facts = l->facts;

	for (size_t i = 0; i < facts->n_addresses; i++)
		if (facts->addresses[i].function)
			l->is_kept[l->canon[facts->addresses[i].function - 1]] = 1;
	for (size_t i = 0; i < facts->n_calls; i++) {
		const struct vprof_facts_call *c = &facts->calls[i];
		uint32_t caller = vprof_facts_caller(facts, c);

		uint32_t callee = c->callee_function ? l->canon[c->callee_function - 1] : 0;

		if (!c->callee_function || (caller != UINT32_MAX && l->form[l->canon[caller]] == TWIN) ||
		    !is_ever_there(l, c->file, facts->functions[callee].file))
			continue;
		l->is_kept[callee] = 1;
		l->is_apart[callee] |= !l->is_unseen[i];
	}
}

static int for_each_file(struct live *l, int (*edit)(struct live *, size_t, size_t, struct vprof_error *),
			 struct vprof_error *err)
{
	int rc = VPROF_OK;

	for (size_t i = 0, n; !rc && i < l->facts->n_functions; i += n) {
		uint32_t file = l->facts->functions[l->order[i]].file;

		for (n = 1; i + n < l->facts->n_functions; n++)
			if (l->facts->functions[l->order[i + n]].file != file)
				break;
		rc = edit(l, i, n, err);
	}
	return rc;
}

static int add_all(struct live *l, struct vprof_error *err)
{
	int rc = VPROF_OK;

	find_places(l);
	for (size_t i = 0; !rc && i < l->facts->n_functions;)
		i += decide_file(l, i, &rc, err);
	if (!rc)
		rc = for_each_file(l, hide_all, err);
	find_kept(l);
	if (!rc)
		rc = for_each_file(l, add_file, err);
	for (size_t i = 0; !rc && i < l->plan->n_probes; i++)
		if (l->plan->probes[i].kind != VPROF_PROBE_FUNCTION && add_site(l, &l->plan->probes[i]))
			rc = vprof_error_set(err, VPROF_ERR_STALE,
					     "the plan refers to a call that the scan does not know; run `vprof init`");
	return rc;
}

int vprof_splice_live(struct vprof_edits *edits, const struct vprof_facts *facts, const struct vprof_plan *plan,
		      struct vprof_error *err)
{
	struct live l = { .edits = edits, .facts = facts, .plan = plan };
	int rc;

	l.order = calloc(facts->n_functions + 1, sizeof *l.order);
	l.canon = calloc(facts->n_functions + 1, sizeof *l.canon);
	l.form = calloc(facts->n_functions + 1, 1);
	l.is_kept = calloc(facts->n_functions + 1, 1);
	l.is_apart = calloc(facts->n_functions + 1, 1);
	l.is_unseen = calloc(facts->n_calls + 1, 1);
	l.is_start = calloc(facts->n_functions + 1, 1);
	l.is_main = calloc(facts->n_files + 1, 1);
	l.has_site = calloc(facts->n_functions + 1, 1);
	l.n_words = facts->n_tus / 64 + 1;
	l.readers = calloc((facts->n_files + 1) * l.n_words, sizeof *l.readers);
	l.names = calloc(facts->n_functions + 1, sizeof *l.names);
	l.called = calloc(facts->n_functions + 1, sizeof *l.called);
	l.hides = calloc(facts->n_functions + 1, 1);
	rc = l.order && l.canon && l.form && l.is_start && l.is_kept && l.is_apart && l.is_unseen && l.is_main &&
			     l.has_site && l.readers && l.names && l.called && l.hides ?
		     add_all(&l, err) :
		     vprof_error_no_memory(err);
	free(l.order);
	free(l.canon);
	free(l.form);
	free(l.is_start);
	free(l.is_kept);
	free(l.is_apart);
	free(l.is_unseen);
	free(l.is_main);
	free(l.has_site);
	free(l.readers);
	free(l.names);
	free(l.called);
	free(l.hides);
	return rc;
}
