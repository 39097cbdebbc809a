/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/format_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

struct vprof_value vprof_format_duration(double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {
		{ 1e9, "s" },
		{ 1e6, "ms" },
		{ 1e3, "us" },
		{ 1, "ns" },
	};
	struct vprof_value v;
	double scaled, size = fabs(ns);
	size_t i = 0;
	int decimals;

	if (!isfinite(ns)) {
		strcpy(v.s, "-");
		return v;
	}
	if (size < 5e-4)
		ns = size = 0;
	while (i < 3 && size < units[i].ns * 0.9995)
		i++;
	scaled = ns / units[i].ns;
	size = fabs(scaled);
	decimals = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : 2;
	if (size >= 1e15)
		snprintf(v.s, sizeof v.s, "%.3g %s", scaled, units[i].unit);
	else
		snprintf(v.s, sizeof v.s, "%.*f %s", decimals, scaled, units[i].unit);
	return v;
}

struct vprof_value vprof_format_percent(double share)
{
	struct vprof_value v;
	double percent = share * 100;

	if (!isfinite(share) || fabs(percent) > 1e12)
		strcpy(v.s, "-");
	else if (fabs(percent) < 0.95 && fabs(percent) >= 0.05)
		snprintf(v.s, sizeof v.s, "%.1f %%", percent);
	else
		snprintf(v.s, sizeof v.s, "%.0f %%", percent == 0 || fabs(percent) < 0.05 ? 0.0 : percent);
	return v;
}

struct vprof_value vprof_format_change(double share)
{
	struct vprof_value plain = vprof_format_percent(-share), shown = plain;

	if (share < 0 && *plain.s >= '0' && *plain.s <= '9')
		snprintf(shown.s, sizeof shown.s, "+%.40s", plain.s);
	return shown;
}

struct vprof_value vprof_format_at_most(double share)
{
	double unit = share * 100 > 0.9 ? 100 : 1000;

	return vprof_format_percent(share > 0 ? ceil(share * unit - 1e-9) / unit : share);
}

struct vprof_value vprof_format_count(uint64_t n)
{
	struct vprof_value v;
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			v.s[at++] = ',';
		v.s[at++] = digits[i];
	}
	v.s[at] = 0;
	return v;
}

struct vprof_value vprof_format_bytes(uint64_t n)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	double size = (double)n;
	struct vprof_value v;
	size_t i = 0;

	while (size >= 999.5 && i + 1 < sizeof units / sizeof *units) {
		size /= 1000;
		i++;
	}
	snprintf(v.s, sizeof v.s, "%.*f %s", i && size < 9.95 ? 1 : 0, size, units[i]);
	return v;
}

/* C0, DEL and C1 (U+0080..U+009F) can all steer a terminal. */
static int is_control(const unsigned char *s, size_t n)
{
	return (n == 1 && (s[0] < 0x20 || s[0] == 0x7f)) || (n == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

size_t vprof_format_columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void vprof_format_clean(struct vprof_text *out, const char *s)
{
	const unsigned char *at = (const unsigned char *)s;

	while (*at) {
		size_t n = vprof_utf8_length((const char *)at);

		if (!n || is_control(at, n)) {
			vprof_text_add(out, "?");
			at += n ? n : 1;
			continue;
		}
		vprof_text_append(out, at, n);
		at += n;
	}
}

/* The byte offset of column `column` in valid UTF-8. */
static size_t offset_of(const char *s, size_t column)
{
	size_t i = 0;

	while (s[i]) {
		if (((unsigned char)s[i] & 0xc0) != 0x80 && column-- == 0)
			break;
		i++;
	}
	return i;
}

void vprof_format_cut(struct vprof_text *out, const char *s, size_t columns, int middle, size_t pad)
{
	struct vprof_text clean = VPROF_TEXT_INIT;
	size_t n, left, right, from;

	vprof_format_clean(&clean, s);
	n = vprof_format_columns(clean.s);
	if (n <= columns) {
		vprof_text_append(out, clean.s, clean.len);
	} else if (columns) {
		left = middle ? columns / 2 : columns - 1;
		right = columns - 1 - left;
		from = offset_of(clean.s, n - right);
		vprof_text_append(out, clean.s, offset_of(clean.s, left));
		vprof_text_add(out, "…");
		vprof_text_append(out, clean.s + from, clean.len - from);
		n = columns;
	} else {
		n = 0;
	}
	for (; n < pad; n++)
		vprof_text_add(out, " ");
	vprof_text_release(&clean);
}

void vprof_format_wrap(struct vprof_text *out, const char *s, size_t column, size_t indent, size_t width)
{
	struct vprof_text clean = VPROF_TEXT_INIT;
	char *word, *rest = NULL;
	int first = 1;

	vprof_format_clean(&clean, s);
	for (word = clean.len ? strtok_r(clean.s, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest)) {
		size_t n = vprof_format_columns(word);

		if (!first && column + 1 + n > width) {
			vprof_text_addf(out, "\n%*s", (int)indent, "");
			column = indent;
			first = 1;
		}
		if (!first) {
			vprof_text_add(out, " ");
			column++;
		}
		vprof_format_cut(out, word, width > column ? width - column : 1, 1, 0);
		column += n;
		first = 0;
	}
	vprof_text_add(out, "\n");
	vprof_text_release(&clean);
}

void vprof_format_range(struct vprof_text *out, double low, double high, size_t columns)
{
	char range[64] = "";

	if (isfinite(low) && isfinite(high) && fabs(low) < 1e6 && fabs(high) < 1e6)
		snprintf(range, sizeof range, "%.0f .. %.0f", low * 100 + 0.0, high * 100 + 0.0); /* no "-0" */
	vprof_format_cut(out, range, columns - 1, 0, columns);
}

void vprof_format_item(struct vprof_text *line, const char *item)
{
	if (line->len)
		vprof_text_add(line, " · ");
	vprof_text_add(line, item);
}

void vprof_bound_share_words(double low, double high, struct vprof_text *out)
{
	struct vprof_value a = vprof_format_percent(low < 0 ? 0 : low), b = vprof_format_percent(high > 1 ? 1 : high);
	char *unit = strstr(a.s, " %");

	if (!strcmp(a.s, b.s)) {
		vprof_text_add(out, a.s);
		return;
	}
	if (unit)
		*unit = 0;
	vprof_text_addf(out, "%s .. %s", a.s, b.s);
}

void vprof_bound_time_words(double low_ns, double high_ns, struct vprof_text *out)
{
	struct vprof_value a = vprof_format_duration(low_ns), b = vprof_format_duration(high_ns);
	char *unit_a = strchr(a.s, ' '), *unit_b = strchr(b.s, ' ');

	if (!strcmp(a.s, b.s)) {
		vprof_text_add(out, a.s);
		return;
	}
	if (unit_a && unit_b && !strcmp(unit_a, unit_b))
		*unit_a = 0;
	vprof_text_addf(out, "%s .. %s", a.s, b.s);
}
