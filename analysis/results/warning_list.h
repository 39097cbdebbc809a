/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The warnings of the results: complete sentences for a person, in the order in which they were added. */
#ifndef VPROF_WARNING_LIST_H
#define VPROF_WARNING_LIST_H

#include <stdarg.h>

#include "analysis/results/results.h"

#define VPROF_WARNED_BYTES 80

/* A name in a warning: those of templates may have thousands of bytes, of which the first and the last are kept. */
struct vprof_warned_name {
	char s[VPROF_WARNED_BYTES + 1];
};
struct vprof_warned_name vprof_warned_name(const char *name);

/* A factor in a warning: its name and, where several factors have that name, which of them is meant: "writev, own",
 * "writev, queued" (what others ran while the interval was in a queue), "writev, beneath a wait". */
struct vprof_warned_factor {
	char s[VPROF_WARNED_BYTES + 32];
};
struct vprof_warned_factor vprof_warned_factor(const struct vprof_results *r, const struct vprof_factor *f);

/* Appends one more; invalid UTF-8 is replaced. OK or NOMEM. */
__attribute__((format(printf, 2, 3))) int vprof_warning_add(struct vprof_results *r, const char *format, ...);
__attribute__((format(printf, 2, 0))) int vprof_warning_add_va(struct vprof_results *r, const char *format, va_list ap);

#endif
