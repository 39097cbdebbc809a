/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "common/nearest.h"
#include "common/text.h"

#define LOWER_CASE "abcdefghijklmnopqrstuvwxyz"

static const struct vprof_option *find(const struct vprof_option *options, const char *word, size_t n)
{
	for (const struct vprof_option *o = options; o->name; o++)
		if (strlen(o->name) == n && !memcmp(o->name, word, n))
			return o;
	return NULL;
}

/* Of every command: how its progress is told. */
static int is_quiet;
static const char *progress_form;
static const struct vprof_option everywhere[] = {
	{ "quiet", VPROF_OPTION_FLAG, &is_quiet, NULL, "tell nothing on standard error but errors" },
	{ "progress", VPROF_OPTION_TEXT, &progress_form, "FORM", "progress as text (default), json or none" },
	{ NULL },
};

static void print_option(const struct vprof_option *o)
{
	char left[64];

	snprintf(left, sizeof left, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
	printf("  %-26s %s\n", left, o->help);
}

static void print_help(const struct vprof_usage *usage, const struct vprof_option *options)
{
	printf("usage: vprof %s\n\n%s\n\n", usage->synopsis, usage->purpose);
	for (const struct vprof_option *o = options; o->name; o++)
		print_option(o);
	for (const struct vprof_option *o = everywhere; o->name; o++)
		if (!find(options, o->name, strlen(o->name)))
			print_option(o);
	printf("  %-26s %s\n\nexample:\n%s\n", "--help", "this text", usage->example);
}

/* The synopsis begins with the command's name, of one word or two: "report waits [RUN] ...". */
static int name_length(const char *synopsis)
{
	size_t n = strspn(synopsis, LOWER_CASE), more;

	if (synopsis[n] != ' ')
		return (int)n;
	more = strspn(synopsis + n + 1, LOWER_CASE);
	return (int)(more && (synopsis[n + 1 + more] == ' ' || !synopsis[n + 1 + more]) ? n + 1 + more : n);
}

int vprof_options_misused(const struct vprof_usage *usage, const char *fmt, ...)
{
	int name = name_length(usage->synopsis);
	va_list ap;

	fputs("vprof: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nusage: vprof %s\nSee: vprof %.*s --help\n", usage->synopsis, name, usage->synopsis);
	return VPROF_EXIT_USAGE;
}

/* "1.5ms" to ns; negative when it is none. */
static double parse_duration(const char *text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 },     { "us", 1e3 },	{ "ms", 1e6 },	 { "s", 1e9 },
		      { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 } };
	char *end;
	double value = strtod(text, &end);

	end += strspn(end, " ");
	for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++)
		if (!strcmp(end, units[i].unit) && value > 0 && value * units[i].ns < 1e18)
			return value * units[i].ns;
	return -1;
}

static int add_word(const struct vprof_usage *usage, const struct vprof_option *o, const char *word)
{
	struct vprof_option_words *words = o->value;

	if (words->n == VPROF_OPTION_WORDS_MAX)
		return vprof_options_misused(usage, "--%s takes at most %d words", o->name, VPROF_OPTION_WORDS_MAX);
	words->v[words->n++] = word;
	return -1;
}

static int set_value(const struct vprof_usage *usage, const struct vprof_option *o, char *text)
{
	char *end = NULL;
	double share, ns;
	long count;

	errno = 0;
	switch (o->kind) {
	case VPROF_OPTION_FLAG:
		*(int *)o->value = 1;
		return -1;
	case VPROF_OPTION_TEXT:
		*(const char **)o->value = text;
		return -1;
	case VPROF_OPTION_COUNT:
		count = strtol(text, &end, 10);
		if (errno || end == text || *end || count < 1 || count > 1000000000)
			return vprof_options_misused(usage, "--%s takes a whole number of 1 or more, not \"%s\"",
						     o->name, text);
		*(long *)o->value = count;
		return -1;
	case VPROF_OPTION_SHARE:
		share = strtod(text, &end);
		if (errno || end == text || *end || !(share >= 0 && share <= 1))
			return vprof_options_misused(
				usage, "--%s takes a share between 0 and 1 (0.02 is 2 %%), not \"%s\"", o->name, text);
		*(double *)o->value = share;
		return -1;
	case VPROF_OPTION_DURATION:
		ns = parse_duration(text);
		if (ns < 0)
			return vprof_options_misused(
				usage, "--%s takes a duration with its unit (5ms, 300us, 1.5s), not \"%s\"", o->name,
				text);
		*(double *)o->value = ns;
		return -1;
	case VPROF_OPTION_WORDS:
		return add_word(usage, o, text);
	}
	return -1;
}

