/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of an annotation's C expression, before any compiler sees it.
 *
 * Expressions are pasted into macro arguments on one line of the user's source, so whatever could break out
 * of that place (newlines, unbalanced brackets, top-level commas and semicolons, comments, directives) is rejected.
 */
#ifndef VPROF_EXPRESSION_H
#define VPROF_EXPRESSION_H

#include "common/text.h"

/* NULL when `text` may be pasted, else what is wrong with it and what to do. */
const char *vprof_expression_fault(const char *text);

/* Does it use $return (outside of string and character literals)? */
int vprof_expression_uses_return(const char *text);

/* Appends `text` to `out` with every $return replaced by `name`. */
void vprof_expression_with_return(struct vprof_text *out, const char *text, const char *name);

#endif
