/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See facts_list.h. A function of a header belongs to every unit that reads the header, but it is listed once. */
#include "cli/commands/facts_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/print.h"
#include "cli/project.h"
#include "report/format_value.h"

struct reason {
	const char *word, *why;
};

static const struct reason reasons[] = {
	/* docs/facts.md explains them */
	{ "constexpr", "the compiler must be able to evaluate it" },
	{ "consteval", "the compiler must be able to evaluate it" },
	{ "coroutine", "it may go on in another thread" },
	{ "attribute_macro", "the unit defines __attribute__ as a macro" },
	{ "naked", "it has no prologue" },
	{ "no_instrument", "it is declared no_instrument_function" },
	{ "ifunc", "it runs before the program is relocated" },
	{ "target", "its target attribute rules out inlined probes" },
	{ "brace_not_spelled", "its { is in no file of the project" },
	{ "brace_mismatch", "its { is spelled differently" },
	{ "stringified", "a macro turns it into a string" },
};
#define N_REASONS (sizeof reasons / sizeof *reasons)

/* of a file */
struct count {
	size_t n, n_not, n_units;
	size_t first; /* in `order` */
};

struct list {
	const struct vprof_facts *facts;
	struct count *files; /* as facts->files */
	size_t *order;	     /* functions that cannot be instrumented, by file */
	size_t n_not, by_reason[N_REASONS + 1];
};

static const char *why(const char *word)
{
	for (size_t i = 0; i < N_REASONS; i++)
		if (!strcmp(reasons[i].word, word))
			return reasons[i].why;
	return "";
}

static size_t reason_index(const char *word)
{
	size_t i = 0;

	while (i < N_REASONS && strcmp(reasons[i].word, word))
		i++;
	return i;
}

static struct count *file_count(const struct list *l, uint32_t id)
{
	const struct vprof_facts_file *file = vprof_facts_file(l->facts, id);

	return &l->files[file ? (size_t)(file - l->facts->files) : l->facts->n_files];
}

static void list_release(struct list *l)
{
	free(l->files);
	free(l->order);
}

static int list_make(struct list *l, const struct vprof_facts *facts)
{
	size_t at = 0;

	*l = (struct list){ .facts = facts };
	l->files = calloc(facts->n_files + 1, sizeof *l->files);
	l->order = calloc(facts->n_functions + 1, sizeof *l->order);
	if (!l->files || !l->order) {
		list_release(l);
		return -1;
	}
	for (size_t i = 0; i < facts->n_functions; i++) {
		struct count *c = file_count(l, facts->functions[i].file);

		c->n++;
		if (facts->functions[i].instrumentable)
			continue;
		c->n_not++;
		l->n_not++;
		l->by_reason[reason_index(facts->functions[i].reason)]++;
	}
	for (size_t i = 0; i < facts->n_tus; i++)
		for (size_t j = 0; j < facts->tus[i].n_files; j++)
			file_count(l, facts->tus[i].files[j])->n_units++;
	for (size_t i = 0; i <= facts->n_files; i++) {
		l->files[i].first = at;
		at += l->files[i].n_not;
		l->files[i].n_not = 0;
	}
	for (size_t i = 0; i < facts->n_functions; i++) {
		struct count *c = file_count(l, facts->functions[i].file);

		if (!facts->functions[i].instrumentable)
			l->order[c->first + c->n_not++] = i;
	}
	return 0;
}

/* ---- text ---- */

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void print_file(const struct list *l, size_t i)
{
	const struct count *c = &l->files[i];

	printf("\n%s: %s of %s functions", vprof_project_shown(l->facts->files[i].path), vprof_format_count(c->n_not).s,
	       vprof_format_count(c->n).s);
	if (c->n_units > 1)
		printf(", in %s units", vprof_format_count(c->n_units).s);
	putchar('\n');
	for (size_t j = c->first; j < c->first + c->n_not; j++) {
		const struct vprof_facts_function *f = &l->facts->functions[l->order[j]];

		printf("  %6d  %s: %s\n", f->line, f->display, f->reason);
	}
}

