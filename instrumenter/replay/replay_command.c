/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorded command of a unit, changed so that it compiles the shadow sources, which should not show: except in
 * diagnostics, __FILE__ and debug information name the originals as the recorded command spelled them.
 *
 * - probe.h comes first (-include right after the compiler), vprof.h's folder last;
 * - every include folder of the project is preceded by its shadow, the original stays for generated files;
 * - edited sources are replaced by their shadow;
 * - dependency files and other by-products next to the output are left out: they belong to the original build; our own
 * list shows which originals of edited files were read (replay_deps.c);
 * - path prefixes are mapped from the general to the special, as gcc takes the last that fits.
 */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "instrumenter/replay/replay_deps.h"
#include "instrumenter/splice/splice_shadow.h"

struct words {
	char **v;
	size_t n, cap;
	int failed;
};

/* -ffile-prefix-map */
struct map {
	char *from, *to;
};

struct rewrite {
	const struct vprof_replayer *r;
	const struct vprof_unit *unit;
	struct words out;
	struct map *maps;
	size_t n_maps;
	int has_language; /* an -x came before */
};

static void take(struct words *w, char *word)
{
	if (!word)
		w->failed = 1;
	if (!w->failed && w->n + 1 >= w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 64;
		char **grown = realloc(w->v, cap * sizeof *grown);

		if (grown) {
			w->v = grown;
			w->cap = cap;
		} else {
			w->failed = 1;
		}
	}
	if (w->failed) {
		free(word);
		return;
	}
	w->v[w->n++] = word;
	w->v[w->n] = NULL;
}

static void add(struct words *w, const char *word)
{
	take(w, strdup(word));
}

static void add_joined(struct words *w, const char *option, const char *value)
{
	char *word = NULL;

	if (asprintf(&word, "%s%s", option, value) < 0)
		word = NULL;
	take(w, word);
}

static void add_map(struct rewrite *w, const char *from, const char *to)
{
	struct map *grown;

	if (strchr(from, '='))
		return;
	grown = realloc(w->maps, (w->n_maps + 1) * sizeof *grown);
	if (!grown) {
		w->out.failed = 1;
		return;
	}
	w->maps = grown;
	grown[w->n_maps].from = strdup(from);
	grown[w->n_maps].to = strdup(to);
	w->out.failed |= !grown[w->n_maps].from || !grown[w->n_maps].to;
	w->n_maps++;
}

/* The shadow of a path as the command spells it; NULL when it has none. */
static char *shadow_of(const struct rewrite *w, const char *spelled)
{
	char *absolute = vprof_path_rooted(w->r->facts->root, w->unit->tu->directory, spelled), *shadow = NULL;

	if (!absolute)
		return NULL;
	shadow = vprof_shadow_path(w->r->facts, w->r->shadow_dir, absolute);
	free(absolute);
	if (shadow && access(shadow, F_OK)) {
		free(shadow);
		shadow = NULL;
	}
	return shadow;
}

/* Options after which a probe could turn a warning into an error. Warnings were given by the build itself. */
static int is_strict(const char *word)
{
	return !strncmp(word, "-Werror", 7) || !strcmp(word, "-pedantic-errors") || !strcmp(word, "--pedantic-errors");
}

/* Is the code made when the program is linked? */
static int is_lto(const struct vprof_command *c)
{
	int is = 0;

	for (size_t i = c->compiler + 1; i < c->n; i++)
		is = strncmp(c->argv[i], "-flto", 5) ? is && strcmp(c->argv[i], "-fno-lto") : 1;
	return is;
}

/* A resident build (docs/design/live.md): what pairs twins and entries, and keeps the compiler from relying on what a
 * function does besides its calling convention. */
