/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command's options: one table gives the parsing and the --help text.
 *
 *   struct vprof_option options[] = {
 *           { "k", VPROF_OPTION_COUNT, &k, "N", "factors chosen in a round (default 3)" },
 *           { NULL } };
 *   int status = vprof_options_parse(&usage, options, argc, argv, &operands);
 *   if (status >= 0) return status;
 *
 * "--name value" or "--name=value"; "-n" where only one option begins with n. `--` ends them; what follows is kept
 * apart (a command to run).
 */
#ifndef VPROF_OPTIONS_H
#define VPROF_OPTIONS_H

#include <stddef.h>

enum vprof_option_kind {
	VPROF_OPTION_FLAG,     /* int *: set to 1 */
	VPROF_OPTION_TEXT,     /* const char ** into argv */
	VPROF_OPTION_COUNT,    /* long *: 0 .. 1e9 */
	VPROF_OPTION_SHARE,    /* double *: 0 .. 1 */
	VPROF_OPTION_DURATION, /* double *: ns, above 0; given with its unit */
	VPROF_OPTION_WORDS,    /* struct vprof_option_words *: all words up to the next option; may be repeated */
};

#define VPROF_OPTION_WORDS_MAX 256
struct vprof_option_words {
	const char *v[VPROF_OPTION_WORDS_MAX]; /* into argv */
	size_t n;
};

struct vprof_option {
	const char *name; /* without the dashes; NULL ends the table */
	enum vprof_option_kind kind;
	void *value;
	const char *argument; /* what --help calls the value */
	const char *help;
	char letter; /* its short form; 0: its first letter, if no other option begins so */
};

struct vprof_usage {
	const char *synopsis; /* after "vprof " */
	const char *purpose;
	const char *example; /* command lines, indented, that work in a project with a server.c and a load.sh */
	size_t max_operands;
	int takes_command; /* accepts "-- COMMAND" */
};

struct vprof_operands {
	char **words; /* into argv */
	size_t n_words;
	char **command;
	size_t n_command;
};

/* Negative: go on. Otherwise the exit status: 0 after --help, 2 after a usage error told on stderr. */
int vprof_options_parse(const struct vprof_usage *usage, const struct vprof_option *options, int argc, char **argv,
			struct vprof_operands *operands);

/* Tells a usage error and where help is; returns 2. */
int vprof_options_misused(const struct vprof_usage *usage, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* One shell command line on the heap: a single word is taken as it is, several are quoted. NULL: out of memory. */
char *vprof_options_shell(char **words, size_t n_words);

#endif