/* "-p": the option that has this letter, else the only one that begins so. */
static const struct vprof_option *find_letter(const struct vprof_option *options, const char *word)
{
	const struct vprof_option *found = NULL;

	if (word[0] != '-' || !word[1] || word[1] == '-' || word[2])
		return NULL;
	for (const struct vprof_option *o = options; o->name; o++)
		if (o->letter == word[1])
			return o;
	for (const struct vprof_option *o = options; o->name; o++)
		if (o->name[0] == word[1]) {
			if (found)
				return NULL;
			found = o;
		}
	return found;
}

static int unknown(const struct vprof_usage *usage, const struct vprof_option *options, const char *word,
		   const char *written)
{
	char name[32];
	struct vprof_nearest nearest;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
	vprof_nearest_begin(&nearest, name, 0);
	for (const struct vprof_option *o = options; o->name; o++)
		vprof_nearest_offer(&nearest, o->name);
	for (const struct vprof_option *o = everywhere; o->name; o++)
		vprof_nearest_offer(&nearest, o->name);
	vprof_nearest_offer(&nearest, "help");
	if (!nearest.best)
		return vprof_options_misused(usage, "unknown option \"%s\"", written);
	return vprof_options_misused(usage, "unknown option \"%s\"; did you mean --%s?", written, nearest.best);
}

int vprof_options_parse(const struct vprof_usage *usage, const struct vprof_option *options, int argc, char **argv,
			struct vprof_operands *operands)
{
	memset(operands, 0, sizeof *operands);
	operands->words = argv + 1;
	for (int i = 1; i < argc; i++) {
		char *word = argv[i], *value = NULL;
		const struct vprof_option *o;
		int status;

		if (!strcmp(word, "--")) {
			if (!usage->takes_command)
				return vprof_options_misused(usage, "this command takes nothing after \"--\"");
			operands->command = argv + i + 1;
			operands->n_command = (size_t)(argc - i - 1);
			if (!operands->n_command)
				return vprof_options_misused(usage, "a command must follow \"--\"");
			break;
		}
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			print_help(usage, options);
			return VPROF_EXIT_OK;
		}
		if (word[0] != '-' || !word[1]) {
			if (operands->n_words == usage->max_operands)
				return vprof_options_misused(usage, "unexpected argument \"%s\"", word);
			operands->words[operands->n_words++] = word;
			continue;
		}
		word += word[1] == '-' ? 2 : 1;
		o = find(options, word, strcspn(word, "="));
		o = o ? o : find_letter(options, argv[i]);
		o = o || argv[i][1] != '-' ? o : find(everywhere, word, strcspn(word, "="));
		if (!o)
			return unknown(usage, options, word, argv[i]);
		value = strchr(word, '=');
		value = value ? value + 1 : NULL;
		if (o->kind == VPROF_OPTION_FLAG && value)
			return vprof_options_misused(usage, "--%s takes no value", o->name);
		if (o->kind != VPROF_OPTION_FLAG && !value) {
			if (i + 1 >= argc)
				return vprof_options_misused(usage, "--%s needs a value: %s", o->name, o->argument);
			value = argv[++i];
		}
		status = set_value(usage, o, value);
		while (status < 0 && o->kind == VPROF_OPTION_WORDS && i + 1 < argc && argv[i + 1][0] != '-')
			status = set_value(usage, o, argv[++i]);
		if (status >= 0)
			return status;
	}
	if (progress_form && !vprof_progress_choose(progress_form))
		return vprof_options_misused(usage, "--progress takes text, json or none, not \"%s\"", progress_form);
	if (is_quiet)
		vprof_progress_be_quiet();
	return -1;
}

char *vprof_options_shell(char **words, size_t n_words)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	if (n_words == 1)
		return strdup(words[0]);
	for (size_t i = 0; i < n_words; i++) {
		const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_-+=:,./";

		if (i)
			vprof_text_add(&t, " ");
		if (*words[i] && strspn(words[i], plain) == strlen(words[i])) {
			vprof_text_add(&t, words[i]);
			continue;
		}
		vprof_text_add(&t, "'");
		for (const char *s = words[i]; *s; s++) {
			if (*s == '\'')
				vprof_text_add(&t, "'\\''");
			else
				vprof_text_append(&t, s, 1);
		}
		vprof_text_add(&t, "'");
	}
	if (t.failed) {
		vprof_text_release(&t);
		return NULL;
	}
	return vprof_text_detach(&t);
}
