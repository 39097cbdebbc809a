/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A compiler's command line, taken apart: what it compiles, to where, and whether it links.
 *
 * Used to read what a build ran (observe*.c) and to run it again from shadow sources (replay*.c). Understands the
 * gcc and clang drivers, also behind ccache, distcc, sccache and icecc, with target prefixes and version suffixes.
 */
#ifndef VPROF_BUILD_COMMAND_H
#define VPROF_BUILD_COMMAND_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "common/error.h"

enum vprof_compile_step {
	VPROF_STEP_OTHER,   /* -E, -S, -M, -fsyntax-only, --version: nothing that a link could use */
	VPROF_STEP_COMPILE, /* -c */
	VPROF_STEP_LINK,    /* no -c: compiles its sources, if any, and links */
};

struct vprof_command {
	char **argv; /* owned, NULL-terminated */
	size_t n;
	size_t compiler; /* argv[compiler] is the compiler itself, after ccache and the like */
	enum vprof_compile_step step;
	char *output;		    /* as given by -o, or NULL; owned */
	size_t *sources, n_sources; /* indices of C and C++ inputs; owned */
	size_t *inputs, n_inputs;   /* indices of all other inputs: objects, archives, assembler; owned */
};

/* Is this program (path or name) a C or C++ compiler driver, or a compiler cache in front of one? */
int vprof_is_compiler(const char *program);
int vprof_is_compiler_prefix(const char *program);

/* Takes a copy of the arguments. INPUT when argv holds no compiler. Release it also after an error. */
int vprof_command_parse(struct vprof_command *out, const char *const *argv, size_t n, struct vprof_error *err);
/* The same from a JSON array of strings. */
int vprof_command_parse_json(struct vprof_command *out, const cJSON *array, struct vprof_error *err);
int vprof_command_is_clang(const struct vprof_command *c); /* by its name */
void vprof_command_release(struct vprof_command *c);

/* Does the option argv[i] take the next word as its argument ("-I" "dir")? */
int vprof_option_takes_word(const char *option);

/* Splits as a POSIX shell does (quotes, backslashes; no expansions). NULL-terminated array on the heap, free each
 * word and the array with vprof_words_free; NULL when out of memory or when a quote is not closed. */
char **vprof_words_split(const char *text, size_t *n);
void vprof_words_free(char **words);

/* Where the compiler writes without -o: "dir/x.c" -> "x.o", a link -> "a.out". Heap string. */
char *vprof_default_output(const struct vprof_command *c, size_t source);

#endif
