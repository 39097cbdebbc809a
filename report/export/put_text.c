/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export/put_text.h"

#include <math.h>
#include <string.h>

#include "common/utf8.h"

void vprof_put_json(FILE *to, const char *s)
{
	s = s ? s : "";
	putc('"', to);
	while (*s) {
		size_t n = vprof_utf8_length(s);

		if (!n)
			fputs("\\ufffd", to);
		else if (*s == '"' || *s == '\\')
			fprintf(to, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			fprintf(to, "\\u%04x", (unsigned)*s);
		else
			fwrite(s, 1, n, to);
		s += n ? n : 1;
	}
	putc('"', to);
}

/* As few digits as tell the number from all others. */
static void put_number(FILE *to, double x)
{
	char digits[32];

	for (int precision = 6; precision <= 17; precision++) {
		double again;

		snprintf(digits, sizeof digits, "%.*g", precision, x);
		if (sscanf(digits, "%lf", &again) == 1 && again == x)
			break;
	}
	fputs(digits, to);
}

void vprof_put_json_number(FILE *to, double x)
{
	if (isfinite(x))
		put_number(to, x);
	else
		fputs("null", to);
}

void vprof_put_csv(FILE *to, const char *s)
{
	int is_quoted;

	s = s ? s : "";
	is_quoted = s[strcspn(s, ",\"\r\n")] != 0 || *s == ' ' || (*s && s[strlen(s) - 1] == ' ');
	if (is_quoted)
		putc('"', to);
	while (*s) {
		size_t n = vprof_utf8_length(s);

		if (*s == '"')
			putc('"', to);
		if (n)
			fwrite(s, 1, n, to);
		else
			fputs(VPROF_UTF8_REPLACEMENT, to);
		s += n ? n : 1;
	}
	if (is_quoted)
		putc('"', to);
}

void vprof_put_csv_number(FILE *to, double x)
{
	if (isfinite(x))
		put_number(to, x);
}

void vprof_put_plain(FILE *to, const char *s, const char *avoid, char instead)
{
	s = s ? s : "";
	while (*s) {
		size_t n = vprof_utf8_length(s);

		if (!n)
			fputs(VPROF_UTF8_REPLACEMENT, to);
		else if (n == 1 && ((unsigned char)*s < 0x20 || *s == 0x7f))
			putc('?', to);
		else if (n == 1 && strchr(avoid, *s))
			putc(instead, to);
		else
			fwrite(s, 1, n, to);
		s += n ? n : 1;
	}
}

void vprof_put_uri_path(FILE *to, const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

	for (path = path ? path : ""; *path; path++) {
		if (strchr(plain, *path))
			putc(*path, to);
		else
			fprintf(to, "%%%02X", (unsigned char)*path);
	}
}
