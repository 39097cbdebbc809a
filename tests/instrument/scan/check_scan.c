/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scans one source and compares the facts with the expectations written in it:
 *
 *   // expect function NAME [count=N] [reason=..] [tiny=0|1] [static=0|1] [kind=..] [returns=..] [signature=..]
 *                           [display=..] [after=TEXT] (the bytes before body_begin end with TEXT) [exits=N]
 * [editable=N]
 *   // expect call CALLER CALLEE [count=N] [kind=..] [wrappable=0|1] [form=..] [reason=..] [loop=0|1] [text=TEXT]
 * [args=..]
 *   // expect address NAME [count=N] [how=..] [target=..] [arg=N] [signature=..]
 *   // expect guarded FUNCTION KIND OBJECT [count=N] [state=..] [type=..] [value=..]
 *   // expect edge CALLER CALLEE           an edge of the call graph
 *   // expect status WORD                  of the translation unit
 *
 * Values may be quoted. count=N: so many rows match; else at least one. "@flags ..." adds compiler flags.
 */
#define _GNU_SOURCE
#include <libgen.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/facts/callgraph.h"
#include "common/facts/facts.h"
#include "common/files.h"
#include "common/text.h"

#define WORDS_MAX 24

static const struct vprof_facts *facts;
static const struct vprof_callgraph *graph;
static struct vprof_text source = VPROF_TEXT_INIT;
static sqlite3 *db;
static int n_failed, n_checked;

static int split(char *line, char **words)
{
	int n = 0;

	while (*line && n < WORDS_MAX) {
		char *to;
		int quoted = 0;

		while (*line == ' ' || *line == '\t')
			line++;
		if (!*line)
			break;
		words[n++] = to = line;
		for (; *line && (quoted || (*line != ' ' && *line != '\t')); line++) {
			if (*line == '`')
				quoted = !quoted;
			else
				*to++ = *line;
		}
		if (*line)
			line++;
		*to = 0;
	}
	return n;
}

