/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/utf8.h"

size_t vprof_utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char c = s[0], low = 0x80, high = 0xbf;
	size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;

	if (c == 0xe0)
		low = 0xa0;
	else if (c == 0xed)
		high = 0x9f;
	else if (c == 0xf0)
		low = 0x90;
	else if (c == 0xf4)
		high = 0x8f;
	for (size_t i = 1; i < n; i++, low = 0x80, high = 0xbf)
		if (s[i] < low || s[i] > high)
			return 0;
	return n;
}

int vprof_utf8_is_valid(const char *s)
{
	for (size_t n; *s; s += n) {
		n = vprof_utf8_length(s);
		if (!n)
			return 0;
	}
	return 1;
}

void vprof_text_add_utf8(struct vprof_text *t, const char *s)
{
	s = s ? s : "";
	while (*s) {
		size_t n = vprof_utf8_length(s);

		if (n)
			vprof_text_append(t, s, n);
		else
			vprof_text_add(t, VPROF_UTF8_REPLACEMENT);
		s += n ? n : 1;
	}
}
