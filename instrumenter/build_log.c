/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See build_log.h. A command that mentions a file errors.c is not an error. */
#define _GNU_SOURCE
#include "instrumenter/build_log.h"

#include <string.h>

#define EXCERPT_MAX 1200

static int looks_like_error(const char *line, size_t n)
{
	static const char *const signs[] = {
		"rror:",     "ERROR",  "] Error ",	     "*** [", "undefined reference", "No such file",
		"not found", "FAILED", "multiple definition"
	};

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (memmem(line, n, signs[i], strlen(signs[i])))
			return 1;
	return 0;
}

static const char *last_lines(const char *output, int n)
{
	const char *p = output + strlen(output);

	while (p > output) {
		if (p[-1] == '\n' && p[0] && --n <= 0)
			break;
		p--;
	}
	return p;
}

static const char *first_error(const char *output)
{
	const char *before = output; /* the line "In function 'f':" comes before its first error */

	for (const char *p = output; *p;) {
		size_t n = strcspn(p, "\n");

		if (looks_like_error(p, n)) {
			size_t m = strcspn(before, "\n");

			return memmem(before, m, "In function", 11) || memmem(before, m, "In file included", 16) ?
				       before :
				       p;
		}
		before = p;
		p += n + (p[n] == '\n');
	}
	return NULL;
}

void vprof_build_excerpt(struct vprof_text *out, const char *output, int max_lines, const char *from, const char *to)
{
	const char *p = first_error(output);
	size_t begin = out->len, from_n = from ? strlen(from) : 0;

	if (!p)
		p = last_lines(output, max_lines);
	for (int line = 0; *p && line < max_lines; line++) {
		const char *end = p + strcspn(p, "\n");

		if (out->len - begin + (size_t)(end - p) > EXCERPT_MAX)
			break;
		vprof_text_add(out, "  ");
		while (p < end) {
			const char *hit = from_n ? memmem(p, (size_t)(end - p), from, from_n) : NULL;

			vprof_text_append(out, p, (size_t)((hit ? hit : end) - p));
			p = hit ? hit + from_n : end;
			if (hit)
				vprof_text_add(out, to);
		}
		vprof_text_add(out, "\n");
		p += *p == '\n';
	}
}

enum vprof_error_reason vprof_output_reason(const char *output)
{
	if (strstr(output, "failed for localhost")) /* gRPC's words, in bear */
		return VPROF_REASON_NO_LOCALHOST;
	return strstr(output, "No space left on device") ? VPROF_REASON_DISK_FULL : VPROF_REASON_NONE;
}