static void add_live(struct rewrite *w)
{
	static const char *const twins[] = { "-DVP_LIVE_TWINS", "-g", "-fpatchable-function-entry=5" };
	static const char *const gcc[] = { "-fno-ipa-stack-alignment", "-fno-ipa-icf", "-fno-ipa-ra" };
	const struct vprof_unit *unit = w->unit;
	int is_half = unit->half == VPROF_UNIT_PLAIN || unit->half == VPROF_UNIT_PROBED;

	add(&w->out, "-DVP_LIVE");
	if (unit->half == VPROF_UNIT_PLAIN)
		for (size_t i = 1; i < sizeof twins / sizeof *twins; i++)
			add(&w->out, twins[i]);
	if (unit->half == VPROF_UNIT_PROBED)
		add(&w->out, "-g0");
	if (unit->half == VPROF_UNIT_PROBED && unit->keeps_statics)
		add(&w->out, "-fkeep-static-functions"); /* twins of what only the other half does not inline */
	if (is_half && is_lto(&unit->command))
		add(&w->out, "-fno-lto");
	if (is_half)
		add(&w->out, unit->half == VPROF_UNIT_PLAIN ? "-DVP_LIVE_PLAIN" : "-DVP_LIVE_PROBED");
	for (size_t i = 0; is_half && i < sizeof gcc / sizeof *gcc; i++)
		add(&w->out, gcc[i]);
	if (unit->tu->lang != VPROF_LANG_C || unit->is_plain || is_half)
		return;
	for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
		add(&w->out, twins[i]);
	for (size_t i = 0; !vprof_command_is_clang(&unit->command) && i < sizeof gcc / sizeof *gcc; i++)
		add(&w->out, gcc[i]);
}

static int is_dropped(const char *word, size_t *words)
{
	static const char *const alone[] = { "-MD",
					     "-MMD",
					     "-MP",
					     "-MG",
					     "-gsplit-dwarf",
					     "-fstack-usage",
					     "-Winvalid-pch",
					     "--coverage",
					     "-coverage",
					     "-ftest-coverage",
					     "-fprofile-arcs",
					     "-fpreprocessed" };
	static const char *const prefixes[] = { "-Wp,-M", "-save-temps", "--save-temps", "-fdump-", "-fcallgraph-info",
						"-Wa,-a", "-MF",	 "-MT",		 "-MQ",	    "-MJ" };

	*words = 1;
	for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
		if (!strcmp(word, alone[i]))
			return 1;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		if (strncmp(word, prefixes[i], strlen(prefixes[i])))
			continue;
		if (i >= 6 && !word[3])
			*words = 2;
		return 1;
	}
	if (!strcmp(word, "-o") || !strcmp(word, "--output")) {
		*words = 2;
		return 1;
	}
	return !strncmp(word, "--output=", 9) || (!strncmp(word, "-o", 2) && strncmp(word, "-objc", 5));
}

/* An option that names a folder or file to read: its length when `word` starts with it, else 0. */
static size_t path_option(const char *word)
{
	static const char *const options[] = { "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I" };

	for (size_t i = 0; strcmp(word, "-include-pch") && i < sizeof options / sizeof *options; i++)
		if (!strncmp(word, options[i], strlen(options[i])))
			return strlen(options[i]);
	return 0;
}

/* -I and its like at argv[*i]. Folders: shadow, then original. Files (-include): the shadow only, when there is one. */
static void add_path_option(struct rewrite *w, size_t *i, size_t n_option)
{
	const struct vprof_command *c = &w->unit->command;
	const char *word = c->argv[*i];
	int separate = !word[n_option];
	const char *value = separate ? (*i + 1 < c->n ? c->argv[*i + 1] : "") : word + n_option;
	int is_file = !strncmp(word, "-include", 8) || !strncmp(word, "-imacros", 8);
	char option[16], *shadow = value[0] && value[0] != '=' ? shadow_of(w, value) : NULL;

	memcpy(option, word, n_option);
	option[n_option] = 0;
	if (shadow) {
		if (separate) {
			add(&w->out, option);
			add(&w->out, shadow);
		} else {
			add_joined(&w->out, option, shadow);
		}
		add_map(w, shadow, value);
	}
	if (!shadow || !is_file) {
		add(&w->out, word);
		if (separate && *i + 1 < c->n)
			add(&w->out, value);
	}
	*i += separate;
	free(shadow);
}

/* A preprocessed source is preprocessed once more, for probe.h's macros; that does not change text that is expanded
 * already. */
static const char *language_again(const char *source)
{
	const char *dot = strrchr(source, '.');

	return dot && !strcmp(dot, ".i") ? "c" : dot && !strcmp(dot, ".ii") ? "c++" : NULL;
}