static void print_messages(const char *messages)
{
	while (*messages) {
		int n = (int)strcspn(messages, "\n");

		printf("    %.*s\n", n, messages);
		messages += n + (messages[n] == '\n');
	}
}

static void print_units(const struct vprof_facts *facts)
{
	size_t n = 0;

	for (size_t i = 0; i < facts->n_tus; i++) {
		const struct vprof_facts_tu *tu = &facts->tus[i];

		if (tu->status == VPROF_TU_OK)
			continue;
		if (!n++)
			printf("\nunits that the scan could not read completely; some of their functions may be missing\n");
		printf("  %s for %s\n", vprof_project_shown(tu->path), vprof_project_shown(tu->output));
		print_messages(tu->diagnostics);
	}
}

/* Reasons that are the same but for a name, which stands in brackets, or a number: up to there. */
static size_t reason_length(const char *reason)
{
	size_t n = strcspn(reason, "0123456789(");

	while (n && reason[n] && reason[n - 1] == ' ')
		n--;
	return n ? n : strlen(reason);
}

struct left_count {
	const char *reason;
	size_t n, n_left;
};

static int more_left(const void *a, const void *b)
{
	const struct left_count *x = a, *y = b;

	return x->n_left != y->n_left ? (x->n_left < y->n_left ? 1 : -1) : strcmp(x->reason, y->reason);
}

/* How many were left out for which reason, the most frequent first. Heap, *n of them; NULL without memory. */
static struct left_count *count_left(const struct vprof_resident *r, size_t *n)
{
	struct left_count *all = calloc(r->n_left_out + 1, sizeof *all);

	*n = 0;
	for (size_t i = 0; all && i < r->n_left_out; i++) {
		const char *reason = r->left_out[i].reason;
		size_t length = reason_length(reason), k = 0;

		while (k < *n && (all[k].n != length || strncmp(all[k].reason, reason, length)))
			k++;
		if (k == *n)
			all[(*n)++] = (struct left_count){ reason, length, 0 };
		all[k].n_left++;
	}
	if (*n)
		qsort(all, *n, sizeof *all, more_left);
	return all;
}

static void print_resident(const struct vprof_resident *r)
{
	size_t n;
	struct left_count *counts = count_left(r, &n);

	printf("\nresident build: %s function%s and calls can be opened, %s left out\n",
	       vprof_format_count(r->n_probes).s, plural(r->n_probes), vprof_format_count(r->n_left_out).s);
	for (size_t i = 0; counts && i < n; i++)
		printf("  %6s  %.*s\n", vprof_format_count(counts[i].n_left).s, (int)counts[i].n, counts[i].reason);
	free(counts);
	for (size_t i = 0; i < r->n_left_out; i++)
		printf("  %s:%d  %s: %s\n", r->left_out[i].file, r->left_out[i].line, r->left_out[i].name,
		       r->left_out[i].reason);
}

int vprof_facts_list_print(const struct vprof_facts *facts, const struct vprof_resident *resident,
			   struct vprof_error *err)
{
	struct list l;

	if (list_make(&l, facts))
		return vprof_error_no_memory(err);
	printf("%s function%s in %s unit%s, ", vprof_format_count(facts->n_functions).s, plural(facts->n_functions),
	       vprof_format_count(facts->n_tus).s, plural(facts->n_tus));
	printf("%s cannot be instrumented\n", vprof_format_count(l.n_not).s);
	for (size_t i = 0; i <= N_REASONS; i++)
		if (l.by_reason[i])
			printf("  %6s  %-17s  %s\n", vprof_format_count(l.by_reason[i]).s,
			       i < N_REASONS ? reasons[i].word : "other", i < N_REASONS ? reasons[i].why : "");
	for (size_t i = 0; i < facts->n_files; i++)
		if (l.files[i].n_not)
			print_file(&l, i);
	print_units(facts);
	if (resident)
		print_resident(resident);
	list_release(&l);
	return VPROF_OK;
}

