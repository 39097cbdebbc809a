/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void mark_cut(char *text, size_t size)
{
	memcpy(text + size - 4, "...", 4);
}

static void set(struct vprof_error *err, enum vprof_error_reason reason, const char *fmt, va_list ap)
{
	if (!err)
		return;
	err->reason = reason;
	if (vsnprintf(err->message, sizeof err->message, fmt, ap) >= (int)sizeof err->message)
		mark_cut(err->message, sizeof err->message);
}

int vprof_error_set(struct vprof_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, VPROF_REASON_NONE, fmt, ap);
	va_end(ap);
	return code;
}

int vprof_error_because(struct vprof_error *err, int code, enum vprof_error_reason reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, reason, fmt, ap);
	va_end(ap);
	return code;
}

enum vprof_error_reason vprof_error_reason_of(int error)
{
	return error == ENOSPC || error == EDQUOT ? VPROF_REASON_DISK_FULL : VPROF_REASON_NONE;
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