static int sql_number(const char *sql, uint32_t id)
{
	sqlite3_stmt *s = NULL;
	int value = -1;

	sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	sqlite3_bind_int(s, 1, (int)id);
	if (sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	return value;
}

static int equals_number(const char *value, long number)
{
	return atol(value) == number;
}

/* as facts.db spells them */
static const char *const return_kinds[] = {
	[VPROF_RETURNS_OTHER] = "",	   [VPROF_RETURNS_VOID] = "void",	    [VPROF_RETURNS_SCALAR] = "scalar",
	[VPROF_RETURNS_RECORD] = "record", [VPROF_RETURNS_REFERENCE] = "reference",
};
static const char *const address_uses[] = {
	[VPROF_ADDRESS_OTHER] = "other",
	[VPROF_ADDRESS_ARGUMENT] = "argument",
	[VPROF_ADDRESS_INITIALIZER] = "initializer",
	[VPROF_ADDRESS_ASSIGNED] = "assignment",
};

static int function_fits(const struct vprof_facts_function *f, const char *key, const char *value)
{
	size_t n = strlen(value);

	if (!strcmp(key, "reason"))
		return !strcmp(f->reason, value) && f->instrumentable == !*value;
	if (!strcmp(key, "tiny"))
		return equals_number(value, f->is_tiny);
	if (!strcmp(key, "static"))
		return equals_number(value, f->is_static);
	if (!strcmp(key, "kind"))
		return !strcmp(return_kinds[f->return_kind], value);
	if (!strcmp(key, "returns"))
		return !strcmp(f->returns, value);
	if (!strcmp(key, "signature"))
		return !strcmp(f->signature, value);
	if (!strcmp(key, "display"))
		return !strcmp(f->display, value);
	if (!strcmp(key, "after"))
		return f->body_begin >= (int64_t)n && !memcmp(source.s + f->body_begin - n, value, n);
	if (!strcmp(key, "exits"))
		return equals_number(value, sql_number("SELECT count(*) FROM exit_site WHERE function = ?", f->id));
	if (!strcmp(key, "editable"))
		return equals_number(value,
				     sql_number("SELECT sum(editable) FROM exit_site WHERE function = ?", f->id));
	printf("unknown key %s\n", key);
	return 0;
}

static int call_fits(const struct vprof_facts_call *c, const char *key, const char *value)
{
	static const char *const forms[] = { "statement", "value", "reference", "void", "scope" };
	static const char *const kinds[] = { "direct", "pointer", "virtual", "construct", "destroy" };

	if (!strcmp(key, "kind"))
		return !strcmp(kinds[c->kind], value);
	if (!strcmp(key, "wrappable"))
		return equals_number(value, c->wrappable);
	if (!strcmp(key, "form"))
		return c->wrappable && !strcmp(forms[c->form], value);
	if (!strcmp(key, "reason"))
		return !strcmp(c->reason, value);
	if (!strcmp(key, "loop"))
		return equals_number(value, c->in_loop);
	if (!strcmp(key, "args"))
		return !strcmp(c->args, value);
	if (!strcmp(key, "signature"))
		return !strcmp(c->signature, value);
	if (!strcmp(key, "text"))
		return c->begin < 0 ? !*value :
				      (size_t)(c->end - c->begin) == strlen(value) &&
					      !memcmp(source.s + c->begin, value, strlen(value));
	printf("unknown key %s\n", key);
	return 0;
}

static int address_fits(const struct vprof_facts_address *a, const char *key, const char *value)
{
	if (!strcmp(key, "how"))
		return !strcmp(address_uses[a->use], value);
	if (!strcmp(key, "target"))
		return !strcmp(a->target, value);
	if (!strcmp(key, "arg"))
		return equals_number(value, a->arg);
	if (!strcmp(key, "signature"))
		return !strcmp(a->signature, value);
	printf("unknown key %s\n", key);
	return 0;
}

static int guarded_fits(const struct vprof_facts_guarded *g, const char *key, const char *value)
{
	if (!strcmp(key, "state"))
		return !strcmp(g->is_locked ? "locked" : "entry", value);
	if (!strcmp(key, "type"))
		return !strcmp(g->type, value);
	if (!strcmp(key, "value"))
		return !strcmp(g->value, value);
	printf("unknown key %s\n", key);
	return 0;
}

/* Walks "key=value" words; `count` is told apart. */
#define ALL_FIT(row, fits, words, n, count)                                                                            \
	({                                                                                                             \
		int all = 1;                                                                                           \
		for (int w_ = 0; all && w_ < (n); w_++) {                                                              \
			char *eq_ = strchr((words)[w_], '=');                                                          \
			if (!eq_)                                                                                      \
				continue;                                                                              \
			*eq_ = 0;                                                                                      \
			if (!strcmp((words)[w_], "count"))                                                             \
				(count) = atoi(eq_ + 1);                                                               \
			else                                                                                           \
				all = fits(row, (words)[w_], eq_ + 1);                                                 \
			*eq_ = '=';                                                                                    \
		}                                                                                                      \
		all;                                                                                                   \
	})

static int is_function(const struct vprof_facts_function *f, const char *name)
{
	return !strcmp(f->name, name) || !strcmp(f->display, name);
}

static uint32_t node_of(const char *name)
{
	for (size_t i = 0; i < facts->n_functions; i++)
		if (is_function(&facts->functions[i], name))
			return (uint32_t)i;
	for (size_t i = facts->n_functions; i < graph->n_nodes; i++)
		if (!strcmp(graph->external_name[i - facts->n_functions], name))
			return (uint32_t)i;
	return UINT32_MAX;
}

static int has_edge(const char *from, const char *to)
{
	uint32_t a = node_of(from), b = node_of(to);

	if (a == UINT32_MAX || b == UINT32_MAX)
		return 0;
	for (uint32_t e = graph->first[a]; e < graph->first[a + 1]; e++)
		if (graph->edges[e] == b)
			return 1;
	return 0;
}

static void check_line(char *line, int number)
{
	char *words[WORDS_MAX] = { 0 }, *copy = strdup(line);
	int n = split(line, words), wanted = -1, found = 0;

	if (n < 2) {
		printf("line %d: an expectation needs more words\n", number);
		n_failed++;
		free(copy);
		return;
	}
	if (!strcmp(words[0], "function")) {
		for (size_t i = 0; i < facts->n_functions; i++)
			found += is_function(&facts->functions[i], words[1]) &&
				 ALL_FIT(&facts->functions[i], function_fits, words + 2, n - 2, wanted);
	} else if (!strcmp(words[0], "call") && n > 2) {
		for (size_t i = 0; i < facts->n_calls; i++)
			found += is_function(vprof_facts_function(facts, facts->calls[i].caller), words[1]) &&
				 !strcmp(facts->calls[i].callee, words[2]) &&
				 ALL_FIT(&facts->calls[i], call_fits, words + 3, n - 3, wanted);
	} else if (!strcmp(words[0], "address")) {
		for (size_t i = 0; i < facts->n_addresses; i++)
			found += !strcmp(facts->addresses[i].name, words[1]) &&
				 ALL_FIT(&facts->addresses[i], address_fits, words + 2, n - 2, wanted);
	} else if (!strcmp(words[0], "guarded") && n > 3) {
		static const char *const kinds[] = { "store", "load", "copy", "call" };

		for (size_t i = 0; i < facts->n_guarded; i++)
			found += is_function(vprof_facts_function(facts, facts->guarded[i].function), words[1]) &&
				 !strcmp(kinds[facts->guarded[i].kind], words[2]) &&
				 !strcmp(facts->guarded[i].object, words[3]) &&
				 ALL_FIT(&facts->guarded[i], guarded_fits, words + 4, n - 4, wanted);
	} else if (!strcmp(words[0], "edge") && n > 2) {
		found = has_edge(words[1], words[2]);
	} else if (!strcmp(words[0], "status")) {
		found = facts->n_tus == 1 && !strcmp(vprof_tu_status_name(facts->tus[0].status), words[1]);
	}
	if (wanted < 0)
		for (int i = 2; i < n; i++)
			if (!strncmp(words[i], "count=", 6))
				wanted = atoi(words[i] + 6);
	n_checked++;
	if (wanted >= 0 ? found != wanted : !found) {
		printf("line %d: %d rows fit: expect %s\n", number, found, copy);
		n_failed++;
	}
	free(copy);
}

static void dump(void)
{
	for (size_t i = 0; i < facts->n_functions; i++) {
		const struct vprof_facts_function *f = &facts->functions[i];

		printf("function %s (%s) line %d body %lld..%lld reason=%s tiny=%d kind=%s returns=%s signature=%s\n",
		       f->name, f->display, f->line, (long long)f->body_begin, (long long)f->body_end, f->reason,
		       f->is_tiny, return_kinds[f->return_kind], f->returns, f->signature);
	}
	for (size_t i = 0; i < facts->n_calls; i++) {
		const struct vprof_facts_call *c = &facts->calls[i];

		printf("call %s -> %s kind=%d %lld..%lld wrappable=%d reason=%s loop=%d args=%s\n",
		       vprof_facts_function(facts, c->caller)->display, c->callee, c->kind, (long long)c->begin,
		       (long long)c->end, c->wrappable, c->reason, c->in_loop, c->args);
	}
	for (size_t i = 0; i < facts->n_addresses; i++)
		printf("address %s how=%s target=%s arg=%d signature=%s\n", facts->addresses[i].name,
		       address_uses[facts->addresses[i].use], facts->addresses[i].target, facts->addresses[i].arg,
		       facts->addresses[i].signature);
	for (size_t i = 0; i < facts->n_guarded; i++)
		printf("guarded %s kind=%d %s (%s) type=%s locked=%d value=%s\n",
		       vprof_facts_function(facts, facts->guarded[i].function)->display, facts->guarded[i].kind,
		       facts->guarded[i].object, facts->guarded[i].usr, facts->guarded[i].type,
		       facts->guarded[i].is_locked, facts->guarded[i].value);
	for (size_t i = 0; i < facts->n_tus; i++)
		printf("unit %s %s\n", vprof_tu_status_name(facts->tus[i].status), facts->tus[i].diagnostics);
}

static int scan(const char *scanner, const char *path, const char *folder, struct vprof_error *err)
{
	struct vprof_text command = VPROF_TEXT_INIT, database = VPROF_TEXT_INIT;
	char *root = dirname(strdup(path)), *flags = strstr(source.s, "@flags "), *json;
	int rc;

	vprof_text_addf(&database, "[{\"directory\": \"%s\", \"file\": \"%s\", \"command\": \"%s %.*s -c %s -o t.o\"}]",
			root, path, strstr(path, ".cpp") ? "g++" : "gcc", flags ? (int)strcspn(flags + 7, "\n*") : 0,
			flags ? flags + 7 : "", path);
	json = vprof_path_join(folder, "compile_commands.json");
	rc = vprof_file_write(json, database.s, database.len, err);
	vprof_text_addf(&command, "'%s' --root '%s' --facts '%s/facts.db' '%s' > /dev/null", scanner, root, folder,
			json);
	if (!rc && system(command.s))
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "%s failed", command.s);
	vprof_text_release(&command);
	vprof_text_release(&database);
	free(json);
	free(root);
	return rc;
}

