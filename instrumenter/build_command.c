/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See build_command.h. It understands only what determines inputs, output and step; every other option passes through
 * unchanged. The list of options with a separate argument covers the gcc and clang drivers, so that such an argument is
 * never mistaken for an input.
 */
#define _GNU_SOURCE
#include "instrumenter/build_command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/text.h"

static int in_list(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (!strcmp(*list, word))
			return 1;
	return 0;
}

int vprof_is_compiler_prefix(const char *program)
{
	static const char *const names[] = { "ccache", "distcc", "sccache", "icecc", NULL };

	return in_list(names, vprof_path_name(program));
}

int vprof_is_compiler(const char *program)
{
	static const char *const names[] = { "cc",  "c++", "gcc",  "g++",   "clang",  "clang++", "c89",
					     "c99", "icx", "icpx", "mpicc", "mpicxx", "mpic++",	 NULL };
	const char *base = vprof_path_name(program), *dash;
	char name[64];
	size_t n = strlen(base);

	while (n && (isdigit((unsigned char)base[n - 1]) || base[n - 1] == '.'))
		n--;
	if (n && base[n - 1] == '-' && base[n])
		n--;
	else
		n = strlen(base);
	if (n >= sizeof name)
		return 0;
	memcpy(name, base, n);
	name[n] = 0;
	if (in_list(names, name))
		return 1;
	dash = strrchr(name, '-'); /* aarch64-linux-gnu-gcc; but not x86_64-linux-gnu-gcc-ar */
	return dash && in_list(names, dash + 1);
}

int vprof_option_takes_word(const char *option)
{
	static const char *const options[] = { "-o",
					       "-I",
					       "-D",
					       "-U",
					       "-L",
					       "-l",
					       "-x",
					       "-u",
					       "-z",
					       "-e",
					       "-T",
					       "-B",
					       "-A",
					       "-G",
					       "-h",
					       "-include",
					       "-imacros",
					       "-isystem",
					       "-iquote",
					       "-idirafter",
					       "-iprefix",
					       "-iwithprefix",
					       "-iwithprefixbefore",
					       "-isysroot",
					       "-imultilib",
					       "-cxx-isystem",
					       "-MF",
					       "-MT",
					       "-MQ",
					       "-MJ",
					       "-arch",
					       "-target",
					       "--target",
					       "-Xlinker",
					       "-Xassembler",
					       "-Xpreprocessor",
					       "-Xclang",
					       "-mllvm",
					       "--param",
					       "-aux-info",
					       "-wrapper",
					       "-framework",
					       "-dumpbase",
					       "-dumpbase-ext",
					       "-dumpdir",
					       "--output",
					       "--sysroot",
					       "-gcc-toolchain",
					       "-soname",
					       "-rpath",
					       "-version-info",
					       "-include-pch",
					       "-Xopenmp-target",
					       "-dynamic-linker",
					       NULL };

	return in_list(options, option);
}

/* 1: C or C++, 0: anything else; `language` is that of the last -x, or NULL. */
static int is_source(const char *path, const char *language)
{
	static const char *const suffixes[] = { ".c",	".cc", ".cp", ".cxx", ".cpp", ".CPP",
						".c++", ".C",  ".i",  ".ii",  NULL };
	const char *dot = strrchr(vprof_path_name(path), '.');

	if (language && strcmp(language, "none"))
		return !strcmp(language, "c") || !strcmp(language, "c++") || !strcmp(language, "cpp-output") ||
		       !strcmp(language, "c++-cpp-output");
	return dot && in_list(suffixes, dot);
}

static int ends_before_objects(const char *word)
{
	static const char *const words[] = { "-E",	  "-S",		  "-M",		  "-MM",	"-fsyntax-only",
					     "--version", "-dumpversion", "-dumpmachine", "-dumpspecs", "-###",
					     "--help",	  "-cc1",	  "-emit-llvm",	  NULL };

	return in_list(words, word) || !strncmp(word, "-print-", 7) || !strncmp(word, "--print-", 8);
}

static void take_input(struct vprof_command *c, size_t i, const char *language)
{
	if (is_source(c->argv[i], language))
		c->sources[c->n_sources++] = i;
	else
		c->inputs[c->n_inputs++] = i;
}

static int set_output(struct vprof_command *c, const char *path)
{
	free(c->output);
	c->output = strdup(path);
	return c->output ? 0 : -1;
}

static int classify(struct vprof_command *c)
{
	const char *language = NULL;
	int other = 0, compile = 0, failed = 0;

	for (size_t i = c->compiler + 1; i < c->n; i++) {
		const char *word = c->argv[i], *next = i + 1 < c->n ? c->argv[i + 1] : NULL;

		if (word[0] != '-' || !word[1]) {
			take_input(c, i, language);
			continue;
		}
		if (!strcmp(word, "-c"))
			compile = 1;
		else if (ends_before_objects(word))
			other = 1;
		else if ((!strcmp(word, "-o") || !strcmp(word, "--output")) && next)
			failed |= set_output(c, next);
		else if (!strncmp(word, "-o", 2) && word[2] && strncmp(word, "-objc", 5))
			failed |= set_output(c, word + 2);
		else if (!strncmp(word, "--output=", 9))
			failed |= set_output(c, word + 9);
		else if (!strcmp(word, "-x") && next)
			language = next;
		else if (!strncmp(word, "-x", 2) && word[2])
			language = word + 2;
		if (vprof_option_takes_word(word))
			i++;
	}
	c->step = other ? VPROF_STEP_OTHER : compile ? VPROF_STEP_COMPILE : VPROF_STEP_LINK;
	return failed ? -1 : 0;
}

