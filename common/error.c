/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/error.h"

#include <stdio.h>
#include <string.h>

static void mark_cut(char *text, size_t size)
{
	memcpy(text + size - 4, "...", 4);
}

int vprof_error_set(struct vprof_error *err, int code, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!err)
		return code;
	va_start(ap, fmt);
	n = vsnprintf(err->message, sizeof err->message, fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof err->message)
		mark_cut(err->message, sizeof err->message);
	return code;
}

int vprof_error_no_memory(struct vprof_error *err)
{
	return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
}

int vprof_error_prefix(struct vprof_error *err, int code, const char *fmt, ...)
{
	char old[sizeof err->message];
	va_list ap;
	int n;

	if (!err)
		return code;
	memcpy(old, err->message, sizeof old);
	va_start(ap, fmt);
	n = vsnprintf(err->message, sizeof err->message, fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	if (n < (int)sizeof err->message)
		n += snprintf(err->message + n, sizeof err->message - (size_t)n, ": %s", old);
	if (n >= (int)sizeof err->message)
		mark_cut(err->message, sizeof err->message);
	return code;
}
