/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that would be markup, close the page's elements, are no UTF-8, or are 10 kB long: what pages are made of in the
 * browser tests of kind hostile. */
#ifndef HOSTILE_NAMES_H
#define HOSTILE_NAMES_H

#include <stddef.h>
#include <string.h>

/* The i-th, over and over again. */
static inline const char *hostile_name(size_t i)
{
	static char long_name[10241];
	static const char *const names[] = {
		"<script>document.documentElement.dataset.pwned=1</script>",
		"\"><img src=x onerror=\"document.documentElement.dataset.pwned=1\">",
		"</script><script>document.documentElement.dataset.pwned=1</script>",
		"<!--",
		"-->",
		"'`${document.documentElement.dataset.pwned=1}`",
		"\xff\xfe not UTF-8 \xc3",
		"\xed\xa0\x80 surrogate",
		"a\001b\177c",
		"]]>&lt;&amp;",
		"\"] p0 e0 #e=1&all",
		"javascript:alert(1)",
		long_name,
	};

	if (!*long_name)
		memset(long_name, 'n', sizeof long_name - 1);
	return names[i % (sizeof names / sizeof *names)];
}

#endif