/* A source at argv[i]: its shadow, and the maps that give it and its neighbours their spelled names. */
static void add_source(struct rewrite *w, size_t i)
{
	const char *spelled = w->unit->command.argv[i];
	char *shadow = shadow_of(w, spelled);
	const char *slash = strrchr(spelled, '/'), *language = language_again(spelled);
	char *dir, *dir_spelled;

	if (language && !w->has_language) {
		add(&w->out, "-x");
		add(&w->out, language);
	}
	if (!shadow) {
		add(&w->out, spelled);
		return;
	}
	add(&w->out, shadow);
	dir = strndup(shadow, (size_t)(strrchr(shadow, '/') + 1 - shadow));
	dir_spelled = strndup(spelled, slash ? (size_t)(slash + 1 - spelled) : 0);
	if (dir && dir_spelled) {
		add_map(w, dir, dir_spelled);
		add_map(w, shadow, spelled);
	} else {
		w->out.failed = 1;
	}
	free(dir);
	free(dir_spelled);
	free(shadow);
}

static void add_language(struct rewrite *w, const char *language)
{
	add(&w->out, "-x");
	add(&w->out, !strcmp(language, "cpp-output") ? "c" : !strcmp(language, "c++-cpp-output") ? "c++" : language);
	w->has_language = strcmp(language, "none") != 0;
}

static int by_length(const void *a, const void *b)
{
	size_t n = strlen(((const struct map *)a)->from), m = strlen(((const struct map *)b)->from);

	return n < m ? -1 : n > m;
}

static void add_maps(struct rewrite *w)
{
	if (!w->out.failed)
		qsort(w->maps, w->n_maps, sizeof *w->maps, by_length);
	for (size_t i = 0; i < w->n_maps; i++) {
		char *word = NULL;

		if (w->out.failed || asprintf(&word, "-ffile-prefix-map=%s=%s", w->maps[i].from, w->maps[i].to) < 0)
			w->out.failed = 1;
		else
			take(&w->out, word);
		free(w->maps[i].from);
		free(w->maps[i].to);
	}
	free(w->maps);
}

static int has_word(const struct vprof_command *c, const char *const *wanted)
{
	for (size_t i = c->compiler + 1; i < c->n; i++)
		for (size_t k = 0; wanted[k]; k++)
			if (!strcmp(c->argv[i], wanted[k]))
				return 1;
	return 0;
}

/* Not a shared library, nor objects joined into one. */
static int links_program(const struct vprof_command *c)
{
	static const char *const others[] = { "-r", "-shared", "-Wl,-r", "-Wl,-shared", NULL };

	return c->step == VPROF_STEP_LINK && !has_word(c, others);
}

int vprof_links_statically(const struct vprof_command *c)
{
	static const char *const options[] = { "-static", "--static", "-static-pie", NULL };

	return links_program(c) && has_word(c, options);
}

static int unreadable(const char *path, struct vprof_error *err)
{
	return vprof_error_set(err, VPROF_ERR_MISSING,
			       "a program is to be linked with %s, which cannot be read. Install vprof again, or set "
			       "VPROF_LIBDIR to the folder that holds it",
			       path);
}

/* Behind the program's own libraries, before libc: its functions come first, those of a sanitizer before them. */
static int shared_link(const struct vprof_replayer *r, char *words[2], struct vprof_error *err)
{
	char *library = r->o->library_dir ? vprof_path_join(r->o->library_dir, "libvprof.so") : NULL;
	int rc = VPROF_OK;

	if (!library || asprintf(&words[0], "-Wl,--push-state,--no-as-needed,%s,--pop-state", library) < 0) {
		words[0] = NULL;
		rc = vprof_error_no_memory(err);
	} else if (asprintf(&words[1], "-Wl,-rpath,%s", r->o->library_dir) < 0) {
		words[1] = NULL;
		rc = vprof_error_no_memory(err);
	} else if (access(library, R_OK)) {
		rc = unreadable(library, err);
	}
	free(library);
	return rc;
}

int vprof_library_link(const struct vprof_replayer *r, const struct vprof_command *c, char *words[2],
		       struct vprof_error *err)
{
	words[0] = words[1] = NULL;
	if (r->state.links_library && links_program(c) && !vprof_links_statically(c))
		return shared_link(r, words, err);
	if (!vprof_links_statically(c))
		return VPROF_OK;
	words[0] = r->o->library_dir ? vprof_path_join(r->o->library_dir, "libvprof.a") : NULL;
	if (!words[0] || asprintf(&words[1], "-Wl,@%s/libvprof.wrap", r->o->library_dir) < 0) {
		words[1] = NULL;
		return vprof_error_no_memory(err);
	}
	return access(words[0], R_OK) ? unreadable(words[0], err) : VPROF_OK;
}

