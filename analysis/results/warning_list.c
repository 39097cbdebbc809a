/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/warning_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/utf8.h"

int vprof_warning_add_va(struct vprof_results *r, const char *format, va_list ap)
{
	char **all = realloc(r->warnings, (r->n_warnings + 1) * sizeof *all);
	struct vprof_text clean = VPROF_TEXT_INIT;
	char text[1024];

	if (!all)
		return VPROF_ERR_NOMEM;
	r->warnings = all;
	vsnprintf(text, sizeof text, format, ap);
	vprof_text_add_utf8(&clean, text);
	all[r->n_warnings] = clean.failed ? NULL : vprof_text_detach(&clean);
	vprof_text_release(&clean);
	if (!all[r->n_warnings])
		return VPROF_ERR_NOMEM;
	r->n_warnings++;
	return 0;
}

struct vprof_warned_name vprof_warned_name(const char *name)
{
	struct vprof_warned_name shown;
	size_t n = strlen(name), head = VPROF_WARNED_BYTES * 2 / 3, tail = VPROF_WARNED_BYTES - 3 - head;

	if (n <= VPROF_WARNED_BYTES) {
		memcpy(shown.s, name, n + 1);
		return shown;
	}
	while (head && (name[head] & 0xc0) == 0x80) /* not within a character of UTF-8 */
		head--;
	while (tail && (name[n - tail] & 0xc0) == 0x80)
		tail--;
	memcpy(shown.s, name, head);
	memcpy(shown.s + head, "...", 3);
	memcpy(shown.s + head + 3, name + n - tail, tail + 1);
	return shown;
}

int vprof_warning_add(struct vprof_results *r, const char *format, ...)
{
	va_list ap;
	int ret;

	va_start(ap, format);
	ret = vprof_warning_add_va(r, format, ap);
	va_end(ap);
	return ret;
}