static int compare(const char *folder, struct vprof_error *err)
{
	struct vprof_facts *f = NULL;
	struct vprof_callgraph *g = NULL;
	char *path = vprof_path_join(folder, "facts.db");
	int number = 1, rc = vprof_facts_open(&f, path, err);

	if (!rc)
		rc = vprof_callgraph_build(&g, f, err);
	if (!rc) {
		facts = f;
		graph = g;
		sqlite3_open(path, &db);
		for (char *line = source.s; *line; number++) {
			char *end = strchrnul(line, '\n'), *mark, *text = strndup(line, (size_t)(end - line));

			mark = strstr(text, "// expect ");
			if (mark)
				check_line(mark + 10, number);
			line = *end ? end + 1 : end;
			free(text);
		}
		if (n_failed || getenv("VPROF_DUMP"))
			dump();
		sqlite3_close(db);
	}
	vprof_callgraph_free(g);
	vprof_facts_free(f);
	free(path);
	return rc;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/vprof-scan-XXXXXX";
	struct vprof_error err = { "" };
	int rc;

	if (argc != 3 || !mkdtemp(folder))
		return 2;
	rc = vprof_file_read(argv[2], &source, &err);
	if (!rc)
		rc = scan(argv[1], argv[2], folder, &err);
	if (!rc)
		rc = compare(folder, &err);
	if (rc)
		printf("%s\n", err.message);
	if (!rc && !n_checked)
		printf("%s has no expectation\n", argv[2]);
	vprof_dir_remove(folder, NULL);
	vprof_text_release(&source);
	return rc || n_failed || !n_checked;
}
