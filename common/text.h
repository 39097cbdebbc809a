/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growing, always NUL-terminated string.
 *
 * Invariants: `s` is never NULL after init; s[len] == 0. Every function that grows the text returns
 * nothing: when memory runs out the text keeps what it has and `failed` is set, so a writer checks once,
 * at the end. Zero-initialise with VPROF_TEXT_INIT or vprof_text_init; free with vprof_text_release.
 */
#ifndef VPROF_TEXT_H
#define VPROF_TEXT_H

#include <stdarg.h>
#include <stddef.h>

struct vprof_text {
	char *s;
	size_t len, cap;
	int failed;
};

extern char vprof_text_empty[1];
#define VPROF_TEXT_INIT { vprof_text_empty, 0, 0, 0 }

void vprof_text_init(struct vprof_text *t);
void vprof_text_release(struct vprof_text *t);
void vprof_text_clear(struct vprof_text *t); /* keeps the memory */
void vprof_text_append(struct vprof_text *t, const void *bytes, size_t n);
void vprof_text_add(struct vprof_text *t, const char *s);
void vprof_text_addf(struct vprof_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void vprof_text_vaddf(struct vprof_text *t, const char *fmt, va_list ap);
/* Hands the heap string over to the caller (free()); the text is empty afterwards. */
char *vprof_text_detach(struct vprof_text *t);

#endif