/* The words of a command, for vprof_words_free; NULL without memory. */
static char **finish(struct words *out)
{
	if (!out->failed)
		return out->v;
	vprof_words_free(out->v);
	return NULL;
}

/* The recorded command without by-products; with `sources` in the places of its own, unless that is NULL. */
static void add_recorded(struct words *out, const struct vprof_command *c, const char *const *sources)
{
	size_t source = 0, n;

	for (size_t i = 0; i < c->n; i++) {
		if (sources && source < c->n_sources && c->sources[source] == i) {
			add(out, sources[source++]);
			continue;
		}
		if (i > c->compiler && c->argv[i][0] == '-' && is_dropped(c->argv[i], &n)) {
			i += n - 1;
			continue;
		}
		add(out, c->argv[i]);
		if (i > c->compiler && vprof_option_takes_word(c->argv[i]) && i + 1 < c->n)
			add(out, c->argv[++i]);
	}
}

static void add_library(struct words *out, const struct vprof_replayer *r, const struct vprof_command *c)
{
	char *library[2];

	if (vprof_library_link(r, c, library, NULL))
		out->failed = 1;
	for (size_t i = 0; i < 2; i++)
		if (library[i])
			take(out, library[i]);
}

char **vprof_original_command(const struct vprof_unit *unit, const char *output)
{
	struct words out = { 0 };

	add_recorded(&out, &unit->command, NULL);
	add(&out, "-o");
	add(&out, output);
	return finish(&out);
}

/* Options that could make two assemblies of one unit differ in more than its probes, or that no assembly shows. */
static int is_apart(const char *word)
{
	static const char *const prefixes[] = { "-fsanitize",
						"-fprofile",
						"--coverage",
						"-fwhole-program",
						"-fauto-profile",
						"-fmodules",
						"-m32",
						"-mx32",
						"-S",
						"-E",
						"-fno-asynchronous",
						"-fdebug-types-section",
						"-finstrument",
						"-pg" };

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(word, prefixes[i], strlen(prefixes[i])))
			return 1;
	return 0;
}

static int has_assembly(const struct vprof_replayer *r, const struct vprof_unit *unit)
{
	const struct vprof_command *c = &unit->command;
	int compiles = 0;

#if !defined(__x86_64__)
	return 0;
#endif
	if (!r->plan || !r->plan->live || r->o->flows || unit->is_plain || unit->action == VPROF_UNIT_REVERT ||
	    c->step != VPROF_STEP_COMPILE || c->n_sources != 1 || c->n_inputs || vprof_command_is_clang(c))
		return 0;
	for (size_t i = c->compiler + 1; i < c->n; i++) {
		if (is_apart(c->argv[i]))
			return 0;
		compiles |= !strcmp(c->argv[i], "-c");
	}
	return compiles;
}

/* The address of a label that leaves its function is one of either copy, and the other may be asked for it. */
static int gives_labels_away(const struct vprof_facts *facts, const struct vprof_facts_tu *tu)
{
	for (size_t i = 0; i < facts->n_functions; i++) {
		if (strcmp(facts->functions[i].twin, "label") != 0)
			continue;
		for (size_t k = 0; k < tu->n_files; k++)
			if (tu->files[k] == facts->functions[i].file)
				return 1;
	}
	return 0;
}

int vprof_can_merge(const struct vprof_replayer *r, const struct vprof_unit *unit)
{
	return has_assembly(r, unit) && !gives_labels_away(r->facts, unit->tu) &&
	       (unit->tu->lang == VPROF_LANG_CXX || !is_lto(&unit->command));
}

int vprof_can_spare(const struct vprof_replayer *r, const struct vprof_unit *unit)
{
	return unit->tu->lang == VPROF_LANG_C && has_assembly(r, unit) && !is_lto(&unit->command);
}

/* Words of a compiling link that are the linker's alone, or that name other inputs: how many at argv[i]. */
static size_t links_only(const struct vprof_command *c, size_t i)
{
	const char *word = c->argv[i];
	size_t n = 1;

	if (word[0] == '-' && is_dropped(word, &n))
		return n;
	if (!strcmp(word, "-Xlinker") || !strncmp(word, "-l", 2) || !strncmp(word, "-L", 2) ||
	    !strncmp(word, "-Wl,", 4))
		return vprof_option_takes_word(word) ? 2 : 1;
	for (size_t k = 0; k < c->n_sources + c->n_inputs; k++)
		if (i == (k < c->n_sources ? c->sources[k] : c->inputs[k - c->n_sources]))
			return 1;
	return 0;
}

