/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/code/identifiers.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

int vprof_name_in(const char *name, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(name, list[i]))
			return 1;
	return 0;
}

const char *vprof_name_last(const char *name)
{
	const char *p, *last = name;

	for (p = name; (p = strstr(p, "::")); p += 2)
		last = p + 2;
	return last;
}

void vprof_name_normalise(char *out, size_t size, const char *name)
{
	const char *p = vprof_name_last(name);
	size_t n = 0;

	for (; *p && n + 1 < size; p++)
		if (isalnum((unsigned char)*p))
			out[n++] = (char)tolower((unsigned char)*p);
	out[n] = 0;
}

int vprof_name_has_part(const char *text, const char *const *words, size_t n)
{
	char lower[128];
	size_t i;

	vprof_name_normalise(lower, sizeof lower, text);
	for (i = 0; i < n; i++)
		if (strstr(lower, words[i]))
			return 1;
	return 0;
}

int vprof_name_has_word(const char *name, const char *word)
{
	size_t n = strlen(word);
	const char *p, *last = vprof_name_last(name);

	for (p = last; *p; p++) {
		if (strncasecmp(p, word, n) || islower((unsigned char)p[n]))
			continue;
		if (p == last || !isalpha((unsigned char)p[-1]) ||
		    (islower((unsigned char)p[-1]) && isupper((unsigned char)*p)))
			return 1;
	}
	return 0;
}

int vprof_name_sounds_like_request(const char *text)
{
	static const char *const words[] = { "conn", "client", "req",	"session",     "job",	"task",
					     "item", "sock",   "query", "work",	       "msg",	"message",
					     "stmt", "peer",   "txn",	"transaction", "packet" };

	return vprof_name_has_part(text, words, VPROF_LENGTH(words));
}

int vprof_name_count_work_words(const char *name)
{
	static const char *const words[] = { "process", "handle",  "request",  "query", "serve",
					     "execute", "command", "dispatch", "drive", "transaction",
					     "perform", "message", "packet" };
	int n = 0;
	size_t i;

	for (i = 0; i < VPROF_LENGTH(words) && n < 2; i++)
		n += vprof_name_has_part(name, &words[i], 1);
	return n;
}

int vprof_expression_mentions(const char *text, const char *word)
{
	size_t n = strlen(word);
	const char *p;

	for (p = text; n && (p = strstr(p, word)); p++)
		if ((p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_')) &&
		    !(isalnum((unsigned char)p[n]) || p[n] == '_'))
			return 1;
	return 0;
}
