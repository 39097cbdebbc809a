/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which function of a recording a person means. */
#ifndef VPROF_FUNCTION_NAMED_H
#define VPROF_FUNCTION_NAMED_H

#include "analysis/latency/input/latency_input.h"
#include "common/text.h"

struct vprof_function_named {
	const char *name, *file; /* as the history displays them; they belong to it */
	uint64_t n_inlined;	 /* places at which it was inlined beside: such calls are not seen; 0 also: not known */
	struct vprof_text into;	 /* the functions there: "a, b and others" */
};

/* wanted: a function as vprof report latency tells it, or the last part of a qualified name; with "@FILE" that of this
 * program or library ("@kernel": the kernel's) or, of several of its name in one, of this source file. A wrapper of
 * vprof's runtime stands for what it wraps. INPUT, with what to do: no stack shows it, although it is there; it was
 * inlined; there is none; it is one of several. NOMEM. Release in any case. */
int vprof_function_named(struct vprof_function_named *out, const struct vprof_latency_input *input, const char *wanted,
			 struct vprof_error *err);
void vprof_function_named_release(struct vprof_function_named *named);

#endif