/* ---- JSON ---- */

static cJSON *function_json(const struct vprof_facts *facts, const struct vprof_facts_function *f)
{
	const struct vprof_facts_file *file = vprof_facts_file(facts, f->file);
	cJSON *row = cJSON_CreateObject();

	cJSON_AddStringToObject(row, "function", f->display);
	cJSON_AddStringToObject(row, "file", file ? file->path : "");
	cJSON_AddNumberToObject(row, "line", f->line);
	cJSON_AddStringToObject(row, "reason", f->reason);
	cJSON_AddStringToObject(row, "why", why(f->reason));
	return row;
}

static cJSON *unit_json(const struct list *l, const struct vprof_facts_tu *tu)
{
	cJSON *row = cJSON_CreateObject(), *not = cJSON_CreateArray();
	size_t n = 0;

	for (size_t i = 0; i < tu->n_files; i++) {
		const struct count *c = file_count(l, tu->files[i]);

		n += c->n;
		for (size_t j = c->first; j < c->first + c->n_not; j++)
			cJSON_AddItemToArray(not, cJSON_CreateString(l->facts->functions[l->order[j]].display));
	}
	cJSON_AddStringToObject(row, "source", tu->path);
	cJSON_AddStringToObject(row, "output", tu->output);
	cJSON_AddStringToObject(row, "status", vprof_tu_status_name(tu->status));
	cJSON_AddStringToObject(row, "messages", tu->diagnostics);
	cJSON_AddNumberToObject(row, "n_functions", (double)n);
	cJSON_AddItemToObject(row, "not_instrumentable", not);
	return row;
}

static void add_resident(cJSON *root, const struct vprof_resident *r)
{
	cJSON *resident = cJSON_AddObjectToObject(root, "resident"), *left_out, *reasons_left;
	size_t n;
	struct left_count *counts = count_left(r, &n);

	cJSON_AddNumberToObject(resident, "n_probes", (double)r->n_probes);
	reasons_left = cJSON_AddArrayToObject(resident, "reasons");
	for (size_t i = 0; counts && i < n; i++) {
		cJSON *row = cJSON_CreateObject();
		char *reason = strndup(counts[i].reason, counts[i].n);

		vprof_print_add_string(row, "reason", reason ? reason : "");
		cJSON_AddNumberToObject(row, "n", (double)counts[i].n_left);
		cJSON_AddItemToArray(reasons_left, row);
		free(reason);
	}
	free(counts);
	left_out = cJSON_AddArrayToObject(resident, "left_out");
	for (size_t i = 0; i < r->n_left_out; i++) {
		cJSON *row = cJSON_CreateObject();

		vprof_print_add_string(row, "function", r->left_out[i].name);
		vprof_print_add_string(row, "file", r->left_out[i].file);
		cJSON_AddNumberToObject(row, "line", r->left_out[i].line);
		vprof_print_add_string(row, "reason", r->left_out[i].reason);
		cJSON_AddItemToArray(left_out, row);
	}
}

cJSON *vprof_facts_list_json(const struct vprof_facts *facts, const struct vprof_resident *resident)
{
	cJSON *root, *functions, *units;
	struct list l;

	if (list_make(&l, facts))
		return NULL;
	root = cJSON_CreateObject();
	cJSON_AddNumberToObject(root, "n_functions", (double)facts->n_functions);
	functions = cJSON_AddArrayToObject(root, "not_instrumentable");
	units = cJSON_AddArrayToObject(root, "units");
	for (size_t i = 0; i < l.n_not; i++)
		cJSON_AddItemToArray(functions, function_json(facts, &facts->functions[l.order[i]]));
	for (size_t i = 0; i < facts->n_tus; i++)
		cJSON_AddItemToArray(units, unit_json(&l, &facts->tus[i]));
	if (resident)
		add_resident(root, resident);
	list_release(&l);
	return root;
}