int vprof_part_command(const struct vprof_unit *unit, size_t source, struct vprof_command *out, struct vprof_error *err)
{
	const struct vprof_command *c = &unit->command;
	struct words w = { 0 };
	size_t n;
	int rc;

	for (size_t i = 0; i < c->n; i++) {
		if (i > c->compiler && i != c->sources[source] && (n = links_only(c, i))) {
			i += n - 1;
			continue;
		}
		add(&w, c->argv[i]);
		if (i == c->compiler)
			add(&w, "-c");
		if (i > c->compiler && vprof_option_takes_word(c->argv[i]) && i + 1 < c->n)
			add(&w, c->argv[++i]);
	}
	rc = w.failed ? vprof_error_no_memory(err) : vprof_command_parse(out, (const char *const *)w.v, w.n, err);
	vprof_words_free(w.v);
	return rc;
}

int vprof_has_parts(const struct vprof_replayer *r, const struct vprof_unit *unit)
{
	const struct vprof_command *c = &unit->command;

	if (!r->plan || !r->plan->live || r->o->flows || unit->action == VPROF_UNIT_REVERT ||
	    c->step != VPROF_STEP_LINK || !c->n_sources)
		return 0;
	for (size_t i = c->compiler + 1; i < c->n; i++)
		if (!strncmp(c->argv[i], "-x", 2) || c->argv[i][0] == '@')
			return 0; /* a language for what follows; words that are not seen here */
	return 1;
}

char **vprof_join_command(const struct vprof_replayer *r, const struct vprof_unit *unit, const char *const *objects)
{
	struct words out = { 0 };

	add_recorded(&out, &unit->command, objects);
	add(&out, "-o");
	add(&out, unit->made);
	add_library(&out, r, &unit->command);
	return finish(&out);
}

char **vprof_assemble_command(const struct vprof_unit *unit, const char *assembly, const char *output)
{
	const struct vprof_command *c = &unit->command;
	struct words out = { 0 };

	for (size_t i = 0; i <= c->compiler; i++)
		add(&out, c->argv[i]);
	for (size_t i = c->compiler + 1; i < c->n; i++)
		if (!strncmp(c->argv[i], "-m", 2) || !strncmp(c->argv[i], "-Wa,", 4) || !strncmp(c->argv[i], "-gz", 3))
			add(&out, c->argv[i]);
	add(&out, "-c");
	add(&out, "-o");
	add(&out, output);
	add(&out, assembly);
	return finish(&out);
}

char **vprof_replay_command(const struct vprof_replayer *r, const struct vprof_unit *unit, const char *output)
{
	const struct vprof_command *c = &unit->command;
	struct rewrite w = { .r = r, .unit = unit };
	size_t source = 0, n;

	for (size_t i = 0; i <= c->compiler; i++)
		add(&w.out, c->argv[i]);
	add(&w.out, "-include");
	add(&w.out, r->o->probe_header);
	add_map(&w, r->shadow_dir, r->facts->root);
	for (size_t i = c->compiler + 1; i < c->n; i++) {
		const char *word = c->argv[i];

		if (source < c->n_sources && c->sources[source] == i) {
			add_source(&w, i);
			source++;
		} else if (word[0] == '-' && is_dropped(word, &n)) {
			i += n - 1;
		} else if (is_strict(word)) {
			continue;
		} else if (word[0] == '-' && (n = path_option(word))) {
			add_path_option(&w, &i, n);
		} else if (!strcmp(word, "-x") && i + 1 < c->n) {
			add_language(&w, c->argv[++i]);
		} else if (unit->half && !strcmp(word, "-c")) {
			add(&w.out, "-S");
		} else {
			add(&w.out, word);
			if (vprof_option_takes_word(word) && i + 1 < c->n)
				add(&w.out, c->argv[++i]);
		}
	}
	add(&w.out, "-w");
	if (r->plan && r->plan->live)
		add_live(&w);
	add_maps(&w);
	add_joined(&w.out, "-I", r->o->include_dir);
	if (c->n_sources) {
		add(&w.out, "-MD");
		add(&w.out, "-MT");
		add(&w.out, "made");
		add(&w.out, "-MF");
		take(&w.out, vprof_deps_path(unit->half ? unit->made : output));
	}
	add(&w.out, "-o");
	add(&w.out, output);
	add_library(&w.out, r, c);
	return finish(&w.out);
}
