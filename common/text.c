/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char vprof_text_empty[1];

void vprof_text_init(struct vprof_text *t)
{
	*t = (struct vprof_text)VPROF_TEXT_INIT;
}

void vprof_text_release(struct vprof_text *t)
{
	if (t->s != vprof_text_empty)
		free(t->s);
	vprof_text_init(t);
}

void vprof_text_clear(struct vprof_text *t)
{
	t->len = 0;
	if (t->s != vprof_text_empty)
		t->s[0] = 0;
}

static int reserve(struct vprof_text *t, size_t more)
{
	size_t cap = t->cap ? t->cap : 64;
	char *grown;

	if (t->failed)
		return 0;
	while (cap < t->len + more + 1)
		cap *= 2;
	if (cap == t->cap)
		return 1;
	grown = realloc(t->s == vprof_text_empty ? NULL : t->s, cap);
	if (!grown) {
		t->failed = 1;
		return 0;
	}
	t->s = grown;
	t->cap = cap;
	return 1;
}

void vprof_text_append(struct vprof_text *t, const void *bytes, size_t n)
{
	if (!reserve(t, n))
		return;
	memcpy(t->s + t->len, bytes, n);
	t->len += n;
	t->s[t->len] = 0;
}

void vprof_text_add(struct vprof_text *t, const char *s)
{
	vprof_text_append(t, s, strlen(s));
}

void vprof_text_vaddf(struct vprof_text *t, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n > 0 && reserve(t, (size_t)n)) {
		vsnprintf(t->s + t->len, (size_t)n + 1, fmt, again);
		t->len += (size_t)n;
	}
	va_end(again);
}

void vprof_text_addf(struct vprof_text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprof_text_vaddf(t, fmt, ap);
	va_end(ap);
}

char *vprof_text_detach(struct vprof_text *t)
{
	char *s = t->s == vprof_text_empty ? calloc(1, 1) : t->s;

	vprof_text_init(t);
	return s;
}