int vprof_command_parse(struct vprof_command *out, const char *const *argv, size_t n, struct vprof_error *err)
{
	memset(out, 0, sizeof *out);
	out->argv = calloc(n + 1, sizeof *out->argv);
	out->sources = calloc(n + 1, sizeof *out->sources);
	out->inputs = calloc(n + 1, sizeof *out->inputs);
	if (!out->argv || !out->sources || !out->inputs)
		return vprof_error_no_memory(err);
	for (; out->n < n; out->n++)
		if (!(out->argv[out->n] = strdup(argv[out->n])))
			return vprof_error_no_memory(err);
	while (out->compiler < n && vprof_is_compiler_prefix(argv[out->compiler]))
		out->compiler++;
	if (out->compiler >= n || !argv[out->compiler][0])
		return vprof_error_set(err, VPROF_ERR_INPUT, "a compile command without a compiler: %s",
				       n ? argv[0] : "(empty)");
	if (classify(out))
		return vprof_error_no_memory(err);
	return VPROF_OK;
}

int vprof_command_parse_json(struct vprof_command *out, const cJSON *array, struct vprof_error *err)
{
	int n = cJSON_IsArray(array) ? cJSON_GetArraySize(array) : 0, i = 0, rc;
	const char **argv = calloc((size_t)n + 1, sizeof *argv);
	const cJSON *word;

	memset(out, 0, sizeof *out);
	if (!argv)
		return vprof_error_no_memory(err);
	cJSON_ArrayForEach(word, array)
	{
		if (!cJSON_IsString(word)) {
			free(argv);
			return vprof_error_set(err, VPROF_ERR_INPUT,
					       "a compile command contains something that is not a string");
		}
		argv[i++] = word->valuestring;
	}
	rc = vprof_command_parse(out, argv, (size_t)n, err);
	free(argv);
	return rc;
}

void vprof_command_release(struct vprof_command *c)
{
	for (size_t i = 0; c->argv && i < c->n; i++)
		free(c->argv[i]);
	free(c->argv);
	free(c->output);
	free(c->sources);
	free(c->inputs);
	memset(c, 0, sizeof *c);
}

/* One word of `text` from *at; 1: a word, 0: the end, -1: an open quote. */
static int next_word(const char **at, struct vprof_text *word)
{
	const char *p = *at;
	char quote = 0;

	while (isspace((unsigned char)*p))
		p++;
	if (!*p)
		return 0;
	for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
		if (quote == '\'') {
			if (*p == '\'')
				quote = 0;
			else
				vprof_text_append(word, p, 1);
		} else if (*p == '\\' && p[1]) {
			if (quote && !strchr("\"\\$`\n", p[1]))
				vprof_text_append(word, p, 1);
			if (*++p != '\n')
				vprof_text_append(word, p, 1);
		} else if (quote && *p == quote) {
			quote = 0;
		} else if (!quote && (*p == '"' || *p == '\'')) {
			quote = *p;
		} else {
			vprof_text_append(word, p, 1);
		}
	}
	*at = p;
	return quote ? -1 : 1;
}

char **vprof_words_split(const char *text, size_t *n)
{
	char **words = calloc(1, sizeof *words), **grown;
	int more;

	for (*n = 0; words;) {
		struct vprof_text word = VPROF_TEXT_INIT;

		more = next_word(&text, &word);
		if (!more)
			return words;
		grown = more > 0 && !word.failed ? realloc(words, (*n + 2) * sizeof *words) : NULL;
		if (grown) {
			words = grown;
			words[*n] = word.len ? vprof_text_detach(&word) : strdup("");
			words[*n + 1] = NULL;
		}
		vprof_text_release(&word);
		if (!grown || !words[*n]) {
			vprof_words_free(words);
			return NULL;
		}
		++*n;
	}
	return NULL;
}

void vprof_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

char *vprof_default_output(const struct vprof_command *c, size_t source)
{
	const char *base = vprof_path_name(c->argv[source]), *dot = strrchr(base, '.');
	size_t n = dot ? (size_t)(dot - base) : strlen(base);
	char *out;

	if (c->step == VPROF_STEP_LINK)
		return strdup("a.out");
	out = malloc(n + 3);
	if (!out)
		return NULL;
	memcpy(out, base, n);
	memcpy(out + n, ".o", 3);
	return out;
}

int vprof_command_is_clang(const struct vprof_command *c)
{
	return strstr(vprof_path_name(c->argv[c->compiler]), "clang") != NULL;
}
