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
